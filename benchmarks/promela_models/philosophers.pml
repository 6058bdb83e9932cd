/* Philosophers who lay the first fork down where the second is taken. */
#ifndef N
#define N 8
#endif
byte fork[N];
byte eating;

active [N] proctype phil()
{
	byte l = _pid, r = (_pid + 1) % N;
	do
	:: atomic { fork[l] == 0 -> fork[l] = 1 };
	   if
	   :: atomic { fork[r] == 0 -> fork[r] = 1 };
		eating++;
		eating--;
		fork[r] = 0;
		fork[l] = 0
	   :: fork[r] == 1 -> fork[l] = 0
	   fi
	od
}

ltl some { [] (eating <= N / 2) }
