"""The published question: what is sampled, measured, compared, and refused."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pandas as pd
import pytest
import spot

from benchmarks import published_tables
from benchmarks.published import TEXTS, Limits, Search, main, searched
from benchmarks.published_data import Experiment, Question
from benchmarks.published_figures import automata, panels_of, plotted
from benchmarks.published_products import explored
from benchmarks.published_sample import Choice, balanced, interleaved, trials
from benchmarks.published_tables import (
    SIZES,
    TIMES,
    agreement,
    averaged,
    means,
    of_sample,
    speedups,
    wrong,
)
from ltlpipe import InputError, load
from ltlpipe.verdict.checking import product_size
from tests.cli.test_models import ring

pytestmark = pytest.mark.thorough("is about scripts of benchmarks, and runs them")

DEFAULT = Path(__file__).parents[3] / "shared" / "benchmarks"
DATA = Path(os.environ.get("LTLPIPE_BENCHMARKS", DEFAULT))
needs_data = pytest.mark.skipif(
    not (DATA / "mcc").is_dir(),
    reason=f"no benchmarks in {DATA} (LTLPIPE_BENCHMARKS)",
)

AUTOMATA = """HOA: v1
name: "ring_000 tgba"
States: 1
Start: 0
AP: 1 "p0 == 1"
acc-name: Buchi
Acceptance: 1 Inf(0)
--BODY--
State: 0
[!0] 0 {0}
[0] 0
--END--
HOA: v1
name: "ring_001 tgba"
States: 2
Start: 0
AP: 1 "p1 == 1"
acc-name: Buchi
Acceptance: 1 Inf(0)
--BODY--
State: 0
[t] 0
[!0] 1
State: 1
[!0] 1 {0}
--END--
HOA: v1
name: "ring_001 rabin"
States: 1
Start: 0
AP: 1 "p1 == 1"
acc-name: Rabin 2
Acceptance: 4 (Fin(0) & Inf(1)) | (Fin(2) & Inf(3))
--BODY--
State: 0
[0] 0 {0 2}
[!0] 0 {1 3}
--END--
"""
WEAK = """HOA: v1
States: 2
Start: 0
AP: 1 "p1 == 1"
Acceptance: 1 Fin(0)
--BODY--
State: 0
[!0] 0 {0}
[0] 1
State: 1
[t] 1 {0}
--END--
"""
HEAD = "model,index,translator,algorithm,verdict,unique_states,unique_transitions,"


@pytest.fixture
def folder(tmp_path):
    """A folder with the experiment "ring": two tasks, two translators."""
    found = tmp_path / "ring"
    (found / "models").mkdir(parents=True)
    (found / "automata").mkdir()
    (found / "models" / "ring.pnml").write_text(ring(5))
    (found / "tasks.csv").write_text(
        "model,index,formula,verdict\n"
        'ring,000,"F G (p0 == 1)",violated\n'
        'ring,001,"G F (p1 == 1)",holds\n'
    )
    with gzip.open(found / "automata" / "ring.hoa.gz", "wt") as stream:
        stream.write(AUTOMATA)
    (found / "published.csv").write_text(
        f"{HEAD}seconds_16_cores\n"
        "ring,000,tgba,ufscc,violated,,,0.01\n"
        "ring,001,tgba,ufscc,holds,9,18,0.5\n"
        f"{HEAD}seconds_16_cores\n"  # tables that were put together repeat it
        "ring,001,rabin,favoid,holds,10,10,2.0\n"
    )
    return found


def command(folder, out, *more):
    return ["ring", "--data", str(folder.parent), "--out", str(out), *more]


def table(out, name="runs"):
    return pd.read_csv(out / f"published_{name}.csv", dtype=TEXTS)


def test_verdicts_and_sizes_are_compared(folder, tmp_path):
    """Every kind of check and number of workers has a row, and all agree."""
    out = tmp_path / "out"
    assert main(command(folder, out)) == 0
    rows = table(out).set_index(["task", "translator", "workers"])
    assert rows["right"].all()
    assert len(rows) == 6  # of task 000 there is no automaton by rabin
    for workers, searches in ((0, "couvreur99"), (2, "ufscc")):
        held = rows.loc["001", "tgba", workers]
        assert (held["emptiness"], held["states"]) == (searches, 9)
        assert bool(held["same_states"])
        pairs = rows.loc["001", "rabin", workers]
        # Published is every state once for each pair.
        assert (pairs["emptiness"], pairs["states"], pairs["pairs"]) == ("rabin", 5, 2)
        assert bool(pairs["same_states"])
    products = table(out, "products").set_index(["task", "translator"])
    assert products.loc[("001", "rabin"), "fin_share"] == pytest.approx(0.2)
    assert pd.isna(products.loc[("001", "tgba"), "fin_share"])
    assert {path.name for path in out.iterdir()} == {
        *(f"published_table{number}.csv" for number in (4, 5)),  # nothing is Fin-less
        *("published_runs.csv", "published_products.csv", "published_tables.md"),
        *("published_summary.csv", "published_workers.csv"),
        *(f"published_fig{number}_ring.svg" for number in (6, 7, 8)),
    }


def test_what_is_wrong_is_told(folder, tmp_path, capsys):
    published = folder / "published.csv"
    published.write_text(published.read_text().replace("holds,9,18", "holds,10,18"))
    tasks = folder / "tasks.csv"
    tasks.write_text(tasks.read_text().replace(",violated", ",holds"))
    out = tmp_path / "out"
    assert main(command(folder, out, "--workers", "0", "--kinds", "tgba")) == 1
    told = capsys.readouterr().err
    assert "ring, ring, 000, tgba, tgba, 0, 0: violated, published" in told
    assert "9 states, counted 1 times; published 10" in told


def test_the_same_command_goes_on(folder, tmp_path, capsys):
    """After a budget, or a line that was cut off: rows are not measured twice."""
    out = tmp_path / "out"
    asked = command(folder, out, "--workers", "0")
    assert main([*asked, "--budget", "-1"]) == 0
    assert "0 of 3 searches done" in capsys.readouterr().out
    assert main([*asked, "--tasks", "1"]) == 0
    first = (out / "published_runs.csv").read_text()
    with (out / "published_runs.csv").open("a") as stream:
        stream.write("ring,ring,000,tg")
    assert main(asked) == 0
    again = (out / "published_runs.csv").read_text()
    assert again.startswith(first)
    assert len(table(out)) == 3
    assert len(table(out, "products")) == 3
    assert main([*asked, "--runs", "2"]) == 0
    assert table(out)["run"].tolist() == [0, 0, 0, 1, 1, 1]


def test_tables_of_what_is_there(folder, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(command(folder, out, "--tables")) == 0
    assert "no rows yet" in capsys.readouterr().out


def test_a_share_is_that_of_the_exploration(folder):
    """The marks that are put on the table are those that the search knows."""
    model = load(str(folder / "models" / "ring.pnml"))
    rabin = spot.automaton(AUTOMATA[AUTOMATA.rindex("HOA:") :])
    size = product_size(model, rabin, emptiness="rabin", reduce="none")
    row = explored(model, rabin, 1000, 10.0, 1000.0)
    assert row == {
        "weak": False,
        "states": size.states,
        "transitions": size.transitions,
        "fin_share": size.fin_share,
        "whole": True,
    }


def test_a_weak_automaton_has_its_share(folder):
    """p1 is marked after one step, and then all steps are in the Fin set."""
    model = load(str(folder / "models" / "ring.pnml"))
    row = explored(model, spot.automaton(WEAK), 1000, 10.0, 1000.0)
    assert (row["weak"], row["states"], row["transitions"]) == (True, 7, 7)
    assert row["fin_share"] == pytest.approx(6 / 7, abs=1e-3)
    part = explored(model, spot.automaton(WEAK), 2, 10.0, 1000.0)
    assert part["whole"] is False
    assert part["fin_share"] == pytest.approx(0.5)


def test_fin_sets_without_transitions(folder):
    model = load(str(folder / "models" / "ring.pnml"))
    for marks, share in (("{0}", 0.0), ("", 0.0)):
        unused = AUTOMATA[: AUTOMATA.index("--END--")].replace("{0}", marks)
        unused = unused.replace("1 Inf(0)", "2 Fin(1) & Inf(0)") + "--END--"
        row = explored(model, spot.automaton(unused), 1000, 10.0, 1000.0)
        assert row["fin_share"] == share
        assert row["states"] is None


def many(n):
    return [
        Question(model, f"{task:03}", ("holds", "violated")[task % 3 == 0])
        for model in "abc"
        for task in range(n)
    ]


def test_every_first_part_of_a_sample_is_balanced():
    questions = many(36)
    sizes = {q: (int(q.task), 0.0) for q in questions}
    order = balanced(questions, sizes, seed=7)
    assert sorted(order) == sorted(questions)
    assert order == balanced(questions[::-1], sizes, seed=7)
    assert order != balanced(questions, sizes, seed=8)
    for turn in range(3):
        some = order[6 * turn : 6 * turn + 6]
        assert len({(q.model, q.verdict) for q in some}) == 6
        thirds = sorted(sizes[q][0] // 12 for q in some)
        assert thirds == [0, 0, 1, 1, 2, 2]
    # Large ones occur in each stratum's first three.
    held = [q for q in order if (q.model, q.verdict) == ("b", "holds")][:3]
    assert {sizes[q][0] // 12 for q in held} == {0, 1, 2}


def test_interleaved():
    assert interleaved(["abc", "", "d", "ef"]) == list("adebfc")
    assert interleaved([]) == []


def row_of(task, name, seconds, verdict="holds", workers=0, **more):
    row = {"experiment": "x", "model": "m", "task": str(task), "translator": name}
    row |= {"kind": "tgba" if name in ("tgba", "finless") else "tgra", "run": 0}
    row |= {"workers": workers, "samples": "tgra", "verdict": verdict, "pairs": 1}
    row |= {"right": verdict != "unknown" or None, "same_states": None, "reason": None}
    row |= {"search_seconds": seconds, "states": 20_000, "transitions": 50_000}
    row |= {"published_seconds": seconds * 2, "published_states": 20_000.0}
    row |= {"published_transitions": 50_000.0, "bytes_per_state": 30.0}
    return row | more


def products_of(runs):
    about = runs[["experiment", "model", "task", "translator"]].drop_duplicates()
    return about.assign(
        automaton_states=3, pairs=2, fin_share=0.25, transitions=9, whole=False
    ).assign(acceptance="Fin(0)&Inf(1)")


def means_by_way(rows, columns=TIMES, sample="tgra"):
    runs = pd.DataFrame(rows)
    some = of_sample(averaged(runs), products_of(runs), sample)
    found = means(some, columns)
    return {(r["workers"], r["verdict"], r["translator"]): r for r in found}


def test_means_are_over_what_all_decided():
    """Tasks 0 and 1 count, 2 and 3 do not: undecided, and without an automaton."""
    found = means_by_way(
        [
            row_of(0, "tgba", 1.0),
            row_of(0, "rabin", 4.0),
            row_of(1, "tgba", 4.0, "violated"),
            row_of(1, "rabin", 16.0, "violated"),
            row_of(2, "tgba", 100.0),
            row_of(2, "rabin", 100.0, "unknown"),
            row_of(3, "tgba", 100.0),
        ]
    )
    both = found[0, "all", "rabin"]
    assert (both["tasks"], both["undecided"]) == (2, 1)
    assert both["search_seconds"] == pytest.approx(8.0)
    assert both["to_tgba"] == pytest.approx(4.0)
    assert both["published_tasks"] == 2
    assert both["published_seconds"] == pytest.approx(16.0)
    assert both["published_to_tgba"] == pytest.approx(4.0)
    assert found[0, "holds", "rabin"]["search_seconds"] == pytest.approx(4.0)
    assert found[0, "violated", "tgba"]["published_tasks"] == 1


def test_published_means_are_over_what_is_published_of_all():
    found = means_by_way(
        [
            row_of(0, "tgba", 1.0),
            row_of(0, "rabin", 4.0),
            row_of(1, "tgba", 4.0),
            row_of(1, "rabin", 16.0, published_seconds=None),
        ]
    )
    row = found[0, "all", "tgba"]
    assert (row["tasks"], row["published_tasks"]) == (2, 1)
    assert row["search_seconds"] == pytest.approx(2.0)
    assert row["same_seconds"] == pytest.approx(1.0)
    assert row["published_seconds"] == pytest.approx(2.0)
    assert found[0, "all", "rabin"]["same_to_tgba"] == pytest.approx(4.0)


def test_sizes_are_of_the_same_tasks():
    """Three products were searched whole; the sizes of one of them are published."""
    rows = [
        row_of(
            task,
            name,
            1.0,
            states=states,
            published_states=None if task else 2.0 * states,
        )
        for task, states in ((0, 1000), (1, 10), (2, 10))
        for name in ("tgba", "rabin")
    ]
    found = means_by_way(rows, SIZES)
    row = found[0, "all", "tgba"]
    assert row["states_tasks"] == 1 < row["tasks"]
    assert row["product_states"] == pytest.approx(1000)
    assert row["published_states"] == pytest.approx(2000)

    for row in rows:
        row["published_states"] = None
    row = means_by_way(rows, SIZES)[0, "all", "tgba"]
    assert row["states_tasks"] == 3
    assert row["product_states"] == pytest.approx(10 ** (5 / 3), rel=1e-3)
    assert row["published_states"] is None


def test_products_are_those_that_were_searched_whole():
    columns = ("product_states", "product_transitions", "automaton_states", "pairs")
    rows = [
        row_of(task, name, 1.0, verdict, states=states)
        for task, verdict, states in ((0, "holds", 40_000), (1, "violated", 5))
        for name in ("tgba", "rabin")
    ]
    found = means_by_way(rows, columns)
    assert found[0, "all", "tgba"]["product_states"] == pytest.approx(40_000)
    # Of the TGRA only a part was explored, so of neither are there transitions.
    assert found[0, "all", "tgba"]["product_transitions"] is None
    assert found[0, "violated", "rabin"]["product_states"] is None
    assert found[0, "violated", "rabin"]["pairs"] == 2


def test_samples_have_their_translators():
    rows = [
        row_of(0, name, 1.0, samples="tgra tfla")
        for name in ("tgba", "ltl3tela", "rabinizer3", "finless")
    ]
    names = {name for _, _, name in means_by_way(rows)}
    assert names == {"tgba", "ltl3tela", "rabinizer3"}
    names = {name for _, _, name in means_by_way(rows, sample="tfla")}
    assert names == {"tgba", "ltl3tela", "finless"}


def test_runs_are_averaged():
    """What one run did not decide is not decided."""
    runs = [
        *(row_of(0, "tgba", seconds, run=n) for n, seconds in enumerate((1.0, 3.0))),
        row_of(1, "tgba", 1.0, "unknown", run=0),
        row_of(1, "tgba", 1.0, run=1),
    ]
    found = averaged(pd.DataFrame(runs)).set_index("task")
    assert found.loc["0", "search_seconds"] == pytest.approx(2.0)
    assert found.loc["1", "verdict"] == "unknown"


def test_workers_beside_the_sequential_search(monkeypatch):
    monkeypatch.setattr(published_tables, "LARGE", 10_000)
    runs = [
        row_of(0, "tgba", 4.0),
        row_of(0, "tgba", 2.0, workers=2),
        row_of(1, "tgba", 1.0, states=10),
        row_of(1, "tgba", 2.0, workers=2, states=10),
        row_of(2, "tgba", 1.0, "unknown"),
        row_of(2, "tgba", 1.0, workers=2),
    ]
    (row,) = speedups(pd.DataFrame(runs))
    assert (row["workers"], row["tasks"], row["large_tasks"]) == (2, 2, 1)
    assert row["times_as_fast"] == pytest.approx(1.0)
    assert row["times_as_fast_large"] == pytest.approx(2.0)


def test_agreement_counts_rows(monkeypatch):
    monkeypatch.setattr(published_tables, "LARGE", 10_000)
    runs = pd.DataFrame(
        [
            row_of(0, "tgba", 0.01, same_states=True),
            row_of(1, "tgba", 0.02, same_states=False),
            row_of(2, "tgba", 0.04, "unknown"),
            row_of(3, "tgba", 0.01, right=False, states=5),
        ]
    )
    (row,) = agreement(runs)
    assert (row["right"], row["wrong"], row["undecided"]) == (2, 1, 1)
    assert (row["same_size"], row["other_size"]) == (1, 1)
    assert row["states_per_second"] == 1e6  # of three with 10,000 states
    told = list(wrong(runs))
    assert len(told) == 2
    assert "x, m, 1, tgba, tgba, 0, 0: 20000 states" in told[0]


def test_searches_have_to_agree_with_each_other():
    """Where nothing is published, sizes of one product must not differ."""
    runs = [row_of(0, "tgba", 1.0), row_of(0, "tgba", 1.0, workers=2, states=20_001)]
    assert list(wrong(pd.DataFrame(runs))) == ["x, m, 0, tgba: sizes [20000, 20001]"]


def test_figures_show_the_most_workers():
    """Fig. 9 compares Fin-less automata with what they were made from."""
    runs = pd.DataFrame(
        [
            row_of(task, name, 1.0, workers=workers, samples="tfla")
            for task in (0, 1)
            for name in ("tgba", "ltl3tela", "finless")
            for workers in (0, 2)
        ]
        + [row_of(2, "tgba", 1.0, workers=2), row_of(2, "ltl3tela", 1.0, workers=2)]
        + [row_of(0, "finless", 1.0, workers=2, samples="tfla", kind="tgra")]
    )
    frame = plotted(runs, products_of(runs))
    assert len(frame) == 9
    panels = panels_of(frame)
    assert panels[6] == [
        ("tgba", "finless"),
        ("tgba", "finless, tgra check"),
        ("tgba", "ltl3tela"),
    ]
    assert panels[8] == [("tgba", "ltl3tela")]
    assert panels[9] == [("ltl3tela", "finless")]
    assert 9 not in panels_of(frame[frame["translator"] != "finless"])


def test_numbers_of_tasks(folder, tmp_path):
    """The tables say how many tasks they and the figures stand for."""
    out = tmp_path / "out"
    assert main(command(folder, out, "--workers", "0")) == 0
    text = (out / "published_tables.md").read_text()
    assert "| Table 4 | ring | all | 0 | 1 | 1 | - |" in text
    assert "| Fig. 6 | ring | rabin against tgba | 0 | 1 | 1 | 0 |" in text
    assert "| Fig. 7 | ring | 3 automata | - | - | - | - |" in text


def test_automata_are_drawn(folder):
    titles = [axes.get_title() for axes in automata(Experiment("ring", folder)).axes]
    assert titles == ["tgba: 2 (0 not shown)", "rabin: 1 (0 not shown)"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: (f / "tasks.csv").unlink(), "tasks.csv: cannot be read"),
        (lambda f: (f / "tasks.csv").write_text("model,index\n"), "tasks.csv:1"),
        (
            lambda f: (f / "tasks.csv").write_text(
                "model,index,formula,verdict\nrung,0,p0,holds\n"
            ),
            "no such model",
        ),
        (lambda f: (f / "models" / "ring.pnml").unlink(), "expected models"),
        (
            lambda f: (f / "automata" / "ring.hoa.gz").write_bytes(b"\x1f\x8bx"),
            "ring.hoa.gz: cannot be read",
        ),
        (
            lambda f: (f / "published.csv").write_text("model,translator\n"),
            "expected the columns algorithm",
        ),
    ],
)
def test_bad_folders(folder, change, message):
    change(folder)
    with pytest.raises(InputError, match=message):
        Experiment("ring", folder)


def test_bad_input_is_told(folder, tmp_path, capsys):
    """Exit code 2, and a message without a traceback."""
    asked = command(folder, tmp_path / "out")
    assert main([*asked, "--translators", "x"]) == 2
    assert "--translators=x: expected some of rabin, tgba" in capsys.readouterr().err
    assert main([*asked, "--kinds", "tela"]) == 2
    assert "--kinds=tela: expected some of tgba, tgra" in capsys.readouterr().err
    (folder / "tasks.csv").unlink()
    assert main(asked) == 2
    assert "error: " in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main([*asked, "--workers", "-1"])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--workers", "32"), "workers=32: expected"),
        (("--timeout", "-1"), "timeout=-1.0: expected"),
    ],
    ids=["workers", "timeout"],
)
def test_bad_options_are_told_at_once(folder, tmp_path, capsys, options, told):
    out = tmp_path / "out"
    assert main([*command(folder, out), *options]) == 2
    assert told in capsys.readouterr().err
    assert not out.exists()


def test_what_cannot_be_searched_is_a_row(folder, tmp_path, capsys):
    """A proposition that names nothing of the model: the other searches go on."""
    with gzip.open(folder / "automata" / "ring.hoa.gz", "wt") as stream:
        stream.write(AUTOMATA.replace("p0 == 1", "nothing == 1"))
    out = tmp_path / "out"
    assert main(command(folder, out, "--workers", "0")) == 1
    told = "000, tgba, tgba, 0, 0: error: formula: nothing in the system"
    assert told in capsys.readouterr().err
    rows = table(out).set_index(["task", "translator"])
    assert rows.loc[("000", "tgba"), "verdict"] == "unknown"
    assert rows.loc[("001", "rabin"), "verdict"] == "holds"
    assert bool(rows.loc[("001", "rabin"), "same_states"])


@needs_data
def test_names_that_differ_are_joined():
    """Automata of ltl3hoa and tgbarabin have the published rows that are theirs."""
    mcc = Experiment("mcc", DATA / "mcc")
    assert mcc.translators == ["ltl3dra", "ltl3hoa", "rabinizer3", "tgba"]
    assert mcc.kinds("tgba") == ["tgba", "tgra"]
    assert mcc.kinds("ltl3hoa") == ["tgra"]
    assert len(mcc.published) == 5 * 24
    beem = Experiment("beem", DATA / "beem")
    assert beem.kinds("finless") == ["tgba", "tgra"]
    for experiment in (mcc, beem):
        for (question, name, _), row in experiment.published.items():
            found = experiment.automata[question, name]
            assert found.states == row.automaton_states


@needs_data
def test_the_sample_of_the_published_tasks():
    """60 tasks of each translator, where there are so many."""
    names = ("beem", "mcc")
    folders = [Experiment(name, DATA / name) for name in names]
    found = trials(folders, Choice(60))
    assert found == trials(folders, Choice(60))
    counts = {
        (name, translator): len(
            {
                t.question
                for t in found
                if (t.experiment.name, t.translator) == (name, translator)
            }
        )
        for name, translator in {(t.experiment.name, t.translator) for t in found}
    }
    assert min(n for (name, _), n in counts.items() if name == "beem") == 60
    assert counts["mcc", "ltl3hoa"] == 47  # all that there are
    assert counts["mcc", "ltl3dra"] == 43
    tgra = {t.question for t in found if t.experiment is folders[0]}
    assert {q.model for q in tgra} == set(folders[0].models)
    assert {q.verdict for q in tgra} == {"holds", "violated"}
    sizes = folders[0].sizes()
    assert max(sizes[q][0] for q in tgra) > 100_000_000
    only = trials(folders, Choice(60, translators=["ltl3dra"]))
    assert {t.question for t in only} <= {t.question for t in found}


@needs_data
def test_published_automata_on_a_published_net():
    """Every way of a small task has the published verdict and size."""
    mcc = Experiment("mcc", DATA / "mcc")
    sizes = mcc.sizes()
    held = [q for q in mcc.questions if q.verdict == "holds"]
    small = min(held, key=lambda q: sizes[q])
    rows = [
        searched(Search(trial, 0, 0), Limits(60.0, 4096.0, 1))
        for trial in trials([mcc], Choice(60))
        if trial.question == small
    ]
    assert {(row["translator"], row["kind"]) for row in rows} == {
        *(("tgba", "tgba"), ("tgba", "tgra"), ("ltl3dra", "tgra")),
        *(("ltl3hoa", "tgra"), ("rabinizer3", "tgra")),
    }
    assert all(row["right"] and row["same_states"] for row in rows)
