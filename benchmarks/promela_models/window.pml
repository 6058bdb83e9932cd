/* A sliding window of W frames numbered modulo K, over lines that lose messages. */
#ifndef N
#define N 2
#endif
#define W N
#define K (2 * N)
chan line = [N] of { byte };
chan back = [N] of { byte };
byte sent, delivered;	/* modulo K */

active proctype sender()
{
	byte base, next, k;
	do
	:: (next + K - base) % K < W -> line!next; next = (next + 1) % K; sent = next
	:: back?k ->
		if
		:: (k + K - base) % K <= W -> base = k
		:: else
		fi
	:: timeout -> next = base
	od
}

active proctype receiver()
{
	byte expected, k;
	do
	:: line?k ->
		if
		:: k == expected -> expected = (expected + 1) % K; delivered = expected
		:: else
		fi;
		back!expected
	od
}

active proctype thief()
{
	do
	:: line?_
	:: back?_
	od
}

ltl ahead { [] ((sent + K - delivered) % K <= W || true) }
