"""The explicit search, whose product is kept where it has found nothing.

It takes the place of all strategies where a certificate is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.question.answer import EMPTY
from ltlpipe.question.network import with_components
from ltlpipe.question.plan import for_workers
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.strategies import explicit
from ltlpipe.strategies.state_search import answer_of, new_search, search_states

if TYPE_CHECKING:
    from ltlpipe.question.answer import Answer, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.transitions import Recording
    from ltlpipe.systems.packing import PackedSystem


class Certified:
    """An explicit search in progress; see `ltlpipe.strategies.strategy.Strategy`.

    Attributes
    ----------
    product : Product
        What is searched, once that has begun.
    packed : PackedSystem
        The system as it was searched, if nothing was found.
    recording : Recording
        Over the same store.
    """

    name = "explicit"
    supersedes: str | None = None
    needs_kernels = True

    product: Product
    packed: PackedSystem
    recording: Recording

    def is_named(self, options: Options) -> bool:  # noqa: ARG002 (one signature for all)
        """Whether the options ask for it by name."""
        return False

    def obstacle(self, question: Question) -> str | None:
        """Return why it cannot be used, as far as that costs nothing to know."""
        return explicit.obstacle(question)

    def job(self, question: Question, trace: Trace) -> Job[Answer]:
        """Return the job that answers a question, and keeps what it has searched."""
        self.product = yield from question.product(question.given, trace)
        table = self.product.table
        if table.system_marks:
            raise UnsupportedError(
                "--certificate needs the acceptance of the network apart from that of "
                f"the property, which --emptiness={question.options.emptiness} takes "
                "together: use --emptiness=auto"
            )
        plan = question.settled(self.product.plan, table, self.product.reductions)
        trace.plan = for_workers(plan, question.options)

        answer = yield from search_states(
            question, self.product, trace, way=self._search
        )
        return answer

    def _search(
        self,
        question: Question,
        product: Product,
        packed: PackedSystem,
        trace: Trace,
        max_states: int | None,
    ) -> Job[Answer]:
        """Search a product, and keep it if nothing was found."""
        from ltlpipe.search.transitions import Recording

        search = new_search(question, trace.plan, product.problem(packed))
        answer = yield from answer_of(question, search, packed, trace, max_states)
        if answer.kind == EMPTY:
            # Workers share a store of another kind.
            known = None if search.takes_workers else search
            self.packed = packed
            self.recording = Recording(search.problem, known=known)
        return answer


def propositions_of(question: Question, product: Product) -> list[str]:
    """Return the propositions of the letters of a product's automaton."""
    if with_components(question) is not None:
        return list(product.trimmed.actions)  # type: ignore[attr-defined]
    return list(question.propositions)  # type: ignore[attr-defined]
