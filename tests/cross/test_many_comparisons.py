"""Formulas about states with many comparisons, whose Boolean parts are folded.

Verdicts are those of Spot on the states that can be reached, labelled with every
comparison; and of the same search where no part is folded.
"""

from __future__ import annotations

import random

import pytest
import spot

from ltlpipe import UnsupportedError, check, verify_certificate
from ltlpipe.logic.formulas import parse
from ltlpipe.question import model as model_module
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.nets.writing import pnml_text
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.verdict.explicit_product import product
from tests.certificates.parts import parts_of
from tests.example_counts import at_least, examples
from tests.symmetry.sets.random_nets import atoms, lively_net

LIMIT = 300
FORMS = ("G {}", "F {}", "G F {}", "G({} -> F {})", "{} U {}", "F G {} || G {}")


@pytest.fixture(autouse=True)
def folding(monkeypatch):
    """Parts of small formulas are folded, too."""
    monkeypatch.setattr(model_module, "MOST_NAMED", 1)


def ring(rng):
    """Tokens go round, by the one or the other way."""
    n = rng.randint(2, 4)
    places = [Place(f"p{k}", f"p{k}", rng.randint(0, 2)) for k in range(n)]
    moves = [
        Transition(f"t{k}", f"t{k % 2}", {k: 1}, {(k + rng.choice([1, 1, 2])) % n: 1})
        for k in range(n)
    ]
    return PetriNet(places, moves[: rng.randint(1, n)])


def processes(rng):
    """Two DVE processes that count in common, the one a little, the other more."""
    guards = [rng.randint(1, 3) for _ in range(3)]
    return read_dve_model(
        f"""
byte p0 = {rng.randint(0, 1)}; byte p1;
process P {{ state a, b; init a;
  trans a -> b {{ guard p0 < {guards[0]}; effect p0 = p0 + 1; }}, b -> a {{}}; }}
process Q {{ state a, b; init a;
  trans a -> b {{ guard p1 < {guards[1]}; effect p1 = p1 + p0; }},
        b -> a {{ guard p0 == {guards[2]}; effect p0 = 0; }}; }}
system async;
""",
        "m.dve",
    )


def boolean(rng, known, size):
    """A Boolean combination of comparisons."""
    if size == 1:
        return rng.choice(["", "", "!"]) + f"({rng.choice(known)})"
    cut = rng.randint(1, size - 1)
    operator = rng.choice(["&&", "||", "&&", "||", "->", "xor"])
    return f"({boolean(rng, known, cut)} {operator} {boolean(rng, known, size - cut)})"


def formula(rng, known):
    """A formula of several parts with many comparisons each."""
    form = rng.choice(
        [
            "G {}",
            "F {}",
            "G F {}",
            "G({} -> F {})",
            "{} U {}",
            "F G {} || G {}",
            "X {} R {}",
        ]
    )
    parts = [boolean(rng, known, rng.randint(3, 7)) for _ in range(form.count("{}"))]
    return form.format(*parts)


def comparisons(net):
    return [
        f"{p} {r} {k}" for p in net.variables for r in ("==", "<=") for k in (0, 1, 2)
    ]


def by_spot(net, text):
    """Whether no run of the net violates a formula."""
    asked = parse(text)
    structure = net.to_spot(asked.propositions, max_states=LIMIT)
    violations = spot.translate(
        spot.formula_Not(asked.spot), dict=structure.get_dict(), xargs="ba-simul=1"
    )
    return not structure.intersects(violations)


def agrees(seed, counts):
    rng = random.Random(seed)
    net = ring(rng) if rng.random() < 0.7 else processes(rng)
    text = formula(rng, comparisons(net))
    ways = ["auto", "none", "ample", "automorphisms"]
    options = {
        "reduce": rng.choice(ways if isinstance(net, PetriNet) else ["auto"]),
        "acceptance": rng.choice(["auto", "auto", "ba", "tgba", "tela"]),
    }
    if options["reduce"] == "none" and options["acceptance"] == "auto":
        options["emptiness"] = "couvreur99"  # with kernels
    try:
        found = check(net, text, **options)
    except UnsupportedError:
        options["reduce"] = "none"
        found = check(net, text, **options)
    assert found.verdict == ("holds" if by_spot(net, text) else "violated"), text
    counts.append(found.verdict)
    if found.lasso is None:
        return
    written = parse(text).propositions
    assert found.lasso.spelling.propositions == written
    assert {str(p) for p in spot.atomic_prop_collect(parse(text).spot)}
    for step in found.lasso.steps:
        assert set(step.holds) <= set(written)


def test_verdicts_are_those_of_spot():
    counts = []
    for seed in range(examples(60)):
        agrees(seed, counts)
    assert min(counts.count("holds"), counts.count("violated")) > at_least(5)


@pytest.mark.slow
def test_many_verdicts_are_those_of_spot():
    counts = []
    for seed in range(1_000, 1_000 + examples(2_000)):
        agrees(seed, counts)


