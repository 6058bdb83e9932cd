"""Random networks like those of the parallel problems of the RERS challenges.

Three styles:

- ``random-pairs``: components of 5 to 30 states, each a union of cycles that meet,
  and every transition with a label of its own; then transitions of different
  components, two by two, get a common label.  So a label has one or two participants,
  and is on one transition of each.
- ``random-dense``: components of 6 to 16 states and more common labels, each of two to
  four components and on up to three transitions of each; local labels repeat, too, and
  in each component some transition has a twin with the same source and label.
- ``chain``, like the problems of 2018 to 2020 that are public: components of up to 180
  states, most labels common, each of two components that are at most `Style.reach`
  apart, so that the treewidth of who shares with whom is at most that; labels on up
  to some dozens of transitions of a component, and twins.  A component is made of up
  to three machines that have labels in common, too, of which what the initial state
  is on a cycle with is written out.

In the first two any components share labels: the graph of who shares with whom is a
random one, of high treewidth.  Orders of composition are hard to find there, and large
networks of few neighbours, as the challenges have them, are not like that.

Common labels on random transitions nearly always deadlock at once.  Here a run is
planned first, and labels are given along it.  The cycles of a component have no
transition in common, so a closed walk from its initial state takes each of them once.
A random sequence of joint steps is drawn, and for each component as many random
places of its walk, in order: what stands at the first place is its part of the first
joint step that it takes part in, and so on.  Guaranteed is therefore

- a run from the initial state of the network back to it (`Drawn.cycle`) in which every
  machine takes every transition once, twins apart: so there are infinite runs, walks
  of any length, and no action that cannot happen;
- that each component is strongly connected: every state lies on a cycle;
- that no part of the network is independent of the rest, if there are at least as
  many common labels as components, less one.

A run may leave the planned one anywhere, and most random ones would soon end in a
deadlock where labels are shared densely.  So up to `ATTEMPTS` ways to share and place
them are drawn until most of some random walks have `WALK_STEPS` steps; if none is like
that, the one with the longest walks is taken.  Deadlocks remain, and states where a few
components go on while others wait for ever.

Sources: "Parallel Problem Description" of the RERS challenges of 2016 and 2020,
http://www.rers-challenge.org, for the structure of problems and for labels that occur
twice (2016) or anywhere (2020).

Differences from the sources: their networks are made from properties that they are to
have.  These are random, and `ltlpipe.batch.rers_problems` determines their verdicts.
Sizes and shares are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product, takewhile
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.families.networks import Walker
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS, Network

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Style:
    """What networks of a year have in common; ranges include both ends."""

    n_states: tuple[int, int]  # of a component; 4 or more, so that common labels fit
    labels_per_component: float  # common labels by default
    sharing: tuple[int, int]
    """Participants of a common label, as far as there are so many components."""
    occurrences: tuple[int, int]  # joint steps of the planned run with a common label
    local_repetition: int  # local transitions per local label, about
    twin_share: float
    """Transitions with a twin per transition of a component; one at least, if not 0."""
    machines: int = 1  # that a component is made of, at most
    reach: int = 0  # how far apart components with a common label are; 0: any


MACHINE_STATES = (3, 12)
"""Of a machine, where a component is made of several."""


STYLES = {
    "random-pairs": Style(
        n_states=(5, 30),
        labels_per_component=1.5,
        sharing=(2, 2),
        occurrences=(1, 1),
        local_repetition=1,
        twin_share=0.0,
    ),
    "random-dense": Style(
        n_states=(6, 16),
        labels_per_component=2.0,
        sharing=(2, 4),
        occurrences=(1, 3),
        local_repetition=2,
        twin_share=0.08,
    ),
    "chain": Style(
        n_states=(8, 180),
        labels_per_component=3.0,
        sharing=(2, 2),
        occurrences=(1, 3),
        local_repetition=8,
        twin_share=0.05,
        machines=3,
        reach=3,
    ),
}
"""The styles by their names."""

CYCLE_LENGTHS = (3, 9)
"""Least and greatest length of a cycle, if that many states are left."""

ATTEMPTS = 20
"""Ways to share and place the labels that are tried, at most."""

N_WALKS = 7
"""Random walks that judge an attempt: it is taken if most do not deadlock."""

WALK_STEPS = 300
"""Steps of each."""


class Drawn(NamedTuple):
    """A network, and the run that it was planned along."""

    network: Network
    cycle: tuple[str, ...]
    """Actions that lead from the initial state back to it."""


Walk = list[tuple[int, int]]  # (source, target) of its transitions
Rows = list[tuple[int, str, int]]  # source, label, target of transitions


def rers_network(
    n_components: int,
    *,
    style: str,
    seed: int,
    synchronisations: int | None = None,
) -> Drawn:
    """Draw a network in the style of a year.

    Parameters
    ----------
    n_components : int
        At least 1.
    style : str
        A key of `STYLES`.
    seed : int
        Not negative; decides, with the other arguments, the whole network, as long as
        NumPy's `default_rng` keeps its stream.
    synchronisations : int, optional
        Common labels in all; by default `Style.labels_per_component` of them, rounded
        up, and none for a single component.

    Returns
    -------
    Drawn
        Its labels are ``a0``, ``a1``, ... in random order.

    Raises
    ------
    UnsupportedError
        An argument is out of its range, or so many common labels have no room on the
        transitions of the components that were drawn.

    Examples
    --------
    >>> network, cycle = rers_network(3, style="random-pairs", seed=7)
    >>> sorted(cycle) == sorted(action.name for action in network.actions)
    True
    """
    kind = _checked(n_components, style, seed, synchronisations)
    rng = np.random.default_rng(seed)
    walks, owners = list[Walk](), list[int]()
    for i in range(n_components):
        for size in _draw_sizes(rng, kind):
            walks.append(_draw_walk(rng, size))
            owners.append(i)
    n_labels = synchronisations
    if n_labels is None:
        few = n_components < 2
        n_labels = 0 if few else int(np.ceil(kind.labels_per_component * n_components))
    room = [len(walk) for walk in walks]
    name = f"rers-{style}-{n_components}-{seed}"
    best, longest = None, -1
    for _ in range(ATTEMPTS):
        try:
            if kind.reach:
                participants = _share_nearby(rng, room, owners, n_labels, kind.reach)
            else:
                participants = _share_labels(rng, room, n_labels, kind)
        except UnsupportedError:  # the last components with room are too few
            if best is None:
                raise
            continue
        drawn = _assemble(rng, walks, owners, participants, kind, name)
        walker = Walker(drawn.network)
        lengths = [
            len(walker.walk(walker.initial, rng, WALK_STEPS)[0]) for _ in range(N_WALKS)
        ]
        if sum(lengths) > longest:
            best, longest = drawn, sum(lengths)
        if 2 * lengths.count(WALK_STEPS) > N_WALKS:
            break
    assert best is not None  # the first attempt is better than nothing
    return best


def _assemble(
    rng: np.random.Generator,
    walks: list[Walk],
    owners: list[int],
    participants: list[list[int]],
    kind: Style,
    name: str,
) -> Drawn:
    """Plan a run, label the machines along it, make components of them, add twins."""
    steps = _draw_steps(rng, [len(walk) for walk in walks], participants, kind)
    labels, n_used = _label(rng, walks, steps, participants, kind)
    cycle = _planned_run(labels, steps, participants)
    names = [f"a{number}" for number in rng.permutation(n_used).tolist()]
    machines: list[list[Rows]] = [[] for _ in range(1 + owners[-1])]
    for i, walk in enumerate(walks):
        rows = [(s, names[a], d) for (s, d), a in zip(walk, labels[i], strict=True)]
        machines[owners[i]].append(rows)
    components = []
    for i, parts in enumerate(machines):
        rows = parts[0] if len(parts) == 1 else _together(parts)
        rows += _draw_twins(rng, rows, kind)
        shuffled = [rows[k] for k in rng.permutation(len(rows)).tolist()]
        components.append(LTS.from_transitions(shuffled, name=f"rers{i}"))
    return Drawn(Network(components, name=name), tuple(names[a] for a in cycle))


def _checked(
    n_components: int, style: str, seed: int, synchronisations: int | None
) -> Style:
    """Return the style of that name, if the other arguments are in range."""
    if style not in STYLES:
        known = ", ".join(STYLES)
        raise UnsupportedError(f"style {style!r} is unknown: use one of {known}")
    if n_components < 1:
        raise UnsupportedError(f"{n_components} components: use 1 or more")
    if seed < 0:
        raise UnsupportedError(f"seed {seed} is negative: use 0 or more")
    if synchronisations is not None and synchronisations < 0:
        raise UnsupportedError(f"{synchronisations} synchronisations: use >= 0")
    if synchronisations and n_components < 2:
        raise UnsupportedError("1 component synchronises with none: use >= 2")
    return STYLES[style]


def _draw_sizes(rng: np.random.Generator, kind: Style) -> list[int]:
    """Return the states of the machines of a component."""
    if kind.machines == 1:
        return [int(rng.integers(*kind.n_states, endpoint=True))]
    least, most = kind.n_states
    while True:
        n = int(rng.integers(1, kind.machines, endpoint=True))
        sizes: list[int] = rng.integers(*MACHINE_STATES, n, endpoint=True).tolist()
        if least <= prod(sizes) <= most:
            return sizes


def _draw_walk(rng: np.random.Generator, size: int) -> Walk:
    """Return a closed walk through random cycles, from state 0 and back to it.

    It takes no transition twice; its states are 0..size-1.
    """
    length = min(size, int(rng.integers(*CYCLE_LENGTHS, endpoint=True)))
    walk = _round(list(range(length)))
    n_known = length
    while n_known < size:
        length = int(rng.integers(*CYCLE_LENGTHS, endpoint=True))
        n_new = min(size - n_known, int(rng.integers(1, length)))
        new = list(range(n_known, n_known + n_new))
        n_old = min(n_known, length - n_new, 3)
        old = rng.choice(n_known, n_old, replace=False).tolist()
        inner = rng.permutation(old[1:] + new).tolist()
        cycle = _round([old[0], *inner])
        if not set(cycle).isdisjoint(walk):
            cycle = _round([old[0], *new])  # meets the walk in one state only
        place = [src for src, _ in walk].index(old[0])
        walk[place:place] = cycle
        n_known += n_new
    start = int(rng.integers(len(walk)))
    walk = walk[start:] + walk[:start]
    number: dict[int, int] = {}
    for src, _ in walk:
        number.setdefault(src, len(number))
    return [(number[src], number[dst]) for src, dst in walk]


def _round(states: list[int]) -> Walk:
    """Return the cycle through some states."""
    return list(zip(states, states[1:] + states[:1], strict=True))


def _share_labels(
    rng: np.random.Generator, room: list[int], n_labels: int, kind: Style
) -> list[list[int]]:
    """Return the participants of `n_labels` common labels.

    Component i has room for ``room[i]`` joint steps, and each label takes one.  The
    first labels connect the components, as far as they reach: the first one with as
    many participants as the style has, and each of the others with a new one.
    """
    n = len(room)
    left = np.array(room)
    order = rng.permutation(n).tolist()
    shared: list[list[int]] = []
    n_connected = 0
    for number in range(n_labels):
        size = min(n, int(rng.integers(*kind.sharing, endpoint=True)))
        if number == 0:
            n_connected = min(n, kind.sharing[1])
            chosen = order[:n_connected]
        elif n_connected < n:
            others = [i for i in order[:n_connected] if left[i]]
            size = min(size - 1, len(others))
            chosen = [order[n_connected], *_some(rng, others, size)]
            n_connected += 1
        else:
            others = np.flatnonzero(left).tolist()
            if len(others) < 2:
                raise UnsupportedError(
                    f"{n_labels} synchronisations have no room on the {sum(room)}"
                    f" transitions of these components: use at most {number}"
                )
            chosen = _some(rng, others, min(size, len(others)))
        left[chosen] -= 1
        shared.append(sorted(chosen))
    return shared


def _draw_steps(
    rng: np.random.Generator,
    room: list[int],
    participants: list[list[int]],
    kind: Style,
) -> list[int]:
    """Return the common labels of the planned run, in random order.

    Each stands there once at least, and as often as was drawn where there is room.
    """
    left = np.array(room)
    for members in participants:
        left[members] -= 1
    steps = list(range(len(participants)))
    for label, members in enumerate(participants):
        for _ in range(int(rng.integers(*kind.occurrences, endpoint=True)) - 1):
            if left[members].all():
                left[members] -= 1
                steps.append(label)
    return [steps[k] for k in rng.permutation(len(steps)).tolist()]


def _label(
    rng: np.random.Generator,
    walks: list[Walk],
    steps: list[int],
    participants: list[list[int]],
    kind: Style,
) -> tuple[list[list[int]], int]:
    """Return the labels along each walk, and how many different ones there are.

    Common labels keep their numbers; the local ones follow.
    """
    n_used = len(participants)
    labels = []
    for i, walk in enumerate(walks):
        joint = [label for label in steps if i in participants[label]]
        places = np.sort(rng.choice(len(walk), len(joint), replace=False)).tolist()
        n_local = len(walk) - len(joint)
        n_names = -(-n_local // kind.local_repetition)
        # every name once, then any
        local = [
            k if k < n_names else int(rng.integers(n_names)) for k in range(n_local)
        ]
        local = [n_used + local[k] for k in rng.permutation(n_local).tolist()]
        for place, label in zip(places, joint, strict=True):
            local.insert(place, label)
        labels.append(local)
        n_used += n_names
    return labels, n_used


def _planned_run(
    labels: list[list[int]], steps: list[int], participants: list[list[int]]
) -> list[int]:
    """Return the labels of the planned run: one order of all walks together."""
    common = len(participants)
    rest = [iter(walk) for walk in labels]
    run: list[int] = []
    for step in steps:
        for i in participants[step]:
            # the step itself ends the part before it
            run += _until_common(rest[i], common)
        run.append(step)
    for walk in rest:
        run += _until_common(walk, common)
    return run


def _until_common(walk: Iterator[int], common: int) -> list[int]:
    """Return the local labels up to the next common one, which is passed over."""
    return list(takewhile(lambda label: label >= common, walk))


def _draw_twins(rng: np.random.Generator, rows: Rows, kind: Style) -> Rows:
    """Return transitions like some of `rows`, but for their targets."""
    if not kind.twin_share:
        return []
    n_states = 1 + max(src for src, _, _ in rows)
    n_twins = max(1, round(kind.twin_share * len(rows)))
    known = set(rows)
    twins = []
    for k in rng.choice(len(rows), n_twins, replace=False).tolist():
        src, label, _ = rows[k]
        free = [d for d in range(n_states) if (src, label, d) not in known]
        if free:
            twins.append((src, label, free[int(rng.integers(len(free)))]))
            known.add(twins[-1])
    return twins


def _together(parts: list[Rows]) -> Rows:
    """Return the transitions of machines in parallel from 0 on, and back to it."""
    have = [{label for _, label, _ in rows} for rows in parts]
    steps: list[dict[int, list[tuple[str, int]]]] = []
    for rows in parts:
        steps.append({})
        for src, label, dst in rows:
            steps[-1].setdefault(src, []).append((label, dst))
    start = (0,) * len(parts)
    number, rows, left = {start: 0}, Rows(), [start]
    for state in left:  # which grows
        for label in sorted(set().union(*have)):
            options = [
                [d for name, d in steps[i][s] if name == label]
                if label in have[i]
                else [s]
                for i, s in enumerate(state)
            ]
            for after in product(*options):
                if after not in number:
                    number[after] = len(number)
                    left.append(after)
                rows.append((number[state], label, number[after]))
    back, before = {0}, 0
    while len(back) > before:
        before = len(back)
        back |= {src for src, _, dst in rows if dst in back}
    kept = {state: k for k, state in enumerate(sorted(back))}
    return [(kept[s], a, kept[d]) for s, a, d in rows if s in back and d in back]


def _share_nearby(
    rng: np.random.Generator,
    room: list[int],
    owners: list[int],
    n_labels: int,
    reach: int,
) -> list[list[int]]:
    """Return the machines that share labels: `n_labels` common ones, and inner ones.

    Each machine of a component has an inner label in common with the next one.  The
    first common labels connect components with those before.
    """
    n, left = 1 + owners[-1], list(room)
    inner = [[k, k + 1] for k in range(len(owners) - 1) if owners[k] == owners[k + 1]]
    for pair in inner:
        for k in pair:
            left[k] -= 1
    pairs = [(i, i + 1) for i in range(n - 1)]
    shared: list[list[int]] = []
    failures = 0
    while len(shared) < n_labels:
        if pairs:
            i, j = pairs.pop(0)
        else:
            i = int(rng.integers(n))
            j = i + int(rng.integers(1, reach, endpoint=True))
        ends = [[k for k, o in enumerate(owners) if o == c and left[k]] for c in (i, j)]
        if all(ends):
            chosen = [_some(rng, end, 1)[0] for end in ends]
            for k in chosen:
                left[k] -= 1
            shared.append(chosen)
        else:
            failures += 1
        if failures > 20 * (n + n_labels):
            raise UnsupportedError(
                f"{n_labels} synchronisations have no room on the {sum(room)}"
                f" transitions of these components: use at most {len(shared)}"
            )
    return [*shared, *inner]


def _some(rng: np.random.Generator, components: list[int], size: int) -> list[int]:
    """Return so many of some components, in random order."""
    return [components[k] for k in rng.choice(len(components), size, replace=False)]
