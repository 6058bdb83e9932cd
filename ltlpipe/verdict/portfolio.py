"""The portfolio: it conducts the strategies of a question and takes the first answer.

A strategy that needs no kernels comes first, alone, for a few milliseconds. Then the
others without an obstacle take turns, each turn longer than the last, and the first
continues only while all of them wait for kernels. At most `MOST_OPEN` are open. The
next one starts when one has dropped out, or when all have had `PATIENCE`; then one of
them is evicted, and starts again later. What a strategy has done is kept while it
waits. One that fails (memory, tables too large, not applicable after all) drops out and
takes nothing with it. So no strategy can trap a question.

Turns are counted in units of work, not by the clock (`ltlpipe.runtime.jobs`): the
answering strategy, its lasso and its counts do not depend on the load, once the kernels
are compiled, unless linear programs or a translation take longer than a moment.  A
strategy that waits for a worker process (Spot) keeps its turn for that moment
(`WAITED`), or as long as the worker has had less CPU time since its last turn than the
turn is long; then others have theirs, and it has another when the worker has answered.
The CPU time of the worker is its work.  A worker that has had more than the thread
beside it pauses: beside an idle processor it hardly ever does, on a busy machine it
would have most of it.  The first strategy goes on while all others wait.  One that
waits for kernels to be compiled does not keep its turn, since that happens once per
version.  What it misses meanwhile it has afterwards, and until then turns do not grow:
they would be seconds long when it is ready.

Memory: each open strategy may hold a fifth of the limit, and the memory that the
others leave.  At the limit the largest is closed; it may start again, alone, at the
end.
"""

from __future__ import annotations

import math
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import thread_time
from typing import TYPE_CHECKING

from ltlpipe.question.answer import (
    FOUND,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    Answer,
    Trace,
    Tried,
)
from ltlpipe.question.conditions import AMPLE, AUTO, EXPLICIT, INSTANT, LINEAR, WALKS
from ltlpipe.question.model import ModelQuestion, Substitute
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import (
    MEMORY,
    Grant,
    Progress,
    StoppedError,
    TooMuchWorkError,
    bounded,
    imported,
    wait,
)
from ltlpipe.runtime.loading import working_time
from ltlpipe.runtime.worker_process import Worker
from ltlpipe.runtime.workers import at_end
from ltlpipe.strategies.registry import STRATEGIES, in_order, is_of_places
from ltlpipe.strategies.substitutes import (
    MergedQuestion,
    about_smaller_net,
    answered,
    with_live_variables,
    with_merged_statements,
    with_places,
)
from ltlpipe.systems.kinds import is_net, is_program

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.strategies.registry import Strategy
    from ltlpipe.systems.models import Model
    from ltlpipe.systems.runs import Run

MOST_OPEN = 4

FALLBACK = "explicit"
"""The strategy that can nearly always be used; it makes room for no other."""

PRELUDE = 1_000.0
"""Units of work of a strategy without kernels before others begin.

It costs less than kernels that are loaded take for a small product.
"""

PRELUDE_ALONE = 200_000.0
"""The same in a process that answers one question, or those of one model.

Importing Numba and loading kernels takes longer.
"""

FIRST_TURN = 20_000.0
"""Units of work of a first turn: a search enters up to twenty thousand states."""

GROWTH = 1.3
"""How much longer each turn is than the one before."""

FOUND_TURNS = 4
"""Further turns in a row of a strategy that has found a violation.

Others may have a violation and its run sooner.
"""

PATIENCE = 1e5
"""Units of work of each that is open after which another takes the place of one.

It is doubled each time: strategies come back, and each time for longer.
"""


FREE_WAITING = 200_000.0
"""Units of work that all wait for workers, together, before it counts as their own.

A new worker takes longer for a translation than a warm one: below this, turns do not
depend on it.
"""
# But what is left to workers, from `WAITED` on, does.


WAITED = 60_000.0
"""Units of work of a strategy's workers before the rest is left to them.

Whoever answers meanwhile ends the worker, and another takes as long to begin.
"""


