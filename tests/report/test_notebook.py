"""What objects show in Jupyter: escaped, abbreviated, with pictures if there is dot."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import (
    LTS,
    Lasso,
    Network,
    Plan,
    Simulation,
    Statistics,
    Vacuity,
    Verdict,
)
from ltlpipe.automata.letters import PropertyAutomaton, universal
from ltlpipe.logic.generating import quoted
from ltlpipe.report import graphs
from ltlpipe.report.notebook import html_of
from ltlpipe.systems.models import Model
from tests.example_counts import examples

EVIL = "<script>alert('&amp;\"\\N')</script>"

_NO_END = {"meta", "br"}


class _Reader(HTMLParser):
    """Collects texts and cells, and that every element ends."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.rows, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in _NO_END:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag not in _NO_END:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def shown(subject):
    """What an object shows as HTML, read."""
    reader = _Reader()
    reader.feed(subject._repr_html_())
    assert not reader.open
    return reader


@pytest.fixture
def no_dot(monkeypatch):
    monkeypatch.setenv("PATH", "")


@pytest.fixture
def dot(tmp_path, monkeypatch):
    """A program that draws nothing, in place of Graphviz's, and notes what it gets."""
    path = tmp_path / "dot"

    def become(script):
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        graphs._svg.cache_clear()

    become(f"cat >> {tmp_path}/asked; echo '<?xml?><!DOCTYPE svg><svg><g/></svg>'")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    yield become
    graphs._svg.cache_clear()


def ring(n, name="", label="a", accepting=None):
    steps = [(k, label, (k + 1) % n) for k in range(n)]
    return LTS.from_transitions(steps, name=name, accepting=accepting)


def lasso(prefix, cycle, n_components=2):
    names = ["p"] * prefix + ["c"] * cycle
    states = np.zeros((len(names) + 1, n_components), np.int32)
    states[:, 0] = range(len(names) + 1)
    actions = np.zeros(len(names), np.int32)
    return Lasso(names[:prefix], names[prefix:], actions, states, names)


def verdict(word="violated", **columns):
    plan = Plan("TGBA", "couvreur99", ("alphabet", "ample"))
    stats = Statistics(states=12345, transitions=3, seconds=1.25, memory_mib=0.5)
    given = {"reason": None, "system": "s", "formula": "G a", "plan": plan}
    return Verdict(**({"verdict": word, "stats": stats} | given | columns))


def automaton(n_letters=2, n_states=2, **columns):
    """From each state to the next one on every letter; mark 0 on those of state 0."""
    m = n_states * n_letters
    src = np.repeat(np.arange(n_states), n_letters)
    given = {
        "first_edge": np.arange(m + 1, dtype=np.int32),
        "edge_dst": ((src + 1) % n_states).astype(np.int32),
        "edge_marks": (src == 0).astype(np.uint32),
    }
    rest = {"initial": 0, "n_marks": 1, "state_based": True}
    given |= {"n_states": n_states, "n_letters": n_letters} | rest
    return PropertyAutomaton(**(given | columns))


class Counter(Model):
    """A model with nothing but names."""

    def __init__(self, actions, values):
        self.name, self.actions, self.values = EVIL, tuple(actions), values
        self.variables = tuple(values)

    def initial(self):
        return tuple(self.values.values())

    def shown(self, state):
        return dict(zip(self.variables, state, strict=True))

    each_step = pack = None


