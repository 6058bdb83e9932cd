"""Certificates by linear algebra: accepted as they are, refused when changed."""

from __future__ import annotations

import copy
import json
import random
import re
from hashlib import sha256

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.families.nets import dining
from ltlpipe import check, verify_certificate
from ltlpipe.automata.words import has_violations
from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.certificates.checking.linear import LinearProof, is_of_markings
from ltlpipe.logic.formulas import parse
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.nets.writing import pnml_text
from ltlpipe.systems.propositions.letters import evaluate
from tests.cross.test_models import explored, net_atoms, random_formula
from tests.example_counts import examples
from tests.hypothesis_strategies import petri_nets
from tests.linear.test_proof import SEEDS, letters_of, proved
from tests.random_nets import net_of

APART = "G(!(eat0>=1) || !(eat1>=1))"
RELAY = PetriNet(
    [Place("a", "a", 2), Place("b", "b"), Place("c", "c")],
    [Transition("t", "t", {0: 1}, {1: 1}), Transition("u", "u", {1: 1}, {2: 1})],
)
"""Two tokens on a way without return."""


def accepted(net, found, meanings, formula, stutters):
    """Whether the checker believes a proof of a formula."""
    proof = LinearProof(net, meanings, stutters=stutters)
    try:
        proof.check_inductive(found["inductive"])
        for clause in found["clauses"]:
            proof.check_clause(clause["cube"], clause["refutation"])
        for fact in found["facts"]:
            proof.check_fact(fact)
    except (RefusedError, AttributeError, LookupError, TypeError, ValueError):
        return False
    return not has_violations.here(
        formula,
        initial={
            name: bool(evaluate(own, net.initial()))
            for name, own in meanings.items()
            if is_of_markings(own)
        },
        clauses=[clause["cube"] for clause in found["clauses"]],
        facts=[[fact["always"], fact["then"]] for fact in found["facts"]],
        combined=sorted({*meanings, *formula.propositions}),
    )


def numbers_in(told):
    """Each place of a number in a proof: what holds it, and where."""
    items = told.items() if isinstance(told, dict) else enumerate(told)
    for key, value in items:
        if isinstance(value, (dict, list)):
            yield from numbers_in(value)
        elif isinstance(value, int):
            yield told, key


@given(petri_nets(), SEEDS, st.booleans())
@settings(max_examples=examples(150))
def test_proofs_are_accepted(net, seed, stutters):
    """What the writer has proved, the checker proves again, by code of its own."""
    rng = random.Random(seed)
    formula = random_formula(rng, net_atoms(rng, net))
    found, meanings = proved(net, formula, stutters)
    assume(found["proved"])
    assert accepted(net, found, meanings, formula, stutters)


@given(petri_nets(), SEEDS, st.booleans())
@settings(max_examples=examples(200))
def test_what_is_accepted_is_true(net, seed, stutters):
    """A changed number, name or fact: refused, or true all the same."""
    graph = explored(net)
    assume(graph is not None)
    rng = random.Random(seed)
    formula = random_formula(rng, net_atoms(rng, net))
    found, meanings = proved(net, formula, stutters)
    assume(found["clauses"])
    every = [letter for part in letters_of(net, graph, meanings) for letter in part]
    proof = LinearProof(net, meanings, stutters=stutters)
    for clause in found["clauses"]:
        for _ in range(10):
            changed = copy.deepcopy(clause)
            holder, key = rng.choice([*numbers_in(changed)])
            if isinstance(holder[key], bool):
                holder[key] = not holder[key]
            else:
                holder[key] += rng.choice([-2, -1, 1, 2])
            try:
                proof.check_clause(changed["cube"], changed["refutation"])
            except (RefusedError, AttributeError, LookupError, TypeError, ValueError):
                continue
            cube = changed["cube"].items()
            assert not any(cube <= letter.items() for letter in every)


ALIKE = net_of([0, 2], ({1: 1, 0: 1}, {0: 1}), ({0: 1, 1: 1}, {1: 2}))
"""Two transitions need the same."""


@pytest.mark.parametrize("deadlock", ["stutter", "ignore"])
@pytest.mark.parametrize(
    ("net", "formula"),
    [
        (dining(5), APART),
        (RELAY, "F(c == 2 || a < 0)"),
        (RELAY, "FG(b == 0) & G(a + b + c == 2)"),
        (ALIKE, "!fireable(t0,t1)"),
    ],
    ids=["invariant", "eventually", "both", "alternatives that are alike"],
)
def test_from_check_to_verify(tmp_path, net, formula, deadlock):
    """Clauses and facts travel through a file."""
    system, path = tmp_path / "net.pnml", tmp_path / "proof"
    system.write_text(pnml_text(net))
    options = {"deadlock": deadlock, "certificate": str(path)}
    verdict = check(str(system), formula, **options)
    assert (verdict.verdict, verdict.plan.strategy) == ("holds", "linear")
    assert verdict.certificate.bytes == path.stat().st_size
    found = verify_certificate(str(path))
    assert (found.result, found.reason, found.states) == ("verified", None, 0)


def forged(path, change):
    """Change the header of a certificate, with a checksum that fits."""
    magic, header, _ = path.read_bytes().split(b"\n", 2)
    told = json.loads(header)
    change(told)
    head = magic + b"\n" + json.dumps(told).encode() + b"\n"
    path.write_bytes(head + sha256(head).hexdigest().encode() + b"\n")


def less_weight(told):
    told["clauses"][0]["refutation"]["weights"][0][1] += 1


