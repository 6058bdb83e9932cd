"""Is there a deadlock: a state that can be reached and has no step?"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.letters import universal
from ltlpipe.runtime.jobs import MIB, StoppedError, interruptible
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.search.deadlocks import DeadlockSearch
from ltlpipe.search.driver import OVERFLOW
from ltlpipe.search.problem import buffer_bytes, make_problem
from ltlpipe.systems.lts import Network
from ltlpipe.systems.packing import pack
from ltlpipe.verdict.lasso import model_lasso, network_lasso
from ltlpipe.verdict.limits import Limits, extracted
from ltlpipe.verdict.model_replay import replay_model_run
from ltlpipe.verdict.options import Options
from ltlpipe.verdict.property import Property
from ltlpipe.verdict.question import Question
from ltlpipe.verdict.replay import replay_run
from ltlpipe.verdict.verdict import UNKNOWN, VIOLATED, Plan, Statistics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Interrupt
    from ltlpipe.systems.models import PackedModel, System
    from ltlpipe.systems.packing import PackedNetwork
    from ltlpipe.verdict.limits import Progress
    from ltlpipe.verdict.verdict import Lasso, Verdict

_REASON = (
    "breadth-first, because the nearest deadlock is found by what is the shortest way "
    "to it; no reductions, because they keep infinite runs only"
)


def deadlocks(
    system: System,
    *,
    timeout: float | None = None,
    memory: float | None = None,
    max_states: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Look for the nearest deadlock.

    Parameters
    ----------
    system : Network or Model
        What `ltlpipe.load` returned; it is not changed.
    timeout, memory, max_states, seed, progress : optional
        As for `ltlpipe.check`.

    Returns
    -------
    Verdict
        "violated" if there is one: the prefix of the lasso is a shortest way to it,
        the cycle the step in which it repeats itself.  "holds" if there is none.
    """
    question = DeadlockQuestion(system, Options(seed=seed, deadlock="stutter"))
    if memory is None:
        memory = default_memory_mib()
    limits = Limits.within(timeout, memory, max_states)
    with interruptible() as interrupt:
        return question.run(limits, interrupt, progress)


class DeadlockQuestion(Question):
    """The question whether a system has a deadlock, on its way to a verdict."""

    def __init__(self, system: System, options: Options) -> None:
        super().__init__(system.name, Property(), options)
        self.system = system
        self._stats = Statistics()

    @property
    def plan(self) -> Plan:
        """How the question is answered."""
        return Plan(None, DeadlockSearch.name, reasons=(_REASON,))

    @property
    def stats(self) -> Statistics:
        """What that has cost so far."""
        return self._stats

    def _note(self, **figures: Any) -> None:
        """Add to what is known."""
        self._stats = replace(self._stats, **figures)

    def run(
        self, limits: Limits, interrupt: Interrupt, progress: Progress | None
    ) -> Verdict:
        """Answer the question; what the machine cannot give is a limit, too."""
        try:
            for packed in self._packings():
                verdict = self._search(packed, limits, interrupt, progress)
                if verdict.reason != OVERFLOW:
                    return verdict
            return self._verdict(UNKNOWN, OVERFLOW)
        except MemoryError:
            return self._verdict(UNKNOWN, "memory")

    def _packings(self) -> Iterable[PackedModel | PackedNetwork]:
        seed = self.options.seed
        if isinstance(self.system, Network):
            letters = np.zeros(len(self.system.actions), dtype=np.int32)
            return [pack(self.system, letters, seed=seed)]
        return self.system.pack([], seed=seed).packings()

    def _search(
        self,
        packed: PackedModel | PackedNetwork,
        limits: Limits,
        interrupt: Interrupt,
        progress: Progress | None,
    ) -> Verdict:
        table = universal()
        if buffer_bytes(packed, table) > limits.memory_bytes:
            return self._verdict(UNKNOWN, "memory")
        search = DeadlockSearch(make_problem(packed, table))
        verdict = self._searched(search, limits, interrupt, progress, packed.overflowed)
        if verdict is not None:
            return verdict
        began = time.monotonic()
        try:
            lasso = self._way(search, packed, limits, interrupt)
        except StoppedError as stopped:
            return self._verdict(UNKNOWN, stopped.reason)
        self._note(
            memory_mib=(search.memory_bytes + search.extraction_bytes) / MIB,
            lasso_seconds=time.monotonic() - began,
        )
        return self._verdict(VIOLATED, lasso=lasso)

    def _way(
        self,
        search: DeadlockSearch,
        packed: PackedModel | PackedNetwork,
        limits: Limits,
        interrupt: Interrupt,
    ) -> Lasso:
        """Return the way to the deadlock, replayed."""
        found = extracted(search, limits, interrupt)
        ids = np.concatenate([found.prefix, found.cycle[1:]])
        states = packed.unpack(search.store.rows[ids])
        actions = np.concatenate([found.prefix_actions, found.cycle_actions])
        length = len(found.prefix_actions)
        if isinstance(self.system, Network):
            lasso = network_lasso(self.system, actions, states, length)
            replay_run(self.system, lasso, stutters=True, accepting=False)
        else:
            lasso = model_lasso(self.system, actions, states, length)
            replay_model_run(self.system, lasso, stutters=True)
        return lasso
