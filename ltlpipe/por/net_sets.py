"""Tables of stubborn sets that follow the property's automaton, for plain nets.

While the automaton stays in a state by its loops, all that counts is how the run leaves
it, or which marks it sees there.  So a step may wait as long as no way to a letter that
does more than the loop at hand is lost (docs/stubborn.md, section 5, has the proof).
Neither stutter invariance nor a proviso about cycles is needed.

Sources: J. Jensen, J. Srba, N. Ulrik and S. Virenfeldt, "Automata-Driven Partial Order
Reduction and Guided Search for LTL Model Checking", VMCAI 2022, LNCS 13182, pp.
151-173; T. Liebke, "Büchi-Automata Guided Partial Order Reduction for LTL", PNSE 2020,
CEUR 2651, pp. 147-166; A. Valmari, "Stubborn Sets for Reduced State Space Generation",
Advances in Petri Nets 1990, LNCS 483, pp. 491-515.

Differences from the sources: loops may carry marks; sets are looked for in accepting
states, too, where one transition has to stay enabled; what the letter must not do may
also be paid for by an end of the search, or by more marks.

Cost: a number per arc and side of a place, four per state and letter of the automaton.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import STATIC
from ltlpipe.logic.propositions import syntax
from ltlpipe.por.groups import names_steps
from ltlpipe.runtime.arrays import begins
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import MAX_TOKENS
from ltlpipe.systems.nets.stubborn_kernels import Sets, Watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model

MOST_CELLS = 1 << 14
"""States by letters by propositions of an automaton for which goals are looked for."""

_CELL_WORK = 10.0
"""Microseconds per proposition for the goals of a state and a letter."""

_BEHIND = ("==", "<", "<=")
_LARGEST = 1 << 20  # factor of a place's tokens


class _Ways(NamedTuple):
    """What may make an expression true, or false."""

    transitions: set[int]  # that may do it by themselves
    needs: list[dict[int, int]]  # tokens of places, of which one has to be there


def table_of(
    net: Model,
    propositions: Sequence[syntax.Expression],
    automaton: PropertyAutomaton,
    *,
    stutters: bool,
) -> Job[np.ndarray | None]:
    """Return the table of `keep_stubborn`, or None if all steps would be taken.

    So they are in models that are no plain nets, and if a proposition is about steps.

    Parameters
    ----------
    net : Model
        Its transitions are what sets consist of.
    propositions : sequence of Expression
        Bound to it.
    automaton : PropertyAutomaton
        Over letters whose bits are the propositions.
    stutters : bool
        Whether runs that end count.

    Returns
    -------
    int64[m]
        Its first three numbers, and the fields behind it, are the packing's to add.
    """
    n_cells = automaton.n_states * automaton.n_letters
    if (
        not isinstance(net, PetriNet)
        or any(map(names_steps, propositions))
        or automaton.condition is not None
        or automaton.n_letters != 1 << len(propositions)
        or n_cells * max(1, len(propositions)) > MOST_CELLS
    ):
        return None
    around = _Around(net)
    ticks = Ticks(STATIC)
    ways, entries = [], np.zeros((len(net.transitions), 2), dtype=np.int64)
    for bit, proposition in enumerate(propositions):
        for side in (True, False):
            own = yield from around.ways(proposition, side, ticks)
            may = yield from around.changers(proposition, side, ticks)
            ways.append(own)
            entries[sorted(may), int(not side)] |= 1 << bit
    costs = [len(own.transitions) + len(own.needs) for own in ways]
    watch = yield from watched(automaton, costs, stutters=stutters)
    if (watch[..., Watch.GOALS] < 0).all():
        return None
    return _assembled(around, ways, entries, watch)


class _Around:
    """The transitions around the places of a net."""

    def __init__(self, net: PetriNet) -> None:
        self.n_transitions = len(net.transitions)
        every = np.arange(self.n_transitions)
        owner, place, change = net.effects(every)
        taker, source, needed = net.pre.of(every)
        more, less = change > 0, change < 0
        n = len(net.places)
        keys = (3 * place[more], 3 * source + 1, 3 * place[less] + 2)
        key = np.concatenate(keys)
        order = np.argsort(key, kind="stable")
        self.lists = np.concatenate((owner[more], taker, owner[less]))[order]
        self.begins = begins(key, 3 * n)
        fewer = np.isin(taker * n + source, owner[less] * n + place[less])
        self.arcs = np.column_stack((source, needed, fewer))
        self.first_arc = net.pre.first
        order = np.argsort(place, kind="stable")
        self._changes = owner[order], change[order]
        self._first_change = begins(place, n)

    def ways(
        self, expression: syntax.Expression, value: bool, ticks: Ticks
    ) -> Job[_Ways]:
        """Return what has to happen before an expression has a value."""
        operator, parts = _split(expression)
        if operator == "!":
            return (yield from self.ways(parts[0], not value, ticks))
        if operator == ("||" if value else "&&"):
            found = _Ways(set(), [])
            for part in parts:
                own = yield from self.ways(part, value, ticks)
                found.transitions.update(own.transitions)
                found.needs.extend(own.needs)
            return found
        needed = _needs(expression) if value else None
        if needed:
            return _Ways(set(), [needed])
        may = yield from self.changers(expression, value, ticks)
        return _Ways(may, [])

    def changers(
        self, expression: syntax.Expression, value: bool, ticks: Ticks
    ) -> Job[set[int]]:
        """Return the transitions that may give an expression a value."""
        operator, parts = _split(expression)
        if operator == "!":
            return (yield from self.changers(parts[0], not value, ticks))
        found: set[int] = set()
        if operator in ("&&", "||"):
            for part in parts:
                found |= yield from self.changers(part, value, ticks)
            return found
        difference = None
        if isinstance(expression, (syntax.Number, syntax.Variable)):
            difference = syntax.linear(expression)
        elif operator in _BEHIND:
            left, right = parts
            sides = left, syntax.Operation("-", (right,))
            difference = syntax.linear(syntax.Operation("+", sides))
        if difference is None or any(abs(n) > _LARGEST for n in difference[0].values()):
            return set(range(self.n_transitions))
        factors = difference[0]
        yield from ticks.worked(len(factors))
        either = operator == "==" or isinstance(expression, syntax.Variable)
        for transition, change in self._effects(factors).items():
            if change and (either or (change < 0) == value):
                found.add(transition)
        return found

    def _effects(self, factors: Mapping[int, int]) -> dict[int, int]:
        """Return by how much transitions change a sum."""
        effects: dict[int, int] = defaultdict(int)
        owner, change = self._changes
        for place, factor in factors.items():
            own = slice(self._first_change[place], self._first_change[place + 1])
            pairs = zip(owner[own].tolist(), change[own].tolist(), strict=True)
            for transition, difference in pairs:
                effects[transition] += factor * difference
        return effects


def _split(
    expression: syntax.Expression,
) -> tuple[str, tuple[syntax.Expression, ...]]:
    if isinstance(expression, syntax.Operation):
        return expression.operator, expression.operands
    return "", ()


def _needs(expression: syntax.Expression) -> dict[int, int] | None:
    """Return the tokens that places need, if an expression asks for that alone."""
    operator, parts = _split(expression)
    if operator == "&&":
        needs: dict[int, int] = {}
        for part in parts:
            own = _needs(part)
            if own is None:
                return None
            for place, least in own.items():
                needs[place] = max(least, needs.get(place, 0))
        return needs
    if operator not in ("<", "<="):
        return None
    left, right = parts
    if isinstance(left, syntax.Number) and isinstance(right, syntax.Variable):
        least = left.value + (operator == "<")
        return {right.number: least} if least <= MAX_TOKENS else None
    return None


def watched(
    automaton: PropertyAutomaton, costs: Sequence[int], *, stutters: bool
) -> Job[np.ndarray]:
    """Return int64[n_states, n_letters, 4]: what sets have to see to; see `Watch`.

    `costs` are those of making each bit true, and false.
    """
    ticks = Ticks(STATIC, _CELL_WORK)
    n_letters = automaton.n_letters
    n_bits = n_letters.bit_length() - 1
    letters = np.arange(n_letters)
    universal = automaton.universal_states()
    full = (1 << automaton.n_marks) - 1
    watch = np.full((automaton.n_states, n_letters, len(Watch)), -1, dtype=np.int64)
    for state in range(automaton.n_states):
        loops, leaves, ends = _behaviour(automaton, state, universal)
        waiting = np.flatnonzero((loops >= 0) & ~leaves)
        up, down = _losses(loops, waiting, ends & stutters)
        for a in waiting.tolist():
            does_more = leaves | ((loops >= 0) & (loops & ~loops[a] != 0))
            goals = _hitting(a, letters[does_more], n_bits, costs)
            watch[state, a] = goals, up, down, loops[a] == full
            yield from ticks.worked(n_bits)
    return watch


def _behaviour(
    automaton: PropertyAutomaton, state: int, universal: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each letter the marks of the loop, and whether others are possible.

    These are int64, -1 where there is no loop, or none that has all marks of the
    others; bool, whether a transition is no such loop; and bool, whether one leads to a
    universal state.
    """
    n = automaton.n_letters
    loops = np.full(n, -1, dtype=np.int64)
    leaves, ends = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    for a in range(n):
        at = state * n + a
        own = slice(automaton.first_edge[at], automaton.first_edge[at + 1])
        to, marks = automaton.edge_dst[own], automaton.edge_marks[own].astype(np.int64)
        stays = marks[to == state]
        union = int(np.bitwise_or.reduce(stays)) if len(stays) else -1
        if union in stays:
            loops[a] = union
        leaves[a] = (to != state).any() or (len(stays) and union not in stays)
        ends[a] = universal[to].any()
    return loops, leaves, ends


