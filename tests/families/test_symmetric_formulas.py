"""The fifty formulas of each family of interchangeable components."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from benchmarks.families.client_server import client_server, dispatcher
from ltlpipe import check
from ltlpipe.logic.formula_files import read_formulas
from tests.oracles import spot_verdict

FOLDER = Path(__file__).parents[2] / "formulas"
SMALL = {
    "client-server": lambda: client_server(3),
    "dispatcher": lambda: dispatcher(3, 2),
}
LARGER = {
    "client-server": [lambda: client_server(4), lambda: client_server(5)],
    "dispatcher": [lambda: dispatcher(4, 2), lambda: dispatcher(3, 3)],
}
HEAD = re.compile(r"^# (\d+)\.  ([A-Z][a-z ]+)\.  (Holds|Violated)\.$", re.MULTILINE)

FAMILIES = pytest.mark.parametrize("family", list(SMALL))
NUMBERS = pytest.mark.parametrize("number", range(1, 51))


@cache
def small(family):
    return SMALL[family]()


@cache
def documented(family):
    """The formulas in order, with the kind and the verdict that stand above each."""
    file = FOLDER / f"{family}.ltl"
    heads = HEAD.findall(file.read_text(encoding="utf-8"))
    formulas = read_formulas(file)
    assert [int(number) for number, _, _ in heads] == list(range(1, len(formulas) + 1))
    return [
        (formula, kind, verdict.lower())
        for formula, (_, kind, verdict) in zip(formulas, heads, strict=True)
    ]


@FAMILIES
def test_fifty_different_formulas(family):
    """Half hold, as the file says at its head; each stands below its number."""
    found = documented(family)
    text = (FOLDER / f"{family}.ltl").read_text(encoding="utf-8")

    assert len({str(formula.spot) for formula, _, _ in found}) == len(found) == 50
    assert Counter(verdict for _, _, verdict in found) == {"holds": 25, "violated": 25}
    assert "25 hold and 25 are violated" in text
    lines = text.splitlines()
    for number, (formula, _, _) in enumerate(found, 1):
        above = [line for line in lines[: formula.line] if HEAD.match(line)]
        assert above[-1].startswith(f"# {number}. ")


@FAMILIES
def test_kinds(family):
    """Six kinds at least on either side, safety and more; up to three members."""
    import spot

    found = documented(family)
    for side in ("holds", "violated"):
        kinds = {kind for _, kind, verdict in found if verdict == side}
        classes = {spot.mp_class(f.spot) for f, _, verdict in found if verdict == side}
        assert len(kinds) >= 6
        assert {"S", "T"} <= classes
    members = [set(re.findall(r"[a-z](\d)", formula.text)) for formula, _, _ in found]
    assert set.union(*members) == {"1", "2", "3"}
    assert {len(named) for named in members} >= {1, 2, 3}


@FAMILIES
@NUMBERS
def test_automata_are_small(family, number):
    """Five states at most for the negation, as a Büchi automaton."""
    import spot

    formula, _, _ = documented(family)[number - 1]
    negation = spot.formula.Not(formula.spot)

    assert spot.translate(negation, "Buchi").num_states() <= 5
    assert spot.translate(negation, "TGBA").num_states() <= 4


@FAMILIES
@NUMBERS
def test_verdicts(family, number):
    """What the file says, without a warning about an action that is not there."""
    formula, _, verdict = documented(family)[number - 1]

    assert check(small(family), formula.text).verdict == verdict


@pytest.mark.slow
@FAMILIES
@NUMBERS
def test_verdicts_by_spot(family, number):
    """As Spot judges the explicit composition."""
    formula, _, verdict = documented(family)[number - 1]

    assert spot_verdict(small(family), formula.spot) == verdict


@pytest.mark.slow
@FAMILIES
@NUMBERS
def test_verdicts_of_larger_systems(family, number):
    """The same, and with no reduction."""
    formula, _, verdict = documented(family)[number - 1]

    for build in LARGER[family]:
        assert check(build(), formula.text, reduce="none").verdict == verdict
