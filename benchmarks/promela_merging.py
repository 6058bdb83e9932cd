"""Reductions of Promela models: what each saves, and all of them.

A row is a question about a model, asked with all steps, with ample sets, with merged
statements, with dead variables forgotten, and with all of these; of the models of
``promela_models`` Spin with its defaults (all of these, too) beside.  States are those
of the product, so that questions which hold tell all; seconds are of the processor, of
the second time that a question is asked.  FOLDER has more models, which are asked what
they ask themselves::

    python -m benchmarks.promela_merging [FOLDER]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ltlpipe
from benchmarks.promela import MODELS, SIZES, holding, of_spin, text_of
from benchmarks.record import RESULTS, write
from ltlpipe import LtlpipeError

if TYPE_CHECKING:
    from collections.abc import Iterator

WAYS = {
    "full": "none",
    "ample": "ample",
    "statements": "statements",
    "variables": "variables",
    "all": "ample,variables,statements",
}
ENDS = "G(deadlock -> _valid_end)"


def row_of(model: Any, formula: str) -> dict[str, Any]:
    """Return what a question takes in each way."""
    row: dict[str, Any] = {}
    for way, reduce in WAYS.items():
        if way == "all" and "ample_states" not in row:
            reduce = reduce.removeprefix("ample,")
        for _ in range(2):
            began = time.process_time()
            try:
                found = ltlpipe.check(
                    model, formula, reduce=reduce, emptiness="couvreur99", lasso=False
                )
            except LtlpipeError:  # there are no ample sets
                break
            row |= {
                "verdict": found.verdict,
                f"{way}_states": found.stats.states,
                f"{way}_cpu": round(time.process_time() - began, 3),
            }
    return row


def parametrised(names: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the models of this folder, of a size."""
    for name in names:
        path, size = MODELS / f"{name}.pml", SIZES[name]
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "model.pml").write_text(text_of(path, size))
            model = ltlpipe.load(folder / "model.pml")
            formula = holding(path)
            for question, asked in (("formula", formula), ("end states", ENDS)):
                about = {"model": name, "size": size, "question": question}
                row = about | row_of(model, asked)
                if question == "formula":
                    spin = of_spin(folder, [], formula)
                    row |= {"spin_states": spin["states"], "spin_cpu": spin["cpu"]}
                print(row, flush=True)
                yield row


def of_folder(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of models that ask something themselves."""
    for path in sorted(folder.glob("*.pml")):
        try:
            model = ltlpipe.load(path)
        except LtlpipeError:  # it is there to be refused
            continue
        for question in model.own_questions:
            if question.formula is not None:
                about = {"model": path.stem, "question": question.name}
                row = about | row_of(model, question.formula)
                if row.get("verdict") == "holds":
                    print(row, flush=True)
                    yield row


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--models", nargs="*", default=list(SIZES))
    args = parser.parse_args()
    rows = list(parametrised(args.models))
    if args.folder is not None:
        rows += of_folder(args.folder)
    write(RESULTS / "promela_merging.csv", rows)


if __name__ == "__main__":
    main()
