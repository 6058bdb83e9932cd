"""Acceptance conditions: Emerson-Lei formulas over marks, and their names.

A condition is a positive Boolean formula over ``Inf(m)``, "mark m is seen
infinitely often", and ``Fin(m)``, "it is not".  Sets of marks are bits of an
integer, mark 0 the lowest.  Spot reads conditions; nothing else here needs it.

Sources: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with
generalized Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 2,
for the forms, Table 1 for their names; T. Babiak et al., "The Hanoi Omega-Automata
Format", CAV 2015, LNCS 9206, pp. 479-486, for the notation.

Differences from the sources: the paper makes one set of the union of the Fin sets of a
clause; a `Clause` says "none of these marks", which is the same without any change of
an automaton (`merged_fin` gives the paper's form).  Forms are recognised up to the
order of parts and the numbers of marks, and the same mark may stand in several places,
as the paper's sets of transitions may.  A generalised Rabin pair may have no Fin (its
set is empty).  Generalised co-Büchi, trivial and unsatisfiable conditions have names,
too.  Forms are recognised by how a condition is written: ``Fin(0)|Inf(0)`` is a Streett
condition although it always holds.  In disjunctive normal forms, the pairs of
generalised Rabin, pairs that contradict themselves or imply another one are left out at
every step, so a small normal form is found where distributing alone would explode; the
paper keeps them, and calls equal or overlapping pairs a missed opportunity (Sec. 3.1).
Marks that other pairs make superfluous are removed.

Fairness is marks on the steps of a system, and a condition on them.  A set of actions
is *enabled* in a state if some action of it is, and *taken* by a step with one of its
actions.  A run is weakly fair to it if it does not happen that from some point on the
set is enabled in every state and never taken; strongly fair if it does not happen that
it is enabled again and again and from some point on never taken.

Weak fairness is one mark per set, on the steps that take it and on all that leave a
state in which it is not enabled: each has to come infinitely often.  Strong fairness is
two: one on the steps that leave a state in which it is enabled, one on those that take
it; each set asks for ``Fin(enabled) | Inf(taken)``.
The paper's Sec. 4.3 has livelocks
without fairness; the two kinds of fairness are the usual ones (C. Baier and J.-P.
Katoen, "Principles of Model Checking", MIT Press 2008, Def. 3.46).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import FormulaError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

MAX_MARKS = 32
"""How many marks a transition can carry."""

MAX_NESTING = 100
"""How often conjunctions and disjunctions of a condition may alternate."""


class Op(IntEnum):
    """What a node of a condition is."""

    FALSE = 0
    TRUE = 1
    INF = 2
    FIN = 3
    AND = 4
    OR = 5


class Clause(NamedTuple):
    """A generalised Rabin pair, as bits of marks.

    No mark of `fin` is seen infinitely often, and every mark of `inf` is.
    """

    fin: int
    inf: int

    def satisfied_by(self, marks: int) -> bool:
        """Whether a run that sees exactly these marks infinitely often is accepted."""
        return marks & self.fin == 0 and marks & self.inf == self.inf


@dataclass(frozen=True)
class Condition:
    """A positive Boolean formula over Inf and Fin.

    Made by `inf`, `fin`, `conjunction`, `disjunction` (also ``&`` and ``|``) and
    `parse_condition`, which join nested conjunctions and disjunctions, remove repeated
    parts, and leave constants only where they are the whole condition.
    """

    op: Op  # what the root is
    mark: int = 0  # of INF and FIN
    parts: tuple[Condition, ...] = ()  # of AND and OR, two or more

    def __and__(self, other: Condition) -> Condition:
        return conjunction([self, other])

    def __or__(self, other: Condition) -> Condition:
        return disjunction([self, other])

    def __str__(self) -> str:
        if self.op in (Op.TRUE, Op.FALSE):
            return "t" if self.op == Op.TRUE else "f"
        if not self.parts:
            return f"{'Inf' if self.op == Op.INF else 'Fin'}({self.mark})"
        sign = "&" if self.op == Op.AND else "|"
        return sign.join(
            f"({part})" if part.parts else str(part) for part in self.parts
        )

    @property
    def marks(self) -> int:
        """The marks that occur, as bits."""
        return self.inf_marks | self.fin_marks

    @property
    def inf_marks(self) -> int:
        """The marks that occur in some Inf, as bits."""
        return self._leaves(Op.INF)

    @property
    def fin_marks(self) -> int:
        """The marks that occur in some Fin, as bits."""
        return self._leaves(Op.FIN)

    def _leaves(self, op: Op) -> int:
        if self.op == op:
            return 1 << self.mark
        found = 0
        for part in self.parts:
            found |= part._leaves(op)
        return found

    @property
    def n_marks(self) -> int:
        """One more than the highest mark that occurs, 0 without any."""
        return self.marks.bit_length()

    def satisfied_by(self, marks: int) -> bool:
        """Whether a run that sees exactly these marks infinitely often is accepted."""
        if self.op == Op.AND:
            return all(part.satisfied_by(marks) for part in self.parts)
        if self.op == Op.OR:
            return any(part.satisfied_by(marks) for part in self.parts)
        if self.op in (Op.INF, Op.FIN):
            return (marks >> self.mark & 1 == 1) == (self.op == Op.INF)
        return self.op == Op.TRUE

    def mapped(self, leaf: Callable[[Op, int], Condition]) -> Condition:
        """Replace each Inf and Fin by ``leaf(op, mark)``."""
        if self.op in (Op.INF, Op.FIN):
            return leaf(self.op, self.mark)
        if not self.parts:
            return self
        join = conjunction if self.op == Op.AND else disjunction
        return join(part.mapped(leaf) for part in self.parts)

    def within(self, marks: int) -> Condition:
        """Return what is left of it where no other marks than these can be seen."""

        def leaf(op: Op, mark: int) -> Condition:
            if marks >> mark & 1:
                return Condition(op, mark)
            return TRUE if op == Op.FIN else FALSE

        return self.mapped(leaf)

    def with_fin(self, mark: int, holds: bool) -> Condition:
        """Return the condition with ``Fin(mark)`` replaced by a constant."""
        constant = TRUE if holds else FALSE

        def leaf(op: Op, other: int) -> Condition:
            known = op == Op.FIN and other == mark
            return constant if known else Condition(op, other)

        return self.mapped(leaf)

    def renumbered(self, numbers: Callable[[int], int]) -> Condition:
        """Return the condition with every mark m called ``numbers(m)``."""
        return self.mapped(lambda op, mark: _leaf(op, numbers(mark)))

    def nested(self) -> list[Any]:
        """Return the operator, the mark, and the parts in the same form."""
        return [int(self.op), self.mark, [part.nested() for part in self.parts]]

    @classmethod
    def from_nested(cls, nested: list[Any]) -> Condition:
        """Return the condition of which `nested` has been returned."""
        op, mark, parts = nested
        return cls(Op(op), mark, tuple(map(cls.from_nested, parts)))


TRUE = Condition(Op.TRUE)
FALSE = Condition(Op.FALSE)


def inf(mark: int) -> Condition:
    """Return the condition that a mark is seen infinitely often."""
    return _leaf(Op.INF, mark)


def fin(mark: int) -> Condition:
    """Return the condition that a mark is not seen infinitely often."""
    return _leaf(Op.FIN, mark)


def _leaf(op: Op, mark: int) -> Condition:
    if mark >= MAX_MARKS:
        raise UnsupportedError(
            f"the acceptance condition has mark {mark}, and the limit is "
            f"{MAX_MARKS} marks, 0 to {MAX_MARKS - 1}"
        )
    return Condition(op, mark)


def conjunction(parts: Iterable[Condition]) -> Condition:
    """Return the condition that all parts hold; true if there are none."""
    return _joined(Op.AND, parts, neutral=TRUE, absorbing=FALSE)


def disjunction(parts: Iterable[Condition]) -> Condition:
    """Return the condition that some part holds; false if there are none."""
    return _joined(Op.OR, parts, neutral=FALSE, absorbing=TRUE)


def _joined(
    op: Op, parts: Iterable[Condition], *, neutral: Condition, absorbing: Condition
) -> Condition:
    flat: dict[Condition, None] = {}  # in their order
    for part in parts:
        flat.update(dict.fromkeys(part.parts if part.op == op else [part]))
    flat.pop(neutral, None)
    if absorbing in flat:
        return absorbing
    if len(flat) < 2:
        return next(iter(flat), neutral)
    return Condition(op, parts=tuple(flat))


def generalised_buchi(n_marks: int) -> Condition:
    """Return the condition that each of n marks is seen infinitely often."""
    return conjunction(inf(mark) for mark in range(n_marks))


def from_clauses(clauses: Iterable[Clause]) -> Condition:
    """Return the condition that one of the clauses holds."""
    return disjunction(
        conjunction([*map(fin, marks_in(c.fin)), *map(inf, marks_in(c.inf))])
        for c in clauses
    )


def marks_in(bits: int) -> list[int]:
    """Return the marks of a set that is given as bits, ascending."""
    return [mark for mark in range(bits.bit_length()) if bits >> mark & 1]


def bits_of(marks: Iterable[int]) -> int:
    """Return different marks, or other small numbers, as bits."""
    return sum(1 << mark for mark in marks)


def parse_condition(text: str) -> Condition:
    """Read a condition as HOA writes it.

    Raises
    ------
    FormulaError
        `text` is none.
    UnsupportedError
        It has a mark above 31, or is nested too deeply.

    Examples
    --------
    >>> print(parse_condition("Fin(0) & Inf(1) | Inf(2)"))
    (Fin(0)&Inf(1))|Inf(2)
    """
    import spot

    try:
        code = spot.acc_code(text)
    except SyntaxError as error:
        reason = " ".join(str(error).split())
        message = f"expected an acceptance condition: {reason}"
        raise FormulaError(message, formula=text) from None
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedError(f"acceptance condition {text}: {reason}") from None
    return from_code(code)


def from_code(code: Any, nesting: int = 0) -> Condition:
    """Return an acceptance condition of Spot, a ``spot.acc_code``.

    Raises
    ------
    UnsupportedError
        It is nested more deeply than `MAX_NESTING`.
    """
    if nesting > MAX_NESTING:
        raise UnsupportedError(
            f"the acceptance condition is nested more than {MAX_NESTING} times"
        )
    if code.is_t() or code.is_f():
        return TRUE if code.is_t() else FALSE
    for parts, join in (
        (code.top_disjuncts(), disjunction),
        (code.top_conjuncts(), conjunction),
    ):
        if len(parts) > 1:
            return join([from_code(part, nesting + 1) for part in parts])
    infs, fins = code.used_inf_fin_sets()
    return inf(infs.max_set() - 1) if infs else fin(fins.max_set() - 1)


class Shape(str, Enum):
    """Forms of conditions, the special before the general ones."""

    NONE = "unsatisfiable"  # f
    ALL = "trivial"  # t
    BUCHI = "Büchi"  # Inf
    CO_BUCHI = "co-Büchi"  # Fin
    GENERALISED_BUCHI = "generalised Büchi"  # Inf & Inf & ...
    GENERALISED_CO_BUCHI = "generalised co-Büchi"  # Fin | Fin | ...
    RABIN = "Rabin"  # (Fin & Inf) | (Fin & Inf) | ...
    STREETT = "Streett"  # (Fin | Inf) & (Fin | Inf) & ...
    PARITY = "parity"  # Inf(0) | (Fin(1) & (Inf(2) | ...)), and so on
    FIN_LESS = "Fin-less"  # Inf alone, in any combination
    GENERALISED_RABIN = "generalised Rabin"  # (Fin & Inf & ...) | ..., Fin at most once
    EMERSON_LEI = "Emerson-Lei"  # anything


def shape_of(condition: Condition) -> Shape:
    """Return the first name in the order of `Shape` that suits a condition."""
    return next(shape for shape in Shape if has_shape(condition, shape))


def has_shape(condition: Condition, shape: Shape) -> bool:
    """Whether a condition is written in a form."""
    return _FORMS[shape](condition)


_FORMS: dict[Shape, Callable[[Condition], bool]] = {
    Shape.NONE: lambda c: c.op == Op.FALSE,
    Shape.ALL: lambda c: c.op == Op.TRUE,
    Shape.BUCHI: lambda c: c.op == Op.INF,
    Shape.CO_BUCHI: lambda c: c.op == Op.FIN,
    Shape.GENERALISED_BUCHI: lambda c: _joins(Op.AND, Op.INF, c, empty=Op.TRUE),
    Shape.GENERALISED_CO_BUCHI: lambda c: _joins(Op.OR, Op.FIN, c, empty=Op.FALSE),
    Shape.RABIN: lambda c: _consists_of_pairs(c, Op.OR, Op.AND),
    Shape.STREETT: lambda c: _consists_of_pairs(c, Op.AND, Op.OR),
    Shape.PARITY: lambda c: _is_parity(c),
    Shape.FIN_LESS: lambda c: c.fin_marks == 0,
    Shape.GENERALISED_RABIN: lambda c: all(map(_is_generalised_pair, _split(Op.OR, c))),
    Shape.EMERSON_LEI: lambda _: True,
}


def _split(op: Op, condition: Condition) -> tuple[Condition, ...]:
    """Return the parts that `op` joins; the whole is one if it joins nothing."""
    return condition.parts if condition.op == op else (condition,)


def _joins(outer: Op, leaf: Op, condition: Condition, *, empty: Op) -> bool:
    parts = _split(outer, condition)
    return condition.op == empty or all(part.op == leaf for part in parts)


def _consists_of_pairs(condition: Condition, outer: Op, inner: Op) -> bool:
    """Whether `outer` joins pairs of one Fin and one Inf, joined by `inner`."""
    return all(
        pair.op == inner and sorted(part.op for part in pair.parts) == [Op.INF, Op.FIN]
        for pair in _split(outer, condition)
    )


def _is_generalised_pair(condition: Condition) -> bool:
    parts = _split(Op.AND, condition)
    n_fin = sum(part.op == Op.FIN for part in parts)
    simple = all(part.op in (Op.TRUE, Op.FALSE, Op.INF, Op.FIN) for part in parts)
    return simple and n_fin <= 1


def _is_parity(condition: Condition) -> bool:
    """Whether Inf and Fin of different marks take turns, one to each level."""
    marks = []
    rest = condition
    while rest.parts:
        leaf = Op.INF if rest.op == Op.OR else Op.FIN
        decisive = [part for part in rest.parts if part.op == leaf]
        others = [part for part in rest.parts if part.op != leaf]
        if len(decisive) != 1 or len(others) != 1:
            return False
        marks.append(decisive[0].mark)
        rest = others[0]
    marks.append(rest.mark)
    return rest.op in (Op.INF, Op.FIN) and len(set(marks)) == len(marks)


MAX_CLAUSES = 4096
"""How many clauses a disjunctive normal form may have."""

_MAX_PRODUCT = 1 << 16  # clauses that are looked at for one conjunction
_MAX_SHARPENED = 256  # more clauses than this keep what marks they have

# A clause as one number, Fin marks above Inf marks: it implies another clause iff
# its bits contain the other's.
_FIN = MAX_MARKS


def normal_form(condition: Condition) -> tuple[Clause, ...]:
    """Return the disjunctive normal form, the pairs of generalised Rabin.

    No pair contradicts itself, and none implies another one.  No pair is left for a
    condition that cannot hold; ``Clause(0, 0)`` always does.

    Raises
    ------
    UnsupportedError
        There would be more than `MAX_CLAUSES`.
    """
    return tuple(map(_clause, _sharpened(_distributed(condition))))


def merged_fin(clauses: Iterable[Clause]) -> tuple[Condition, list[int]]:
    """Return clauses in the paper's form, with one Fin set in each at most.

    Mark i of the condition is where any of the old marks in entry i of the list is.
    Marks that no clause uses are dropped, and equal sets get the same mark.

    Raises
    ------
    UnsupportedError
        More than 32 marks would be needed.
    """
    pairs = list(clauses)
    unions = {c.fin for c in pairs if c.fin}
    unions |= {1 << mark for c in pairs for mark in marks_in(c.inf)}
    ordered = sorted(unions)
    number = {union: i for i, union in enumerate(ordered)}
    written = from_clauses(
        Clause(
            1 << number[c.fin] if c.fin else 0,
            bits_of(number[1 << mark] for mark in marks_in(c.inf)),
        )
        for c in pairs
    )
    return written, ordered


def _clause(code: int) -> Clause:
    return Clause(code >> _FIN, code & ((1 << _FIN) - 1))


def _distributed(condition: Condition) -> list[int]:
    """Return the clauses of a condition, none of which implies another."""
    if condition.op == Op.OR:
        found = [code for part in condition.parts for code in _distributed(part)]
        return _absorbed(dict.fromkeys(found))
    if condition.op == Op.AND:
        codes = [0]
        for part in condition.parts:
            more = _distributed(part)
            if len(codes) * len(more) > _MAX_PRODUCT:
                raise _too_many(condition)
            pairs = (a | b for a, b in product(codes, more))
            codes = _absorbed(dict.fromkeys(c for c in pairs if not c >> _FIN & c))
            if len(codes) > MAX_CLAUSES:
                raise _too_many(condition)
        return codes
    if condition.op == Op.INF:
        return [1 << condition.mark]
    if condition.op == Op.FIN:
        return [1 << condition.mark << _FIN]
    return [0] if condition.op == Op.TRUE else []


def _too_many(condition: Condition) -> UnsupportedError:
    shown = str(condition)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return UnsupportedError(
        f"the disjunctive normal form of {shown} has more than {MAX_CLAUSES} pairs; "
        "use --emptiness=tela, and --acceptance=tela, which need none, or tgba"
    )


def _absorbed(codes: Iterable[int]) -> list[int]:
    """Drop the clauses that imply another one; the others keep their order."""
    order = list(codes)
    if len(order) < 2:
        return order
    left = np.array(sorted(order, key=int.bit_count), dtype=np.uint64)
    kept = set()
    while len(left):
        smallest = left[0]  # nothing that is left is contained in it
        kept.add(int(smallest))
        left = left[left & smallest != smallest]
    return [code for code in order if code in kept]


def _sharpened(codes: list[int]) -> list[int]:
    """Drop the marks of clauses that other clauses make superfluous.

    ``(Fin(0)&A)|(Inf(0)&A&B)`` is ``(Fin(0)&A)|(A&B)``: where mark 0 is seen
    finitely often, A&B implies the first clause anyway.
    """
    changed = 1 < len(codes) <= _MAX_SHARPENED
    while changed:
        changed = False
        for i, code in enumerate(codes):
            for bit in (1 << at for at in marks_in(code)):
                opposite = bit << _FIN if bit < 1 << _FIN else bit >> _FIN
                rest = code ^ bit
                if any(c & opposite and c ^ opposite | rest == rest for c in codes):
                    codes = _absorbed(
                        dict.fromkeys([*codes[:i], rest, *codes[i + 1 :]])
                    )
                    changed = True
                    break
            if changed:
                break
    return codes


WEAK, STRONG = "weak", "strong"


class Fairness(NamedTuple):
    """The marks of fairness, from 0 on; sets of them are bits.

    A step that leaves a state in which no set is enabled, and takes none, has the marks
    `idle`.
    """

    n_marks: int
    condition: Condition  # what a fair run satisfies
    idle: int
    enabled: np.ndarray  # uint32[n_actions]: change where the action is enabled
    taken: np.ndarray  # uint32[n_actions]: those that a step with it has besides


def fairness_to(
    sets: Sequence[Collection[int]], n_actions: int, *, strong: bool
) -> Fairness:
    """Return the marks that say whether a run is fair to sets of actions.

    The actions are those of a network, which has `n_actions`; `strong` is strong
    fairness, else weak.
    """
    # Never empty: that says that there is no fairness.
    enabled = np.zeros(max(n_actions, 1), dtype=np.uint32)
    taken = np.zeros(max(n_actions, 1), dtype=np.uint32)
    n_marks = 2 * len(sets) if strong else len(sets)
    for k, actions in enumerate(sets):
        marks = (1 << 2 * k, 1 << 2 * k + 1) if strong else (1 << k, 1 << k)
        for action in actions:
            # What is beyond 32 marks is refused when the product is made.
            enabled[action] |= np.uint32(marks[0] & 0xFFFFFFFF)
            taken[action] |= np.uint32(marks[1] & 0xFFFFFFFF)
    if strong:
        pairs = range(len(sets))
        condition = conjunction(fin(2 * k) | inf(2 * k + 1) for k in pairs)
        return Fairness(n_marks, condition, 0, enabled, taken)
    idle = (1 << n_marks) - 1
    return Fairness(n_marks, generalised_buchi(n_marks), idle, enabled, taken)
