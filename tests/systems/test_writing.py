"""Saving networks, and reading them back."""

import gzip
import io
import re
from dataclasses import replace

import numpy as np
import pytest
import spot
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.networks.exports import to_ll_net, to_promela
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.reading import load
from ltlpipe.systems.writing import save, separate_internal
from ltlpipe.verdict.checking import check
from tests.hypothesis_strategies import AWKWARD_LABELS, networks
from tests.spot_graphs import random_formula

RING = Network(
    [
        LTS.from_transitions([(0, "a", 1), (1, "b", 0)], initial=1),
        LTS.from_transitions([(0, "b", 0)], n_states=2),
    ]
)

MODELS = {".pml": to_promela, ".ll_net": to_ll_net}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("saved")


@pytest.mark.parametrize("suffix", [".dot", ".gv", ".aut", ".hoa"])
@pytest.mark.parametrize("end", ["", ".gz"])
def test_round_trip(suffix, end, tmp_path):
    paths = save(RING, str(tmp_path / f"m{suffix}{end}"))

    assert load(paths) == RING
    assert sorted(tmp_path.iterdir()) == sorted(paths)
    assert all((p.read_bytes()[:2] == b"\x1f\x8b") == bool(end) for p in paths)


@given(networks(labels=st.sampled_from("abc")), st.integers(0, 1 << 30))
def test_a_net_does_what_the_network_does(directory, network, seed):
    """As many states; a formula holds of both, with ``action==`` before its actions."""
    (path,) = save(network, directory / "m.pnml")
    net = load(path)
    names = sorted(network.action_index)
    assert isinstance(net, PetriNet)
    graph = net.to_spot([], stutters=False)
    assert graph.num_states() == network.to_spot().num_states()
    if not names:
        return
    formula = random_formula(seed, names)
    asked = re.sub("[abc]", r'(action=="\g<0>")', f"{formula:f}")
    finite = {"deadlock": "ignore"}
    answer = check(network, formula, **finite).verdict
    taken = {transition.name for transition in net.transitions}
    if all(name in taken for name in formula_names(formula)):
        assert check(net, asked, **finite).verdict == answer


def formula_names(formula):
    return [ap.ap_name() for ap in spot.atomic_prop_collect(formula)]


def test_a_net_is_written_as_it_is(tmp_path):
    for name in ("token-ring-5", "dining-4"):
        net = load(f"examples/pnml/{name}.pnml")
        (path,) = save(net, tmp_path / "m.pnml")
        again = load(path)
        assert again.variables == net.variables
        assert again.actions == net.actions
        state = net.initial()
        assert again.steps(state) == net.steps(state)


def test_states_of_a_model_as_a_kripke_structure(tmp_path):
    """With the propositions that are named, and no others."""
    model = load("examples/dve/peterson.dve")
    named = ['P_0=="waiting"', "turn==1"]
    (path,) = save(model, tmp_path / "m.hoa", propositions=named)
    structure = load(path, semantics="state")

    assert structure.is_kripke
    assert structure.propositions == tuple(named)
    for text in ('G F P_0=="waiting"', "F G turn==1", 'G(turn==1 -> F P_0=="waiting")'):
        quoted = re.sub(r'P_0=="waiting"', r'"P_0==\"waiting\""', text)
        quoted = quoted.replace("turn==1", '"turn==1"')
        assert check(structure, quoted).verdict == check(model, text).verdict
    assert load(save(structure, tmp_path / "n.hoa"), semantics="state").n_states == (
        structure.n_states
    )


