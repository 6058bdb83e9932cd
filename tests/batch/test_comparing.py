"""Several emptiness checks on the same questions: one row each, and who disagrees."""

from __future__ import annotations

import os
import signal
import warnings
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from ltlpipe import (
    LTS,
    FormulaError,
    InputError,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    check,
    compare,
)
from ltlpipe.batch import comparing
from ltlpipe.batch.comparing import (
    WARM_UP_STATES,
    _listed,
    comparison_rows,
    configurations,
    runs_of,
)
from ltlpipe.batch.engines import Watcher as Silent
from ltlpipe.batch.outcomes import (
    Configuration,
    disagreements,
    has_unsuited,
    standings,
)
from ltlpipe.batch.table import (
    COMPARISON_DTYPES,
    DTYPES,
    comparison_columns,
    from_frame,
)
from ltlpipe.families.networks import philosophers
from ltlpipe.logic.formulas import parse
from ltlpipe.question.conditions import ACCEPTANCE_NAMES
from ltlpipe.runtime.jobs import Progress
from ltlpipe.search.catalogue import DECOUPLED, SEARCHES
from tests.cli.command_line import RING

NETWORK = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], "ring")
TWO = ["se05", "couvreur99"]
HOLDS = "!(GF(a & X a) & GF b)"  # two marks on transitions as a TGBA
VIOLATED = "!(GF a & GF b)"  # another two
STATISTICS = ["states", "transitions", "max_depth", "lasso_length", "search_seconds"]


def mesh():
    """Two components that meet on c; each also moves by itself."""
    one = [(0, "a", 1), (1, "c", 2), (2, "a", 0), (1, "a", 0), (2, "b", 1)]
    two = [(0, "d", 1), (1, "c", 0), (1, "d", 2), (2, "e", 0)]
    return Network([LTS.from_transitions(one), LTS.from_transitions(two)], "mesh")


def row(emptiness, verdict, **columns):
    """Return a row as `comparison_rows` makes it, as far as it is looked at."""
    return {
        "system": "s.aut",
        "formula_id": "f.ltl:1",
        "formula": "G a",
        "automaton": "BA",
        "emptiness": emptiness,
        "verdict": verdict,
        "reason": None,
        "seed": None,
    } | columns


class Watcher(Silent):
    """Notes what it is told."""

    def __init__(self):
        self.begun = []
        self.failures = []

    def begin(self, run, number, total):
        self.begun.append((run.configuration.emptiness, number, total))

    def progress(self, progress):
        pass

    def failed(self, run, error):
        self.failures.append((str(run.configuration), error))


def test_all_algorithms_in_the_order_of_the_catalogue():
    """One row per formula and algorithm; those that answer say what `check` says."""
    frame = compare(NETWORK, ["G(a -> F b)", parse("G a", file="x/f.ltl", line=3)])

    assert {c: str(t) for c, t in frame.dtypes.items()} == COMPARISON_DTYPES
    assert frame["emptiness"].tolist() == 2 * list(SEARCHES)
    n = len(SEARCHES)
    assert frame["formula_id"].tolist() == n * ["G(a -> F b)"] + n * ["f.ltl:3"]
    for expected, rows in (("holds", frame[:n]), ("violated", frame[n:])):
        answered = rows[rows["reason"].isna()]
        assert set(answered["verdict"]) == {expected}
        assert set(answered["automaton"]) == {"BA"}
        assert set(TWO) <= set(answered["emptiness"])
        rest = rows[rows["reason"].notna()]
        assert set(rest["reason"]) <= {"unsupported"}


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("formula", ["!c W a", "!c W d", "!b W c", "GF(a | c | d | e)"])
def test_all_search_the_same_product(formula, seed):
    """Complete searches enter the same states, whoever makes them."""
    frame = compare(mesh(), [formula], seed=seed)

    answered = frame[frame["reason"].isna()]
    assert set(TWO) <= set(answered["emptiness"])
    assert set(answered["verdict"]) == {"holds"}
    assert answered["states"].nunique() == 1
    assert answered["automaton_states"].nunique() == 1


