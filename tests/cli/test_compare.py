"""`ltlpipe compare`: the table, what is printed, and the exit codes."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace

import pytest

from ltlpipe import cli, load, results
from ltlpipe.batch import comparing
from ltlpipe.batch.table import COMPARISON_DTYPES, from_frame
from ltlpipe.runtime.jobs import Progress
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.verdict.checking import check
from tests.cli.command_line import RING, OnTerminal

HOLDS = "!(GF(a & X a) & GF b)"  # two marks on transitions as a TGBA
VIOLATED = "!(GF a & GF b)"  # another two
TWO = ["--emptiness", "se05,couvreur99"]


def cells(line):
    return [cell.strip() for cell in line.strip("│").split("│")]


def lines_of(printed):
    """Return the lines of the runs, and those of what each way has decided."""
    runs, _, ways = printed.partition("┃ way")
    return [[line for line in t.splitlines() if line[0] == "│"] for t in (runs, ways)]


@pytest.fixture
def liar(monkeypatch):
    """`check`, but for se05 everything holds."""

    def lying(*args, **options):
        verdict = check(*args, **options)
        if options["emptiness"] == "se05":
            return replace(verdict, verdict="holds", lasso=None)
        return verdict

    monkeypatch.setattr(comparing, "check", lying)


@pytest.fixture
def liar_of_rabin(monkeypatch):
    """`check`, but whatever `rabin` searches holds."""

    def lying(*args, **options):
        verdict = check(*args, **options)
        if verdict.plan.emptiness == "rabin":
            return replace(verdict, verdict="holds", lasso=None)
        return verdict

    monkeypatch.setattr(comparing, "check", lying)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_of_all_algorithms(suffix, run, ring, tmp_path):
    """One row per formula and algorithm in the file, and the same on the terminal."""
    formulas, out = tmp_path / "f.ltl", tmp_path / f"r{suffix}"
    formulas.write_text("# two\nG(a -> F b)\nG a\n")

    outcome = run("compare", ring, "-F", formulas, "--out", out)

    frame = results(out)
    assert {c: str(t) for c, t in frame.dtypes.items()} == COMPARISON_DTYPES
    assert frame["emptiness"].tolist() == 2 * list(SEARCHES)
    n = len(SEARCHES)
    assert frame["formula_id"].tolist() == n * ["1"] + n * ["2"]
    assert (outcome.code, outcome.err) == (1, "")
    lines = [cells(line) for line in lines_of(outcome.out)[0]]
    assert [line[1] for line in lines] == 2 * list(SEARCHES)
    assert [line[0] for line in lines if line[0]] == ["G(a -> F b)", "G a"]
    last = outcome.out.splitlines()[-1]
    assert last.startswith(f"{2 * n} rows written to {out} in ")


def test_a_line_of_the_terminal(run, ring):
    """Numbers in the order of the paper; a dash where there is none."""
    outcome = run("compare", ring, "-f", "G a", *TWO)

    title = next(line for line in outcome.out.splitlines() if "formula" in line)
    counted = "states transitions depth roots current length search_seconds"
    titles = " ".join(title.replace("┃", " ").split())
    assert titles == f"formula algorithm verdict {counted}"
    se05, couvreur99 = map(cells, lines_of(outcome.out)[0])
    assert se05[:3] == ["G a", "se05", "violated"]
    assert couvreur99[:3] == ["", "couvreur99", "violated"]
    verdict = check(load(ring), "G a", emptiness="couvreur99", acceptance="ba")
    stats = verdict.stats
    roots = stats.details["max_roots"]
    counts = [stats.states, stats.transitions, stats.max_depth, roots]
    assert couvreur99[3:9] == [*map(str, counts), "-", "2"]
    assert se05[6:9] == ["-", "-", "2"]
    assert outcome.out.splitlines()[-1].startswith("2 rows in ")


def test_formulas_that_look_like_markup(run, ring):
    """`[]a` is a formula; rich must not eat it."""
    assert "│ []a " in run("compare", ring, "-f", "[]a", *TWO).out


def test_several_acceptances(run, ring):
    """Then the table says which automaton; what does not suit is no error."""
    outcome = run("compare", ring, "-f", HOLDS, *TWO, "--acceptance", "ba,tgba")

    runs, ways = lines_of(outcome.out)
    lines = [cells(line)[1:4] for line in runs]
    assert lines == [
        ["se05", "BA", "holds"],
        ["couvreur99", "BA", "holds"],
        ["se05", "TGBA", "unknown (unsupported)"],
        ["couvreur99", "TGBA", "holds"],
    ]
    assert [cells(line)[:5] for line in ways] == [
        ["se05 (BA)", "1 of 1", "1", "0", "0"],
        ["couvreur99 (BA)", "1 of 1", "1", "0", "0"],
        ["se05 (TGBA)", "0 of 1", "0", "0", "0"],
        ["couvreur99 (TGBA)", "1 of 1", "1", "0", "0"],
    ]
    assert [cells(line)[-1] == "-" for line in ways] == [False, False, True, False]
    assert (outcome.code, outcome.err) == (0, "")


def test_what_only_one_way_decides(run, ring):
    """Listed below the table; what is open counts as twice the time limit."""
    flags = ["--acceptance", "tgba", "--timeout", "7s", *TWO]
    outcome = run("compare", ring, "-f", HOLDS, "-f", "F a", *flags)

    se05, couvreur99 = map(cells, lines_of(outcome.out)[1])
    assert (se05[:2], se05[4]) == (["se05 (TGBA)", "1 of 2"], "0")
    assert (couvreur99[1], couvreur99[4]) == ("2 of 2", "1")
    assert float(se05[6]) == pytest.approx(14 + float(se05[5]))
    assert couvreur99[6] == couvreur99[5]
    assert f"only couvreur99 (TGBA) decides {HOLDS}" in outcome.out.splitlines()


def test_a_grid_of_translators(run, ring, tmp_path):
    """Commands with blanks; further parts of a grid look like paths."""
    script, out, plot = (tmp_path / name for name in ("t.py", "r.csv", "p.svg"))
    script.write_text(
        "import sys, spot\nprint(spot.translate(sys.argv[1], 'BA').to_str('hoa'))\n"
    )
    command = f"{sys.executable} {script} %f"
    grid = ["--grid", f"translator={command},spot", "emptiness=se05,couvreur99"]
    flags = ["--repeat", 2, "--out", out, "--plot", plot]
    outcome = run("compare", ring, "-f", "F a", *grid, *flags)

    frame = results(out)
    assert frame["emptiness"].tolist() == 2 * ["se05", "couvreur99"]
    assert frame["repeats"].tolist() == 4 * [2]
    assert (outcome.code, outcome.err) == (0, "")
    runs, ways = lines_of(outcome.out)
    assert [cells(line)[2] for line in runs[2:]] == ["spot", "spot"]
    assert " translator " in outcome.out.splitlines()[1]
    assert [cells(line)[0] for line in ways[-2:]] == [
        "se05 (BA) --translator spot",
        "couvreur99 (BA) --translator spot",
    ]
    assert plot.read_text().startswith("<?xml")


def test_ways_of_a_grid_that_disagree(run, ring, liar):
    """The command has the grid, but for the searches and acceptances it names."""
    grid = ["--grid", "max_states=100,200 emptiness=se05,couvreur99"]
    outcome = run("compare", ring, "-f", "G a", *grid, "--quiet")

    said, command = outcome.err.splitlines()
    limited = [f"se05 (BA) --max-states {n}" for n in (100, 200)]
    assert f"{' and '.join(limited)} say holds, couvreur99 (BA)" in said
    assert command == (
        f"  ltlpipe compare {ring} -f 'G a' --emptiness se05,couvreur99 "
        "--acceptance ba --grid max_states=100,200"
    )
    assert outcome.code == 4


def test_how_long_kernels_are_compiled(run, ring, monkeypatch):
    """The last line says it, and leaves it out where nothing is."""

    def compiling(*args, progress, **options):
        if callable(progress):
            progress(Progress("compiling", compiling=True))
        verdict = check(*args, progress=False, **options)
        return replace(verdict, stats=replace(verdict.stats, compile_seconds=2.0))

    monkeypatch.setattr(comparing, "check", compiling)
    last = run("compare", ring, "-f", "F a", *TWO).out.splitlines()[-1]
    assert last.endswith(" s, 4.0 s of it compiling 2 emptiness checks")


FIN = "GF a -> GF(b & X b)"
"""Its violations have a pair with Fin."""


def test_all_acceptances(run, ring, tmp_path):
    """Sizes, pairs and shares of Fin for people; a dash where there is none."""
    out = tmp_path / "r.csv"
    flags = ["--acceptance", "all", "--sizes", "--out", out]
    outcome = run("compare", ring, "-f", FIN, *flags)

    title = next(line for line in outcome.out.splitlines() if "formula" in line)
    counted = "size pairs states transitions depth product Fin search_seconds"
    titles = " ".join(title.replace("┃", " ").split())
    assert titles == f"formula algorithm automaton verdict {counted}"
    lines = [cells(line) for line in lines_of(outcome.out)[0]]
    assert [line[1:4] for line in lines] == [
        ["couvreur99", "BA", "violated"],
        ["couvreur99", "TGBA", "violated"],
        ["rabin", "TGRA", "violated"],
        ["couvreur99", "TFLA", "violated"],
        ["tela", "TELA", "violated"],
    ]
    rows = from_frame(results(out))
    for line, found in zip(lines, rows, strict=True):
        share = found["fin_share"]
        assert line[4] == str(found["automaton_states"])
        assert line[5] == ("-" if found["pairs"] is None else str(found["pairs"]))
        assert line[9] == str(found["product_states"])
        assert line[10] == ("-" if share is None else f"{share:.1%}")
    assert [found["fin_share"] is None for found in rows] == [
        *2 * [True],
        False,
        True,
        False,
    ]
    assert (outcome.code, outcome.err) == (1, "")


def test_columns_that_nobody_asked_for(run, ring):
    """Without --sizes nothing is known of products."""
    outcome = run("compare", ring, "-f", FIN, "--acceptance", "tgba,tgra")
    title = next(line for line in outcome.out.splitlines() if "formula" in line)
    assert "product" not in title
    assert "Fin" not in title


def test_a_plot(run, ring, tmp_path):
    """Whole products are explored if asked for; JSON stays alone on standard output."""
    path = tmp_path / "p.svg"
    flags = ["--acceptance", "tgba,tgra,tela", "--plot", path, "--json"]
    outcome = run("compare", ring, "-f", FIN, *flags, "--sizes")

    shares = [record["fin_share"] for record in outcome.records]
    assert shares[0] is None
    assert 0 <= shares[1] == shares[2] <= 1
    assert path.read_text().startswith("<?xml")
    assert (outcome.code, outcome.err) == (1, "")


def test_a_plot_that_fails(run, ring, tmp_path, liar_of_rabin):
    """Bad usage; but a verdict that is wrong is worse."""
    path = tmp_path / "p.svg"
    path.mkdir()
    flags = ["--acceptance", "tgra,tela", "--plot", path, "--quiet"]
    outcome = run("compare", ring, "-f", "G a", *flags)
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: {path}: cannot be written")

    outcome = run("compare", ring, "-f", FIN, *flags)
    assert outcome.code == 4
    assert "cannot be written" in outcome.err
    outcome = run("compare", ring, "--empty", *flags)
    assert (outcome.code, "nothing to plot" in outcome.err) == (2, True)


def test_deterministic(run, ring):
    """A flag of the command that shows a disagreement, too."""
    flags = ["--acceptance", "tgba,tgra", "--deterministic", "--json"]
    outcome = run("compare", ring, "-f", FIN, *flags)
    assert [r["deterministic"] for r in outcome.records] == [False, True]


def test_acceptances_that_disagree(run, ring, liar_of_rabin):
    """Exit code 4, and a command with the searches that were chosen."""
    flags = ["--acceptance", "tgra,tela", "--deterministic", "--quiet"]
    outcome = run("compare", ring, "-f", FIN, *flags)

    assert (outcome.code, outcome.out) == (4, "")
    said, command = outcome.err.splitlines()
    assert said.endswith("rabin (TGRA) say holds, tela (TELA) say violated")
    assert command == (
        f"  ltlpipe compare {ring} -f '{FIN}' --emptiness rabin,tela "
        "--acceptance tgra,tela --deterministic"
    )


def test_several_files_and_empty(run, tmp_path):
    """Files are components of one network; --empty goes with formulas or alone."""
    (tmp_path / "1.aut").write_text(RING)
    (tmp_path / "2.aut").write_text('des (0, 2, 2)\n(0, "b", 1)\n(1, "c", 0)\n')
    files = [tmp_path / "1.aut", tmp_path / "2.aut"]

    outcome = run("compare", *files, "-f", "!c W b", "--empty", *TWO, "--json")

    assert {r["system"] for r in outcome.records} == {" ".join(map(str, files))}
    assert [(r["formula"], r["verdict"]) for r in outcome.records] == [
        *2 * [("!c W b", "holds")],
        *2 * [(None, "violated")],
    ]


def test_json(run, ring, tmp_path):
    """One object per run, the contract's keys first, nothing else on the output."""
    out = tmp_path / "r.csv"
    outcome = run("compare", ring, "-f", "G a", *TWO, "--json", "--out", out)

    rows = from_frame(results(out))
    assert len(outcome.records) == len(rows) == 2
    for record, row in zip(outcome.records, rows, strict=True):
        assert list(record)[:5] == ["system", "formula", "verdict", "reason", "plan"]
        assert record["plan"]["emptiness"] == row["emptiness"]
        assert record["lasso_length"] == row["lasso_length"] == 2
        assert record["max_roots"] == row["max_roots"]
        assert record["max_current"] is None
    assert (outcome.code, outcome.err) == (1, "")


