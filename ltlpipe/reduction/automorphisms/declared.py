"""The group that permutations of components generate which the user declares.

A permutation of the components is *kept* by a network if an automorphism of it takes
the components that way, and their local states and actions along.  What is declared has
to be kept by the network as it is, wherever that begins.  Components that are not named
stay if they can; else they move along, as the forks do when philosophers are rotated.
The group has what of it is
kept by the property as well: the declared permutations if all of them are, else those
of the permutations that they generate which are.  If these are many, only conjugates of
the declared ones are tried.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.reduction.automorphisms.factors import conjugates, grouped
from ltlpipe.reduction.automorphisms.graph import PHASE
from ltlpipe.reduction.automorphisms.members import enumerated
from ltlpipe.reduction.automorphisms.networks import drawn, space_of
from ltlpipe.reduction.symmetry.declaration import check_class, component_numbers
from ltlpipe.reduction.symmetry.notation import (
    cycles_of,
    is_permutation,
    names_of_class,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.packing import reachable_states

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ltlpipe.reduction.automorphisms.group import Group
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.lts import Network

MOST_ELEMENTS = 500
"""Permutations that are tried one by one, if the property does not keep all."""


def declared_permutations(network: Network, texts: Sequence[str]) -> Job[np.ndarray]:
    """Return what users have declared as permutations of components.

    Of a class they are exchanges of neighbours.

    Parameters
    ----------
    network : Network
        As it was read.
    texts : sequence of str
        In the notation of `ltlpipe.reduction.symmetry.notation`.

    Returns
    -------
    int32[n, n_components]
        Where each takes the components.

    Raises
    ------
    UnsupportedError
        A name is unknown or named twice, or the network does not keep a permutation.
    """
    permutations = [own for text in texts for own in _read(network, text)]
    everybody = np.arange(len(network.components), dtype=np.int32)
    nothing = np.zeros(len(network.actions), dtype=np.int64)
    graph, components = yield from drawn(network, nothing, keeps_initial=False)
    first = components[0]  # components are numbered through
    n_points = first + len(components)
    images = np.tile(everybody, (len(permutations), 1))
    for image, permutation in zip(images, permutations, strict=True):
        image[list(permutation)] = list(permutation.values())
    found = yield from graph.extensions(components, images, n_points)
    for k, permutation in enumerate(permutations):
        if found[k] is not None:
            continue
        named = list(permutation)
        places = np.array([[named.index(to) for to in permutation.values()]])
        vertices = [components[c] for c in named]
        (automorphism,) = yield from graph.extensions(vertices, places, n_points)
        if automorphism is None:
            why = yield from _difference(network, permutation)
            shown = _shown(network, permutation)
            raise UnsupportedError(f"{shown} is no symmetry of the network: {why}")
        images[k] = automorphism[first:] - first
    return images


def group_of_declared(
    network: Network, kinds: np.ndarray, images: np.ndarray
) -> Job[Group]:
    """Return the group of what a network and a property keep of some permutations.

    Parameters
    ----------
    network : Network
        As it is searched.
    kinds : int64[n_actions]
        What the property tells apart of its actions.
    images : int32[n, n_components]
        What `declared_permutations` has returned.
    """
    found = yield from _kept(network, kinds, images)
    if len(found) < len(images):
        ticks = Ticks(PHASE)
        tried = yield from enumerated(list(images), MOST_ELEMENTS, ticks)
        if tried is None:
            tried = yield from conjugates(list(images), MOST_ELEMENTS, ticks)
        found = yield from _kept(network, kinds, tried)
    space = space_of(network)
    generators = np.array(found, dtype=np.int32).reshape(-1, space.n_points)
    moving = (generators != np.arange(space.n_points)).any(axis=1)
    return (yield from grouped(space, generators[moving]))


def _kept(
    network: Network, kinds: np.ndarray, images: np.ndarray
) -> Job[list[np.ndarray]]:
    """Return an automorphism for each permutation that has one.

    It leaves the initial state alone if one with the permutation does.
    """
    n_points = space_of(network).n_points
    kept: list[np.ndarray] = []
    for keeps_initial in (True, False):
        graph, components = yield from drawn(
            network, kinds, keeps_initial=keeps_initial
        )
        found = yield from graph.extensions(components, images, n_points)
        kept += [own for own in found if own is not None]
        images = images[[own is None for own in found]]
        if not len(images):
            break
    return kept


def _read(network: Network, text: str) -> list[dict[int, int]]:
    """Return the permutations that a text declares: where named components go."""
    if not is_permutation(text):
        names = names_of_class(text)
        check_class(names)
        numbers = component_numbers(network, names)
        cycles = [[numbers[k : k + 2]] for k in range(len(numbers) - 1)]
    else:
        named = cycles_of(text)
        flat = iter(component_numbers(network, [n for own in named for n in own]))
        cycles = [[[next(flat) for _ in own] for own in named]]
    permutations = []
    for own in cycles:
        permutation = {
            here: there
            for cycle in own
            for here, there in zip(cycle, cycle[1:] + cycle[:1], strict=True)
        }
        if all(here == there for here, there in permutation.items()):
            raise UnsupportedError(f"the permutation {text} moves nothing")
        permutations.append(permutation)
    return permutations


def _shown(network: Network, permutation: Mapping[int, int]) -> str:
    """Return a permutation as its cycles."""
    left = [k for k, image in permutation.items() if image != k]
    text = ""
    while left:
        cycle = [left[0]]
        while permutation[cycle[-1]] != cycle[0]:
            cycle.append(permutation[cycle[-1]])
        left = [k for k in left if k not in cycle]
        text += f"({' '.join(network.components[k].name for k in cycle)})"
    return text


def _difference(network: Network, permutation: Mapping[int, int]) -> Job[str]:
    """Say what is known of why a network does not keep a permutation."""
    ticks = Ticks(PHASE)
    components = network.components
    for here, there in permutation.items():
        one, two = components[here], components[there]
        sizes = {
            "labels": (len(one.labels), len(two.labels)),
            "internal labels": (len(one.internal), len(two.internal)),
            "reachable states": (
                len((yield from reachable_states(one, ticks))),
                len((yield from reachable_states(two, ticks))),
            ),
            "transitions": (one.n_transitions, two.n_transitions),
        }
        for what, (own, others) in sizes.items():
            if own != others:
                return (
                    f"it takes {one.name!r}, which has {own} {what}, to {two.name!r}, "
                    f"which has {others}"
                )
    named = frozenset(permutation)
    together = Counter(frozenset(a.participants) & named for a in network.actions)
    for group, number in together.items():
        image = frozenset(permutation[k] for k in group)
        if together[image] != number:
            return (
                f"of those that it names, {number} labels are of "
                f"{_listed(network, group)} alone, and {together[image]} of "
                f"{_listed(network, image)}, where it takes them"
            )
    return "no renaming of labels and local states goes with it"


def _listed(network: Network, group: Iterable[int]) -> str:
    return " and ".join(repr(network.components[k].name) for k in sorted(group))