def test_the_same_search_twice_is_the_same_row():
    """The product comes in the same order whatever was replayed in between."""
    formulas = ["G(c -> F b)", "G F b", "F G (a | d)"] * 2
    frame = compare(mesh(), formulas, emptiness=TWO, seed=7)

    counts = frame[["emptiness", "verdict", *STATISTICS[:4]]]
    half = len(frame) // 2
    pd.testing.assert_frame_equal(counts[:half], counts[half:].reset_index(drop=True))


def test_a_row_has_the_statistics_of_table_1():
    """Those of `check`, the length of the whole lasso, and the stack of roots."""
    (found,) = from_frame(compare(NETWORK, ["G a"], emptiness="couvreur99"))
    verdict = check(NETWORK, "G a", emptiness="couvreur99", acceptance="ba")

    stats = verdict.stats
    assert [found[c] for c in ("states", "transitions", "max_depth")] == [
        stats.states,
        stats.transitions,
        stats.max_depth,
    ]
    lasso = verdict.lasso
    assert found["lasso_length"] == len(lasso.prefix) + len(lasso.cycle) == 2
    assert found["max_roots"] == stats.details["max_roots"]
    assert found["max_current"] is None
    assert found["bytes_per_state"] == stats.bytes_per_state
    assert found["search_seconds"] > 0
    assert found["weak"] is verdict.plan.weak


@pytest.mark.parametrize("weak", [True, False, None])
def test_columns_of_other_algorithms(weak):
    """Whether the automaton is weak, and the stack of states, where they are known."""
    verdict = check(NETWORK, "F a")
    details = {"max_current": 0, "something": 5}
    verdict = SimpleNamespace(
        plan=SimpleNamespace(weak=weak),
        stats=replace(verdict.stats, details=details),
        lasso=None,
    )

    columns = comparison_columns(verdict)

    sizes = {"product_states", "product_transitions", "fin_share", "repeats"}
    beyond = set(COMPARISON_DTYPES) - set(DTYPES) - {"deterministic"}
    assert set(columns) == beyond - sizes
    assert columns["weak"] is weak
    assert (columns["max_current"], columns["max_roots"]) == (0, None)


def test_what_only_one_kind_of_search_has_is_missing_elsewhere():
    """The nested search has no roots, and who finds nothing has no lasso."""
    frame = compare(NETWORK, ["F a"], emptiness=TWO).set_index("emptiness")

    assert frame["max_roots"].isna().tolist() == [True, False]
    assert frame["lasso_length"].isna().all()
    assert frame["max_current"].isna().all()


def test_an_algorithm_that_does_not_suit():
    """Unknown because unsupported; every statistic is missing, nothing is an error."""
    watcher = Watcher()
    configured = configurations(TWO, "tgba")
    runs = runs_of([parse(HOLDS)], configured)

    unsuited, answered = comparison_rows(NETWORK, runs, watcher=watcher)

    assert (unsuited["verdict"], unsuited["reason"]) == ("unknown", "unsupported")
    assert (unsuited["emptiness"], unsuited["automaton"]) == ("se05", "TGBA")
    assert unsuited["formula"] == HOLDS
    assert not set(STATISTICS) & set(unsuited)
    assert answered["verdict"] == "holds"
    assert watcher.failures == []
    assert not has_unsuited([unsuited, answered])


def test_where_no_algorithm_suits():
    """Somebody has to say why there is no answer: once for the formula."""
    watcher = Watcher()
    runs = runs_of(map(parse, [HOLDS, VIOLATED]), configurations("se05", "tgba"))

    rows = list(comparison_rows(NETWORK, runs, watcher=watcher))

    assert has_unsuited(rows)
    assert [(who, type(e)) for who, e in watcher.failures] == 2 * [
        ("se05 (TGBA)", UnsupportedError)
    ]


def test_configurations_are_all_pairs():
    """Each once, in the order of the lists."""
    assert configurations("se05,couvreur99,se05", ["ba", "tgba"]) == [
        Configuration("se05", "ba"),
        Configuration("couvreur99", "ba"),
        Configuration("se05", "tgba"),
        Configuration("couvreur99", "tgba"),
    ]
    assert configurations() == [Configuration(name, "ba") for name in SEARCHES]


