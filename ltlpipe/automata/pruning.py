"""Violations, and formulas, without what no run of a system does.

Of the automaton of the violations, letters that no state of the system has are taken
from its labels; components of which something is known are looked at part by part
(`ltlpipe.linear.proof`).

In a formula a subformula is replaced by a constant or by an operand of its own if no
word that agrees with what is known of runs tells the two formulas apart, as Spot
decides.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import Formula, fold, kind_of, rebuilt
from ltlpipe.logic.spot_graphs import by_spot, conjunction, cube

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Cube = dict[str, bool]


class Pruned:
    """An automaton of violations that loses labels.

    Parameters
    ----------
    violated : Formula or spot.twa_graph
        A formula that shall hold, or an automaton of the words that shall not be.
    initial : mapping of str to bool
        What is known of the first letter.
    """

    def __init__(self, violated: Formula | Any, initial: Mapping[str, bool]) -> None:
        import spot

        if isinstance(violated, Formula):
            negation = spot.formula_Not(violated.spot)
            found = by_spot(lambda: spot.translate(negation, "TGBA", "Small"))
        else:
            found = violated
        self._graph = _with_first_letter(found, initial)
        self._variables = {
            p.ap_name(): self._graph.register_ap(p) for p in self._graph.ap()
        }
        self._names = {number: name for name, number in self._variables.items()}

    @property
    def is_empty(self) -> bool:
        """Whether it accepts nothing."""
        return bool(by_spot(self._graph.is_empty))

    def forbid(self, letters: Mapping[str, bool]) -> None:
        """Take all letters with some literals from its labels."""
        if not letters.keys() <= self._variables.keys():
            return  # it does not tell them from others
        gone = self._cube(letters)
        for edge in self._graph.edges():
            edge.cond = edge.cond - gone
        self._graph.purge_dead_states()

    def labels(self) -> list[Cube]:
        """Return conjunctions of literals that are in some label, each once."""
        found: dict[tuple[tuple[str, bool], ...], None] = {}
        for edge in self._graph.edges():
            for literals in self._cubes(edge.cond):
                found[tuple(sorted(literals.items()))] = None
        return [dict(literals) for literals in found]

    def letters(self) -> list[Cube]:
        """Return conjunctions of literals of which each of its letters has one."""
        return list(self._cubes(_union(edge.cond for edge in self._graph.edges())))

    def parts(self) -> list[Part]:
        """Return the components that accept, as far as is known."""
        return _accepting(self, self._graph)

    def _cube(self, letters: Mapping[str, bool]) -> Any:
        known = self._variables
        return cube((known[n], holds) for n, holds in letters.items() if n in known)

    def _cubes(self, label: Any) -> Iterator[Cube]:
        """Yield disjoint conjunctions of which a label is made."""
        import spot  # noqa: F401  (the first: it says where buddy is)

        # isort: split
        import buddy

        while label != buddy.bddfalse:
            path = buddy.bdd_satone(label)
            label = label - path
            literals = {}
            while path != buddy.bddtrue:
                name = self._names[buddy.bdd_var(path)]
                high = buddy.bdd_high(path)
                literals[name] = high != buddy.bddfalse
                path = high if literals[name] else buddy.bdd_low(path)
            yield literals


class Part:
    """A strongly connected component of an automaton, with some of its letters."""

    def __init__(self, whole: Pruned, graph: Any, states: list[int]) -> None:
        self._whole, self._graph, self._states = whole, graph, states

    def letters(self) -> list[dict[str, bool]]:
        """Return conjunctions of literals of which each of its letters has one."""
        inside = set(self._states)
        labels = (
            edge.cond
            for state in self._states
            for edge in self._graph.out(state)
            if edge.dst in inside
        )
        return list(self._whole._cubes(_union(labels)))

    def within(self, letters: Mapping[str, bool]) -> list[Part]:
        """Return the components that accept of what is left with some literals."""
        import spot

        only = self._whole._cube(letters)
        made = spot.make_twa_graph(self._graph.get_dict())
        made.copy_ap_of(self._graph)
        made.copy_acceptance_of(self._graph)
        place = {state: k for k, state in enumerate(self._states)}
        made.new_states(len(place) + 1)
        first = len(place)
        for state, k in place.items():
            made.new_edge(first, k, only)
            for edge in self._graph.out(state):
                if edge.dst in place and (label := edge.cond & only) != _nothing():
                    made.new_edge(k, place[edge.dst], label, edge.acc)
        made.set_init_state(first)
        return _accepting(self._whole, made)


def _union(labels: Iterable[Any]) -> Any:
    label = _nothing()
    for own in labels:
        label = label | own
    return label


def _nothing() -> Any:
    import spot  # noqa: F401

    # isort: split
    import buddy

    return buddy.bddfalse


def _accepting(whole: Pruned, graph: Any) -> list[Part]:
    import spot

    info = by_spot(lambda: spot.scc_info(graph))
    info.determine_unknown_acceptance()
    return [
        Part(whole, graph, list(info.states_of(k)))
        for k in range(info.scc_count())
        if not info.is_rejecting_scc(k) and not info.is_trivial(k)
    ]


def _with_first_letter(graph: Any, initial: Mapping[str, bool]) -> Any:
    """Return an automaton whose first letter, alone, has some literals."""
    import spot

    made = spot.make_twa_graph(graph, spot.twa_prop_set.all())
    known = {p.ap_name(): made.register_ap(p) for p in made.ap()}
    only = cube((known[n], holds) for n, holds in initial.items() if n in known)
    first, old = made.new_state(), made.get_init_state_number()
    edges = [(edge.cond & only, edge.dst, edge.acc) for edge in made.out(old)]
    for label, dst, marks in edges:
        if label != _nothing():
            made.new_edge(first, dst, label, marks)
    made.set_init_state(first)
    for ask in (made.prop_state_acc, made.prop_universal, made.prop_complete):
        ask(spot.trival_maybe())
    made.purge_dead_states()
    return made


MOST_NAMED = 6
"""Propositions of a formula that is made simpler."""

_LARGEST = 40
"""Operators and propositions of such a formula."""


def is_small(formula: Any) -> bool:
    """Whether a formula is one that can be made simpler, in little time."""
    import spot

    names = spot.atomic_prop_collect(formula) or ()
    return 0 < len(names) <= MOST_NAMED and spot.length(formula) <= _LARGEST


def depth_of_next(formula: Any) -> int:
    """Return how many X are nested in a formula."""

    def deepest(_: Any, kind: str, below: list[int]) -> int:
        return max(below, default=0) + (kind == "X")

    return fold(formula, deepest)


def simpler_formula(
    formula: Any,
    impossible: Iterable[Cube],
    first: Iterable[Sequence[Cube] | None],
    deadline: float,
) -> Any:
    """Return a formula that the same runs satisfy.

    Where the first one is stutter-invariant, so is each that it is replaced by.

    Parameters
    ----------
    formula : spot.formula
        A formula of LTL.
    impossible : iterable of mapping of str to bool
        Conjunctions of literals that hold nowhere on a run.
    first : iterable of sequences of such mappings, or None
        For the first steps of runs, conjunctions of which one holds there; None if
        nothing is known of a step.
    deadline : float
        When nothing else is tried, as `time.process_time` counts.
    """
    import spot

    known = [spot.formula_G(spot.formula_Not(conjunction(c))) for c in impossible]
    for step, letters in enumerate(first):
        if letters is not None:
            said = spot.formula_Or([conjunction(letter) for letter in letters])
            for _ in range(step):
                said = spot.formula_X(said)
            known.append(said)
    return _Simplification(formula, known, deadline).formula


class _Simplification:
    """A formula that is made simpler, as far as nothing known tells it from the first.

    `simpler_formula` has more about it.
    """

    def __init__(self, formula: Any, known: list[Any], deadline: float) -> None:
        import spot

        self.formula = formula
        self._deadline = deadline
        runs = _automaton(spot.formula_And(known))
        self._true = spot.product(_automaton(formula), runs)
        self._false = spot.product(_automaton(spot.formula_Not(formula)), runs)
        self._stutters = spot.is_stutter_invariant(formula)
        without = fold(formula, _without_next)
        if without != formula and self._is_same(without):
            self.formula = without
        while self._has_changed():
            pass

    def _has_changed(self) -> bool:
        """Whether one more subformula is replaced."""
        for candidate in _candidates(self.formula):
            if time.process_time() > self._deadline:
                return False
            if self._is_same(candidate):
                self.formula = candidate
                return True
        return False

    def _is_same(self, candidate: Any) -> bool:
        import spot

        if self._true.intersects(_automaton(spot.formula_Not(candidate))):
            return False
        if self._false.intersects(_automaton(candidate)):
            return False
        return not self._stutters or bool(spot.is_stutter_invariant(candidate))


def _automaton(formula: Any) -> Any:
    import spot

    return spot.translate(formula, "GeneralizedBuchi", "Low", "Any")


def _without_next(node: Any, kind: str, below: list[Any]) -> Any:
    if kind == "X":
        return below[0]
    return rebuilt(kind, below) if below else node


def _candidates(formula: Any) -> Iterator[Any]:
    """Yield formulas with a subformula replaced, the largest ones first."""
    import spot

    parts: dict[int, Any] = {}

    def noted(node: Any, _: str, __: list[Any]) -> None:
        parts[node.id()] = node

    fold(formula, noted)
    size = spot.length(formula)
    for part in sorted(parts.values(), key=spot.length, reverse=True):
        kind, operands = kind_of(part), list(part)
        if kind in ("tt", "ff"):
            continue
        others = [spot.formula_tt(), spot.formula_ff(), *operands]
        if kind in ("U", "M"):
            others.append(spot.formula_F(operands[kind == "U"]))
        if kind in ("R", "W"):
            others.append(spot.formula_G(operands[kind == "R"]))
        for other in others:
            found = fold(formula, _replacing(part, other))
            if found != formula and spot.length(found) < size:
                yield found


def _replacing(part: Any, other: Any) -> Any:
    def replaced(node: Any, kind: str, below: list[Any]) -> Any:
        if node == part:
            return other
        return rebuilt(kind, below) if below else node

    return replaced
