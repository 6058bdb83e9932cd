"""Components that are products become their factors, in a whole network.

A component that is strongly bisimilar to a composition of smaller ones over disjoint
sets of labels, accepting states respected, is replaced by these: by the most that there
are (`finest_split`).  Each keeps the labels of its part in its alphabet, those that are
never enabled included, and internal labels stay internal.  So the actions of the
network, and who blocks whom, stay the same; words, deadlocks and acceptance do, since
bisimilarity is kept by composition.  Definitions and proofs: docs/factoring.md.

Components that are too large or too dense, for what their factors would save, are left
as they are.  What has been found out about a network is kept beside it.

From a run of factors back to one of the components.

Where each state of a component stands for one of its minimal form the run is looked up.
Elsewhere, bisimilar states are one in the factors: the component follows step by step,
and its cycle may have to be gone through several times before it closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.finest_split import (
    MinimalForm,
    Split,
    effort,
    finest_split,
    local_steps,
    minimal_form,
    numbers_of,
    weights,
)
from ltlpipe.components.progress import ENTRY_WORK, factoring
from ltlpipe.runtime.jobs import MEMORY, StoppedError
from ltlpipe.runtime.memory import STEP_BYTES, most_steps
from ltlpipe.runtime.objects import Beside
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job

MOST_STATES = 1 << 16
MOST_TRANSITIONS = 1 << 18
MOST_LABELS = 1 << 10
"""Of a component that is factored: a split takes time and memory for all of these."""

MOST_EFFORT = 1 << 20
"""Transitions, paths of two and pairs of them that are looked at in all components.