@pytest.mark.parametrize(
    ("source", "target", "more", "reason"),
    [
        ("dve/peterson.dve", "x.dot", {}, "would lose what formulas can say of"),
        ("dve/peterson.dve", "x.aut", {}, "would lose what formulas can say of"),
        ("dve/peterson.dve", "x.pnml", {}, "a .pnml file holds a Petri net"),
        ("dve/peterson.dve", "x.hoa", {}, "would lose all that propositions"),
        ("pnml/token-ring-5.pnml", "x.dot", {}, "would lose what formulas can say"),
        ("pnml/token-ring-5.pnml", "x.pml", {}, "would lose what formulas can say"),
        ("dve/peterson.dve", "x.hoa", {"internal": "i"}, "has no actions"),
        (
            "dve/peterson.dve",
            "x.dot",
            {"propositions": ["turn==1"]},
            "a .dot file would lose propositions that hold together; write .hoa",
        ),
        (
            "factoring/clients.dot",
            "x.hoa",
            {"propositions": ["a==1"]},
            "about states of a model",
        ),
    ],
)
def test_what_would_be_lost_is_named(source, target, more, reason, tmp_path):
    with pytest.raises(UnsupportedError, match=re.escape(reason)):
        save(load(f"examples/{source}"), tmp_path / target, **more)
    assert not list(tmp_path.iterdir())


@given(networks(labels=AWKWARD_LABELS, acceptance=True))
def test_all_formats_tell_of_the_same_network(directory, network):
    """What dot and aut can hold of it, they hold like HOA."""
    expected = load(save(network, directory / "m.hoa"))
    for name in ("m.dot", "m.aut"):
        try:
            found = load(save(network, directory / name))
        except UnsupportedError:
            continue
        assert [c.labels for c in found.components] == [
            c.labels for c in expected.components
        ]
        assert [sorted(c.transitions()) for c in found.components] == [
            sorted(c.transitions()) for c in expected.components
        ]


def test_several_components_are_several_aut_files(tmp_path):
    paths = save(RING, tmp_path / "m.x.aut.gz")

    assert [p.name for p in paths] == ["m.x_1.aut.gz", "m.x_2.aut.gz"]
    assert gzip.decompress(paths[1].read_bytes()) == b'des (0, 1, 2)\n(0, "b", 0)\n'


@pytest.mark.parametrize(("suffix", "write"), MODELS.items())
def test_models_for_other_tools(suffix, write, tmp_path):
    (path,) = save(RING, tmp_path / f"m{suffix}")
    (packed,) = save(RING, tmp_path / f"m{suffix}.gz")

    assert path.read_text() == write(RING)
    assert gzip.decompress(packed.read_bytes()).decode() == write(RING)


def test_a_petri_net_goes_without_acceptance(tmp_path):
    """It is the same net as that of the components without accepting states."""
    plain = LTS.from_transitions([(0, "a", 1), (1, "b", 0)])
    network = Network([replace(plain, accepting=np.array([True, False]))])

    (path,) = save(network, tmp_path / "m.ll_net")

    assert path.read_text() == to_ll_net(Network([plain]))


def test_the_same_bytes_at_any_time(tmp_path):
    (first,) = save(RING, tmp_path / "a.dot.gz")
    (second,) = save(RING, tmp_path / "b.dot.gz")

    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("suffix", [".dot", ".aut", ".hoa"])
def test_labels_without_transitions_stay_in_the_alphabet(suffix, tmp_path):
    """They block other components; self-loops of an unreachable state keep them."""
    component = replace(LTS.from_transitions([(0, "a", 0)]), labels=("a", "b"))

    (found,) = load(save(Network([component]), tmp_path / f"m{suffix}")).components

    assert found.labels == ("a", "b")
    assert found.transitions() == [(0, "a", 0), (1, "b", 1)]


@pytest.mark.parametrize("suffix", [".dot", ".hoa"])
def test_internal_labels_become_local(suffix, tmp_path):
    """Both components have an i of their own, and i_2 is taken."""
    steps = [(0, "i", 0), (0, "i_2", 0), (0, "tau", 0)]
    network = Network(
        [
            LTS.from_transitions(steps, internal=["i"]),
            LTS.from_transitions([(0, "i", 0)], internal=["i"]),
            LTS.from_transitions([(0, "hidden", 0)], internal=["hidden"]),
        ]
    )

    found = load(save(network, tmp_path / f"m{suffix}"))

    assert [c.labels for c in found.components] == [
        ("i_1", "i_2", "tau"),
        ("i_2_2",),
        ("hidden",),
    ]
    assert all(len(action.participants) == 1 for action in found.actions)