@pytest.mark.parametrize(
    ("acceptance", "expected"),
    [
        ("ba,tgba", list(SEARCHES)),
        ("auto", list(SEARCHES)),
        ("all", ["auto"]),
        ("ba,tfla", ["auto"]),
        (["tgra"], ["auto"]),
        ("tela", ["auto"]),
    ],
    ids=str,
)
def test_what_suits_each_automaton_by_default(acceptance, expected):
    """Where not every algorithm takes the automata, each has one."""
    made = configurations(acceptance=acceptance)
    assert list(dict.fromkeys(c.emptiness for c in made)) == expected
    assert [c.acceptance for c in made[:: len(expected)]] == (
        _listed(acceptance, ACCEPTANCE_NAMES, "acceptance")
    )


def test_all_emptiness_checks_on_all_acceptances():
    """If it is asked for; what does not suit says so."""
    made = configurations("all", "all")
    assert len(made) == len(SEARCHES) * len(ACCEPTANCE_NAMES)
    assert configurations("auto,se05", "tela") == [
        Configuration("auto", "tela"),
        Configuration("se05", "tela"),
    ]


PAIRED = "(GF a -> GF d) & (GF d -> GF e)"
"""Its violations are two Rabin pairs."""


@pytest.mark.parametrize(
    ("formula", "searches"),
    [
        (PAIRED, ["couvreur99", "couvreur99", "rabin", "couvreur99", "tela"]),
        ("!(GF a & GF d)", 5 * ["couvreur99"]),
        ("!c W a", 5 * ["dfs-weak"]),
    ],
    ids=["with Fin", "without", "weak"],
)
def test_all_acceptances(formula, searches):
    """Each with the search that `check` chooses for it, and with its numbers."""
    frame = compare(mesh(), [formula], acceptance="all", sizes=True)

    assert frame["automaton"].tolist() == ["BA", "TGBA", "TGRA", "TFLA", "TELA"]
    assert frame["emptiness"].tolist() == searches
    assert frame["verdict"].nunique() == 1
    assert not frame["deterministic"].any()
    for kind, found in zip(ACCEPTANCE_NAMES, from_frame(frame), strict=True):
        # With a seed, `check` has no search but the compiled one that it chooses.
        verdict = check(mesh(), formula, acceptance=kind, reduce="none", seed=1)
        assert found["emptiness"] == verdict.plan.emptiness
        named = {"acceptance": kind, "emptiness": found["emptiness"]}
        verdict = check(mesh(), formula, reduce="none", **named)
        assert found["states"] == verdict.stats.states


def test_pairs_and_the_share_of_fin():
    """Clauses of what has "or" or Fin; shares where there is Fin alone."""
    frame = compare(mesh(), [PAIRED], acceptance="all", sizes=True)
    known = frame.set_index("automaton")

    assert known["pairs"].isna().tolist() == [True, True, False, False, False]
    assert known["pairs"]["TGRA"] == known["pairs"]["TELA"] == 2
    assert known["pairs"]["TFLA"] == known.loc["TFLA", "condition"].count("|") + 1
    share = known["fin_share"]
    assert share.isna().tolist() == [True, True, False, True, False]
    assert 0 < share["TGRA"] < 1
    plain = compare(mesh(), [PAIRED], acceptance="tgra")
    assert plain["fin_share"].isna().all()
    assert plain["pairs"].tolist() == [2]


@pytest.mark.parametrize(
    ("acceptance", "pairs"),
    [
        (None, None),
        ("t", None),
        ("f", None),
        ("Inf(0)", None),
        ("Inf(0)&Inf(1)", None),
        ("Inf(0)|Inf(1)", 2),
        ("Fin(0)", 1),
        ("(Fin(0)|Inf(1))&(Fin(2)|Inf(3))", 4),
        ("Fin(0)&Inf(0)", 0),
        ("&".join(f"(Fin({2 * i})|Inf({2 * i + 1}))" for i in range(13)), None),
    ],
    ids=str,
)
def test_numbers_of_pairs(acceptance, pairs):
    """Of the normal form; missing for generalised Büchi, and beyond 4,096."""
    verdict = check(NETWORK, "F a")
    stats = replace(verdict.stats, acceptance=acceptance)
    assert comparison_columns(replace(verdict, stats=stats))["pairs"] == pairs


