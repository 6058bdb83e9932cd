"""The emptiness checks by name; each is loaded only when it is used."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.search.emptiness import Search

_PLACES = {
    "cvwy92": ("nested.ndfs", "CVWY92"),
    "hpy96": ("nested.ndfs", "HPY96"),
    "gmz04": ("nested.ndfs", "GMZ04"),
    "se05": ("nested.ndfs", "SE05"),
    "tarjan72": ("scc.tarjan72", "Tarjan72"),
    "gv04": ("scc.tarjan72", "GV04"),
    "couvreur99": ("scc.couvreur99", "Couvreur99"),
    "couvreur99-fig5": ("scc.couvreur99", "Couvreur99Fig5"),
    "dfs-weak": ("nested.ndfs", "DFSWeak"),
    "reach-terminal": ("nested.ndfs", "ReachTerminal"),
    "tauriainen03": ("nested.tauriainen03", "Tauriainen03"),
    "rabin": ("scc.rabin", "Rabin"),
    "rabin-parallel": ("scc.rabin", "RabinParallel"),
    "tela": ("scc.tela", "Tela"),
    "ufscc": ("shared.ufscc", "UFSCC"),
    "cndfs": ("shared.cndfs", "CNDFS"),
}


DECOUPLED_SCC, DECOUPLED_NDFS = "decoupled-scc", "decoupled-ndfs"
DECOUPLED = (DECOUPLED_SCC, DECOUPLED_NDFS)
"""Emptiness checks that search decoupled states: `ltlpipe.strategies.decoupled`."""


AEC_CLOSED = "aec-closed"
TEC = "tec"
POWERSET = (TEC, "nsiec", "iec", "aec", AEC_CLOSED)
"""Emptiness checks of automata over sets: `ltlpipe.strategies.symmetry`."""
OF_SETS = (*DECOUPLED, *POWERSET)
"""Emptiness checks that do not look at one state at a time."""


def _load(module: str, name: str) -> Any:
    return getattr(import_module(f"ltlpipe.search.{module}"), name)


SEARCHES: dict[str, Callable[[], type[Search]]] = {
    name: partial(_load, *place) for name, place in _PLACES.items()
}
"""From the name of an emptiness check to a function that loads it."""

OF_WORKERS: dict[str, Callable[[], type[Search]]] = {
    "rabin": partial(_load, "shared.rounds", "SharedRabin"),
    "rabin-parallel": SEARCHES["rabin-parallel"],
    "tela": partial(_load, "shared.rounds", "SharedTela"),
}
"""The same for several workers, of those whose states are rows if there is one."""

SHARED = frozenset({*OF_WORKERS, "ufscc", "cndfs"})
"""Emptiness checks that several workers can share."""


def takes_any_marks(name: str) -> bool:
    """Whether a search takes generalised acceptance, on transitions."""
    return name in OF_SETS or SEARCHES[name]().generalised
