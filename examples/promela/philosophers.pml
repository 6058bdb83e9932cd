/* Philosophers who take the fork on their left, then that on their right. */
#ifndef N
#define N 3
#endif

typedef Fork { bool taken; byte owner }
Fork fork[N];
byte eating;

inline take(i)
{
	atomic { !fork[i].taken -> fork[i].taken = true; fork[i].owner = _pid }
}

active [N] proctype philosopher()
{
	do
	:: take(_pid);
	   take((_pid + 1) % N);
	   eating++;
meal:	   eating--;
	   d_step { fork[_pid].taken = false; fork[(_pid + 1) % N].taken = false }
	od
}

ltl some { [] <> philosopher[1]@meal }
ltl alone { [] (eating <= 1) }