def test_deterministic_where_that_is_always_possible():
    """The others stand beside them as they are."""
    text = "F(a & X(d & X a)) -> FG a"
    frame = compare(mesh(), [text], acceptance="all", deterministic=True, empty=True)

    asked = frame[frame["formula"].notna()]
    assert asked["deterministic"].tolist() == [False, False, True, True, True]
    assert asked["verdict"].nunique() == 1
    assert frame[frame["formula"].isna()]["deterministic"].isna().all()
    for kind in ("tgra", "tela"):
        verdict = check(
            mesh(), text, acceptance=kind, deterministic=True, reduce="none"
        )
        states = frame[frame["automaton"] == kind.upper()]["automaton_states"]
        assert states.tolist() == [verdict.stats.automaton_states]


@pytest.fixture
def asked(monkeypatch):
    """What `check` is asked by comparisons: way by way, and whether to warm it."""
    calls = []

    def noted(system, formula=None, **options):
        warms = options.get("max_states") == WARM_UP_STATES
        calls.append((options["emptiness"], warms))
        return check(system, formula, **options)

    monkeypatch.setattr(comparing, "check", noted)
    return calls


@pytest.mark.parametrize(
    ("kind", "suited"), [("tgba", "couvreur99"), ("tgra", "rabin"), ("tela", "tela")]
)
def test_each_way_is_warmed_before_it_is_measured(kind, suited, asked):
    """Once per search, also of those that "auto" comes to later on."""
    compare(mesh(), ["!c W a", "G a", PAIRED], acceptance=["ba", kind])

    for name in ("dfs-weak", "couvreur99", suited):
        first = asked.index((name, True))
        assert (name, False) not in asked[:first]
        assert (name, False) in asked[first:]


def test_every_other_turn_goes_backwards(asked):
    """Of repetitions, and from one question to the next; rows stay in order."""
    frame = compare(NETWORK, ["F a", "G a", "F b"], emptiness=TWO, repeat=3)

    measured = [name for name, warms in asked if not warms]
    turns = [measured[k : k + 2] for k in range(0, len(measured), 2)]
    assert turns == [TWO if k % 2 == 0 else TWO[::-1] for k in range(9)]
    assert [name for name, warms in asked if warms] == TWO
    assert frame["emptiness"].tolist() == 3 * TWO
    assert frame["formula"].tolist()[::2] == ["F a", "G a", "F b"]
    assert frame["repeats"].tolist() == 6 * [3]


def told(monkeypatch, seconds, verdicts=()):
    """Have searches of "se05" take so many seconds, one after the other."""
    left, said = list(seconds), list(verdicts)

    def made_up(*args, **options):
        verdict = check(*args, **options)
        if options["emptiness"] != "se05" or options.get("max_states"):
            return verdict
        stats = replace(verdict.stats, search_seconds=left.pop(0))
        verdict = replace(verdict, stats=stats)
        if not said:
            return verdict
        return replace(verdict, verdict=said.pop(0), lasso=None)

    monkeypatch.setattr(comparing, "check", made_up)


@pytest.mark.parametrize(
    ("seconds", "verdicts", "expected"),
    [
        ([5.0, 1.0, 2.0], [], ("holds", 2.0)),
        ([4.0, 1.0], [], ("holds", 2.5)),
        ([5.0, 1.0, 9.0], ["holds", "holds", "unknown"], ("holds", 3.0)),
        ([5.0, 9.0, 8.0], ["holds", "unknown", "unknown"], ("unknown", 8.5)),
    ],
    ids=str,
)
def test_medians(seconds, verdicts, expected, monkeypatch):
    """Of the search, among repetitions that end like most of them."""
    told(monkeypatch, seconds, verdicts)
    (found,) = from_frame(
        compare(NETWORK, ["F a"], emptiness="se05", repeat=len(seconds))
    )
    assert (found["verdict"], found["search_seconds"]) == expected
    assert found["repeats"] == len(seconds)


