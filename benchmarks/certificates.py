"""What certificates cost: bytes per state, and the time to write and to check them.

Philosophers and rings (no run of which is accepting), models of BEEM and Petri nets of
the Model Checking Contest with the first of their tasks that hold and whose product has
enough states; the check of these is plain Python, which limits their size.  Networks in
the style of RERS, of which no search sees all states, with the first of their formulas
that component reduction shows to hold.  Times are relative to the search of the same
run, or, with a reduction, to the whole answer; the least of several runs is written.

    python -m benchmarks.certificates [--data DIR]      (with DIR/beem and DIR/mcc)
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from ltlpipe import LtlpipeError, Network, check, load, verify_certificate
from ltlpipe.families.networks import philosophers, ring
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.logic.generating import instances

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITES = {"beem": ".dve", "mcc": ".pnml.gz"}

Case = tuple[str, str, Any, dict[str, Any]]


def networks(args: argparse.Namespace) -> Iterator[Case]:
    """Yield the scaling families, and what is asked of them."""
    for size in args.philosophers:
        network = philosophers(size)
        yield "philosophers", str(size), network, {"empty": True}
    for size in args.ring:
        yield "ring", str(size), ring(size), {"empty": True}


def models(args: argparse.Namespace) -> Iterator[Case]:
    """Yield models with their first task that holds and has enough states."""
    for suite, suffix in SUITES.items():
        folder = Path(args.data) / suite
        with (folder / "tasks.csv").open(encoding="utf-8", newline="") as stream:
            tasks = [row for row in csv.DictReader(stream) if row["verdict"] == "holds"]
        seen: set[str] = set()
        for row in tasks:
            path = folder / "models" / f"{row['model']}{suffix}"
            if row["model"] in seen or len(seen) == args.models or not path.exists():
                continue
            model, asked = load(path), {"formula": row["formula"]}
            limits = {"timeout": args.timeout, "max_states": args.max_states}
            found = check(model, reduce="none", lasso=False, **asked, **limits)
            states = found.stats.states or 0
            if found.holds and states >= args.least:  # others say little
                seen.add(row["model"])
                yield suite, row["model"], model, asked


def reduced(args: argparse.Namespace) -> Iterator[Case]:
    """Yield networks in the style of RERS with their first formula that holds."""
    for style, n in (
        ("random-pairs", 20),
        ("random-pairs", 30),
        ("random-dense", 10),
        ("random-dense", 15),
    ):
        network = rers_network(n, style=style, seed=n).network
        names = [action.name for action in network.actions]
        for formula in islice(instances(names, seed=n), args.formulas):
            asked = {"formula": formula, "reduce": "alphabet,components"}
            found = check(network, lasso=False, timeout=args.timeout, **asked)
            if found.holds:
                yield f"rers {style}", str(n), network, asked
                break


def measured(system: Any, asked: dict[str, Any], args: argparse.Namespace) -> Any:
    """Return the figures of one case."""
    row: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "a.cert")
        for number in range(args.runs + 1):  # the first one compiles
            # Nothing of what is known of the network is used again.
            if isinstance(system, Network):
                system = Network(system.components, system.name)
                asked = asked | {"share": 0}
            verdict = check(system, certificate=path, **asked)
            assert verdict.certificate is not None
            verification = verify_certificate(path, system)
            if verification.reason is not None:
                raise AssertionError(verification.reason)
            if number == 0:
                continue
            whole = verdict.stats.seconds - verdict.certificate.seconds
            found = {
                "search_seconds": whole
                if "reduce" in asked
                else verdict.stats.search_seconds,
                "write_seconds": verdict.certificate.seconds,
                "check_seconds": verification.seconds,
            }
            row = found if not row else {k: min(v, row[k]) for k, v in found.items()}
    certificate = verdict.certificate
    return {
        "states": certificate.states,
        "transitions": certificate.transitions,
        "bytes": certificate.bytes,
        "bytes_per_state": round(certificate.bytes / certificate.states, 2),
        **{name: round(value, 4) for name, value in row.items()},
        "write_ratio": round(row["write_seconds"] / row["search_seconds"], 2),
        "check_ratio": round(row["check_seconds"] / row["search_seconds"], 2),
    }


def main() -> None:
    """Measure all cases and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--philosophers", type=int, nargs="*", default=[7, 8, 9, 10])
    parser.add_argument("--ring", type=int, nargs="*", default=[7, 8, 9])
    parser.add_argument("--formulas", type=int, default=60, help="tried per network")
    parser.add_argument("--data", help="folder with beem and mcc")
    parser.add_argument("--models", type=int, default=8, help="of each suite")
    parser.add_argument("--least", type=int, default=10_000, help="states of a model")
    parser.add_argument("--max-states", type=int, default=300_000, help="of a model")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", default=str(record.RESULTS))
    args = parser.parse_args()
    path = Path(args.out) / "certificates.csv"
    path.unlink(missing_ok=True)
    cases = [networks(args), reduced(args)]
    if args.data:
        cases.append(models(args))
    for source in cases:
        for family, name, system, asked in source:
            try:
                figures = measured(system, asked, args)
            except LtlpipeError as error:
                print(f"{family} {name}: {error}")
                continue
            formula = asked.get("formula")
            row = {"family": family, "system": name, "formula": formula}
            row |= {"reduce": asked.get("reduce", "none")} | figures
            print(row)
            record.append(path, row)


if __name__ == "__main__":
    main()
