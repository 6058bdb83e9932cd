"""Table 1 of Baarir & Duret-Lutz 2006, on our own symmetric nets.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 7.

Symmetric nets (clients with priorities, clients and servers, peers) in growing sizes,
each with its 50 formulas, and PolyORB, the paper's PO, from the Model Checking Contest,
with formulas of the contest: the plain product, searched by `couvreur99` without any
reduction (SP+TEC), its quotient by all automorphisms that keep the formula, searched by
the same (QP+TEC), and the symbolic product, searched by `tec`, `nsiec`, `iec` and `aec`
(SSP+), and with larger sets by `aec-closed` (ours), all with the same automata.

Means over the formulas that hold (the product is empty) and over those that are
violated go to ``table1_symmetry.csv``; the paper's form of the table is printed.  Each
run takes the steps of a state in another order (``seed``), the same for all ways: when
a violation is found is a matter of luck, and one order favours this way or that.  What
is counted is the mean over the runs, and so are the seconds until a violation; seconds
of complete searches are medians.

What is measured of a question: `search_seconds` is the search alone.  `seconds` is all
of `check` but the lasso: translation, finding the symmetry, tables, search.  Every
check gets a network of its own, so that nothing is known of it; as in `solve`, the
process that translates lives on from question to question.  What `aec` and
`aec-closed` visit before they go on as `iec` is counted in their figures; `fallbacks`
says for how many formulas they did in some run.

The ways of one question must agree, else the script fails at its end.  Questions
that some way does not answer in time are left out of all means and counted in
`not_answered`.  The sizes that are done are in the table: ``--resume`` goes on behind
them.

    python -m benchmarks.table1_symmetry
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import tarfile
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import spot

from benchmarks import record
from benchmarks.families.nets import coloured_peers
from benchmarks.tasks import medians, significant
from ltlpipe import check, load
from ltlpipe.families.networks import coloured_client_server, priorities
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.systems.nets.coloured.net import ColouredNet

FORMULAS = Path(__file__).parents[1] / "formulas"
PLAIN = "SP+TEC"
QUOTIENT = "QP+TEC"
WAYS: dict[str, dict[str, str]] = {
    PLAIN: {"emptiness": "couvreur99", "reduce": "none"},
    QUOTIENT: {"emptiness": "couvreur99", "reduce": "automorphisms"},
    "SSP+TEC": {"emptiness": "tec"},
    "SSP+NSIEC": {"emptiness": "nsiec"},
    "SSP+IEC": {"emptiness": "iec"},
    "SSP+AEC": {"emptiness": "aec"},
    "SSP+closed": {"emptiness": "aec-closed"},
}
SETS = [way for way in WAYS if way.startswith("SSP+")]
PRIORITIES = [2, 3, 4, 5, 6, 7, 8]
COLOURED_CLIENTS = [2, 3, 4, 5, 6, 7, 8]
PEERS = [3, 4, 5, 6]
POLYORB = ["S02J04T06"]
SLOW = 1.0  # seconds of a question that is measured once
MEANS = ["states", "transitions", "search_seconds", "seconds", "memory_mib"]
AIM_FROM = 5  # clients or peers, from which on the symbolic product shall be faster

Row = dict[str, Any]


class Size(NamedTuple):
    """A system of a family, with its formulas."""

    model: str
    size: str
    # Makes it anew: answers about one object might share knowledge.
    make: Callable[[], SymmetricNet]
    formulas: list[Formula]
    constraint: str | None = None  # HOA

    @property
    def key(self) -> tuple[str, str]:
        """What the rows of the table name."""
        return self.model, self.size


def priorities_of(n: int) -> Size:
    """Return the symmetric net of n clients, of which the first one goes first."""
    formulas = read_formulas(FORMULAS / "priorities.ltl")
    make = partial(_symmetric, coloured_client_server, n, 1)
    constraint = priorities(n, 1)
    return Size("priorities", str(n), make, formulas, constraint)


def coloured_clients_of(n: int) -> Size:
    """Return the symmetric net of n clients and two servers with its formulas."""
    formulas = read_formulas(FORMULAS / "coloured-client-server.ltl")
    make = partial(_symmetric, coloured_client_server, n, 2)
    return Size("coloured-client-server", f"{n},2", make, formulas)


def peers_of(n: int) -> Size:
    """Return the symmetric net of n peers with its formulas."""
    formulas = read_formulas(FORMULAS / "coloured-peers.ltl")
    make = partial(_symmetric, coloured_peers, n)
    return Size("coloured-peers", str(n), make, formulas)


def polyorb_of(instance: str, archive: Path) -> Size:
    """Return a net of PolyORB with the contest's formulas about what is fireable.

    Parameters
    ----------
    instance : str
        Such as "S02J04T06".
    archive : path
        ``dev.tar.gz`` of the contest's instances.
    """
    name = f"PolyORBLF-COL-{instance}"
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(archive) as files:
        for file in ("model.pnml", "LTLFireability.xml"):
            content = files.extractfile(f"dev/{name}/{file}")
            assert content is not None
            (folder / file).write_bytes(content.read())
    formulas = read_formulas(folder / "LTLFireability.xml")
    make = partial(load, folder / "model.pnml")
    return Size("polyorb", instance, make, formulas)


def _symmetric(family: Callable[..., ColouredNet], *sizes: int) -> SymmetricNet:
    return SymmetricNet(family(*sizes))


def measured(
    size: Size,
    formula: Formula,
    options: dict[str, str],
    timeout: float,
    seed: int | None = None,
) -> Row:
    """Answer a question once."""
    constraint = size.constraint and spot.automaton(size.constraint)
    found = check(
        size.make(),
        formula,
        constraint=constraint,
        acceptance="tgba",
        lasso=False,
        timeout=timeout,
        seed=seed,
        **options,  # type: ignore[arg-type]
    )
    stats = found.stats
    return {
        "verdict": found.verdict,
        "emptiness": found.plan.emptiness,
        "reductions": " ".join(found.plan.reductions),
        "states": stats.states,
        "transitions": stats.transitions,
        "search_seconds": stats.search_seconds,
        "seconds": stats.seconds,
        "memory_mib": stats.memory_mib,
        "fell_back": "approximate_states" in stats.details,
    }


def compare(size: Size, formula: Formula, timeout: float, runs: int) -> dict[str, Row]:
    """Measure all ways in turn, so that a slow minute hits all."""
    taken: dict[str, list[Row]] = {way: [] for way in WAYS}
    for seed in range(runs):
        for way, rows in taken.items():
            if not rows or not is_slow(rows[0]):
                rows.append(measured(size, formula, WAYS[way], timeout, seed))
    return {way: typical(rows) for way, rows in taken.items()}


def is_slow(row: Row) -> bool:
    """Whether a question is not measured again: it is seen in whole, or too much."""
    return row["verdict"] != VIOLATED and row["seconds"] >= SLOW


def typical(rows: list[Row]) -> Row:
    """Return several measurements of one question as one."""
    verdicts = {row["verdict"] for row in rows}
    if UNKNOWN in verdicts or len(verdicts) > 1:
        return dict(rows[-1]) | {"verdict": UNKNOWN if UNKNOWN in verdicts else None}
    row = medians(rows)
    for column in MEANS:
        if not column.endswith("seconds") or row["verdict"] == VIOLATED:
            row[column] = statistics.mean(each[column] for each in rows)
    return row | {"fell_back": any(each["fell_back"] for each in rows)}


def table_of(
    size: Size, timeout: float, runs: int, disagreeing: list[str]
) -> Iterator[Row]:
    """Yield the rows of one size: per kind of product and way."""
    answered: dict[str, list[dict[str, Row]]] = {"empty": [], "not empty": []}
    not_answered = 0
    for formula in size.formulas:
        rows = compare(size, formula, timeout, runs)
        said = {row["verdict"] for row in rows.values()} - {UNKNOWN}
        if len(said) > 1 or None in said:  # or one way has two answers
            disagreeing.append(f"{size.model} {size.size}: {formula.text}")
        elif any(row["verdict"] == UNKNOWN for row in rows.values()):
            not_answered += 1
        else:
            answered["empty" if said == {HOLDS} else "not empty"].append(rows)
    for product, questions in answered.items():
        for way in WAYS:
            row: Row = {"model": size.model, "size": size.size, "product": product}
            row |= {"method": way, "formulas": len(questions)}
            row["not_answered"] = not_answered
            yield row | means([rows[way] for rows in questions]) | {"timeout": timeout}


def means(rows: list[Row]) -> Row:
    """Return the means over formulas; None where there are none."""
    found: Row = {
        column: significant(statistics.mean(row[column] for row in rows))
        if rows
        else None
        for column in MEANS
    }
    found["fallbacks"] = sum(row["fell_back"] for row in rows)
    found["runs"] = max((row["runs"] for row in rows), default=0)
    return found


def measure_table(
    sizes: list[Size], chosen: argparse.Namespace, disagreeing: list[str]
) -> list[Row]:
    """Measure the sizes that the table does not have; return the whole table."""
    path = chosen.out / "table1_symmetry.csv"
    if not chosen.resume:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    found = record.resume(path)
    table: list[Row] = [*whole_sizes(found)]
    if len(table) < len(found):
        rewrite(path, table)
    done = {(row["model"], row["size"]) for row in table}
    for size in sizes:
        if size.key not in done:
            print(f"{size.model} {size.size} ...", flush=True)
            rows = table_of(size, chosen.timeout, chosen.runs, disagreeing)
            for row in list(rows):  # all of a size, or none
                record.append(path, row)
                table.append(row)
    print(f"wrote {path}")
    return table


def whole_sizes(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows of sizes that are complete."""
    of_size: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        of_size.setdefault((row["model"], row["size"]), []).append(row)
    for own in of_size.values():
        if len(own) == 2 * len(WAYS):
            yield from own


