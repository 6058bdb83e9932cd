"""Factored networks in the folder that the processes of a run share.

Components that are not products are left out: the reader has them already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.components.archive import archived, restored
from ltlpipe.components.factoring.factored_network import Factored, Origin
from ltlpipe.runtime.shared_folder import shared_folder
from ltlpipe.systems.networks.lts import Network, digest_if_small

if TYPE_CHECKING:
    from ltlpipe.runtime.shared_folder import Entry, SharedFolder
    from ltlpipe.systems.networks.lts import LTS

_NUMBERS = "number_of"  # the arrays of all origins, one behind the other


class FactoredFile:
    """The place of one network's factors in the run's folder, if there is one."""

    def __init__(self, network: Network, *, together: bool) -> None:
        self._network = network
        self._key = together
        self._folder: SharedFolder | None = shared_folder()
        digest = None if self._folder is None else digest_if_small(network)
        if digest is None:
            self._folder = None
        self._place = ["factored", digest]

    def get(self) -> Factored | None:
        """Return what another process has found; None if there is nothing."""
        if self._folder is None:
            return None
        entry = self._folder.get(self._place, self._key)
        if entry is None:
            return None
        try:
            return _restored(entry, self._network)
        except (ValueError, KeyError, TypeError, IndexError):
            self._folder.forget(self._place, self._key)
            return None

    def put(self, found: Factored) -> None:
        """Let other processes know."""
        if self._folder is not None:
            self._folder.put(self._place, self._key, *_archived(found))


def _archived(found: Factored) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    split = [origin for origin in found.origins if origin.number_of is not None]
    factors = []
    if found.network is not None:
        parts = found.network.components
        factors = [parts[place] for origin in split for place in origin.places]
    about, arrays = archived(factors)
    about["left"] = [list(left) for left in found.left]
    about["origins"] = [
        [list(o.places), list(map(int, o.weights)), _length(o)] for o in found.origins
    ]
    numbers = [np.zeros(0, np.int64), *(o.number_of for o in split)]
    arrays[_NUMBERS] = np.concatenate([n for n in numbers if n is not None])
    return about, arrays


def _length(origin: Origin) -> int | None:
    return None if origin.number_of is None else len(origin.number_of)


def _restored(entry: Entry, network: Network) -> Factored:
    factors = iter(restored(entry))
    numbers = entry.arrays[_NUMBERS]
    components: list[LTS] = []
    origins: list[Origin] = []
    begin = 0
    rows = entry.about["origins"]
    for component, (places, weights, length) in zip(
        network.components, rows, strict=True
    ):
        if places != list(range(len(components), len(components) + len(places))):
            raise ValueError("factors that are not in their places")
        if length is None:
            components.append(component)
            origins.append(Origin(tuple(places), tuple(weights), None))
            continue
        number_of = numbers[begin : begin + length]
        if length != component.n_states or len(number_of) != length:
            raise ValueError("another component")
        begin += length
        components += [next(factors) for _ in places]
        origins.append(Origin(tuple(places), tuple(weights), number_of))
    has_split = any(origin.number_of is not None for origin in origins)
    left = tuple((int(k), str(why)) for k, why in entry.about["left"])
    smaller = Network(components, network.name) if has_split else None
    return Factored(smaller, tuple(origins), left)
