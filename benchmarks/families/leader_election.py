"""Leader election by extinction on an arbitrary network, over and over.

Nodes 1..n form a connected graph and elect one of themselves, then begin the next
round.  In variant 1 node 1 wins every time; in variant 2 each node gets its turn: node
1 wins the first round, node 2 the second, and after node n it is node 1 again.  The
waves of a round that node w wins are, best first, those of nodes w, w+1, ..., n, 1,
..., w-1.

In every round a node first starts a wave of its own (``start_<i>``, then a message
to each neighbour) and then reads its messages:

* A wave that is better than the one it is in: it joins (``join_<i>_w<r>``), notes
  the sender as its father and forwards the wave to its other neighbours.
* A worse one: it drops it (``drop_<i>_w<r>``); so the wave becomes extinct.
* The one it is in: it counts.  When the wave has come from all neighbours, the node
  sends it to its father; if it is its own, the node has won (``elected_<i>``) and
  sends ``leader`` to all neighbours.
* The first ``leader``, unless it has won: it has lost (``lost_<i>``) and sends
  ``leader`` to all neighbours.
* The last ``leader``: its round is finished (``finished_<i>``).

Until then it reads no more from a neighbour whose ``leader`` it has, so messages
need not say which round they belong to.  What one reading asks it to send leaves in
any order, before it reads again.

Every node is a component, and so is each direction of an edge: a channel that
delivers in order.  ``send_<i>_<j>_<message>`` is shared by node i and the channel to
node j, ``recv_<i>_<j>_<message>`` by the channel and node j; the sender stands first
in both.  A message is ``w<r>``, the wave of node r, or ``leader``.  All other labels
are local to a node.  Every node has its four events (start, elected, lost, finished)
in its alphabet, also those that never happen, so that formulas can name them.

Room in channels.  In one round a node sends a neighbour any wave once at most, and
better and better ones, its own first.  When a node has won, all channels are empty:
its wave has gone through each of them, and nothing better follows.  So a channel
holds waves of one round, or a ``leader`` and behind it waves of the next round
without the receiver's, which has not begun it: at most n messages.  Its capacity is n-1
(`capacity`); a node that waits for room to node j does not wait for ever:

* If a ``leader`` is first in the channel, j is one round behind.  All that it may have
  to send is ``leader``, and that into empty channels: it does not wait.
* If not, the channel lacks just the last of all n waves, so the node is the worst of
  its round.  Then j is not, and can wait only as in the first case.

Less does not do in general: three nodes that are all neighbours run into a deadlock
if there is room for one message.

Every infinite run has infinitely many rounds, and each node takes part in all of
them; no fairness is needed.  No reachable state is a deadlock.  Sizes by exploration:

=====================  =======  =======  ===========
graph                  variant  states   transitions
=====================  =======  =======  ===========
two nodes              1        34       50
two nodes              2        68       100
three nodes in a line  1        458      1,112
three nodes in a line  2        1,366    3,322
three nodes, ring      1        2,952    8,562
three nodes, ring      2        8,856    25,686
ring of four           1        47,786   182,015
ring of four           2        191,144  728,060
=====================  =======  =======  ===========

No component has accepting states.  ``formulas/leader-election.ltl`` has properties.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification Algorithms",
TACAS 2005, LNCS 3440, pp. 174-190, Sec. 7: election with extinction, for arbitrary
networks, on three nodes, restarted after completion, in these two variants.  It has
the example from J. Geldenhuys and A. Valmari, "Tarjan's Algorithm Makes On-the-Fly
LTL Verification More Efficient", TACAS 2004, LNCS 2988, pp. 205-219.

Differences from the source: its text only names the algorithm and the variants (its
model is in Promela).  Echoing waves, the events, the start of the next round and the
order of turns are our choices, and so are the numbers of states.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS, Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EVENTS = ("start", "elected", "lost", "finished")
LEADER = "leader"  # the message; all others are waves

_Neighbours = dict[int, tuple[int, ...]]
_Label = str
_Message = str
_Todo = tuple[tuple[_Label, ...], ...]
_Incoming = dict[int, list[_Message]]


def leader_election(
    n: int = 3, *, variant: int = 1, edges: Iterable[tuple[int, int]] | None = None
) -> Network:
    """Build the election on `n` nodes.

    Parameters
    ----------
    n : int
        Number of nodes, at least 2.
    variant : int
        1: node 1 wins every time; 2: each node gets its turn, in order.
    edges : iterable of (int, int), optional
        Which nodes of 1..n are neighbours, in either order; together they connect
        all nodes.  Default is the ring 1, 2, ..., n, which for three nodes is the
        complete graph.

    Returns
    -------
    Network
        The nodes in order, then the channels, two for each edge; none has
        acceptance.

    Raises
    ------
    UnsupportedError
        An argument is out of its range, an edge has the same node at both ends, or
        the graph is not connected.

    Examples
    --------
    >>> [component.name for component in leader_election(2).components]
    ['node1', 'node2', 'channel1_2', 'channel2_1']
    """
    if n < 2:
        raise UnsupportedError(f"{n} nodes hold no election: use n >= 2")
    if variant not in (1, 2):
        raise UnsupportedError(f"the variant must be 1 or 2, not {variant}")
    neighbours = _graph(n, _ring(n) if edges is None else edges)
    n_rounds = n if variant == 2 else 1
    nodes, messages = _nodes(n_rounds, neighbours)
    channels = [
        _channel(n, n_rounds, ends, messages[ends])
        for ends in ((src, dst) for src in neighbours for dst in neighbours[src])
    ]
    return Network([*nodes, *channels], name=f"leader-election-{n}-{variant}")


def capacity(n: int) -> int:
    """Return how many messages a channel has room for (module docstring)."""
    return n - 1


def _rank(n: int, wave: int, round_: int) -> int:
    """Return how many waves of `n` are better than `wave` in a round."""
    return (wave - 1 - round_) % n


class _State(NamedTuple):
    """A local state of a node."""

    round: int  # 0 <= round < n_rounds
    wave: int  # the one that the node is in, a node's number
    father: int  # the sender; 0 if there is none, and again after the answer
    arrived: int  # how many neighbours it has come from
    leaders: tuple[int, ...]  # whose leader message has come in this round, sorted
    todo: _Todo  # to be done before reading on: groups in order, of which none is
    # empty, each of labels in any order


class _Node(NamedTuple):
    """What a node knows; after `n_rounds` rounds the same node wins again."""

    number: int
    n: int
    n_rounds: int
    neighbours: tuple[int, ...]

    def begin(self, round_: int) -> _State:
        """Return the state in which a round begins."""
        sends = self.sends(self.neighbours, f"w{self.number}")
        todo = ((f"start_{self.number}",), sends)
        return _State(round_, self.number, father=0, arrived=0, leaders=(), todo=todo)

    def sends(self, to: Iterable[int], message: _Message) -> tuple[_Label, ...]:
        return tuple(f"send_{self.number}_{other}_{message}" for other in to)

    def receive(self, state: _State, sender: int, message: _Message) -> _State | None:
        """Return the state after a message; None if it cannot come in `state`."""
        if message == LEADER:
            return self.receive_leader(state, sender)
        node, wave = self.number, int(message[1:])
        todo: _Todo = ()
        if _rank(self.n, wave, state.round) > _rank(self.n, state.wave, state.round):
            return state._replace(todo=((f"drop_{node}_{message}",),))
        if wave != state.wave:
            state = state._replace(wave=wave, father=sender, arrived=0)
            others = [other for other in self.neighbours if other != sender]
            todo = (f"join_{node}_{message}",), self.sends(others, message)
        if state.arrived == len(self.neighbours):
            return None
        state = state._replace(arrived=state.arrived + 1)
        if state.arrived == len(self.neighbours):
            if wave == node:
                todo += (f"elected_{node}",), self.sends(self.neighbours, LEADER)
            else:
                todo += (self.sends([state.father], message),)
                state = state._replace(father=0)
        return state._replace(todo=tuple(filter(None, todo)))

    def receive_leader(self, state: _State, sender: int) -> _State:
        """Return the state after a ``leader``."""
        todo: _Todo = ()
        if state.wave != self.number and not state.leaders:
            todo = (f"lost_{self.number}",), self.sends(self.neighbours, LEADER)
        leaders = tuple(sorted((*state.leaders, sender)))
        if leaders != self.neighbours:
            return state._replace(leaders=leaders, todo=todo)
        following = self.begin((state.round + 1) % self.n_rounds)
        todo += ((f"finished_{self.number}",), *following.todo)
        return following._replace(todo=todo)

    def steps(
        self, state: _State, incoming: _Incoming
    ) -> Iterator[tuple[_Label, _State]]:
        """Yield the labels and targets of the transitions that leave `state`."""
        if state.todo:
            group, *later = state.todo
            for label in group:
                rest = tuple(other for other in group if other != label)
                yield label, state._replace(todo=(*((rest,) if rest else ()), *later))
            return
        for sender in self.neighbours:
            for message in incoming[sender] if sender not in state.leaders else ():
                target = self.receive(state, sender, message)
                if target is not None:
                    yield f"recv_{sender}_{self.number}_{message}", target

    def explored(self, incoming: _Incoming) -> LTS:
        """Explore the node if the messages `incoming` may be sent at any time."""
        states = [self.begin(0)]
        index = {states[0]: 0}
        transitions = []
        for state in states:  # grows while it is read
            for label, target in self.steps(state, incoming):
                if target not in index:
                    index[target] = len(states)
                    states.append(target)
                transitions.append((index[state], label, index[target]))
        lts = LTS.from_transitions(transitions, name=f"node{self.number}")
        events = [f"{event}_{self.number}" for event in EVENTS]
        never = [event for event in events if event not in lts.labels]
        return replace(lts, labels=(*lts.labels, *never))


def _nodes(
    n_rounds: int, neighbours: _Neighbours
) -> tuple[list[LTS], dict[tuple[int, int], list[_Message]]]:
    """Build the nodes, and list which messages go from where to where.

    A label must be in the alphabets of node and channel alike, or the other could
    take it alone.  So the messages that can be sent are found as a least fixpoint:
    at first only those that a node sends when it has received nothing.
    """
    n = len(neighbours)
    every = [*(f"w{r}" for r in neighbours), LEADER]
    pairs = [(src, dst) for src, those in neighbours.items() for dst in those]
    messages: dict[tuple[int, int], list[_Message]] = {pair: [] for pair in pairs}
    while True:
        nodes = [
            _Node(node, n, n_rounds, senders).explored(
                {sender: messages[sender, node] for sender in senders}
            )
            for node, senders in neighbours.items()
        ]
        sent = {
            (src, dst): [
                message
                for message in every
                if f"send_{src}_{dst}_{message}" in nodes[src - 1].labels
            ]
            for src, dst in pairs
        }
        if sent == messages:
            return nodes, messages
        messages = sent


def _channel(
    n: int, n_rounds: int, ends: tuple[int, int], messages: Sequence[_Message]
) -> LTS:
    """Build a queue from node to node; its states are its possible contents."""
    name = "{}_{}".format(*ends)
    contents = _contents(n, n_rounds, messages)
    index = {content: state for state, content in enumerate(contents)}
    transitions = []
    for content, state in index.items():
        for message in messages:
            longer = index.get((*content, message))
            if longer is not None:
                transitions.append((state, f"send_{name}_{message}", longer))
        if content:
            first, *rest = content
            transitions.append((state, f"recv_{name}_{first}", index[tuple(rest)]))
    return LTS.from_transitions(transitions, name=f"channel{name}")


def _contents(
    n: int, n_rounds: int, messages: Sequence[_Message]
) -> list[tuple[_Message, ...]]:
    """List the possible contents of a channel (module docstring), shortest first.

    They are waves of one round, the worst first, optionally after a leader message.
    """
    room = capacity(n)
    waves = [message for message in messages if message != LEADER]
    contents: dict[tuple[_Message, ...], None] = {}
    for round_ in range(n_rounds):
        waves.sort(key=lambda wave: -_rank(n, int(wave[1:]), round_))
        for length in range(min(room, len(waves)) + 1):
            for chosen in combinations(waves, length):
                contents[chosen] = None
                if LEADER in messages and length < room:
                    contents[(LEADER, *chosen)] = None
    return sorted(contents, key=len)


def _ring(n: int) -> list[tuple[int, int]]:
    return [(node, node % n + 1) for node in range(1, n + 1)]


def _graph(n: int, edges: Iterable[tuple[int, int]]) -> _Neighbours:
    """Return the neighbours of each node, sorted."""
    found: dict[int, set[int]] = {node: set() for node in range(1, n + 1)}
    for a, b in edges:
        for node in (a, b):
            if node not in found:
                raise UnsupportedError(
                    f"edge {a}-{b} names no node {node}: use 1 to {n}"
                )
        if a == b:
            raise UnsupportedError(f"edge {a}-{b} is a loop: use two different nodes")
        found[a].add(b)
        found[b].add(a)
    reached = [1]
    for node in reached:  # grows while it is read
        reached += sorted(found[node].difference(reached))
    if apart := sorted(found.keys() - set(reached)):
        raise UnsupportedError(
            f"no path leads from node 1 to node {apart[0]}: use a connected graph"
        )
    return {node: tuple(sorted(others)) for node, others in found.items()}
