/* A sender whose messages may be lost repeats them until they are acknowledged. */
#ifndef N
#define N 3	/* messages, as in: ltlpipe check retransmission.pml -D N=5 */
#endif

mtype = { data, ack };
chan line = [1] of { mtype, byte };
chan back = [1] of { mtype, byte };
byte sent, received;

inline lose(q)
{
	q?_,_
}

active proctype sender()
{
	byte n;
	do
	:: sent < N ->
		line!data(sent);
		do
		:: back?ack(n) ->
			if
			:: n == sent ->
progress:			sent++;
				break
			:: else
			fi
		:: timeout -> line!data(sent)
		od
	:: else -> break
	od
}

active proctype receiver()
{
	byte n;
end:
	do
	:: line?data(n) ->
		assert(n <= received);
		if
		:: n == received -> received++
		:: else
		fi;
		back!ack(n)
	od
}

active proctype thief()
{
end:
	do
	:: lose(line)
	:: lose(back)
	od
}

ltl order { [] (sent <= received && received <= sent + 1) }
ltl arrives { <> (received == N) }