@pytest.mark.parametrize("reduce", ["none", "symmetry"])
def test_symmetric_nets_with_propositions_about_steps(reduce, monkeypatch):
    """Folded and unfolded search agree."""
    for seed in range(examples(25)):
        rng = random.Random(seed)
        net = lively_net(rng)
        known = rng.sample(known := atoms(rng, net, named=True), min(len(known), 4))
        text = formula(rng, known)
        options = {"reduce": reduce, "max_states": 3_000}
        found = []
        for most in (1, 20):
            monkeypatch.setattr(model_module, "MOST_NAMED", most)
            try:
                found.append(check(net, text, **options).verdict)
            except UnsupportedError:
                found.append("unsupported")
        if "unknown" not in found:
            assert found[0] == found[1], (seed, text)


def test_operators_of_psl_are_left_as_they_are():
    net = ring(random.Random(3))
    text = '{"p0 <= 8"; "p0 <= 9" && "p0 <= 7"} |-> "p1 <= 8"'
    assert check(net, text).verdict == "holds"


def test_many_invariants_are_one():
    """However they are written; more than may be told apart are refused at once."""
    net = ring(random.Random(3))
    many = [f"p0 <= {k} || p1 == {k}" for k in range(8, 48)]
    assert check(net, "&&".join(f"G({each})" for each in many)).verdict == "holds"
    assert check(net, "||".join(f"F({each})" for each in many)).verdict == "holds"
    told_apart = "&&".join(f"G(p0 < {k} -> F p1 <= {k})" for k in range(30))
    with pytest.raises(UnsupportedError, match="60 propositions about states"):
        check(net, told_apart, reduce="none")


def test_what_depends_on_the_comparisons_sees_all_of_them():
    """Vacuity, words and products are over what was written."""
    net = ring(random.Random(3))
    text = "G(" + " && ".join(f"p0 <= {k}" for k in range(8, 20)) + " || p1 == 77)"
    found = check(net, text, vacuity=True)
    assert found.verdict == "holds"
    assert found.vacuity.vacuous
    assert found.vacuity.part.replace(" ", "") == "p1==77"
    violated = check(net, text.replace("p0 <= 8", "p0 < 0"))
    names = {p.ap_name() for p in spot.atomic_prop_collect(parse(text).spot)}
    word = violated.lasso.word.as_automaton()
    assert {p.ap_name() for p in word.ap()} >= names - {"p0<=8"}
    made = product(net, text)
    assert {p.ap_name() for p in made.ap()} == names
    assert made.is_empty()


def test_finite_runs_are_judged_by_the_comparisons():
    """A transition that only produces: what is lost is lost after a finite run."""
    places = [Place("p0", "p0"), Place("p1", "p1", 1)]
    net = PetriNet(places, [Transition("t", "t", {}, {0: 1})])
    text = "G(" + " && ".join(f"(p0 <= {k} || p1 == 0)" for k in range(5, 15)) + ")"
    found = check(net, text, emptiness="reach-terminal")
    assert found.verdict == "violated"
    assert len(found.finite_run.steps) == 6
    written = parse(text).propositions
    for step in found.finite_run.steps:
        assert set(step.holds) <= set(written)
        assert "p0<=14" in step.holds
    other = "F(" + " || ".join(f"p0 == {k}" for k in range(5, 15)) + ")"
    assert check(net, other, timeout=20).verdict == "holds"


def test_products_have_the_words_that_violate():
    for seed in range(examples(40)):
        rng = random.Random(seed)
        net = ring(rng)
        text = formula(rng, comparisons(net))
        made = product(net, text)
        assert made.is_empty() == by_spot(net, text)
        structure = net.to_spot(parse(text).propositions, max_states=LIMIT)
        run = None if made.is_empty() else made.accepting_word()
        if run is not None:
            word = run.as_automaton()
            assert spot.otf_product(structure, word).is_empty() is False


def test_certificates_are_about_the_comparisons(tmp_path):
    path, net = tmp_path / "net.pnml", ring(random.Random(3))
    path.write_text(pnml_text(net))
    text = "G(" + " && ".join(f"(p0 <= {k} || p1 < {k})" for k in range(8, 14)) + ")"
    made = tmp_path / "a.cert"
    found = check(str(path), text, certificate=str(made), reduce="none")
    assert found.verdict == "holds"
    proof = verify_certificate(str(made))
    assert proof.result == "verified"
    assert text in proof.claim
    assert not any("too hard" in line for line in proof.trusted)
    for other, reason in (
        (text.replace("p0 <= 8 ||", "p0 <= 7 ||"), "misses words"),
        (text.replace("p0 <= 8 || p1 < 8", "p0 <= 8 || p1 < 8 && p9 == 1"), "misses"),
        (text.replace("G(", "G((p0 == 55) || "), None),
    ):
        parts = parts_of(made)
        parts.header["formula"] = other
        parts.write(made)
        proof = verify_certificate(str(made))
        assert (proof.result == "verified") == (reason is None), other
        assert reason is None or reason in proof.reason
