"""Small nets as tools write them, and the right answers about them.

Each has the shape of a file on which an earlier version was wrong, or which it did not
read.
"""

from __future__ import annotations

import pytest

from ltlpipe import UnsupportedError, check
from ltlpipe.systems.nets.reading import parse_pnml
from ltlpipe.verdict import deadlocks

GRAMMAR = "http://www.pnml.org/version-2009/grammar"


def pnml(body, kind="ptnet", after=""):
    return (
        f'<pnml xmlns="{GRAMMAR}/pnml"><net id="n" type="{GRAMMAR}/{kind}">'
        f'<page id="g">{body}</page>{after}</net></pnml>'
    )


def arcs(*ends, label=""):
    return "".join(
        f'<arc source="{source}" target="{target}">{label}</arc>'
        for source, target in (pair.split() for pair in ends)
    )


MARKED = "<initialMarking><text>1</text></initialMarking>"

TAPAAL = """<pnml><net active="true" id="turns" type="P/T net">
<place id="here" name="here" initialMarking="1" invariant="&lt; inf"/>
<place id="there" name="there" initialMarking="0" invariant="&lt; inf"/>
<transition id="go" name="go" urgent="false"/>
<transition id="come" name="come" urgent="false"/>
<arc id="a" inscription="1" source="here" target="go" type="normal" weight="1"/>
<arc id="b" inscription="1" source="go" target="there" type="normal" weight="1"/>
<arc id="c" inscription="1" source="there" target="come" type="normal" weight="1"/>
<arc id="d" inscription="1" source="come" target="here" type="normal" weight="1"/>
</net></pnml>"""

SHARED_LABEL = pnml(
    f'<place id="p">{MARKED}</place><place id="q"/>'
    '<transition id="t"><name><text>send</text></name></transition>'
    '<transition id="u"><name><text>send</text></name></transition>'
    '<transition id="v"><name><text>back</text></name></transition>'
    + arcs("p t", "t q", "p u", "u q", "q v", "v p")
)

PROM = pnml(
    f'<name><text/></name><place id="n1"><name><text>start</text></name>{MARKED}'
    '<toolspecific tool="ProM" version="6.4" localNodeID="1"/></place>'
    '<place id="n2"><name><text>end</text></name></place>'
    '<transition id="n3"><name><text>check</text></name>'
    '<toolspecific tool="ProM" version="6.4" activity="$invisible$"/></transition>'
    + arcs("n1 n3", "n3 n2", label="<name><text>1</text></name>"
           "<arctype><text>normal</text></arctype>"),
    "pnmlcoremodel",
    "<finalmarkings><marking><place idref='n2'><text>1</text></place></marking>"
    "</finalmarkings>",
)  # fmt: skip

TWO_MARKED = (
    f'<place id="p">{MARKED}</place><place id="q">{MARKED}</place><place id="r"/>'
    '<transition id="t"/>' + arcs("q t", "t r")
)
VALUE_WEIGHT = pnml(
    TWO_MARKED + arcs("p t", label="<inscription><value>1</value></inscription>")
)
VALUE_MARKING = pnml(
    TWO_MARKED
    + '<place id="s"><initialMarking><value>2</value></initialMarking></place>'
    + arcs("t s")
)
INHIBITED = pnml(
    TWO_MARKED
    + '<arc source="p" target="t" type="inhibitor"><inscription><text>1</text>'
    "</inscription></arc>"
)
RESET = pnml(TWO_MARKED + arcs("p t", label="<arctype><text>reset</text></arctype>"))

GROWING = pnml(
    f'<place id="idle">{MARKED}</place><place id="box"/><transition id="send"/>'
    '<transition id="recv"/>' + arcs("idle send", "send idle", "send box", "box recv")
)
SOURCE = pnml('<place id="p"/><place id="q"/><transition id="t"/>' + arcs("t p"))


