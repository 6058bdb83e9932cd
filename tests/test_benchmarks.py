"""The scripts that fill results/ run, on the smallest systems."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import portfolio, rers_sequential, spin
from ltlpipe.runtime.folders import cache_folder
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.strategies.registry import STRATEGIES
from tests.systems.programs.eca.small_programs import program, rule, source_of

pytestmark = pytest.mark.thorough("each runs a program of its own, which measures")

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("module", "arguments", "table", "column"),
    [
        (
            "benchmarks.explore",
            ["--philosophers", "3", "--ring", "3", "--runs", "1", "--flat", "0"],
            "explore.csv",
            "states_per_second",
        ),
        (
            "benchmarks.startup",
            ["--runs", "1", "--emptiness", "se05", "--philosophers", "3"],
            "startup.csv",
            "seconds",
        ),
        (
            "benchmarks.processors",
            [
                *(str(cache_folder().parent), "--processors", "native", "--runs", "1"),
                *("--emptiness", "se05", "--philosophers", "3", "--dining", "3"),
            ],
            "processors.csv",
            "native",
        ),
        ("benchmarks.table1", [], "table1.csv", "product_states"),
        (
            "benchmarks.fair_comparison",
            ["--philosophers", "3", "--emptiness", "se05", "--turns", "6"],
            "fair_comparison.csv",
            "ratio_low",
        ),
        (
            "benchmarks.analyze",
            ["--formulas", "20", "--runs", "1"],
            "analyze.csv",
            "milliseconds_per_formula",
        ),
        (
            "benchmarks.por",
            ["--largest", "1", "--runs", "1"],
            "por.csv",
            "reduction_factor",
        ),
        (
            "benchmarks.fin_removal",
            ["--automata", "2", "--states", "4"],
            "fin_removal.csv",
            "our_states",
        ),
        (
            "benchmarks.components",
            ["--largest", "5", "--formulas", "1", "--seeds", "0"],
            "components.csv",
            "largest_composition",
        ),
        (
            "benchmarks.report",
            ["--rows", "50", "--systems", "2"],
            "report.csv",
            "size_mb",
        ),
        (
            "benchmarks.decoupled",
            ["--quick", "--part", "scaling"],
            "decoupled_scaling.csv",
            "memory_mib",
        ),
        (
            "benchmarks.decoupled",
            ["--quick", "--part", "ltl"],
            "decoupled_ltl.csv",
            "states",
        ),
        (
            "benchmarks.kripke",
            ["--largest", "2", "--runs", "1"],
            "kripke.csv",
            "ratio",
        ),
        (
            "benchmarks.certificates",
            [
                *("--philosophers", "3", "--ring", "3"),
                *("--runs", "1", "--formulas", "1"),
            ],
            "certificates.csv",
            "bytes_per_state",
        ),
        (
            "benchmarks.batch",
            [
                *("--part", "overhead", "--part", "scaling", "--part", "store"),
                *("--tasks", "20", "--rows", "50", "--runs", "1"),
                *("--philosophers", "4", "--searches", "2"),
            ],
            "batch.csv",
            "value",
        ),
    ],
)
def test_a_script_writes_its_table(module, arguments, table, column, tmp_path):
    """With the date and the versions on every row."""
    rows = rows_of(module, arguments, tmp_path / table)
    assert rows
    assert {"date", "machine", "python", "numba", "ltlpipe", column} <= rows[0].keys()


def test_reduced_models(tmp_path):
    """Each model nothing of which is visible, then its first task that holds."""
    models = tmp_path / "beem" / "models"
    models.mkdir(parents=True)
    moves = "state s, t, u; init s; trans s -> t {}, t -> u {};"
    processes = [f"process P_{i} {{ {moves} }}" for i in range(3)]
    (models / "three.1.dve").write_text("\n".join([*processes, "system async;"]))
    (tmp_path / "beem" / "tasks.csv").write_text(
        'model,index,formula,verdict\nthree.1,000,"F(P_0==""u"")",holds\n'
    )
    arguments = ["--data", str(tmp_path)]
    rows = rows_of("benchmarks.model_por", arguments, tmp_path / "model_por.csv")
    assert [row["task"] for row in rows] == ["-", "000"]
    assert (rows[0]["full_states"], rows[0]["ample_states"]) == ("27", "7")


def test_published_problems(tmp_path, monkeypatch):
    """Property by property, none twice; a wrong answer is told."""
    network = 'digraph { subgraph component0 { 0->1 [label=""]\n1->1 [label="a"] } }\n'
    properties = "#1: true\nG a\n#4:{}\nF !a\n"
    for folder, solution in (("training", " false"), ("2017", "")):
        (tmp_path / "rers" / folder).mkdir(parents=True)
        about = tmp_path / "rers" / folder / "problem7"
        about.with_suffix(".dot").write_text(network)
        text = properties.format(solution) if solution else "#2:\nG a\n"
        (about.parent / "problem7-properties.txt").write_text(text)
    monkeypatch.setenv("LTLPIPE_BENCHMARKS", str(tmp_path))
    path = tmp_path / "rers.csv"

    rows = rows_of("benchmarks.rers", ["--problems", "training/7"], path)
    again = rows_of("benchmarks.rers", ["--timeout", "60"], path)

    names = [(row["problem"], row["property"], row["verdict"]) for row in again]
    expected = [("training/7", "1", "holds"), ("training/7", "4", "violated")]
    assert sorted(names[:2]) == expected
    assert names[2:] == [("2017/7", "2", "holds")]
    assert again[:2] == rows
    assert {row["timeout"] for row in again} == {"60.0"}
    path.write_text(path.read_text().replace("holds,,holds", "violated,,holds"))
    with pytest.raises(subprocess.CalledProcessError) as caught:
        rows_of("benchmarks.rers", ["--summary"], path)
    assert b"DIFFERS: 7, property 1: violated, published: holds" in caught.value.stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_sequential_problems(tmp_path, monkeypatch):
    """Problem by problem, none twice; the compiled program has all its states."""
    place = tmp_path / "eca" / "problems"
    shutil.copytree(ROOT / "examples" / "rers_sequential", place)
    monkeypatch.setenv("LTLPIPE_BENCHMARKS", str(tmp_path))
    path = tmp_path / "rers_sequential.csv"
    rows = rows_of("benchmarks.rers_sequential", [], path)
    assert rows_of("benchmarks.rers_sequential", [], path) == rows
    (row,) = rows
    assert (row["problem"], row["right"], row["wrong"]) == ("Problem1", "4", "0")
    assert row["states"] == "3"
    assert int(row["states_raw"]) > 50


@pytest.mark.skipif(not spin.available(), reason="Spin or gcc is not installed")
def test_sequential_problems_for_spin():
    """It sees the same words: an input that no rule takes has none."""
    text = program(
        rule(
            "(input == 1) && 3 == p[0]", 24, "if(n == 2) { p = two; } n = ((n + 1) % 3)"
        )
        + rule("(input == 2) && 4 == p[0]", 25, "p = one"),
        declared="int n = 0; int one[] = {3}; int two[] = {4}; int *p = one;",
    )
    formulas = ["G(F(iB & X oY)) & X X X X X X iB", "G !oY"]
    found = rers_sequential.by_spin(source_of(text), formulas)
    assert found["spin"] == ["holds", "violated"]


def test_every_emptiness_check_stands_beside_spots(tmp_path):
    """And sees the states of the product, counted here by a formula."""
    arguments = ["--philosophers", "3", "--ring", "4", "--random"]
    arguments += ["--runs", "1", "--patience", "0"]
    rows = rows_of("benchmarks.emptiness", arguments, tmp_path / "emptiness.csv")
    tools = {(row["tool"], row["algorithm"]) for row in rows}
    assert {("ltlpipe", name) for name in SEARCHES} <= tools
    for name in ("SE05", "CVWY90", "GV04", "Cou99", "Tau03", "is_empty"):
        assert ("spot stored", name) in tools
    assert {("spot on the fly", "SE05"), ("spot on the fly", "Cou99")} <= tools
    assert {row["verdict"] for row in rows} == {"holds", "violated"}
    assert all(float(row["seconds"]) > 0 and row["spot"] for row in rows)
    whole = [row for row in rows if row["case"] == "ring 4, empty"]
    assert {row["product_states"] for row in whole} == {str(5**4)}
    assert {row["product_transitions"] for row in whole} == {str(4 * 5**4 + 4 * 5**2)}
    assert {row["states"] for row in whole if row["tool"] == "ltlpipe"} == {str(5**4)}
    for row in rows:
        if row["algorithm"] in ("se05", "couvreur99"):
            assert row["times_namesake"]
            assert row["times_is_empty"]


def test_acceptances_side_by_side(tmp_path):
    """Every way of a question has a row and agrees; the other tables are there."""
    rows = rows_of("benchmarks.acceptance", ["--quick"], tmp_path / "acceptance.csv")
    kinds = {"BA", "TGBA", "TGRA", "TFLA", "TELA"}
    families = {}
    for row in rows:
        families.setdefault(row["family"], set()).add(row["automaton"])
    for name in ("philosophers", "leader election", "rers"):
        assert kinds | {"TGRA det", "TFLA det", "TELA det"} == families.pop(name)
    assert all(ways == kinds for ways in families.values())
    assert len(families) > 3
    answered = [row for row in rows if row["verdict"] != "unknown"]
    assert len(answered) > len(rows) / 2
    # A search of a holding formula sees the whole product; rabin as often as it must.
    whole = [r for r in answered if r["verdict"] == "holds" and r["product_states"]]
    assert whole
    assert all(int(r["states"]) <= int(r["product_states"]) for r in answered)
    assert all(r["states"] == r["product_states"] for r in whole)
    with (tmp_path / "acceptance_summary.csv").open(encoding="utf-8") as stream:
        summary = list(csv.DictReader(stream))
    assert {row["verdict"] for row in summary} == {"all", "holds", "violated"}
    assert {row["automaton"] for row in summary} >= kinds
    with (tmp_path / "acceptance_aims.csv").open(encoding="utf-8") as stream:
        aims = list(csv.DictReader(stream))
    assert all(float(row["ratio"]) > 0 and row["aim"] for row in aims)
    for name in ("tgba", "pairs", "tfla"):
        assert (tmp_path / f"acceptance_{name}.svg").exists()


def test_symmetry_side_by_side(tmp_path):
    """All ways answer all formulas alike, and nothing is measured a second time."""
    arguments = ["--quick"]
    path = tmp_path / "table1_symmetry.csv"
    rows = rows_of("benchmarks.table1_symmetry", arguments, path)
    ways = {"QP+TEC", "SP+TEC"}
    ways |= {"SSP+TEC", "SSP+NSIEC", "SSP+IEC", "SSP+AEC", "SSP+closed"}
    lines = {(r["model"], r["size"], r["product"], r["method"]) for r in rows}
    nets = {("priorities", "3"), ("coloured-client-server", "3,2")}
    nets |= {("coloured-peers", "3")}
    products = {"empty", "not empty"}
    expected = {(*s, p, w) for s in nets for p in products for w in ways}
    assert lines == expected
    assert len(rows) == len(lines)
    assert {r["formulas"] for r in rows} == {"25"}
    states = {(r["model"], r["method"]): r for r in rows if r["product"] == "empty"}
    for model, _ in nets:  # inclusion saves states where everything is visited
        of = {way: float(states[model, way]["states"]) for way in ways}
        assert max(of["SSP+IEC"], of["SSP+NSIEC"]) <= of["SSP+TEC"]
        assert of["SSP+closed"] < of["SP+TEC"]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:16]), encoding="utf-8")

    arguments = ["--resume", "--runs", "1"]
    arguments += ["--priorities", "3", "--coloured-clients", "--peers", "--polyorb"]
    again = rows_of("benchmarks.table1_symmetry", arguments, path)

    assert again == rows[:14]


def test_strategies_side_by_side(tmp_path):
    """Each alone and all together; what has been measured is not measured again."""
    rows = rows_of("benchmarks.portfolio", ["--quick"], tmp_path / "portfolio.csv")
    questions = {row["question"] for row in rows}
    ways = {strategy.name for strategy in STRATEGIES} | {"auto"}
    assert {(r["question"], r["strategy"]) for r in rows} == {
        (question, way) for question in questions for way in ways
    }
    assert all(r["verdict"] != "unknown" for r in rows if r["strategy"] == "auto")
    with (tmp_path / "portfolio_summary.csv").open(encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    assert {line["kind"] for line in lines} == {"all"} | {r["kind"] for r in rows}
    assert {line["disagreements"] for line in lines} == {"0"}
    assert {line["missed"] for line in lines} == {"0"}
    assert (
        rows_of("benchmarks.portfolio", ["--quick"], tmp_path / "portfolio.csv") == rows
    )


def test_verdicts_that_differ_are_told():
    """Also if one of them is the published one."""

    def rows(**verdicts):
        about = {"kind": "k", "question": "q", "seconds": 1.0, "expected": None}
        return {way: about | {"verdict": verdict} for way, verdict in verdicts.items()}

    good = rows(explicit="holds", ample="unknown", auto="holds")
    lost = rows(explicit="holds", ample="unknown", auto="unknown")
    wrong = rows(explicit="violated", ample="unknown", auto="holds")
    assert portfolio.disagreements([good, lost]) == []
    assert len(portfolio.disagreements([wrong])) == 1
    good["auto"]["expected"] = "violated"
    assert len(portfolio.disagreements([good])) == 1
    assert portfolio.missed([good, lost]) == ["q"]
    assert portfolio.ratios(good) == (1.0, 0.5)
    assert portfolio.ratios(lost) is None


def test_phases_within_limits(tmp_path):
    """Each limit has a row, and what the process tree held is known."""
    arguments = ["--scale", "0.001", "--timeout", "5", "--latest", "10"]
    arguments += ["--phases", "read aut", "read hoa label"]
    rows = rows_of("benchmarks.limits", arguments, tmp_path / "limits.csv")
    limits = {"timeout", "memory", "ctrl-c"}
    phases = ("read aut", "read hoa label")
    assert {(r["phase"], r["limit"]) for r in rows} == {
        (phase, limit) for phase in phases for limit in limits
    }
    assert {row["verdict"] for row in rows} <= {"holds", "violated"}
    assert all(float(row["peak_mib"]) > 10 for row in rows)
    assert all(row["left_behind"] == "0" for row in rows)


def test_faults_cost_nothing(tmp_path):
    """Rows that somebody has edited are noticed, and solved anew."""
    arguments = ["--kinds", "edited rows", "--repetitions", "1"]
    (row,) = rows_of("benchmarks.faults", arguments, tmp_path / "faults.csv")
    assert (row["kind"], row["repetitions"]) == ("edited rows", "1")
    assert 35 <= int(row["kept"]) < 40
    aims = ("lost", "duplicated", "wrong", "raw_ends")
    assert [row[name] for name in aims] == ["0"] * 4


def test_an_interrupted_comparison_goes_on(tmp_path):
    """What is missing is measured, a torn line anew, and what is there stays."""
    table = tmp_path / "decoupled_random.csv"
    arguments = ["--quick", "--no-spin", "--part", "random"]
    rows = rows_of("benchmarks.decoupled", arguments, table)
    asked = {(row["components"], row["way"]) for row in rows}
    ways = {"decoupled", "couvreur99", "se05", "auto"}
    assert asked == {(n, way) for n in ("2", "4") for way in ways}
    assert len({(row["components"], row["verdict"]) for row in rows}) == 2
    assert all(row["verdict"] in ("holds", "violated") for row in rows)
    assert (tmp_path / "decoupled_scatter.svg").exists()
    assert (tmp_path / "decoupled_coverage.svg").exists()
    text = table.read_text(encoding="utf-8")
    table.write_text(text[:-5], encoding="utf-8")

    again = rows_of("benchmarks.decoupled", [*arguments, "--resume"], table)

    assert again[:-1] == rows[:-1]
    what = ("components", "ratio", "seed", "way", "verdict", "states")
    assert [again[-1][k] for k in what] == [rows[-1][k] for k in what]


def rows_of(module, arguments, table):
    """Run a script and return the table that it writes."""
    subprocess.run(
        [sys.executable, "-m", module, *arguments, "--out", str(table.parent)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=1800,
    )
    with table.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
