"""What readers do not know they refuse by name, wherever it stands; never skip it.

Into files that have every element of their format, one thing more is put at every
place: it is refused with its name and line, or is on the list of what means nothing.
"""

from __future__ import annotations

import re

import pytest

from ltlpipe import InputError, UnsupportedError
from ltlpipe.logic.mcc import parse_properties
from ltlpipe.systems.nets.reading import parse_plain
from ltlpipe.systems.networks.dot import read_dot
from tests.logic.test_mcc import LE, ONE, TWO, of
from tests.systems.nets.coloured import test_reading as coloured
from tests.systems.nets.test_reading import T, arc, place, pnml, text

NET = pnml(
    f"""<name><text>shown</text></name><page id="g"><name><text>page</text></name>
    {place("p", text("name", "first"), text("initialMarking", 3))}
    {T}<referencePlace id="r" ref="p"/><referenceTransition id="u" ref="t"/>
    {arc("p", "t", text("inscription", 2), text("arctype", "normal"))}
    {arc("t", "p", '<type value="normal"/>')}</page>"""
)
WHOLE = coloured.pnml(
    coloured.place(
        "p",
        "pair",
        coloured.op(
            "numberof",
            coloured.number(2),
            coloured.op("tuple", coloured.const("r1"), coloured.integer(0)),
        ),
    )
    + coloured.transition(
        "t",
        coloured.op(
            "equality",
            coloured.var("x"),
            coloured.op("successor", coloured.const("r1")),
        ),
    )
    + coloured.arc(
        "p",
        "t",
        coloured.op(
            "subtract",
            coloured.every("pair"),
            coloured.op("tuple", coloured.var("x"), coloured.var("i")),
        ),
    )
)
PROPERTIES = of(
    "<until><before><globally><true/></globally></before><reach><next><deadlock/></next>"
    "</reach></until>",
    f"<conjunction>{LE.format(f'<integer-sum>{TWO}{ONE}</integer-sum>', ONE)}"
    "<is-fireable><transition>t</transition></is-fireable></conjunction>",
).encode()
READERS = {
    "net": (NET, parse_plain),
    "symmetric net": (WHOLE, parse_plain),
    "properties": (PROPERTIES, parse_properties),
}
OPENED = re.compile(rb"<[a-zA-Z][^\s/>]*")
SEEN = re.compile(r"unheard(?:='1')?\b|<unheard>|'unheard'")


def message_of(read, data):
    """What is said against a file; None if nothing is."""
    try:
        found = read(data, "a.file")
    except (InputError, UnsupportedError) as error:
        return str(error)
    if read is parse_properties:
        return next((one.text for one in found if not one.is_formula), None)
    return None


def places(data, kinds=("description",)):
    """Each place behind the name of an element that is read, and its line."""
    for found in OPENED.finditer(data):
        if found[0][1:].decode() not in kinds:
            yield found.end(), 1 + data.count(b"\n", 0, found.end())


def test_such_files_are_read():
    for data, read in READERS.values():
        assert message_of(read, data) is None


@pytest.mark.parametrize("kind", READERS)
def test_attributes(kind):
    """Whatever element has one more."""
    data, read = READERS[kind]
    for at, line in places(data):
        message = message_of(read, data[:at] + b' unheard="1"' + data[at:]) or ""
        assert "unheard='1'" in message, data[at - 30 : at]
        assert f"a.file:{line}: " in message or f"(line {line})" in message


@pytest.mark.parametrize("kind", READERS)
def test_elements(kind):
    """Whatever element has one more child."""
    data, read = READERS[kind]
    for at, line in places(data):
        end = data.index(b">", at)
        if data[end - 1 : end] == b"/":
            name = OPENED.match(data, data.rindex(b"<", 0, at))[0][1:]
            changed = data[: end - 1] + b"><unheard/></" + name + data[end:]
        else:
            changed = data[: end + 1] + b"<unheard/>" + data[end + 1 :]
        message = message_of(read, changed)
        assert message is not None, data[at - 30 : at]
        assert "a.file:" in message or "(line " in message, line


@pytest.mark.parametrize("kind", ["net", "symmetric net"])
@pytest.mark.parametrize(
    "more",
    [b'<graphics><unheard a="1"/></graphics>', b'<toolspecific a="1">x</toolspecific>'],
)
def test_what_means_nothing(kind, more):
    """Graphics, and what tools add for themselves, wherever nodes and arcs may be."""
    data, read = READERS[kind]
    for found in re.finditer(rb"<(page|place|transition|arc|name)\b[^>/]*>", data):
        assert (
            message_of(read, data[: found.end()] + more + data[found.end() :]) is None
        )
    language = data.replace(b"<pnml", b'<pnml xml:lang="en"', 1)
    assert message_of(read, language) is None


@pytest.mark.parametrize(
    ("node", "refused"),
    [
        ('<place id="p" initialMarking="1" invariant="&lt;= 3"/>', "invariant '<=3'"),
        (T + place("p") + arc("p", "t", kind=' inscription="[1,2]"'), "'[1,2]'"),
        ('<transition id="t" player="1"/>', "player='1' of <transition>"),
        ('<transition id="t" guard="x"/>', "guard='x' of <transition>"),
    ],
)
def test_another_dialect(node, refused):
    """Of markings and weights as attributes: a marked place was read as empty."""
    with pytest.raises(UnsupportedError, match=re.escape(refused)):
        parse_plain(pnml(node), "m.pnml")


DOT = """digraph g {{ {graph}
  subgraph one {{
    s -> a [label=""];{node}
    a -> b [label="x"{edge}];
    b -> a [label="y"];
  }}
}}
"""


def dot(graph="", node="", edge=""):
    return read_dot(DOT.format(graph=graph, node=node, edge=edge), "g.dot")


@pytest.mark.parametrize(
    ("parts", "line", "refused"),
    [
        ({"edge": ", unheard=1"}, 4, "unheard='1'"),
        ({"edge": ' guard="x > 0" color=red'}, 4, "guard='x > 0'"),
        ({"edge": ", weight=2, probability=0.5"}, 4, "probability='0.5'"),
        ({"edge": ", dir=back"}, 4, "dir='back'"),
        ({"edge": ", taillabel=z"}, 4, "taillabel='z'"),
        ({"node": "\n  b [shape=circle, accepting=true];"}, 4, "accepting='true'"),
        ({"node": "\n  node [invariant=x];"}, 4, "invariant='x'"),
        ({"node": '\n  edge [label="z"];'}, 4, "label='z'"),
        ({"node": "\n  initial = b;"}, 4, "initial='b'"),
        ({"graph": "semantics = io"}, 1, "semantics='io'"),
    ],
)
def test_attributes_of_graphviz(parts, line, refused):
    """Attributes that are none of Graphviz's, or that say more than how it looks."""
    with pytest.raises(InputError) as caught:
        dot(**parts)
    assert f"g.dot:{line}: " in str(caught.value)
    assert refused in str(caught.value)


def test_graphics_of_graphviz():
    """How it looks means nothing, in either reader of the format."""
    plain = dot()
    for more in ("", " c -> d -> e [label=z];"):  # the second needs the grammar
        looks = dot(
            'rankdir=LR; node [shape=box]; edge [fontname="Times"]; label="A net";',
            f'\n b [label="second" style=filled, fillcolor="#ff0000"];{more}',
            ', color=black dir="forward" penwidth=2 tooltip="why"',
        )
        assert (looks == plain) == (not more)