def another_formula(told):
    told["formula"] = "G(eat0>=1)"


def no_clause(told):
    told["clauses"] = []


def no_proof(told):
    told["clauses"] = [7]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (less_weight, "does not add up|increases a sum"),
        (another_formula, "violate the formula"),
        (no_clause, "violate the formula"),
        (no_proof, "makes no sense"),
    ],
)
def test_forgeries_are_refused(tmp_path, change, reason):
    """Each for its own reason."""
    system, path = tmp_path / "net.pnml", tmp_path / "proof"
    system.write_text(pnml_text(dining(3)))
    check(str(system), APART, certificate=str(path))
    forged(path, change)
    found = verify_certificate(str(path))
    assert found.result == "refused"
    assert re.search(reason, found.reason)


LOOP = PetriNet(
    [Place("a", "a", 1), Place("b", "b"), Place("c", "c", 1)],
    [
        Transition("t", "t", {0: 1}, {1: 1}),
        Transition("u", "u", {1: 1}, {0: 1}),
        Transition("v", "v", {2: 1}, {}),
    ],
)
"""A token that goes round between a and b, and one of c that may go away."""

MEANINGS = {"a": "a >= 1", "two": "a + b >= 2", "b": "b >= 1", "c": "c >= 1"}
TWO = ["row", [[0, -1], [1, -1]], 2]  # a + b >= 2
LEAF = {"weights": [[0, 1], [1, 1]], "rows": [TWO], "factors": [1]}


def checker():
    meanings = {name: LOOP.meaning(text) for name, text in MEANINGS.items()}
    return LinearProof(LOOP, meanings, stutters=False)


def test_a_refutation_by_hand():
    """a + b is 1 in all markings."""
    checker().check_clause({"two": True}, LEAF)


@pytest.mark.parametrize(
    ("cube", "changes", "reason"),
    [
        ({"two": False}, {}, "what is not known"),
        ({"two": True}, {"weights": [[0, 1]]}, "does not add up"),  # b is left out
        ({"two": True}, {"weights": [[0, 2], [1, 1]]}, "does not add up"),
        ({"two": True}, {"factors": [-1]}, "negative"),
        ({"two": True}, {"factors": [0]}, "does not add up"),
        ({"two": True}, {"weights": [[0, 1], [1, 2]]}, "increases a sum"),
        (
            {"two": True},  # c is no trap: v takes its token
            {
                "weights": [[2, 1]],
                "rows": [["row", [[2, -1]], 1]],
            },
            "what is not known",
        ),
        ({"two": True}, {"weights": [[7, 1]]}, "no place"),
        ({"nothing": True}, {}, "that there is not"),
        ({"two": 1}, {}, "neither"),
    ],
)
def test_refutations_that_are_none(cube, changes, reason):
    """Each for a reason of its own."""
    with pytest.raises(RefusedError, match=reason):
        checker().check_clause(cube, LEAF | changes)


CASES = {"cases": ["or", [TWO, ["row", [[2, -1]], 2]]], "parts": [LEAF]}


def test_cases_that_are_left_out():
    """A disjunction has to be one that is known, and each part refuted."""
    proof = checker()
    with pytest.raises(RefusedError, match="something else"):
        proof.check_clause({"two": True}, CASES)
    either = proof._literals({"two": True}), proof._literals({"c": True})
    known = frozenset({("or", frozenset(either))})
    told = {"cases": ["or", [TWO, ["row", [[2, -1]], 1]]], "parts": [LEAF]}
    with pytest.raises(RefusedError, match="leaves a case out"):
        proof._check(told, known)


def fact(**changes):
    """c is constant in the end: v lowers it, and t and u leave it as it is."""
    known = {
        "always": [{}],
        "then": [{"c": True}, {"c": False}],
        "cases": [],
        "excluded": [],
        "weights": [[2, 1]],
    }
    return known | changes


def test_a_fact_by_hand():
    """A token of c stays or goes."""
    checker().check_fact(fact())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"then": [{"c": True}]}, "leaves a case out"),
        ({"then": [{"a": True}, {"a": False}]}, "may change for ever"),
        ({"then": [{"c": True}, {"c": False}], "weights": []}, "may change for ever"),
        ({"weights": [[2, -1]]}, "is negative"),
        ({"weights": [[0, 1]]}, "increases a sum"),
        ({"excluded": [[0, LEAF]]}, "what is not known"),
        ({"excluded": [[9, LEAF]]}, "that there is not"),
        ({"always": [{}], "then": []}, "leaves a case out"),
    ],
)
def test_facts_that_are_none(changes, reason):
    """Each for a reason of its own."""
    with pytest.raises(RefusedError, match=reason):
        checker().check_fact(fact(**changes))


def test_a_first_letter_proves_no_other_formula():
    """Spot takes a variable that no automaton has registered for another one."""
    assert has_violations.here(
        parse('F "c1>=1"'),
        initial={"c1<=0": True, "w1>=1": False},
        clauses=[],
        facts=[],
        combined=["c1<=0", "c1>=1", "w1>=1"],
    )


def test_a_fact_about_no_run_has_to_make_sense():
    """Also where no run is infinite, so that whatever it says is true."""
    proof = LinearProof(RELAY, {}, stutters=False)
    fact = {"always": [{}], "excluded": [], "weights": [[0, 2], [1, 1]], "cases": []}
    proof.check_fact(fact | {"then": [{}]})
    with pytest.raises(RefusedError, match="names a proposition that there is not"):
        proof.check_fact(fact | {"then": [7]})