def _losses(
    loops: np.ndarray, waiting: np.ndarray, ends: np.ndarray
) -> tuple[int, int]:
    """Return bits that may not become true, or false, where the automaton waits.

    Whatever changes a letter that is `waiting` into one without a loop that has the
    same marks, and that is none of the `ends`, changes one of them so.
    """
    up = down = 0
    for changed in sorted(range(1, len(loops)), key=int.bit_count):
        after = waiting ^ changed
        worse = (loops[after] < 0) | (loops[waiting] & ~loops[after] != 0)
        forbidden = (waiting & down | ~waiting & up) & changed
        left = waiting[worse & ~ends[after] & (forbidden == 0)]
        bit = changed & -changed
        up |= bit * int((left & bit == 0).any())
        down |= bit * int((left & bit != 0).any())
    return up, down


def _hitting(letter: int, aims: np.ndarray, n_bits: int, costs: Sequence[int]) -> int:
    """Return bits, one of which tells each aim from a letter; dear ones are left out.

    No bit of them could be left out, too.
    """
    chosen = (1 << n_bits) - 1
    dear = sorted(range(n_bits), key=lambda bit: -costs[2 * bit + (letter >> bit & 1)])
    for bit in dear:
        fewer = chosen & ~(1 << bit)
        if ((aims ^ letter) & fewer).all():
            chosen = fewer
    return chosen


