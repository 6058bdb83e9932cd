"""Symmetric nets from PNML: what is read, and what is refused with file and line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import InputError, LtlpipeError, UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.nets.coloured.net import (
    ENUMERATION,
    AllOf,
    AnyOf,
    Bound,
    ColouredNet,
    ColouredTransition,
    Comparison,
    Constant,
    Difference,
    Every,
    Part,
    Sort,
    Sum,
    Tokens,
)
from ltlpipe.systems.nets.reading import parse_pnml
from ltlpipe.systems.nets.writing import pnml_text

TYPE = "http://www.pnml.org/version-2009/grammar/symmetricnet"
DECLARED = """
<namedsort id="pair" name="Pair"><productsort><usersort declaration="ring"/>
  <usersort declaration="n"/></productsort></namedsort>
<namedsort id="ring" name="Ring"><cyclicenumeration>
  <feconstant id="r1" name="1"/><feconstant id="r2" name="2"/>
  <feconstant id="r3" name="3"/></cyclicenumeration></namedsort>
<namedsort id="kind" name="Kind"><finiteenumeration>
  <feconstant id="a" name="k"/><feconstant id="b" name="k"/></finiteenumeration>
</namedsort>
<namedsort id="n" name="N"><finiteintrange start="-1" end="2"/></namedsort>
<partition id="side" name="Side"><usersort declaration="ring"/>
  <partitionelement id="low" name="low"><useroperator declaration="r1"/>
    <useroperator declaration="r3"/></partitionelement>
  <partitionelement id="high" name="high"><useroperator declaration="r2"/>
  </partitionelement></partition>
