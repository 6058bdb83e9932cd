"""Names that several transitions share: each means any of them, in every kind of model.

What a name means is what the ids of all transitions that have it mean together.
"""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from ltlpipe import FormulaError, check, livelock
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.runtime.errors import UnknownNameError, UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.verdict.replay import holding
from tests.example_counts import at_least, examples
from tests.symmetry.sets.random_nets import lively_net

FORMS = ("G !({})", "F ({})", "G F ({})", "F G ({})", "G(({}) -> X({}))", "!X({})")
NAMES = ("send", "back", "t0", "t2", "own")
LIMIT = 400
"""States: some nets are unbounded."""


def sending(*names, place="q"):
    """A token goes from p by one of two transitions, and back by a third."""
    moves = ({0: 1}, {1: 1}), ({0: 1}, {1: 1}), ({1: 1}, {0: 1})
    return PetriNet(
        [Place("p", "p", 1), Place("q", place)],
        [Transition(f"t{k}", names[k], *move) for k, move in enumerate(moves)],
    )


def random_net(rng):
    """A small net whose transitions have few names, and places one token each."""
    n = rng.randint(1, 3)

    def weights():
        return {rng.randrange(n): 1 for _ in range(rng.randint(0, 2))}

    return PetriNet(
        [Place(f"p{k}", f"p{k}", rng.randint(0, 1)) for k in range(n)],
        [
            Transition(f"t{k}", rng.choice(NAMES), weights() or {0: 1}, weights())
            for k in range(4)
        ],
    )


def renamed(rng, net):
    """A symmetric net whose transitions have few names."""
    coloured = net.coloured
    transitions = [t._replace(name=rng.choice(NAMES)) for t in coloured.transitions]
    return SymmetricNet(coloured._replace(transitions=tuple(transitions)))


def meant(transitions, name):
    """The ids of the transitions that a name means: an id is its own."""
    ids = {t.id for t in transitions}
    return [name] if name in ids else [t.id for t in transitions if t.name == name]


def agree(rng, net, transitions, reduce):
    """Whether names and ids are answered alike; a name that no one has is refused."""
    name = rng.choice([*NAMES, *(t.name for t in transitions)])
    form = rng.choice(FORMS)
    ids = meant(transitions, name)
    options = {"reduce": reduce, "max_states": LIMIT}
    for said, whole in (('action=="{}"', None), ("fireable({})", "fireable({})")):
        text = form.replace("{}", said.format(name))
        if not ids:
            with pytest.raises(UnknownNameError, match="is called"):
                check(net, text, **options)
            continue
        every = " || ".join(said.format(own) for own in ids)
        if whole is not None:
            every = whole.format(", ".join(ids))
        by_ids = check(net, form.replace("{}", every), **options)
        found = check(net, text, **options)
        assert found.verdict == by_ids.verdict, (text, every)
    return len(ids) > 1


