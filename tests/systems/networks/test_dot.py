"""Graphviz files of networks."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.systems.networks.dot import read_dot, write_dot
from ltlpipe.systems.networks.lts import LTS, Network
from tests.hypothesis_strategies import AWKWARD_LABELS, named_networks, networks

BENCHMARKS = Path(
    os.environ.get(
        "LTLPIPE_BENCHMARKS", Path(__file__).parents[4] / "shared" / "benchmarks"
    )
)
PROBLEMS = sorted(BENCHMARKS.glob("rers-like/problems/*/system.dot"))

TWO_COMPONENTS = """\
digraph G {
  subgraph cluster_0 {
    0 -> 2 [label=""];
    1 -> 2 [label="a"];
    2 -> 1 [label="b"];
  }
  subgraph cluster_1 {
    3 -> 4 [label=""];
    4 -> 4 [label="b"];
  }
}
"""


LABELS = AWKWARD_LABELS.map(str.strip).filter(bool)
"""Labels that can be written: blanks around them have no meaning."""


def read(text, **manner):
    return read_dot(text, "m.dot", **manner)


def refusal(text, **manner):
    with pytest.raises(InputError) as caught:
        read(text, **manner)
    return str(caught.value)


def test_one_component_per_subgraph():
    """The node that the start edge leaves is no state; the others keep their order."""
    first, second = read(TWO_COMPONENTS)

    assert first == LTS.from_transitions([(0, "a", 1), (1, "b", 0)], initial=1)
    assert second == LTS.from_transitions([(0, "b", 0)])
    assert (first.name, second.name) == ("cluster_0", "cluster_1")


def test_plain_digraph_is_one_component():
    (component,) = read('digraph { s -> p [label=""] p -> q [label=go] }')

    assert component.transitions() == [(0, "go", 1)]


@pytest.mark.parametrize(
    "edges",
    [
        'x -> "1" [label="a"]',
        'x:port:ne -> "1":sw [label=a]',
        'x -> "1" [color=red, label="b"; label="a"] [style="dotted"]',
        'x -> "" + "1" [label="" + "a"]',
        "edge [color=red] node [shape=box][width=.5] graph [rankdir=LR] x->1[label=a]",
        "rankdir = LR; ; x -> 1 [label=a];",
        "x /* -> 7 */ -> // -> 8\n# x -> 9\n 1 [label=a]",
        "{rank=same; x; 1} x -> {1} [label=a]",
        "subgraph inner { x -> 1 [label=a] }",
        "x [label=initial] 1 [label=final] x -> 1 [label=a]",
    ],
)
def test_what_graphviz_allows(edges):
    """All of these are one transition from x to 1."""
    text = f'strict DiGraph "n" {{ subgraph c {{ 0 -> x [label=""] {edges} }} }}'
    (component,) = read(text)

    assert component == LTS.from_transitions([(0, "a", 1)])


def test_edges_of_networkx():
    """Keys tell edges apart that lead between the same nodes."""
    text = """digraph {
compound=true;
s0 [initial=True];
s0 -> s1 [key=0, label=a];
s0 -> s1 [key=1, label="b,c"];
}
"""
    (found,) = read_dot(text, "f")
    assert (found.labels, found.n_transitions, found.initial) == (("a", "b,c"), 2, 0)


def test_chain_labels_each_of_its_edges():
    (component,) = read('digraph { 0 -> 1 [label=""] 1 -> 2 -> 3 [label=a] }')

    assert component.transitions() == [(0, "a", 1), (1, "a", 2)]


def test_integers_are_ordered_by_value_and_names_by_appearance():
    (numbers,) = read('digraph { 0 -> 10 [label=""] 10 -> 9 [label=a] }')
    (names,) = read('digraph { 0 -> 10 [label=""] 10 -> x [label=a] 10 -> 9 [label=b]}')

    assert numbers.transitions() == [(1, "a", 0)]
    assert names.transitions() == [(0, "a", 1), (0, "b", 2)]


def test_escapes_in_strings():
    (component,) = read(r'digraph { 0 -> 1 [label=""] 1 -> 1 [label="a\"b\\c\nd"] }')

    assert component.labels == ('a"b\\c\\nd',)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "m.dot:1: unexpected end of file, expected 'digraph'"),
        ("graph {}", "m.dot:1: unexpected 'graph', expected 'digraph'"),
        ("digraph {\n 1 -- 2 }", "m.dot:2: unexpected undirected edge '--'"),
        ('digraph {\n 0 -> 1 [label=""', "m.dot:2: unexpected end of file, expected"),
        ('digraph {\n 0 -> 1 [label="x', "m.dot:2: unexpected end of file in a str"),
        ("digraph {\n /* 0 ->", "m.dot:2: unexpected end of file in a comment"),
        ("digraph {\n 0 -> <b> [label=b] }", "m.dot:2: unexpected text in HTML"),
        ("digraph {\n 0 -> 1 [label=<<b>x</b> }", "m.dot:2: unexpected text in HTML"),
        ("digraph {\n 0 -> 1.5a [label=x] }", "m.dot:2: unexpected '1'"),
        ("digraph {\n 0 -> 1 }", "m.dot:1: component 1 has no start edge"),
        ('digraph {\n 0 -> 1 [label=""] } 2', "m.dot:2: unexpected '2'"),
    ],
)
def test_refused_with_file_and_line(text, expected):
    assert refusal(text).startswith(expected)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('4 -> 4 [label="b"]', "4 -> 4", "m.dot:9: the edge 4 -> 4 of cluster_1"),
        ('3 -> 4 [label=""];', "", "m.dot:7: cluster_1 has no start edge"),
        ("1 -> 2", '0 -> 1 [label=""]; 1 -> 2', "m.dot:4: cluster_0 uses 0, where its"),
        ("1 -> 2", '9->2[label=""] 2->0[label=c] 1 -> 2', "m.dot:4: cluster_0 uses 0,"),
        (
            "4 -> 4",
            '5 -> 4 [label=""]; 4 -> 4',
            "m.dot:9: cluster_1 has a second start",
        ),
        ("4 -> 4", "4 -> 3", "m.dot:9: cluster_1 uses 3, where its start edge begins"),
        ("4 -> 4", "3 -> 4", "m.dot:9: cluster_1 uses 3, where its start edge begins"),
        ("3 -> 4", "3 -> 3", "m.dot:8: cluster_1 uses 3, where its start edge begins"),
        ("  }\n}", "  }\n 5->6 [label=a]}", "m.dot:11: an edge outside of the subgr"),
    ],
)
def test_components_are_checked(old, new, expected):
    assert refusal(TWO_COMPONENTS.replace(old, new)).startswith(expected)


INTERNAL = """\
digraph G {
  subgraph component0 {
    "0" [label="0" style=filled];
    1 -> 2 [color=black label="a" ];
    2->1 [label="" color=black ];
    0 -> "1" [ color=black,label="" ];
    2 -> 2 [label=""];
  }
  subgraph component1 {
    0 -> 3 [label=""];
    3 -> 1 [label=""];
    1 -> 3 [label="a"];
  }
}
"""


def test_a_second_empty_label_is_an_internal_action():
    """As in RERS 2016; ids are shared between components, and so is the node 0."""
    first, second = read(INTERNAL)

    steps = [(0, "a", 1), (1, "tau", 0), (1, "tau", 1)]
    assert first == LTS.from_transitions(steps, internal=["tau"])
    steps = [(1, "tau", 0), (0, "a", 1)]
    assert (second.initial, second.transitions()) == (1, steps)
    assert second.internal == {"tau"}
    actions = Network([first, second]).actions
    assert [(a.name, a.participants, a.internal) for a in actions] == [
        ("a", (0, 1), False),
        ("tau", (0,), True),
        ("tau", (1,), True),
    ]


def test_an_internal_action_is_called_apart_from_others():
    """A label tau of the component is an action that formulas can name."""
    (component,) = read(
        'digraph { 0 -> 1 [label=""] 1 -> 2 [label=tau] 2 -> 1 [label=""] }'
    )

    assert component.labels == ("tau", "tau_2")
    assert component.internal == {"tau_2"}
    assert component.transitions() == [(0, "tau", 1), (1, "tau_2", 0)]


@pytest.mark.parametrize(
    ("edges", "initial", "transitions"),
    [
        ('7->1 [label=""] 0->2 [label=""] 1->2 [label=a]', 1, ["7 tau 1", "1 a 2"]),
        ('2->1 [label=""] 1->2 [label=a] 5->2 [label=""]', 1, ["2 tau 1", "1 a 2"]),
        ('s->0 [label=""] 0->1 [label=""] 1->0 [label=a]', 0, ["0 tau 1", "1 a 0"]),
        ('0->1 [label=""] 1->1 [label=""]', 0, ["1 tau 1"]),
    ],
    ids=["node 0", "the only one that is not entered", "a state 0", "a loop"],
)
def test_which_edge_is_the_start(edges, initial, transitions):
    """The one whose source has no other edge; of several the one from node 0."""
    (component,) = read(f"digraph {{ {edges} }}")
    (lines,) = read("digraph {\n" + edges.replace("] ", "]\n") + "\n}")
    numbers = sorted({int(n) for t in transitions for n in re.findall(r"\d+", t)})

    assert component == lines
    assert component.initial == initial
    assert component.internal == {"tau"}
    assert [
        f"{numbers[src]} {label} {numbers[dst]}"
        for src, label, dst in component.transitions()
    ] == transitions


@given(networks(labels=st.sampled_from(["a", "b", "c"])), st.data())
def test_internal_actions_are_those_of_aut(network, data):
    """A label without text means what tau means in an Aldebaran file."""
    for lts in network.components:
        hidden = data.draw(st.sampled_from([*lts.labels, None]))
        if hidden is None:
            continue
        text = write_dot([lts]).replace(f'[label="{hidden}"]', '[label=""]')
        (found,) = read(text)
        same = [(s, "tau" if a == hidden else a, d) for s, a, d in lts.transitions()]
        assert found.transitions() == same
        is_used = any(a == hidden for _, a, _ in lts.transitions())
        assert found.internal == ({"tau"} if is_used else set())
        assert (found.n_states, found.initial) == (lts.n_states, lts.initial)


def test_start_state_without_transitions_is_valid():
    (component,) = read('digraph { subgraph c { 0 -> 1 [label=""] } }')

    assert component == LTS.from_transitions([])


def test_nesting_deeper_than_any_call_stack():
    text = "digraph " + "{" * 9_999 + '0 -> 1 [label=""]' + "}" * 9_999

    assert read(text) == [LTS.from_transitions([])]


def test_integers_too_long_for_int_are_names():
    digits = "1" * 5000
    (component,) = read(f'digraph {{ 0 -> {digits} [label=""] }}')

    assert component == LTS.from_transitions([])


@given(networks(labels=LABELS))
def test_round_trip(network):
    assert read(write_dot(network.components)) == list(network.components)


def test_written_as_in_rers():
    assert write_dot(read(TWO_COMPONENTS)) == TWO_COMPONENTS


@pytest.mark.parametrize(
    ("component", "reason"),
    [
        (LTS.from_transitions([], accepting=[0]), "accepting states; write .hoa"),
        (LTS.from_transitions([(0, "", 0)]), "an empty label"),
        (LTS.from_transitions([(0, " a", 0)]), "the blanks around ' a'; write .aut"),
    ],
)
def test_what_the_format_cannot_hold(component, reason):
    with pytest.raises(UnsupportedError, match=reason):
        write_dot([component])


@given(networks(), st.data())
def test_cut_files_are_refused(network, data):
    """Only line breaks at the end can go missing unnoticed."""
    text = write_dot(network.components)
    cut = text[: data.draw(st.integers(0, len(text)))]

    if cut.rstrip() == text.rstrip():
        assert read(cut) == list(network.components)
    else:
        assert refusal(cut).startswith("m.dot:")


@given(st.text('digraph{} "a->[label=];/*#\n'))
def test_any_text_is_read_or_refused(text):
    for candidate in (text, f'digraph {{ 0 -> 1 [label=""] {text} }}'):
        try:
            read(candidate)
        except InputError:
            continue


@pytest.mark.skipif(not PROBLEMS, reason="LTLPIPE_BENCHMARKS has no RERS problems")
def test_rers_problems():
    """As many components as subgraphs, as many transitions as labelled edges."""
    for problem in PROBLEMS:
        text = problem.read_text()
        components = read_dot(text, str(problem))

        assert len(components) == text.count("subgraph")
        assert sum(c.n_transitions for c in components) == text.count("->") - len(
            components
        )
        assert read(write_dot(components)) == components


def test_names_of_components_and_states():
    """Numbers are no names; states are in order of first appearance."""
    named, numbered = read(
        """digraph {
        subgraph cluster_sender { s -> "waiting r" [label=""]
            "waiting r" -> critical [label=enter] critical -> 7 [label=leave] }
        subgraph "the other" { 0 -> 1 [label=""] 1 -> 1 [label=enter] }
        }"""
    )

    assert (named.name, numbered.name) == ("cluster_sender", "the other")
    assert named.state_names == ("waiting r", "critical", "7")
    assert numbered.state_names is None
    assert [named.state_name(2), numbered.state_name(0)] == ["7", "0"]


def test_a_name_twice_gets_a_number():
    """Graphviz would draw two parts of one name as one."""
    loop = LTS.from_transitions([(0, "a", 1), (1, "a", 2)], name="P")
    loop = replace(loop, state_names=("idle", "idle_2", "idle"))

    first, second = read(write_dot([loop, loop]))

    assert (first.name, second.name) == ("P", "P_2")
    assert first.state_names == second.state_names == ("idle", "idle_2", "idle_3")
    assert first == loop


@given(named_networks(labels=LABELS))
def test_names_are_read_as_they_were_written(network):
    """Names of states only where they differ and are not all numbers."""
    found = read(write_dot(network.components))

    assert tuple(found) == network.components
    for old, new in zip(network.components, found, strict=True):
        names = old.state_names or ()
        if len({c.name for c in network.components}) == len(found) and old.name:
            assert new.name == old.name
        if all(re.fullmatch("-?[0-9]+", name) for name in names):
            assert new.state_names is None
        elif len(set(names)) == len(names):
            assert new.state_names == names
        else:
            assert len(set(new.state_names)) == len(names)
