"""Proofs about a net and a property, and simpler formulas, in a worker process.

*Simpler formulas* (`simpler`) say the same of all runs of a net.  Known are
conjunctions of two literals that no marking has, by linear programs, and the letters of
the first markings, step by step (`ltlpipe.automata.pruning`): ``X F a`` becomes ``F a``
if a is false at first.  So most operators X of the Model Checking Contest's formulas
go, and what is left is stutter-invariant.

Where a first try fails, inequalities that hold in all markings are proved by induction
over steps (`prove_rows`).  Candidates are inequalities of the propositions that hold
initially; that a place keeps one token at most, or what it has initially; and that the
places of a unit of a nested-unit net and of the units around it have one token at most,
which is so if units are safe.  Nothing of this is taken on trust.  A step that
increases ``w m`` by k > 0 needs a marking with ``w m + c > -k`` if ``w m + c <= 0`` is
not to hold behind it; and linear programs refute that its transition is enabled there,
given that all candidates hold before.  Those for which they do not are left out, and
the others proved again.

Sources: H. Garavel, "Nested-Unit Petri Nets", Journal of Logical and Algebraic Methods
in Programming 104, 2019, pp. 60-85, Sec. 3 (unit-safeness); C. Flanagan and K. R. M.
Leino, "Houdini, an Annotation Assistant for ESC/Java", FME 2001, LNCS 2021, pp.
500-517 (candidates that refute each other).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.pruning import (
    Pruned,
    depth_of_next,
    is_small,
    simpler_formula,
)
from ltlpipe.linear.constraints import either, is_satisfied, key_of, parts_of, rows_in
from ltlpipe.linear.cycles import (
    Cycles,
    Meaning,
    by_effects,
    deadlocked,
    enabled,
    meaning_of,
    step_refutation,
)
from ltlpipe.linear.equation import StateEquation, TooLongError, premises_of
from ltlpipe.linear.net_arrays import Structure
from ltlpipe.logic.folding import with_constants
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.workers import remote
from ltlpipe.systems.nets.structure import Arcs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.logic.formulas import Formula

    Cube = dict[str, bool]

PHASE = "solving linear programs"

FIRST_SECONDS = 1.0
"""CPU time of a first try; then inequalities are proved by induction."""

_known: OrderedDict[bytes, StateEquation] = OrderedDict()
"""The state equations that this process has met last."""

_MOST_KNOWN = 2
_MOST_PARTS = 500
"""Components of an automaton that are looked at."""


def equation_of(
    arrays: Sequence[np.ndarray], *, certified: bool = False
) -> StateEquation:
    """Return the state equation of a net; questions about one net share it.

    If it is to be `certified`, all that it knows has a proof.
    """
    parts = [array.tobytes() for array in arrays]
    key = sha256(b"|".join([bytes([certified]), *parts])).digest()
    found = _known.pop(key, None)
    if found is None:
        initial, *arcs, first, place = arrays
        sets = [own.tolist() for own in np.split(place, first[1:-1])]
        sides = Arcs(*arcs[:3]), Arcs(*arcs[3:])
        net = Structure(initial.tolist(), *sides, sets, excludes=not certified)
        found = StateEquation(net)
    _known[key] = found
    while len(_known) > _MOST_KNOWN:
        _known.popitem(last=False)
    return found


@remote(PHASE)
def prove(
    arrays: list[Any],
    violated: Formula | Any,
    meanings: dict[str, Any],
    initial: dict[str, bool],
    *,
    stutters: bool,
    seconds: float,
    exact: list[int] | None = None,
    certified: bool = False,
) -> dict[str, Any]:
    """Try to prove that no run of a net violates a property.

    Parameters
    ----------
    arrays : list of int64 arrays
        The initial marking, three arrays each of the arcs that take and put, and two of
        sets of places that may be exclusive: where each begins, and the places.
    violated : Formula or spot.twa_graph
        A formula that shall hold, or an automaton of the words that shall not be.
    meanings : dict
        For each proposition the fields of a `Meaning`.
    initial : dict of str to bool
        Values of propositions in the initial marking.
    stutters : bool
        Whether a deadlock repeats itself.
    seconds : float
        After which it gives up.
    exact : list of int, optional
        Transitions that are enabled where their places have the tokens; by default all.
    certified : bool
        Whether clauses and facts are returned with their refutations.

    Returns
    -------
    dict
        Whether it is `proved`, by `clauses`, conjunctions of literals that hold in no
        marking, and `facts` (`ltlpipe.linear.cycles`); what is `inductive`
        (`ltlpipe.linear.proof`); the number of `programs`.
    """
    equation = equation_of(arrays, certified=certified)
    began = time.process_time()
    before = equation.n_programs
    own = {name: Meaning(*fields) for name, fields in meanings.items()}
    dead = deadlocked(equation.net, exact)
    for limit in (min(FIRST_SECONDS, seconds), seconds):
        equation.deadline = began + limit
        automaton = Pruned(violated, initial)
        clauses, facts = _found(equation, own, automaton, dead, stutters=stutters)
        proved = facts is not None
        if not proved and not certified:
            proved = _refuted_by_part(equation, own, automaton, dead, stutters=stutters)
        was_stopped = time.process_time() > equation.deadline
        equation.deadline = began + seconds
        if proved or limit == seconds:
            break
        if not (prove_rows(equation, own) or was_stopped):
            break
    if not certified:
        clauses = [{"cube": clause["cube"]} for clause in clauses]
        facts = [{"always": f["always"], "then": f["then"]} for f in facts or ()]
    return {
        "proved": proved,
        "clauses": clauses,
        "facts": facts or [],
        "inductive": equation.inductive if certified else [],
        "programs": equation.n_programs - before,
    }


def _found(
    equation: StateEquation,
    meanings: Mapping[str, Meaning],
    automaton: Pruned,
    dead: Constraint,
    *,
    stutters: bool,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]] | None]:
    """Return clauses, and facts that leave nothing of an automaton; None without."""
    clauses = constant_clauses(equation, meanings)
    for clause in clauses:
        automaton.forbid(clause["cube"])
    if not automaton.is_empty:
        clauses += _impossible_labels(equation, meanings, automaton)
    if automaton.is_empty:
        return clauses, []
    facts: list[dict[str, Any]] = []
    cycles = Cycles(equation, meanings, stutters=stutters, dead=dead)
    return clauses, facts if _refuted(automaton, cycles, facts) else None


def constant_clauses(
    equation: StateEquation, meanings: Mapping[str, Meaning]
) -> list[dict[str, Any]]:
    """Return the literals that hold in no marking, as clauses."""
    clauses: list[dict[str, Any]] = []
    for name, meaning in meanings.items():
        for holds, constraint in ((True, meaning.true), (False, meaning.false)):
            try:
                found = equation.refutation([constraint])
            except TooLongError:
                return clauses
            if found is not None:
                clauses.append({"cube": {name: holds}, "refutation": found})
                break
    return clauses


def _impossible_labels(
    equation: StateEquation, meanings: Mapping[str, Meaning], automaton: Pruned
) -> list[dict[str, Any]]:
    """Take letters that no marking has from an automaton; return them as clauses."""
    clauses: list[dict[str, Any]] = []
    possible: set[frozenset[tuple[str, bool]]] = set()
    while not automaton.is_empty:
        found = None
        for label in automaton.labels():
            key = frozenset(label.items())
            if key in possible:
                continue
            try:
                found = equation.refutation([meaning_of(label, meanings)])
            except TooLongError:
                return clauses
            if found is not None:
                cube = _core(label, found, meanings)
                clauses.append({"cube": cube, "refutation": found})
                automaton.forbid(cube)
                break
            possible.add(key)
        if found is None:
            break
    return clauses


def _refuted_by_part(
    equation: StateEquation,
    meanings: Mapping[str, Meaning],
    automaton: Pruned,
    dead: Constraint,
    *,
    stutters: bool,
) -> bool:
    """Whether no run of the transitions that violations may have is accepted.

    All letters of a violation are letters of the automaton; transitions that cannot
    fire between two of these are left out, from the beginning.
    """
    deadline = equation.deadline
    about = {p for own in meanings.values() for p in own.places or ()}
    is_smaller = False
    while not automaton.is_empty:
        cubes = automaton.letters()
        letters = either(meaning_of(cube, meanings) for cube in cubes)
        net = equation.net
        near = [t for t in range(net.n_transitions) if _touches(net, t, about)]
        try:
            gone = [t for t in near if step_refutation(equation, t, letters, about)]
        except TooLongError:
            return False
        if not gone:
            break
        is_smaller = True
        known, equation = equation.known, StateEquation(net.without(gone), deadline)
        equation.know(known)
        for clause in constant_clauses(equation, meanings):
            automaton.forbid(clause["cube"])
        _impossible_labels(equation, meanings, automaton)
    if not is_smaller or automaton.is_empty:
        return automaton.is_empty
    cycles = Cycles(equation, meanings, stutters=stutters, dead=dead)
    return _refuted(automaton, cycles, [])


def _touches(net: Structure, transition: int, places: Set[int]) -> bool:
    known = net.inputs[transition], net.effects[transition]
    return any(not places.isdisjoint(own) for own in known)


def _core(label: Cube, refutation: Any, meanings: Mapping[str, Meaning]) -> Cube:
    """Return the literals of a label that its refutation needs."""
    premises = premises_of(refutation)
    return {
        name: holds
        for name, holds in label.items()
        if any(
            part in premises for part in parts_of(meaning_of({name: holds}, meanings))
        )
    }


def _refuted(automaton: Pruned, cycles: Cycles, facts: list[dict[str, Any]]) -> bool:
    """Whether facts say that no component of an automaton accepts; note them."""
    waiting = automaton.parts()
    for _ in range(_MOST_PARTS):
        if not waiting:
            return True
        part = waiting.pop()
        fact = cycles.fact(part.letters())
        if fact is None:
            return False
        known = len(part.letters())
        facts.append(fact)
        for case in fact["then"]:
            for inner in part.within(case):
                if inner.letters() == part.letters() and known:
                    return False  # nothing has been learnt
                waiting.append(inner)
    return False


INDUCTION_SECONDS = 2.0
"""CPU time after which no candidate is proved."""

_MOST_STEPS = 2_000
"""Arcs to places whose tokens are candidates."""


@dataclass
class _Candidate:
    row: Constraint
    gains: dict[int, int]  # of transitions that increase the sum
    steps: dict[int, Any] = field(default_factory=dict)  # their refutations


def prove_rows(equation: StateEquation, meanings: Mapping[str, Meaning]) -> bool:
    """Let a state equation know more rows of its net; return whether it does.

    They and their proofs are noted in `equation.inductive`: the `row`, and `steps`,
    lists of a transition that increases the sum and the refutation of a step by it that
    increases it too much.
    """
    new = [row for row in _rows(equation.net, meanings) if equation.is_new(row)]
    candidates = _increasing(equation.net, new)
    before, deadline = list(equation.known), equation.deadline
    equation.deadline = min(deadline, time.process_time() + INDUCTION_SECONDS)
    try:
        while _has_lost(equation, candidates, before):
            pass
    except TooLongError:
        candidates = []
        equation.know(before)
    finally:
        equation.deadline = deadline
    equation.inductive += [
        {"row": own.row, "steps": [list(step) for step in own.steps.items()]}
        for own in candidates
    ]
    return bool(candidates)


def _rows(net: Structure, meanings: Mapping[str, Meaning]) -> Iterator[Constraint]:
    """Yield the candidates that hold initially."""
    every = [rows_in(side) for own in meanings.values() for side in own[:2]]
    for row in (row for rows in every for row in rows):
        if is_satisfied(row, net.initial):
            yield row
    for own in net.exclusive:
        if sum(net.initial[place] for place in own) <= 1:
            yield ["row", [[place, 1] for place in sorted(own)], -1]
    if len(net.post.place) <= _MOST_STEPS:
        for place, tokens in enumerate(net.initial):
            yield ["row", [[place, 1]], -max(tokens, 1)]


def _increasing(net: Structure, rows: Iterable[Constraint]) -> list[_Candidate]:
    """Return candidates with those who increase their sums; others are known."""
    found = [_Candidate(row, {}) for row in rows]
    around: dict[int, list[tuple[int, _Candidate]]] = {}
    for own in found:
        for place, weight in own.row[1]:
            around.setdefault(place, []).append((weight, own))
    for t, effect in enumerate(net.effects):
        for place, change in effect.items():
            for weight, own in around.get(place, ()):
                own.gains[t] = own.gains.get(t, 0) + weight * change
    for own in found:
        own.gains = {t: gain for t, gain in own.gains.items() if gain > 0}
    return [own for own in found if own.gains]


def _has_lost(
    equation: StateEquation, candidates: list[_Candidate], before: list[Constraint]
) -> bool:
    """Prove of candidates what is not proved; return whether some were left out."""
    equation.know([*before, *(own.row for own in candidates)])
    lost = [own for own in candidates if not _is_kept(equation, own)]
    for own in lost:
        candidates.remove(own)
    gone = {key_of(own.row) for own in lost}
    for own in candidates:
        own.steps = {
            t: refutation
            for t, refutation in own.steps.items()
            if gone.isdisjoint(map(key_of, premises_of(refutation)))
        }
    return bool(lost)


def _is_kept(equation: StateEquation, own: _Candidate) -> bool:
    _, weights, constant = own.row
    opposite = [[place, -weight] for place, weight in weights]
    for t, gain in own.gains.items():
        if t not in own.steps:
            broken = ["row", opposite, 1 - constant - gain]
            found = equation.refutation([enabled(equation.net, t), broken])
            if found is None:
                return False
            own.steps[t] = found
    return True


_DEEPEST = 8
"""Steps at the beginning whose letters are looked at."""

_MOST_LETTERS = 16
"""Letters of one such step; nothing is known of a step with more."""

_WORK = 2_000_000
"""Arcs that are looked at for these letters."""


@remote(PHASE)
def simpler(
    arrays: list[Any],
    asked: Formula,
    meanings: dict[str, Any],
    seconds: float,
    *,
    steps: bool = True,
) -> Formula | None:
    """Return a formula that says the same of all runs of a net; None if there is none.

    Parameters
    ----------
    arrays : list of int64 arrays
        The initial marking, and three arrays each of the arcs that take and put.
    asked : Formula
        What is to be simplified.
    meanings : dict
        For each proposition the fields of a `Meaning`.
    seconds : float
        After which nothing else is tried.
    steps : bool
        Whether the net takes just the steps that it is asked about, not others, too.
    """
    equation = equation_of(arrays)
    equation.deadline = time.process_time() + seconds
    own = {name: Meaning(*fields) for name, fields in meanings.items()}
    values = {
        name: not holds
        for clause in constant_clauses(equation, own)
        for name, holds in clause["cube"].items()
    }
    try:
        formula = with_constants(asked.spot, values)
    except UnsupportedError:  # PSL
        return None
    if is_small(formula):
        names = replace(asked, spot=formula).propositions
        left = {name: own[name] for name in names}
        impossible = list(_impossible_pairs(equation, left))
        depth = depth_of_next(formula) if steps else 0
        first = _first_letters(equation, left, depth)
        formula = simpler_formula(formula, impossible, first, equation.deadline)
    return None if formula == asked.spot else replace(asked, spot=formula)


def _impossible_pairs(
    equation: StateEquation, meanings: Mapping[str, Meaning]
) -> Iterator[Cube]:
    """Yield pairs of literals that no marking has."""
    for names in combinations(meanings, 2):
        for values in product((True, False), repeat=2):
            pair = dict(zip(names, values, strict=True))
            try:
                found = equation.refutation([meaning_of(pair, meanings)])
            except TooLongError:
                return
            if found is not None:
                yield pair


def _first_letters(
    equation: StateEquation, meanings: Mapping[str, Meaning], depth: int
) -> Iterator[list[Cube] | None]:
    """Yield the letters of the first markings of runs; None if they are many.

    A marking without successors is taken to repeat itself.
    """
    net = equation.net
    markings = {tuple(net.initial)}
    left = _WORK
    for _ in range(min(depth, _DEEPEST) + 1):
        left -= len(markings) * (len(net.pre.place) + net.n_transitions)
        if left < 0:
            return
        letters = {_letter(marking, meanings) for marking in markings}
        few = len(letters) <= _MOST_LETTERS
        yield [dict(letter) for letter in letters] if few else None
        markings = {then for own in markings for then in _successors(equation, own)}


def _letter(
    marking: tuple[int, ...], meanings: Mapping[str, Meaning]
) -> frozenset[tuple[str, bool]]:
    """Return the literals that a marking is known to have."""
    return frozenset(
        (name, holds)
        for name, meaning in meanings.items()
        for holds, other in ((True, meaning.false), (False, meaning.true))
        if not is_satisfied(other, marking)
    )


def _successors(
    equation: StateEquation, marking: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    net, (taking, place) = equation.net, equation.net.arcs[0]
    lacking = taking[np.array(marking)[place] < net.pre.weight]
    enabled = np.bincount(lacking, minlength=net.n_transitions) == 0
    if not enabled.any():
        yield marking
    for t in np.flatnonzero(enabled).tolist():
        then = list(marking)
        for own, change in net.effects[t].items():
            then[own] += change
        yield tuple(then)


Plan = list[list[int]]


@remote(PHASE)
def plans(
    arrays: list[Any], goals: list[list[Constraint]], seconds: float
) -> list[Plan]:
    """Return for each conjunction of rows the transitions of a plan, and how often.

    A plan is a solution of the state equation with the fewest firings in all, rounded
    up (K. Schmidt, "Narrowing Petri Net State Spaces Using the State Equation",
    Fundamenta Informaticae 47, 2001, pp. 325-335); no run need follow it.  Both
    lists are empty where there is none, or after so many seconds of CPU time.  `arrays`
    are those of `prove`.
    """
    equation = equation_of(arrays)
    equation.deadline = time.process_time() + seconds
    alike = by_effects(equation.net)
    found: list[Plan] = []
    for rows in goals:
        try:
            counts = equation.fewest_firings(rows)
        except TooLongError:
            counts = {}
        pairs = [(t, n) for effect, n in counts.items() for t in alike[effect]]
        found.append([list(column) for column in zip(*pairs, strict=True)] or [[], []])
    return found
