"""What a strategy is, as the portfolio sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ltlpipe.question.answer import Answer, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job


class Strategy(Protocol):
    """One way to an answer."""

    name: str
    """What --explain, the table and --reduce call it."""

    supersedes: str | None
    """The strategy that it makes superfluous once its search has begun."""

    needs_kernels: bool
    """Whether it runs compiled kernels, which have to be loaded, or even compiled."""

    takes_colours: bool
    """Whether it reads a symmetric net as it is; the others see it unfolded."""

    def is_named(self, options: Options) -> bool:
        """Whether the options ask for it by name, so that it must not be left out."""

    def obstacle(self, question: Question) -> str | None:
        """Return why it cannot be used, as far as that costs nothing to know."""

    def job(self, question: Question, trace: Trace) -> Job[Answer]:
        """Return the job that answers a question, and keeps a trace up to date.

        Raises
        ------
        NotApplicableError
            It cannot be used; that has turned out on the way.
        UnsupportedError
            The question is beyond it: tables too large, an acceptance that its search
            does not take.
        """
