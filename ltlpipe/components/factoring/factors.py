"""Components that are products become their factors, in a whole network.

A component that is strongly bisimilar to a composition of smaller ones over disjoint
sets of labels, accepting states respected, is replaced by these: by the most that there
are (`finest_split`).  Each keeps the labels of its part in its alphabet, those that are
never enabled included, and internal labels stay internal.  So the actions of the
network, and who blocks whom, stay the same; words, deadlocks and acceptance do, since
bisimilarity is kept by composition.  Definitions and proofs: docs/factoring.md.

Components that are too large or too dense, for what their factors would save, are left
as they are.  What has been found out about a network is kept beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.archive import SharedPlace, archived, restored, shared_digest
from ltlpipe.components.factoring.finest_split import (
    Split,
    effort,
    finest_split,
    local_steps,
    numbers_of,
    weights,
)
from ltlpipe.components.factoring.minimal_form import MinimalForm, minimal_form
from ltlpipe.components.progress import ENTRY_WORK, factoring
from ltlpipe.runtime.objects import Beside
from ltlpipe.systems.networks.lts import LTS, Network

if TYPE_CHECKING:
    from ltlpipe.components.archive import Archive
    from ltlpipe.runtime.folders import Entry
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

_SHOWN = 3
_NUMBERS = "number_of"  # the array of an archive: those of all origins, one by one


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


_shelves: Beside[dict[bool, Factored]] = Beside(dict)


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
        Whether what was found is kept beside the network, and for the other processes
        of a run.

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
    shelf = _shelves.of(network)
    if together not in shelf:
        file = SharedPlace(shared_digest(network), "factored")
        found = file.get(together, lambda entry: restored_factors(entry, network))
        if found is None:
            found = yield from _factored(network, together=together)
            file.put(together, archived_factors(found))
        shelf.setdefault(together, found)  # another job may have been faster
    return shelf[together]


def _factored(network: Network, *, together: bool) -> Job[Factored]:
    components = network.components
    splitter = _Splitter(together=together)
    found: dict[int, _Found] = {}
    left: list[tuple[int, str]] = []
    for number in sorted(
        range(len(components)), key=lambda k: components[k].n_transitions
    ):
        try:
            known = yield from splitter.split(components[number])
        except _LeftError as error:
            left.append((number, error.reason))
            continue
        if known is not None:
            found[number] = known
    return (yield from _assembled(network, found, sorted(left)))


class _LeftError(Exception):
    """A component is not looked at, for a reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class _Splitter:
    """Splits one component after the other, as long as `MOST_EFFORT` lasts."""

    def __init__(self, *, together: bool) -> None:
        self._together = together
        self._alike: dict[tuple[object, ...], _Found | None] = {}
        self._left = MOST_EFFORT

    def split(self, component: LTS) -> Job[_Found | None]:
        """Find the split of a component; None if there is none.

        Raises
        ------
        _LeftError
            It is not looked at.
        """
        if component.n_states < _LEAST_STATES:
            return None
        _refuse_large(component)
        key = _shape(component)
        if key in self._alike:
            return self._alike[key]
        found = yield from self._split(component)
        if component.n_transitions <= _REMEMBERED:
            self._alike[key] = found
        return found

    def _split(self, component: LTS) -> Job[_Found | None]:
        needed = component.n_transitions + _FIXED_EFFORT
        if needed > self._left:
            raise _LeftError("too large beside the others")
        self._left -= needed
        yield factoring(_FIXED_WORK)
        form = yield from minimal_form(component)
        if not _may_split(form):
            return None
        paths = effort(form)
        if paths.sum() > self._left or paths.max() > MOST_AT_A_STATE:
            raise _LeftError("too dense")
        self._left -= int(paths.sum())
        split = yield from finest_split(form, together=self._together)
        return None if split is None else _Found(form, split)


def _refuse_large(component: LTS) -> None:
    """Raise `_LeftError` for a component whose size tells that it is too large."""
    sizes = {
        "states": (component.n_states, MOST_STATES),
        "transitions": (component.n_transitions, MOST_TRANSITIONS),
        "labels": (len(component.labels), MOST_LABELS),
    }
    for what, (count, most) in sizes.items():
        if count > most:
            raise _LeftError(f"{count:,} {what}")


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
    for k, (group, size) in enumerate(zip(split.groups, split.sizes, strict=True)):
        labels = tuple(component.labels[label] for label in group.tolist())
        src, label, dst = local_steps(form, split, k).T.astype(np.int32)
        local = LTS(
            n_states=size,
            initial=int(split.coordinates[k][0]),
            labels=labels,
            src=src,
            label=np.searchsorted(group, label).astype(np.int32),
            dst=dst,
            internal=component.internal.intersection(labels),
            name=f"{name}.{k + 1}",
        )
        factors.append(local)
    return _with_acceptance(form, split, factors)


def _with_acceptance(form: MinimalForm, split: Split, factors: list[LTS]) -> list[LTS]:
    """Return factors of which those accept that have states which do not.

    If there are none, the first accepts everywhere; if nothing accepts, it nowhere
    does: one has acceptance, as the component has.
    """
    if form.accepting is None:
        return factors
    flags = []
    for own, size in zip(split.coordinates, split.sizes, strict=True):
        local = np.zeros(size, dtype=np.bool_)
        local[own[form.accepting]] = True
        flags.append(local)
    some = form.accepting.any()
    chosen = [k for k, local in enumerate(flags) if some and not local.all()] or [0]
    return [
        replace(factor, accepting=flags[k]) if k in chosen else factor
        for k, factor in enumerate(factors)
    ]


def archived_factors(found: Factored) -> Archive:
    """Return a factored network for a file, without components that are no products."""
    split = [origin for origin in found.origins if origin.number_of is not None]
    factors = []
    if found.network is not None:
        parts = found.network.components
        factors = [parts[place] for origin in split for place in origin.places]
    about, arrays = archived(factors)
    about["left"] = [list(left) for left in found.left]
    about["origins"] = [
        [
            list(o.places),
            list(map(int, o.weights)),
            None if o.number_of is None else len(o.number_of),
        ]
        for o in found.origins
    ]
    numbers = [np.zeros(0, np.int64), *(o.number_of for o in split)]
    arrays[_NUMBERS] = np.concatenate([n for n in numbers if n is not None])
    return about, arrays


def restored_factors(entry: Entry, network: Network) -> Factored:
    """Return what has become of a network; errors are those of `restored`."""
    factors = iter(restored(entry))
    numbers = entry.arrays[_NUMBERS]
    components: list[LTS] = []
    origins: list[Origin] = []
    begin = 0
    rows = entry.about["origins"]
    for component, (places, own_weights, length) in zip(
        network.components, rows, strict=True
    ):
        if places != list(range(len(components), len(components) + len(places))):
            raise ValueError("factors that are not in their places")
        if length is None:
            components.append(component)
            origins.append(Origin(tuple(places), tuple(own_weights), None))
            continue
        number_of = numbers[begin : begin + length]
        if length != component.n_states or len(number_of) != length:
            raise ValueError("another component")
        begin += length
        components += [next(factors) for _ in places]
        origins.append(Origin(tuple(places), tuple(own_weights), number_of))
    has_split = any(origin.number_of is not None for origin in origins)
    left = tuple((int(k), str(why)) for k, why in entry.about["left"])
    smaller = Network(components, network.name) if has_split else None
    return Factored(smaller, tuple(origins), left)
