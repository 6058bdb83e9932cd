"""What the functions of the package take: objects of Spot, paths, open files."""

from __future__ import annotations

import io

import pytest
import spot

import ltlpipe
from ltlpipe import LTS, LtlpipeError, Network, UnsupportedError, check

RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], name="ring")
DOT = """digraph {
  start -> 0 [label=""];
  0 -> 1 [label="a"];
  1 -> 0 [label="b"];
}
"""
FORMULA = spot.formula("G(a -> F b)")


def test_a_formula_of_spot():
    """Wherever a formula is taken."""
    verdict = check(RING, FORMULA)
    assert verdict.verdict == "holds"
    assert ltlpipe.parse(verdict.formula).spot == FORMULA
    assert check(RING, spot.formula("G !b")).verdict == "violated"
    assert ltlpipe.is_interruptible(FORMULA)
    assert ltlpipe.action_equivalent(FORMULA, "G(a -> F b)")
    assert ltlpipe.intrpt(FORMULA).spot is not None


def test_tables_of_formulas_of_spot():
    """One or several; an iterable formula is one."""
    both = spot.formula("a & F b")
    for given in (both, [both, "GF a", ltlpipe.parse("G a")]):
        table = ltlpipe.analyze(given)
        assert len(table) == (1 if given is both else 3)
        assert spot.formula(table["formula"][0]) == both
    rows = ltlpipe.solve([(RING, both), (RING, FORMULA)])
    assert rows["verdict"].tolist() == ["holds", "holds"]
    rows = ltlpipe.compare(RING, both, emptiness="se05")
    assert rows["verdict"].tolist() == ["holds"]


@pytest.mark.parametrize("wrong", [5, None, b"G a", spot.translate("G a"), RING])
def test_what_is_no_formula(wrong):
    """The message says what is taken, and where an automaton goes."""
    takers = [
        ltlpipe.is_interruptible,
        ltlpipe.intrpt,
        ltlpipe.analyze,
        lambda f: ltlpipe.compare(RING, f),
        lambda f: ltlpipe.solve([(RING, f)]),
    ]
    if wrong is not None:  # none is given
        takers.append(lambda f: check(RING, f))
    for taker in takers:
        with pytest.raises(UnsupportedError, match=r"expected LTL as a text") as error:
            taker(wrong)
        assert ("automaton=" in str(error.value)) == isinstance(wrong, spot.twa)


@pytest.mark.parametrize("how", ["graph", "text", "path object"])
def test_automata_in_hoa(how, tmp_path):
    """Whatever takes an automaton takes the text of one, and its file.

    `product` took the text for a formula, and `is_empty` neither.
    """
    violations = ltlpipe.automaton(FORMULA, negate=True)
    given = violations if how == "graph" else violations.to_str("hoa")
    if how == "path object":
        (tmp_path / "violations.hoa").write_text(given + "\n")
        given = tmp_path / "violations.hoa"
    assert check(RING, automaton=given).verdict == "holds"
    assert ltlpipe.product(RING, given).is_empty()
    assert ltlpipe.is_empty(given).empty is False
    with pytest.raises(LtlpipeError, match="expected LTL"):
        ltlpipe.is_interruptible(given)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "ring.dot"
    file.write_text(DOT)
    return file


def test_systems_that_are_read(path):
    """A path, a text of one, several, an open file."""
    for given in (path, str(path), [path], io.StringIO(DOT)):
        assert check(given, FORMULA).verdict == "holds"
    assert len(check([path, path], "GF a").system.split()) == 2
    assert ltlpipe.deadlocks(path).verdict == "holds"
    assert ltlpipe.livelock(path, ["a"]).verdict == "holds"
    assert ltlpipe.compare(path, FORMULA, emptiness="se05")["verdict"][0] == "holds"


def test_reading_has_a_limit(path):
    """What is not read in time has no verdict."""
    for verdict in (
        check(path, FORMULA, timeout=0),
        ltlpipe.livelock(path, ["a"], timeout=0),
        ltlpipe.deadlocks(path, timeout=0),
    ):
        assert (verdict.verdict, verdict.reason) == ("unknown", "timeout")
        assert verdict.system == str(path)
        assert "not read" in verdict.plan.reasons[0]


@pytest.mark.parametrize("wrong", [5, None, [5], spot.formula("G a")])
def test_what_is_no_system(wrong):
    for taker in (lambda s: check(s, "G a"), ltlpipe.deadlocks, ltlpipe.load):
        with pytest.raises(UnsupportedError, match="a system is a Network or a Model"):
            taker(wrong)


def test_verdicts_are_not_true_or_false():
    """There are three of them."""
    for formula, holds in (("GF a", True), ("G a", False)):
        verdict = check(RING, formula)
        assert verdict.holds is holds
        with pytest.raises(TypeError, match=r"use \.holds"):
            bool(verdict)


def test_types_of_public_signatures():
    """What functions take and return can be imported from the package."""
    for name in ("Formula", "Model", "Network", "System", "Verdict", "Lasso", "parse"):
        assert name in dir(ltlpipe)
        assert getattr(ltlpipe, name) is not None
    assert isinstance(RING, ltlpipe.System)


@pytest.mark.parametrize("acceptance", ["ba", "tgba", "tgra", "tfla", "tela"])
@pytest.mark.parametrize("negate", [False, True])
def test_automata_of_formulas(acceptance, negate):
    """Those of Spot, and what `violations` takes."""
    found = ltlpipe.automaton(FORMULA, acceptance=acceptance, negate=negate)
    meant = spot.formula_Not(FORMULA) if negate else FORMULA
    assert spot.are_equivalent(found, meant)
    if negate:
        assert check(RING, automaton=found).verdict == "holds"


def test_automata_that_there_are_not():
    with pytest.raises(UnsupportedError, match="acceptance='dba': expected one of ba"):
        ltlpipe.automaton("G a", acceptance="dba")
    with pytest.raises(UnsupportedError, match="use tgra, tfla, tela"):
        ltlpipe.automaton("G a", deterministic=True)