<variabledecl id="x" name="x"><usersort declaration="ring"/></variabledecl>
<variabledecl id="y" name="y"><usersort declaration="ring"/></variabledecl>
<variabledecl id="i" name="i"><usersort declaration="n"/></variabledecl>
<variabledecl id="k" name="k"><usersort declaration="kind"/></variabledecl>
"""
LINES = DECLARED.count("\n")


def pnml(body, declared=DECLARED):
    """A file whose net holds `body`, which begins in line 4 without declarations."""
    return (
        '<?xml version="1.0"?>\n<pnml><net id="n" type="' + TYPE + '"><declaration>'
        f"<structure><declarations>{declared}</declarations></structure></declaration>"
        f'<page id="page">\n{body}\n</page></net></pnml>\n'
    ).encode()


def read(body, declared=DECLARED):
    return parse_pnml(pnml(body, declared), "m.pnml").coloured


def refusal(body, kind=InputError, declared=DECLARED):
    with pytest.raises(kind) as caught:
        parse_pnml(pnml(body, declared), "m.pnml")
    assert type(caught.value) is kind
    message = str(caught.value)
    assert message.startswith("m.pnml:")
    return message


def structure(label, term):
    return f"<{label}><text>?</text><structure>{term}</structure></{label}>"


def place(own, sort, marking=""):
    marked = structure("hlinitialMarking", marking) if marking else ""
    kind = structure("type", f'<usersort declaration="{sort}"/>')
    return f'<place id="{own}">{kind}{marked}</place>'


def transition(own, condition=""):
    guard = structure("condition", condition) if condition else ""
    return f'<transition id="{own}">{guard}</transition>'


def arc(source, target, term):
    inscription = structure("hlinscription", term)
    return f'<arc source="{source}" target="{target}">{inscription}</arc>'


def op(kind, *terms):
    return f"<{kind}>{''.join(f'<subterm>{t}</subterm>' for t in terms)}</{kind}>"


def var(own):
    return f'<variable refvariable="{own}"/>'


def const(own):
    return f'<useroperator declaration="{own}"/>'


def number(k):
    return f'<numberconstant value="{k}"><positive/></numberconstant>'


def integer(k, low=-1, high=2):
    return (
        f'<finiteintrangeconstant value="{k}"><finiteintrange start="{low}" '
        f'end="{high}"/></finiteintrangeconstant>'
    )


def every(sort):
    return f'<all><usersort declaration="{sort}"/></all>'


def part_of(term):
    inside = f"<subterm>{term}</subterm>"
    return f'<partitionelementof refpartition="side">{inside}</partitionelementof>'


PAIRS = "<productsort><dot/><dot/></productsort>"
X, Y, K, N = Bound(0, 0, 3), Bound(1, 0, 3), Bound(3, 0, 2), Bound(2, 0, 4)


@pytest.mark.parametrize(
    ("sort", "term", "multiset"),
    [
        ("ring", var("x"), Tokens(1, (X,))),
        ("ring", op("numberof", number(2), var("x")), Tokens(2, (X,))),
        ("ring", op("scalarproduct", number(2), var("x")), Tokens(2, (X,))),
        ("ring", op("successor", var("x")), Tokens(1, (Bound(0, 1, 3),))),
        ("ring", op("predecessor", var("x")), Tokens(1, (Bound(0, 2, 3),))),
        ("ring", op("successor", const("r3")), Tokens(1, (Constant(0),))),
        ("ring", every("ring"), Tokens(1, (Every(3),))),
        ("pair", every("pair"), Tokens(1, (Every(3), Every(4)))),
        ("pair", op("tuple", var("x"), integer(0)), Tokens(1, (X, Constant(1)))),
        ("pair", op("tuple", every("ring"), var("i")), Tokens(1, (Every(3), N))),
        ("kind", const("b"), Tokens(1, (Constant(1),))),
        ("dot", "<dotconstant/>", Tokens(1, (Constant(0),))),
        (
            "ring",
            op(
                "numberof",
                number(2),
                op("add", var("x"), op("numberof", number(3), var("y"))),
            ),
            Sum((Tokens(2, (X,)), Tokens(6, (Y,)))),
        ),
        (
            "ring",
            op("subtract", every("ring"), var("x")),
            Difference(Tokens(1, (Every(3),)), Tokens(1, (X,))),
        ),
        ("ring", op("numberof", number(0), var("x")), Sum(())),
        ("ring", const("high"), Tokens(1, (Constant(1),))),
        (
            "ring",
            const("low"),
            Sum((Tokens(1, (Constant(0),)), Tokens(1, (Constant(2),)))),
        ),
        (
            "pair",
            op(
                "tuple",
                op("add", var("x"), op("numberof", number(2), const("r2"))),
                var("i"),
            ),
            Sum((Tokens(1, (X, N)), Tokens(2, (Constant(1), N)))),
        ),
        (
            "pair",
            op("tuple", op("subtract", every("ring"), var("x")), var("i")),
            Difference(Tokens(1, (Every(3), N)), Tokens(1, (X, N))),
        ),
        ("ring", "<empty/>", Sum(())),
    ],
)
def test_multisets(sort, term, multiset):
    net = read(place("p", sort) + transition("t") + arc("p", "t", term))
    assert net.transitions[0].pre == ((0, multiset),)


EQUAL, DIFFERENT = Comparison("==", X, Y), Comparison("!=", X, Y)


@pytest.mark.parametrize(
    ("term", "guard"),
    [
        (op("equality", var("x"), var("y")), EQUAL),
        (op("not", op("equality", var("x"), var("y"))), DIFFERENT),
        (
            op(
                "imply",
                op("equality", var("x"), var("y")),
                op("lessthan", var("x"), var("y")),
            ),
            AnyOf((DIFFERENT, Comparison("<", X, Y))),
        ),
        (
            op(
                "not",
                op(
                    "and",
                    op("equality", var("x"), var("y")),
                    op("lessthanorequal", var("i"), integer(1)),
                ),
            ),
            AnyOf((DIFFERENT, Comparison(">", N, Constant(2)))),
        ),
        (
            op(
                "or",
                op("greaterthan", integer(1), var("i")),
                op("greaterthanorequal", var("i"), integer(0)),
            ),
            AnyOf((Comparison(">", Constant(2), N), Comparison(">=", N, Constant(1)))),
        ),
        (
            op("equality", var("x"), op("successor", op("successor", var("y")))),
            Comparison("==", X, Bound(1, 2, 3)),
        ),
        (op("equality", var("k"), const("b")), Comparison("==", K, Constant(1))),
        (
            op(
                "inequality",
                op("tuple", var("x"), var("i")),
                op("tuple", var("y"), integer(2)),
            ),
            AnyOf((DIFFERENT, Comparison("!=", N, Constant(3)))),
        ),
        (
            op("equality", part_of(var("x")), const("low")),
            Comparison("==", Part(X, (0, 1, 0)), Constant(0)),
        ),
        (
            op("ltp", const("low"), part_of(var("x"))),
            Comparison("<", Constant(0), Part(X, (0, 1, 0))),
        ),
        ('<booleanconstant value="true"/>', AllOf(())),
        ('<booleanconstant value="false"/>', AnyOf(())),
    ],
)
def test_guards(term, guard):
    assert read(transition("t", term)).transitions[0].guard == guard


def test_a_net():
    """Parallel arcs add up; what is not declared is a dot."""
    net = parse_pnml(
        pnml(
            place("p", "pair", op("tuple", every("ring"), integer(-1)))
            + place("q", "dot")
            + transition("t", op("equality", var("x"), op("successor", var("y"))))
            + arc("p", "t", op("tuple", var("x"), var("i")))
            + arc("p", "t", op("tuple", var("y"), var("i")))
            + arc("t", "q", "<dotconstant/>")
        ),
        "m.pnml",
    )
    assert sum(net.initial()) == 3
    net = complete(net.unfolding())
    assert [place.id for place in net.places] == ["p.r1.-1", "p.r2.-1", "p.r3.-1", "q"]
    assert net.variables == ("p.1.-1", "p.2.-1", "p.3.-1", "q")
    assert net.initial() == (1, 1, 1, 0)
    assert [t.id for t in net.transitions] == ["t.r1.r3.-1", "t.r2.r1.-1", "t.r3.r2.-1"]
    assert net.actions == ("t.1.3.-1", "t.2.1.-1", "t.3.2.-1")
    assert net.transitions[0].pre == {0: 1, 2: 1}
    assert "2 places and 1 transition, unfolded into 4 and 3" in net.about[0]


@pytest.mark.parametrize("kind", ["symmetricnet", "pt-hlpng", "x/highlevelnet"])
def test_types_that_may_be_symmetric_nets(kind):
    body = place("p", "dot", op("numberof", number(2), "<dotconstant/>"))
    net = parse_pnml(pnml(body, "").replace(TYPE.encode(), kind.encode()), "m.pnml")
    assert net.initial() == (2,)


def of_tapaal(invariant="&lt; inf", ages="[0,inf)", kind="timed", priority="0"):
    """A coloured net as TAPAAL has it, which calls it a place/transition net."""
    ring = op("numberof", number(1), var("x"))
    about = 'displayName="true" nameOffsetX="0" positionX="1"'
    places = (
        place("p", "ring", op("add", op("numberof", number(1), every("ring"))))
        + place("q", "dot", op("add", op("numberof", number(2), const("dot"))))
    ).replace("<place ", f'<place initialMarking="3" invariant="{invariant}" {about} ')
    inputs = (arc("p", "t", ring) + arc("q", "t", const("dot"))).replace(
        "<arc ", f'<arc inscription="{ages}" type="{kind}" weight="1" '
    )
    output = arc("t", "p", ring).replace("<arc ", '<arc inscription="1" type="normal" ')
    nodes = "".join(
        f'<transition angle="0" id="{own}" player="0" priority="{order}"/>'
        for own, order in (("t", 0), ("u", priority))
    )
    structured = f"<structure><declarations>{DECLARED}</declarations></structure>"
    return (
        f'<pnml><net active="true" id="n" type="P/T net">{places}{nodes}{inputs}'
        f"{output}</net><declaration>{structured}</declaration>"
        '<k-bound bound="3"/><feature isColored="true"/></pnml>'
    ).encode()


def test_coloured_nets_of_tapaal():
    """Declarations stand beside the net, and ``dot`` is the colour of its sort."""
    net = complete(parse_pnml(of_tapaal(), "m.tapn").unfolding())
    assert net.initial() == (1, 1, 1, 2)
    assert [t.pre for t in net.transitions[:3]] == [{k: 1, 3: 1} for k in range(3)]
    assert [t.post for t in net.transitions[:3]] == [{k: 1} for k in range(3)]


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"invariant": "&lt;= 5"}, "the invariant '<=5'"),
        ({"ages": "[1,2]"}, "the interval '[1,2]'"),
        ({"kind": "tapnInhibitor"}, "an arc of type 'tapninhibitor'"),
        ({"priority": "1"}, "transitions that differ in <priority>"),
    ],
)
def test_what_coloured_nets_of_tapaal_may_not_have(about, message):
    with pytest.raises(UnsupportedError, match=re.escape(message)):
        parse_pnml(of_tapaal(**about), "m.tapn")


def test_tokens_have_colours():
    """The attribute of TAPAAL counts the tokens that a marking lists."""
    text = pnml(place("p", "kind")).replace(
        b'<place id="p"', b'<place initialMarking="3" id="p"'
    )
    with pytest.raises(InputError, match="tokens without colours in the place 'p'"):
        parse_pnml(text, "m")


def test_colours_of_one_name_are_known_by_their_ids():
    net = parse_pnml(pnml(place("p", "kind", every("kind"))), "m")
    assert net.variables == ("p.a", "p.b")


FINE = place("p", "ring") + transition("t")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<place id="p"/>', "the place 'p' without <type>"),
        (place("p", "rng"), "no sort is declared as 'rng'"),
        (place("p", "ring", var("x")), "a variable in the marking of place 'p'"),
        (place("p", "ring", const("z")), "'z', which is not declared, expected a"),
        (place("p", "ring", const("a")), "'a' of the sort 'Kind', expected a constant"),
        (place("p", "ring", every("kind")), "<all> of another sort, expected 'Ring'"),
        (place("p", "pair", every("ring")), "<all> of 1 colours, expected 2"),
        (place("p", "n", integer(3)), "3, expected -1 to 2 of the sort 'N'"),
        (place("p", "n", integer("one")), "'one' as a number, expected a number"),
        (FINE + arc("p", "t", var("z")), "no variable is declared as 'z'"),
        (
            FINE + arc("p", "t", var("k")),
            "the variable 'k' of the sort 'Kind', expected",
        ),
        (FINE + arc("p", "t", "<add/>"), "<add> of 0 terms, expected 1 or more"),
        (FINE + arc("p", "t", op("numberof", var("x"))), "<numberof> of 1 terms"),
        (FINE + arc("p", "t", op("numberof", number(-1), var("x"))), "expected 0 to"),
        (FINE + arc("p", "t", f"<add>{var('x')}</add>"), "expected <subterm> with one"),
        (FINE + '<arc source="p" target="t"/>', "an arc without <hlinscription>"),
        (
            FINE + '<arc source="p" target="t"><hlinscription><text>x</text>'
            "</hlinscription></arc>",
            "a <hlinscription> without <structure>",
        ),
        (
            FINE + '<arc source="p" target="t"><hlinscription><structure/>'
            "</hlinscription></arc>",
            "0 terms in <hlinscription>, expected one",
        ),
        (
            transition("t", op("equality", var("x"), var("k"))),
            "the variable 'k' of the sort 'Kind', expected one of 'Ring'",
        ),
        (transition("t", op("ltp", var("x"), var("y"))), "<ltp> of colours"),
        (place("p", "kind", const("low")), "a part of another sort, expected 'Kind'"),
        (transition("t", '<booleanconstant value="1"/>'), "expected true or false"),
        (place("p", "ring") + place("p", "ring"), "the id 'p' again"),
    ],
)
def test_refused(body, message):
    text = refusal("\n" + body)
    assert message in text
    assert text.startswith(f"m.pnml:{4 + LINES}: ")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (place("p", "side"), "the partition 'side' as a sort"),
        (
            place(
                "p",
                "pair",
                op(
                    "tuple",
                    op("subtract", every("ring"), const("r1")),
                    op("subtract", every("n"), integer(0)),
                ),
            ),
            "a tuple of several differences",
        ),
        (transition("t", var("x")), "<variable>, expected a guard"),
        (transition("t", op("lessthan", var("k"), const("a"))), "which has no order"),
        (FINE + arc("p", "t", "<makelist/>"), "<makelist>, expected a multiset"),
        (
            transition("t", op("equality", op("successor", var("i")), var("i"))),
            "<successor> in the sort 'N', expected a cyclic enumeration",
        ),
        (
            transition("t", op("equality", integer(1), integer(1))),
            "a comparison of two constants",
        ),
        (place("p", "ring").replace("type>", "capacity>"), "<capacity> in <place>"),
        (
            place("p", "ring").replace("</place>", "<initialMarking/></place>"),
            "<initialMarking> in <place>",
        ),
        ("<module/>", "<module> in <page>, expected at most"),
    ],
)
def test_what_is_more_than_a_symmetric_net_is_refused_by_name(body, message):
    assert message in refusal(body, UnsupportedError)


SORT = '<namedsort id="s" name="s">{}</namedsort>'


@pytest.mark.parametrize(
    ("declared", "message", "kind"),
    [
        (SORT.format('<usersort declaration="s"/>'), "made of itself", InputError),
        (SORT.format(""), "0 sorts, expected a sort", InputError),
        (SORT.format("<dot/>") * 2, "the id 's' is declared twice", InputError),
        (SORT.format("<finiteenumeration/>"), "no <feconstant>", InputError),
        (SORT.format("<string/>"), "<string>, expected a sort", UnsupportedError),
        (
            SORT.format('<finiteintrange start="2" end="1"/>'),
            "the range 2 to 1, expected 1 to",
            InputError,
        ),
        (
            SORT.format('<finiteintrange start="0" end="99999999999"/>'),
            "the range 0 to 99999999999",
            InputError,
        ),
        (
            SORT.format('<finiteintrange start="x" end="1"/>'),
            "'x' as bound",
            InputError,
        ),
        ("<namedoperator/>", "<namedoperator>, expected", UnsupportedError),
        (
            SORT.format('<finiteintrange start="1" end="2"/>')
            + '<partition id="h"><usersort declaration="s"/><partitionelement id="e">'
            + integer(1, 1, 2)
            + "</partitionelement></partition>",
            "no element of the partition has '2'",
            InputError,
        ),
        (
            SORT.format('<finiteintrange start="1" end="2"/>')
            + '<partition id="h"><usersort declaration="s"/><partitionelement id="e">'
            + integer(1, 1, 2) * 2
            + "</partitionelement></partition>",
            "'1' again in the partition",
            InputError,
        ),
        (
            f'<variabledecl id="v">{PAIRS}</variabledecl>',
            "a sort of 2-tuples, expected a basic sort",
            UnsupportedError,
        ),
    ],
)
def test_declarations_that_are_refused(declared, message, kind):
    assert message in refusal("", kind, declared)


def test_names_of_colours_that_make_ambiguous_ids():
    declared = (
        '<namedsort id="s" name="s"><finiteenumeration><feconstant id="b.c" name="1"/>'
        '</finiteenumeration></namedsort><namedsort id="u" name="u"><finiteenumeration>'
        '<feconstant id="c" name="1"/></finiteenumeration></namedsort>'
    )
    body = place("a", "s", every("s")) + place("a.b", "u", every("u"))
    message = str(refusal(body, UnsupportedError, declared))
    assert "'a.b.c' is the id of several places or transitions" in message


def test_constants_are_compared_when_a_net_is_written():
    """Of two constants nothing tells the sort."""
    three = Sort("s", "s", ENUMERATION, ("a", "b", "c"), ("a", "b", "c"))
    part = Part(Constant(1), (0, 1, 1))
    for guard, holds in (
        (Comparison("==", Constant(1), Constant(2)), False),
        (Comparison("!=", Constant(1), Constant(2)), True),
        (Comparison("==", part, Constant(1)), True),
        (Comparison("<", part, part), False),
    ):
        moves = (ColouredTransition("t", "t", guard, (), ()),)
        net = ColouredNet("n", (three,), (), (), moves)
        read = parse_pnml(pnml_text(net).encode(), "m.pnml")
        assert isinstance(read.coloured.transitions[0].guard, AllOf) == holds


WHOLE = pnml(
    place("p", "pair", op("numberof", number(2), op("tuple", var("x"), integer(0))))
    + transition("t", op("equality", var("x"), op("successor", const("r1"))))
    + arc("p", "t", op("subtract", every("pair"), op("tuple", var("x"), var("i"))))
)


@given(st.integers(0, len(WHOLE)), st.integers(0, 12), st.binary(max_size=6))
def test_damaged_files_are_read_or_refused(at, cut, noise):
    """Whatever is cut out and put in: a net, or an error that names the file."""
    data = WHOLE[:at] + noise + WHOLE[at + cut :]
    try:
        net = parse_pnml(data, "m.pnml")
    except LtlpipeError as error:
        message = str(error)
    else:
        assert len(net.initial()) == len(net.variables)
        message = "m.pnml:"
    assert message.startswith("m.pnml:")
