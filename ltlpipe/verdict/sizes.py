"""The whole product of a question, and the search that is chosen for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.question.answer import Trace
from ltlpipe.question.options import understood
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import StoppedError, run
from ltlpipe.verdict.checking import question_of

if TYPE_CHECKING:
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.exploring import ProductSize
    from ltlpipe.systems.models import System


def product_size(
    system: System,
    formula: Formula | None,
    *,
    violations: Any = None,
    **options: Any,
) -> ProductSize | None:
    """Return the reachable states and transitions of a product; None after a limit.

    The arguments are those of `check`; without a property the product is the system
    itself.  Also told is how many of the transitions carry Fin marks.
    """
    chosen, limits = understood(options)
    question = question_of(system, Property(formula, violations), chosen)
    try:
        return run(_explored(question), limits)
    except StoppedError:
        return None
    finally:
        question.close()


def chosen_search(
    system: System, formula: Formula | None, **options: Any
) -> str | None:
    """Return the emptiness check that suits a question state by state.

    The arguments are those of `check`.  None if a limit was hit before the automaton
    was known.
    """
    chosen, limits = understood(options)
    question = question_of(system, Property(formula), chosen)
    trace = Trace(question.given)
    try:
        product = run(question.product(question.given, trace), limits)
    except StoppedError:
        return None
    finally:
        question.close()
    return question.settled(question.given, product.table).emptiness


def _explored(question: Question) -> Job[ProductSize | None]:
    from ltlpipe.runtime.kernels.compilation import ready_expand_pointer
    from ltlpipe.search.exploring import product_size_of

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