class WorkersTime:
    """The CPU time that workers have had of a portfolio, beside that of its thread."""

    def __init__(self) -> None:
        self._used, self._began = 0.0, thread_time()

    def counted(self, last: Progress) -> float:
        """Return the work of a piece, as turns count it."""
        if not last.waits:
            return last.work
        free = min(max(FREE_WAITING - self._used, 0.0), last.work)
        self._used += last.work
        return last.work - free

    def balance(self, entries: Iterable[Entry]) -> None:
        """Let workers pause that have had more, until their strategy's next turn."""
        lasts = [e.last for e in entries if not (e.last.compiling or e.last.loading)]
        waits = {each for last in lasts for each in last.waits}
        workers = [each for each in waits if isinstance(each, Worker)]
        untold = sum(each.cpu_seconds - each.told_seconds for each in workers)
        own = thread_time() - self._began
        if self._used + 1e6 * untold > FREE_WAITING + 1e6 * own:
            for worker in workers:
                worker.pause()


@dataclass(eq=False)
class Entry:
    """A strategy that runs or waits for its turn."""

    strategy: Strategy
    trace: Trace  # its record
    job: Job[Answer]
    workers: WorkersTime
    has_begun: bool = False  # whether it has done anything
    seconds: float = 0.0  # its work so far
    work: float = 0.0  # the same in units of work, as its turns count it
    owed: float = 0.0  # of turns that it has missed, waiting for kernels
    told: float = 0.0  # work of its workers
    is_left: bool = False  # whether the rest of its turn is left to them
    last: Progress = field(default_factory=Progress)  # its last progress
    error: UnsupportedError | None = None  # why it was ended from outside

    @property
    def share(self) -> float:
        """How much longer its turns are now than those of others."""
        return self.strategy.share * self.trace.share

    @property
    def is_with_worker(self) -> bool:
        """Whether a worker is to do what comes next."""
        return bool(self.last.waits) and not (self.last.compiling or self.last.loading)

    @property
    def is_ready(self) -> bool:
        """Whether a worker has answered to which the rest of its turn was left."""
        return self.is_left and bool(wait(self.last.waits, 0))

    def advance(self, grant: Grant) -> Answer | None:
        """Do one piece of work; return the answer, if there is one."""
        began = working_time()
        try:
            self.last = self.job.send(grant) if self.has_begun else next(self.job)
            self.has_begun = True
            self.work += self.workers.counted(self.last)
            self.told += self.last.work if self.last.waits else 0.0
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

    def ended(self, outcome: str, reason: str | None) -> Tried:
        """Return how it has ended."""
        return Tried(self.strategy.name, outcome, self.seconds, reason)


