"""Components as arrays and JSON, for files that the processes of a run share.

Many components of one network go together: their labels are numbers into one list, and
their transitions stand one after the other.

What has been found out about a network has a `SharedPlace` in the run's folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ltlpipe.runtime.folders import shared_folder
from ltlpipe.systems.networks.lts import LTS, digest_if_small

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.runtime.folders import Entry
    from ltlpipe.systems.networks.lts import Network

Archive = tuple[dict[str, Any], "dict[str, np.ndarray]"]
"""What JSON can say, and arrays."""

Restored = TypeVar("Restored")

_COLUMNS = ("src", "label", "dst")


def archived(components: Sequence[LTS]) -> Archive:
    """Return components for a file; names of states are lost."""
    number: dict[str, int] = {}
    rows = []
    for lts in components:
        labels = [number.setdefault(name, len(number)) for name in lts.labels]
        accepting = None
        if lts.accepting is not None:
            accepting = np.flatnonzero(lts.accepting).tolist()
        internal = [k for k, name in enumerate(lts.labels) if name in lts.internal]
        rows.append(
            [lts.n_states, lts.initial, lts.n_transitions, labels, internal, accepting]
        )
    arrays = {
        column: np.concatenate(
            [np.zeros(0, np.int32), *(getattr(lts, column) for lts in components)]
        ).astype(np.int32)
        for column in _COLUMNS
    }
    names = [lts.name for lts in components]
    return {"names": names, "labels": list(number), "components": rows}, arrays


def restored(entry: Entry) -> list[LTS]:
    """Return the components that `archived` was given.

    Raises
    ------
    ValueError, KeyError, TypeError, IndexError
        It does not fit together.
    """
    about, arrays = entry
    found = []
    begin = 0
    for name, row in zip(about["names"], about["components"], strict=True):
        n_states, initial, n_transitions, labels, internal, accepting = row
        end = begin + n_transitions
        src, label, dst = (arrays[column][begin:end] for column in _COLUMNS)
        if len(dst) != n_transitions or {src.dtype, dst.dtype} != {np.dtype(np.int32)}:
            raise ValueError("fewer transitions than announced")
        own = tuple(about["labels"][k] for k in labels)
        flags = None
        if accepting is not None:
            flags = np.zeros(n_states, dtype=np.bool_)
            flags[accepting] = True
        found.append(
            LTS(
                n_states=n_states,
                initial=initial,
                labels=own,
                src=src,
                label=label,
                dst=dst,
                internal=frozenset(own[k] for k in internal),
                accepting=flags,
                name=name,
            )
        )
        begin = end
    return found


def shared_digest(network: Network) -> str | None:
    """Return what stands for a network among processes; None if nothing is shared."""
    return None if shared_folder() is None else digest_if_small(network)


class SharedPlace:
    """What the processes of a run share of one kind; nothing without a digest."""

    def __init__(self, digest: str | None, kind: str, *about: Any) -> None:
        self._folder = shared_folder() if digest else None
        self._place = [kind, digest, *about]

    def get(self, key: Any, restore: Callable[[Entry], Restored]) -> Restored | None:
        """Return what another process has found; what makes no sense is removed."""
        entry = None if self._folder is None else self._folder.get(self._place, key)
        if entry is None or self._folder is None:
            return None
        try:
            return restore(entry)
        except (ValueError, KeyError, TypeError, IndexError):
            self._folder.forget(self._place, key)
            return None

    def put(self, key: Any, archive: Archive) -> None:
        """Let other processes know."""
        if self._folder is not None:
            self._folder.put(self._place, key, *archive)

    def known_keys(self) -> list[Any]:
        """Return the keys of what there is."""
        return [] if self._folder is None else self._folder.keys(self._place)
