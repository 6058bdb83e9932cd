"""Several searches over bits, each with hash functions and orders of its own.

What one of them takes for visited, another one enters.  They run one after the other,
so that the bits of one are held at a time, or with `--workers` some side by side; the
first violation ends them all.

Source: G. Holzmann, R. Joshi and A. Groce, "Swarm Verification Techniques", IEEE TSE
37(6), 2011.

How much they have seen together is estimated (`ltlpipe.search.nested.coverage`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ltlpipe.question.answer import INCONCLUSIVE, Answer
from ltlpipe.runtime.jobs import MAX_STATES, MEMORY, MIB, Grant, Progress, StoppedError
from ltlpipe.search.nested.coverage import together
from ltlpipe.strategies.state_search import (
    BITSTATE_REASON,
    Attempt,
    answer_of,
    note_sample,
    note_search,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.question.answer import Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.driver import Outcome
    from ltlpipe.search.nested.bitstate import BitstateSE05
    from ltlpipe.search.nested.coverage import Member


SEARCHING = "searching"

_ROUND = 50_000.0
"""Units of work of each search in a round: some 50 ms."""


def search_by_swarm(attempt: Attempt) -> Job[Answer]:
    """Search a product by as many searches over bits as the question asks for.

    With a limit of states each of them may enter so many.
    """
    swarm = _Swarm(attempt)
    try:
        ended = yield from attempt.trace.timed("search_seconds", swarm.run())
    finally:
        swarm.note()
    if ended is None:
        reason = MAX_STATES if MAX_STATES in swarm.reasons else BITSTATE_REASON
        return Answer(INCONCLUSIVE, reason)
    search, outcome = ended
    answer = yield from answer_of(attempt, search, outcome)
    swarm.note()
    return answer


class _Swarm:
    """Bitstate searches in progress, at most as many at a time as there are workers.

    Each of those gets the same work in a round, in a thread of its own; so neither
    threads nor the machine's load decide which of two searches ends first.
    """

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._options = attempt.question.options
        self._left = list(range(self._options.swarm or 1))
        self._running: dict[BitstateSE05, Job[Outcome]] = {}  # in order of numbers
        self._members: list[Member] = []
        self.reasons: set[str | None] = set()

    def run(self) -> Job[tuple[BitstateSE05, Outcome] | None]:
        """Return the first search that ended otherwise than all do, and how."""
        n_threads = min(self._options.workers, len(self._left))
        grant = yield Progress(SEARCHING, memory_bytes=self._memory_bytes)
        with ThreadPoolExecutor(n_threads) as threads:
            while self._left or self._running:
                yield from self._begin(n_threads, grant)
                turns = self._turns(grant)
                said = list(threads.map(_Turn.take, turns))
                ended = self._ended(turns)
                if ended is not None:
                    return ended
                grant = yield Progress(
                    SEARCHING,
                    work=sum(said),
                    memory_bytes=self._memory_bytes,
                    states=self._n_states,
                )
        return None

    def _begin(self, n_threads: int, grant: Grant) -> Job[None]:
        """Begin searches until so many run, or as many as there is memory for."""
        from ltlpipe.runtime.kernels.compilation import ready
        from ltlpipe.search.driver import advance
        from ltlpipe.search.nested.bitstate import BitstateSE05

        bits = self._options.bitstate
        assert bits is not None  # since `Options`
        while self._left and len(self._running) < n_threads:
            needed = self._memory_bytes + bits * MIB
            if self._running and needed > grant.memory_bytes:
                return
            grant = yield Progress(SEARCHING, memory_bytes=needed)
            if needed > grant.memory_bytes:
                raise StoppedError(MEMORY)
            variant = variant_of(self._attempt.question, self._left.pop(0))
            search = BitstateSE05(self._attempt.problem(), bits, variant)
            job = advance(
                search,
                max_states=self._attempt.max_states,
                overflowed=self._attempt.packed.overflowed,
            )
            kernel, arguments = search.kernel_call(1)
            yield from ready(kernel, *arguments)
            next(job)  # now it takes grants
            self._running[search] = job

    def _turns(self, grant: Grant) -> list[_Turn]:
        """Share a grant out."""
        n = len(self._running)
        work = min(_ROUND, grant.work / n)
        free = (grant.memory_bytes - self._memory_bytes) / n
        return [
            _Turn(job, Grant(search.memory_bytes + free, work))
            for search, job in self._running.items()
        ]

    def _ended(self, turns: list[_Turn]) -> tuple[BitstateSE05, Outcome] | None:
        """Take note of searches that have ended; return one if it ends them all."""
        from ltlpipe.search.registers import Status

        found, searches = Status.FOUND, list(self._running)
        for search, turn in zip(searches, turns, strict=True):
            outcome = turn.outcome
            if outcome is None:
                continue
            if outcome.reason not in (None, MAX_STATES) or outcome.status == found:
                self._members = self._seen()
                self._running.clear()  # makes room
                return search, outcome
            self.reasons.add(outcome.reason)
            note_search(self._attempt.trace, search)
            self._members.append(search.member())
            del self._running[search]
        return None

    @property
    def _memory_bytes(self) -> float:
        return sum(search.memory_bytes for search in self._running)

    @property
    def _n_states(self) -> int:
        ended = sum(member.states for member in self._members)
        return ended + sum(search.n_visited for search in self._running)

    def _seen(self) -> list[Member]:
        return [*self._members, *(s.member() for s in self._running)]

    def note(self) -> None:
        """Tell the trace what all searches have seen so far."""
        members = self._seen()
        _note(self._attempt.trace, members)
        note_sample(self._attempt.question, self._attempt.trace, members)


class _Turn:
    """What one search does in a round."""

    def __init__(self, job: Job[Outcome], grant: Grant) -> None:
        self._job, self._grant = job, grant
        self.outcome: Outcome | None = None

    def take(self) -> float:
        """Advance the search; return the work that it has done."""
        done = 0.0
        try:
            while done < self._grant.work or done == 0:
                left = Grant(self._grant.memory_bytes, self._grant.work - done)
                done += self._job.send(left).work
        except StopIteration as end:
            self.outcome = end.value
        return done


def variant_of(question: Question, number: int) -> int:
    """Return which variant the search of a number is; 0 without a seed is the usual."""
    return number + ((question.options.seed or 0) << 16)


def _note(trace: Trace, members: Sequence[Member]) -> None:
    """Tell a trace what searches have seen together."""
    joint = together(members)
    runs: list[dict[str, Any]] = [
        {"states": m.states, "omitted": m.omitted, "coverage": m.coverage}
        for m in members
    ]
    trace.note(
        states=joint.states,
        transitions=sum(member.transitions for member in members),
        coverage=joint.coverage,
        details=trace.stats.details | {"swarm": runs},
    )
