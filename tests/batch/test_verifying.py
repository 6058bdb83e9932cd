"""Stored lassos are replayed: those that are none are found, whoever wrote them."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltlpipe import LtlpipeError, check, load, solve, verify
from ltlpipe.batch.answering import Systems, answer
from ltlpipe.batch.stored_rows import insertion, sealed, stored_rows
from ltlpipe.batch.tasks import AutomatonFile, Task
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import complete
from ltlpipe.verdict import recorded as recorded_runs
from ltlpipe.verdict.recorded import UndecidedError, confirmed, recorded, run_options
from tests.report.handmade_stores import make_store, result

ROOT = Path(__file__).parents[2]
NETWORK = """digraph g {
  subgraph cluster_0 { s0 -> a0 [label=""]; a0 -> a1 [label="ask"];
    a0 -> a2 [label="ask"]; a1 -> a0 [label="meet"]; a2 -> a2 [label="wait"]; }
  subgraph cluster_1 { s1 -> b0 [label=""]; b0 -> b0 [label="meet"];
    b0 -> b1 [label="rest"]; b1 -> b0 [label="wake"]; }
}
"""
"""After ask it may wait for ever, or meet; the other one rests and wakes."""


@pytest.fixture
def system(tmp_path):
    path = tmp_path / "systems" / "deep" / "pair.dot"
    path.parent.mkdir(parents=True)
    path.write_text(NETWORK)
    return path


def solved(path, tasks):
    """A store with what `check` says of tasks."""
    systems = Systems()
    return make_store(
        path, [(t, answer(t, systems, {}, progress=False).row) for t in tasks]
    )


def rewritten(path, **columns):
    """Change the results of a store as its writer could: with their checksums."""
    with closing(sqlite3.connect(path)) as db:
        rows = [row.said | columns for row in stored_rows(db, "results")]
        written = [sealed("results", row) for row in rows]
        db.executemany(insertion("results", written[0]), written)
        db.commit()


def found(path, **options):
    frame = verify(path, **options)
    return list(zip(frame["finding"].tolist(), frame["why"].tolist(), strict=True))


def findings(path, **options):
    return [finding for finding, _ in found(path, **options)]


def test_what_solve_has_written(system, tmp_path):
    """Networks and models, formulas and automata, fairness, constraints, deadlocks."""
    hoa = tmp_path / "no-meet.hoa"
    hoa.write_text(
        'HOA: v1\nStates: 1\nStart: 0\nAP: 1 "meet"\nacc-name: Buchi\n'
        "Acceptance: 1 Inf(0)\n--BODY--\nState: 0 {0}\n[!0] 0\n--END--\n"
    )
    dve = ROOT / "examples/dve/peterson.dve"
    net = ROOT / "examples/pnml/vending.pnml"
    place = next(iter(load([net]).shown(load([net]).initial())))
    file = (str(system),)
    tasks = [
        Task(file, "G(ask -> F meet)"),
        Task(file, "GF meet", options={"fairness": "weak"}),
        Task(file, AutomatonFile(str(hoa))),
        Task(file, "F rest", options={"constraint": str(hoa)}),
        Task(file, "G !wake"),
        Task(file, "true"),
        Task((str(dve),), "F false"),
        Task((str(net),), f"G({place} == 77)", options={"deadlock": "stutter"}),
    ]
    store = solved(tmp_path / "run.sqlite", tasks)
    before = store.read_bytes()

    outcome = found(store)

    assert [f for f, _ in outcome] == [
        *(["confirmed"] * 5),
        "on-trust",
        *(["confirmed"] * 2),
    ], outcome
    assert store.read_bytes() == before


@pytest.mark.parametrize(
    ("prefix", "cycle", "why"),
    [
        ([], ["rest"], "the cycle does not close"),
        ([], ["meet"], "step 1, 'meet', is not a step"),
        (["ask"], ["wait", "magic"], "step 3, 'magic', is not a step"),
        (["ask"], ["meet", "ask"], "is not a violation"),
        ([], ["ask", "meet"], "is not a violation"),
        (["ask"], [], "has no cycle"),
        (["ask", "wait"], ["<stutter>"], "is not a step"),
    ],
)
def test_a_lasso_that_is_none(system, tmp_path, prefix, cycle, why):
    """Its checksum is right: somebody has written it so."""
    task = Task((str(system),), "G(ask -> F meet)")
    store = make_store(
        tmp_path / "run.sqlite", [(task, result("violated", prefix, cycle))]
    )
    ((finding, said),) = found(store)
    assert (finding, why in said) == ("refuted", True), said


def test_a_choice_that_names_leave_open(system, tmp_path):
    """ask leads to two states; only one of them can wait."""
    task = Task((str(system),), "G(ask -> F meet)")
    rows = [(task, result("violated", ["ask"], ["wait"]))]
    assert findings(make_store(tmp_path / "run.sqlite", rows)) == ["confirmed"]


def test_damage(system, tmp_path):
    """A row that is not as it was written is not replayed."""
    tasks = [Task((str(system),), f) for f in ("G !ask", "G !rest", "true")]
    store = solved(tmp_path / "run.sqlite", tasks)
    with closing(sqlite3.connect(store)) as db:
        db.execute("UPDATE results SET states = 1 WHERE formula = 'G !ask'")
        db.commit()
    assert sorted(findings(store)) == ["confirmed", "damaged", "on-trust"]


def test_the_result_of_another_task(system, tmp_path):
    """With another version, or of another formula: the key tells."""
    store = solved(tmp_path / "run.sqlite", [Task((str(system),), "G !ask")])
    rewritten(store, ltlpipe_version="0.0.1")
    assert found(store) == [("damaged", "its key is not that of the task")]
    store.unlink()
    store = solved(tmp_path / "run.sqlite", [Task((str(system),), "G !ask")])
    with closing(sqlite3.connect(store)) as db:
        (row,) = stored_rows(db, "tasks")
        said = row.said | {"formula": "G !rest"}
        written = sealed("tasks", said)
        db.execute(insertion("tasks", written), written)
        db.commit()
    assert found(store) == [("damaged", "its key is not that of the formula")]


def test_double_solved_tasks(system, tmp_path):
    """A replayed lasso refutes what holds; without one, neither is believed."""
    file = (str(system),)
    task = Task(file, "G(ask -> F meet)")
    other = Task(file, "G(ask -> F meet)", options={"emptiness": "se05"})
    fair = Task(file, "G(ask -> F meet)", options={"fairness": "weak"})
    own = result("violated", ["ask"], ["wait"])
    none = result("violated", reason="lasso-limit")
    store = make_store(
        tmp_path / "a.sqlite", [(task, own), (other, result()), (fair, result())]
    )
    assert findings(store) == ["confirmed", "refuted", "on-trust"]
    store = make_store(tmp_path / "b.sqlite", [(task, none), (other, result())])
    assert findings(store) == ["contradicted", "contradicted"]


def test_names_of_files_are_part_of_a_question(tmp_path):
    """Sets of fairness may name components, which have the names of their files."""
    texts = [f'des (0, 1, 1)\n(0, "{name}", 0)\n' for name in "ab"]
    tasks = []
    for folder, names in (("x", ("l.aut", "r.aut")), ("y", ("r.aut", "l.aut"))):
        (tmp_path / folder).mkdir()
        files = tuple(str(tmp_path / folder / name) for name in names)
        for file, text in zip(files, texts, strict=True):
            Path(file).write_text(text)
        options = {"fairness": "weak", "fair_sets": ["l.aut"]}
        tasks.append(Task(files, "G F a", options=options))
    found = solve(tasks, store=tmp_path / "run.sqlite")
    assert found["verdict"].tolist() == ["holds", "violated"]
    findings = verify(tmp_path / "run.sqlite")["finding"]
    assert findings.tolist() == ["on-trust", "confirmed"]


def test_files_that_have_gone(system, tmp_path):
    """They are looked for below --system-root, and have to hold what they held."""
    store = solved(tmp_path / "run.sqlite", [Task((str(system),), "G !ask")])
    moved = tmp_path / "moved" / "deep"
    shutil.move(system.parent, moved)
    assert found(store) == [("not-checked", f"{system} is not there")]
    assert findings(store, system_root=moved.parent) == ["confirmed"]
    assert findings(store, system_root=moved) == ["confirmed"]
    (moved / "pair.dot").write_text(NETWORK.replace("rest", "sleep"))
    ((finding, why),) = found(store, system_root=moved)
    assert (finding, why) == ("not-checked", f"{system} holds something else now")


def test_a_store_that_names_a_program(system, tmp_path):
    """Nothing that a store says is run."""
    mark = tmp_path / "it has run"
    task = Task((str(system),), "G !ask", options={"translator": f"touch '{mark}' %f"})
    rows = [(task, result("violated", ["ask"], ["wait"]))]
    assert findings(make_store(tmp_path / "run.sqlite", rows)) == ["confirmed"]
    assert not mark.exists()


def test_what_is_no_store(tmp_path):
    with pytest.raises(LtlpipeError, match="the store does not exist"):
        verify(tmp_path / "nothing.sqlite")


# --- lassos -----------------------------------------------------------------

FORMULAS = ["G !{0}", "F {0}", "GF {0}", "FG {0}", "G({0} -> F {1})", "X {0} U {1}"]


def some_network(chance):
    """A network of two components with nondeterminism and a shared action."""
    parts = []
    for k in range(2):
        labels = ["x", "y", f"p{k}"]
        edges = [
            f's -> {k}0 [label=""];',
            *(
                f"{k}{chance.randrange(3)} -> {k}{chance.randrange(3)} "
                f'[label="{chance.choice(labels)}"];'
                for _ in range(7)
            ),
        ]
        text = " ".join(edges).replace("s ->", f"s{k} ->")
        parts.append(f"subgraph cluster_{k} {{ {text} }}")
    return "digraph g { " + " ".join(parts) + " }"


def check_random_lassos(folder, seeds):
    """What `check` finds is confirmed; what is no run, or no violation, is not.

    The second opinion on changed lassos is the set of all runs with these names, by
    plain search, and their words by Spot.
    """
    n_violated = n_refuted = 0
    for seed in seeds:
        chance = random.Random(seed)
        path = folder / f"{seed}.dot"
        path.write_text(some_network(chance))
        network = load([path])
        names = [action.name for action in network.actions]
        text = chance.choice(FORMULAS).format(*chance.choices(names, k=2))
        verdict = check(network, text, deadlock=chance.choice(["ignore", "stutter"]))
        if verdict.lasso is None:
            continue
        n_violated += 1
        options = run_options({"deadlock": "stutter"})
        asked = Property(parsed(text))
        lasso = verdict.lasso
        told = recorded(tuple(lasso.prefix), tuple(lasso.cycle))
        again = complete(confirmed(network, asked, told, options))
        assert beginning(again) == beginning(lasso)  # maybe another run of the word
        changed = list(told.names)
        changed[chance.randrange(len(changed))] = chance.choice(names)
        k = len(lasso.prefix)
        other = recorded(tuple(changed[:k]), tuple(changed[k:]))
        expected = is_run(network, other) and not satisfied(text, other)
        try:
            complete(confirmed(network, asked, other, options))
            said = True
        except ReplayError:
            said = False
        assert said == expected, (seed, text, other)
        n_refuted += not said
    return n_violated, n_refuted


def beginning(lasso):
    """The first letters of the word of a lasso, more than tell words apart."""
    names, k = lasso.action_names, len(lasso.prefix)
    return [*names[:k], *names[k:] * 400][:400]


def parsed(text):
    from ltlpipe import parse

    return parse(text)


def is_run(network, told):
    """Whether there is a run with these names that closes, by sets of local states.

    The components of a network without internal actions choose for themselves.
    """
    alphabets = [set(c.labels) for c in network.components]
    if "<stutter>" in told.names:  # a matter of the whole state: not changed here
        return stutters_rightly(network, told)
    for component, alphabet in zip(network.components, alphabets, strict=True):
        edges = list(zip(component.src, component.label, component.dst, strict=True))

        def after(states, names, edges=edges, component=component, own=alphabet):
            for name in names:
                if name in own:
                    states = {
                        d
                        for s, a, d in edges
                        if s in states and component.labels[a] == name
                    }
            return states

        starts = after({component.initial}, told.prefix)
        if not any(s in after({s}, told.cycle) for s in starts):
            return False
    return True


def stutters_rightly(network, told):
    """The same where states repeat themselves, on composed states."""
    from ltlpipe.systems.plain_steps import NetworkSteps

    view = NetworkSteps(network)

    def after(states, names):
        for name in names:
            if name == "<stutter>":
                states = {s for s in states if not view.steps(s)}
            else:
                states = {
                    t.state
                    for s in states
                    for t in view.steps(s)
                    if network.actions[t.action].name == name
                }
        return states

    starts = after({view.initial()}, told.prefix)
    return any(s in after({s}, told.cycle) for s in starts)


def satisfied(text, told):
    """Whether the word of a lasso satisfies a formula, evaluated directly."""
    from ltlpipe.logic.words import Shape, evaluate

    where = {}
    for place, name in enumerate(told.names):
        if name != "<stutter>":
            where[name] = where.get(name, 0) | 1 << place
    shape = Shape(len(told.prefix), len(told.cycle))
    return bool(evaluate(parsed(text).spot, shape, where) & 1)


def test_random_lassos(tmp_path):
    n_violated, n_refuted = check_random_lassos(tmp_path, range(40))
    assert n_violated >= 15
    assert n_refuted >= 5


@pytest.mark.slow
def test_thousands_of_random_lassos(tmp_path):
    n_violated, n_refuted = check_random_lassos(tmp_path, range(100, 4100))
    assert n_violated > 1000
    assert n_refuted > 500


def test_too_many_ways(system, monkeypatch):
    """That is said: it is neither a violation nor none."""
    monkeypatch.setattr(recorded_runs, "MOST_ALIKE", 1)
    told = recorded(("ask",), ("wait",))
    asked = Property(parsed("G(ask -> F meet)"))
    with pytest.raises(UndecidedError, match="more than 1 states"):
        complete(confirmed(load([system]), asked, told, run_options({})))


def test_json_of_each_row(system, tmp_path, monkeypatch):
    """The table has the columns of its contract."""
    store = solved(tmp_path / "run.sqlite", [Task((str(system),), "G !ask")])
    frame = verify(store)
    assert json.loads(frame.to_json(orient="records"))[0]["finding"] == "confirmed"
    assert frame["configuration"].tolist() == ["default"]