def test_repetitions_that_contradict_each_other(monkeypatch):
    """A bug, and no verdict."""
    told(monkeypatch, [1.0, 1.0, 1.0], ["holds", "violated", "holds"])
    watcher = Watcher()
    runs = runs_of([parse("F a")], configurations("se05"))
    (found,) = comparison_rows(NETWORK, runs, watcher=watcher, repeat=3)
    assert (found["verdict"], found["reason"]) == ("unknown", "error")
    assert [str(e) for _, e in watcher.failures] == [
        "se05 (BA) F a: the verdicts of repetitions differ"
    ]


@pytest.mark.parametrize("ends", [True, False], ids=["in a search", "between two"])
def test_ctrl_c_in_a_later_repetition(ends, monkeypatch):
    """What has been measured stays, whatever the order; nothing else is begun."""
    measured = []

    def interrupted(*args, **options):
        verdict = check(*args, **options)
        if options.get("max_states"):
            return verdict
        measured.append(options["emptiness"])
        if len(measured) < 3:
            return verdict
        if not ends:
            raise KeyboardInterrupt
        return replace(verdict, verdict="unknown", reason="interrupted")

    monkeypatch.setattr(comparing, "check", interrupted)
    runs = runs_of(map(parse, ["F a", "F b"]), configurations(TWO))
    found = []
    with nullcontext() if ends else pytest.raises(KeyboardInterrupt):
        for row in comparison_rows(NETWORK, runs, repeat=2):
            found.append((row["emptiness"], row["verdict"], row["repeats"]))
    assert measured == ["se05", "couvreur99", "couvreur99"]
    assert found == [("se05", "holds", 1), ("couvreur99", "holds", 1)]


def test_ctrl_c_while_turns_go_backwards():
    """Rows of a turn that has not ended are given out before the exception."""
    begun = []

    class Impatient(Watcher):
        def begin(self, run, number, total):
            begun.append((run.configuration.emptiness, number, total))
            if number == 4:
                raise KeyboardInterrupt

    runs = runs_of(map(parse, ["F a", "F b"]), configurations(TWO))
    rows = comparison_rows(NETWORK, runs, watcher=Impatient())
    found = [next(rows) for _ in range(3)]
    with pytest.raises(KeyboardInterrupt):
        next(rows)
    assert [r["emptiness"] for r in found] == ["se05", "couvreur99", "couvreur99"]
    assert [number for _, number, total in begun if total == 4] == [1, 2, 3, 4]


@pytest.mark.parametrize("repeat", [0, -1])
def test_repeats_that_are_none(repeat):
    with pytest.raises(UnsupportedError, match="expected 1 or more"):
        compare(NETWORK, ["F a"], repeat=repeat)


def test_the_first_time_kernels_are_compiled(monkeypatch):
    """Each search is announced once, with their number, and how long that took."""

    def compiling(*args, progress, **options):
        for _ in range(3):
            if options.get("max_states"):
                progress(Progress("compiling", compiling=True))
        verdict = check(*args, progress=False, **options)
        return replace(verdict, stats=replace(verdict.stats, compile_seconds=2.0))

    monkeypatch.setattr(comparing, "check", compiling)
    seconds, heard = [], []
    watcher = Watcher()
    watcher.compiling = lambda *numbers: heard.append(numbers)
    watcher.compiled = seconds.append
    ways = configurations(TWO, ["ba", "tgba"])
    [*comparison_rows(NETWORK, runs_of(map(parse, ["F a"]), ways), watcher=watcher)]

    assert heard == [(1, 2), (2, 2)]
    assert seconds == 4 * [2.0]


def test_a_grid_of_ways(asked):
    """Options beside the emptiness check and the acceptance; rows say which."""
    grid = "reduce=none,ample emptiness=se05,couvreur99"
    frame = compare(mesh(), ["!c W a"], grid=grid)

    assert frame["emptiness"].tolist() == 2 * TWO
    assert frame["reductions"].str.contains("ample").tolist() == [
        *2 * [False],
        *2 * [True],
    ]
    assert frame["configuration"].nunique() == 4
    names = [str(way) for way in configurations(grid=grid)]
    assert names == [
        "se05 (BA) --reduce none",
        "couvreur99 (BA) --reduce none",
        "se05 (BA) --reduce ample",
        "couvreur99 (BA) --reduce ample",
    ]


