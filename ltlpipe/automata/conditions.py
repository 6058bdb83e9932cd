"""Acceptance conditions: Emerson-Lei formulas over marks, and their normal forms.

A condition is a positive Boolean formula over ``Inf(m)``, "mark m is seen
infinitely often", and ``Fin(m)``, "it is not".  Sets of marks are bits of an
integer, mark 0 the lowest.  Nothing here needs Spot.

Sources: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with
generalized Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 2,
for the forms; T. Babiak et al., "The Hanoi Omega-Automata Format", CAV 2015,
LNCS 9206, pp. 479-486, for the notation.

Differences from the sources: the paper makes one set of the union of the Fin sets
of a clause; a `Clause` says "none of these marks", which is the same without any
change of an automaton (`ltlpipe.automata.normal_form.merged_fin` gives the paper's
form).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ltlpipe.automata.shapes import Shape

MAX_MARKS = 32
"""How many marks a transition can carry."""


class Op(IntEnum):
    """What a node of a condition is, and one instruction of its program.

    TRUE, FALSE, INF and FIN push a truth value (of their mark); AND and OR replace
    the two on top of the stack by one.
    """

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
    `parse`, which join nested conjunctions and disjunctions, remove repeated
    parts, and leave constants only where they are the whole condition.

    Parameters
    ----------
    op : Op
        What the root is.
    mark : int
        Of INF and FIN.
    parts : tuple of Condition
        Of AND and OR, two or more.
    """

    op: Op
    mark: int = 0
    parts: tuple[Condition, ...] = ()

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

    def shape(self) -> Shape:
        """Return the name of its form (Bloemen et al. 2019, Table 1)."""
        from ltlpipe.automata.shapes import shape_of

        return shape_of(self)

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

    def clauses(self) -> tuple[Clause, ...]:
        """Return its disjunctive normal form, the pairs of generalised Rabin.

        No pair contradicts itself, and none implies another one.  No pair is left
        for a condition that cannot hold; ``Clause(0, 0)`` always does.

        Raises
        ------
        UnsupportedError
            There would be more than `normal_form.MAX_CLAUSES`.
        """
        from ltlpipe.automata.normal_form import normal_form

        return normal_form(self)

    def n_distributed(self) -> int:
        """Return how many pairs distributing "and" over "or" alone would give."""
        if self.op == Op.OR:
            return sum(part.n_distributed() for part in self.parts)
        if self.op == Op.AND:
            return prod(part.n_distributed() for part in self.parts)
        return int(self.op != Op.FALSE)

    def program(self) -> np.ndarray:
        """Return int32[n, 2], instructions in postfix order: an `Op` and its mark.

        Deep parts come first: the stack never holds more values than the binary
        logarithm of the number of Inf and Fin, plus two.
        """
        rows: list[tuple[int, int]] = []
        _emit(self, rows)
        return np.array(rows, dtype=np.int32)

    def nested(self) -> list[Any]:
        """Return the operator, the mark, and the parts in the same form."""
        return [int(self.op), self.mark, [part.nested() for part in self.parts]]

    @classmethod
    def from_nested(cls, nested: list[Any]) -> Condition:
        """Return the condition of which `nested` has been returned."""
        op, mark, parts = nested
        return cls(Op(op), mark, tuple(map(cls.from_nested, parts)))

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition as HOA writes it.

        Raises
        ------
        FormulaError
            `text` is none; with the position of the error.
        UnsupportedError
            It has a mark above 31, or too many nested parentheses.

        Examples
        --------
        >>> print(Condition.parse("Fin(0) & Inf(1) | Inf(2)"))
        (Fin(0)&Inf(1))|Inf(2)
        """
        from ltlpipe.automata.condition_syntax import parse

        return parse(text)


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


def _emit(condition: Condition, rows: list[tuple[int, int]]) -> int:
    """Append the program of a condition; return the height of stack it needs."""
    programs = []
    for part in condition.parts:
        of_part: list[tuple[int, int]] = []
        programs.append((_emit(part, of_part), of_part))
    if not programs:
        rows.append((int(condition.op), condition.mark))
        return 1
    programs.sort(key=lambda program: -program[0])
    height = 0
    for i, (needed, of_part) in enumerate(programs):
        rows += of_part
        rows += [(int(condition.op), 0)] * (i > 0)
        height = max(height, needed + (i > 0))
    return height