SUBJECTS = {
    "lts": ring(2, EVIL, EVIL),
    "large lts": ring(99, EVIL, EVIL, accepting=range(50)),
    "network": Network([ring(2, EVIL, EVIL), ring(3, EVIL, "b")], EVIL),
    "large network": Network([ring(99, EVIL, f"{k}{EVIL}") for k in range(30)], EVIL),
    "verdict": verdict(EVIL, system=EVIL, formula=EVIL, reason=EVIL),
    "lasso": Lasso([EVIL], [EVIL], np.zeros(2, int), np.zeros((3, 1), int), [EVIL] * 2),
    "lasso of a model": Lasso(
        [{EVIL: EVIL}],
        [{EVIL: 1}],
        np.zeros(2, int),
        np.zeros((3, 1), int),
        [EVIL] * 2,
    ),
    "model": Counter([EVIL], {EVIL: EVIL}),
    "large model": Counter([EVIL] * 99, {f"{k}{EVIL}": k for k in range(99)}),
    "simulation": Simulation(
        Network([ring(2, EVIL, EVIL)], EVIL), f"F {quoted(EVIL)}", unknown="never"
    ),
    "large simulation": Simulation(
        Network([ring(2, f"{k}{EVIL}", f"{k}{EVIL}") for k in range(99)])
    ),
    "automaton": automaton(),
    "large automaton": automaton(n_states=99),
}


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=[*SUBJECTS])
def test_nothing_from_input_is_markup(subject, no_dot):
    """And without Graphviz there is no picture, but everything else."""
    found = shown(subject)
    known = {"div", "p", "code", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    if isinstance(subject, Lasso):  # has a chart, which takes no Graphviz
        known |= {"details", "summary", "svg", "g", "rect", "line", "circle", "path"}
        known |= {"polygon", "text", "title"}
    assert {*found.tags} <= known
    if not isinstance(subject, PropertyAutomaton):
        assert "<script>alert(" in found.text
    assert (subject._repr_svg_() is None) == (not isinstance(subject, Lasso))


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=[*SUBJECTS])
def test_large_ones_are_abbreviated(subject, dot):
    """With or without pictures, a few screens at most."""
    found = shown(subject)
    assert len(found.rows) <= 32
    assert len(subject._repr_html_()) < 20_000


@pytest.mark.parametrize(
    ("word", "columns", "told"),
    [
        ("holds", {}, "holds: G a on s"),
        ("unknown", {"reason": "timeout"}, "unknown (timeout): G a on s"),
        ("holds", {"formula": None}, "holds: on s"),
    ],
)
def test_verdict(word, columns, told, no_dot):
    found = shown(verdict(word, **columns))
    assert found.text.strip().startswith(told)
    assert found.rows == [
        [
            "options",
            "automaton",
            "search",
            "reductions",
            "states",
            "transitions",
            "seconds",
            "MiB",
        ],
        [
            "default",
            "TGBA",
            "couvreur99",
            "alphabet, ample",
            "12,345",
            "3",
            "1.250",
            "0.500",
        ],
    ]


@pytest.mark.parametrize(
    ("vacuity", "told"),
    [
        (Vacuity(True, "F <b>", False, "G a"), "vacuously: F <b> could be false"),
        (Vacuity(False), "not vacuously"),
        (Vacuity(reason="timeout"), "vacuity undecided (timeout)"),
    ],
)
def test_vacuity(vacuity, told, no_dot):
    assert told in shown(verdict("holds", vacuity=vacuity)).text


def test_a_witness(no_dot):
    """Of what matters; it is drawn as a counterexample is."""
    vacuity = Vacuity(False, witness=lasso(1, 2), witness_part="p")
    found = shown(verdict("holds", vacuity=vacuity))
    assert "not vacuously; in this run p matters:" in found.text
    assert ["1", "prefix", "p", "component 1: 0 → 1"] in found.rows


def test_verdict_with_a_lasso(no_dot):
    """Every step: which part, which action, who moves and how."""
    found = shown(verdict(lasso=lasso(1, 2)))
    assert "Lasso: 1 step, then 2 for ever" in found.text
    assert found.rows[2:] == [
        ["step", "part", "action", "who moves"],
        ["1", "prefix", "p", "component 1: 0 → 1"],
        ["2", "cycle", "c", "component 1: 1 → 2"],
        ["3", "cycle", "c", "component 1: 2 → 3"],
    ]


@pytest.mark.parametrize("prefix", [0, 2, 100, 995, 999])
def test_long_lassos(prefix, no_dot):
    """The beginning, where the cycle begins, and the end are shown."""
    found = shown(lasso(prefix, 1000 - prefix))
    steps = [int(row[0]) for row in found.rows[1:] if row[0] != "…"]
    assert steps == sorted({*steps})
    assert {1, prefix + 1, 1000} <= {*steps}
    assert len(steps) <= 24
    gaps = sum(b != a + 1 for a, b in pairwise(steps))
    assert gaps == sum(row[0] == "…" for row in found.rows)


