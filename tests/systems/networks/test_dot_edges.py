"""Edges of Graphviz files that one expression reads are those of the grammar."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.systems.networks.dot import read_dot

# What lines are made of; whatever the lines say, both ways have to agree.
NAMES = ["0", "1", "-2", "03", "a", "b", '"a b"', '"0"', '""', "node", "Graph", "é"]
names = st.sampled_from(NAMES)
blanks = st.sampled_from(["", " ", "\t", "  "])
keys = st.sampled_from(["label", '"label"', "color", "node"])
attributes = st.lists(
    st.tuples(keys, blanks, names, st.sampled_from(["", " ", ",", "; ", ", "])).map(
        lambda a: f"{a[0]}{a[1]}={a[1]}{a[2]}{a[3]}"
    ),
    max_size=3,
).map(lambda a: f"[{''.join(a)}]")
label = st.one_of(names.map(lambda n: f"[label={n}]"), attributes)
edge = st.builds("{1}{0}{3}->{3}{2} {4}{3}".format, blanks, names, names, blanks, label)
end = st.sampled_from(["", ";", " ;", "\r", "// no", "# no", "/* no */", " -> 1"])
line = st.one_of(
    *[st.builds("{}{}".format, edge, end)] * 4,
    st.builds("{} -> {} [label=go];".format, names, names),
    st.builds("{} {}{}".format, names, st.one_of(st.just(""), attributes), end),
    st.builds("{}{}={}{}".format, names, blanks, names, end),
    st.builds("{} {}".format, st.sampled_from(["node", "edge", "graph"]), attributes),
    st.sampled_from(
        ["", "// c", "# c", "/*", "*/", ";", "{", "}", "[label=a]", "-> 0"]
    ),
)
start = st.builds('{} -> {} [label=""];'.format, st.just("s"), names)


@st.composite
def bodies(draw):
    """Lines, mostly with a start edge, some of them in braces."""
    lines = draw(st.lists(line, max_size=6))
    if draw(st.integers(0, 5)):
        lines.insert(draw(st.integers(0, len(lines))), draw(start))
    return lines


@st.composite
def graphs(draw):
    """Texts that are mostly graphs, of one component or of several."""
    head = draw(st.sampled_from(["digraph {", "strict digraph G{", 'digraph "G" {']))
    parts = []
    for body in draw(st.lists(bodies(), max_size=3)):
        name = draw(st.sampled_from(["subgraph {", "subgraph c {", 'subgraph "c d" {']))
        parts += [name, *body, draw(st.sampled_from(["}", "} ", "};", "}\r"]))]
    if not parts or not draw(st.integers(0, 5)):
        parts += draw(bodies())
    last = draw(st.sampled_from(["}", "}\n", "} // end", "};", ""]))
    return "\n".join([head, *parts, last])


plain = st.sampled_from(["0", "1", "-2", "03", "a", "b", '"a b"', '"0"'])
more = st.sampled_from(["", ",color=red", ' , "x"=1 ; ', ' label="c"'])
regular_line = st.one_of(
    *[st.builds("{0}{1} -> {2}[label={3}];".format, blanks, plain, plain, plain)] * 3,
    st.builds("{} -> {} [ label = {} {}]".format, plain, plain, plain, more),
    st.builds('{} -> {} [label=""];'.format, plain, plain),
    st.builds(
        "{0}{1}{0}{2}".format, blanks, plain, st.sampled_from(["", ";", "[x=1]"])
    ),
    st.sampled_from(["", "// c", "# c", "node [x=1]", "edge[];", "a = b;", "c=0"]),
)


@st.composite
def regular_graphs(draw):
    """Graphs of simple lines."""
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        body = draw(st.lists(regular_line, max_size=6))
        body.insert(draw(st.integers(0, len(body))), draw(start))
        parts.append(body)
    name = draw(st.sampled_from(["", " c", ' "c d"']))
    if len(parts) == 1 and draw(st.booleans()):
        return "\n".join([f"digraph{name} {{", *parts[0], "}"])
    outside = st.sampled_from(["", "5", "a=b", "# c", "node [x=1];", "subgraph"])
    lines = ["// c", f"digraph{name} {{", draw(outside)]
    for body in parts:
        lines += [f"subgraph{name} {{", *body, "}", draw(outside)]
    return "\n".join([*lines, "}", ""])


def outcome(text):
    """The components with all names, or the message."""
    try:
        components = read_dot(text, "m.dot")
    except LtlpipeError as error:
        return str(error)
    return [(c.name, c.state_names, c) for c in components]


@given(st.one_of(graphs(), regular_graphs()))
def test_edges_are_read_as_token_by_token(text):
    found = outcome(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ltlpipe.systems.networks.dot._EDGE", re.compile("(?!)"))
        assert found == outcome(text)


@pytest.mark.parametrize(
    "line",
    [
        "0 -> 1 [label=ab=c]",
        "node -> 1 [label=a]",
        "0 -> Subgraph [label=a]",
        "0 -> 1 [label=a] -> 2",
    ],
)
def test_what_only_looks_like_an_edge(line):
    text = f'digraph G {{\n{line}\n  s -> 0 [label=""];\n}}\n'

    assert str(outcome(text)).startswith("m.dot:2: unexpected")


def test_a_second_list_of_attributes_belongs_to_the_edge():
    for between in ("", " ", "\n", "/* a */"):
        lists = f"[label=a]{between}[label=b]"
        ((_, _, component),) = outcome(
            f'digraph {{ s -> 0 [label=""] 0 -> 1 {lists} }}'
        )
        assert component.labels == ("b",)


def test_a_long_irregular_line_costs_no_more_than_its_length():
    for part in ("a=b ", "a =  b  ,", " ", '"', "a -> "):
        text = "digraph {\n0 -> 1 [" + part * 100_000 + "\n}"
        assert ": unexpected" in outcome(text)
