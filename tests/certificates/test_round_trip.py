"""Whatever holds has a certificate, and that is verified; the verdict is Spot's."""

from __future__ import annotations

import random
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import (
    LTS,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    check,
    verify_certificate,
)
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.systems.nets.reading import parse_pnml
from ltlpipe.systems.programs.model import read_dve_model
from tests.certificates.parts import parts_of, proves
from tests.cross.test_fairness import fair_questions
from tests.cross.test_models import dve_atoms, explored, net_atoms, random_formula
from tests.example_counts import examples
from tests.hypothesis_strategies import (
    formulas,
    hoa_automata,
    networks,
    petri_nets,
    recurrent_formulas,
)
from tests.systems.programs.random_models import models

SMALL = networks(max_components=3, max_states=4, internal=["d"])
ACCEPTING = networks(max_components=2, internal=["d"], acceptance=True)
SYSTEMS = st.one_of(SMALL, ACCEPTING)
FORMULAS = st.one_of(formulas(max_leaves=4), recurrent_formulas(max_leaves=3))
RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
DEADLOCKS = st.sampled_from(["ignore", "stutter"])
REDUCTIONS = st.sampled_from(["alphabet", "components", "alphabet,components"])
WAYS = st.sampled_from(
    [
        {},
        {"acceptance": "ba"},
        {"acceptance": "tgba", "seed": 3},
        {"acceptance": "tgra"},
        {"acceptance": "tfla"},
        {"acceptance": "tela", "deterministic": True},
        {"acceptance": "tela", "emptiness": "tela", "workers": 2},
        {"emptiness": "rabin"},
    ]
)


