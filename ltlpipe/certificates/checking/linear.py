"""Proofs by linear algebra: refutations of constraints about the markings of a net.

What a refutation is, and why facts follow from it, is in ``docs/certificates.md``.  All
is computed in integers, from the net and the propositions themselves.

A constraint is a tuple: ``("row", ((place, weight), ...), constant)`` says that the
weighted sum of tokens and the constant together are at most 0; ``("and", parts)`` and
``("or", parts)`` have frozen sets of parts.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Number,
    Operation,
    Variable,
    variables_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.nets.structure import Net

    Constraint = tuple[Any, ...]
    Sum = tuple[dict[int, int], int]

TRUE: Constraint = ("and", frozenset())
FALSE: Constraint = ("or", frozenset())
_MOST_NAMED = 12
_COMPARISONS = ("<", "<=", "==")
_TRUTHS = (*_COMPARISONS, "&&", "||", "!")


def _row(weights: Mapping[int, int], constant: int) -> Constraint:
    terms = tuple((place, own) for place, own in sorted(weights.items()) if own)
    if not terms:
        return TRUE if constant <= 0 else FALSE
    return ("row", terms, constant)


def _combined(kind: str, parts: Iterable[Constraint]) -> Constraint:
    neutral, other = (TRUE, FALSE) if kind == "and" else (FALSE, TRUE)
    found: set[Constraint] = set()
    for part in parts:
        found |= part[1] if part[0] == kind else {part}
    if other in found:
        return other
    if len(found) == 1:
        return next(iter(found))
    return (kind, frozenset(found)) if found else neutral


def _told(value: Any) -> Constraint:
    """Return a constraint that a certificate tells."""
    kind, *rest = value
    if kind == "row":
        terms, constant = rest
        weights = dict(map(_numbers, terms))
        if len(weights) < len(terms):
            raise ValueError  # a place stands twice
        return _row(weights, _integer(constant))
    if kind not in ("and", "or") or len(rest) != 1:
        raise ValueError
    return _combined(kind, map(_told, rest[0]))


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _numbers(pair: Any) -> tuple[int, int]:
    first, second = pair
    return _integer(first), _integer(second)


def _meaning(expression: Expression, dead: Constraint, *, holds: bool) -> Constraint:
    """Return what follows for a marking from a proposition, or from its negation."""
    if isinstance(expression, Deadlock):
        return dead if holds else TRUE
    if isinstance(expression, Operation):
        operator, operands = expression.operator, expression.operands
        if operator == "!":
            return _meaning(operands[0], dead, holds=not holds)
        if operator in ("&&", "||"):
            kind = "and" if (operator == "&&") == holds else "or"
            return _combined(kind, (_meaning(o, dead, holds=holds) for o in operands))
        if operator in _COMPARISONS:
            return _comparison(operator, operands, dead, holds=holds)
    value = _sum(expression)
    return TRUE if value is None else _compared("==", value, holds=not holds)


def _comparison(
    operator: str, operands: tuple[Expression, ...], dead: Constraint, *, holds: bool
) -> Constraint:
    truths = [
        isinstance(o, Deadlock) or (isinstance(o, Operation) and o.operator in _TRUTHS)
        for o in operands
    ]
    if operator == "==" and all(truths):
        left, right = operands
        ways = [
            (_meaning(left, dead, holds=v), _meaning(right, dead, holds=v == holds))
            for v in (True, False)
        ]
        return _combined("or", (_combined("and", way) for way in ways))
    left_sum, right_sum = map(_sum, operands)
    if any(truths) or left_sum is None or right_sum is None:
        return TRUE
    return _compared(operator, _plus(left_sum, right_sum, -1), holds=holds)


def _compared(operator: str, value: Sum, *, holds: bool) -> Constraint:
    weights, constant = value
    above = {place: -own for place, own in weights.items()}
    if operator == "==":
        gap = 0 if holds else 1
        sides = _row(weights, constant + gap), _row(above, gap - constant)
        return _combined("and" if holds else "or", sides)
    strict = int(operator == "<")
    return (
        _row(weights, constant + strict)
        if holds
        else _row(above, 1 - strict - constant)
    )


def _sum(expression: Expression) -> Sum | None:
    """Return weights and constant of a linear expression."""
    if isinstance(expression, Number):
        return {}, expression.value
    if isinstance(expression, Variable):
        return {expression.number: 1}, 0
    if not isinstance(expression, Operation) or expression.operator not in (
        "+",
        "-",
        "*",
    ):
        return None
    parts = [_sum(operand) for operand in expression.operands]
    total: Sum = ({}, 0)
    if expression.operator == "*":
        first, second = parts
        if first is None or second is None or (first[0] and second[0]):
            return None
        if first[0]:
            first, second = second, first
        return _plus(total, second, first[1])
    for part in parts:
        if part is None:
            return None
        total = _plus(total, part, -1 if expression.operator == "-" else 1)
    return total


def _plus(one: Sum, other: Sum, factor: int) -> Sum:
    weights = dict(one[0])
    for place, own in other[0].items():
        weights[place] = weights.get(place, 0) + factor * own
    return weights, one[1] + factor * other[1]


def _shifted(constraint: Constraint, effect: Mapping[int, int]) -> Constraint:
    """Return what holds before a step if a constraint holds behind it."""
    if constraint[0] == "row":
        _, terms, constant = constraint
        return ("row", terms, constant + sum(w * effect.get(p, 0) for p, w in terms))
    return _combined(constraint[0], (_shifted(part, effect) for part in constraint[1]))


def _pieces(constraint: Constraint) -> frozenset[Constraint]:
    """Return the rows and disjunctions of a conjunction."""
    return constraint[1] if constraint[0] == "and" else frozenset({constraint})


def is_of_markings(expression: Expression) -> bool:
    """Whether a proposition depends on the numbers of tokens alone."""
    if isinstance(expression, Operation):
        return all(map(is_of_markings, expression.operands))
    return isinstance(expression, (Number, Variable))


class LinearProof:
    """The clauses and facts of a certificate, checked one by one.

    Parameters
    ----------
    net : Net
        What they are about.
    meanings : mapping of str to Expression
        The propositions.
    stutters : bool
        Whether a deadlock repeats itself.
    """

    def __init__(
        self, net: Net, meanings: Mapping[str, Expression], *, stutters: bool
    ) -> None:
        self._net, self._meanings, self._stutters = net, meanings, stutters
        self._initial = net.initial()
        self._effects = [t.differences() for t in net.transitions]
        self._changing: list[list[int]] = [[] for _ in net.places]
        self._takers: list[list[int]] = [[] for _ in net.places]
        for number, effect in enumerate(self._effects):
            for place in effect:
                self._changing[place].append(number)
            for place in net.transitions[number].pre:
                self._takers[place].append(number)
        self._dead = _combined("and", map(self._disabled, range(len(self._effects))))
        self._known: frozenset[Constraint] = frozenset()

    def check_inductive(self, rows: Any) -> None:
        """Check that some inequalities hold in all markings.

        By induction over steps: they may be used in their own refutations.

        Raises
        ------
        RefusedError
            One does not hold initially, or a step that breaks it is not refuted.
        """
        every = [(_told(told["row"]), dict(told["steps"])) for told in rows]
        self._known = frozenset(row for row, _ in every)
        for (kind, *own), steps in every:
            if kind != "row":
                raise RefusedError("what is said to be inductive is no inequality")
            weights, constant = dict(own[0]), own[1]
            initially = sum(w * self._initial[place] for place, w in weights.items())
            if min(weights) < 0 or initially + constant > 0:
                raise RefusedError("what is said to be inductive is false initially")
            for number in {t for place in weights for t in self._changing[place]}:
                effect = self._effects[number].items()
                gain = sum(weights.get(place, 0) * by for place, by in effect)
                if gain > 0:
                    opposite = {place: -own for place, own in weights.items()}
                    broken = _row(opposite, 1 - constant - gain)
                    said = _pieces(self._enabled(number)) | _pieces(broken)
                    self._check(steps[number], said)

    def check_clause(self, cube: Mapping[str, bool], refutation: Any) -> None:
        """Check that no marking has some literals.

        Raises
        ------
        RefusedError
            The refutation is none.
        """
        self._check(refutation, _pieces(self._literals(cube)))

    def check_fact(self, fact: Any) -> None:
        """Check what follows for runs whose letters are in a set in the end.

        Raises
        ------
        RefusedError
            It does not follow.
        """
        always, then = ([self._cube(c) for c in fact[k]] for k in ("always", "then"))
        letters = _combined("or", map(self._literals, always))
        excluded = set()
        for number, refutation in fact["excluded"]:
            self._check_excluded(letters, number, refutation)
            excluded.add(number)
        weights = dict(map(_numbers, fact["weights"]))
        if any(own < 0 for own in weights.values()):
            raise RefusedError("a weight of a fact is negative")
        left = self._not_lowered(weights, excluded)
        if not left and not self._stutters:
            return
        changed = {place for number in left for place in self._effects[number]}
        said = _pieces(letters) if left else _pieces(letters) | _pieces(self._dead)
        cases = []
        for told, refutation in fact["cases"]:
            cube = self._cube(told)
            self._check(refutation, said | _pieces(self._literals(cube)))
            cases.append(cube)
        names = sorted({name for cube in (*cases, *then) for name in cube})
        for name in names if left else ():
            meaning = self._meanings[name]
            if not is_of_markings(meaning) or changed & {*variables_in(meaning)}:
                raise RefusedError(f"{name} may change for ever")
        self._check_cases(names, always, [*cases, *then])

    def _check_cases(
        self, names: list[str], always: list[dict[str, bool]], known: list[Any]
    ) -> None:
        """Check that each case is known, or contradicts what always holds."""
        if len(names) > _MOST_NAMED:
            raise RefusedError("a fact has too many cases")
        for values in product((False, True), repeat=len(names)):
            case = dict(zip(names, values, strict=True))
            possible = any(
                all(case.get(name, holds) == holds for name, holds in cube.items())
                for cube in always
            )
            if possible and not any(cube.items() <= case.items() for cube in known):
                raise RefusedError("a fact leaves a case out")

    def _cube(self, told: Any) -> dict[str, bool]:
        if not isinstance(told, dict) or not told.keys() <= self._meanings.keys():
            raise RefusedError("a proof names a proposition that there is not")
        if not all(type(holds) is bool for holds in told.values()):
            raise RefusedError("a proof says neither that a proposition holds nor not")
        return told

    def _literals(self, told: Any) -> Constraint:
        meanings, dead = self._meanings, self._dead
        cube = self._cube(told)
        return _combined(
            "and", (_meaning(meanings[n], dead, holds=h) for n, h in cube.items())
        )

    def _enabled(self, number: int) -> Constraint:
        inputs = self._net.transitions[number].pre.items()
        return _combined("and", (_row({place: -1}, weight) for place, weight in inputs))

    def _disabled(self, number: int) -> Constraint:
        inputs = self._net.transitions[number].pre.items()
        return _combined("or", (_row({p: 1}, 1 - weight) for p, weight in inputs))

    def _check_excluded(self, letters: Constraint, number: Any, told: Any) -> None:
        if not 0 <= _integer(number) < len(self._effects):
            raise RefusedError("a proof names a transition that there is not")
        said = _pieces(self._enabled(number)) | _pieces(letters)
        self._check(told, said | _pieces(_shifted(letters, self._effects[number])))

    def _not_lowered(self, weights: Mapping[int, int], excluded: set[int]) -> set[int]:
        """Return the transitions that do not lower a sum that none increases."""
        left = set()
        for number, effect in enumerate(self._effects):
            if number in excluded:
                continue
            gain = sum(weights.get(place, 0) * by for place, by in effect.items())
            if gain > 0:
                raise RefusedError("a transition increases a sum that it must not")
            if not gain:
                left.add(number)
        return left

    def _check(self, told: Any, premises: frozenset[Constraint]) -> None:
        """Check that a refutation refutes the conjunction of some premises."""
        if "cases" in told:
            case, parts = told["cases"], told["parts"]
            # Alternatives that are alike are one, which need not be a disjunction.
            if case[0] != "or" or not _pieces(_told(case)) <= premises:
                raise RefusedError("a refutation has cases of something else")
            if len(case[1]) != len(parts):
                raise RefusedError("a refutation leaves a case out")
            for part, refutation in zip(case[1], parts, strict=True):
                self._check(refutation, premises | _pieces(_told(part)))
            return
        weights = dict(map(_numbers, told["weights"]))
        if not weights.keys() <= set(range(len(self._initial))):
            raise RefusedError("a weight is that of no place")
        slack, total = dict(weights), 0
        for row, factor in zip(told["rows"], told["factors"], strict=True):
            known = _told(row)
            is_known = known in premises or known in self._known
            if not is_known and not self._is_trap(known):
                raise RefusedError("a refutation rests on what is not known")
            if _integer(factor) < 0 or known[0] != "row":
                raise RefusedError("a factor of a refutation is negative")
            total += factor * known[2]
            for place, own in known[1]:
                slack[place] = slack.get(place, 0) + factor * own
        initially = sum(own * self._initial[place] for place, own in weights.items())
        if total <= initially or min(slack.values(), default=0) < 0:
            raise RefusedError("a refutation does not add up")
        for number in {t for place in weights for t in self._changing[place]}:
            effect = self._effects[number].items()
            if sum(weights.get(place, 0) * by for place, by in effect) > 0:
                raise RefusedError("a transition increases a sum that it must not")

    def _is_trap(self, row: Constraint) -> bool:
        """Whether a row says that an initially marked trap has a token."""
        if row[0] != "row" or row[2] != 1 or any(own != -1 for _, own in row[1]):
            return False
        inside = {place for place, _ in row[1]}
        if not any(self._initial[place] for place in inside):
            return False
        takers: Iterator[int] = (t for place in inside for t in self._takers[place])
        return all(inside & self._net.transitions[t].post.keys() for t in takers)
