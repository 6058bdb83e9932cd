"""Whether `compare` is fair: one search under two names has to take the same time.

The two names are two time limits that are never reached.  The question is asked again
and again, and every other turn goes backwards.  A row is one run of ``ltlpipe compare``
in a process of its own: with either name first, and with no kernels on disk (``cold``)
or those of the run before (``warm``).

The interval is that of the sign test for the median of the ratios, turn by turn: its
level is at least 95 %, whatever the distribution of the times, if turns are
independent.  With fewer than six turns there is none.

    python -m benchmarks.fair_comparison
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from math import comb
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import record
from benchmarks.limit_cases import SAFETY
from ltlpipe import results, save
from ltlpipe.families.networks import philosophers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMES = ("100001", "100002")
"""Time limits, in seconds."""

DOUBT = 0.05


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the interval of the sign test for the median; None for few values.

    Examples
    --------
    >>> interval(range(11))
    (1, 9)
    >>> interval(range(5))
    """
    ordered, n = sorted(values), len(values)
    beyond = 0.0  # probability that at most `rank` values are below the median
    for rank in range(n):
        beyond += comb(n, rank) / 2**n
        if 2 * beyond > DOUBT:
            return (ordered[rank - 1], ordered[n - rank]) if rank else None
    return None


def compared(
    system: Path, emptiness: str, names: Sequence[str], turns: int, kernels: Path
) -> Any:
    """Return the table of a comparison: turn by turn, a row for each name."""
    table = system.with_name("compared.parquet")
    flags = ["--grid", f"timeout={','.join(names)}", "--out", str(table), "--quiet"]
    subprocess.run(
        [
            *(sys.executable, "-m", "ltlpipe", "compare", str(system)),
            *("--emptiness", emptiness, *flags),
            *(word for _ in range(turns) for word in ("-f", SAFETY)),
        ],
        env=os.environ | {"NUMBA_CACHE_DIR": str(kernels)},
        check=True,
    )
    return results(table)


def measured(
    system: Path, emptiness: str, turns: int, kernels: Path
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a search, each with the ratio of the second name to the first.

    The folder of kernels is empty at first.
    """
    for names in (NAMES, NAMES[::-1]):
        for state in ("cold", "warm"):
            place = kernels / "-".join((emptiness, *names))
            place.mkdir(mode=0o700, exist_ok=True)
            frame = compared(system, emptiness, names, turns, place)
            by_place = (frame["search_seconds"].iloc[k::2].tolist() for k in (0, 1))
            by_name = dict(zip(names, by_place, strict=True))
            one, two = (by_name[name] for name in NAMES)
            ratios = [b / a for a, b in zip(one, two, strict=True)]
            low, high = interval(ratios) or (None, None)
            yield {
                "system": system.stem,
                "emptiness": emptiness,
                "first": names[0],
                "kernels": state,
                "turns": turns,
                "states": int(frame["states"].iloc[0]),
                f"seconds_{NAMES[0]}": round(median(one), 4),
                f"seconds_{NAMES[1]}": round(median(two), 4),
                "ratio": round(median(ratios), 4),
                "ratio_low": None if low is None else round(low, 4),
                "ratio_high": None if high is None else round(high, 4),
                "is_fair": None if low is None else low <= 1 <= high,
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--philosophers", type=int, default=10)
    parser.add_argument("--emptiness", nargs="+", default=["se05", "couvreur99"])
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        system = Path(folder) / f"philosophers-{options.philosophers}.hoa"
        save(philosophers(options.philosophers), system)
        for emptiness in options.emptiness:
            for row in measured(system, emptiness, options.turns, Path(folder)):
                print(row, flush=True)
                rows.append(row)
    record.write(options.out / "fair_comparison.csv", rows)


if __name__ == "__main__":
    main()