def test_quiet(run, ring, tmp_path):
    """Nothing is printed; the table is written."""
    out = tmp_path / "r.csv"

    outcome = run("compare", ring, "-f", "G a", *TWO, "--quiet", "--out", out)

    assert outcome == (1, "", "")
    assert len(results(out)) == 2


def test_a_disagreement(run, ring, tmp_path, liar):
    """Exit code 4, the table complete, and a command that shows it again."""
    formulas, out = tmp_path / "f.ltl", tmp_path / "r.csv"
    formulas.write_text("0: G a\nF a\nG !b\n")
    flags = ["--seed", 0, "--max-states", 100, "--deadlock", "stutter", *TWO]

    outcome = run("compare", ring, "-F", formulas, *flags, "--out", out, "--quiet")

    assert (outcome.code, outcome.out) == (4, "")
    who = "se05 (BA) say holds, couvreur99 (BA) say violated, seed 0"
    command = f"ltlpipe compare {ring} -f {{}} --emptiness se05,couvreur99 "
    command += "--acceptance ba --deadlock stutter --seed 0 --max-states 100"
    assert outcome.err.splitlines() == [
        f"error: {ring}: G a (formula 0): {who}",
        "  " + command.format("'G a'"),
        f"error: {ring}: G !b (f.ltl:3): {who}",
        "  " + command.format("'G !b'"),
    ]
    frame = results(out)
    assert frame["verdict"].tolist() == [
        "holds",
        "violated",
        *3 * ["holds"],
        "violated",
    ]