def test_an_internal_label_steps_aside_for_an_ordinary_one():
    ordinary = LTS.from_transitions([(0, "i", 0)])
    internal = LTS.from_transitions([(0, "i", 0)], internal=["i"])

    found = separate_internal([ordinary, internal])

    assert [c.labels for c in found] == [("i",), ("i_2",)]


@pytest.mark.parametrize(
    ("label", "suffix", "reason"),
    [
        ("\0", ".dot", "cannot be written to a .dot file"),
        ("\ud800", ".aut", "cannot be written to a .aut file"),
        (
            "a",
            ".dve",
            "cannot write .dve, expected .dot, .aut, .hoa, .pnml, .pml or .ll_net",
        ),
        ("a", "", "cannot write a file without suffix"),
        ("i", ".aut", "internal in an .aut file"),
    ],
)
def test_refusals_write_nothing(label, suffix, reason, tmp_path):
    network = Network([RING.components[0], LTS.from_transitions([(0, label, 0)])])

    with pytest.raises(UnsupportedError, match=reason):
        save(network, tmp_path / f"m{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"m\.dot: cannot be written: No such file"):
        save(RING, tmp_path / "missing" / "m.dot")


def test_saving_keeps_odd_names_of_components(tmp_path):
    component = LTS.from_transitions([], name="\udcff")

    assert load(save(Network([component]), tmp_path / "m.hoa")) == Network([component])


NAMED = replace(
    LTS.from_transitions([(0, "a", 1), (1, "b", 0)], name="cluster_sender"),
    state_names=("waiting_r", "critical_r"),
)


@pytest.mark.parametrize("ways", [["dot", "hoa", "dot"], ["hoa", "dot", "hoa"]])
def test_names_survive(ways, tmp_path):
    """HOA is read by a worker: names travel between processes, too."""
    network = Network([NAMED, RING.components[1]])
    for suffix in ways:
        network = load(save(network, tmp_path / f"m.{suffix}"))

    component = network.components[0]
    assert component == NAMED
    assert component.name == "cluster_sender"
    assert component.state_names == ("waiting_r", "critical_r")
    assert network.components[1].state_names is None


def test_a_blocked_label_keeps_the_names(tmp_path):
    blocking = replace(NAMED, labels=("a", "b", "c"))
    for suffix in ("dot", "hoa"):
        (component,) = load(
            save(Network([blocking]), tmp_path / f"m.{suffix}")
        ).components

        assert component.labels == ("a", "b", "c")
        assert component.state_names == ("waiting_r", "critical_r", "unreachable")


def test_names_that_no_file_can_hold(tmp_path):
    component = replace(NAMED, name="a\0b", state_names=("\0", "\ud800"))

    (found,) = load(save(Network([component]), tmp_path / "m.dot")).components

    assert found == component


def test_names_are_as_many_as_states():
    with pytest.raises(ValueError, match="1 names of 2 states"):
        replace(NAMED, state_names=("one",))


def test_the_format_may_be_named(tmp_path):
    (path,) = save(RING, tmp_path / "ring.txt", format="dot")

    assert path == tmp_path / "ring.txt"
    assert load(path, format="dot") == RING


def test_standard_output(capsys):
    assert save(RING, "-", format="HOA") == []
    text = capsys.readouterr().out

    assert load(io.StringIO(text)) == RING


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "-: cannot write a file without suffix, expected .dot"),
        ({"format": "aut"}, "holds one component, and the network has 2"),
        (
            {"format": "dve"},
            "format='dve': expected dot, aut, hoa, pnml, pml or ll_net",
        ),
        ({"format": "dot", "internal": "i"}, "internal='i' is for .aut files"),
    ],
)
def test_nothing_is_printed_of_what_cannot_be_written(options, reason, capsys):
    with pytest.raises(UnsupportedError, match=re.escape(reason)):
        save(RING, "-", **options)

    assert capsys.readouterr().out == ""


def test_a_graph_of_spot_is_a_system(tmp_path):
    graph = spot.translate("GFa", "deterministic")
    (path,) = save(graph, tmp_path / "graph.hoa")
    assert check(load(path, semantics="state"), "GFa").holds
