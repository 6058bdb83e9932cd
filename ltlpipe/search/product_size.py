"""How large a product is, as far as it can be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.search.driver import advance
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem


class ProductSize(NamedTuple):
    """How large a product is.

    Parameters
    ----------
    states, transitions : int
        All of them that can be reached.
    fin_transitions : int or None
        Transitions that carry a mark of which the acceptance condition has a Fin
        term; None if it has none.
    """

    states: int
    transitions: int
    fin_transitions: int | None

    @property
    def fin_share(self) -> float | None:
        """The share of transitions with Fin marks; None without Fin or transitions."""
        if self.fin_transitions is None or not self.transitions:
            return None
        return self.fin_transitions / self.transitions


def product_size_of(
    problem: Problem, *, max_states: int | None = None
) -> Job[ProductSize | None]:
    """Explore a product completely; None if it has too many states."""
    search = Exploration(problem)
    outcome = yield from advance(search, max_states=max_states)
    if outcome.reason is not None:
        return None
    condition = problem.condition
    has_fin = condition is not None and condition.fin_marks != 0
    return ProductSize(
        states=int(search.registers[Reg.VISITED]),
        transitions=int(search.registers[Reg.TRANSITIONS]),
        fin_transitions=search.fin_transitions if has_fin else None,
    )
