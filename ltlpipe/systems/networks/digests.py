"""Digests of networks: names of components do not count."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ltlpipe.systems.networks.lts import LTS, Network

MOST_ENTRIES = 1 << 18
"""Transitions and labels of a network whose digest is computed on the way."""


def network_digest(network: Network) -> str:
    """Return a digest of the contents of a network."""
    digest = hashlib.sha256()
    for lts in network.components:
        digest.update(_component(lts))
    return f"network:{digest.hexdigest()}"


def _component(lts: LTS) -> bytes:
    accepting = None
    if lts.accepting is not None:
        accepting = np.flatnonzero(lts.accepting).tolist()
    header = json.dumps(
        [lts.n_states, lts.initial, lts.labels, sorted(lts.internal), accepting]
    )
    table = np.array([lts.src, lts.label, lts.dst], dtype=np.int64)
    return hashlib.sha256(header.encode() + b"\0" + table.tobytes()).digest()


def digest_if_small(network: Network) -> str | None:
    """Return `network_digest` where that takes milliseconds, else None."""
    n = sum(c.n_transitions + len(c.labels) for c in network.components)
    return network_digest(network) if n <= MOST_ENTRIES else None
