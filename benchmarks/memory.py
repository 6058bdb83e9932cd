"""Bytes per state, in all and by part, of each way of keeping states.

The questions of `benchmarks.bitstate`, whose products have no accepting run, are
answered by exact searches, with stacks that are swept before they grow
(`ltlpipe.search.stacks`) and with stacks that are not (``unswept``), over
fingerprints (``compact``) and over 16 bits per state (``bitstate``).  The first run of
each, which may compile, does not count; of the others medians are written.

``rows``, ``table``
    the rows of stored states, and the hash table that finds them
``colours``
    what else is kept per state: colours, numbers, bits, fingerprints
``stack``
    stacks, and the table of the path where states are not stored
``other``
    tables of system and property, buffers, samples

All are bytes per state that was visited, with the room that arrays have to grow.  Spin,
where it is installed and the network can be written as Promela, searches the same
product without reduction: as it is, with ``-DCOLLAPSE``, ``-DHC4`` and ``-DBITSTATE``;
its bytes per state are all in, its stack as deep as it was.  The table grows subject by
subject, and those that it has are not searched again.

``rate`` is the speed relative to the same search unswept, by the least CPU time that
one of the runs took, the system's packing included (aim: at least 0.9).

    python -m benchmarks.memory [--repeats 3] [--only beem] [--no-spin]
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from benchmarks import record
from benchmarks.bitstate import Subject, searched, subjects
from benchmarks.families.leader_election import leader_election
from benchmarks.spin import SpinError, available, run_spin
from ltlpipe import LtlpipeError, Network
from ltlpipe.search.exploring import DeadlockSearch
from ltlpipe.search.growth import total_bytes
from ltlpipe.search.nested.bitstate import ApproximateSE05
from ltlpipe.search.nested.ndfs import SE05
from ltlpipe.search.registers import Reg
from ltlpipe.search.scc.couvreur99 import Couvreur99
from ltlpipe.strategies import state_search

if TYPE_CHECKING:
    from collections.abc import Iterator

EXACT = ("se05", "couvreur99")
UNSWEPT = "unswept"
BITS = 16
SPIN = {
    "spin": None,
    "spin collapse": "COLLAPSE",
    "spin hc4": "HC4",
    "spin bitstate": "BITSTATE",
}
"""How Spin keeps states, by the name of the row."""

SPIN_SECONDS = 120.0

COLUMNS = (
    "kind",
    "subject",
    "words",
    "search",
    "states",
    "max_depth",
    "bytes_per_state",
    "rows",
    "table",
    "colours",
    "stack",
    "other",
    "states_per_second",
    "rate",
)
"""Columns of the table."""

FEWEST = 10_000
"""States of products whose bytes per state say something."""

Row = dict[str, Any]


def parts_of(search: Any) -> dict[str, int]:
    """Return the bytes of each part of a search."""
    arrays, store = search.arrays, search.store
    if isinstance(search, ApproximateSE05):
        states = total_bytes((arrays.bits, arrays.prints))
        stack = total_bytes((arrays.slots, arrays.steps))
    else:
        columns = search._columns
        of_states = tuple(getattr(arrays, name) for name in columns[Reg.STORED])
        states = total_bytes(of_states)
        stack = total_bytes(arrays) - states
    rows, table = store.rows.nbytes, store.slots.nbytes
    rest = search.memory_bytes - states - stack - rows - table
    return {
        "rows": rows,
        "table": table,
        "colours": states,
        "stack": stack,
        "other": rest,
    }


def run(subject: Subject, *, unswept: bool, **options: Any) -> tuple[Any, Any]:
    """Search once; return the search itself and its figures."""
    seen: list[Any] = []
    note = state_search.note_search

    def noting(trace: Any, search: Any) -> None:
        if not isinstance(search, DeadlockSearch):  # which may follow
            seen[:] = [search]
        note(trace, search)

    none = mock.Mock(return_value=())
    sweeps = none if unswept else SE05._sweep
    roots = none if unswept else Couvreur99._sweep
    with (
        mock.patch.object(state_search, "note_search", noting),
        mock.patch.object(SE05, "_sweep", sweeps),
        mock.patch.object(Couvreur99, "_sweep", roots),
    ):
        found = searched(subject, **options)
    return seen[0], found


def ways(states: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield names of ways of keeping states, and their options."""
    for name in EXACT:
        yield f"{name} {UNSWEPT}", {"emptiness": name, "unswept": True}
        yield name, {"emptiness": name, "unswept": False}
    for bits in (64, 32):
        yield f"compact {bits}", {"compact": bits, "unswept": False}
    array = BITS * states / (8 << 20)
    yield "bitstate", {"bitstate": array, "unswept": False}