class Portfolio:
    """The strategies of one question.

    Parameters
    ----------
    question : Question
        The question to be answered.
    strategies : sequence of Strategy
        The strategies, in order; see `ltlpipe.strategies.registry.in_order`.
    prelude : float
        Units of work of a strategy without kernels before others begin.

    Raises
    ------
    UnsupportedError
        The options insist on a strategy that has an obstacle, or none is left.

    Attributes
    ----------
    has_found : bool
        Whether some strategy knows that there is a violation.
    """

    def __init__(
        self,
        question: Question,
        strategies: Sequence[Strategy] = STRATEGIES,
        *,
        prelude: float = PRELUDE,
    ) -> None:
        self._question = question
        self._prelude = prelude
        self._tried: list[Tried] = []
        self._waiting: list[Strategy] = []
        self._again: list[Strategy] = []
        self._open: list[Entry] = []
        self._parked: dict[str, Entry] = {}  # have had a chance, and wait for another
        self._spare: Entry | None = None  # needs no kernels; has had its turn
        self._patience = PATIENCE
        self._workers = WorkersTime()
        self._begun: list[Entry] = []
        self._winner: Entry | None = None
        self._reasons: list[str] = []
        insisted = [s.name for s in strategies if s.is_named(question.options)]
        for strategy in in_order(strategies, question):
            obstacle = strategy.obstacle(question)
            if insisted and strategy.name not in insisted:
                obstacle = obstacle or f"{', '.join(insisted)} is requested"
            if obstacle is None:
                self._waiting.append(strategy)
            elif strategy.is_named(question.options):
                raise UnsupportedError(f"{strategy.name} cannot be used: {obstacle}")
            else:
                self._tried.append(Tried(strategy.name, "not tried", 0.0, obstacle))
        if not self._waiting:
            raise self._nothing_left()

    @property
    def has_found(self) -> bool:
        """Whether some strategy knows that there is a violation."""
        return any(entry.trace.has_found for entry in self._begun)

    @property
    def proves(self) -> bool:
        """Whether a strategy that stores no states is at work, or about to be."""
        names = {s.name for s in self._waiting} | {e.strategy.name for e in self._open}
        return LINEAR in names

    def trace(self) -> Trace:
        """Return the record of the strategy that has answered, or come furthest.

        Without an answer that is the one that has found a violation, if there is one,
        else the one that has entered the most states.
        """
        for entry in self._at_work:
            if entry.trace.stats.states is None and entry.last.states is not None:
                entry.trace.note(states=entry.last.states, max_depth=entry.last.depth)
        best = self._winner or max(
            self._begun,
            key=lambda e: (e.trace.has_found, e.trace.stats.states or 0),
            default=None,
        )
        trace = Trace(self._question.given) if best is None else best.trace
        name = None if best is None else best.strategy.name
        plan = replace(trace.plan, strategy=name, tried=self.tried())
        return replace(trace, plan=plan)

    def tried(self) -> tuple[Tried, ...]:
        """Return the outcome of each strategy."""
        at_work = [e.ended("set aside", None) for e in self._at_work]
        why = "its turn had not come"
        new = [s for s in self._waiting if s.name not in self._parked]
        waiting = [Tried(s.name, "not tried", 0.0, why) for s in new]
        return (*self._tried, *at_work, *waiting)

    def job(self) -> Job[Answer]:
        """Return the job that ends with the first answer.

        Its answer is `INCONCLUSIVE` with the limit that was hit where none answers.

        Raises
        ------
        UnsupportedError
            No strategy can answer the question, or one on which the options insist
            cannot.
        """
        grant = yield Progress("planning")
        turn = FIRST_TURN
        try:
            while self._fill():
                worked = False
                turns, had = deque(self._open), set[Entry]()
                while turns:
                    entry = turns.popleft()
                    if entry not in self._open:  # closed for lack of memory
                        continue
                    before = entry.work
                    answer = yield from self._turn(entry, self._length(turn), grant)
                    self._workers.balance(self._open)
                    worked = worked or entry.work > before or entry not in self._open
                    if answer is not None:
                        return answer
                    ready = [e for e in self._open if e.is_ready and e not in had]
                    turns.extendleft(ready)
                    had.update(ready)
                if self._spare is not None and (self._all_wait or not worked):
                    length = turn if worked else PRELUDE
                    answer = yield from self._turn(self._spare, length, grant)
                    if answer is not None:
                        return answer
                elif self._open and not worked:
                    grant = yield self._progress(self._open[0], all_wait=True)
                if worked:
                    turn = self._next_turn(turn)
        finally:
            for entry in self._at_work:
                entry.job.close()
        return self._given_up()

    @property
    def _at_work(self) -> list[Entry]:
        """The strategies that have started and not ended."""
        spare = [] if self._spare is None else [self._spare]
        return [*spare, *self._open, *self._parked.values()]

    @property
    def _all_wait(self) -> bool:
        """Whether all that are open wait for workers."""
        return bool(self._open) and all(entry.last.waits for entry in self._open)

    def _length(self, turn: float) -> float:
        """Return the work of the next turn, of the strategy whose it is."""
        if self._in_prelude and self._waiting:
            return self._prelude
        return math.inf if len(self._at_work) == 1 and not self._waiting else turn

    @property
    def _in_prelude(self) -> bool:
        """Whether a strategy is open that needs no kernels."""
        return any(not entry.strategy.needs_kernels for entry in self._open)

    def _next_turn(self, turn: float) -> float:
        """Return the length of the next turns; waiting for kernels skips one."""
        waiting = [entry for entry in self._open if entry.last.compiling]
        for entry in waiting:
            entry.owed += turn
        return turn if waiting else turn * GROWTH

    def _fill(self) -> bool:
        """Begin strategies until enough are open; return whether there is any."""
        if self._in_prelude and self._waiting and self._open[0].has_begun:
            self._spare = self._open.pop()
        if not self._open and not self._waiting:
            if self._spare is not None:
                self._open, self._spare = [self._spare], None
            elif self._again:
                self._begin(self._again.pop(0))
        if self._waiting and not self._has_room:
            self._make_room()
        while self._waiting and self._has_room and not self._in_prelude:
            self._begin(self._waiting.pop(0))
        return bool(self._open)

    @property
    def _has_room(self) -> bool:
        """Whether the strategy that waits for its turn can begin now."""
        n_open = sum(not entry.strategy.is_extra for entry in self._open)
        return n_open < MOST_OPEN or self._waiting[0].is_extra

    def _make_room(self) -> None:
        """Let a strategy that waits take the place of one that has had its chance.

        It keeps what it has done, unless another process works for it.  `explicit`
        stays: it is the one that answers most questions.  So does one that has found a
        violation: its run would be lost.
        """
        leaving = [
            e
            for e in self._open
            if e.strategy.name != FALLBACK and not e.trace.has_found
        ]
        if not leaving or min(e.work for e in self._open) < self._patience:
            return
        self._patience *= 2
        entry = max(leaving, key=lambda e: e.work)
        if entry.last.waits:
            why = "no answer yet; another strategy has its turn"
            self._close(entry, "set aside", why)
        else:
            self._open.remove(entry)
            self._parked[entry.strategy.name] = entry
        self._waiting.append(entry.strategy)

    def _set_aside(self, entry: Entry, reason: str) -> None:
        """Close a strategy that may start again at the end."""
        self._close(entry, "set aside", reason)
        self._again.append(entry.strategy)

    def _begin(self, strategy: Strategy) -> None:
        parked = self._parked.pop(strategy.name, None)
        if parked is not None:
            self._open.append(parked)
            return
        trace = Trace(self._question.given)
        job = job_of(strategy, self._question, trace)
        entry = Entry(strategy, trace, job, self._workers)
        self._open.append(entry)
        self._begun.append(entry)

    def _close(self, entry: Entry, outcome: str, reason: str | None = None) -> None:
        entry.job.close()
        if entry is self._spare:
            self._spare = None
        elif entry in self._open:
            self._open.remove(entry)
        else:
            del self._parked[entry.strategy.name]
        self._tried.append(entry.ended(outcome, reason))

    def _turn(self, entry: Entry, turn: float, grant: Grant) -> Job[Answer | None]:
        """Advance a strategy until its turn is over; return its answer, if it has one.

        A strategy that has found a violation has several turns in a row for its run.
        One that has waited for kernels also gets its missed turns.  A share that
        changes meanwhile counts for the turn, which may be over with that.
        """
        begun, owed, more = entry.work, entry.owed, FOUND_TURNS
        entry.owed, entry.is_left = 0.0, False
        due = max(entry.told + turn * entry.share, WAITED)
        while True:
            self._free_parked(grant.memory_bytes / (MOST_OPEN + 1))
            end = begun + owed + turn * entry.share
            answer = entry.advance(self._share(entry, end - entry.work, grant))
            if answer is not None:
                return self._ended(entry, answer)
            if self._held() > grant.memory_bytes:
                if len(self._at_work) == 1:
                    return self._ended(entry, Answer(INCONCLUSIVE, MEMORY))
                self._set_largest_aside()
                if entry not in self._at_work:
                    return None
                continue
            if entry.last.compiling and len(self._at_work) > 1:
                entry.owed = max(begun + owed - entry.work, 0.0)
                return None
            is_over = entry.work >= begun + owed + turn * entry.share
            is_over = is_over or entry.last.gives_way
            entry.is_left = entry.told >= due and self._has_others(entry)
            grant = yield self._progress(entry, waits=not (is_over or entry.is_left))
            self._supersede(entry)
            if entry.is_left:
                return None
            if is_over:
                if not entry.trace.has_found or not more:
                    return None
                begun, owed, more = entry.work, 0.0, more - 1

    def _has_others(self, entry: Entry) -> bool:
        """Whether others can go on while a strategy's worker is at work."""
        return entry.is_with_worker and not all(
            e.is_with_worker or e.last.compiling for e in self._open
        )

    def _supersede(self, entry: Entry) -> None:
        """Set aside the strategies that a started search supersedes."""
        if entry.trace.plan.emptiness is None or self._question.given.emptiness:
            return
        for other in list(self._open):
            superseded = other.strategy.name == entry.strategy.supersedes
            if superseded and not other.trace.has_found:
                self._set_aside(other, f"{entry.strategy.name} does the same with less")

    def _share(self, entry: Entry, work: float, grant: Grant) -> Grant:
        """Return the grant for a strategy's next turn."""
        others = self._held() - entry.last.memory_bytes
        memory = grant.memory_bytes
        if len(self._at_work) > 1 and memory != math.inf:
            memory = max(memory / (MOST_OPEN + 1), memory - others)
        return Grant(memory, min(work, grant.work))

    def _held(self) -> float:
        return sum(entry.last.memory_bytes for entry in self._at_work)

    def _set_largest_aside(self) -> None:
        """Set aside the largest strategy that has not found a violation.

        Before them go those that wait for another turn, which then begin again.
        """
        why = "memory, shared with others"
        if self._parked:
            self._close(_largest(self._parked.values()), "set aside", why)
        else:
            candidates = [e for e in self._at_work if not e.trace.has_found]
            self._set_aside(_largest(candidates or self._at_work), why)

    def _free_parked(self, memory: float) -> None:
        """Close strategies that wait for another turn until they leave room enough."""
        while sum(e.last.memory_bytes for e in self._parked.values()) > memory:
            self._set_largest_aside()

    def _progress(
        self, entry: Entry, *, all_wait: bool = False, waits: bool = True
    ) -> Progress:
        """Return the progress of the portfolio; or the others go on at once."""
        last, compiling = entry.last, all_wait or entry.last.compiling
        # Several may wait for one kernel.
        waiting = self._open if all_wait else [entry]
        readable = dict.fromkeys(w for e in waiting for w in e.last.waits)
        if readable and not waits:
            readable[at_end()] = None  # workers' CPU time counts all the same
        phase = last.phase
        if phase and len(self._open) > 1 and not (compiling or last.loading):
            phase = f"{entry.strategy.name}: {phase}"
        return last._replace(
            phase=phase,
            memory_bytes=self._held(),
            waits=tuple(readable),
            compiling=compiling,
        )

    def _ended(self, entry: Entry, answer: Answer) -> Answer | None:
        """Take the end of a strategy; return its answer, if that is one."""
        has_answered = answer.kind not in (NOT_APPLICABLE, INCONCLUSIVE)
        if has_answered or (entry.trace.has_found and answer.kind == INCONCLUSIVE):
            # What was found is not lost, though its run cannot be extracted.
            self._winner = entry
            self._close(entry, "answered", answer.reason)
            return answer if has_answered else Answer(FOUND, reason=answer.reason)
        self._close(entry, "dropped out", answer.reason)
        named = entry.strategy.is_named(self._question.options)
        if answer.kind == NOT_APPLICABLE and named and not entry.trace.has_found:
            refusal = f"{entry.strategy.name} cannot be used: {answer.reason}"
            raise entry.error or UnsupportedError(refusal)
        if answer.kind == INCONCLUSIVE and answer.reason is not None:
            if answer.reason == MEMORY and self._open:
                self._again.append(entry.strategy)
            else:
                self._reasons.append(answer.reason)
            # What it has superseded would need more.
            self._again = [
                s for s in self._again if s.name != entry.strategy.supersedes
            ]
        return None

    def _failure(self) -> Exception:
        """Return the error of the fallback, or of another strategy.

        Where all have failed for one reason, as a net that cannot be unfolded, it says
        why those could not be used that need not do what has failed.
        """
        failed = [e for e in self._begun if e.error is not None]
        error = max(failed, key=lambda e: e.strategy.name == FALLBACK).error
        assert error is not None
        if any(entry.error is not error for entry in failed):
            return error
        others = [
            f"; {t.strategy} cannot be used: {t.reason}"
            for t in self._tried
            if t.outcome == "dropped out" and t.reason not in (None, str(error))
        ]
        return UnsupportedError(f"{error}{''.join(others)}") if others else error

    def _given_up(self) -> Answer:
        """Return the reason why there is no answer, or no run of a violation."""
        if self.has_found:  # by strategies that have dropped out
            return Answer(FOUND, "no strategy has a run")
        if self._reasons:
            return Answer(INCONCLUSIVE, self._reasons[-1])
        has_failed = any(entry.error is not None for entry in self._begun)
        raise self._failure() if has_failed else self._nothing_left()

    def _nothing_left(self) -> UnsupportedError:
        """Return the error that no strategy is left, and why."""
        told = "; ".join(f"{t.strategy}: {t.reason}" for t in self._tried)
        return UnsupportedError(f"no strategy can answer this: {told}")