def assert_certified(system, **asked):
    """A certificate is written iff it holds; it is verified, and it is a proof."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        path = Path(folder) / "a.cert"
        verdict = check(system, unknown="never", certificate=str(path), **asked)
        known = check(system, unknown="never", **asked)
        assert verdict.verdict == known.verdict
        assert path.exists() == (verdict.verdict == "holds")
        if not path.exists():
            assert verdict.certificate is None
            return None
        assert [file.name for file in Path(folder).iterdir()] == ["a.cert"]
        verification = verify_certificate(str(path), system)
        assert verification.reason is None
        assert verification.states == verdict.certificate.states
        assert verification.transitions == verdict.certificate.transitions
        known = system if isinstance(system, Network) else None
        parts = parts_of(path, known)
        assert len(parts.states) == verification.states
        if isinstance(system, Network):
            assert proves(system, parts)
        return parts


@given(SYSTEMS, FORMULAS, DEADLOCKS, WAYS)
@settings(max_examples=examples(150))
def test_formulas(network, text, deadlock, way):
    """Networks with and without acceptance, and automata of every kind."""
    assert_certified(network, formula=text, deadlock=deadlock, **way)


@given(SMALL, FORMULAS, DEADLOCKS, REDUCTIONS)
@settings(max_examples=examples(200))
def test_reductions(network, text, deadlock, reduction):
    """Forms that keep words, and forms that keep steps."""
    how = {"deadlock": deadlock, "reduce": reduction}
    with suppress(UnsupportedError):  # no small deterministic form
        assert_certified(network, formula=text, **how)


@given(SMALL, hoa_automata("any"), DEADLOCKS, REDUCTIONS)
@settings(max_examples=examples(80))
def test_reductions_for_automata(network, text, deadlock, reduction):
    """Only steps are kept."""
    (violations,) = parse_automata(text, "random.hoa")
    parts = assert_certified(
        network, automaton=violations, deadlock=deadlock, reduce=reduction
    )
    if parts is not None and "components" in reduction:
        assert parts.header["reduction"]["keeps"] == "steps"


@given(SYSTEMS, hoa_automata("emerson-lei"), DEADLOCKS)
@settings(max_examples=examples(100))
def test_automata_with_any_condition(network, text, deadlock):
    """Emerson-Lei, beside the marks of the network."""
    (violations,) = parse_automata(text, "random.hoa")
    assert_certified(network, automaton=violations, deadlock=deadlock)


@given(SMALL, FORMULAS, hoa_automata("any"), DEADLOCKS)
@settings(max_examples=examples(60))
def test_constraints(network, text, constraint, deadlock):
    """They are judged: nothing is taken on trust."""
    (allowed,) = parse_automata(constraint, "random.hoa")
    with suppress(UnsupportedError):  # more than 32 marks
        assert_certified(network, formula=text, constraint=allowed, deadlock=deadlock)
        assert_certified(network, empty=True, constraint=allowed, deadlock=deadlock)


def test_a_constraint_over_states():
    """Of a net: propositions that are written as nobody would write them."""
    place = '<place id="p"><initialMarking><text>1</text></initialMarking></place>'
    net = parse_pnml(
        f'<pnml><net id="n" type="ptnet">{place}<transition id="t"/>'
        '<arc source="p" target="t"/><arc source="t" target="p"/></net></pnml>'
        "".encode(),
        "n.pnml",
    )
    (constraint,) = parse_automata(
        'HOA: v1\nStates: 1\nStart: 0\nAP: 1 "p  >=  1"\nAcceptance: 0 t\n'
        "--BODY--\nState: 0\n[0] 0\n--END--\n",
        "c.hoa",
    )
    assert_certified(net, formula="G p==1", constraint=constraint)


@given(ACCEPTING, DEADLOCKS)
@settings(max_examples=examples(50))
def test_acceptance_of_the_network(network, deadlock):
    """No property at all."""
    assert_certified(network, empty=True, deadlock=deadlock)


@given(fair_questions(SYSTEMS), FORMULAS)
@settings(max_examples=examples(80))
def test_fairness(asked, text):
    """Weak and strong, of components and of named sets."""
    network, options, _ = asked
    assert_certified(network, formula=text, **options)


@given(petri_nets(max_places=4), st.integers(0, 1 << 30), DEADLOCKS)
@settings(max_examples=examples(60))
def test_nets(net, seed, deadlock):
    """Models are stepped through by the interpreter."""
    rng = random.Random(seed)
    if explored(net) is not None:
        formula = random_formula(rng, net_atoms(rng, net))
        assert_certified(net, formula=formula, deadlock=deadlock, reduce="none")


@given(models(), st.integers(0, 1 << 30), DEADLOCKS)
@settings(max_examples=examples(3))
def test_dve_models(text, seed, deadlock):
    """Few by default: each is compiled for seconds."""
    model, rng = read_dve_model(text, "random.dve"), random.Random(seed)
    if explored(model) is not None:
        for _ in range(5):
            formula = random_formula(rng, dve_atoms(rng, model))
            assert_certified(model, formula=formula, deadlock=deadlock)


@pytest.mark.slow
@given(SMALL, FORMULAS, DEADLOCKS, REDUCTIONS)
@settings(max_examples=examples(3000))
def test_reductions_by_the_thousand(network, text, deadlock, reduction):
    """The same, more often."""
    with suppress(UnsupportedError):
        assert_certified(network, formula=text, deadlock=deadlock, reduce=reduction)


@pytest.mark.slow
@given(fair_questions(SYSTEMS), FORMULAS, WAYS)
@settings(max_examples=examples(3000))
def test_by_the_thousand(asked, text, way):
    """The same, more often."""
    network, options, _ = asked
    options = {} if "emptiness" in way or "acceptance" in way else options
    assert_certified(network, formula=text, **options, **way)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reduce": "components,ample"}, "reduce='components,ample' leaves"),
        ({"bitstate": 1}, "bitstate= stores none"),
        ({"emptiness": "decoupled-ndfs"}, "does not look at one state at a time"),
        ({"past": True, "formula": "G(a - b)", "unknown": "never"}, "another one"),
    ],
    ids=["reduction", "bitstate", "decoupled", "past"],
)
def test_what_cannot_be_certified(tmp_path, options, said):
    """The message says why."""
    path = tmp_path / "a.cert"
    with pytest.raises(UnsupportedError, match=said):
        check(RING, certificate=str(path), **{"formula": "G(a -> F b)"} | options)
    assert not path.exists()


@pytest.mark.parametrize("network", [Network([LTS.from_transitions([])]), RING])
def test_a_condition_that_is_simpler_than_it_looks(network):
    """The search that ranks states takes it as the Inf(0) that it is."""
    (automaton,) = parse_automata(
        'HOA: v1\nStates: 1\nStart: 0\nAP: 1 "a"\n'
        "Acceptance: 2 (Inf(0)|Inf(1))&(Inf(0)|Fin(1))\n"
        "--BODY--\nState: 0\n[t] 0\n[t] 0 {0}\n[t] 0 {1}\n--END--\n",
        "a.hoa",
    )
    assert_certified(network, automaton=automaton)


def test_actions_that_the_automaton_need_not_name(tmp_path):
    """With a constraint it has no letter for what makes no difference to it."""
    network = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0), (0, "c", 0)])])
    automaton = spot.translate("G !b", "Buchi")
    path = str(tmp_path / "a.cert")
    verdict = check(network, "b -> b | c", constraint=automaton, certificate=path)
    verification = verify_certificate(path, network)

    assert verdict.verdict == "holds"
    assert (verification.reason, verification.result) == (None, "verified")
    assert "never holds" not in verification.claim
