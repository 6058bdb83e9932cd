"""Finite runs in tables, stores and files, and on the way back out of them."""

from __future__ import annotations

import json
import sqlite3

import pytest

from ltlpipe import Simulation, check, load, results, solve, verify
from ltlpipe.batch.stored_rows import checksum
from ltlpipe.batch.table import from_frame, json_of, row_of, to_frame
from ltlpipe.report.page import write_report
from ltlpipe.systems.nets.writing import save_pnml
from tests.cli.command_line import program
from tests.cross.test_finite_runs import SOURCE, net

FORMULA = "G(p0<=2)"
STEPS = ["t0", "t0", "t0"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A store of one violation by a finite run, and one of a lasso."""
    folder = tmp_path_factory.mktemp("finite")
    save_pnml(SOURCE, folder / "source.pnml")
    save_pnml(net((1, 0), ({0: 1}, {1: 1})), folder / "ends.pnml")
    tasks = [
        (str(folder / "source.pnml"), FORMULA),
        (str(folder / "ends.pnml"), "G(p1==0)"),
    ]
    store = folder / "run.sqlite"
    return solve(tasks, store=str(store)), store, folder


def test_a_row_has_the_steps_and_the_kind():
    verdict = check(SOURCE, FORMULA)
    row = row_of(verdict)

    assert (row["finite_run"], row["lasso_cycle"]) == ("bad-prefix", None)
    assert json.loads(row["lasso_prefix"]) == STEPS
    told = json_of(row)
    assert told["lasso"] is None
    assert told["finite_run"] == {
        "kind": "bad-prefix",
        "steps": [{"action": name} for name in STEPS],
    }
    assert from_frame(to_frame([row]))[0]["finite_run"] == "bad-prefix"
    with pytest.raises(ValueError, match="expected one of bad-prefix, maximal"):
        to_frame([row | {"finite_run": "half"}])


def test_all_forms_of_a_table_agree(stored, tmp_path):
    table, store, _ = stored
    assert table["finite_run"].tolist()[0] == "bad-prefix"
    assert table["finite_run"].isna().tolist() == [False, True]
    assert table["lasso_cycle"].isna().tolist() == [True, False]
    assert results(store)["finite_run"].tolist()[0] == "bad-prefix"
    table.to_csv(tmp_path / "table.csv", index=False)
    table.to_parquet(tmp_path / "table.parquet")
    for suffix in ("csv", "parquet"):
        found = results(tmp_path / f"table.{suffix}")
        assert found["finite_run"].isna().tolist() == [False, True]
        assert json.loads(found["lasso_prefix"][0]) == STEPS


def test_stored_runs_are_replayed(stored):
    _, store, _ = stored

    assert verify(store)["finding"].tolist() == ["confirmed", "confirmed"]


@pytest.mark.parametrize(
    ("changed", "finding"),
    [
        ({"lasso_prefix": '["t0", "t0"]'}, "refuted"),
        ({"lasso_prefix": '["t0", "t1", "t0"]'}, "refuted"),
        ({"finite_run": "maximal"}, "refuted"),
        ({"finite_run": None}, "damaged"),
        ({"lasso_cycle": '["t0"]'}, "damaged"),
        ({"verdict": "holds"}, "damaged"),
    ],
    ids=str,
)
def test_forged_runs(stored, tmp_path, changed, finding):
    _, store, _ = stored
    forged = tmp_path / "forged.sqlite"
    forged.write_bytes(store.read_bytes())
    with sqlite3.connect(forged) as db:
        db.execute("PRAGMA ignore_check_constraints = 1")
        db.row_factory = sqlite3.Row
        (row,) = db.execute("SELECT * FROM results WHERE finite_run IS NOT NULL")
        said = {name: row[name] for name in row.keys() if name != "checksum"}  # noqa: SIM118
        said |= changed
        sets = ", ".join(f"{name} = ?" for name in changed)
        db.execute(
            f"UPDATE results SET {sets}, checksum = ? WHERE key = ?",
            [*changed.values(), checksum(said), said["key"]],
        )
    db.close()

    assert sorted(verify(forged)["finding"]) == sorted([finding, "confirmed"])


def test_json_is_verified_and_walked_along(tmp_path):
    file = tmp_path / "source.pnml"
    save_pnml(SOURCE, file)
    printed = program("check", str(file), "-f", FORMULA, "--json")
    told = json.loads(printed.out)
    assert printed.code == 1
    assert told["lasso"] is None
    assert [step["action"] for step in told["finite_run"]["steps"]] == STEPS
    assert told["finite_run"]["states"][-1] == {"p0": 3, "p1": 0}
    (tmp_path / "found.json").write_text(printed.out)

    again = program("check", str(file), "--verify", str(tmp_path / "found.json"))
    assert (again.code, again.out.split(":")[0]) == (0, "confirmed")
    told["finite_run"]["steps"].pop()
    told["finite_run"]["states"].pop()
    (tmp_path / "forged.json").write_text(json.dumps(told))
    refuted = program("check", str(file), "--verify", str(tmp_path / "forged.json"))
    assert (refuted.code, refuted.out.split(":")[0]) == (1, "refuted")

    for given in (tmp_path / "found.json", check(SOURCE, FORMULA)):
        walk = Simulation(load(file), FORMULA, lasso=given)
        walk.follow(3)
        assert walk.state["p0"] == 3


def test_it_is_printed_and_drawn(stored):
    verdict = check(SOURCE, FORMULA)
    shown = program("check", str(stored[2] / "source.pnml"), "-f", FORMULA, "--steps")
    assert "a finite run: every continuation violates" in shown.out
    assert "cycle" not in shown.out
    assert "finite_run=FiniteRun(" in repr(verdict)
    assert verdict.finite_run.to_frame()["part"].tolist() == ["prefix"] * 3
    chart = verdict.finite_run.chart()
    assert "a finite run of 3 steps" in chart.svg
    assert "repeat for ever" not in chart.svg
    assert str(chart).count("t0") == 3
    assert "Finite run (bad-prefix): 3 steps" in verdict._repr_html_()
    none = check(SOURCE, "G(1<=p1)").finite_run
    assert none.chart().svg.startswith("<svg")
    assert str(none.chart()) is not None


def test_the_report_shows_it(stored, tmp_path):
    assert write_report(stored[1], tmp_path / "report.html") == 2
