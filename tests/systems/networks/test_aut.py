"""Aldebaran files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.systems.networks.aut import INTERNAL, read_aut, write_aut
from ltlpipe.systems.networks.lts import LTS
from tests.hypothesis_strategies import AWKWARD_LABELS, lts

# A cell that CADP would write: gates with offers, quoted where they have blanks.
CELL = """\
des (0, 4, 3)
(0, "PUT !1", 1)
(1, i, 2)
(2, "GET !(a, \\"b\\")", 0)
(2, RESET, 0)
""".replace("\\", "")


def read(text):
    (component,) = read_aut(text, "dir/m.aut")
    return component


def refusal(text):
    with pytest.raises(InputError) as caught:
        read(text)
    return str(caught.value)


def test_labels_quoted_or_not():
    component = read(CELL)

    assert component.transitions() == [
        (0, "PUT !1", 1),
        (1, "i", 2),
        (2, 'GET !(a, "b")', 0),
        (2, "RESET", 0),
    ]
    assert component.internal == {"i"}
    assert (component.n_states, component.initial, component.name) == (3, 0, "m.aut")


@pytest.mark.parametrize(
    "line",
    ['(0,"a",1)', " ( 0 , a , 1 ) ", '(0,\t"a"\t,1)\r', "(00, a, 01)"],
)
def test_blanks_are_not_significant(line):
    assert read(f"\n des(0,1,2)\n\n{line}\n\n") == LTS.from_transitions([(0, "a", 1)])


@pytest.mark.parametrize("label", ["i", "tau", '"i"', '"tau"'])
def test_internal_labels(label):
    assert read(f"des (0, 1, 1)\n(0, {label}, 0)\n").internal == {label.strip('"')}


def test_a_label_with_and_without_quotes_is_the_same():
    assert read('des (0, 2, 1)\n(0, a, 0)\n(0, "a", 0)').labels == ("a",)


def test_no_transitions():
    assert read("des (1, 0, 2)") == LTS.from_transitions([], initial=1, n_states=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "dir/m.aut:1: expected 'des (INITIAL, TRANSITIONS, STATES)'"),
        ("\n\ndes (0, 1)", "dir/m.aut:3: expected 'des ("),
        ("des (0, 1, 1) (0, a, 0)", "dir/m.aut:1: expected 'des ("),
        ("des (0, 0, 0)", "dir/m.aut:1: 0 states announced"),
        ("des (0, 0, 3000000000)", "dir/m.aut:1: 3000000000 states announced"),
        ("des (2, 0, 2)", "dir/m.aut:1: initial state 2, expected one of 0 to 1"),
        ("des (0, 1, 1)\n", "dir/m.aut:1: unexpected end of file after 0 transitions"),
        ("des (0, 1, 1)\n(0, a, 0)\n(0, b, 0)", "dir/m.aut:3: expected the end"),
        ("des (0, 1, 1)\n(0, a, 0)\nrest", "dir/m.aut:3: expected a transition"),
        ("des (0, 2, 1)\n\n(0, a, 0)\n(0, b, 1)", "dir/m.aut:4: state 1, expected"),
        ("des (0, 1, 1)\n(-1, a, 0)", "dir/m.aut:2: expected a transition"),
        ('des (0, 1, 1)\n(0, "a, 0)', "dir/m.aut:2: a label begins with a quote"),
        ('des (0, 2, 1)\n(0, a, 0)\n(0, ", 0)', "dir/m.aut:3: a label begins with"),
        ("des (0, 1, 1)\n(0, , 0)", "dir/m.aut:2: expected a transition"),
        ("des (0, 1, 1)\n(0, a)", "dir/m.aut:2: expected a transition"),
        ("des (0, 1, 1)\n(0, a, " + "9" * 5000 + ")", "dir/m.aut:2: expected a trans"),
        ("des (0, 1, 1)\n(0, a, 9999999999)", "dir/m.aut:2: state 9999999999"),
    ],
)
def test_refused_with_file_and_line(text, expected):
    assert refusal(text).startswith(expected)


@given(lts(labels=AWKWARD_LABELS.filter(lambda a: a not in INTERNAL)))
def test_round_trip(component):
    assert read(write_aut(component)) == component


@given(lts(labels=st.sampled_from(["i", "tau", "a"]), internal=INTERNAL))
def test_round_trip_with_internal_labels(component):
    assert read(write_aut(component)) == component


def test_other_internal_labels_become_i():
    component = LTS.from_transitions([(0, "hidden", 0)], internal=["hidden"])

    assert read(write_aut(component)).transitions() == [(0, "i", 0)]


@pytest.mark.parametrize(
    ("component", "reason"),
    [
        (LTS.from_transitions([], accepting=[0]), "accepting states; write .hoa"),
        (LTS.from_transitions([(0, "tau", 0)]), "'tau' is internal in an .aut file"),
        (LTS.from_transitions([(0, "a\nb", 0)]), "line break; write .dot or .hoa"),
    ],
)
def test_what_the_format_cannot_hold(component, reason):
    with pytest.raises(UnsupportedError, match=reason):
        write_aut(component)


@given(lts(), st.data())
def test_cut_files_are_refused(component, data):
    """Only line breaks at the end can go missing unnoticed."""
    text = write_aut(component)
    cut = text[: data.draw(st.integers(0, len(text)))]

    if cut.rstrip() == text.rstrip():
        assert read(cut) == component
    else:
        assert refusal(cut).startswith("dir/m.aut:")


@given(st.text('0123(),"a \n'))
def test_any_text_is_read_or_refused(text):
    for candidate in (text, f"des (0, 1, 2)\n{text}"):
        try:
            read(candidate)
        except InputError:
            continue


@given(lts(), st.integers(min_value=1, max_value=60))
def test_where_blocks_end_changes_nothing(component, block):
    try:
        text = write_aut(component)
    except UnsupportedError:
        return
    whole = read(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ltlpipe.systems.networks.aut._BLOCK", block)
        assert read(text) == whole
        assert read(text.replace("\n", "\r\n\n")) == whole


def test_blanks_count_in_quotes_only():
    """As in mCRL2's reader; to CADP they are not significant either."""
    component = read('des (0, 2, 1)\n(0, PUT !1, 0)\n(0, "PUT !1", 0)')

    assert component.labels == ("PUT!1", "PUT !1")


