/* Mutual exclusion by Peterson: each process shows that it wants in, and gives way. */
bool wants[2];
byte turn;
byte inside;

active [2] proctype P()
{
	byte other = 1 - _pid;
again:
	wants[_pid] = true;
	turn = other;
	(!wants[other] || turn == _pid);
	inside++;
	assert(inside == 1);
critical:
	inside--;
	wants[_pid] = false;
	goto again
}

ltl exclusion { [] !(P[0]@critical && P[1]@critical) }
ltl entry { [] (wants[0] -> <> P[0]@critical) }
