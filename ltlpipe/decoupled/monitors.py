"""Monitors of decoupled searches: a property, and acceptance of components.

A *monitor* is one more component of a decoupled composition, and the only one with
acceptance.  It moves with every global label, is in one state at a time, and carries
generalised acceptance on its moves.  A nondeterministic property gives each label as
many *moves* as it has choices at most; a move is a partial function from the monitor's
states to its states.

If the components of a network accept, too, the monitor waits for *acceptors*: labels
that change nothing but can be taken only while their components accept.  Each has a
mark, and another mark says that some action has happened; so a run that the monitor
accepts goes on.

The state of a monitor of properties that read valuations, for models as stars, is one
of the property's automaton with the valuation of the propositions.  Each global label
lets the automaton read the valuation before it, and puts the one behind it in its
place.  A run that no global label follows any more keeps its valuation for ever.

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
    from collections.abc import Collection, Iterable, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.decoupled.stars import Change, Star
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
                moves[letter] = _divided(
                    (state, [(dst, marks | happens) for dst, marks in cell])
                    for state, cell in enumerate(cells[letter :: table.n_letters])
                )
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


def _divided(choices: Iterable[tuple[int, list[tuple[int, int]]]]) -> tuple[Move, ...]:
    """Divide what states can choose between into partial functions."""
    moves: list[Move] = []
    for state, steps in choices:
        for choice, step in enumerate(steps):
            if choice == len(moves):
                moves.append({})
            moves[choice][state] = step
    return tuple(moves)


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


def monitor_of_valuations(star: Star, table: PropertyAutomaton) -> Monitor:
    """Return what watches for the runs of a star that an automaton accepts.

    In a deadlock the monitor moves to a state of its own if the automaton accepts the
    word that repeats the valuation for ever, and stays there, with all marks.
    """
    letters = [valuation.letter for valuation in star.valuations]
    accepting = {letter: accepting_only_on(table, [letter]) for letter in set(letters)}
    cells = cells_of(table)
    by_source: dict[int, set[int]] = {}
    for change in star.changes:
        if change is not None:
            by_source.setdefault(change[0], set()).add(change[1])
    index: dict[tuple[int, int], int] = {(table.initial, 0): 0}
    states = [(table.initial, 0)]
    for state, seen in states:  # grows while it is read
        for dst, _ in cells[state * table.n_letters + letters[seen]]:
            for after in (seen, *sorted(by_source.get(seen, ()))):
                if (dst, after) not in index:
                    index[dst, after] = len(index)
                    states.append((dst, after))

    def moves_of(change: Change) -> tuple[Move, ...]:
        return _divided(
            (
                number,
                [
                    (index[dst, seen if change is None else change[1]], marks)
                    for dst, marks in cells[state * table.n_letters + letters[seen]]
                ],
            )
            for number, (state, seen) in enumerate(states)
            if change is None or seen == change[0]
        )

    moves = {change: moves_of(change) for change in set(star.changes)}
    lasting = [  # states from which the valuation may stay as it is
        k for k, (state, seen) in enumerate(states) if state in accepting[letters[seen]]
    ]
    dead = len(states)
    stopped: Move = dict.fromkeys([*lasting, dead], (dead, (1 << table.n_marks) - 1))
    actions = {
        number: (stopped,) if number in star.deadlocks else moves[change]
        for number, (action, change) in enumerate(
            zip(star.network.actions, star.changes, strict=True)
        )
        if not action.internal
    }
    return Monitor(
        n_states=dead + 1,
        initial=0,
        n_marks=table.n_marks,
        actions=actions,
        acceptors=(),
        resting=frozenset(
            k for k in lasting if not star.valuations[states[k][1]].is_halted
        ),
    )