@pytest.mark.parametrize("label", ['"', '""', 'a"b', '"a', "a,b)", "\\", "é☃", "", " "])
def test_nothing_in_quotes_is_an_escape(label):
    """A label ends with the last quote of its line."""
    component = LTS.from_transitions([(0, label, 0)])

    assert f'(0, "{label}", 0)\n' in write_aut(component)
    assert read(write_aut(component)).labels == (label,)


HIDDEN = LTS.from_transitions(
    [(0, "i", 1), (1, "tau", 2), (2, "h", 0), (0, "a b", 0)],
    internal=["i", "tau", "h"],
)


@pytest.mark.parametrize(
    ("internal", "spelt"),
    [
        (None, ["i", '"tau"', "i"]),
        ("i", ["i", "i", "i"]),
        ("tau", ['"tau"', '"tau"', '"tau"']),
    ],
)
def test_internal_labels_of_either_tool(internal, spelt):
    text = write_aut(HIDDEN, internal)

    labels = [line.split(", ")[1] for line in text.splitlines()[1:]]
    assert labels == [*spelt, '"a b"']
    assert read(text).internal == {label.strip('"') for label in spelt}


@pytest.mark.parametrize(
    ("label", "internal", "reason"),
    [
        ("é", "i", "'é' is not ASCII, which is all that CADP reads"),
        ('a"b', "tau", "has a quote, where mCRL2 would end it"),
        ("a", "t", "internal='t': expected i or tau"),
    ],
)
def test_what_the_other_tool_could_not_read(label, internal, reason):
    component = LTS.from_transitions([(0, label, 0)])

    write_aut(component)
    with pytest.raises(UnsupportedError, match=reason):
        write_aut(component, internal)


def as_mcrl2(text):
    """What mCRL2's reader makes of the transitions (liblts_aut.cpp)."""
    found = []
    for line in text.splitlines()[1:]:
        src, rest = line[1:].split(",", 1)
        rest = rest.lstrip(" ")
        if rest.startswith('"'):
            label, rest = rest[1:].split('"', 1)
            assert rest.startswith(",")
        else:
            label, rest = rest.split(",", 1)
            label, rest = "".join(label.split(" ")), "," + rest
        assert rest.endswith(")")
        found.append((int(src), label, int(rest[1:-1])))
    return found


@given(lts(labels=st.one_of(AWKWARD_LABELS, st.just("tau")), internal=["tau"]))
def test_mcrl2_reads_what_is_written_for_it(component):
    try:
        text = write_aut(component, "tau")
    except UnsupportedError:
        assert any('"' in label or label == "i" for label in component.labels)
        return
    assert as_mcrl2(text) == component.transitions()
