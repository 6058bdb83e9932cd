"""Few lassos for many violated formulas: against the definition, on random batches."""

from __future__ import annotations

import json
import random
import warnings
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
import spot

from ltlpipe import (
    LTS,
    LtlpipeError,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    check,
    load,
    parse,
    results,
    save,
    solve,
    witnesses,
)
from ltlpipe.batch.shared_runs import WITNESS_DTYPES, few
from ltlpipe.batch.tasks import Task
from ltlpipe.verdict.recorded import recorded
from tests.oracles import satisfies
from tests.spot_graphs import random_formula
from tests.verdict.test_vacuity import has_run, random_net

PETERSON = "examples/dve/peterson.dve"


def network(*transitions, name="m"):
    return Network([LTS.from_transitions(list(transitions))], name)


#: a and b at any time, and c once, after which there is only d.
FREE = network((0, "a", 0), (0, "b", 0), (0, "c", 1), (1, "d", 1))


def listed(frame, *columns):
    """The cells of some columns, JSON read."""
    cells = frame[list(columns)].to_numpy().tolist()
    return [[json.loads(c) if isinstance(c, str) else c for c in row] for row in cells]


def violates(text, prefix, cycle):
    return not satisfies(parse(text).spot, prefix, cycle)


# --- random batches ---------------------------------------------------------