def rewrite(path: Path, table: list[Row]) -> None:
    """Write rows that have been measured before, with their own dates."""
    path.unlink()
    if table:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)


def printed(table: list[Row]) -> str:
    """Return the paper's form of the table, as Markdown."""
    by_line: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in table:
        key = row["product"], row["model"], row["size"]
        by_line.setdefault(key, {})[row["method"]] = row
    lines = []
    for product in ("empty", "not empty"):
        heads = " | ".join(f"{way}: st., tr., s" for way in WAYS)
        lines += ["", f"| {product} | n | {heads} | as iec: AEC, closed |"]
        lines.append("|---" * (len(WAYS) + 3) + "|")
        for (of, model, size), rows in by_line.items():
            if of == product:
                cells = " | ".join(_cell(rows[way]) for way in WAYS)
                n = rows[PLAIN]["formulas"]
                aec, closed = (rows[f"SSP+{k}"]["fallbacks"] for k in ("AEC", "closed"))
                lines.append(f"| {model} {size} | {n} | {cells} | {aec}, {closed} |")
    return "\n".join(lines)


def _cell(row: Row) -> str:
    if not int(row["formulas"]):
        return "-"
    states, transitions = (float(row[k]) for k in ("states", "transitions"))
    return f"{states:,.0f}, {transitions:,.0f}, {float(row['search_seconds']):.4f}"


