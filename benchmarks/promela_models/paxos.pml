/* Paxos with two proposers and N acceptors; messages are never lost but may be late. */
#ifndef N
#define N 3
#endif
#define Q (N / 2 + 1)
byte promised[N], ballot[N], value[N];
byte chosen[3];

proctype proposer(byte me; byte mine)
{
	byte n, best, v, i;
	v = mine;
	i = 0;
	do
	:: i < N ->
		if
		:: d_step {
			if
			:: promised[i] < me ->
				promised[i] = me;
				n++;
				if
				:: ballot[i] > best -> best = ballot[i]; v = value[i]
				:: else
				fi
			:: else
			fi
		   }
		:: skip
		fi;
		i++
	:: else -> break
	od;
	if
	:: n < Q -> goto gone
	:: else -> n = 0
	fi;
	i = 0;
	do
	:: i < N ->
		if
		:: d_step {
			if
			:: promised[i] <= me ->
				promised[i] = me;
				ballot[i] = me;
				value[i] = v;
				n++
			:: else
			fi
		   }
		:: skip
		fi;
		i++
	:: else -> break
	od;
	if
	:: n >= Q -> chosen[me] = v
	:: else
	fi;
gone:	skip
}

init { atomic { run proposer(1, 7); run proposer(2, 9) } }

ltl agree { [] (chosen[1] == 0 || chosen[2] == 0 || chosen[1] == chosen[2]) }