def test_a_disagreement_without_formula(run, ring, liar):
    """The command asks the same question; acceptance plays no part."""
    outcome = run("compare", ring, "--empty", *TWO, "--quiet", "--unknown", "never")

    assert outcome.code == 4
    assert outcome.err.splitlines() == [
        f"error: {ring}: has no accepting run: se05 say holds, couvreur99 say violated",
        f"  ltlpipe compare {ring} --empty --emptiness se05,couvreur99 --unknown never",
    ]


def fail(emptiness, error, monkeypatch):
    """Have one emptiness check raise an error."""

    def failing(*args, **options):
        if options["emptiness"] == emptiness:
            raise error
        return check(*args, **options)

    monkeypatch.setattr(comparing, "check", failing)


def test_a_disagreement_goes_before_a_crash(run, ring, tmp_path, monkeypatch):
    """Whatever else is wrong, 4 says that some verdict is."""
    calls = []

    def erratic(*args, **options):
        if options.get("max_states"):  # warming up
            return check(*args, **options)
        calls.append(options["emptiness"])
        if len(calls) > 3:
            raise ZeroDivisionError
        verdict = check(*args, **options)
        return replace(verdict, verdict="holds") if len(calls) == 2 else verdict

    monkeypatch.setattr(comparing, "check", erratic)
    out = tmp_path / "r.csv"
    outcome = run("compare", ring, "-f", "G a", "-f", "F a", *TWO, "--out", out)

    assert results(out)["reason"].fillna("error").tolist() == 4 * ["error"]
    assert outcome.code == 4
    assert "this is a bug of ltlpipe" in outcome.err


