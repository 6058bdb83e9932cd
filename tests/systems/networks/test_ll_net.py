"""Petri nets in PEP's format: read by a parser of its own, and played."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.families.networks import philosophers, random_network, ring
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks import exports
from ltlpipe.systems.networks.exports import to_ll_net
from ltlpipe.systems.networks.lts import LTS, Network
from tests.example_counts import examples
from tests.hypothesis_strategies import AWKWARD_LABELS, networks
from tests.oracles import compose

NODE = re.compile(r"""(\d+)(?P<quote>["'])(.*?)(?P=quote)(\d+@\d+)?(M\d+)?""", re.ASCII)

#: Any character there is, those that end names and lines in files above all.
ANY_LABELS = st.one_of(AWKWARD_LABELS, st.text(min_size=1), st.text("\\'\"%\n\r\0x2"))


class Net:
    """A net as Cunf's reader understands it: nodes by number, arcs by block."""

    def __init__(self, text):
        head, text = text[:19], text[19:]
        assert head == "PEP\nPTNet\nFORMAT_N\n"
        blocks = re.fullmatch(
            r"PL\n(.*?)^TR\n(.*?)^TP\n(.*?)^PT\n(.*)", text, re.DOTALL | re.MULTILINE
        )
        places, transitions, puts, takes = map(str.splitlines, blocks.groups())
        self.places, marked = self._nodes(places)
        self.transitions, none = self._nodes(transitions)
        assert not none
        self.initial = frozenset(marked)
        self.taken = {t: set() for t in self.transitions}
        self.put = {t: set() for t in self.transitions}
        self._arcs(takes, ">", self.taken, place_first=True)
        self._arcs(puts, "<", self.put, place_first=False)

    @staticmethod
    def _nodes(lines):
        names, marked = {}, []
        for line in lines:
            number, _, name, _, marking = NODE.fullmatch(line).groups()
            assert int(number) == len(names) + 1
            names[int(number)] = name
            if marking:
                assert marking == "M1"
                marked.append(int(number))
        return names, marked

    def _arcs(self, lines, sign, arcs, *, place_first):
        for line in lines:
            first, second = map(int, line.split(sign))
            place, transition = (first, second) if place_first else (second, first)
            assert place in self.places
            assert place not in arcs[transition]  # no arc twice
            arcs[transition].add(place)

    def play(self):
        """Return the reachable markings, and the steps between them by name."""
        markings, steps = [self.initial], set()
        seen = {self.initial}
        for marking in markings:  # grows while it is read
            for t, name in self.transitions.items():
                if not self.taken[t] <= marking:
                    continue
                rest = marking - self.taken[t]
                assert not rest & self.put[t]  # safe: never two tokens
                successor = rest | self.put[t]
                steps.add((marking, name, successor))
                if successor not in seen:
                    seen.add(successor)
                    markings.append(successor)
        return seen, steps


def label_of(name):
    """Return the label in the name of a net transition."""
    number, escaped = re.fullmatch(r"T(\d+):(.*)", name, re.ASCII).groups()
    return int(number), escaped.encode("ascii").decode("unicode_escape")


def state_of(net, marking):
    """Return the composed state that a marking stands for."""
    found = {}
    for place in marking:
        component, state = re.fullmatch(r"P(\d+):S(\d+)", net.places[place]).groups()
        assert component not in found  # one token for each component
        found[component] = int(state)
    return tuple(found[str(i)] for i in range(len(found)))


def assert_plays(network):
    """The token game has the states and steps of the composition, and no others."""
    net = Net(to_ll_net(network))
    markings, steps = net.play()
    states, edges = compose(network)

    assert {state_of(net, m) for m in markings} == set(states)
    assert {
        (state_of(net, m), label_of(name)[1], state_of(net, then))
        for m, name, then in steps
    } == {(states[s], network.actions[a].name, states[d]) for s, a, d in edges}
    assert len(net.places) == sum(c.n_states for c in network.components)


def test_text_of_a_small_net():
    """Arcs of TP lead to places, those of PT come from them; a self-loop has both."""
    network = Network(
        [
            LTS.from_transitions([(0, "a", 1), (1, "b", 0)], initial=1),
            LTS.from_transitions([(0, "a", 0), (0, "a", 1)], accepting=[1]),
        ]
    )

    assert to_ll_net(network) == (
        "PEP\nPTNet\nFORMAT_N\n"
        "PL\n"
        '1"P0:S0"0@0\n'
        '2"P0:S1"0@0M1\n'
        '3"P1:S0"0@0M1\n'
        '4"P1:S1"0@0\n'
        "TR\n"
        '1"T1:a"0@0\n'
        '2"T2:a"0@0\n'
        '3"T3:b"0@0\n'
        "TP\n"
        "1<2\n1<3\n2<2\n2<4\n3<1\n"
        "PT\n"
        "1>1\n3>1\n1>2\n3>2\n2>3\n"
    )


@given(networks(max_components=4, internal=["c"], acceptance=True))
def test_token_game_of_random_networks(network):
    """Labels of one to four components, internal ones, choices, dead ends."""
    assert_plays(network)


@pytest.mark.slow
@settings(max_examples=examples(5000))
@given(networks(max_components=4, max_transitions=12, internal=["c"]))
def test_token_game_of_larger_networks(network):
    assert_plays(network)


@pytest.mark.parametrize(
    "network",
    [
        philosophers(3),
        ring(4),
        random_network(2, seed=1, n_states=(5, 20)),
        random_network(3, seed=2, n_states=(3, 6), sharing=(3, 3)),
    ],
    ids=lambda network: network.name,
)
def test_token_game_of_families(network):
    assert_plays(network)


@given(networks(labels=ANY_LABELS))
def test_labels_can_be_read_from_names(network):
    """Quotes, line breaks and any script, in names that are ASCII and differ."""
    text = to_ll_net(network)
    names = Net(text).transitions

    assert text.isascii()
    assert len(set(names.values())) == len(names)
    assert all(label_of(name)[0] == number for number, name in names.items())
    assert_plays(network)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ('say "hi"', "say \\x22hi\\x22"),
        ("don't", "don\\x27t"),
        ("a\nb", "a\\nb"),
        ("\\x22", "\\\\x22"),
        ("☃ %", "\\u2603 %"),
    ],
)
def test_escapes(label, name):
    text = to_ll_net(Network([LTS.from_transitions([(0, label, 0)])]))

    assert f'\n1"T1:{name}"0@0\n' in text


