"""Proofs from few components against Spot on the whole product.

Networks are large for their visible actions, with internal actions, divergences,
deadlocks, and labels that nobody visible has.  A small part may have runs that the
network lacks: each lasso is judged by the replay and by Spot.
"""

from __future__ import annotations

import warnings
from unittest.mock import patch

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from benchmarks.formula_sets import random_interruptible
from ltlpipe import (
    LTS,
    LtlpipeError,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    check,
    verify_certificate,
)
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.logic.formulas import parse
from ltlpipe.strategies import subset
from tests.certificates.parts import parts_of
from tests.cross.test_agreement import ask, visible_word
from tests.example_counts import examples
from tests.hypothesis_strategies import hoa_automata, networks
from tests.oracles import intersection_verdict, satisfies, spot_verdict

NETWORKS = networks(max_components=5, max_states=3, max_transitions=5, internal=["d"])
FORMULAS = st.builds(
    lambda seed, depth: random_interruptible(["a", "b"], seed=seed, depth=depth),
    st.integers(0, 10**6),
    st.integers(1, 3),
)
WORK = st.sampled_from([1.0, subset.RUN_WORK])
"""With hardly any work a run of the network is not found, and a component joins."""


def answered(network, work=subset.RUN_WORK, **asked):
    """The verdict, or None where all components would be needed."""
    with patch.object(subset, "RUN_WORK", work):
        try:
            found = ask(network, reduce=asked.pop("reduce", "subset"), **asked)
        except UnsupportedError as error:
            if "subset cannot be used" in str(error):
                return None
            raise
    assert found.plan.strategy == "subset"
    return found


def assert_the_same(network, text, work):
    formula = parse(text)
    expected = spot_verdict(network, formula.spot, stutter=False)
    found = answered(network, work, formula=formula)
    event("dropped out" if found is None else expected)
    if found is None:
        return
    assert found.verdict == expected
    if found.lasso is not None:
        assert not satisfies(formula.spot, *visible_word(network, found.lasso))


@given(NETWORKS, FORMULAS, WORK)
@settings(max_examples=examples(300), deadline=None)
def test_verdicts(network, text, work):
    assert_the_same(network, text, work)


@pytest.mark.slow
@given(NETWORKS, FORMULAS, WORK)
@settings(max_examples=examples(10_000), deadline=None)
def test_verdicts_by_the_thousand(network, text, work):
    assert_the_same(network, text, work)


@given(NETWORKS, st.data())
@settings(max_examples=examples(100), deadline=None)
def test_automata(network, data):
    (violations,) = parse_automata(data.draw(hoa_automata("any", max_states=3)), "r")
    expected = intersection_verdict(network, violations, stutter=False)
    for reduce in "subset", "alphabet,subset":
        found = answered(network, automaton=violations, reduce=reduce)
        assert found is None or found.verdict == expected


def test_what_trimming_leaves_of_an_automaton():
    """Of `x` for ever nothing is left, as `b` comes first; alone one side has it.

    Having no words is interruptible, having this one is not.
    """
    one = LTS.from_transitions([(0, "b", 1), (1, "x", 1)])
    other = LTS.from_transitions([(0, "x", 0)])
    (violations,) = parse_automata(
        'HOA: v1 States: 1 Start: 0 AP: 1 "x" Acceptance: 1 Inf(0)\n'
        "--BODY--\nState: 0 {0} [0] 0\n--END--",
        "r",
    )
    for network in Network([one, other]), Network([other, one]):
        assert check(network, automaton=violations, reduce="none").verdict == "holds"
        with pytest.raises(
            UnsupportedError, match="the automaton is not interruptible"
        ):
            check(network, automaton=violations, reduce="alphabet,subset")


def ring(n):
    """Cells that pass a token on, each after it has worked once or more."""
    cells = []
    for i in range(n):
        waits, has = int(i == 0), 1 - int(i == 0)
        steps = [
            (waits if i else 1, f"take {i}", has if i else 0),
            (has if i else 0, f"work {i}", 2),
            (2, f"work {i}", 2),
            (2, f"take {(i + 1) % n}", waits if i else 1),
        ]
        cells.append(LTS.from_transitions(steps, initial=0))
    return Network(cells, f"ring {n}")