@pytest.mark.parametrize(
    ("formulas", "flags", "code"),
    [
        (["F a"], [], 0),
        (["F a", "G a"], [], 1),
        (["F a", "G a"], ["--max-states", 1], 3),
        (["G !c", "G a"], [], 2),
        ([HOLDS], ["--acceptance", "tgba"], 0),
        ([HOLDS], ["--acceptance", "tgba", "--emptiness", "se05"], 3),
        ([VIOLATED], ["--acceptance", "tgba"], 1),
    ],
    ids=[
        "holds",
        "violated",
        "unknown",
        "input error",
        "one suits",
        "none suits",
        "one suits and finds",
    ],
)
def test_exit_codes(formulas, flags, code, run, ring):
    """Those of `check`; unsupported rows count only where no algorithm suits."""
    asked = [x for f in formulas for x in ("-f", f)]

    assert run("compare", ring, *asked, *TWO, *flags).code == code


def test_violated_goes_before_unknown(run, ring, monkeypatch):
    """And a crash before both: its row is no verdict."""
    real = comparing.check

    def slow(*args, **options):
        timeout = 0 if options["emptiness"] == "se05" else None
        return real(*args, **options | {"timeout": timeout})

    monkeypatch.setattr(comparing, "check", slow)
    outcome = run("compare", ring, "-f", "G a", *TWO, "--json")
    assert [r["reason"] for r in outcome.records] == ["timeout", None]
    assert outcome.code == 1

    fail("se05", ZeroDivisionError(), monkeypatch)
    outcome = run("compare", ring, "-f", "G a", *TWO, "--json")
    assert [r["reason"] for r in outcome.records] == ["error", None]
    assert outcome.code == 70
    assert outcome.err.count("this is a bug of ltlpipe") == 1


