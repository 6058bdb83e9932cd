"""The whole product of a question, and the search that is chosen for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ltlpipe.logic.formulas import Formula
from ltlpipe.question.answer import Trace
from ltlpipe.question.given_options import understood
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import StoppedError, run
from ltlpipe.verdict.checking import automaton_job
from ltlpipe.verdict.questions import question_of, with_fair_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.exploring import ProductSize
    from ltlpipe.systems.models import System

Found = TypeVar("Found")


def product_size(
    system: System, formula: Formula | Any | None, **options: Any
) -> ProductSize | None:
    """Return the reachable states and transitions of a product; None after a limit.

    The arguments are those of `check`; instead of a formula there may be an automaton
    of its violations, and without a property the product is the system itself.  The
    transitions with Fin marks are counted as well.
    """
    return _found(system, formula, options, _explored)


def chosen_search(
    system: System, formula: Formula | None, **options: Any
) -> str | None:
    """Return the emptiness check that suits a question state by state.

    The arguments are those of `check`.  None if a limit was hit before the automaton
    was known.
    """
    return _found(system, formula, options, _settled)


def _found(
    system: System,
    formula: Formula | Any | None,
    options: dict[str, Any],
    find: Callable[[Question], Job[Found | None]],
) -> Found | None:
    """Return the result of a job about a question; None if a limit was hit."""
    chosen, limits = understood(options)

    def job() -> Job[Found | None]:
        question = yield from _question(system, formula, chosen)
        try:
            return (yield from find(question))
        finally:
            question.close()

    try:
        return run(job(), limits)
    except StoppedError:
        return None


def _question(
    system: System, formula: Formula | Any | None, options: Options
) -> Job[Question]:
    """Return the question, with the automaton of the only runs that count."""
    has_automaton = formula is not None and not isinstance(formula, Formula)
    asked = Property(violations=formula) if has_automaton else Property(formula)
    constraint = yield from automaton_job(options.constraint)
    if constraint is not None:
        from ltlpipe.automata.translating import constrained

        asked = Property(violations=(yield from constrained(formula, constraint)))
    system = yield from with_fair_steps(system, options)
    return question_of(system, asked, options)


def _explored(question: Question) -> Job[ProductSize | None]:
    from ltlpipe.runtime.kernels.compilation import ready_expand_pointer
    from ltlpipe.search.exploring import product_size_of

    question = yield from question.unfolded()
    product = yield from question.product(question.given, Trace(question.given))
    packed = yield from product.packed()
    while packed is not None:
        yield from ready_expand_pointer(packed.expand)
        size = yield from product_size_of(
            product.problem(packed), max_states=question.options.max_states
        )
        if packed.overflowed() is None:
            return size
        packed = yield from packed.widened()
    return None


def _settled(question: Question) -> Job[str | None]:
    """Return the search that is chosen for the automaton."""
    plan = question.given
    product = yield from question.product(plan, Trace(plan))
    return question.settled(plan, product.table).emptiness
