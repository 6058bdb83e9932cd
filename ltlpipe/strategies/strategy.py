"""What a strategy is, as the portfolio sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ltlpipe.question.conditions import obstacle

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.question.answer import Answer, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job


@dataclass(eq=False)
class Strategy:
    """One way to an answer.

    Parameters
    ----------
    name : str
        What --explain, the table and --reduce call it.
    job : callable
        Returns the job that answers a question, and keeps a trace up to date.  The job
        raises `NotApplicableError` if it turns out on the way that the strategy cannot
        be used, and UnsupportedError if the question is beyond it: tables too large, an
        acceptance that its search does not take.
    columns : tuple of str
        The conditions that apply to it (`ltlpipe.question.conditions`).
    supersedes : str, optional
        The strategy that it makes superfluous once its search has begun.
    needs_kernels : bool
        Whether it runs compiled kernels, which have to be loaded, or even compiled.
    takes_colours : bool
        Whether it reads a symmetric net as it is; the others see it unfolded.
    """

    name: str
    job: Callable[[Question, Trace], Job[Answer]]
    columns: tuple[str, ...]
    supersedes: str | None = None
    needs_kernels: bool = True
    takes_colours: bool = False

    def is_named(self, options: Options) -> bool:
        """Whether the options ask for it by name, so that it must not be left out."""
        return options.asks_for(self.name)

    def obstacle(self, question: Question) -> str | None:
        """Return why it cannot be used, as far as that costs nothing to know."""
        return obstacle(question, *self.columns)