def test_many_moves(no_dot):
    """Of a step that all components take some are named."""
    states = np.array([[0] * 9, [1] * 9], np.int32)
    found = shown(Lasso([], ["a"], np.zeros(1, np.int32), states, ["a"]))
    assert found.rows[1][3].endswith("component 6: 0 → 1, … 3 more")


def test_lasso_of_a_model(no_dot):
    """What each step changes; the last one leads back to where the cycle begins."""
    states = [{"x": 0, "q": "idle"}, {"x": 0, "q": "busy"}, {"x": 2, "q": "busy"}]
    actions, rows = np.zeros(3, int), np.zeros((4, 2), int)
    found = shown(Lasso(states[:1], states[1:], actions, rows, ["go", "add", "sub"]))
    assert found.rows == [
        ["step", "part", "action", "what changes"],
        ["1", "prefix", "go", "q: idle → busy"],
        ["2", "cycle", "add", "x: 0 → 2"],
        ["3", "cycle", "sub", "x: 2 → 0"],
    ]


def test_model(no_dot):
    found = shown(Counter(["tick"], {"x": 3, "q": "idle"}))
    assert "2 variables, 1 action" in found.text
    assert found.rows[1:] == [["x", "3"], ["q", "idle"]]
    assert "actions: tick" in found.text


def test_simulation(no_dot):
    simulation = Simulation(Network([ring(2, "one")], "n"), "G X !a")
    found = shown(simulation.step(0))
    assert "Simulation of n after 1 step" in found.text
    assert "left of G X !a: !a & GX!a" in found.text
    assert found.rows[1:3] == [["one", "1"], ["", "enabled step", "who moves"]]
    assert found.rows[3] == ["0", "a", "one: 1 → 0"]
    assert "violated by the first 2 steps" in shown(simulation.step(0)).text
    simulation.name_filter = "<b>"
    assert (
        "no enabled step is like <b>: filter lists all again" in shown(simulation).text
    )


def test_network(no_dot):
    found = shown(Network([ring(3, "one", accepting=[1]), ring(2)], "n"))
    assert "Network n: 2 components, with acceptance" in found.text
    assert "1 action: a" in found.text
    assert found.rows[1:] == [["0", "one", "3", "3", "1", "1"], ["1", "", *"221-"]]


def test_lts_as_a_table(no_dot):
    found = shown(ring(2, accepting=[1]))
    assert "LTS: 2 states, 2 transitions; labels: a" in found.text
    assert "initial: 0; accepting: 1" in found.text
    assert found.rows[1:] == [["0", "a", "1"], ["1", "a", "0"]]
    assert "… 75 transitions more" in shown(ring(99)).text


def test_automaton_as_a_table(no_dot):
    found = shown(automaton(3, weak=True))
    assert "2 states, 3 letters, acceptance Inf(0), state-based, weak" in found.text
    assert found.rows[1:] == [["0", "any", "1", "{0}"], ["1", "any", "0", ""]]
    found = shown(universal())
    assert found.rows[1:] == [["0", "any", "0", ""]]


def test_letters():
    assert graphs.letters_text(automaton(4), [0, 2]) == "0,2"
    assert graphs.letters_text(automaton(4), [0, 1, 2, 3]) == "any"
    assert graphs.marks_text(0b101) == "{0 2}"


@pytest.mark.parametrize("subject", [ring(2), automaton(), Network([ring(2)] * 2)])
def test_pictures(subject, dot, tmp_path):
    """SVG alone, without what comes before it; the same in the HTML; asked for once."""
    assert subject._repr_svg_() == "<svg><g/></svg>\n"
    assert subject._repr_svg_() in subject._repr_html_()
    assert (tmp_path / "asked").read_text().count("digraph") == 1


@pytest.mark.parametrize(
    "script", ["exit 1", "echo no picture", "kill -9 $$", "exec sleep 60"]
)
def test_a_dot_that_fails(script, dot, monkeypatch):
    """Leaves the table."""
    monkeypatch.setattr(graphs, "_SECONDS", 0.2)
    dot(script)
    assert ring(2)._repr_svg_() is None
    assert len(shown(ring(2)).rows) == 3


