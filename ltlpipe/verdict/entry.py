"""A strategy in the portfolio: its job, and the resources it has used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ltlpipe.question.answer import INCONCLUSIVE, NOT_APPLICABLE, Answer, Trace
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError, imported
from ltlpipe.runtime.loading import working_time
from ltlpipe.strategies.unfactoring import answered

if TYPE_CHECKING:
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Grant, Job
    from ltlpipe.strategies.strategy import Strategy
    from ltlpipe.systems.runs import Run

FREE_WAITING = 500_000.0
"""Units of work that a strategy may wait for workers before that is its own work.

A new worker takes longer for a translation than a warm one: below this, turns do not
depend on it.
"""


@dataclass(eq=False)
class Entry:
    """A strategy that runs or waits for its turn."""

    strategy: Strategy
    trace: Trace  # its record
    job: Job[Answer]
    has_begun: bool = False  # whether it has done anything
    seconds: float = 0.0  # its work so far
    work: float = 0.0  # the same in units of work, as its turns count it
    owed: float = 0.0  # of turns that it has missed, waiting for kernels
    last: Progress = field(default_factory=Progress)  # its last progress
    error: UnsupportedError | None = None  # why it was ended from outside
    _waited: float = 0.0  # units of work of workers

    def advance(self, grant: Grant) -> Answer | None:
        """Do one piece of work; return the answer, if there is one."""
        began = working_time()
        try:
            self.last = self.job.send(grant) if self.has_begun else next(self.job)
            self.has_begun = True
            self.work += self._latest_work()
        except StopIteration as end:
            answer: Answer = end.value
            return answer
        except NotApplicableError as error:
            return Answer(NOT_APPLICABLE, error.reason)
        except UnsupportedError as error:
            self.error = error
            return Answer(NOT_APPLICABLE, str(error))
        except StoppedError as error:
            return Answer(INCONCLUSIVE, error.reason)
        except MemoryError:
            return Answer(INCONCLUSIVE, MEMORY)
        finally:
            self.seconds += working_time() - began
        return None

    def _latest_work(self) -> float:
        """Return the work of the latest piece, as turns count it."""
        work = self.last.work
        if not self.last.waits:
            return work
        waited, self._waited = self._waited, self._waited + work
        return max(self._waited - max(waited, FREE_WAITING), 0.0)


def run_by(strategy: Strategy, question: Question, most_work: float) -> Job[Run | None]:
    """Return the run that a strategy finds with so many units of work, if it does."""
    trace = Trace(question.given)
    entry = Entry(strategy, trace, job_of(strategy, question, trace))
    grant = yield Progress("extracting the lasso")
    while entry.work < most_work:
        answer = entry.advance(grant)
        if answer is not None:
            return answer.run
        grant = yield entry.last
    entry.job.close()
    return None


def job_of(strategy: Strategy, question: Question, trace: Trace) -> Job[Answer]:
    """Return the job of a strategy.

    Numba's import and factoring are included, and a symmetric net is unfolded unless
    the strategy takes it as it is.
    """
    asked = question
    if not strategy.takes_colours:
        asked = yield from question.unfolded()
        if asked is not question:
            trace.plan = asked.given
    if not strategy.needs_kernels:
        answer = yield from strategy.job(asked, trace)
    else:
        yield from imported("numba")
        answer = yield from answered(strategy, asked, trace)
    return answer._replace(unfolded=asked is not question)
