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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

EVENTS = ("start", "elected", "lost", "finished")
LEADER = "leader"  # the message; all others are waves

_Neighbours = dict[int, tuple[int, ...]]
_Label = str
_Message = str


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
    election = _Election(n, n if variant == 2 else 1, neighbours)
    nodes, messages = _nodes(election)
    channels = [
        _channel(election, src, dst, messages[src, dst])
        for src in neighbours
        for dst in neighbours[src]
    ]
    return Network([*nodes, *channels], name=f"leader-election-{n}-{variant}")


def capacity(n: int) -> int:
    """Return how many messages a channel has room for (module docstring)."""
    return n - 1


class _Election(NamedTuple):
    """Data common to all nodes.

    `n_rounds` is the number of rounds after which the same node wins again.
    """

    n: int
    n_rounds: int
    neighbours: _Neighbours

    def rank(self, wave: int, round_: int) -> int:
        """Return how many waves are better than `wave` in a round."""
        return (wave - 1 - round_) % self.n


class _State(NamedTuple):
    """A local state of a node."""

    round: int  # 0 <= round < n_rounds
    wave: int  # the one that the node is in, a node's number
    father: int  # the sender; 0 if there is none, and again after the answer
    arrived: int  # how many neighbours it has come from
    leaders: tuple[int, ...]  # whose leader message has come in this round, sorted
    todo: tuple[tuple[_Label, ...], ...]  # to be done before reading on: groups in
    # order, of which none is empty, each of labels in any order


def _begin(election: _Election, node: int, round_: int) -> _State:
    wave = f"w{node}"
    todo = ((f"start_{node}",), _sends(node, election.neighbours[node], wave))
    return _State(round_, wave=node, father=0, arrived=0, leaders=(), todo=todo)


def _sends(node: int, to: Iterable[int], message: _Message) -> tuple[_Label, ...]:
    return tuple(f"send_{node}_{other}_{message}" for other in to)


def _receive(
    election: _Election, node: int, state: _State, sender: int, message: _Message
) -> _State | None:
    """Return the state after a message; None if it cannot come in `state`."""
    if message == LEADER:
        return _receive_leader(election, node, state, sender)
    neighbours = election.neighbours[node]
    wave = int(message[1:])
    todo: tuple[tuple[_Label, ...], ...] = ()
    if election.rank(wave, state.round) > election.rank(state.wave, state.round):
        return state._replace(todo=((f"drop_{node}_{message}",),))
    if wave != state.wave:
        state = state._replace(wave=wave, father=sender, arrived=0)
        others = [other for other in neighbours if other != sender]
        todo = (f"join_{node}_{message}",), _sends(node, others, message)
    if state.arrived == len(neighbours):
        return None
    state = state._replace(arrived=state.arrived + 1)
    if state.arrived == len(neighbours):
        if wave == node:
            todo += (f"elected_{node}",), _sends(node, neighbours, LEADER)
        else:
            todo += (_sends(node, [state.father], message),)
            state = state._replace(father=0)
    return state._replace(todo=tuple(filter(None, todo)))


def _receive_leader(
    election: _Election, node: int, state: _State, sender: int
) -> _State:
    neighbours = election.neighbours[node]
    todo: tuple[tuple[_Label, ...], ...] = ()
    if state.wave != node and not state.leaders:
        todo = (f"lost_{node}",), _sends(node, neighbours, LEADER)
    leaders = tuple(sorted((*state.leaders, sender)))
    if leaders != neighbours:
        return state._replace(leaders=leaders, todo=todo)
    following = _begin(election, node, (state.round + 1) % election.n_rounds)
    todo += ((f"finished_{node}",), *following.todo)
    return following._replace(todo=todo)


def _steps(
    election: _Election,
    node: int,
    state: _State,
    incoming: Mapping[int, Iterable[_Message]],
) -> Iterator[tuple[_Label, _State]]:
    """Yield the labels and targets of the transitions that leave `state`."""
    if state.todo:
        group, *later = state.todo
        for label in group:
            rest = tuple(other for other in group if other != label)
            todo = (rest, *later) if rest else tuple(later)
            yield label, state._replace(todo=todo)
        return
    for sender, messages in incoming.items():
        if sender in state.leaders:
            continue
        for message in messages:
            target = _receive(election, node, state, sender, message)
            if target is not None:
                yield f"recv_{sender}_{node}_{message}", target


def _node(
    election: _Election, node: int, incoming: Mapping[int, Iterable[_Message]]
) -> LTS:
    """Explore a node to which the messages `incoming` may be sent at any time."""
    states = [_begin(election, node, 0)]
    index = {states[0]: 0}
    transitions = []
    for state in states:  # grows while it is read
        for label, target in _steps(election, node, state, incoming):
            if target not in index:
                index[target] = len(states)
                states.append(target)
            transitions.append((index[state], label, index[target]))
    lts = LTS.from_transitions(transitions, name=f"node{node}")
    events = [f"{event}_{node}" for event in EVENTS]
    never = [event for event in events if event not in lts.labels]
    return replace(lts, labels=(*lts.labels, *never))


def _nodes(
    election: _Election,
) -> tuple[list[LTS], dict[tuple[int, int], list[_Message]]]:
    """Build the nodes, and list which messages go from where to where.

    A label must be in the alphabets of node and channel alike, or the other could
    take it alone.  So the messages that can be sent are found as a least fixpoint:
    at first only those that a node sends when it has received nothing.
    """
    pairs = [(src, dst) for src, those in election.neighbours.items() for dst in those]
    messages: dict[tuple[int, int], list[_Message]] = {pair: [] for pair in pairs}
    while True:
        nodes = []
        for node, senders in election.neighbours.items():
            incoming = {sender: messages[sender, node] for sender in senders}
            nodes.append(_node(election, node, incoming))
        sent = {
            (src, dst): [
                message
                for message in (*(f"w{r}" for r in election.neighbours), LEADER)
                if f"send_{src}_{dst}_{message}" in nodes[src - 1].labels
            ]
            for src, dst in pairs
        }
        if sent == messages:
            return nodes, messages
        messages = sent


def _channel(
    election: _Election, src: int, dst: int, messages: Sequence[_Message]
) -> LTS:
    """Build a queue from `src` to `dst`; its states are its possible contents."""
    index = {
        content: state for state, content in enumerate(_contents(election, messages))
    }
    transitions = []
    for content, state in index.items():
        for message in messages:
            longer = index.get((*content, message))
            if longer is not None:
                transitions.append((state, f"send_{src}_{dst}_{message}", longer))
        if content:
            first, *rest = content
            transitions.append((state, f"recv_{src}_{dst}_{first}", index[tuple(rest)]))
    return LTS.from_transitions(transitions, name=f"channel{src}_{dst}")


def _contents(
    election: _Election, messages: Sequence[_Message]
) -> list[tuple[_Message, ...]]:
    """List the possible contents of a channel (module docstring), shortest first.

    They are waves of one round, the worst first, optionally after a leader message.
    """
    room = capacity(election.n)
    contents: dict[tuple[_Message, ...], None] = {}
    for round_ in range(election.n_rounds):
        waves = sorted(
            (message for message in messages if message != LEADER),
            key=lambda message: -election.rank(int(message[1:]), round_),
        )
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
