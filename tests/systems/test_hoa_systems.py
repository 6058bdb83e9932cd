"""HOA with state semantics: the file is what the graph of Spot is in Python."""

import numpy as np
import pytest
import spot

from ltlpipe import InputError, UnsupportedError, check, load, save
from tests.spot_graphs import random_automaton, random_formula, random_kripke

KRIPKE = """HOA: v1
States: 2
Start: 0
AP: 2 "p" "q"
acc-name: all
Acceptance: 0 t
properties: state-labels explicit-labels state-acc
--BODY--
State: [0&1] 0
1
State: [!0&1] 1
0
--END--
"""


@pytest.fixture
def file(tmp_path):
    """Write a file in HOA and return its path."""

    def write(text):
        path = tmp_path / "m.hoa"
        path.write_text(text)
        return path

    return write


def kripke_text(graph):
    """Write a Kripke structure, as Spot has it in memory."""
    names = " ".join(f'"{ap.ap_name()}"' for ap in graph.ap())
    lines = [f"HOA: v1\nStates: {graph.num_states()}"]
    lines.append(f"Start: {graph.get_init_state_number()}")
    lines.append(f"AP: {len(graph.ap())} {names}\nAcceptance: 0 t\n--BODY--")
    for state in range(graph.num_states()):
        lines.append(f"State: [{label(graph, state)}] {state}")
        lines += [str(edge.dst) for edge in graph.out(state)]
    return "\n".join([*lines, "--END--"])


def label(graph, state):
    """Return the condition of a state as HOA has it."""
    bdd = graph.state_condition(graph.state_from_number(state))
    formula = spot.bdd_to_formula(bdd, graph.get_dict())
    names = [ap.ap_name() for ap in graph.ap()]

    def text(node):
        kind = node.kindstr()
        if kind in ("tt", "ff"):
            return kind[0]
        if kind == "ap":
            return str(names.index(node.ap_name()))
        if kind == "Not":
            return f"!{text(node[0])}"
        sign = "&" if kind == "And" else "|"
        return "(" + sign.join(map(text, node)) + ")"

    return text(formula)


def same(graph, path, seed):
    """Compare the graph with the file: its arrays, and an answer about each."""
    one, other = load(graph), load(path, semantics="state")
    assert one.is_kripke == other.is_kripke
    assert (one.n_states, one.initial) == (other.n_states, other.initial)
    order = np.argsort(one.src, kind="stable")  # files list edges state by state
    for name in ("src", "dst"):
        assert np.array_equal(getattr(one, name)[order], getattr(other, name)), name
    formula = random_formula(seed, [ap.ap_name() for ap in graph.ap()] or ["p"])
    asked = {"unknown": "never"} if not graph.ap() else {}
    if one.is_kripke:
        asked["deadlock"] = "stutter" if seed % 2 else "ignore"
    answer = answered(graph, formula, **asked)
    assert answered(path, formula, semantics="state", **asked) == answer


def answered(system, formula, **asked):
    """Return the verdict, or that a state cannot stutter since its label is false."""
    try:
        return check(system, formula, **asked).verdict
    except UnsupportedError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::ltlpipe.LtlpipeWarning")
def test_kripke_structures(file):
    for seed in range(60):
        graph = random_kripke(seed)
        same(graph, file(kripke_text(graph)), seed)


@pytest.mark.filterwarnings("ignore::ltlpipe.LtlpipeWarning")
@pytest.mark.parametrize("kind", ["all", "Buchi", "Rabin", "random"])
def test_automata(kind, file):
    for seed in range(15):
        graph = random_automaton(seed, kind)
        same(graph, file(graph.to_str("hoa")), seed)


def test_a_state_without_edges_stutters_with_its_label(file):
    """Spot alone would read it without."""
    path = file(KRIPKE.replace("[!0&1] 1\n0", "[!0&1] 1"))
    for formula, verdict in (
        ("G q", "holds"),
        ("F G !p", "holds"),
        ("G p", "violated"),
    ):
        answer = check(path, formula, semantics="state", deadlock="stutter")
        assert answer.verdict == verdict