def aims(table: list[Row]) -> Iterator[str]:
    """Yield what the project asks of these numbers, and whether it is so."""
    by_line: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in table:
        if int(row["formulas"]):
            key = row["model"], row["size"], row["product"]
            by_line.setdefault(key, {})[row["method"]] = row
    for (model, size, product), rows in by_line.items():
        tec, nsiec, iec = (
            float(rows[f"SSP+{name}"]["states"]) for name in ("TEC", "NSIEC", "IEC")
        )
        what = f"{model} {size}, {product}"
        yield f"{what}: IEC <= NSIEC <= TEC: {'yes' if iec <= nsiec <= tec else 'NO'}"
        orbits = float(rows[QUOTIENT]["states"])
        least, best = min((float(rows[way]["states"]), way) for way in SETS)
        yield f"{what}: the fewest sets are {least / orbits:.2g} of QP ({best})"
        more = [way for way in SETS if float(rows[way]["states"]) > orbits]
        if more:
            yield f"{what}: more sets than orbits: {', '.join(more)}"
        grows = size.split(",")[0].isdecimal()
        if product == "empty" and grows and int(size.split(",")[0]) >= AIM_FROM:
            closed = rows["SSP+closed"]
            for column in ("states", "search_seconds"):
                ratio = float(closed[column]) / float(rows["SSP+TEC"][column])
                yield f"{what}: {column} of closed are {ratio:.2g} of TEC's (aim 0.2)"
            plain = float(rows[PLAIN]["search_seconds"])
            for way in WAYS:
                if way != PLAIN:
                    ratio = plain / float(rows[way]["search_seconds"])
                    yield f"{what}: {way} is {ratio:.3g} times as fast as {PLAIN}"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--priorities", type=int, nargs="*", default=PRIORITIES)
    parser.add_argument(
        "--coloured-clients", type=int, nargs="*", default=COLOURED_CLIENTS
    )
    parser.add_argument("--peers", type=int, nargs="*", default=PEERS)
    parser.add_argument("--polyorb", nargs="*", default=POLYORB, help="if at hand")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds per check")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--resume", action="store_true", help="go on with the table")
    parser.add_argument("--quick", action="store_true", help="smallest systems only")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.priorities, chosen.coloured_clients, chosen.peers = [3], [3], [3]
        chosen.runs, chosen.polyorb = 1, []
    return chosen


def main() -> None:
    chosen = parsed()
    disagreeing: list[str] = []
    sizes = [priorities_of(n) for n in chosen.priorities]
    sizes += [coloured_clients_of(n) for n in chosen.coloured_clients]
    sizes += [peers_of(n) for n in chosen.peers]
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks"))
    archive = data / "mcc2023" / "dev.tar.gz"
    if archive.exists():
        sizes += [polyorb_of(instance, archive) for instance in chosen.polyorb]
    smallest = coloured_clients_of(2)
    for options in WAYS.values():  # compiles
        measured(smallest, smallest.formulas[0], options, chosen.timeout)
    table = measure_table(sizes, chosen, disagreeing)
    print(printed(table), *aims(table), sep="\n")
    if disagreeing:
        raise SystemExit("\n".join(["the ways do not agree:", *disagreeing]))


if __name__ == "__main__":
    main()