def test_translators_are_ways():
    """A command has blanks in it; without a formula there is none."""
    ways = configurations(grid="translator=ltl2tgba -D %f,spot acceptance=tgba,ba")
    names = ["--translator 'ltl2tgba -D %f'", "--translator spot"]
    assert list(dict.fromkeys(way.others for way in ways)) == names
    assert {way.options for way in ways} == {
        (("translator", "ltl2tgba -D %f"),),
        (("translator", None),),
    }
    (run,) = runs_of([None], [way for way in ways if way.emptiness == "se05"])
    assert run.configuration == Configuration("se05", None)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("deadlock=ignore,stutter", "makes another question"),
        ({"vacuity": [True]}, "no option of compare"),
        ("colour=red", "is not an option"),
        (5, "grid: expected"),
    ],
)
def test_grids_that_are_none(grid, message):
    with pytest.raises((UnsupportedError, TypeError), match=message):
        compare(NETWORK, ["F a"], grid=grid)


def test_standings():
    """Who decides how many, what only one decides, and PAR2."""
    late = {"reason": "timeout", "search_seconds": 9.0}
    rows = [
        row("se05", "holds", search_seconds=1.0),
        row("gv04", "unknown", **late),
        row("se05", "violated", formula="F a", search_seconds=2.0),
        row("gv04", "violated", formula="F a", search_seconds=None, seconds=4.0),
        row("se05", "unknown", formula="0", **late),
        row("gv04", "unknown", formula="0", **late),
    ]
    se05, gv04 = standings(rows, timeout=10.0)

    assert se05 == (Configuration("se05", "ba"), 3, 1, 1, 3.0, 23.0, ("G a",))
    assert gv04 == (Configuration("gv04", "ba"), 3, 0, 1, 4.0, 44.0, ())
    assert (se05.decided, gv04.decided) == (2, 1)
    assert [each.par2 for each in standings(rows)] == [None, None]
    assert [each.par2 for each in standings(rows[:1])] == [1.0]
    assert [each.alone for each in standings(rows[:1])] == [()]  # it alone was asked


def test_acceptances_that_disagree(monkeypatch):
    """Named with the searches that were chosen."""

    def lying(*args, **options):
        verdict = check(*args, **options)
        if options["acceptance"] == "tgra":
            return replace(verdict, verdict="holds", lasso=None)
        return verdict

    monkeypatch.setattr(comparing, "check", lying)
    frame = compare(mesh(), [PAIRED], acceptance="tgba,tgra,tela")
    (found,) = disagreements(from_frame(frame))

    assert found.holds == (Configuration("rabin", "tgra"),)
    assert found.violated == (
        Configuration("couvreur99", "tgba"),
        Configuration("tela", "tela"),
    )


def test_decoupled_searches_by_name():
    """They look at other states, so that "all" is without them."""
    assert not set(DECOUPLED) & {c.emptiness for c in configurations()}
    frame = compare(philosophers(5), emptiness="couvreur99,decoupled-ndfs", empty=True)
    assert frame["verdict"].tolist() == ["holds", "holds"]
    assert frame["states"][1] < frame["states"][0]


def test_every_acceptance_has_its_rows():
    """And "auto" is what suits the algorithm."""
    frame = compare(NETWORK, ["F a"], emptiness=TWO, acceptance="ba,tgba")
    assert frame["automaton"].tolist() == ["BA", "BA", "TGBA", "TGBA"]

    both = "!(GF a & GF b)"
    frame = compare(NETWORK, [both], emptiness=TWO, acceptance="auto")
    assert frame["automaton"].tolist() == ["BA", "TGBA"]


def test_empty():
    """Without a formula acceptance plays no part: each algorithm answers once."""
    frame = compare(
        philosophers(3), emptiness=TWO, acceptance=["ba", "tgba"], empty=True
    )

    assert frame["emptiness"].tolist() == TWO
    assert frame["verdict"].tolist() == ["holds", "holds"]
    nothing = ["formula", "formula_id", "automaton", "translator"]
    assert frame[nothing].isna().all(axis=None)


