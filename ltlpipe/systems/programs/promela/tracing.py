"""``trace`` and ``notrace``: an automaton that follows what channels are used for.

Its place is a variable of the program.  A message that is sent or received, over a
channel that the trace names in that direction, moves it along the statement that fits.
If none fits, that is a failure of a ``trace``, and the end of a ``notrace``, which
fails where it comes to its end by statements that fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.systems.programs.program import (
    TRACE,
    Assignment,
    Binary,
    Conditional,
    Number,
    Read,
)
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.flow import Flow, leaving
from ltlpipe.systems.programs.promela.storage import GLOBAL
from ltlpipe.systems.programs.promela.syntax import nodes_in
from ltlpipe.systems.programs.promela.translation import all_of, any_of, equal, negated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.systems.programs.program import Expression
    from ltlpipe.systems.programs.promela.translation import Translator


class Tracing:
    """The automaton of a trace."""

    def __init__(self, lowering: Translator, claim: syntax.Claim) -> None:
        self.lowering = lowering
        self.is_negated = claim.kind == "notrace"
        self.flow = Flow(claim.body)
        self.event = lowering.storage.event
        self._scope = {
            (channel, node.sends)
            for node in nodes_in(claim.body)
            if isinstance(node, syntax.Event)
            for _, channel in lowering.channels(node.channel, GLOBAL)
        }

    def steps(
        self, channel: int, values: Sequence[Expression], *, sends: bool
    ) -> list[Assignment]:
        """Return what a message does to the automaton: assignments, at once."""
        if (channel, sends) not in self._scope:
            return []
        lowering = self.lowering
        end = self.flow.end.number if self.flow.end.number > 0 else 0
        target: Expression = Number(end)
        fits, ends = [], []
        for node in reversed(self.flow.nodes):
            for edge in reversed(list(leaving(node))):
                for condition in self._fitting(edge.step, channel, values, sends=sends):
                    here = all_of(
                        [equal(Read(self.event), Number(node.number)), condition]
                    )
                    fits.append(here)
                    if edge.target is self.flow.end:
                        ends.append(here)
                    target = Conditional(here, Number(edge.target.number), target)
        allowed = negated(any_of(ends)) if self.is_negated else any_of(fits)
        bounds = lowering.storage.variables[self.event].bounds
        moved = Assignment(Read(self.event), target, bounds)
        return [lowering.check(allowed, TRACE), moved]

    def _fitting(
        self,
        step: syntax.Step,
        channel: int,
        values: Sequence[Expression],
        *,
        sends: bool,
    ) -> Iterator[Expression]:
        """Yield when a statement of the trace fits a message."""
        if not isinstance(step, syntax.Event) or step.sends != sends:
            return
        for condition, number in self.lowering.channels(step.channel, GLOBAL):
            if number == channel:
                yield all_of([condition, *self._matches(step.arguments, values)])

    def _matches(
        self, parts: Sequence[syntax.Argument], values: Sequence[Expression]
    ) -> Iterator[Expression]:
        for part, value in zip(parts, values, strict=False):
            match = self.lowering.match(part, GLOBAL)
            if match is not None:
                yield Binary("==", value, match)
