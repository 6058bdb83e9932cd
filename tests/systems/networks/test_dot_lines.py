"""Reading line by line gives what the grammar gives, or leaves it to the grammar."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.systems.networks import dot_lines
from ltlpipe.systems.networks.dot import read_by_grammar, write_dot
from ltlpipe.systems.networks.dot_lines import read_lines
from tests.hypothesis_strategies import AWKWARD_LABELS, named_networks, networks

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
    """Graphs that are read line by line."""
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


def by_grammar(text):
    try:
        return read_by_grammar(text, "m.dot")
    except LtlpipeError:
        return None


def named(components):
    return [(c.name, c.state_names, c) for c in components]


@given(st.one_of(graphs(), regular_graphs()), st.integers(min_value=1, max_value=60))
def test_lines_are_read_as_by_the_grammar(text, block):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ltlpipe.systems.networks.aut._BLOCK", block)
        components = read_lines(text)

    if components is not None:
        assert named(components) == named(by_grammar(text))


@given(networks() | named_networks(labels=AWKWARD_LABELS))
def test_what_is_written_needs_no_grammar(network):
    try:
        text = write_dot(network.components)
    except LtlpipeError:
        return
    plain = "\\" not in text
    components = read_lines(text)

    assert components is not None or not plain
    if components is not None:
        assert named(components) == named(by_grammar(text))


@pytest.mark.parametrize(
    "line",
    [
        "0 -> 1 [label=a];",
        '\t0->1[label="a b"]',
        '0 -> 1 [color=red, label=a, style="x y"];',
        "5;",
        '5 [shape=circle label="5"];',
        "node [shape=circle];",
        "rankdir=LR;",
        "// comment -> 0 [label=",
        "# comment",
        "",
        '0 -> 1 [label=""];',
        '0 -> 0 [color=red label=""]',
    ],
)
def test_regular_lines(line):
    text = f'digraph G {{\n{line}\n  s -> 0 [label=""];\n}}\n'

    assert named(read_lines(text)) == named(by_grammar(text))


@pytest.mark.parametrize(
    "line",
    [
        "0 -> 1",
        "0 -> 1 -> 2 [label=a]",
        "0 -> 1 [label=a] [label=b]",
        "0 -> 1 [label=a] 2",
        "0 -> 1 [label=a",
        "]",
        "/*",
        'x = "',
        "0:n -> 1 [label=a]",
        '0 -> 1 [label="a\\"b"]',
        "{ 0 }",
        "node",
        "1b -> 2 [label=a]",
        "0 -> 1 [label=ab=c]",
        's -> 1 [label=""];',
        't -> 1 [label=""];',
        "s -> 1 [label=a];",
    ],
)
def test_irregular_lines_are_left_to_the_grammar(line):
    assert read_lines(f'digraph G {{\n{line}\n  s -> 0 [label=""];\n}}\n') is None


def test_a_long_irregular_line_costs_no_more_than_its_length():
    for part in ("a=b ", "a =  b  ,", " ", '"', "a -> "):
        assert read_lines("digraph {\n0 -> 1 [" + part * 100_000 + "\n}") is None


def test_keywords_are_those_of_the_grammar():
    for word in dot_lines.KEYWORDS:
        text = f'digraph {{\ns -> 0 [label=""]\n{word} -> 0 [label=a]\n}}'
        assert read_lines(text) is None
