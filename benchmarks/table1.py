"""Table 1 of Schwoon & Esparza 2005, on our leader election, for all algorithms.

Both variants of leader election on three nodes, the nine properties of
``formulas/leader-election.ltl``, and every emptiness check on the same state-based
Büchi automaton with the same order of successors.  What is counted does not
depend on the machine; the seconds that are written beside it do.

The relations that the paper proves are checked on every row; the script fails if
one does not hold.

    python -m benchmarks.table1
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from benchmarks import record
from benchmarks.families.leader_election import leader_election
from benchmarks.table1_layout import table1
from ltlpipe import compare
from ltlpipe.logic.formula_files import read_formulas

FORMULAS = Path(__file__).parents[1] / "formulas" / "leader-election.ltl"
EARLY = ("couvreur99", "couvreur99-fig5", "gv04")
NESTED = ("cvwy92", "hpy96", "gmz04", "se05", "tauriainen03")
PROVENANCE = ("started_at", "host_cores", "ltlpipe_version", "seed")


def measured() -> pd.DataFrame:
    """Return the comparison of both variants; formulas are called A to I."""
    formulas = read_formulas(FORMULAS)
    frames = []
    for variant in (1, 2):
        network = leader_election(variant=variant)
        frame = compare(network, formulas, sizes=True)
        frame["system"] = f"variant {variant}"
        frames.append(frame)
    table = pd.concat(frames, ignore_index=True)
    letters = {f.identifier: chr(ord("A") + i) for i, f in enumerate(formulas)}
    table["formula_id"] = table["formula_id"].map(letters).astype("string")
    return table


def assert_relations(rows: pd.DataFrame) -> None:
    """Check what the paper proves, on the rows of one formula."""
    known = rows[rows["verdict"] != "unknown"].set_index("emptiness")
    states = known["states"]
    assert known["verdict"].nunique() == 1, "the algorithms disagree"
    assert states[list(EARLY)].nunique() == 1, "the early searches differ"
    for name in NESTED:
        assert states["couvreur99"] <= states[name], f"{name} visits less"
    assert states["se05"] <= states["hpy96"], "se05 visits more than hpy96"
    if "dfs-weak" in known.index:
        assert states["se05"] == states["couvreur99"], "weak"
        # Ours ends where every word is accepted (docs/searches.md).
        assert states["dfs-weak"] <= states["couvreur99"], "weak"
        if (known["verdict"] == "holds").all():
            assert states["dfs-weak"] == states["couvreur99"], "weak"
    roots, current = known["max_roots"], known["max_current"]
    assert roots["couvreur99"] <= current["gv04"], "roots exceed current"
    assert roots["couvreur99-fig5"] == roots["couvreur99"], "roots differ"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    options = parser.parse_args()
    table = measured()
    for _, rows in table.groupby(["system", "formula_id"]):
        assert_relations(rows)
    lassos = ["lasso_prefix", "lasso_cycle"]
    plain = table.drop(columns=[*lassos, *PROVENANCE]).astype(object)
    rows = plain.where(plain.notna(), None).to_dict("records")
    record.write(options.out / "table1.csv", rows)
    print(table1(table))


if __name__ == "__main__":
    main()
