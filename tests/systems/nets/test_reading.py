"""PNML files: what is read, and what is refused with file and line."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import (
    FormulaError,
    InputError,
    LtlpipeError,
    LtlpipeWarning,
    UnsupportedError,
    check,
)
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.logic.propositions.syntax import Taken, Variable
from ltlpipe.runtime.errors import silenced
from ltlpipe.systems.nets.net import ExtendedNet, PetriNet
from ltlpipe.systems.nets.reading import parse_pnml
from ltlpipe.systems.nets.structure import MAX_TOKENS, Unit
from ltlpipe.systems.nets.writing import pnml_text
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.systems.reading import load

PTNET = "http://www.pnml.org/version-2009/grammar/ptnet"


def pnml(body, kind=PTNET):
    """A file whose net holds `body`, which begins in line 3."""
    return (
        '<?xml version="1.0"?>\n<pnml xmlns="http://www.pnml.org/version-2009/'
        f'grammar/pnml"><net id="n" type="{kind}">\n{body}\n</net></pnml>\n'
    ).encode()


def read(body):
    return parse_pnml(pnml(body), "m.pnml")


def refusal(data, kind=InputError):
    with pytest.raises(kind) as caught:
        parse_pnml(data, "m.pnml")
    assert type(caught.value) is kind
    return str(caught.value)


def text(label, value):
    return f"<{label}><text>{value}</text></{label}>"


def place(own, *labels):
    return f'<place id="{own}">{"".join(labels)}</place>'


def arc(source, target, *labels, kind=""):
    return f'<arc source="{source}" target="{target}"{kind}>{"".join(labels)}</arc>'


T = '<transition id="t"/>'


def test_a_net():
    """Pages inside pages, graphics, names, weights, comments, character references."""
    net = read(
        f"""<name><text>shown</text></name>
        <page id="a"><name><text>p</text></name><page id="b">
          <place id="p&#49;">
            <name><graphics><offset x="1" y="2"/></graphics><text> first </text></name>
            <initialMarking><!-- three --><text> 3\n</text></initialMarking>
            <toolspecific tool="x" version="1"><place id="p1"/></toolspecific>
          </place></page>
          {place("p2")}<transition id="t1">{text("name", "go on")}</transition>
          <graphics/><toolspecific tool="y" version="2"><page/></toolspecific>
        </page>
        <transition id="t2"/>
        {arc("p1", "t1", text("inscription", "2"), text("name", "x"))}
        {arc("t1", "p2")}{arc("p2", "t2")}{arc("t1", "p1")}"""
    )
    assert net.name == "n"
    assert net.variables == ("first", "p2")
    assert net.actions == ("go on", "t2")
    assert net.initial() == (3, 0)
    assert [t.pre for t in net.transitions] == [{0: 2}, {1: 1}]
    assert [t.post for t in net.transitions] == [{1: 1, 0: 1}, {}]
    assert net.pre.first.tolist() == [0, 1, 2]
    assert (net.pre.place.tolist(), net.pre.weight.tolist()) == ([0, 1], [2, 1])


def test_parallel_arcs_add_up():
    net = read(place("p") + T + arc("p", "t") + arc("p", "t", text("inscription", "2")))
    assert net.transitions[0].pre == {0: 3}


def test_references_stand_for_what_they_refer_to():
    net = read(
        place("p")
        + T
        + '<page id="q"><referencePlace id="r" ref="s"/>'
        + '<referencePlace id="s" ref="p"/>'
        + '<referenceTransition id="u" ref="t"/></page>'
        + arc("r", "u")
    )
    assert net.transitions[0].pre == {0: 1}
    assert len(net.places) == 1
    assert check(net, "G(r == 0 & !fireable(u)) & s == p").verdict == "holds"


@pytest.mark.parametrize(
    "kind",
    [
        *("ptnet", "PTNet", "P/T net", "x/ptNetb", PTNET, "resetinhibitorptnet"),
        "http://www.pnml.org/version-2009/grammar/pnmlcoremodel",
        "http://www.pnml.org/version-2009-12-16/PT",
        *("http://www.yasper.org/specs/epnml-1.1", "http://www.laas.fr/tina/tpn"),
    ],
)
def test_types_of_place_transition_nets(kind):
    assert parse_pnml(pnml(place("p"), kind), "m").initial() == (0,)


@pytest.mark.parametrize(
    "labels",
    [
        *("", '<type value="normal"/>', "<arctype><text>normal</text></arctype>"),
        "<inscription><value>1</value></inscription>",
    ],
)
def test_plain_arcs(labels):
    net = read(place("p") + T + arc("p", "t", labels))
    assert net.transitions[0].pre == {0: 1}


def test_without_namespace_and_in_other_encodings():
    bare = '<pnml><net id="é" type="ptnet"><place id="ü"/></net></pnml>'
    for encoding in ("utf-8", "iso-8859-1", "utf-16"):
        head = f'<?xml version="1.0" encoding="{encoding}"?>'
        net = parse_pnml((head + bare).encode(encoding), "m")
        assert (net.name, net.variables) == ("é", ("ü",))


def test_large_markings():
    assert read(place("p", text("initialMarking", MAX_TOKENS))).initial() == (
        MAX_TOKENS,
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            place("p") + "\n" + place("p"),
            "m.pnml:4: the id 'p' again (first in line 3)",
        ),
        (place("t") + "\n" + T, "m.pnml:4: the id 't' again"),
        ('<page id="p"/>' + place("p"), "the id 'p' again"),
        ('<place id="n"/>', "the id 'n' again (first in line 2)"),
        ("\n<place/>", "m.pnml:4: a <place> without id"),
        ("<transition/>", "a <transition> without id"),
        (T + "\n" + arc("t", "q"), "m.pnml:4: the target of an arc is 'q', expected"),
        (place("p") + arc("q", "p"), "the source of an arc is 'q', expected the id of"),
        (T + '<arc target="t"/>', "an arc without source"),
        (T + '<arc source="t"/>', "an arc without target"),
        (place("p") + place("q") + arc("p", "q"), "an arc between two places"),
        (T + arc("t", "t"), "an arc between two transitions"),
        ('<page id="p"/>' + T + arc("p", "t"), "'p', expected the id of a place"),
        (
            T + '<referencePlace id="r" ref="gone"/>' + arc("r", "t"),
            "is through references 'gone'",
        ),
        (
            T
            + '<referencePlace id="r" ref="s"/>\n<referencePlace id="s" ref="r"/>'
            + arc("r", "t"),
            "refers to itself",
        ),
        (
            T + '<referencePlace id="r" ref="t"/>' + arc("r", "t"),
            "m.pnml:3: the reference 'r' to a place is a transition's",
        ),
        (place("p", text("initialMarking", "-1")), "m.pnml:3: -1 as marking of place"),
        (place("p", text("initialMarking", "x")), "'x' as marking of place 'p'"),
        (place("p", text("initialMarking", "1_0")), "'1_0' as marking"),
        (place("p", text("initialMarking", "٣")), "'٣' as marking"),
        (place("p", text("initialMarking", "")), "'' as marking"),
        (place("p", text("initialMarking", 1 << 63)), f"expected 0 to {MAX_TOKENS}"),
        (place("p", text("initialMarking", "9" * 6000)), f"expected 0 to {MAX_TOKENS}"),
        (place("p", "<initialMarking/>"), "a <initialMarking> without <text>"),
        (place("p", text("name", "a") * 2), "a second <name>"),
        (place("p", "<name><text>a</text><text/></name>"), "expected one <text>"),
    ],
)
def test_refused(body, message):
    assert message in refusal(pnml(body))


@pytest.mark.parametrize("weight", ["0", "-2", "1.5", "", str(1 << 63)])
def test_weights_are_positive_numbers(weight):
    body = place("p") + T + "\n" + arc("p", "t", text("inscription", weight))
    assert "m.pnml:4: " in refusal(pnml(body))


def test_parallel_arcs_have_a_limit():
    half = arc("p", "t", text("inscription", MAX_TOKENS))
    assert "parallel arcs" in refusal(pnml(place("p") + T + half + half))


@pytest.mark.parametrize("kind", ["colour", "Flush"])
def test_other_arcs_are_refused_by_name(kind):
    ways = spelled("p", "t", kind)
    for way in ways:
        message = refusal(pnml(place("p") + T + "\n" + way), UnsupportedError)
        assert f"m.pnml:4: an arc of type '{kind.lower()}'" in message


def spelled(source, target, kind, *labels):
    """The ways in which tools say what kind an arc is."""
    return [
        arc(source, target, f'<type value="{kind}"/>', *labels),
        arc(source, target, text("arctype", kind), *labels),
        arc(source, target, text("type", kind), *labels),
        arc(source, target, *labels, kind=f' type="{kind}"'),
    ]


def only(body):
    """The one transition of a net, and the net."""
    net = read(body)
    return net.transitions[0], net


@pytest.mark.parametrize("kind", ["inhibitor", "Inhibitor", "tapnInhibitor"])
def test_inhibitor_arcs(kind):
    """Disabled with as many tokens as the weight says; the least limit counts."""
    for way in spelled("p", "t", kind, text("inscription", 3)):
        transition, net = only(place("p") + T + way)
        assert isinstance(net, ExtendedNet)
        assert (transition.needs, transition.limits) == ({}, {0: 2})
    both = "".join([*spelled("p", "t", kind)[:1], way])
    assert only(place("p") + T + both)[0].limits == {0: 0}


@pytest.mark.parametrize("kind", ["reset", "clear"])
def test_reset_arcs(kind):
    """Tokens are taken, the place is emptied, and then others are put."""
    for way in spelled("p", "t", kind):
        body = place("p") + T + way + arc("t", "p") + arc("p", "t")
        transition, net = only(body)
        assert (transition.needs, transition.resets) == ({0: 1}, {0})
        assert net.steps((5,)) == [(0, (1,))]
        assert net.steps((0,)) == []


@pytest.mark.parametrize("kind", ["read", "test"])
def test_read_arcs(kind):
    for way in spelled("p", "t", kind, text("inscription", 2)):
        transition, net = only(place("p") + T + way + arc("t", "p"))
        assert isinstance(net, PetriNet)
        assert (transition.pre, transition.post) == ({0: 2}, {0: 3})


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        (text("capacity", 3), 2),
        ("<capacity><value>Default,3</value></capacity>", 2),
        (text("capacity", 0), None),
        ("<capacity><value>Default,0</value></capacity>", None),
        (text("capacity", "inf"), None),
    ],
)
def test_capacities(said, limit):
    """No more tokens than that afterwards; 0 is no limit."""
    transition, net = only(place("p", said) + T + arc("t", "p"))
    assert transition.limits == ({} if limit is None else {0: limit})
    assert net.bounds.tokens == [limit and 3]


def test_capacities_and_other_arcs():
    """What is taken makes room; what can never fit is never enabled."""
    full = place("p", text("capacity", 2), text("initialMarking", 2))
    takes = arc("p", "t", text("inscription", 2))
    transition, net = only(full + T + takes + arc("t", "p"))
    assert net.steps((2,)) == [(0, (1,))]
    assert transition.pre == {0: 2}
    for more in ("", '<arc source="p" target="t" type="reset"/>'):
        _, net = only(full + T + arc("t", "p", text("inscription", 3)) + more)
        assert [net.steps((k,)) for k in range(3)] == [[], [], []]
    _, net = only(full + T + arc("t", "p") + more)
    assert net.steps((2,)) == [(0, (1,))]


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (arc("t", "p", kind=' type="inhibitor"'), InputError, "from a transition"),
        (
            arc("p", "t", text("inscription", 2), kind=' type="reset"'),
            UnsupportedError,
            "a reset arc of weight 2",
        ),
        (
            arc("p", "t", kind=' type="read"') + arc("p", "t"),
            UnsupportedError,
            "a read arc beside an arc that takes",
        ),
        (
            arc("p", "t", '<type value="reset"/>', kind=' type="inhibitor"'),
            InputError,
            "an arc of the types 'inhibitor' and 'reset'",
        ),
        (
            arc("p", "t", text("inscription", 2), kind=' weight="3"'),
            InputError,
            "2 and 3 as weights of one arc",
        ),
        (
            place("q", text("capacity", 1), text("initialMarking", 2)),
            InputError,
            "2 tokens in place 'q', which has the capacity 1",
        ),
        (
            '<place id="q" initialMarking="2">'
            + text("initialMarking", 1)
            + "</place>",
            InputError,
            "initialMarking='2', but <initialMarking> is '1'",
        ),
        (
            place("q", text("initialMarking", "Red,2"))
            + place("r", text("initialMarking", "Default,1,Red,0")),
            UnsupportedError,
            "tokens of the classes 'Red' and 'Default', expected one",
        ),
        (
            '<transition id="u"><priority><text>2</text></priority></transition>',
            UnsupportedError,
            "transitions that differ in <priority>",
        ),
    ],
)
def test_what_special_arcs_may_not_be(body, kind, message):
    assert message in refusal(pnml(place("p") + T + body), kind)


def test_ids_of_arcs_may_repeat():
    own = arc("p", "t", kind=' id="a"')
    assert only(place("p") + T + own + own)[0].pre == {0: 2}


def test_tapaal():
    """Markings and weights as attributes; a shared place says what the net says."""
    body = """<shared-place initialMarking="2" invariant="&lt; inf" name="p"/>
      <net active="true" id="mutex" type="P/T net">
      <place displayName="true" id="p" initialMarking="2" invariant="&lt; inf" name="p"
        nameOffsetX="-5.0" positionX="1"/>
      <transition angle="0" id="t" infiniteServer="false" name="t" priority="0"
        urgent="true" player="0"/>
      <arc id="a" inscription="[0,inf)" source="p" target="t" type="timed" weight="2">
        <arcpath arcPointType="false" id="0" xCoord="1" yCoord="2"/></arc>
      <arc id="a" inscription="1" source="t" target="p" type="normal" weight="3"/>
      </net><k-bound bound="3"/><feature isGame="false" isTimed="false"/>"""
    net = parse_pnml(f"<pnml>{body}</pnml>".encode(), "m.pnml")
    (transition,) = net.transitions
    assert (net.initial(), transition.pre, transition.post) == ((2,), {0: 2}, {0: 3})
    other = body.replace('"2" inv', '"1" inv', 1)
    message = refusal(f"<pnml>{other}</pnml>".encode())
    assert "1 tokens in the shared place 'p', which has 2 in the net" in message


def test_arcs_of_the_engines_of_tapaal():
    body = place("p") + T + arc("p", "t", text("inscription", 2))
    body = body.replace("<arc", "<inputArc").replace("</arc", "</inputArc")
    net = parse_pnml(f'<pnml><net type="ptnet">{body}</net></pnml>'.encode(), "m")
    assert net.transitions[0].pre == {0: 2}


FINAL = """<finalmarkings><marking><place idref="p"><text>0</text></place>
  <place idref="q"><text>2</text></place></marking><marking/></finalmarkings>"""


def test_final_markings():
    """What a marking does not name is empty; several are any of them."""
    net = read(place("p") + place("q") + T + FINAL)
    assert net.notes.final == (((1, 2),), ())
    final = net.meaning("final")
    markings = [(0, 0), (0, 1), (0, 2), (1, 2), (1, 0)]
    assert [bool(evaluate(final, m)) for m in markings] == [1, 0, 1, 0, 0]
    again = parse_pnml(pnml_text(net).encode(), "again.pnml")
    assert again.notes.final == net.notes.final
    called = read(place("final") + place("p") + place("q") + FINAL)
    (place_,) = (called.meaning("final"),)
    assert place_ == Variable(0)
    with pytest.raises(FormulaError, match="nothing in the system is called 'final'"):
        read(place("p")).meaning("final")


def test_final_markings_of_unknown_places():
    assert "no place has the id 'q'" in refusal(pnml(place("p") + FINAL))


def test_a_final_marking_says_once_what_a_place_has():
    twice = FINAL.replace('"q"', '"p"')
    assert "the place 'p' again in a marking" in refusal(pnml(place("p") + twice))


def test_what_is_told_of_a_net():
    special = '<arc source="p" target="t" type="inhibitor"/>'
    special += '<arc source="q" target="t" type="reset"/>'
    hidden = f'<transition id="u">{HIDDEN}</transition>'
    net = read(place("p") + place("q") + T + hidden + special + FINAL)
    assert net.about == (
        "1 limit, of inhibitor arcs or capacities",
        "1 reset arc",
        "1 invisible transition, which no formula can name as an action",
        "2 final markings: final",
    )


HIDDEN = '<toolspecific tool="ProM" version="6.4" activity="$invisible$"/>'


@pytest.mark.parametrize(
    "node",
    [
        f'<transition id="u">{HIDDEN}<name><text>a</text></name></transition>',
        '<transition id="u"><name><text>tau</text></name></transition>',
        '<transition id="silent"/>',
    ],
)
def test_invisible_transitions(node):
    """No formula can see them; one can see where they can be taken."""
    net = read(T + node)
    own, name = net.transitions[1].id, net.transitions[1].name
    for called in (own, name):
        text = f'action=="{called}"'
        with pytest.raises(FormulaError, match="is invisible: no formula can see it"):
            net.meaning(text)
        text = f"fireable({called})"
        net.meaning(text)
    net.bound(parse_proposition('action=="t"'), "")
    again = parse_pnml(pnml_text(net).encode(), "again.pnml")
    assert again.notes.invisible == {1}


def test_a_label_of_visible_and_invisible_transitions():
    """It is the visible ones."""
    named = "<name><text>a</text></name>"
    net = read(
        f'<transition id="t">{named}</transition><transition id="u">{named}{HIDDEN}'
        f'</transition><transition id="v">{named}</transition>'
    )
    bound = net.bound(parse_proposition('action=="a"'), "")
    assert bound == Taken(frozenset({0, 2}))


NUPN = """<page id="g">{places}
  <toolspecific tool="nupn" version="1.1"><size places="2" transitions="0" arcs="0"/>
  <structure units="2" root="u0" safe="{safe}"><unit id="u0"><places>p</places>
  <subunits>u1</subunits></unit><unit id="u1"><places>q</places><subunits/></unit>
  </structure></toolspecific></page>"""


@pytest.mark.parametrize("safe", ["true", "false"])
def test_units(safe):
    """They are kept; nothing is taken from what a file merely asserts."""
    both = place("p") + place("q") + T + arc("t", "p")
    net = read(NUPN.format(places=both, safe=safe))
    assert net.notes.units == (Unit("u0", (0,), (1,)), Unit("u1", (1,), ()))
    assert net.notes.safe == (safe == "true")
    asserted = ", safe as the file asserts" * net.notes.safe
    assert net.about == (f"nested-unit Petri net of 2 units{asserted}",)
    assert check(net, "G(p<=1)").verdict == "violated"
    assert "'q' in <places> of a unit" in refusal(
        pnml(NUPN.format(places=place("p"), safe=safe))
    )


MARKED = place("p", text("initialMarking", 1)) + place("q", text("initialMarking", 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<places>q", "<places>p", "a place is in two units"),
        ("<subunits/>", "<subunits>u1</subunits>", "a unit is in two units"),
        ("<subunits>u1", "<subunits>u0", "units are inside one another in a circle"),
        ("", "", "the unit 'u1' is said to be safe, but its places and those around"),
    ],
    ids=["place", "unit", "circle", "marked"],
)  # fmt: skip
def test_units_that_cannot_be(old, new, message):
    """Refused at the line of the structure; without ``safe`` tokens are no matter."""
    told = NUPN.format(places=MARKED, safe="true").replace(old, new)
    assert f"m.pnml:5: {message}" in refusal(pnml(told))
    assert read(NUPN.format(places=MARKED, safe="false")).notes.units


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (place("p", text("delay", 2)), "<delay> in <place>"),
        (place("p", text("hlinitialMarking", 2)), "<hlinitialMarking> in <place>"),
        ('<transition id="t"><guard/></transition>', "<guard> in <transition>"),
        (place("p") + T + arc("p", "t", "<hlinscription/>"), "<hlinscription> in <arc"),
        ("\n<shared-place/>", "m.pnml:4: <shared-place> in <net>"),
        ('<page id="q"><module/></page>', "<module> in <page>"),
        (place("p", "<name><text>a<b/></text></name>"), "<b> in <text>"),
        (place("p", "1"), "the text '1' in <place>"),
        (place("p", text("initialMarking", "1") + "2"), "the text '2' in <place>"),
    ],
)
def test_what_is_more_than_a_net_is_refused_by_name(body, message):
    assert message in refusal(pnml(body), UnsupportedError)


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("http://www.pnml.org/version-2009/grammar/hlcore", "'hlcore'"),
        ("http://www.informatik.hu-berlin.de/top/pntd/refNet", "'refNet'"),
    ],
)
def test_other_types_are_refused_by_name(kind, named):
    assert f"m.pnml:2: a net of type {named}" in refusal(
        pnml("", kind), UnsupportedError
    )


SUB = """<place id="in"><initialMarking><text>1</text></initialMarking></place>
  <place id="out"/><transition id="sub"><toolspecific tool="WoPeD" version="1.0">
  <subprocess>true</subprocess></toolspecific></transition>
  <arc id="a1" source="in" target="sub"/><arc id="a2" source="sub" target="out"/>
  <page id="{page}"><net>
    <place id="out"/><place id="in">{marking}</place><place id="mid"/>
    <transition id="t1"/><transition id="sub2"/>
    <arc id="a1" source="in" target="t1"/><arc id="a2" source="t1" target="mid"/>
    <arc id="a3" source="mid" target="sub2"/><arc id="a4" source="sub2" target="out"/>
    <page id="sub2"><net><place id="mid"/><place id="out"/><transition id="t2"/>
      <arc id="a1" source="mid" target="t2"/><arc id="a2" source="t2" target="out"/>
    </net></page>
  </net></page>"""


def test_sub_processes():
    """Their nets stand in the place of the transitions, inside each other, too."""
    net = read(SUB.format(page="sub", marking=""))
    assert net.variables == ("in", "out", "mid")
    assert net.actions == ("t1", "t2")
    assert net.initial() == (1, 0, 0)
    assert [t.pre for t in net.transitions] == [{0: 1}, {2: 1}]
    assert [t.post for t in net.transitions] == [{2: 1}, {1: 1}]
    assert net.about == ("nets in the place of the sub-processes sub, sub2",)


def test_sub_processes_that_do_not_fit():
    other = SUB.format(page="other", marking="")
    assert "a <net> in the page 'other', expected the id" in refusal(pnml(other))
    two = SUB.format(page="sub", marking=text("initialMarking", 2))
    assert "2 tokens in place 'in', which has 1" in refusal(pnml(two))
    pages = f'{place("p")}<page id="a"><page id="b">{place("p")}</page></page>'
    assert "the id 'p' again" in refusal(pnml(pages))


def test_a_net_without_a_type():
    """It is said how it is read; what others have is refused all the same."""
    with pytest.warns(LtlpipeWarning, match=r"m\.pnml: the net has no type: read as"):
        net = parse_pnml(pnml(place("p", text("initialMarking", 2)), ""), "m.pnml")
    assert net.initial() == (2,)
    coloured = place("p", "<hlinitialMarking/>")
    assert "<hlinitialMarking> in <place>" in refusal(
        pnml(coloured, ""), UnsupportedError
    )


def test_one_net_per_file():
    net = f'<net id="a" type="{PTNET}"/>'
    assert "m.pnml:1: no net" in refusal(b"<pnml/>")
    two = f"<pnml>{net}\n{net}</pnml>".encode()
    assert "m.pnml:2: 2 nets in one file" in refusal(two, UnsupportedError)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "m.pnml: the file is empty"),
        (b" \n", "m.pnml: the file is empty"),
        (b"digraph {}", "m.pnml:1: no XML"),
        (b"<pnml>\n<net>\n</pnml>", "m.pnml:3: no XML"),
        (b"<a:pnml/>", "m.pnml:1: no XML"),
        (b"<nets/>", "m.pnml:1: found <nets>, expected <pnml>"),
        (b"<pnml>&nothing;</pnml>", "no XML"),
        (b"\xff\xfe\x00", "no XML"),
    ],
)
def test_no_pnml(data, message):
    assert message in refusal(data)


def test_entities_are_refused(tmp_path):
    """Whether they are exponential, name a file, or do no harm, wherever they are."""
    secret = tmp_path / "secret"
    secret.write_text("7")
    laughs = "".join(f'<!ENTITY l{k + 1} "{f"&l{k};" * 10}">' for k in range(9))
    for inside, used in [
        ('<!ENTITY one "1">', "&one;"),
        (f'<!ENTITY x SYSTEM "file://{secret}">', "&x;"),
        ('<!ENTITY x SYSTEM "http://localhost:9/x">', "&x;"),
        (f'<!ENTITY l0 "ha">{laughs}', "&l9;"),
        (f'<!ENTITY % p SYSTEM "file://{secret}"> %p;', ""),
    ]:
        head, rest = (
            pnml(place("p", text("initialMarking", used))).decode().split("\n", 1)
        )
        declared = f"{head}\n<!DOCTYPE pnml [{inside}]>\n{rest}"
        message = refusal(declared.encode())
        assert "m.pnml:" in message
        assert "declaration" in message or "no XML" in message
        in_attribute = declared.replace('id="p"', f'id="{used}"')
        assert "m.pnml:" in refusal(in_attribute.encode())
    external = '<!DOCTYPE pnml SYSTEM "http://localhost:9/pnml.dtd"><pnml/>'
    assert "a document type declaration" in refusal(external.encode())


def test_nesting_has_a_limit():
    """Of the XML library: nothing of ours recurs."""

    def nested(n):
        return "".join(f'<page id="q{k}">' for k in range(n)) + "</page>" * n

    assert read(nested(200)).places == ()
    assert "no XML" in refusal(pnml(nested(5000)))


@pytest.mark.parametrize("name", ["m.pnml", "m.pnml.gz", "M.PNML.GZ"])
def test_files(name, tmp_path):
    data = pnml(place("p", text("initialMarking", 2)))
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.lower().endswith("gz") else data)
    assert load(path).initial() == (2,)
    path.write_bytes(data[:40])
    with pytest.raises(InputError, match=str(path)):
        load(path)


def test_missing_files(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        load(tmp_path / "m.pnml")


WHOLE = pnml(
    place("p", text("initialMarking", 1))
    + '<transition id="t"><name><text>é</text></name></transition>'
    + arc("p", "t", text("inscription", 2))
)


@given(st.integers(0, len(WHOLE)), st.integers(0, 12), st.binary(max_size=6))
def test_damaged_files_are_read_or_refused(at, cut, noise):
    """Whatever is cut out and put in: a net, or an error that names the file."""
    data = WHOLE[:at] + noise + WHOLE[at + cut :]
    try:
        with silenced():  # it may have no type
            net = parse_pnml(data, "m.pnml")
    except LtlpipeError as error:
        message = str(error)
    else:
        assert len(net.initial()) == len(net.places)
        message = "m.pnml:"
    assert message.startswith("m.pnml:")
