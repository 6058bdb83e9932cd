"""Which published tasks are done again: a stratified sample in a balanced order.

A stratum is a model, a verdict and a third of the tasks by the size of the published
products (where the property is violated, no sizes are published, and the published
seconds stand in).  Strata take turns, so that every first part of the sample is
balanced: a run that ends early has some tasks of each model, verdict and size.  Inside
a stratum the order is random with a fixed seed.

There are two samples, because few tasks have Fin-less automata: those of the published
set have at least two sets of Inf marks.

``tgra``
    tasks for Tables 4 and 5, Figs. 6 and 8: all translators but `finless`.  Tasks for
    which each of them has an automaton come first: means are over common tasks.
``tfla``
    tasks for Tables 6 and 7 and Fig. 9: `finless`, the automata that these were made
    from (`ltl3tela`), and `tgba`.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.published_data import Automaton, Experiment, Published, Question

TGBA, FINLESS, ORIGIN = "tgba", "finless", "ltl3tela"
TGRA_SAMPLE, TFLA_SAMPLE = "tgra", "tfla"
N_SIZES = 3

Item = TypeVar("Item")


class Trial(NamedTuple):
    """One task with the automaton of one translator, checked in one way."""

    experiment: Experiment
    question: Question
    translator: str
    kind: str
    samples: str  # those that the task is in, with spaces between

    @property
    def automaton(self) -> Automaton:
        """The automaton of the negated formula."""
        return self.experiment.automata[self.question, self.translator]

    @property
    def published(self) -> Published | None:
        """What is published of this check."""
        key = self.question, self.translator, self.kind
        return self.experiment.published.get(key)


class Choice(NamedTuple):
    """What is to be measured; the tasks depend on the count and the seed alone."""

    count: int  # tasks of each sample
    seed: int = 0
    translators: Sequence[str] = ()  # none: all
    kinds: Sequence[str] = ()  # none: all


def trials(experiments: Sequence[Experiment], choice: Choice) -> list[Trial]:
    """Return what is to be measured, task by task; the samples take turns."""
    lists = [
        [(experiment, question, sample) for question in questions]
        for experiment in experiments
        for sample, questions in _samples(experiment, choice).items()
    ]
    samples: dict[tuple[str, Question], list[str]] = {}
    by_name = {experiment.name: experiment for experiment in experiments}
    for experiment, question, sample in interleaved(lists):
        samples.setdefault((experiment.name, question), []).append(sample)
    return [
        trial
        for (name, question), found in samples.items()
        for trial in _of_task(by_name[name], question, found, choice)
    ]


def _samples(experiment: Experiment, choice: Choice) -> dict[str, list[Question]]:
    """Return the tasks of each sample, in a balanced order."""
    found = {}
    sizes = experiment.sizes()
    for sample in (TGRA_SAMPLE, TFLA_SAMPLE):
        names = _translators(experiment, sample)
        if not names:
            continue
        whole, partly = [], []
        for question in experiment.questions:
            known = [(question, name) in experiment.automata for name in names]
            if all(known):
                whole.append(question)
            elif any(known):
                partly.append(question)
        some = balanced(whole, sizes, choice.seed)
        if sample == TGRA_SAMPLE:
            some += balanced(partly, sizes, choice.seed)
        found[sample] = some[: choice.count]
    return found


def _translators(experiment: Experiment, sample: str) -> list[str]:
    """Return the translators of a sample; none if the experiment has no such sample."""
    known = experiment.translators
    if sample == TGRA_SAMPLE:
        return [name for name in known if name != FINLESS]
    return [TGBA, ORIGIN, FINLESS] if FINLESS in known else []


def _of_task(
    experiment: Experiment, question: Question, samples: Sequence[str], choice: Choice
) -> Iterator[Trial]:
    """Yield the checks of a task, those of TGBAs first."""
    names = {n for sample in samples for n in _translators(experiment, sample)}
    for name in sorted(names, key=lambda name: (name != TGBA, name)):
        if name not in (choice.translators or names):
            continue
        if (question, name) in experiment.automata:
            for kind in experiment.kinds(name):
                if kind in (choice.kinds or (kind,)):
                    yield Trial(experiment, question, name, kind, " ".join(samples))


def balanced(
    questions: Sequence[Question],
    sizes: Mapping[Question, tuple[int, float]],
    seed: int,
) -> list[Question]:
    """Return the questions so that models, verdicts and sizes take turns."""
    random = Random(seed)
    strata: dict[tuple[str, str], list[Question]] = {}
    for question in sorted(questions):
        strata.setdefault((question.model, question.verdict), []).append(question)
    queues = []
    for number, (_, some) in enumerate(sorted(strata.items())):
        some.sort(key=lambda question: sizes[question])
        bounds = [len(some) * k // N_SIZES for k in range(N_SIZES + 1)]
        thirds = [some[a:b] for a, b in pairwise(bounds)]
        for third in thirds:
            random.shuffle(third)
        first = number % N_SIZES  # the first turn has tasks of all sizes
        queues.append(interleaved(thirds[first:] + thirds[:first]))
    return interleaved(queues)


def interleaved(lists: Sequence[Sequence[Item]]) -> list[Item]:
    """Return the items of lists that take turns until all are empty."""
    turns = range(max(map(len, lists), default=0))
    return [some[turn] for turn in turns for some in lists if turn < len(some)]