def _largest(entries: Iterable[Entry]) -> Entry:
    return max(entries, key=lambda entry: entry.last.memory_bytes)


def run_by(strategy: Strategy, question: Question, most_work: float) -> Job[Run | None]:
    """Return the run that a strategy finds with so many units of work, if it does."""
    failures = NotApplicableError, UnsupportedError, StoppedError, MemoryError
    with suppress(TooMuchWorkError, *failures):
        job = job_of(strategy, question, Trace(question.given))
        answer: Answer = yield from bounded(job, most_work)
        return answer.run
    return None


PLAIN_TURN = 40_000.0
"""Units of work in plain Python before a program is made smaller: some hundred states.

To find out what can be merged, and what is dead, takes about as long.
"""

MOST_PLANNING = 80_000.0
"""Units of work that a search in plain Python waits for its program to become smaller.

There are programs of some thousand states whose ranges take seconds.
"""

SMALL_NET = 2_500
"""Arcs of nets that are searched for a first turn before questions are made simpler.

That takes linear programs, up to a second, where all states may be there in 0.02 s.
"""


def _searched_first(
    strategy: Strategy, question: ModelQuestion, trace: Trace
) -> Job[Answer | None]:
    """Return what a strategy answers in a first turn about a small model as it is."""
    work = _first_work(strategy, question.system)
    if work and question.options.reduce_names == [AUTO]:
        with suppress(TooMuchWorkError, NotApplicableError, StoppedError, MemoryError):
            job = strategy.job(question, trace)
            answer = yield from bounded(job, work, FREE_WAITING)
            if answer.kind != INCONCLUSIVE:
                return answer
    if strategy.name == FALLBACK and is_of_places(question):
        yield Progress("planning", gives_way=True)
    return None