def test_what_is_said_once(run, ring):
    """A proposition that no algorithm can read, and one that is no action."""
    outcome = run("compare", ring, "-f", "G !c", *TWO)
    assert outcome.err.count("no action of the system is called 'c'") == 1

    outcome = run("compare", ring, "-f", "G !c", *TWO, "--unknown", "never")
    assert outcome.err == "warning: no action of the system is called 'c': never true\n"


def test_where_no_algorithm_suits(run, ring):
    """Standard error says why, for each formula."""
    flags = ["--emptiness", "se05", "--acceptance", "tgba"]
    outcome = run("compare", ring, "-f", HOLDS, "-f", VIOLATED, *flags)

    errors = outcome.err.splitlines()
    assert [e.split(" takes")[0] for e in errors] == [
        f"error: {HOLDS}: no algorithm suits: se05",
        f"error: {VIOLATED}: no algorithm suits: se05",
    ]


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ([], "expected -f FORMULA, -F FILE or --empty"),
        (["-f", "G("], "error: formula: syntax error"),
        (["-F", "nothing.ltl"], "error: nothing.ltl: cannot be read"),
        (["-f", "a", "--emptiness", "nonsense"], "nonsense: expected all, auto, or"),
        (
            ["-f", "a", "--emptiness", "se05", "--plot", "p.svg"],
            "--plot needs several ways",
        ),
        (["-f", "a", "--grid", "deadlock=ignore,stutter"], "makes another question"),
        (["-f", "a", "--grid", "jobs=1"], "'jobs' is not an option"),
        (["-f", "a", "--grid", "emptiness=se05,"], "expected option=value,value"),
        (
            ["-f", "a", "--acceptance", "all", "--plot", "p.txt"],
            "p.txt: expected a file that ends in .svg, .pdf or .png",
        ),
        (
            ["-f", "a", "--acceptance", "all", "--plot", "no/p.svg"],
            "no/p.svg: cannot be written: no such folder",
        ),
        (["-f", "a", "--emptiness", "x"], ", ".join(SEARCHES)),
        (["-f", "a", "--acceptance", "ba,x"], "--acceptance x: expected one of auto"),
        (["-f", "a", "--reduce", "symmetries"], "expected one of alphabet"),
        (["-f", "a", "--deadlock", "x"], "expected one of ignore, stutter"),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
