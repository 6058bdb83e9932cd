"""A proof from few components, and more where a run of few is none of the network.

The components that own the visible actions, beside one that idles, have every run of
the network: what the others do is an idle step.  So what holds of them holds of the
network.  A lasso of theirs, on the other hand, may be spurious.  Then a component that
cannot do its part joins them, and the question is asked again; or the whole network has
a run with the same word, which is looked for with little work.

The proof, and why the property has to be interruptible, are in docs/components.md,
"Few components".  The scheme is that of counterexample-guided abstraction refinement
(Clarke, Grumberg, Jha, Lu & Veith, CAV 2000), where abstracting forgets components.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.progress import holding
from ltlpipe.question.answer import EMPTY, FOUND, Answer, Trace
from ltlpipe.question.conditions import SUBSET
from ltlpipe.question.network import with_components
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.errors import ReplayError, UnsupportedError
from ltlpipe.runtime.jobs import StoppedError, TooMuchWorkError, bounded, guided
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies import components
from ltlpipe.strategies.slicing import sliced
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.networks.packing import pack_network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Grant, Job, Progress
    from ltlpipe.strategies.lifting import Label, Word
    from ltlpipe.systems.networks.packing import PackedSystem
    from ltlpipe.systems.runs import Run

    Check = Callable[[NetworkQuestion, Trace], Job[Answer]]

LOOKING = "looking for components that suffice"
"""The phase of what is done here."""

RUN_WORK = 50_000.0
"""Units of work of the search for a run of the network with the word of a lasso."""

PACKING_WORK = 300_000.0
"""Units of work, once, of packing the network for these searches."""

MOST_STEPS = 1 << 12
"""Of lassos whose words are looked for."""

MOST_CHOSEN = 0.75
"""Share of the components that may be looked at: nearly all are no fewer than all."""

FEW, FEW_SHARE, MANY_SHARE = 1 / 9, 14.0, 0.5
"""Share of turns where such a part of the components is looked at, and of a larger one.

Few have four of five units of work; where many are needed, composing all is as good.
"""

FEW_WORK = 5e6
"""Units of work of checks after which few have a share like many: others wait."""

FIRST_WORK = 120_000.0
"""The same before which they have: meanwhile others have their first turns."""

_CHECK_WORK, _PIECE_WORK = 40_000.0, 40.0
"""Units of work of a check behind the first, and of each piece of one, at least.