def test_what_is_written_is_read(tmp_path):
    """Structures with ends, as Spot alone cannot write them."""
    for seed in range(30):
        system = load(random_kripke(seed))
        (path,) = save(system, tmp_path / "m.hoa")
        again = load(path, semantics="state")
        assert graph_text(again) == graph_text(system)


def graph_text(system):
    """What can be seen of a Kripke structure: labels, and edges in any order."""
    ends = sorted(zip(system.src.tolist(), system.dst.tolist(), strict=True))
    labels = [label(system.graph, state) for state in range(system.n_states)]
    return system.initial, system.propositions, labels, ends


def test_aliases_and_comments(file):
    """Names, aliases and comments are where the format allows them."""
    path = file(
        '/* HOA: v1 */ HOA: v1 name: "State: [0] 7" States: 2 Start: 1\n'
        'AP: 2 "p --BODY--" "q\\"" Alias: @both 0&1 Alias: @no !0\n'
        'tool: "me" Acceptance: 0 t properties: state-labels\n--BODY--\n'
        'State: [@both] 0 /* no edge */ State: [@no | f] 1 "State: 1" 0 1 --END--'
    )
    system = load(path, semantics="state")
    p, q = system.propositions

    assert (p, q) == ("p --BODY--", 'q"')
    assert (system.n_states, system.n_edges, system.initial) == (2, 2, 1)
    quoted = '"p --BODY--"', '"q\\""'
    stutter = {"deadlock": "stutter"}
    assert check(system, f"F {quoted[0]}", **stutter).verdict == "violated"
    assert check(system, f"{quoted[0]} M !{quoted[0]}", **stutter).verdict == "violated"
    seen = f"G({quoted[0]} -> G {quoted[1]})"
    assert check(system, seen, **stutter).verdict == "holds"


def test_labels_on_states_of_an_automaton(file):
    """With acceptance it is no Kripke structure: Spot's ``autfilt -Hk`` writes such."""
    text = """HOA: v1 States: 2 Start: 0 AP: 1 "p" Acceptance: 1 Inf(0)
properties: state-labels --BODY-- State: [0] 0 {0} 0 1 State: [!0] 1 0 1 --END--"""
    system = load(file(text), semantics="state")
    assert not system.is_kripke
    assert check(system, "p & G F p").verdict == "holds"
    assert check(system, "G p").verdict == "violated"


def test_it_is_called_as_the_file_is(file):
    path = file(KRIPKE)
    system = load(path, semantics="state")

    assert system.name == str(path)
    assert check(system, "G q").verdict == "holds"
    assert check(system, "p & X p").verdict == "violated"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("--END--\n", "--END--\n" + KRIPKE, "expected one automaton or Kripke"),
        ("State: [!0&1] 1\n0", "State: 1\n[0] 0", "m.hoa:12: transition label used"),
        ("state-labels", "trans-labels", "m.hoa:9: state label used although"),
    ],
)
def test_what_is_none(old, new, expected, file):
    with pytest.raises(InputError, match=expected):
        load(file(KRIPKE.replace(old, new)), semantics="state")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Start: 0", "Start: 0\nStart: 1", "2 initial states"),
        ("Start: 0", "Start: 0&1", "alternating"),
        ("\n0\n", "\n0&1\n", "alternating"),
    ],
)
def test_what_is_not_supported(old, new, expected, file):
    with pytest.raises(UnsupportedError, match=expected):
        load(file(KRIPKE.replace(old, new)), semantics="state")


def test_without_state_semantics_the_way_is_named(file):
    """Two propositions at once are no label of a component."""
    with pytest.raises(InputError, match="semantics='state' reads labels of states"):
        load(file(KRIPKE))


def test_a_graph_is_no_component(file):
    path = file(KRIPKE)
    with pytest.raises(UnsupportedError, match="a system of its own"):
        load([path, path], semantics="state")
    with pytest.raises(UnsupportedError, match="alphabet='declared'"):
        load(path, semantics="state", alphabet="declared")