def test_what_is_too_large_for_a_picture():
    """States, arrows, and transitions, which are counted before arrows are made."""
    assert graphs.lts_graph([ring(24)]) is not None
    assert graphs.lts_graph([ring(25)]) is None
    assert graphs.lts_graph([ring(12), ring(13)]) is None
    dense = [(s, "a", d) for s in range(8) for d in range(8)]
    assert graphs.lts_graph([LTS.from_transitions(dense)]) is None
    many = [(0, f"l{k}", 0) for k in range(601)]
    assert graphs.lts_graph([LTS.from_transitions(many)]) is None
    assert "… 596 more" in graphs.lts_graph([LTS.from_transitions(many[:600])])
    assert graphs.automaton_graph(automaton(n_states=24)) is not None
    assert graphs.automaton_graph(automaton(n_states=25)) is None


def test_graph_of_an_lts():
    lts = LTS.from_transitions(
        [(0, 'a"', 1), (0, "&b", 1), (1, "c\n", 1)], initial=1, accepting=[1]
    )
    lines = [line.strip() for line in graphs.lts_graph([lts]).splitlines()]
    assert "0 [label=0]" in lines
    assert "1 [label=1 peripheries=2]" in lines
    assert "start1 -> 1" in lines
    assert r'0 -> 1 [label="a\"\n&amp;b"]' in lines
    assert '1 -> 1 [label="c?"]' in lines


def test_states_have_their_names():
    names = ("idle", '<b>"\\N&')
    lts = replace(ring(2), state_names=names)
    lines = [line.strip() for line in graphs.lts_graph([lts]).splitlines()]
    box = 'margin="0.08,0.03" shape=box style=rounded'
    assert f"0 [label=idle {box}]" in lines
    assert rf'1 [label="<b>\"\\N&amp;" {box}]' in lines


def test_several_components_are_framed():
    graph = graphs.lts_graph([ring(2, "one"), ring(2)])
    assert graph.count("subgraph cluster_") == 2
    assert "label=one" in graph
    assert 'label="component 2"' in graph
    assert "3 -> 2" in graph
    assert graph.index("component 2") < graph.index("label=one")


def test_without_the_package(dot, monkeypatch):
    """There is no picture, but all the rest."""
    monkeypatch.setitem(sys.modules, "graphviz", None)
    assert ring(2)._repr_svg_() is None
    assert automaton()._repr_svg_() is None
    assert len(shown(ring(2)).rows) == 3


def test_others_are_not_shown():
    with pytest.raises(TypeError, match="a int has no HTML display"):
        html_of(3)


def test_the_base_changes_nothing_else():
    """No attribute of its own, and objects are pickled as before."""
    assert pickle.loads(pickle.dumps(ring(2))) == ring(2)
    assert "Displayed" not in repr(verdict())


needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz")


@needs_dot
@settings(max_examples=examples(50))
@given(st.text(min_size=1, max_size=29))
def test_graphviz_shows_labels_as_they_are(label):
    """Whatever they look like to it: escapes, entities, markup, other scripts."""
    svg = ET.fromstring(ring(1, label=label)._repr_svg_())
    texts = [t.text or "" for t in svg.iter("{http://www.w3.org/2000/svg}text")]
    expected = graphs.short(label).replace("\xa0", " ")
    assert " ".join(texts).replace("\xa0", " ").split() == ["0", *expected.split()]


@needs_dot
@pytest.mark.parametrize("name", ["lts", "network", "automaton"])
def test_graphviz_draws(name):
    found = shown(SUBJECTS[name])
    assert "svg" in found.tags
    assert "script" not in found.tags


@needs_dot
@settings(max_examples=examples(30))
@given(st.text(min_size=1, max_size=29))
def test_graphviz_shows_names_as_they_are(name):
    """Names of states, too, whatever they look like."""
    lts = replace(ring(1), state_names=(name,))
    svg = ET.fromstring(lts._repr_svg_())
    texts = [t.text or "" for t in svg.iter("{http://www.w3.org/2000/svg}text")]
    expected = graphs.short(name).replace("\xa0", " ").split()
    assert " ".join(texts).replace("\xa0", " ").split() == [*expected, "a"]