def test_few_components_suffice():
    """A cell works only when it has taken the token, whatever the 39 others do."""
    found = check(ring(40), '!"work 5" W "take 5"', reduce="subset")
    assert found.holds
    assert found.stats.details["subset"] == 1
    assert any("1 of 40 components (6) suffice" in r for r in found.plan.reasons)


def test_one_more_component_refutes_a_spurious_run():
    """That 5 works after 4 needs the token's way through 5, not only cell 4."""
    found = check(ring(40), '!"take 7" W "work 5"', reduce="subset")
    assert found.holds
    assert found.stats.details["subset"] == 2


def test_idling_for_ever_is_no_run_of_a_network_that_cannot():
    """The part may rest, but whoever else moves needs it: F b holds."""
    turns = LTS.from_transitions([(0, "a", 1), (1, "b", 0)])
    other = LTS.from_transitions([(0, "a", 0)])
    more = LTS.from_transitions([(0, "b", 0)])
    network = Network([turns, other, more])
    found = answered(network, formula=parse("F b"))
    assert found is None or found.holds


def test_idling_for_ever_where_others_go_on():
    turns = LTS.from_transitions([(0, "a", 1), (1, "b", 0)])
    free = LTS.from_transitions([(0, "c", 0)])
    found = answered(Network([turns, free, free]), formula=parse("F b"))
    assert found.verdict == "violated"


def test_what_it_is_not_for():
    network = ring(5)
    with pytest.raises(UnsupportedError, match="deadlock"):
        check(network, 'G !"work 1"', reduce="subset", deadlock="stutter")
    with pytest.raises(UnsupportedError, match="subset"):
        check(network, 'F("work 1" & X "work 1")', reduce="subset")


ASKED = '!"take 7" W "work 5"'
"""Holds of a ring by cells 5 and 6, the second of which is found to be missing."""


@pytest.fixture
def certified(tmp_path):
    """A ring, the path of the certificate for `ASKED`, and that in parts."""
    network, path = ring(12), tmp_path / "few.cert"
    assert check(network, ASKED, reduce="subset", certificate=str(path)).holds
    return network, path, parts_of(path)


def test_a_certificate_names_the_components(certified):
    network, path, parts = certified
    assert parts.header["reduction"]["kept"] == [5, 6]
    assert verify_certificate(str(path), network).result == "verified"


@pytest.mark.parametrize(
    "kept", [[5], [6], [4, 5], [5, 99], [6, 5], [5, 5], [-1, 6], [], None]
)
def test_other_components_do_not_do(certified, kept):
    network, path, parts = certified
    parts.write(path, reduction=parts.header["reduction"] | {"kept": kept})
    assert verify_certificate(str(path), network).result == "refused"


def test_no_certificate_of_few_components_says_where_a_network_stops(tmp_path):
    path = str(tmp_path / "few.cert")
    how = {"reduce": "subset", "deadlock": "stutter", "certificate": path}
    with pytest.raises(UnsupportedError, match="in a deadlock"):
        check(ring(12), ASKED, **how)


@given(NETWORKS, FORMULAS)
@settings(max_examples=examples(60), deadline=None)
def test_certificates(tmp_path_factory, network, text):
    path = tmp_path_factory.mktemp("c") / "few.cert"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)  # none where it is violated
        try:
            found = check(network, text, reduce="subset", certificate=str(path))
        except LtlpipeError:
            return
    if found.holds:
        assert verify_certificate(str(path), network).result == "verified"


def test_few_lead_for_so_much_work(monkeypatch):
    """Their share of turns falls when checks have done it, and when many are needed."""
    shares = []
    original = subset.Refinement._checked

    def checked(refinement, check):
        found = yield from original(refinement, check)
        shares.append(refinement._trace.share)
        return found

    monkeypatch.setattr(subset.Refinement, "_checked", checked)
    monkeypatch.setattr(subset, "FIRST_WORK", 0.0)
    for work, share in (subset.FEW_WORK, subset.FEW_SHARE), (-1.0, subset.MANY_SHARE):
        monkeypatch.setattr(subset, "FEW_WORK", work)
        check(ring(40), '!"work 5" W "take 5"', reduce="subset")
        assert set(shares) == {share}
        shares.clear()
    monkeypatch.undo()
    monkeypatch.setattr(subset.Refinement, "_checked", checked)
    check(ring(40), '!"work 5" W "take 5"', reduce="subset")
    assert shares[0] == subset.MANY_SHARE
