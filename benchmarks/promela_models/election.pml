/* Election in a ring by passing the larger name on (Chang and Roberts); anybody may begin. */
#ifndef N
#define N 6
#endif
mtype = { candidate, elected };
chan c[N] = [2] of { mtype, byte };
byte leader, known;

proctype station(byte me; chan in, out)
{
	byte n;
	bool told;
	if
	:: out!candidate(me)
	:: in?candidate(n) -> out!candidate((n > me -> n : me))
	fi;
	do
	:: in?candidate(n) ->
		if
		:: n > me -> out!candidate(n)
		:: n == me -> leader = me; out!elected(me)
		:: else
		fi
	:: in?elected(n) ->
		known++;
		if
		:: n != me -> out!elected(n)
		:: else
		fi;
		break
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. N - 1) {
			run station(1 + (i * 5) % 11, c[i], c[(i + 1) % N])
		}
	}
}

ltl right { [] (leader == 0 || leader >= N - 1) }