def assert_represents(frame, found, runs_in):
    """Each violated formula is listed by exactly the runs that violate it.

    `frame` has the results of one system, `runs_in` says if a lasso is one of its runs.
    """
    violated = set(frame.loc[frame["verdict"] == "violated", "formula"])
    stored = {
        (row.lasso_prefix, row.lasso_cycle)
        for row in frame[frame["verdict"] == "violated"].itertuples()
    }
    covered = set()
    for row in found.itertuples():
        prefix, cycle = json.loads(row.lasso_prefix), json.loads(row.lasso_cycle)
        assert (row.lasso_prefix, row.lasso_cycle) in stored
        assert runs_in(prefix, cycle)
        expected = {f for f in violated if violates(f, prefix, cycle)}
        assert set(json.loads(row.formulas)) == expected
        assert row.n_formulas == len(json.loads(row.formula_ids)) == len(expected)
        assert row.steps == len(prefix) + len(cycle)
        assert expected - covered or len(found) == 1 or covered
        covered |= expected
    assert covered == violated
    assert found["steps"].is_monotonic_increasing


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_random_batches(tmp_path):
    """Random networks with a dozen random formulas each."""
    pairs, nets = [], {}
    for seed in range(30):
        rng = random.Random(seed)
        net = Network(random_net(rng).components, f"net {seed}")
        nets[net.name] = net
        for _ in range(12):
            formula = random_formula(rng.randrange(1 << 30), "abcd", rng.randint(2, 9))
            pairs.append(Task(net, str(formula)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        solve(pairs, store=tmp_path / "r.sqlite", unknown="never")
    frame = results(tmp_path / "r.sqlite")
    found = witnesses(tmp_path / "r.sqlite")
    assert {c: str(t) for c, t in found.dtypes.items()} == WITNESS_DTYPES
    n_rows = n_violated = 0
    for name, net in nets.items():
        print("seed", name)
        rows, own = found[found["system"] == name], frame[frame["system"] == name]

        def runs_in(prefix, cycle, net=net):
            lasso = recorded(prefix, cycle)
            return has_run(net, lasso)

        assert_represents(own, rows, runs_in)
        n_rows += len(rows)
        n_violated += own.loc[own["verdict"] == "violated", "formula"].nunique()
    assert n_violated > 100
    assert n_rows < n_violated / 2


def test_few():
    """Not more than by brute force where greed is known to be best, and all covered."""
    for seed in range(200):
        rng = random.Random(seed)
        covers = {
            recorded(("x",) * rng.randrange(4), (str(k),)): {
                n for n in range(5) if rng.random() < 0.4
            }
            for k in range(rng.randint(1, 6))
        }
        chosen = few(covers)
        everything = set().union(*covers.values())
        assert set().union(*(covers[c] for c in chosen)) == everything
        least = next(
            n
            for n in range(len(covers) + 1)
            for some in combinations(covers.values(), n)
            if set().union(*some) == everything
        )
        assert least <= len(chosen) <= 2 * max(least, 1)


def test_of_several_the_shortest():
    long = recorded(("a", "b"), ("c",))
    short = recorded((), ("c",))
    assert few({long: {1, 2}, short: {1, 2}}) == [short]
    assert few({long: {1, 2}, short: {1}}) == [long]
    assert few({}) == []


# --- what runs are ----------------------------------------------------------


def test_one_run_for_several_formulas(tmp_path):
    """In a store, and by file names in a table without one."""
    path = tmp_path / "free.aut"
    save(FREE, path)
    formulas = ["G a", "F d", "G(a | c)", "!F b", "G !c"]
    frame = solve([(path, f) for f in formulas], store=tmp_path / "r.sqlite")
    assert set(frame["verdict"]) == {"violated"}
    for source in (tmp_path / "r.sqlite", results(tmp_path / "r.sqlite"), frame):
        rows = listed(witnesses(source), "formulas", "n_formulas")
        assert [["G !c"] in row or "G !c" in row[0] for row in rows].count(True) == 1
        assert sorted({f for row in rows for f in row[0]}) == sorted(formulas)
        assert len(rows) == 2  # c excludes that d never happens
    frame.to_csv(tmp_path / "r.csv", index=False)
    assert len(witnesses(tmp_path / "r.csv")) == 2


def test_tasks_that_differ_in_what_a_run_is(tmp_path):
    """Options that choose among runs are not mixed; others are."""
    system = network((0, "a", 0), (0, "b", 1))
    tasks = [
        Task(system, formula, options=options)
        for formula in ("F b", "G a")
        for options in (
            {},
            {"emptiness": "se05", "timeout": 60},
            {"deadlock": "stutter"},
            {"deadlock": "stutter", "seed": 1},
        )
    ]
    solve(tasks, store=tmp_path / "r.sqlite")
    found = witnesses(tmp_path / "r.sqlite")
    assert listed(found, "lasso_prefix", "lasso_cycle", "formulas") == [
        [[], ["a"], ["F b"]],
        [[], ["a"], ["F b"]],
        [["b"], ["<stutter>"], ["G a"]],
    ]
    assert found["runs"].tolist() == ["default", *2 * ["--deadlock stutter"]]


def test_systems_in_memory():
    """The table alone does not say what they are; the caller may."""
    formulas = ["G a", "F G a", "F d"]
    frame = solve([(FREE, formula) for formula in formulas])
    cycles = ['["b"]', '["b"]', '["a"]']
    frame = frame.assign(lasso_prefix="[]", lasso_cycle=cycles)
    assert listed(witnesses(frame), "formulas") == [[formulas]]  # it is a network
    frame = frame.drop(columns="n_components")
    with pytest.warns(LtlpipeWarning, match="m: 2 of 2 lassos not compared with other"):
        found = witnesses(frame)
    assert listed(found, "formulas") == [[["F d"]], [["G a", "F G a"]]]
    found = witnesses(frame, systems={"m": FREE})
    assert listed(found, "formulas") == [[formulas]]


def test_internal_actions(tmp_path):
    """They are no propositions, whatever they are called."""
    path = tmp_path / "m.aut"
    path.write_text('des (0,2,2)\n(0,"a",1)\n(1,"i",0)\n')
    formulas = ["G a", "F G a", "G(a -> X a)"]
    solve([(path, f) for f in formulas], store=tmp_path / "r.sqlite")
    found = witnesses(tmp_path / "r.sqlite")
    assert listed(found, "lasso_cycle", "n_formulas") == [[["a", "i"], 3]]


def test_formulas_without_a_lasso(tmp_path):
    """Another's may violate them; if not, a warning counts them."""
    system = network((0, "a", 1), (1, "b", 1), (0, "d", 2), (2, "d", 2))
    tasks = [
        Task(system, "F b"),
        Task(system, "F a", options={"lasso": False}),
        Task(system, "G !a", options={"lasso": False}),
    ]
    solve(tasks, store=tmp_path / "r.sqlite")
    with pytest.warns(LtlpipeWarning, match="m: 1 of 3 violated formulas have no"):
        found = witnesses(tmp_path / "r.sqlite")
    assert listed(found, "lasso_cycle", "formulas") == [[["d"], ["F b", "F a"]]]


def test_psl_and_automata(tmp_path):
    """Their lassos are compared with others, but others' not with them."""
    hoa = tmp_path / "v.hoa"
    hoa.write_text(spot.translate("F c").to_str("hoa"))
    path = tmp_path / "free.aut"
    save(FREE, path)
    table = tmp_path / "t.csv"
    table.write_text(
        "system,formula,automaton\n"
        "free.aut,,v.hoa\nfree.aut,G !c,\nfree.aut,F b,\nfree.aut,{a;a}[]-> b,\n"
    )
    frame = solve(table)
    assert set(frame["verdict"]) == {"violated"}
    found = witnesses(frame)
    rows = listed(found, "formulas")
    assert sum(row[0].count("{a;a}[]-> b") for row in rows) == 1
    assert sum(row[0].count(None) for row in rows) == 1


# --- models -----------------------------------------------------------------

FORMULAS = [
    'G(P_0=="idle" -> F P_0=="critical")',
    'F P_1=="critical"',
    'G P_0!="waiting"',
    "G turn==0",
    'G(P_0=="critical" -> X P_0=="critical")',
    'G F P_1=="idle"',
]


def judged(formula, lasso):
    """Whether a lasso with all valuations violates a formula, by Spot."""
    tree = parse(formula).spot
    names = [p.ap_name() for p in spot.atomic_prop_collect(tree)]

    def holds(name, state):
        variable, operator, value = (
            name.replace("'", "").replace("!=", " != ").replace("==", " == ").split()
        )
        return (str(state[variable]) == value) == (operator == "==")

    letters = [
        " & ".join(f'{"" if holds(n, state) else "!"}"{n}"' for n in names)
        for state in [*lasso.prefix, *lasso.cycle]
    ]
    start = len(lasso.prefix)
    text = "".join(f"{letter}; " for letter in letters[:start])
    word = spot.parse_word(f"{text}cycle{{{'; '.join(letters[start:])}}}")
    return word.intersects(spot.translate(spot.formula.Not(tree)))


def test_a_model(tmp_path):
    """Its runs are taken again: the table has actions only."""
    store = tmp_path / "r.sqlite"
    frame = solve([(PETERSON, f) for f in FORMULAS], store=store)
    violated = frame.loc[frame["verdict"] == "violated", "formula"].tolist()
    assert len(violated) >= 5
    lassos = {}
    for formula in violated:
        lasso = check(load(PETERSON), formula).lasso
        lassos[json.dumps([lasso.prefix_actions, lasso.cycle_actions])] = lasso
    for source in (store, frame):
        found = witnesses(source)
        assert 1 <= len(found) < len(violated)
        for prefix, cycle, formulas in listed(
            found, "lasso_prefix", "lasso_cycle", "formulas"
        ):
            lasso = lassos[json.dumps([prefix, cycle])]
            assert formulas == [f for f in violated if judged(f, lasso)]


def test_a_model_whose_file_has_changed(tmp_path):
    """Its lassos stand for their own formulas, and the command says so."""
    path, store = tmp_path / "p.dve", tmp_path / "r.sqlite"
    text = Path(PETERSON).read_text()
    path.write_text(text)
    solve([(path, f) for f in FORMULAS[:3]], store=store)
    assert len(witnesses(store)) < 3
    path.write_text(text + "\n")
    with pytest.warns(LtlpipeWarning, match="or its file has changed"):
        found = witnesses(store)
    for prefix, cycle, formulas in listed(
        found, "lasso_prefix", "lasso_cycle", "formulas"
    ):
        for formula in formulas:
            lasso = check(load(path), formula).lasso
            assert [lasso.prefix_actions, lasso.cycle_actions] == [prefix, cycle]


def test_actions_that_can_be_taken_in_several_ways(tmp_path):
    """The way is one that violates what the lasso was found for."""
    path = tmp_path / "m.dve"
    path.write_text(
        "byte x = 0;\nprocess P {\nstate s, t;\ninit s;\ntrans\n"
        "s -> t { effect x = 1; }, s -> t { effect x = 2; }, t -> t {};\n}\n"
        "system async;\n"
    )
    formulas = ["G x!=2", "F G x!=2", "F x==1", "F x==3"]
    frame = solve([(path, f) for f in formulas])
    assert frame["verdict"].tolist() == 4 * ["violated"]
    found = witnesses(frame)
    assert listed(found, "formulas") == [[formulas]]


def test_runs_that_do_not_count(tmp_path):
    """Of several ways to take the actions one need not be allowed."""
    path, allowed = tmp_path / "m.dve", tmp_path / "x.hoa"
    path.write_text(
        "byte x = 0;\nprocess P {\nstate s, t, u;\ninit s;\ntrans\n"
        "s -> t { effect x = 2; }, s -> t { effect x = 1; }, s -> u {},\n"
        "t -> t {}, u -> u {};\n}\nsystem async;\n"
    )
    allowed.write_text(spot.translate('G "x!=2"', "Buchi", "SBAcc").to_str("hoa"))
    asked = [(path, formula) for formula in ('F P=="u"', "F x==1")]
    frame = solve(asked, constraint=str(allowed))
    prefixes = [cell for (cell,) in listed(frame, "lasso_prefix")]
    assert prefixes == [["P: s -> t #2"], ["P: s -> u"]]
    # As until version 0.2, where names had no numbers.
    frame["lasso_prefix"] = frame["lasso_prefix"].str.replace(" #2", "")
    with pytest.warns(LtlpipeWarning, match="not compared with other formulas"):
        assert witnesses(frame)["n_formulas"].tolist() == [1, 1]


def test_the_manner_in_which_files_are_read(tmp_path):
    """Macros, and what else is needed to take the actions again."""
    path = tmp_path / "m.pml"
    path.write_text("byte x;\nactive proctype P() { do :: x < N -> x++ :: x = M od }\n")
    tasks = [(path, f) for f in ("G x != 2", "G x != 1")]
    frame = solve(tasks, store=tmp_path / "r.sqlite", define=("N=3", "M=0"))
    assert frame["verdict"].tolist() == 2 * ["violated"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", LtlpipeWarning)
        for source in frame, tmp_path / "r.sqlite":
            assert listed(witnesses(source), "n_formulas") == [[2]]


def test_a_net_with_deadlocks(tmp_path):
    """The last state repeats itself, and no transition is taken."""
    pnml = "examples/pnml/dining-4.pnml"
    formulas = ["G F eat0>=1", "F eat1>=1", "G !deadlock"]
    frame = solve([(pnml, f) for f in formulas], store=tmp_path / "r.sqlite")
    assert set(frame["verdict"]) == {"violated"}
    found = witnesses(tmp_path / "r.sqlite")
    assert found["n_formulas"].max() >= 2
    assert {f for row in listed(found, "formulas") for f in row[0]} == set(formulas)


# --- refusals ---------------------------------------------------------------


def test_bad_tables(tmp_path):
    """Said as of any table."""
    with pytest.raises(UnsupportedError, match="has no column 'lasso_prefix'"):
        witnesses(pd.DataFrame({"system": [], "formula": [], "verdict": []}))
    frame = pd.DataFrame(columns=[*WITNESS_DTYPES, "formula", "verdict", "system"])
    with pytest.raises(UnsupportedError, match="result table: two columns 'system'"):
        witnesses(frame)
    with pytest.raises(LtlpipeError, match="the store does not exist"):
        witnesses(tmp_path / "none.sqlite")
    with pytest.raises(TypeError, match="source: expected a path or"):
        witnesses(3)
    frame = solve([(FREE, "G a")])
    for cell, message in (('"a"', "expected a JSON list"), ("[]", "is empty")):
        with pytest.raises(LtlpipeError, match=message):
            witnesses(frame.assign(lasso_cycle=cell))


def test_nothing_violated(tmp_path):
    """A table with the same columns and no rows."""
    solve([(FREE, "a | !a")], store=tmp_path / "r.sqlite")
    found = witnesses(tmp_path / "r.sqlite")
    assert list(found) == list(WITNESS_DTYPES)
    assert found.empty