def coloured(n_colours, back):
    """A token of one colour that t takes, and n colours that u moves, and `back`."""

    def sort(name, n):
        constants = "".join(
            f'<feconstant id="{name}{k}" name="{k}"/>' for k in range(n)
        )
        return (
            f'<namedsort id="{name}" name="{name}"><finiteenumeration>{constants}'
            f'</finiteenumeration></namedsort><variabledecl id="v{name}" '
            f'name="v{name}"><usersort declaration="{name}"/></variabledecl>'
        )

    def place(own, name, marked=True):
        used = f'<structure><usersort declaration="{name}"/></structure>'
        every = f'<structure><all><usersort declaration="{name}"/></all></structure>'
        marking = f"<hlinitialMarking>{every}</hlinitialMarking>" if marked else ""
        return f'<place id="{own}"><type>{used}</type>{marking}</place>'

    def moves(name, *ends):
        term = f'<variable refvariable="v{name}"/>'
        label = (
            '<hlinscription><structure><numberof><subterm><numberconstant value="1">'
            f"<positive/></numberconstant></subterm><subterm>{term}</subterm></numberof>"
            "</structure></hlinscription>"
        )
        return arcs(*ends, label=label)

    declared = f"{sort('S', 1)}{sort('R', n_colours)}"
    body = place("p", "S") + place("q", "R") + place("r", "R", marked=False)
    body += '<transition id="t"/><transition id="u"/>'
    body += moves("S", "p t") + moves("R", "q u", "u r")
    if back:
        body += '<transition id="w"/>' + moves("S", "t p") + moves("R", "r w", "w q")
    declaration = f"<structure><declarations>{declared}</declarations></structure>"
    return (
        pnml(f"<declaration>{declaration}</declaration>{body}", "symmetricnet")
        .replace('<page id="g"><declaration>', "<declaration>", 1)
        .replace("</declaration>", '</declaration><page id="g">', 1)
    )


@pytest.mark.parametrize(
    ("text", "formula", "right"),
    [
        (TAPAAL, "here==1", "holds"),
        (TAPAAL, "G F here==1", "holds"),
        (SHARED_LABEL, 'G !(action=="send")', "violated"),
        (SHARED_LABEL, 'G F action=="send"', "holds"),
        (PROM, "F final", "holds"),
        (PROM, "G(deadlock -> final)", "holds"),
        (PROM, "G !final", "violated"),
        (VALUE_WEIGHT, "F(r==1 & p==0)", "holds"),
        (VALUE_MARKING, "s==2 & F s==3", "holds"),
        (INHIBITED, "G deadlock", "holds"),
        (RESET, "F(p==0 & r==1)", "holds"),
        (SOURCE, "G(1<=q)", "violated"),
        (SOURCE, "G(p<=5)", "violated"),
        (coloured(6, back=True), "G X fireable(t)", "holds"),
        (coloured(6, back=True), "X G fireable(t)", "holds"),
        (coloured(4, back=False), "G !fireable(t)", "violated"),
        (coloured(4, back=False), "fireable(t)", "holds"),
        (coloured(1, back=False), "!fireable(t)", "violated"),
    ],
)
def test_answers(text, formula, right):
    net = parse_pnml(text.encode(), "net.pnml")
    for way in ({}, {"reduce": "none"}, {"emptiness": "couvreur99"}):
        assert check(net, formula, deadlock="stutter", **way).verdict == right


@pytest.mark.parametrize("formula", ["G X fireable(t)", "X G fireable(t)"])
def test_sets_of_markings(formula):
    """Unfolded, the net has millions of markings."""
    net = parse_pnml(coloured(24, back=True).encode(), "net.pnml")
    assert check(net, formula).verdict == "holds"


def test_a_violation_of_an_unbounded_net():
    """Six steps, of a finite run or a lasso."""
    found = check(parse_pnml(SOURCE.encode(), "net.pnml"), "G(p<=5)")
    run = found.finite_run or found.lasso
    assert len(run.prefix) == 6


def test_no_answer_about_an_unbounded_net(monkeypatch):
    """`send` without end violates it; there is no lasso, and that is said soon."""
    monkeypatch.setattr(deadlocks, "PATIENCE", 5e4)
    net = parse_pnml(GROWING.encode(), "net.pnml")
    with pytest.warns(UserWarning, match="the net is unbounded: send can be repeated"):
        found = check(net, 'G F action=="recv"')
    assert (found.verdict, found.reason) == ("unknown", "unbounded")


@pytest.mark.parametrize(
    "body", ["", '<transition id="t"/>', '<place id="p"/><transition id="t"/>']
)
@pytest.mark.parametrize("reduce", ["automorphisms", "ample", "decoupled"])
def test_nets_without_places_or_tokens(body, reduce):
    """An answer that is right, or a refusal by name."""
    net = parse_pnml(pnml(body).encode(), "net.pnml")
    dead = not net.steps(net.initial())
    try:
        found = check(net, "G deadlock", reduce=reduce).verdict
    except UnsupportedError as error:
        found = str(error).partition(" cannot be used: ")[0]
    assert found in (reduce, "holds" if dead else "violated")


def test_searches_that_do_not_fit_coloured_nets():
    net = parse_pnml(coloured(3, back=True).encode(), "net.pnml")
    with pytest.raises(UnsupportedError, match="ample cannot be used: decoupled-scc"):
        check(net, "true", reduce="ample", emptiness="decoupled-scc")