That is about half a second.
"""

MOST_AT_A_STATE = 1 << 17
"""The same for one state, at which no job can yield."""

_FIXED_WORK = 150  # however small the component
_FIXED_EFFORT = 1 << 9
_LEAST_STATES = 4  # two factors have two states each
_REMEMBERED = 1 << 12  # transitions of a component that others may be like

_ITEM_BYTES = 400  # of a state or transition in all that is kept of a component
_PAIR_BYTES = 100  # of paths that are looked at together

_STEP_WORK = 2  # microseconds of a step that is mapped back
_SHOWN = 3


class Origin(NamedTuple):
    """The outcome for a component, and the way back."""

    places: tuple[int, ...]  # of its factors among the components now
    weights: tuple[int, ...]  # of their states in a number; see `numbers_of`
    # int64[n_states]: the number of each of its states, -1 where not reachable; None
    # for a component that has stayed as it was.
    number_of: np.ndarray | None


class Factored(NamedTuple):
    """A network, its components replaced by factors where they are products."""

    network: Network | None  # None if no component is a product
    origins: tuple[Origin, ...]  # of each component before
    left: tuple[tuple[int, str], ...]  # components not looked at, and why

    def __str__(self) -> str:
        """Describe the outcome for each component."""
        if self.network is None:
            return "no component is a product" + self._but()
        split = sum(len(origin.places) > 1 for origin in self.origins)
        n = len(self.origins)
        return (
            f"{split} of {n} component{'s' * (n != 1)} "
            f"{'is a product' if split == 1 else 'are products'}: "
            f"{n} became {len(self.network.components)}{self._but()}"
        )

    def _but(self) -> str:
        """Return which components have not been looked at."""
        if not self.left:
            return ""
        said = [f"component {k + 1} ({why})" for k, why in self.left[:_SHOWN]]
        if len(self.left) > _SHOWN:
            said.append(f"{len(self.left) - _SHOWN} more")
        return f"; not looked at: {', '.join(said)}"


class _Found(NamedTuple):
    """The minimal form of a component, and its finest split."""

    form: MinimalForm
    split: Split


def needed_bytes(network: Network) -> int:
    """Return what factoring a network takes at most at a time."""
    largest = max(
        c.n_transitions + min(c.n_states, MOST_STATES) for c in network.components
    )
    pairs = min(largest * largest, MOST_AT_A_STATE)
    return _ITEM_BYTES * largest + _PAIR_BYTES * pairs


_kept: Beside[dict[bool, Factored]] = Beside(dict)


def factored(
    network: Network, *, together: bool = True, shares: bool = True
) -> Job[Factored]:
    """Replace the components of a network that are products by their factors.

    Parameters
    ----------
    network : Network
        It is not changed; the result is the same object each time.
    together : bool
        Accepting components have to accept in the same state; otherwise at most one
        factor of each has acceptance.
    shares : bool
        Whether what was found is kept beside the network.

    Examples
    --------
    >>> from ltlpipe.runtime.jobs import run
    >>> from ltlpipe.systems.networks.lts import LTS
    >>> grid = [(0, "a", 1), (0, "b", 2), (1, "b", 3), (2, "a", 3)]
    >>> found = run(factored(Network([LTS.from_transitions(grid)])))
    >>> [c.transitions() for c in found.network.components]
    [[(0, 'a', 1)], [(0, 'b', 1)]]
    """
    if not shares:
        return (yield from _factored(network, together=together))
    kept = _kept.of(network)
    if together not in kept:
        kept[together] = yield from _factored(network, together=together)
    return kept[together]


def _factored(network: Network, *, together: bool) -> Job[Factored]:
    """Split one component after the other, the small first, within `MOST_EFFORT`."""
    components = network.components
    alike: dict[object, _Found | None] = {}
    found: dict[int, _Found] = {}
    left: list[tuple[int, str]] = []
    effort_left = MOST_EFFORT
    for number in sorted(
        range(len(components)), key=lambda k: components[k].n_transitions
    ):
        component = components[number]
        if component.n_states < _LEAST_STATES:
            continue
        key = _shape(component) if component.n_transitions <= _REMEMBERED else number
        if key not in alike:
            outcome, used = yield from _split(component, effort_left, together=together)
            effort_left -= used
            if isinstance(outcome, str):
                left.append((number, outcome))
                continue
            alike[key] = outcome
        known = alike[key]
        if known is not None:
            found[number] = known
    return (yield from _assembled(network, found, sorted(left)))


def _split(
    component: LTS, most: int, *, together: bool
) -> Job[tuple[_Found | str | None, int]]:
    """Return the split of a component, if there is one, and the effort it has taken.

    If the component is not looked at, the reason takes the place of the split.
    """
    for what, count, limit in (
        ("states", component.n_states, MOST_STATES),
        ("transitions", component.n_transitions, MOST_TRANSITIONS),
        ("labels", len(component.labels), MOST_LABELS),
    ):
        if count > limit:
            return f"{count:,} {what}", 0
    used = component.n_transitions + _FIXED_EFFORT
    if used > most:
        return "too large beside the others", 0
    yield factoring(_FIXED_WORK)
    form = yield from minimal_form(component)
    if not _may_split(form):
        return None, used
    paths = effort(form)
    if used + paths.sum() > most or paths.max() > MOST_AT_A_STATE:
        return "too dense", used
    split = yield from finest_split(form, together=together)
    return split and _Found(form, split), used + int(paths.sum())


def _shape(component: LTS) -> tuple[object, ...]:
    """Return what the split of a component depends on: all but names."""
    flags = component.accepting
    return (
        component.n_states,
        component.initial,
        len(component.labels),
        *(getattr(component, name).tobytes() for name in ("src", "label", "dst")),
        None if flags is None else flags.tobytes(),
    )


def _may_split(form: MinimalForm) -> bool:
    """Whether the number of states is a product of two, and there are two labels."""
    n = form.n_states
    divisors = range(2, int(n**0.5) + 1)
    return form.n_labels > 1 and any(n % k == 0 for k in divisors)


def _assembled(
    network: Network, found: dict[int, _Found], left: list[tuple[int, str]]
) -> Job[Factored]:
    """Put the factors in the places of their components."""
    components: list[LTS] = []
    origins = []
    for number, component in enumerate(network.components):
        begin = len(components)
        if number not in found:
            components.append(component)
            origins.append(Origin((begin,), (1,), None))
            continue
        form, split = found[number]
        components += _factors(component, form, split, number)
        yield factoring(form.n_transitions * len(split.sizes) * ENTRY_WORK)
        number_of = np.append(numbers_of(split), -1)[form.state_of]
        places = tuple(range(begin, len(components)))
        origins.append(Origin(places, tuple(weights(split.sizes)), number_of))
    smaller = Network(components, network.name) if found else None
    return Factored(smaller, tuple(origins), tuple(left))


def _factors(component: LTS, form: MinimalForm, split: Split, number: int) -> list[LTS]:
    """Return the factors of a component, named after it."""
    name = component.name or str(number + 1)
    factors = []
    accepting = _acceptance(form, split)
    for k, (group, size) in enumerate(zip(split.groups, split.sizes, strict=True)):
        labels = tuple(component.labels[label] for label in group.tolist())
        steps = local_steps(form, split, k)
        src, label, dst = (column.astype(np.int32) for column in steps)
        label = np.searchsorted(group, label).astype(np.int32)
        local = LTS(
            *(size, int(split.coordinates[k][0]), labels, src, label, dst),
            internal=component.internal.intersection(labels),
            accepting=accepting[k],
            name=f"{name}.{k + 1}",
        )
        factors.append(local)
    return factors


def _acceptance(form: MinimalForm, split: Split) -> list[np.ndarray | None]:
    """Return the accepting states of the factors that have states which do not accept.

    If there are none, the first accepts everywhere; if nothing accepts, it nowhere
    does: one has acceptance, as the component has.
    """
    if form.accepting is None:
        return [None] * len(split.sizes)
    flags = []
    for own, size in zip(split.coordinates, split.sizes, strict=True):
        local = np.zeros(size, dtype=np.bool_)
        local[own[form.accepting]] = True
        flags.append(local)
    some = form.accepting.any()
    chosen = [k for k, local in enumerate(flags) if some and not local.all()] or [0]
    return [local if k in chosen else None for k, local in enumerate(flags)]


def unfactored(network: Network, found: Factored, path: Run) -> Job[Run]:
    """Find the run of a network that a run of its factors stands for.

    Parameters
    ----------
    network : Network
        What was factored.
    found : Factored
        What has become of it.
    path : Run
        A run of ``found.network``.

    Raises
    ------
    StoppedError
        Memory does not suffice for so long a lasso.
    """
    assert found.network is not None
    actions = _actions(network, found)[path.actions]  # the last entry stays -1
    n_steps, k = len(actions), path.length
    looked_up: dict[int, np.ndarray] = {}
    followers: dict[int, _Follower] = {}
    for number, origin in enumerate(found.origins):
        yield factoring(_STEP_WORK * n_steps, n_steps * STEP_BYTES)
        goals = path.states[:, origin.places].astype(np.int64) @ np.array(
            origin.weights, dtype=np.int64
        )
        if origin.number_of is None:
            looked_up[number] = goals
        elif (inverse := _inverse(origin)) is not None:
            looked_up[number] = inverse[goals]
        else:
            followers[number] = _Follower(network, number, origin, goals)
            yield factoring(network.components[number].n_transitions)
    for follower in followers.values():
        follower.take(actions, range(k))
    begun: dict[tuple[int, ...], int] = {}  # by states, how many rounds before
    while (now := tuple(f.states[-1] for f in followers.values())) not in begun:
        begun[now] = len(begun)
        for follower in followers.values():
            follower.take(actions, range(k, n_steps))
        total = k + (n_steps - k) * len(begun)
        held = total * STEP_BYTES * len(found.origins)
        grant = yield factoring(_STEP_WORK * (n_steps - k) * len(followers), held)
        if total > most_steps(grant.memory_bytes, len(network.components)):
            raise StoppedError(MEMORY)
    rounds = np.tile(np.arange(k, n_steps), len(begun))
    places = np.concatenate([np.arange(k), rounds, [n_steps]])
    states = np.empty((len(places), len(network.components)), dtype=np.int32)
    for number, column in looked_up.items():
        states[:, number] = column[places]
    for number, follower in followers.items():
        states[:, number] = follower.states
    return Run(actions[places[:-1]], states, k + (n_steps - k) * begun[now])


def _actions(network: Network, found: Factored) -> np.ndarray:
    """Return the number of each action before factoring, int32, and -1 behind them."""
    assert found.network is not None
    of_place = {
        place: number
        for number, origin in enumerate(found.origins)
        for place in origin.places
    }
    number = {
        (action.participants[0] if action.internal else -1, action.name): k
        for k, action in enumerate(network.actions)
    }
    numbers = [
        number[of_place[action.participants[0]] if action.internal else -1, action.name]
        for action in found.network.actions
    ]
    return np.array([*numbers, -1], dtype=np.int32)


def _inverse(origin: Origin) -> np.ndarray | None:
    """Return the state of each number, int64; None if a number has several."""
    assert origin.number_of is not None
    reached = np.flatnonzero(origin.number_of >= 0)
    numbers = origin.number_of[reached]
    inverse = np.full(int(numbers.max()) + 1, -1, dtype=np.int64)
    inverse[numbers] = reached
    return inverse if len(inverse) == len(reached) else None


class _Follower:
    """The states of a component as it takes part in a run."""

    def __init__(
        self, network: Network, number: int, origin: Origin, goals: np.ndarray
    ) -> None:
        assert origin.number_of is not None
        component = network.components[number]
        self.states = [component.initial]
        self._number_of, self._goals = origin.number_of, goals
        self._leaving: dict[tuple[int, str], list[int]] = {}
        for src, label, dst in component.transitions():
            self._leaving.setdefault((src, label), []).append(dst)
        self._labels = [
            action.name if number in action.participants else None
            for action in network.actions
        ]
        self._labels.append(None)  # of -1

    def take(self, actions: np.ndarray, steps: Iterable[int]) -> None:
        """Take some steps of the run."""
        for step in steps:
            state, label = self.states[-1], self._labels[actions[step]]
            if label is not None:
                goal = self._goals[step + 1]
                targets = self._leaving[state, label]
                state = next(d for d in targets if self._number_of[d] == goal)
            self.states.append(state)
