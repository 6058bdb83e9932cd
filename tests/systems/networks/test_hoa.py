"""HOA files of Büchi automata."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.systems.hoa_systems import read_hoa, write_hoa
from ltlpipe.systems.networks.lts import LTS
from tests.hypothesis_strategies import AWKWARD_LABELS, named_networks, networks

HEADER = """\
HOA: v1
States: 3
Start: 1
AP: 3 "a" "b" "c"
acc-name: Buchi
Acceptance: 1 Inf(0)
--BODY--
"""
BODY = """\
State: 2 {0}
[0&!1&!2] 1
State: 0
State: 1 "one" {0}
[!0&!1&2] 2
"""
NEVER = "never { accept_init: if :: (1) -> goto accept_init fi; }"
AUTOMATON = HEADER + BODY + "--END--\n"


def read(text):
    return read_hoa(text, "m.hoa")


def refusal(text, kind=InputError):
    with pytest.raises(kind) as caught:
        read(text)
    return str(caught.value)


def grouped(component):
    """Sort transitions by source, which is all of their order that HOA keeps."""
    order = np.argsort(component.src, kind="stable")
    return LTS(
        component.n_states,
        component.initial,
        component.labels,
        component.src[order],
        component.label[order],
        component.dst[order],
        accepting=component.accepting,
    )


def test_states_keep_their_numbers():
    (component,) = read(AUTOMATON)

    assert (component.n_states, component.initial) == (3, 1)
    assert component.transitions() == [(2, "a", 1), (1, "c", 2)]
    assert component.accepting.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("label", "letters"),
    [
        ("0", "a"),
        ("0|1", "ab"),
        ("t", "abc"),
        ("!0", "bc"),
        ("!0&!1", "c"),
        ("(0|1)&!1", "a"),
        ("!(0&1)", "abc"),
    ],
)
def test_exactly_one_proposition_holds(label, letters):
    """An edge is a transition for each proposition that satisfies it alone."""
    (component,) = read(AUTOMATON.replace("!0&!1&2", label))

    found = [a for s, a, d in component.transitions() if (s, d) == (1, 2)]
    assert found == list(letters)


def test_alphabet_is_what_edges_use():
    """Proposition b is declared only: it does not synchronise."""
    (component,) = read(AUTOMATON)

    assert component.labels == ("a", "c")


def test_label_on_a_state():
    (component,) = read(HEADER + "State: [1] 0 1\nState: 1\nState: 2\n--END--")

    assert component.transitions() == [(0, "b", 1)]


def test_a_false_edge_is_none():
    (component,) = read(AUTOMATON.replace("!0&!1&2", "0&!0"))

    assert component.transitions() == [(2, "a", 1)]
    assert component.accepting.tolist() == [False, True, True]


def test_aliases():
    text = AUTOMATON.replace(
        "AP:", "Alias: @b-99 1 Alias: @not !@b-99 controllable-AP: 0 AP:"
    )

    assert read(text.replace("[0&!1&!2]", "[0&@not]")) == read(AUTOMATON)


def test_acceptance_t_is_none():
    text = AUTOMATON.replace("1 Inf(0)", "0 t").replace("Buchi", "all")
    (component,) = read(text.replace(" {0}", ""))

    assert component.accepting is None


def test_marks_on_edges_that_agree_are_marks_on_a_state():
    text = AUTOMATON.replace("State: 2 {0}\n[0&!1&!2] 1", "State: 2\n[0] 1 {0}")

    assert read(text) == read(AUTOMATON)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[0&!1&!2]", "[0&1]", "m.hoa:8: automaton 1, state 2: no proposition"),
        ("[0&!1&!2]", "[!0&!1&!2]", "m.hoa:8: automaton 1, state 2: no proposition"),
        ("[0&!1&!2] 1", "[0] 7", "m.hoa:9: state number is larger than state count"),
        ("[0&!1&!2]", "[7]", "m.hoa:9: AP number is larger"),
        ("State: 0\n", "", "m.hoa:2: state 0 is unused and undefined"),
        ("--END--", "--ABORT--", "m.hoa:13: automaton 1 is aborted"),
        ("--END--", "", "m.hoa:12: unexpected end of file, expected --END--"),
        ("--END--", "--END--\nHOA:", "m.hoa:14: unexpected end of file"),
        ("--END--", "--END--\n" + NEVER, "m.hoa:14: expected an automaton in HOA"),
        ("Start: 1\n", "", "m.hoa:1: automaton 1 has no initial state"),
        ("HOA: v1", 'name: "HOA: v1"', "m.hoa:1: expected an automaton in HOA"),
        ("HOA: v1", "HOA: v9", "m.hoa:1: unsupported HOA version"),
        ("States: 3", "States: 3000000000", "m.hoa:2: the number 3000000000 is"),
        ("States: 3", "States: " + "9" * 5000, "m.hoa:2: the number 9999999"),
        ("[0&!1&!2] 1", "[HOA: v1] 3000000000", "m.hoa:9: the number 3000000000 is"),
        ("[0&!1&!2] 1", "[0] é3000000000", "m.hoa:9: the number 3000000000 is"),
        ("1 Inf(0)", "99999 Inf(99998)", "m.hoa:6:"),
        ("[0&!1&!2] 1", "[0] 1 {99999}", "m.hoa:9:"),
        ("AP: 3", "AP: 99999", "m.hoa:4:"),
        ("AP: 3", "Alias: @x 3 AP: 3", "m.hoa:4: proposition 3 in an alias"),
        ("States: 3", "States: 3Alias: @x 3", "m.hoa:2: proposition 3 in an alias"),
        ("AP: 3", "Alias: @x -9 AP: 3", "m.hoa:4: proposition 9 in an alias"),
        ("States: 3\n", "", "m.hoa:8: the number 3000000000 is"),
    ],
)
def test_refused_with_file_and_line(old, new, expected):
    text = AUTOMATON.replace(old, new)
    if "States" not in text:
        text = text.replace("[0&!1&!2] 1", "[0] 3000000000")

    assert refusal(text).startswith(expected)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Start: 1", "Start: 1 Start: 2", "has 2 initial states"),
        ("Start: 1", "Start: 1&2", "is alternating"),
        ("[0&!1&!2] 1", "[0] 1&2", "is alternating"),
        ("Inf(0)", "Fin(0)", "acceptance Fin(0), expected Inf(0) or t"),
        ("State: 2 {0}", "State: 2 [1] 2 {0}", "state 2: acceptance on edges"),
    ],
)
def test_what_a_network_cannot_hold(old, new, expected):
    message = refusal(AUTOMATON.replace(old, new), UnsupportedError)

    assert message.startswith("m.hoa:1: automaton 1")
    assert expected in message
    assert "autfilt" in message


def test_strings_and_comments_hide_nothing():
    """``Start:`` in a name, quotes and comments in comments, numbers in both."""
    noise = '/* " /* HOA: Start: 4000000000 */ */ name: "Start: \\" 9000000000 /*"\n'

    assert read(AUTOMATON.replace("States", noise + "States")) == read(AUTOMATON)


def test_line_of_the_second_automaton():
    text = AUTOMATON + AUTOMATON.replace("[0&!1&!2]", "[0&1]")

    assert refusal(text).startswith("m.hoa:21: automaton 2, state 2")


@given(networks(labels=AWKWARD_LABELS, acceptance=True))
def test_round_trip(network):
    components = [grouped(c) for c in network.components]

    assert read(write_hoa(network.components)) == components


def test_names_survive():
    name = 'a "b" \\ é'
    (component,) = read(write_hoa([LTS.from_transitions([], name=name)]))

    assert component.name == name


def test_many_propositions():
    """An explicit one-hot label per letter: quadratic text, linear reading."""
    component = LTS.from_transitions([(0, f"a{k}", 0) for k in range(200)])

    assert read(write_hoa([component])) == [component]


@given(networks(acceptance=True), st.data())
def test_cut_files_are_refused_or_end_between_automata(network, data):
    text = write_hoa(network.components)
    cut = text[: data.draw(st.integers(0, len(text)))]

    if cut.rstrip().endswith("--END--"):
        components = read(cut)
        whole = [grouped(c) for c in network.components]
        assert components == whole[: len(components)]
    else:
        assert refusal(cut).startswith("m.hoa")


@given(st.text('[]{}!&|01 \n"/*t'))
def test_any_text_is_read_or_refused(text):
    for candidate in (text, AUTOMATON.replace("[0&!1&!2]", text)):
        try:
            read(candidate)
        except (InputError, UnsupportedError):
            continue


@pytest.mark.parametrize("text", ["touch pwned|", AUTOMATON + "touch pwned|", "HOA: |"])
def test_nothing_is_run(text, tmp_path, monkeypatch):
    """Given to spot.automata, these would be run by a shell."""
    monkeypatch.chdir(tmp_path)

    for file in ("m.hoa", "touch pwned|"):
        with pytest.raises(InputError):
            parse_automata(text, file)
    assert list(tmp_path.iterdir()) == []


def test_parse_automata_gives_spots_own():
    first, second = parse_automata(AUTOMATON + AUTOMATON, "m.hoa")

    assert first.num_states() == second.num_states() == 3
    assert first.get_init_state_number() == 1


def test_names_of_states():
    """A state without one has its number; numbers alone are no names."""
    (component,) = read(AUTOMATON)
    (numbered,) = read(AUTOMATON.replace('"one"', '"7"'))

    assert component.state_names == ("0", "one", "2")
    assert numbered.state_names is None
    assert numbered == component


@given(named_networks(acceptance=True))
def test_names_are_read_as_they_were_written(network):
    found = read(write_hoa(network.components))

    assert tuple(found) == tuple(map(grouped, network.components))
    for old, new in zip(network.components, found, strict=True):
        assert new.name == (old.name or new.name)
        for state, name in enumerate(new.state_names or ()):
            assert name == (old.state_name(state) or str(state))


def test_declared_alphabet():
    """By default `b`, which no edge has, is no label."""
    (used,) = read(AUTOMATON)
    (declared,) = read_hoa(AUTOMATON, "m.hoa", declared=True)

    assert used.labels == ("a", "c")
    assert declared.labels == ("a", "b", "c")
    assert declared.transitions() == used.transitions()
