"""A star as a network of LTSs: the centre is its first component.

Its global labels are

- a relation of a leaf, in which centre and leaf take part;
- steps of the centre alone that change what the property sees;
- *deadlocks*, if these repeat themselves: the centre takes part, where it has no steps
  of its own, and each leaf, where it has none and gives no answer to any offer of the
  centre.  Nothing changes.  States of the centre whose deadlocks are the same for all
  leaves share a label.

A label says how the valuation of the propositions changes, too.  All other steps are
internal: those of leaves, and those of the centre that the property does not see.

Whether a model is a star: centres are tried until one will do.  Where a leaf is too
large, those of the next trial are a fourth smaller, so that the trials are no more than
a logarithm of the variables.

Cost: one exploration per trial; for each kind of offers of a centre's state one look at
the states of each leaf.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import STATIC
from ltlpipe.decoupled.star_parts import (
    OWN,
    Effort,
    NoStarError,
    Spaces,
    TooLargeError,
    footprints_of,
    heart_of,
    partition,
)
from ltlpipe.por.groups import names_steps, watched
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ltlpipe.decoupled.star_parts import Footprints, Partition, Space, Values
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model

MIN_LEAVES = 2
"""Leaves with steps of their own that make a star."""

MAX_LOOKS = 1 << 17
"""Looks at actions, of all trials for one property."""

_EXTRACTING = "extracting the lasso"
_ACTION_WORK = 0.5

_NO_LEAVES = (
    "fewer than two parts of the model have steps of their own, that is steps which "
    "neither touch what the property reads nor what other parts do"
)

MAX_LABELS = 1 << 12
"""Global labels: a search tries all of them in each decoupled state."""

MAX_ENTRIES = 1 << 23
"""Global labels times the local states of their participants, for tables."""

_INTERNAL = "i"
_INSIDE = -1  # the label of internal transitions

Edge = tuple[int, int, int]
"""A transition of a component: source, label or `_INSIDE`, target."""

Change = tuple[int, int] | None
"""How a label changes the valuation, if it does: numbers of `Star.valuations`."""


class Valuation(NamedTuple):
    """What the property sees of a state of the centre."""

    letter: int
    is_halted: bool  # nothing moves any more, whatever the leaves are like


@dataclass(frozen=True)
class Star:
    """A model as a network.

    Attributes
    ----------
    network : Network
        The centre, then the leaves.
    parts : tuple of tuple of int
        The variables of each component, and by...
    states : tuple of list of tuple of int
        ...local state the values that they have.
    initial : tuple of int
        The first valuation of all variables: the others never change.
    valuations : list of Valuation
        The first is that of the initial state.
    changes : list of Change
        By action of the network; None of internal ones, too.
    deadlocks : frozenset of int
        The actions that stand for deadlocks.
    """

    network: Network
    parts: tuple[tuple[int, ...], ...]
    states: tuple[list[Values], ...]
    initial: Values
    valuations: list[Valuation]
    changes: list[Change]
    deadlocks: frozenset[int]

    def valuation(self, state: Sequence[int]) -> Values:
        """Return the values of all variables in a composed state."""
        values = list(self.initial)
        for part, known, local in zip(self.parts, self.states, state, strict=True):
            for variable, value in zip(part, known[local], strict=True):
                values[variable] = value
        return tuple(values)


def star_of(
    spaces: Spaces,
    initial: Values,
    letter_of: Callable[[Values], int],
    *,
    stutters: bool,
) -> Job[Star]:
    """Return the network of a star that has been explored.

    Parameters
    ----------
    spaces : Spaces
        The local states.
    initial : tuple of int
        The values of all variables in the first state.
    letter_of : callable
        Returns the letter of the property for values of all variables; it looks at
        those of the centre alone.
    stutters : bool
        Whether deadlocks repeat themselves.

    Raises
    ------
    NoStarError
        There are too many.
    """
    ticks = Ticks(STATIC)
    parts = (spaces.centre, *spaces.leaves)
    seen, valuations = yield from _seen(spaces, initial, letter_of, ticks)
    labels: dict[tuple[int, Change], int] = {}  # by relation and change
    edges = [(yield from _centre_edges(spaces.centre, seen, labels, ticks))]
    deadlocks = (yield from deadlock_classes(spaces, ticks)) if stutters else []
    _refuse_many(labels, len(deadlocks), spaces)
    by_relation: dict[int, list[int]] = defaultdict(list)
    for (relation, _), label in labels.items():
        by_relation[relation].append(label)
    for leaf in spaces.leaves:
        own = [(src, _INSIDE, dst) for src, what, dst in leaf.steps if what == OWN]
        own += [
            (src, label, dst)
            for src, relation, dst in leaf.steps
            if relation != OWN
            for label in by_relation[relation]
        ]
        edges.append(own)
        yield ticks.progress
    for label, stuck in enumerate(deadlocks, len(labels)):
        for own, states in zip(edges, stuck, strict=True):
            own += [(state, label, state) for state in states]
    components = []
    for own, part in zip(edges, parts, strict=True):
        components.append(_component(own, len(part.states)))
        yield ticks.progress
    network = Network(components)
    numbers = [-1 if a.internal else int(a.name) for a in network.actions]
    # Deadlocks, behind the others, and internal actions change nothing.
    changes = [*(change for _, change in labels), *[None] * (len(deadlocks) + 1)]
    return Star(
        network=network,
        parts=tuple(part.variables for part in parts),
        states=tuple(part.states for part in parts),
        initial=initial,
        valuations=valuations,
        changes=[changes[k] for k in numbers],
        deadlocks=frozenset(k for k, n in enumerate(numbers) if n >= len(labels)),
    )


def _seen(
    spaces: Spaces,
    initial: Values,
    letter_of: Callable[[Values], int],
    ticks: Ticks,
) -> Job[tuple[list[int], list[Valuation]]]:
    """Return the number of the valuation of each state of the centre, and all."""
    numbers: dict[Valuation, int] = {}
    seen = []
    values = list(initial)
    for state, is_halted in zip(spaces.centre.states, spaces.halted, strict=True):
        for variable, value in zip(spaces.centre.variables, state, strict=True):
            values[variable] = value
        valuation = Valuation(letter_of(tuple(values)), is_halted)
        seen.append(numbers.setdefault(valuation, len(numbers)))
        yield from ticks.worked(10)
    return seen, list(numbers)


def _centre_edges(
    centre: Space,
    seen: Sequence[int],
    labels: dict[tuple[int, Change], int],
    ticks: Ticks,
) -> Job[list[Edge]]:
    """Return the transitions of the centre; those of a relation get labels."""
    edges = []
    for src, relation, dst in centre.steps:
        before, after = seen[src], seen[dst]
        change = None if before == after else (before, after)
        label = _INSIDE
        if relation != OWN or change is not None:
            label = labels.setdefault((relation, change), len(labels))
        edges.append((src, label, dst))
        yield from ticks.worked()
    return edges


def _refuse_many(
    labels: Iterable[tuple[int, Change]], n_deadlocks: int, spaces: Spaces
) -> None:
    relations = [relation for relation, _ in labels]
    sizes = [len(leaf.states) for leaf in spaces.leaves]
    n_labels = len(relations) + n_deadlocks
    if n_labels > MAX_LABELS:
        raise NoStarError(f"there are more than {MAX_LABELS:,} global labels")
    n_entries = n_labels * len(spaces.centre.states) + n_deadlocks * sum(sizes)
    n_entries += sum(sizes[spaces.relations[k][0]] for k in relations if k != OWN)
    if n_entries > MAX_ENTRIES:
        raise NoStarError(
            f"the tables of its {n_labels:,} global labels would have more than "
            f"{MAX_ENTRIES:,} entries"
        )


Stuck = tuple[Sequence[int], ...]
"""Of the centre, then of the leaves, the local states in which none can move."""


def deadlock_classes(spaces: Spaces, ticks: Ticks) -> Job[list[Stuck]]:
    """Return states of the centre with the states of all leaves that make deadlocks.

    In a halted centre every state of a leaf does.
    """
    answers = []
    for leaf in spaces.leaves:
        answers.append(leaf.relations())
        yield ticks.progress
    everywhere = tuple(tuple(range(len(own))) for own in answers)
    known: list[dict[frozenset[int], tuple[int, ...]]] = [{} for _ in answers]
    classes: dict[tuple[tuple[int, ...], ...], list[int]] = defaultdict(list)
    for centre, relations in enumerate(spaces.centre.relations()):
        if spaces.halted[centre]:
            classes[everywhere].append(centre)
            continue
        if OWN in relations:
            continue
        offered = [{OWN} for _ in answers]
        for relation in relations:
            offered[spaces.relations[relation][0]].add(relation)
        stuck = []
        for states, own, seen in zip(
            known, answers, map(frozenset, offered), strict=True
        ):
            if seen not in states:
                states[seen] = tuple(s for s, one in enumerate(own) if not one & seen)
                yield from ticks.worked(len(own) / 4)
            stuck.append(states[seen])
        if all(stuck):
            classes[tuple(stuck)].append(centre)
        yield from ticks.worked(len(relations) + len(answers))
    return [(centres, *stuck) for stuck, centres in classes.items()]


def _component(edges: Sequence[Edge], n_states: int) -> LTS:
    """Return a component."""
    table = np.array(edges, dtype=np.int32).reshape(-1, 3)
    used, index = np.unique(table[:, 1], return_inverse=True)
    return LTS(
        n_states=n_states,
        initial=0,
        labels=tuple(_INTERNAL if k < 0 else str(k) for k in used.tolist()),
        src=table[:, 0].copy(),
        label=index.astype(np.int32),
        dst=table[:, 2].copy(),
        internal=frozenset([_INTERNAL]) if (used < 0).any() else frozenset(),
    )


def find_star(
    model: Model,
    propositions: Sequence[Expression],
    *,
    stutters: bool,
    least_share: float = 0.0,
) -> Job[Star]:
    """Return a model as a star whose centre tells the truth of propositions.

    Parameters
    ----------
    model : Model
        A DVE model or a net, which has been prepared.
    propositions : sequence of Expression
        Bound to it; those that hold are a letter, as bits.
    stutters : bool
        Whether deadlocks repeat themselves.
    least_share : float
        The least share of actions that are steps of leaves alone, 0 to 1.

    Raises
    ------
    NoStarError
        It is none.
    """
    if any(map(names_steps, propositions)):
        raise NoStarError("a proposition is about steps, not only about states")
    footprints = yield from footprints_of(model)
    known = frozenset().union(*footprints.touched)
    seen = {atom.variable for p in propositions for atom in watched(p)}
    centre = frozenset(seen | footprints.fixed) & known

    def letter_of(state: Values) -> int:
        return sum(1 << k for k, p in enumerate(propositions) if evaluate(p, state))

    spaces = yield from _explored(footprints, centre, least_share)
    initial = footprints.initial
    return (yield from star_of(spaces, initial, letter_of, stutters=stutters))


def _explored(
    footprints: Footprints, centre: frozenset[int], least_share: float
) -> Job[Spaces]:
    """Return the local states of a star that is not too large."""
    effort = Effort(MAX_LOOKS)
    while True:
        star, centre = yield from _next_star(footprints, centre, least_share, effort)
        spaces = Spaces(footprints, star, effort)
        try:
            yield from spaces.explore()
        except TooLargeError as error:
            most = len(error.leaf.variables) * 3 // 4
        else:
            return spaces
        large = star.leaves
        while large:
            star = yield from partition(footprints, centre, effort)
            large = tuple(one for one in star.leaves if len(one.variables) > most)
            for leaf in large:
                centre = centre.union(heart_of(footprints, leaf))


def _next_star(
    footprints: Footprints, centre: frozenset[int], least_share: float, effort: Effort
) -> Job[tuple[Partition, frozenset[int]]]:
    """Return a star with enough leaves that move, and its centre, which has grown."""
    while True:
        star = yield from partition(footprints, centre, effort)
        if not star.leaves:
            raise NoStarError(_NO_LEAVES)
        if star.n_moving >= MIN_LEAVES:
            break
        largest = max(star.leaves, key=lambda leaf: len(leaf.variables))
        centre = centre.union(heart_of(footprints, largest))
    if star.share < least_share:
        raise NoStarError(
            f"{star.share:.0%} of the actions are steps of leaves alone (it pays from "
            f"{least_share:.0%} on; Gnad et al. 2021, Sec. 6)"
        )
    return star, centre


def model_run(star: Star, model: Model, run: Run) -> Job[Run]:
    """Return a run of a star's network as one of the model."""
    ticks = Ticks(_EXTRACTING, 1 + model.n_actions * _ACTION_WORK)
    rows: list[Values] = [star.valuation(run.states[0].tolist())]
    taken: list[int] = []
    length = run.length
    for action, state in zip(run.actions.tolist(), run.states[1:], strict=True):
        if action in star.deadlocks:
            # What leaves still do in a network whose centre has halted, they do not do.
            length = len(taken)
            taken.append(-1)
            rows.append(rows[-1])
            break
        target = star.valuation(state.tolist())
        step = _action(model, rows[-1], target)
        if step is not None:
            taken.append(step)
            rows.append(target)
        yield from ticks.worked()
    states = np.array(rows, dtype=np.int64).reshape(len(rows), -1)
    return Run(np.array(taken, dtype=np.int32), states, length)


def _action(model: Model, state: Values, target: Values) -> int | None:
    """Return an action that leads from a valuation to another; None in a deadlock."""
    is_dead = True
    for step in model.each_step(state):
        if step.state == target:
            return step.action
        is_dead = False
    if not is_dead:
        raise RuntimeError("the search reported a run that is not there")
    return None
