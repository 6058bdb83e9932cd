"""Symmetric nets of the project's own: what symmetry saves, and how far each way goes.

Each family grows until a question takes longer than the limit (60 s), once for each way
and each of two formulas that hold: one about all colours, one that names one or two of
them.  A row has the size of the net before and after unfolding, states and times.

    python -m benchmarks.coloured --out results [--timeout 60] [--families dining ...]
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import record
from benchmarks.families.nets import coloured_dining, coloured_token_ring, shared_memory
from benchmarks.sizes import chosen, grown
from benchmarks.tasks import Limits, Options, Task, ours
from ltlpipe import UnsupportedError
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.sizes import Row
    from ltlpipe.systems.nets.coloured.net import ColouredNet


class Family(NamedTuple):
    """Nets of growing size, and formulas that hold in all of them."""

    make: Callable[[int], ColouredNet]
    sizes: tuple[int, ...]
    common: str  # names no colour
    named: str  # names some


def _clients(n: int) -> ColouredNet:
    return coloured_client_server(n, 2)


FAMILIES = {
    "dining": Family(
        coloured_dining,
        (4, 6, 8, 10, 12, 14, 16, 18, 20, 24),
        "G(eat + eat <= think + left + right + eat)",
        "G(eat.1 == 0 || eat.2 == 0)",
    ),
    "token-ring": Family(
        coloured_token_ring,
        (2, 3, 4, 5, 6, 7, 8, 9),
        "G(fireable(count) || fireable(follow))",
        "G(state.0.1 == 1 -> (state.0.1 == 1 W state.0.2 == 1))",
    ),
    "shared-memory": Family(
        shared_memory,
        (4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 40, 48),
        "G(bus + other == 1)",
        "G(other.1.2 == 0 || memory.2 == 0)",
    ),
    "client-server": Family(
        _clients,
        (4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 100, 150),
        "G(free + served == 2)",
        "G(served.1.1 == 0 || served.1.2 == 0)",
    ),
}

WAYS: dict[str, Options] = {
    "plain": {"reduce": "none"},
    "ample": {"reduce": "ample"},
    "automorphisms": {"reduce": "automorphisms"},
    "sets": {"reduce": "symmetry"},
}
SEARCH = {"emptiness": "couvreur99"}
"""The same search for all ways but `sets`, which has its own."""


def made(family: str, n: int) -> SymmetricNet:
    """Return the net of a row."""
    return SymmetricNet(FAMILIES[family].make(n))


def described(family: str, n: int) -> dict[str, int]:
    """Return the size of a net before and after unfolding."""
    net = complete(made(family, n).unfolding())
    return {
        "places": len(net.coloured.places),
        "transitions_of_net": len(net.coloured.transitions),
        "unfolded_places": len(net.places),
        "unfolded_transitions": len(net.transitions),
    }


def options_of(way: str) -> Options:
    """Return the options of a way."""
    return WAYS[way] if way == "sets" else WAYS[way] | SEARCH


def measured(family: str, which: str, way: str, limits: Limits) -> Iterator[Row]:
    """Yield rows for growing sizes, the last one being the first without an answer."""
    about = FAMILIES[family]
    formula = getattr(about, which)
    known: Row = {"formula": formula, "names_colours": which == "named", "way": way}
    make = partial(made, family)
    for row in grown(make, about.sizes, formula, options_of(way), limits):
        yield {"family": family, **known, **described(family, row["n"]), **row}


def main() -> None:
    """Measure, and write ``coloured.csv``."""
    asked = chosen(__doc__, FAMILIES, WAYS)
    limits = Limits(asked.timeout, asked.memory)
    path = asked.out / "coloured.csv"
    path.unlink(missing_ok=True)
    for family in asked.families:
        for way in asked.ways:  # compiled here, not in the workers
            about = FAMILIES[family]
            make = partial(made, family, about.sizes[0])
            with suppress(UnsupportedError):  # the rows say so
                ours(Task(make, about.common, options_of(way), limits))
            for which in ("common", "named"):
                for row in measured(family, which, way, limits):
                    record.append(path, row)
                    shown = ("family", "n", "names_colours", "way", "verdict", "states")
                    print(*(row[k] for k in shown), row["seconds"], flush=True)


if __name__ == "__main__":
    main()