def rows_of(subject: Subject, repeats: int) -> Iterator[Row]:
    """Yield a row for each way; none if there is a violation."""
    exact, found = run(subject, unswept=False, emptiness="se05")
    if found.verdict != "holds" or found.stats.states < FEWEST:
        return
    n_words = exact.store.rows.shape[1]
    chosen = list(ways(found.stats.states))
    measured: dict[str, list[Any]] = {name: [] for name, _ in chosen}
    for _ in range(1 + repeats):
        for name, options in chosen:
            begun = time.process_time()
            search, found = run(subject, **options)
            spent = time.process_time() - begun
            measured[name].append((parts_of(search), found.stats, spent))
    least: dict[str, float] = {}
    for name, _ in chosen:
        counted = measured[name][1:]
        parts, stats, _ = counted[-1]
        seconds = statistics.median(stats.search_seconds for _, stats, _ in counted)
        least[name] = min(spent for *_, spent in counted)
        per_state = {part: round(n / stats.states, 2) for part, n in parts.items()}
        usual = least.get(f"{name} {UNSWEPT}")
        yield {
            "kind": subject.kind,
            "subject": subject.name,
            "words": n_words,
            "search": name,
            "states": stats.states,
            "max_depth": stats.max_depth,
            "bytes_per_state": round(sum(parts.values()) / stats.states, 2),
            **per_state,
            "states_per_second": round(stats.states / seconds),
            "rate": "" if usual is None else round(usual / least[name], 2),
        }


def rows_of_spin(subject: Subject, states: int) -> Iterator[Row]:
    """Yield a row for each way in which Spin keeps states; none if it cannot."""
    network = subject.make()
    if not isinstance(network, Network):
        return
    for name, storage in SPIN.items():
        bits = BITS * states if storage == "BITSTATE" else 2 * states
        with tempfile.TemporaryDirectory() as folder:
            found = run_spin(
                network,
                reduce=False,
                workdir=Path(folder),
                depth=3 * states,
                timeout=SPIN_SECONDS,
                compile_timeout=SPIN_SECONDS / 4,
                hash_bits=bits.bit_length(),
                formula=subject.formula,
                storage=storage,
            )
        if found["verdict"] != "holds":
            return
        seen, mib = int(str(found["states"])), float(str(found["memory_mib"]))
        seconds = float(str(found["pan_seconds"]))
        yield dict.fromkeys(COLUMNS, "") | {
            "kind": subject.kind,
            "subject": subject.name,
            "search": name,
            "states": seen,
            "max_depth": found["max_depth"],
            "bytes_per_state": round(mib * 2**20 / seen, 2),
            "states_per_second": round(seen / max(seconds, 0.01)),
        }


def more_subjects(data: Path | None, least: int, most: int) -> Iterator[Subject]:
    """Yield the questions, one about leader election among them."""
    make = partial(leader_election, 4)
    actions = "|".join(action.name for action in make().actions)
    yield Subject("leader-election", "leader election 4", make, f"G({actions})")
    yield from subjects(data, least, most)


def main() -> None:
    """Search and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=int, default=100_000)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=record.RESULTS / "memory.csv")
    parser.add_argument("--only", default="", help="regular expression of names")
    parser.add_argument("--no-spin", dest="spin", action="store_false")
    given = parser.parse_args()
    known = os.environ.get("LTLPIPE_BENCHMARKS")
    data = None if known is None else Path(known)
    done = {row["subject"] for row in record.resume(given.out)}
    for subject in more_subjects(data, given.least, given.most):
        if subject.name in done or not re.search(
            given.only, f"{subject.kind} {subject.name}"
        ):
            continue
        rows: list[Row] = []
        try:
            rows += rows_of(subject, given.repeats)
            if rows and given.spin and available():
                rows += rows_of_spin(subject, rows[0]["states"])
        except (LtlpipeError, SpinError) as error:
            print(f"{subject.name}: {str(error).splitlines()[0]}")
        for row in rows:
            print(*row.values(), flush=True)
            record.append(given.out, row)


if __name__ == "__main__":
    main()