def test_a_label_without_transitions_blocks():
    """No net transition where one participant has none; the other's b stays."""
    stuck = replace(LTS.from_transitions([]), labels=("a",))
    free = LTS.from_transitions([(0, "a", 1), (0, "b", 1)])
    net = Net(to_ll_net(Network([stuck, free])))

    assert list(net.transitions.values()) == ["T1:b"]
    assert Net(to_ll_net(Network([stuck]))).transitions == {}
    assert_plays(Network([stuck, free]))


def test_internal_labels_stay_apart():
    """Each i is a net transition of one component, also beside an ordinary i."""
    internal = LTS.from_transitions([(0, "i", 1)], internal=["i"])
    ordinary = LTS.from_transitions([(0, "i", 0)])
    network = Network([internal, internal, ordinary, ordinary])
    net = Net(to_ll_net(network))

    assert [len(places) for places in net.taken.values()] == [1, 1, 2]
    assert_plays(network)


def test_a_transition_that_stands_twice_counts_once():
    twice = LTS.from_transitions([(0, "a", 1), (0, "a", 1)])

    assert len(Net(to_ll_net(Network([twice, twice]))).transitions) == 1


def test_many_combinations_are_refused_before_they_are_made():
    """2**60 net transitions of 60 components."""
    choice = LTS.from_transitions([(0, "a", 0), (0, "a", 1)])
    with pytest.raises(UnsupportedError, match="at most 10000000 are written"):
        to_ll_net(Network([choice] * 60))


def test_the_limit_is_on_arcs(monkeypatch):
    """Two components with 2 and 3 choices: 6 net transitions of 4 arcs, and 2 arcs."""
    two = LTS.from_transitions([(0, "a", 0), (0, "a", 1), (1, "b", 0)])
    three = LTS.from_transitions([(0, "a", s) for s in range(3)])
    network = Network([two, three])
    monkeypatch.setattr(exports, "MAX_ARCS", 26)
    text = to_ll_net(network)
    assert text.count("<") + text.count(">") == 26

    monkeypatch.setattr(exports, "MAX_ARCS", 25)
    with pytest.raises(UnsupportedError, match="26 arcs, at most 25"):
        to_ll_net(network)
