"""Populations of agents: what symmetry saves where no other reduction does.

Each family grows until a question takes longer than the limit, once for each way.

    python -m benchmarks.populations --out results [--timeout 60]
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import record
from benchmarks.sizes import chosen, grown
from benchmarks.tasks import Limits, Options, Task, ours
from ltlpipe import UnsupportedError
from ltlpipe.families.networks import majority, remainder, species

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe import Network


class Family(NamedTuple):
    """Networks of growing size, and a formula that holds in all of them."""

    make: Callable[[int], Network]
    sizes: tuple[int, ...]
    formula: str


FAMILIES = {
    "majority": Family(majority, tuple(range(6, 31, 3)), "G !tie"),
    "remainder": Family(remainder, tuple(range(7, 29, 3)), "G !zero"),
    "species": Family(species, tuple(range(6, 31, 3)), "G !revived"),
}

WAYS: dict[str, Options] = {
    "plain": {"reduce": "none"},
    "ample": {"reduce": "ample"},
    "components": {"reduce": "components"},
    "factoring": {"reduce": "factoring,ample"},
    "decoupled": {"reduce": "decoupled"},
    "automorphisms": {"reduce": "automorphisms"},
    "auto": {},
}


def main() -> None:
    """Measure, and write ``populations.csv``."""
    asked = chosen(__doc__, FAMILIES, WAYS)
    limits = Limits(asked.timeout, asked.memory)
    path = asked.out / "populations.csv"
    path.unlink(missing_ok=True)
    for family in asked.families:
        about = FAMILIES[family]
        for way in asked.ways:
            with suppress(UnsupportedError):  # compiled here, not in the workers
                ours(Task(partial(about.make, 4), about.formula, WAYS[way], limits))
            rows = grown(about.make, about.sizes, about.formula, WAYS[way], limits)
            for row in rows:
                known = {"family": family, "formula": about.formula, "way": way}
                record.append(path, known | row)
                print(family, way, row["n"], row["verdict"], row["states"], flush=True)


if __name__ == "__main__":
    main()
