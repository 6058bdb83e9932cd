"""Inequalities that are proved by induction, and checked again."""

from __future__ import annotations

import copy
import random

import pytest

from ltlpipe import check, verify_certificate
from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.certificates.checking.linear import LinearProof
from ltlpipe.linear import proof
from ltlpipe.linear.constraints import is_satisfied
from ltlpipe.linear.cycles import Meaning
from ltlpipe.linear.proof import equation_of, prove_rows
from ltlpipe.logic.formulas import parse
from ltlpipe.strategies.linear import arrays_of, meanings_of
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Notes, Unit
from ltlpipe.systems.nets.writing import pnml_text
from tests.cross.test_models import explored, net_atoms, random_formula
from tests.example_counts import at_least, examples
from tests.linear.test_certificates import accepted, forged, numbers_in
from tests.linear.test_proof import assert_sound, proved
from tests.random_nets import net_of, random_net


@pytest.fixture(autouse=True)
def _nothing_known():
    """What is proved of a net is kept, and would prove more for the next question."""
    proof._known.clear()


DOUBTS = (AttributeError, LookupError, RefusedError, TypeError, ValueError)


def with_units(rng, net):
    """Put the places of a net into units, some inside others."""
    owners = [rng.randrange(3) for _ in net.places]
    around = [rng.choice([None, *range(k)]) for k in range(3)]
    units = [
        Unit(
            f"u{k}",
            tuple(p for p, owner in enumerate(owners) if owner == k),
            tuple(part for part, outer in enumerate(around) if outer == k),
        )
        for k in range(3)
    ]
    return PetriNet(net.places, net.transitions, notes=Notes(units=tuple(units)))


def assert_inductive(rng, net, meanings, markings):
    """What is proved is so, and accepted; refused, or so, when a number changes."""
    equation = equation_of(arrays_of(net), certified=True)
    own = {name: Meaning(*sides) for name, sides in meanings_of(meanings).items()}
    prove_rows(equation, own)
    found = equation.inductive
    assert all(is_satisfied(each["row"], m) for each in found for m in markings)
    for place, bound in enumerate(net.bounds.tokens):
        assert bound is None or all(m[place] <= bound for m in markings)
    LinearProof(net, {}, stutters=True).check_inductive(found)
    for _ in range(8 if found else 0):
        changed = copy.deepcopy(found)
        holder, key = rng.choice([*numbers_in(changed)])
        holder[key] += rng.choice([-2, -1, 1, 2])
        try:
            LinearProof(net, {}, stutters=True).check_inductive(changed)
        except DOUBTS:
            continue
        assert all(is_satisfied(each["row"], m) for each in changed for m in markings)
    return bool(found)


def assert_sound_with_units(seed):
    rng = random.Random(seed)
    net = with_units(rng, random_net(rng))
    graph = explored(net)
    if graph is None:
        return False
    formula, stutters = random_formula(rng, net_atoms(rng, net)), rng.random() < 0.5
    assert_sound(net, formula, stutters)
    found, meanings = proved(net, formula, stutters)
    if found["proved"]:
        assert accepted(net, found, meanings, formula, stutters)
    return assert_inductive(rng, net, meanings, graph[0])


def test_units_of_random_nets():
    """Inequalities, proofs that use them, and what the checker says."""
    assert sum(map(assert_sound_with_units, range(examples(125)))) >= at_least(10)


@pytest.mark.slow
def test_units_of_random_nets_by_the_thousand():
    """The same, by the thousand."""
    for seed in range(1000, 1000 + examples(3000)):
        assert_sound_with_units(seed)


def doubling(*units):
    """A step that doubles a token needs two places that exclude each other."""
    net = net_of([0, 1], ({0: 1, 1: 1}, {0: 2, 1: 1}), ({1: 1}, {0: 1}))
    return PetriNet(net.places, net.transitions, notes=Notes(units=units))


SAFE = "G(p0 <= 1)"
INNER, OUTER = Unit("u", (0,), ()), Unit("v", (1,), (0,))


@pytest.mark.parametrize(
    ("units", "holds"),
    [([], False), ([Unit("u", (0, 1), ())], True), ([INNER, OUTER], True),
     ([INNER, Unit("v", (1,), ())], False)],
    ids=["none", "one", "nested", "beside"],
)  # fmt: skip
def test_a_unit_and_those_around_it_exclude_each_other(units, holds):
    """The state equation alone lets the step be taken."""
    assert proved(doubling(*units), parse(SAFE), stutters=True)[0]["proved"] == holds


def test_a_proposition_is_its_own_hypothesis():
    """What a formula says of the two places is inductive; that of one is not."""
    both = parse("G(p0 + p1 <= 1)")
    assert proved(doubling(), both, stutters=True)[0]["proved"]


def test_places_that_are_never_marked_together():
    """Used where nobody asks for a certificate: it has no proof of that."""
    net = net_of([0, 1, 0], ({0: 1, 1: 1}, {0: 2, 1: 1}), ({1: 1}, {0: 1}))
    for certified in (True, False):
        found, _ = proved(net, parse(SAFE), stutters=True, certified=certified)
        assert found["proved"] != certified


@pytest.mark.parametrize(
    ("row", "steps"),
    [(["row", [[1, 1], [1, 1]], -1], []), (["row", [[1, 1]], 0], []),
     (["row", [[0, 1]], -1], []), (["and", []], [])],
    ids=["twice", "initially", "step", "no row"],
)  # fmt: skip
def test_what_is_not_inductive_is_refused(row, steps):
    """A place that stands twice, a false beginning, a step without a refutation."""
    with pytest.raises(DOUBTS):
        LinearProof(doubling(), {}, stutters=True).check_inductive(
            [{"row": row, "steps": steps}]
        )


def test_from_check_to_verify(tmp_path):
    """The proof of the sets travels in the certificate, and is needed."""
    system, path = tmp_path / "net.pnml", tmp_path / "proof"
    system.write_text(UNITS.format(pnml_text(doubling()).partition("</page>")[0]))
    verdict = check(str(system), SAFE, reduce="linear", certificate=str(path))
    assert (verdict.verdict, verdict.plan.strategy) == ("holds", "linear")
    assert verify_certificate(str(path)).result == "verified"
    forged(path, lambda told: told.pop("inductive"))
    found = verify_certificate(str(path))
    assert found.reason == "a refutation rests on what is not known"


UNITS = """{}<toolspecific tool="nupn" version="1.1"><structure units="1" root="u"
  safe="false"><unit id="u"><places>p0 p1</places><subunits/></unit></structure>
  </toolspecific></page></net></pnml>"""
