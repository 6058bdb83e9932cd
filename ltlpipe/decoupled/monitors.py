"""What a decoupled search watches for: a property, and acceptance of components.

A *monitor* is one more component of a decoupled composition, and the only one with
acceptance.  It moves with every global label, is in one state at a time, and carries
generalised acceptance on its moves.  A nondeterministic property gives each label as
many *moves* as it has choices at most; a move is a partial function from the monitor's
states to its states.

If the components of a network accept, too, the monitor waits for *acceptors*: labels
that change nothing but can be taken only while their components accept.  Each has a
mark, and another mark says that some action has happened; so a run that the monitor
accepts goes on.

`counted` turns any number of marks into one, on states.

Sources: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 4 (acceptors are its
acceptance-split transition as a label) and Sec. 7 (the counter).

Differences from the source: it only sketches the counter, as one for components; here
it counts all marks, of property and components.  An action must happen on every turn,
because acceptors alone could turn it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.letters import OTHER
from ltlpipe.automata.structure import accepting_only_on, cells_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.systems.networks.lts import Network

Move = dict[int, tuple[int, int]]
"""From a state of the monitor to where it goes, and the marks on the way."""


class Monitor(NamedTuple):
    """What accepts, beside a network whose components do not."""

    n_states: int
    initial: int
    n_marks: int  # a run is accepted iff it sees each infinitely often
    actions: dict[int, tuple[Move, ...]]  # moves by action; others are internal
    acceptors: tuple[tuple[tuple[int, ...], Move], ...]  # who must accept, and the move
    # States in which a run is accepted that goes on without the monitor, if the
    # components accept, too.
    resting: frozenset[int]
    accepting: frozenset[int] = frozenset()  # stand for the mark, if `n_marks` is 1


def monitor_of(
    network: Network,
    table: PropertyAutomaton,
    letters: Sequence[int],
    visible: Collection[int],
    *,
    together: bool = True,
) -> Monitor:
    """Return what watches for the runs of a network that an automaton accepts.

    Only the letters in `visible` matter to the property; `letters` has that of each
    action.  If `together`, a state counts as accepting iff all components accept in it;
    else each has to accept infinitely often, no matter when.
    """
    cells = cells_of(table)
    groups = network.accepting_groups(together=together)
    happens = 1 << table.n_marks if groups else 0
    moves: dict[int, tuple[Move, ...]] = {}  # by letter
    actions = {}
    for number, action in enumerate(network.actions):
        letter = int(letters[number])
        if len(action.participants) > 1 or letter in visible:
            if letter not in moves:
                row = cells[letter :: table.n_letters]
                moves[letter] = _moves(row, happens)
            actions[number] = moves[letter]
    first = table.n_marks + 1
    acceptors = tuple(
        (group, {state: (state, 1 << mark) for state in range(table.n_states)})
        for mark, group in enumerate(groups, start=first)
    )
    return Monitor(
        n_states=table.n_states,
        initial=table.initial,
        n_marks=first + len(groups) if groups else table.n_marks,
        actions=actions,
        acceptors=acceptors,
        resting=accepting_only_on(table, [OTHER]),
    )


def _moves(row: Sequence[list[tuple[int, int]]], happens: int) -> tuple[Move, ...]:
    """Divide the transitions on one letter, by state, into partial functions."""
    n_moves = max(map(len, row), default=0)
    return tuple(
        {
            state: (cell[k][0], cell[k][1] | happens)
            for state, cell in enumerate(row)
            if k < len(cell)
        }
        for k in range(n_moves)
    )


def counted(monitor: Monitor) -> Monitor:
    """Return a monitor for the same runs that accepts by one mark on states.

    Its states are those of `monitor` with the number of marks that it has seen since
    it accepted last, in their order; those with all of them are accepting.  An acceptor
    is taken only where it is waited for.
    """
    most = monitor.n_marks

    def seen(level: int, marks: int) -> int:
        level = 0 if level == most else level
        while level < most and marks >> level & 1:
            level += 1
        return level

    index: dict[tuple[int, int], int] = {(monitor.initial, 0): 0}
    states = [(monitor.initial, 0)]
    moves = [move for several in monitor.actions.values() for move in several]
    distinct = list({id(move): move for move in moves}.values())
    n_steps = len(distinct)
    distinct += [move for _, move in monitor.acceptors]
    new: list[Move] = [{} for _ in distinct]
    for state, level in states:  # grows while it is read
        src = index[state, level]
        for k, move in enumerate(distinct):
            if state not in move:
                continue
            dst, marks = move[state]
            after = seen(level, marks)
            if k >= n_steps and after in (0, level):
                continue
            if (dst, after) not in index:
                index[dst, after] = len(states)
                states.append((dst, after))
            new[k][src] = (index[dst, after], int(after == most))
    replaced = {id(old): move for old, move in zip(distinct, new, strict=True)}
    return Monitor(
        n_states=len(states),
        initial=0,
        n_marks=1,
        actions={
            action: tuple(replaced[id(move)] for move in several)
            for action, several in monitor.actions.items()
        },
        acceptors=tuple(
            (group, replaced[id(move)]) for group, move in monitor.acceptors
        ),
        resting=frozenset(index[s] for s in states if s[0] in monitor.resting),
        accepting=frozenset(index[s] for s in states if s[1] == most),
    )