def test_usage_errors(args, complaint, run, ring, tmp_path, monkeypatch):
    """Exit code 2 before anything runs; the table of the last run stays."""
    (tmp_path / "r.csv").write_text("precious")
    monkeypatch.setattr(comparing, "check", None)

    outcome = run("compare", ring, *args, "--out", tmp_path / "r.csv")

    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert "Traceback" not in outcome.err
    assert (tmp_path / "r.csv").read_text() == "precious"


def test_files_that_cannot_be_read_or_written(run, ring, tmp_path):
    """Said before any run."""
    outcome = run("compare", tmp_path / "no.aut", "-f", "a")
    assert outcome.err == (
        f"error: {tmp_path}/no.aut: cannot be read: No such file or directory\n"
    )
    outcome = run("compare", ring, "-f", "a", "--out", tmp_path / "r.txt")
    assert (outcome.code, outcome.out) == (2, "")
    assert "expected a file that ends in .csv or .parquet" in outcome.err


def test_ctrl_c_between_two_runs(run, ring, tmp_path, monkeypatch):
    """The rows so far stay and are shown; the rest is unknown."""
    begin = cli.compare._Watcher.begin

    def interrupted(self, task, number, total):
        if number == 2:
            raise KeyboardInterrupt
        begin(self, task, number, total)

    monkeypatch.setattr(cli.compare._Watcher, "begin", interrupted)

    outcome = run("compare", ring, "-f", "F a", *TWO, "--out", tmp_path / "r.csv")

    assert results(tmp_path / "r.csv")["verdict"].tolist() == ["holds"]
    assert outcome.code == 3
    last = outcome.out.splitlines()[-1]
    assert last.startswith(f"1 row written to {tmp_path}/r.csv in ")
    assert last.endswith("s, 1 more not run: interrupted")


@pytest.mark.thorough("sends a signal to a program at work")
def test_ctrl_c_in_a_search(big, tmp_path):
    """The row that was interrupted is the last one; a bar names the algorithm."""
    out = tmp_path / "r.csv"
    with OnTerminal("compare", big, "--empty", *TWO, "--out", out) as run:
        run.wait_for(r"1/2 se05 accepting run[^\r]* states, ")
        run.process.send_signal(signal.SIGINT)
        outcome = run.end()

    frame = results(out)
    assert frame["reason"].tolist() == ["interrupted"]
    assert frame["states"][0] > 0
    assert outcome.code == 3
    assert "unknown (interrupted)" in outcome.out


def test_runs_that_end(run, tmp_path):
    """No emptiness check answers then."""
    once = tmp_path / "once.aut"
    once.write_text('des (0,1,2)\n(0,"a",1)\n')
    outcome = run("compare", once, "-f", "G a", *TWO, "--deadlock", "error")
    assert outcome.code == 1
    assert outcome.out.count("violated") >= 2
