"""A symmetry that the user names, verified."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.symmetry.classes.assembly import Assembly
from ltlpipe.symmetry.classes.class_action import (
    ClassAction,
    RefusedError,
    class_action,
)
from ltlpipe.symmetry.classes.colour_refinement import Effort, refined
from ltlpipe.symmetry.classes.exchange import exchange
from ltlpipe.symmetry.classes.structure import (
    MOST_NODES,
    Parts,
    Structure,
    parts_of,
    structure_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.systems.networks.lts import Network

_NEAREST = 3  # names that a message offers


def declared_symmetry(
    network: Network, names: Sequence[Sequence[str]]
) -> Job[Symmetry]:
    """Verify that the named components can be exchanged, and say how.

    `names` has the classes: names of components, one of each member.  Members are in
    the order of the names, classes by their lowest component.  `UnsupportedError` says
    why not: a name is unknown, or of several components, or named twice; a class has
    fewer than two names; or components cannot be exchanged.
    """
    classes = _components(network, names)
    parts = yield from parts_of(network)
    n_nodes = len(network.components) + len(network.actions) + parts.n_states
    if n_nodes >= MOST_NODES:
        raise UnsupportedError(
            f"symmetry of a network with {n_nodes} local states and actions"
        )
    try:
        return (yield from _declared(parts, classes, keeps_start=True))
    except RefusedError:
        pass  # unless members begin in different states
    try:
        return (yield from _declared(parts, classes, keeps_start=False))
    except RefusedError as refused:
        raise UnsupportedError(str(refused)) from None


def _declared(
    parts: Parts, classes: list[list[int]], *, keeps_start: bool
) -> Job[Symmetry]:
    """Return the symmetry with some classes; `RefusedError` if there is none."""
    components = parts.network.components
    structure = yield from structure_of(parts, keeps_start=keeps_start)
    effort = Effort(None)
    stable = yield from refined(structure, structure.colours[None], effort)
    assert stable is not None  # one colouring is like itself
    assembly = Assembly(structure, parts)
    for firsts in classes:
        try:
            action = yield from _verified(structure, parts, stable[0], firsts, effort)
            yield from assembly.add(action)
        except RefusedError as refused:
            listed = ", ".join(components[c].name for c in firsts)
            raise RefusedError(f"{listed} are not symmetric: {refused}") from None
    return (yield from assembly.symmetry())


def _components(network: Network, names: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return the numbers of the named components, class by class."""
    if not names:
        raise UnsupportedError("no components are named that are symmetric")
    for class_ in names:
        check_class(class_)
    numbers = iter(component_numbers(network, [n for own in names for n in own]))
    return [[next(numbers) for _ in class_] for class_ in names]


def check_class(names: Sequence[str]) -> None:
    """Raise UnsupportedError if a class has fewer than two names."""
    if len(names) < 2:
        hint = ""
        if names and names[0].startswith("("):
            hint = "; a permutation is written in cycles, as '(P1 P2 P3)(Q1 Q2)'"
        raise UnsupportedError(
            "a class of symmetric components has two at least, not "
            + (repr(names[0]) if names else "none")
            + hint
        )


def component_numbers(network: Network, names: Sequence[str]) -> list[int]:
    """Return the numbers of the components with some names, each named once.

    `UnsupportedError` says which name is unknown, of several components, or there
    twice.
    """
    numbers = {c.name: k for k, c in enumerate(network.components)}
    count = Counter(c.name for c in network.components)
    seen: set[str] = set()
    for name in names:
        if not name or name not in numbers:
            raise UnsupportedError(_unknown(name, [n for n in numbers if n]))
        if count[name] > 1:
            raise UnsupportedError(f"{count[name]} components are called {name!r}")
        if name in seen:
            raise UnsupportedError(f"component {name!r} is named twice")
        seen.add(name)
    return [numbers[name] for name in names]


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, _NEAREST, 0.5)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"no component is called {name!r}{hint}"


def _verified(
    structure: Structure,
    parts: Parts,
    stable: np.ndarray,
    firsts: list[int],
    effort: Effort,
) -> Job[ClassAction]:
    exchanges = []
    for other in firsts[1:]:
        swap = None
        if stable[firsts[0]] == stable[other]:
            swap = yield from exchange(structure, stable, firsts[0], other, effort)
        if swap is None:
            raise RefusedError(_difference(parts, firsts[0], other))
        exchanges.append(swap)
    return (yield from class_action(structure, parts, firsts, exchanges))


def _difference(parts: Parts, first: int, second: int) -> str:
    """Say what is known of why two components cannot be exchanged."""
    one, two = (parts.network.components[c] for c in (first, second))
    components = parts.owner[parts.use]
    sizes = {
        "labels": (len(one.labels), len(two.labels)),
        "internal labels": (len(one.internal), len(two.internal)),
        "reachable states": (len(parts.reached[first]), len(parts.reached[second])),
        "transitions from reachable states": (
            int((components == first).sum()),
            int((components == second).sum()),
        ),
    }
    pair = f"{one.name!r} and {two.name!r} cannot be exchanged"
    for what, (here, there) in sizes.items():
        if here != there:
            return f"{pair}: {one.name!r} has {here} {what}, {two.name!r} has {there}"
    return (
        f"{pair}: no renaming of labels and local states was found that exchanges them "
        "and leaves the others alone"
    )
