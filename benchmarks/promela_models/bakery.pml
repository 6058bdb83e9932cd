/* Lamport's bakery with tickets up to M: who finds none waits until all are served. */
#ifndef N
#define N 3
#endif
#define M 5
byte number[N];
bool choosing[N];
byte inside;

active [N] proctype customer()
{
	byte m, j;
	do
	:: choosing[_pid] = true;
	   m = 0;
	   j = 0;
	   do
	   :: j < N -> m = (number[j] > m -> number[j] : m); j++
	   :: else -> break
	   od;
	   if
	   :: m < M -> number[_pid] = m + 1
	   :: else
	   fi;
	   choosing[_pid] = false;
	   j = 0;
	   do
	   :: number[_pid] == 0 -> break
	   :: number[_pid] > 0 && j < N ->
		(!choosing[j]);
		(number[j] == 0 || number[j] > number[_pid] ||
		 (number[j] == number[_pid] && j >= _pid));
		j++
	   :: number[_pid] > 0 && j == N ->
		inside++;
		inside--;
		number[_pid] = 0;
		break
	   od
	od
}

ltl mutex { [] (inside < 2) }
