/* The filter lock (Peterson for N): a level is passed when nobody stands above, or somebody came later. */
#ifndef N
#define N 4
#endif
byte level[N];
byte victim[N];
byte inside;

active [N] proctype user()
{
	byte l, k;
	do
	:: l = 1;
	   do
	   :: l < N ->
		level[_pid] = l;
		victim[l] = _pid;
		k = 0;
		do
		:: k < N -> (k == _pid || level[k] < l || victim[l] != _pid); k++
		:: else -> break
		od;
		l++
	   :: else -> break
	   od;
	   atomic { l = 0; k = 0 };
	   inside++;
	   inside--;
	   level[_pid] = 0
	od
}

ltl mutex { [] (inside <= 1) }
