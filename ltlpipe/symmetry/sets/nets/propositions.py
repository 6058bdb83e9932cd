"""Propositions about a symmetric net, made ready for rows.

Cells that are never marked have no field: they hold 0.  Whether a transition can be
taken under some binding is found out by looking for one; the answers are bits behind
the words of the marking that is expanded, where propositions read them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions.syntax import Enabled, Number, Operation, Variable
from ltlpipe.systems.fields import Field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.logic.propositions.syntax import Expression

WORD_BITS = 64


class Placed:
    """Propositions over the fields of rows of `n_words`; `of_cells` are those of cells.

    Attributes
    ----------
    propositions : list of Expression
        Over numbers of fields.
    fields : list of Field
        These fields.
    transitions : list of int
        Those of which it is asked whether they can be taken.
    """

    def __init__(
        self,
        propositions: Sequence[Expression],
        of_cells: Mapping[int, Field],
        n_words: int,
    ) -> None:
        self._of_cells = of_cells
        self._n_words = n_words
        self._numbers: dict[Field, int] = {}
        self._bits: dict[int, int] = {}
        self.propositions = [self._placed(p) for p in propositions]
        self.fields = list(self._numbers)
        self.transitions = list(self._bits)

    @property
    def n_words(self) -> int:
        """Words of a row with all answers behind it."""
        return self._n_words + -(-len(self._bits) // WORD_BITS)

    def _placed(self, part: Expression) -> Expression:
        if isinstance(part, Variable):
            field = self._of_cells.get(part.number)
            return Number(0) if field is None else self._variable(field)
        if isinstance(part, Enabled):
            bit = self._bits.setdefault(part.transition, len(self._bits))
            word, shift = divmod(bit, WORD_BITS)
            return self._variable(Field(self._n_words + word, shift, 1))
        if isinstance(part, Operation):
            return replace(part, operands=tuple(map(self._placed, part.operands)))
        return part

    def _variable(self, field: Field) -> Variable:
        return Variable(self._numbers.setdefault(field, len(self._numbers)))