Most are about small arrays, where what is around a call is most of the work.
"""

_STEP_WORK = 2.0  # units, of a step of one local state along a word

_IDLE = LTS.from_transitions([(0, "idle", 0)], internal=["idle"])


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    from ltlpipe.components.merger import GroupShelf

    network = with_components(question)
    assert network is not None  # by `obstacle`
    check = partial(components.job_with, shelf=GroupShelf())
    refinement = yield from refinement_of(network, trace, check)
    return (yield from refinement.answer())


def refinement_of(
    question: NetworkQuestion, trace: Trace, check: Check, *, sorts: bool = False
) -> Job[Refinement]:
    """Return the search for components that suffice, whose parts `check` answers.

    It is asked about the components that are looked at and the one that idles: in the
    order in which they joined, behind it, or (`sorts`) in that of the network.

    Raises
    ------
    NotApplicableError
        The property is not interruptible.
    """
    decision = yield from question.general_decision(trace)
    if not decision.allowed:
        raise NotApplicableError(decision.reason)
    return Refinement(question, trace, check, decision.reason, sorts=sorts)


class Refinement:
    """Components that are looked at, of one network, and what the others refute.

    Attributes
    ----------
    chosen : list of int
        The components that are looked at, in the order in which they joined.
    """

    def __init__(
        self,
        question: NetworkQuestion,
        trace: Trace,
        check: Check,
        reason: str,
        *,
        sorts: bool,
    ) -> None:
        self._question, self._sorts = question, sorts
        self._trace = trace
        self._check, self._reason = check, reason
        self._components = question.system.components
        self._visible = set(question.actions)
        self._others = [_Component(lts) for lts in self._components]
        self.chosen = owners(question.system, self._visible)
        self._checks = 0
        self._work = 0.0  # of checks
        self._packed: PackedSystem | None = None  # the whole network
        self._is_packed = False  # or too large for that

    def answer(self) -> Job[Answer]:
        """Return the answer of the first components that suffice for one."""
        while len(self.chosen) <= MOST_CHOSEN * len(self._components):
            self._checks += 1
            network = self._part()
            asked = self._question.about(network)
            trace = Trace(asked.given)  # its own: what it finds may be spurious
            found = yield from self._checked(self._check(asked, trace))
            self._trace.plan, self._trace.stats = trace.plan, trace.stats
            if found.kind == EMPTY:
                self._note()
                return found
            if found.run is None:  # a limit was hit
                return found
            short = yield from sliced(asked, found.run, Trace(asked.given))
            run = yield from self._followed(network, short)
            if run is not None:
                self._note()
                self._trace.has_found = True
                return Answer(FOUND, run=run)
        raise NotApplicableError("no small part of the components suffices")

    def _part(self) -> Network:
        """Return the network of the components that are looked at."""
        if self._sorts:
            chosen = [self._components[i] for i in sorted(self.chosen)]
            return Network([*chosen, _IDLE])
        # In the next round these have the same numbers.
        return Network([_IDLE, *(self._components[i] for i in self.chosen)])

    def _note(self) -> None:
        """Say in the plan which components were enough."""
        among = self._components
        names = [among[i].name or str(i + 1) for i in sorted(self.chosen)]
        n = len(among)
        said = (
            f"{len(self.chosen)} of {n} components ({', '.join(names)}) suffice, found "
            f"by {self._checks} checks, because {self._reason}"
        )
        self._trace.plan = self._trace.plan.reduced_by(SUBSET, said)
        details = self._trace.stats.details | {"subset": len(self.chosen)}
        self._trace.note(details=details)

    def _followed(self, network: Network, lasso: Run) -> Job[Run | None]:
        """Return a run of the whole network with the word of a lasso of a part of it.

        If there is none, or none is found, one more component is chosen.
        """
        from ltlpipe.strategies.lifting import find_run

        named = [None if a.internal else a.name for a in network.actions]
        labels: list[Label] = [named[number] for number in lasso.actions.tolist()]
        prefix, cycle = labels[: lasso.length], labels[lasso.length :]
        known = frozenset(network.action_index)
        joins = yield from self._refuting(prefix, cycle, known)
        if joins is None:
            packed = yield from self._packed_once()
            if packed is not None and len(labels) <= MOST_STEPS:
                word = _word(prefix, cycle)
                job = find_run(self._question.system, word, known, packed=packed)
                with suppress(ReplayError, StoppedError, TooMuchWorkError):
                    return (yield from bounded(job, RUN_WORK))
            joins = self._closest(frozenset(named) - {None}, known)
        self.chosen.append(joins)
        return None

    def _checked(self, check: Job[Answer]) -> Job[Answer]:
        """Advance a check of few components, or of many, by its share of turns."""
        few = len(self.chosen) <= FEW * len(self._components)
        more = 0.0 if self._checks == 1 else _CHECK_WORK  # it may be all there is to do

        def turn(progress: Progress) -> Job[Grant]:
            nonlocal more
            if not (progress.waits or progress.compiling or progress.loading):
                work = max(progress.work, _PIECE_WORK) + more
                progress, more = progress._replace(work=work), 0.0
            self._work += progress.work
            leads = few and FIRST_WORK <= self._work <= FEW_WORK
            self._trace.share = FEW_SHARE if leads else MANY_SHARE
            return (yield progress)

        return guided(holding(check, self._packed_bytes), turn)

    @property
    def _packed_bytes(self) -> int:
        packed = self._packed
        return 0 if packed is None else packed.ints.nbytes + packed.words.nbytes

    def _packed_once(self) -> Job[PackedSystem | None]:
        """Return the whole network, if it is small enough to be packed soon."""
        if not self._is_packed:
            self._is_packed = True
            system = self._question.system
            letters = np.zeros(len(system.actions), dtype=np.int32)
            job = pack_network(system, letters, extra_values=MOST_STEPS + 2)
            with suppress(TooMuchWorkError, UnsupportedError):
                self._packed = yield from bounded(job, PACKING_WORK)
        return self._packed

    def _refuting(
        self, prefix: list[Label], cycle: list[Label], known: frozenset[str]
    ) -> Job[int | None]:
        """Return the component that is the first not to go on along a word, if any."""
        first: tuple[int, int] | None = None
        for number in self._left():
            steps = yield from self._others[number].followed(prefix, cycle, known)
            if steps is not None and (first is None or (steps, number) < first):
                first = steps, number
        return None if first is None else first[1]

    def _closest(self, word: Iterable[Label], known: frozenset[str]) -> int:
        """Return the component that takes part most in what the others do."""
        named = set(word)

        def part(number: int) -> tuple[int, int, int]:
            shared = self._others[number].shared
            return len(shared & named), len(shared & known), -number

        return max(self._left(), key=part)

    def _left(self) -> Iterator[int]:
        return (i for i in range(len(self._components)) if i not in self.chosen)


class _Component:
    """One component, along words of which it knows some labels."""

    def __init__(self, lts: LTS) -> None:
        self._lts = lts
        self.shared = frozenset(lts.labels) - lts.internal

    @cached_property
    def _targets(self) -> dict[tuple[int, Label], list[int]]:
        targets: dict[tuple[int, Label], list[int]] = {}
        for source, label, target in self._lts.transitions():
            targets.setdefault((source, label), []).append(target)
        return targets

    def followed(
        self, prefix: list[Label], cycle: list[Label], known: frozenset[str]
    ) -> Job[int | None]:
        """Return after how many steps of a word it cannot go on; None if it can.

        Labels that are not `known` are its own: it may take them at any time.
        """
        own = self.shared & known
        hidden = [label for label in self._lts.labels if label not in own]
        states = self._closed({self._lts.initial}, hidden)
        ticks, rounds = Ticks(LOOKING, _STEP_WORK), set[frozenset[int]]()
        word, steps = prefix, 0
        while frozenset(states) not in rounds or word is prefix:
            if word is cycle:
                rounds.add(frozenset(states))
            for label in word:
                steps += 1
                yield from ticks.worked(1 + len(states) * (label in own))
                if label in own:
                    after = self._after(states, [label])
                    states = self._closed(after, hidden)
                    if not states:
                        return steps
            word = cycle
        return None

    def _after(self, states: set[int], labels: Iterable[Label]) -> set[int]:
        pairs = ((state, label) for state in states for label in labels)
        return {t for pair in pairs for t in self._targets.get(pair, ())}

    def _closed(self, states: set[int], hidden: list[str]) -> set[int]:
        new = states
        while new:
            new = self._after(new, hidden) - states
            states = states | new
        return states


def _word(prefix: list[Label], cycle: list[Label]) -> Word:
    """Return the word of a lasso, whose silent steps need not be repeated."""
    from ltlpipe.strategies.lifting import SILENT, Word

    again = tuple(label for label in cycle if label is not SILENT)
    before = tuple(label for label in prefix if label is not SILENT)
    return Word(before, again, diverges=not again)


def owners(network: Network, visible: set[str]) -> list[int]:
    """Return few components that have some actions, each of which one of them has.

    Greedily: the next one has the most of what is missing, and the fewest others.
    """
    labels = [frozenset(c.labels) - c.internal for c in network.components]
    missing, found = visible & set(network.action_index), []
    while missing:
        best = max(
            range(len(labels)),
            key=lambda i: (len(missing & labels[i]), -len(labels[i]), -i),
        )
        found.append(best)
        missing -= labels[best]
    return found