def test_systems(tmp_path):
    """A network, a file, or the files of its components."""
    path = tmp_path / "ring.aut"
    path.write_text(RING)

    assert compare(path, ["F a"], emptiness=TWO)["system"].tolist() == 2 * [str(path)]
    frame = compare([path, path], ["F a"], emptiness="se05")
    assert frame["system"].tolist() == [f"{path} {path}"]


def test_one_formula_is_no_list_of_letters():
    """A text is one formula."""
    assert compare(NETWORK, "F a", emptiness=TWO)["formula"].tolist() == ["F a", "F a"]


def test_warnings_come_once():
    """Not from every algorithm."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare(NETWORK, ["G !c", "G !d"], emptiness=TWO, unknown="never")

    messages = [str(w.message) for w in caught if w.category is LtlpipeWarning]
    assert [m.split("'")[1] for m in messages] == ["c", "d"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"emptiness": "nonsense"}, UnsupportedError, "nonsense': expected all, auto"),
        ({"emptiness": "se05,"}, UnsupportedError, "out of .*se05, .*couvreur99"),
        ({"acceptance": "ba,all"}, UnsupportedError, "expected one of auto, ba"),
        ({"acceptance": "nonsense"}, UnsupportedError, "expected one of auto, ba"),
        ({"acceptance": ""}, UnsupportedError, "expected one of auto, ba"),
        ({"semantics": "letters"}, UnsupportedError, "expected one of action"),
        ({"colour": "red"}, TypeError, "'colour'"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_options_that_cannot_be_met(options, error, message, monkeypatch):
    """Said at once: nothing is run."""

    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr(comparing, "check", never)

    with pytest.raises(error, match=message):
        compare(NETWORK, ["G a"], **options)


def test_what_cannot_be_read(tmp_path):
    """The caller's mistakes are raised, as by `check` and `load`."""
    with pytest.raises(FormulaError):
        compare(NETWORK, ["G("])
    with pytest.raises(InputError):
        compare(tmp_path / "nothing.aut", ["G a"])


def test_options_reach_every_check():
    """Limits, seed and what is unknown."""
    table = philosophers(6)
    frame = compare(table, ["0"], emptiness=TWO[1:], max_states=10, seed=5)
    assert frame["reason"].tolist() == ["max-states"]
    assert (frame["states"].tolist(), frame["seed"].tolist()) == ([10], [5])

    assert compare(table, ["0"], emptiness="couvreur99", timeout=0)[
        "reason"
    ].tolist() == ["timeout"]
    frame = compare(NETWORK, ["G c", "G a"], emptiness=TWO)
    assert frame["reason"].isna().tolist() == [False, False, True, True]


def test_an_algorithm_that_crashes(monkeypatch):
    """Its row says so; the others are compared all the same."""

    def fragile(*args, **options):
        if options["emptiness"] == "se05":
            raise ZeroDivisionError
        return check(*args, **options)

    monkeypatch.setattr(comparing, "check", fragile)
    watcher = Watcher()
    runs = runs_of([parse("G a")], configurations(TWO))
    broken, answered = comparison_rows(NETWORK, runs, watcher=watcher)

    assert (broken["verdict"], broken["reason"]) == ("unknown", "error")
    assert (broken["emptiness"], answered["verdict"]) == ("se05", "violated")
    assert [type(e) for _, e in watcher.failures] == [ZeroDivisionError]


def test_ctrl_c_ends_the_comparison():
    """The row of the run that was interrupted is the last one."""

    class Impatient(Watcher):
        def progress(self, progress):
            if progress.states:
                os.kill(os.getpid(), signal.SIGINT)

    watcher = Impatient()
    runs = runs_of([None, parse("0")], configurations(TWO))
    rows = list(comparison_rows(philosophers(9), runs, watcher=watcher))

    assert [r["reason"] for r in rows] == ["interrupted"]
    assert rows[0]["states"] > 0
    assert watcher.begun == [("se05", 1, 4)]


