"""Which files of the field are read, dialect by dialect.

For each dialect a number of files are written at random (`benchmarks.dialects`,
`benchmarks.field_files`) and read as the command line reads them.  A row says how many
were read, how many of them otherwise than they were meant (another number of states and
transitions, of variables and actions, other formulas), how many were refused rightly
(with one line that names the file) and how many wrongly, and how many were read that
have to be refused; with the first message of a file refused wrongly.

    python -m benchmarks.field
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import record
from benchmarks.dialects import DIALECTS, Dialect, random_lts
from benchmarks.field_files import DVE, LISTS, PNML, REFUSED, Written

if TYPE_CHECKING:
    from collections.abc import Callable


class Kind(NamedTuple):
    """A dialect: how a file is written and read, and whether it has to be read."""

    name: str
    suffix: str
    write: Callable[[random.Random], Written]
    holds: Callable[[Path], Any]
    """Reads a file, and returns what it holds."""
    is_right: bool = True


def _sizes_of_network(options: dict[str, Any]) -> Callable[[Path], Any]:
    def sizes(path: Path) -> Any:
        import ltlpipe

        (component,) = ltlpipe.load(path, **options).components
        return component.n_states, component.n_transitions

    return sizes


def _sizes_of_model(path: Path) -> Any:
    import ltlpipe

    model = ltlpipe.load(path)
    return len(model.variables), model.n_actions


def _formulas(path: Path) -> Any:
    from ltlpipe.logic.formula_files import read_formulas

    return [str(formula.spot) for formula in read_formulas(path)]


def _drawn(dialect: Dialect, rng: random.Random) -> Written:
    lts = random_lts(rng, mealy=dialect.mealy, internal=dialect.internal)
    return Written(dialect.write(lts, rng), (lts.n_states, lts.n_transitions))


def _parsed(write: Callable[[random.Random], Written]) -> Callable[..., Written]:
    """Return what writes a list, with its formulas as Spot writes them."""

    def parsed(rng: random.Random) -> Written:
        import spot

        text, found = write(rng)
        return Written(text, [str(spot.formula(formula)) for formula in found])

    return parsed


def kinds() -> list[Kind]:
    """Return all dialects."""
    found = [
        Kind(
            f"{dialect.suffix[1:]}, {name}",
            dialect.suffix,
            lambda rng, dialect=dialect: _drawn(dialect, rng),
            _sizes_of_network(dialect.options),
        )
        for name, dialect in DIALECTS.items()
    ]
    found += [Kind(f"dve, {n}", ".dve", w, _sizes_of_model) for n, w in DVE.items()]
    found += [Kind(f"pnml, {n}", ".pnml", w, _sizes_of_model) for n, w in PNML.items()]
    found += [
        Kind(f"list, {name}", suffix, _parsed(write), _formulas)
        for name, (suffix, write) in LISTS.items()
    ]
    found += [
        Kind(name, suffix, write, _sizes_of_model, is_right=False)
        for name, (suffix, write) in REFUSED.items()
    ]
    return found


def measured(kind: Kind, n: int, seed: int, folder: Path) -> dict[str, Any]:
    """Write and read files of a dialect; return the row."""
    from ltlpipe.runtime.errors import LtlpipeError, silenced

    counts: Counter[str] = Counter()
    first = ""
    path = folder / f"m{kind.suffix}"
    for number in range(n):
        rng = random.Random(f"{kind.name} {seed} {number}")
        written = kind.write(rng)
        path.write_text(written.text, encoding="utf-8")
        try:
            with silenced():
                found = kind.holds(path)
        except LtlpipeError as error:
            message = str(error).strip()
            is_clear = "\n" not in message and path.name in message
            if is_clear and not kind.is_right:
                counts["refused_rightly"] += 1
                continue
            counts["refused_wrongly"] += 1
            first = first or message.splitlines()[0].replace(str(folder), "")
            continue
        counts["read" if kind.is_right else "read_wrongly"] += 1
        if kind.is_right and written.holds is not None and found != written.holds:
            counts["read_otherwise"] += 1
    columns = ("read", "read_otherwise", "refused_rightly", "refused_wrongly")
    told = {column: counts[column] for column in (*columns, "read_wrongly")}
    return {"kind": kind.name, "files": n, **told, "message": first, "seed": seed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            measured(kind, chosen.files, chosen.seed, Path(folder)) for kind in kinds()
        ]
    record.write(chosen.out / "field.csv", rows)


if __name__ == "__main__":
    main()
