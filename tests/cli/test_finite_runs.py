"""Runs that end do not count: what the command line says where that matters."""

import csv
import json

import pytest

CRASH = """digraph d {
  subgraph a {
    start -> s0 [label=""]; s0 -> s1 [label="req"]; s1 -> s0 [label="ack"];
    s0 -> s2 [label="req"]; s2 -> s3 [label="crash"];
  }
}
"""

WARNING = (
    "finite runs do not count: a deadlock is reachable, after req crash; "
    "--deadlock stutter counts them"
)

RIGHT = ("G(req -> F ack)", "G !crash", "G(ack -> X req)")


@pytest.fixture
def system(tmp_path):
    path = tmp_path / "half.dot"
    path.write_text(CRASH)
    return path


def test_json(run, system):
    """Each verdict that leans on it has the warning."""
    asked = [word for formula in RIGHT for word in ("-f", formula)]
    outcome = run("check", system, *asked, "-f", "G !req", "--json")

    *holding, violated = outcome.records
    assert outcome.code == 1
    for record in holding:
        assert record["verdict"] == "holds"
        assert record["warnings"] == [WARNING]
        assert record["deadlock"] == "reachable"
    assert violated["warnings"] == []
    assert "deadlock" not in violated


def test_terminal(run, system):
    """People read it once, and exit codes are those of the verdicts."""
    asked = [word for formula in RIGHT for word in ("-f", formula)]
    outcome = run("check", system, *asked)

    assert outcome.code == 0
    assert outcome.err == f"warning: {WARNING}\n"
    assert run("check", system, "-f", RIGHT[0], "--deadlock", "stutter").code == 1


def test_no_infinite_run(run, tmp_path):
    """A formula and its negation hold."""
    path = tmp_path / "ends.aut"
    path.write_text('des (0,1,2)\n(0,"a",1)\n')
    for formula in ("G F a", "!G F a"):
        outcome = run("check", path, "-f", formula)
        assert outcome.code == 0
        assert "there is no infinite run" in outcome.err


@pytest.mark.parametrize("jobs", [[], ["--jobs", 1]], ids=["here", "in a worker"])
def test_tables_and_the_report(run, system, tmp_path, jobs):
    """Rows have it, also those that come out of a store, and so has the page."""
    tasks, table, page = (tmp_path / name for name in ("t.csv", "r.csv", "r.html"))
    lines = [f"{system},{formula}" for formula in (*RIGHT, "G !req")]
    tasks.write_text("\n".join(["system,formula", *lines]) + "\n")
    for _ in range(2):
        run("solve", tasks, "--out", table, "--store", tmp_path / "s.sqlite", *jobs)
        rows = list(csv.DictReader(table.read_text().splitlines()))
        said = [json.loads(row["warnings"]) for row in rows]
        assert said == [[WARNING]] * len(RIGHT) + [[]]
    run("report", table, "--out", page)
    setting = page.read_text().partition('id="setting"')[2]
    assert WARNING in setting


def test_a_run_that_ends_can_be_verified(run, tmp_path):
    file = tmp_path / "once.aut"
    file.write_text('des (0,2,3)\n(0,"a",1)\n(1,"b",2)\n')
    done = run("check", file, "-f", "G a", "--deadlock", "error", "--json")
    assert done.code == 1
    (tmp_path / "r.json").write_text(done.out)
    assert run("check", "--verify", tmp_path / "r.json").out == "confirmed: G a\n"
    record = json.loads(done.out)
    record["finite_run"]["steps"].pop()  # it does not end there
    (tmp_path / "s.json").write_text(json.dumps(record))
    refuted = run("check", "--verify", tmp_path / "s.json")
    assert refuted.out.startswith("refuted: G a: the run does not end in a deadlock")
    record = json.loads(done.out) | {"options": {}}
    (tmp_path / "t.json").write_text(json.dumps(record))
    assert "no violation" in run("check", "--verify", tmp_path / "t.json").out