@pytest.mark.filterwarnings("ignore:.*is the id of one transition")
def test_names_of_nets():
    shared = 0
    for seed in range(examples(60)):
        rng = random.Random(seed)
        net = random_net(rng)
        shared += agree(rng, net, net.transitions, "none")
    assert shared >= at_least(1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*is the id of one transition")
def test_names_of_many_nets():
    for seed in range(1_000, 1_000 + examples(3_000)):
        rng = random.Random(seed)
        net = random_net(rng)
        agree(rng, net, net.transitions, rng.choice(["auto", "none"]))


@pytest.mark.parametrize("reduce", ["none", "symmetry"])
@pytest.mark.filterwarnings("ignore:.*is the id of one transition")
def test_names_of_symmetric_nets(reduce):
    shared = 0
    for seed in range(examples(16)):
        rng = random.Random(seed)
        net = renamed(rng, lively_net(rng))
        with suppress(UnsupportedError):  # nothing can be exchanged
            shared += agree(rng, net, net.coloured.transitions, reduce)
    assert shared >= at_least(1)


@pytest.mark.filterwarnings("ignore:.*is the id of one transition")
def test_moves_of_transitions_that_share_a_name():
    """Interpreter and unfolded net name the same moves, with colours and without."""
    for seed in range(examples(30)):
        rng = random.Random(seed)
        net = renamed(rng, lively_net(rng))
        unfolded = complete(net.unfolding())
        for name in NAMES:
            moves = net.vocabulary.actions.get(name, ())
            own = {net.move_names.id(move) for move in moves}
            known = unfolded.vocabulary.actions.get(name, ())
            assert {unfolded.transitions[k].id for k in known} <= own
            ids = meant(net.coloured.transitions, name)
            assert own == {net.move_names.id(m) for i in ids for m in moves_of(net, i)}
            if name in net.vocabulary.actions:
                assert_replayed_alike(net, name)


def assert_replayed_alike(net, name):
    """The replay, which looks names up by itself, has them mean what they mean."""
    texts, state = [f"action=='{name}'", f"fireable({name})"], net.initial()
    meanings = {text: net.meaning(text) for text in texts}
    for step in net.each_step(state):
        held = net.interpreter.holding(texts, state, step.action)
        assert held == holding(meanings, state, step.action)


def moves_of(net, own):
    number = next(k for k, t in enumerate(net.coloured.transitions) if t.id == own)
    return net.moves.range_of(number)


def test_transitions_with_and_without_variables_share_a_name():
    """Of two that are called so, one has a variable, and one can fire."""
    n_mixed = 0
    for seed in range(60):
        net = lively_net(random.Random(seed))
        transitions = [t._replace(name="same") for t in net.coloured.transitions]
        if len({bool(t.variables) for t in transitions}) < 2:
            continue
        shared = SymmetricNet(net.coloured._replace(transitions=tuple(transitions)))
        unfolded = complete(shared.unfolding())
        for model in (shared, unfolded):
            assert len(model.vocabulary.actions["same"]) == model.n_actions
            fires = model.bound(parse_proposition("fireable(same)"), "fireable(same)")
            state = model.initial()
            assert evaluate(fires, state) == any(True for _ in model.each_step(state))
        n_mixed += 1
    assert n_mixed


DVE = """
byte x;
process P { state a, b; init a;
  trans a -> b { guard x == 9; }, a -> b { effect x = 1; }, b -> b {}; }
system async;
"""


def test_transitions_of_dve_between_the_same_states():
    """The first of the two never happens."""
    model = read_dve_model(DVE, "m.dve")
    assert check(model, 'F action=="P: a -> b"').verdict == "holds"
    assert check(model, 'G !(action=="P: a -> b")').verdict == "violated"
    fair = check(model, "F x==1", fairness="weak", fair_sets=["P: a -> b"])
    assert fair.verdict == "holds"


def test_what_always_happens_is_not_called_unknown():
    net = sending("send", "send", "back")
    assert check(net, 'G !(action=="send")').verdict == "violated"
    assert check(net, 'G F action=="send"').verdict == "holds"
    assert check(net, "G(fireable(send) || fireable(back))").verdict == "holds"
    assert check(net, 'F action=="t0"').verdict == "violated"


def test_fairness_and_livelock_know_shared_names_and_ids():
    net = sending("send", "send", "back")
    for name in ("send", "t2"):
        assert livelock(net, [name]).verdict == "holds"
    assert livelock(net, ["t0"]).verdict == "violated"
    found = check(net, 'GF action=="t0"', fairness="strong", fair_sets=["t0"])
    assert found.verdict == "holds"
    found = check(net, 'GF action=="t0"', fairness="strong", fair_sets=["send"])
    assert found.verdict == "violated"


def test_an_id_that_is_the_name_of_another_means_its_own():
    net = sending("t2", "send", "back")
    with pytest.warns(match="'t2' is the id of one transition and the name of 't0'"):
        found = check(net, 'F(action=="t0" && X action=="t2")')
    assert found.warnings
    assert check(net, 'F action=="t1"').verdict == "violated"


def test_a_name_that_places_share_is_refused():
    """It is no number of tokens; that it never holds would be no way out."""
    places = [Place("p", "p", 1), Place("q", "same"), Place("r", "same")]
    net = PetriNet(places, [Transition("t", "t", {0: 1}, {1: 1})])
    with pytest.raises(FormulaError, match="by its id, 'q' or 'r'") as caught:
        check(net, "G same <= 3")
    assert "never" not in str(caught.value)
    assert not isinstance(caught.value, UnknownNameError)
    assert check(net, "F q == 1").verdict == "holds"


def test_a_name_that_coloured_places_share_is_refused():
    net = lively_net(random.Random(1))
    places = [p._replace(name="same") for p in net.coloured.places]
    assert len(places) > 1
    shared = SymmetricNet(net.coloured._replace(places=tuple(places)))
    for model in (shared, complete(shared.unfolding())):
        with pytest.raises(FormulaError, match="several places are called 'same'"):
            check(model, "G same <= 3")


def test_internal_actions_are_not_called_unknown(tmp_path):
    """No formula can name them; that they never happen would be no way out."""
    path = tmp_path / "m.aut"
    path.write_text("des (0, 3, 2)\n(0, tau, 1)\n(1, tau, 0)\n(0, a, 0)\n")
    with pytest.raises(FormulaError, match="what is internal: 'tau'") as caught:
        check(str(path), "G F (tau | nothing)")
    assert "never" not in str(caught.value)
    with pytest.raises(UnknownNameError, match="did you mean a"):
        check(str(path), "G F (a | A)")