def _first_work(strategy: Strategy, system: Model) -> float:
    """Return how much a strategy does before the question is made simpler."""
    if strategy.name == INSTANT:
        return PLAIN_TURN if is_program(system) else 0.0
    if strategy.name == FALLBACK and is_net(system):
        from ltlpipe.systems.nets.net import PetriNet

        if isinstance(system, PetriNet):
            arcs = len(system.pre.place) + len(system.post.place)
            return FIRST_TURN if arcs <= SMALL_NET else 0.0
    return 0.0


def _about_less(
    strategy: Strategy, question: ModelQuestion
) -> Job[tuple[Question, Question]]:
    """Return a question with a simpler formula, and one about a smaller model, too.

    For a search in plain Python programs alone are made smaller, if that is soon done.
    """
    from ltlpipe.strategies.linear import simplified

    if not strategy.needs_kernels:
        less: Question = question
        if is_program(question.system):
            job = _smaller_program(strategy, question)
            with suppress(TooMuchWorkError, UnsupportedError):
                less = yield from bounded(job, MOST_PLANNING)
        return question, less
    before = asked = yield from simplified(question)
    if strategy.name != LINEAR:  # which may take colours, and has no runs
        asked = yield from about_smaller_net(asked)
    return before, (yield from _smaller_program(strategy, asked))