def _assembled(
    around: _Around,
    ways: Sequence[_Ways],
    flips: np.ndarray,
    watch: np.ndarray,
) -> np.ndarray:
    """Return the table; `flips` are the bits that transitions may change."""
    needs = [need for own in ways for need in own.needs]
    asked = [[place, least, 0] for need in needs for place, least in need.items()]
    arcs = np.array([*around.arcs.tolist(), *asked], dtype=np.int64).reshape(-1, 3)
    sizes = np.cumsum([len(around.arcs), *map(len, needs)])
    at, parts = len(Sets), []

    def placed(part: np.ndarray) -> int:
        nonlocal at
        parts.append(part.ravel())
        at += part.size
        return at - part.size

    table = np.zeros(len(Sets), dtype=np.int64)
    table[Sets.N_LETTERS] = watch.shape[1]
    table[Sets.N_TRANSITIONS] = around.n_transitions
    table[Sets.WATCH] = placed(watch)
    first = placed(arcs) + 3 * np.concatenate((around.first_arc[:-1], sizes))
    entries = np.zeros((len(first), 3), dtype=np.int64)
    entries[: len(flips), :2], entries[:, 2] = flips, first
    table[Sets.TRANSITIONS] = placed(entries)
    table[Sets.AROUND] = placed(around.begins + placed(around.lists))
    lists = [sorted(own.transitions) for own in ways]
    listed = placed(np.array([t for own in lists for t in own], dtype=np.int64))
    list_begins = listed + np.cumsum([0, *map(len, lists)])
    virtual = around.n_transitions + np.cumsum([0, *(len(own.needs) for own in ways)])
    table[Sets.GOALS] = placed(np.column_stack((list_begins, virtual)))
    table[Sets.FIELDS] = at
    return np.concatenate((table, *parts))