@pytest.mark.parametrize("seed", [None, 3], ids=["in order", "shuffled"])
def test_a_disagreement(seed):
    """Names the question, who says what, and the seed."""
    (found,) = disagreements(
        [
            row("se05", "holds", seed=seed),
            row("gv04", "violated", seed=seed),
            row("couvreur99", "violated", seed=seed, automaton="TGBA"),
            row("hpy96", "unknown", seed=seed, reason="timeout"),
        ]
    )

    assert (found.system, found.formula, found.formula_id) == (
        "s.aut",
        "G a",
        "f.ltl:1",
    )
    assert found.holds == (Configuration("se05", "ba"),)
    assert found.violated == (
        Configuration("gv04", "ba"),
        Configuration("couvreur99", "tgba"),
    )
    assert str(found) == (
        "s.aut: G a (f.ltl:1): se05 (BA) say holds, "
        "gv04 (BA) and couvreur99 (TGBA) say violated"
        + ("" if seed is None else ", seed 3")
    )


@pytest.mark.parametrize(
    "other",
    [
        {"verdict": "holds"},
        {"verdict": "unknown", "reason": "timeout"},
        {"verdict": "unknown", "reason": "unsupported"},
        {"verdict": "violated", "system": "t.aut"},
        {"verdict": "violated", "formula": "G b", "formula_id": "f.ltl:2"},
        {"verdict": "violated", "formula": None, "formula_id": None},
    ],
    ids=["same", "timeout", "unsupported", "other system", "other formula", "empty"],
)
def test_no_disagreement(other):
    """Unknown contradicts nobody, and other questions have answers of their own."""
    second = row("gv04", **other)

    assert disagreements([row("se05", "holds"), second]) == []


def test_each_question_that_has_two_answers():
    """Also the same algorithm on two automata, and a question without formula."""
    empty = {"formula": None, "formula_id": None, "automaton": None}
    rows = [
        row("couvreur99", "holds"),
        row("couvreur99", "violated", automaton="TGBA"),
        row("se05", "violated", **empty),
        row("gv04", "holds", **empty),
    ]

    first, second = disagreements(rows)

    assert (first.holds, first.violated) == (
        (Configuration("couvreur99", "ba"),),
        (Configuration("couvreur99", "tgba"),),
    )
    assert str(second) == (
        "s.aut: has no accepting run: gv04 say holds, se05 say violated"
    )


def test_translators_that_disagree():
    """Rows of a table have the command; the built-in translation needs no name."""
    rows = [
        row("se05", "holds", translator="spot"),
        row("se05", "violated", translator="tool %f"),
    ]
    (found,) = disagreements(rows)
    assert "se05 (BA) say holds, se05 (BA) --translator 'tool %f' say" in str(found)


def test_disagreements_of_a_frame():
    """Missing values of a table are no questions of their own."""
    frame = compare(NETWORK, ["G a"], emptiness=TWO, empty=True)
    assert disagreements(from_frame(frame)) == []

    frame.loc[frame["emptiness"] == "se05", "verdict"] = "holds"
    found = disagreements(from_frame(frame))

    assert [d.formula for d in found] == ["G a", None]
    assert {d.violated for d in found} == {
        (Configuration("couvreur99", "ba"),),
        (Configuration("couvreur99", None),),
    }


def test_sizes_of_products():
    """Asked for, each product is explored to its end, even where a run stops early."""
    line = [(i, "step", i + 1) for i in range(1, 50)]
    network = Network([LTS.from_transitions([(0, "a", 0), (0, "b", 1), *line])])
    asked = {"emptiness": TWO, "sizes": True}
    frame = compare(network, ["G !a", "G(b -> X !a)"], **asked)

    assert frame["verdict"].tolist() == 2 * ["violated"] + 2 * ["holds"]
    # What comes after `a` is accepted whatever it is; before it there is no loop.
    assert frame["product_states"].tolist()[:2] == 2 * [51 + 51]
    assert frame["states"].tolist()[2:] == frame["product_states"].tolist()[2:]
    assert (frame["states"] < frame["product_states"]).tolist()[:2] == [True, True]
    assert (
        frame["transitions"].tolist()[2:] == frame["product_transitions"].tolist()[2:]
    )
    plain = compare(network, ["G !a"], emptiness=TWO)
    assert plain["product_states"].isna().all()
    limited = compare(network, ["G !a"], max_states=20, **asked)
    assert limited["product_states"].isna().all()