def _smaller_program(strategy: Strategy, question: Question) -> Job[Question]:
    """Return a question about a program with fewer states; itself if there is none."""
    asked = yield from with_live_variables(question)
    if strategy.name in (INSTANT, EXPLICIT, AMPLE, WALKS):
        asked = yield from with_merged_statements(asked)
    return asked


def job_of(strategy: Strategy, question: Question, trace: Trace) -> Job[Answer]:
    """Return the job of a strategy.

    Numba's import and factoring are included.  Colours of a symmetric net are merged,
    or it is unfolded, unless the strategy takes it as it is.  A small model is searched
    before the question is made simpler.
    """
    asked = question
    if not strategy.takes_colours:
        asked = yield from with_places(question)
        if asked is not question:
            trace.plan = asked.given
    unfolded = asked
    if strategy.needs_kernels:
        yield from imported("numba")
    before, first = asked, None
    if isinstance(asked, ModelQuestion):
        first = yield from _searched_first(strategy, asked, trace)
        if first is None:
            before, asked = yield from _about_less(strategy, asked)
    if first is not None:
        answer = first
    elif strategy.needs_kernels:
        answer = yield from answered(strategy, asked, trace)
    else:
        answer = yield from strategy.job(asked, trace)
    if asked is not before:
        assert isinstance(asked, Substitute)
        answer = yield from asked.restored(answer)
    if isinstance(unfolded, MergedQuestion):
        return (yield from unfolded.restored(answer))
    return answer._replace(unfolded=unfolded is not question)
