"""Files as people of the field write them: models in DVE, nets in PNML, formula lists.

Each function takes a random generator and returns a `Written`: the text of a file, and
what has to be read of it.  What is chosen at random is what a dialect leaves open.
`REFUSED` has files that nothing can be made of without a guess or a loss.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random


class Written(NamedTuple):
    """A file, and what it holds."""

    text: str
    holds: Any
    """Sizes of a system as ``(variables, actions)``, or formulas in Spot's syntax."""


Writer = "Callable[[Random], Written]"

# --- DVE --------------------------------------------------------------------


def _dve(rng: Random, system: str, before: str = "", assertion: str = "") -> Written:
    """Return a model of BEEM's shape: counters behind guards, a channel, commit."""
    either = rng.choice([("and", "or", "not "), ("&&", "||", "!")])
    and_, or_, not_ = either
    n = rng.randint(2, 4)
    size = rng.randint(2, 4)
    lines = [f"byte t[{size}] = {{{', '.join('1' for _ in range(size))}}};", before]
    lines.append("channel {byte} c[1];" if rng.random() < 0.5 else "channel c;")
    buffered = "[1]" in lines[-1]
    value = "" if not buffered else "1"
    actions = 0
    for p in range(n):
        guard = (
            f"t[{rng.randrange(size)}] < 2 {and_} ({not_}(x{p} == 1) {or_} x{p} == 0)"
        )
        lines.append(f"process P_{p} {{\n  byte x{p} = 0; byte got;")
        lines.append(f"  state idle, busy, done; init idle; {assertion}")
        lines.append("  commit busy;" if rng.random() < 0.3 else "")
        lines.append(f"  trans idle -> busy {{ guard {guard}; effect x{p} = 1; }},")
        comment = rng.choice(["", " // on", " /* on\n and on */"])
        lines.append(f"  -> done {{ sync c!{value}; }},{comment}")
        received = "got" if buffered else ""
        lines.append(f"  done -> idle {{ sync c?{received}; effect x{p} = 0; }};\n}}")
        actions += 3 if buffered else 1
    actions += 0 if buffered else n * (n - 1)
    channel = 2 if buffered else 0
    return Written("\n".join([*lines, system]), (size + channel + 3 * n + 1, actions))


def _with_surplus(rng: Random) -> Written:
    return _dve(rng, "system async;", "byte u[1] = {1, 2};")._replace(holds=None)


CLAIM = """process LTL_property {{
  state q1, q2; init q1; accept q2;
  trans q1 -> q1 {{}}, q1 -> q2 {{ guard not (P_0.done); }},
    q2 -> q2 {{ guard {guard}; {effect} }};
}}
system async property LTL_property;"""


def _with_claim(rng: Random, guard: str = "", effect: str = "") -> Written:
    guard = guard or rng.choice(
        ["not (P_0.done)", "t[0] == 1 && P_1.idle", "P_0->x0 + 1 > 1"]
    )
    return _dve(rng, CLAIM.format(guard=guard, effect=effect))


DVE = {
    "plain": lambda rng: _dve(rng, "system async;"),
    "property process": _with_claim,
    "assert": lambda rng: _dve(rng, "system async;", assertion="assert done: t[0]<2;"),
    "surplus initial values": _with_surplus,
}
"""Dialects of DVE."""

# --- PNML -------------------------------------------------------------------

_GRAMMAR = "http://www.pnml.org/version-2009/grammar"


class _Net(NamedTuple):
    """A place/transition net: ``(source, target, weight)``, and a marking."""

    n_places: int
    n_transitions: int
    arcs: list[tuple[str, str, int]]
    marking: list[int]


def _net(rng: Random) -> _Net:
    n, m = rng.randint(1, 5), rng.randint(1, 4)
    ends = [(f"p{rng.randrange(n)}", f"t{k}") for k in range(m)]
    ends += [(f"t{k}", f"p{rng.randrange(n)}") for k in range(m)]
    arcs = [(a, b, rng.choice([1, 1, 2])) for a, b in ends]
    return _Net(n, m, arcs, [rng.randint(0, 3) for _ in range(n)])


def _label(tag: str, value: Any, inner: str = "text") -> str:
    return f"<{tag}><{inner}>{value}</{inner}></{tag}>"


def _pnml(
    rng: Random,
    *,
    kind: str = f"{_GRAMMAR}/ptnet",
    space: str = f' xmlns="{_GRAMMAR}/pnml"',
    inner: str = "text",
    amount: str = "",
    page: bool = True,
    arc_ids: bool = True,
    of_place: str = "",
    of_transition: str = "",
    of_arc: str = "",
    end: str = "",
) -> Written:
    """Return a net in PNML; the arguments say what dialects do differently."""
    net = _net(rng)
    lines = []
    for k, tokens in enumerate(net.marking):
        marked = _label("initialMarking", f"{amount}{tokens}", inner)
        name = _label("name", f"place {k}", inner)
        lines.append(
            f'<place id="p{k}">{name}{marked * (tokens > 0)}{of_place}</place>'
        )
    for k in range(net.n_transitions):
        name = _label("name", f"step {k}", inner)
        lines.append(f'<transition id="t{k}">{name}{of_transition}</transition>')
    for k, (a, b, weight) in enumerate(net.arcs):
        weighs = _label("inscription", f"{amount}{weight}", inner) * (weight > 1)
        number = k if arc_ids else k // 2
        arc = f'id="a{number}" source="{a}" target="{b}"'
        lines.append(f"<arc {arc}>{weighs}{of_arc}</arc>")
    rng.shuffle(lines)
    body = "\n".join(lines)
    body = f'<page id="g">{body}</page>' if page else body
    text = f'<pnml{space}><net id="n" type="{kind}">{body}{end}</net></pnml>'
    return Written(text, (net.n_places, net.n_transitions))


def _pages(rng: Random) -> Written:
    """Several pages, joined by reference places."""
    tokens = rng.randint(1, 3)
    marked = _label("initialMarking", tokens)
    first = f'<place id="p0">{marked}</place><transition id="t0"/>'
    first += '<arc id="a0" source="p0" target="t0"/>'
    other = '<referencePlace id="r0" ref="p0"/><transition id="t1"/>'
    other += '<arc id="a1" source="t1" target="r0"/>'
    pages = [f'<page id="g">{first}</page>', f'<page id="h">{other}</page>']
    rng.shuffle(pages)
    head = f'<pnml xmlns="{_GRAMMAR}/pnml"><net id="n" type="{_GRAMMAR}/ptnet">'
    return Written(f"{head}{''.join(pages)}</net></pnml>", (1, 2))


def _tapaal(rng: Random, *, inhibitor: bool = False, timed: bool = False) -> Written:
    """TAPAAL: attributes, kinds of arcs."""
    net = _net(rng)
    bound = "&lt;= 5" if timed else "&lt; inf"
    lines = [
        f'<place id="p{k}" name="p{k}" initialMarking="{tokens}" invariant="{bound}"/>'
        for k, tokens in enumerate(net.marking)
    ]
    lines += [
        f'<transition id="t{k}" name="t{k}" priority="0" urgent="false"/>'
        for k in range(net.n_transitions)
    ]
    arcs = [(a, b, weight, "normal") for a, b, weight in net.arcs]
    if inhibitor:
        arcs.append((f"p{rng.randrange(net.n_places)}", "t0", 2, "tapnInhibitor"))
    for k, (a, b, weight, kind) in enumerate(arcs):
        interval = "[0,inf)" if timed and a[0] == "p" else "1"
        lines.append(
            f'<arc id="a{k}" inscription="{interval}" source="{a}" target="{b}" '
            f'type="{kind}" weight="{weight}"/>'
        )
    head = '<pnml xmlns="http://www.informatik.hu-berlin.de/top/pnml/ptNetb">'
    body = "\n".join(lines)
    text = f'{head}<net active="true" id="n" type="P/T net">{body}</net></pnml>'
    return Written(text, (net.n_places, net.n_transitions))


_TOOL = '<toolspecific tool="ProM" version="6.4"/>'
_FINAL = f'<finalmarkings><marking><place idref="p0">{_label("x", 1)[3:-4]}</place>'
_FINAL += "</marking></finalmarkings>"
_PROM = f"{_GRAMMAR}/pnmlcoremodel"

PNML: dict[str, Callable[[Random], Written]] = {
    "iso": _pnml,
    "no page": lambda rng: _pnml(rng, page=False),
    "ids of arcs repeat": lambda rng: _pnml(rng, arc_ids=False),
    "graphics": lambda rng: _pnml(
        rng, of_place='<graphics><position x="1" y="2"/></graphics>'
    ),
    "prom": lambda rng: _pnml(
        rng,
        kind=_PROM,
        of_transition=_TOOL,
        of_arc="<arctype><text>normal</text></arctype>",
    ),
    "pm4py": lambda rng: _pnml(rng, kind=_PROM, space="", end=_FINAL),
    "value for text": lambda rng: _pnml(rng, inner="value"),
    "pipe": lambda rng: _pnml(
        rng,
        kind="P/T net",
        space="",
        inner="value",
        amount="Default,",
        page=False,
        of_place=_label("capacity", 0, "value"),
    ),
    "several pages": _pages,
    "tapaal": _tapaal,
    "tapaal, inhibitor arcs": lambda rng: _tapaal(rng, inhibitor=True),
}
"""Dialects of PNML."""

# --- lists of formulas ------------------------------------------------------


def _formulas(rng: Random) -> list[str]:
    templates = ["G(a -> F b)", "F a", "G !b", "a U (b & X c)", "GF a -> GF b"]
    return [rng.choice(templates) for _ in range(rng.randint(1, 6))]


def _listed(
    rng: Random, line: str, *, joined: str = "\n", head: str = "", tail: str = ""
) -> Written:
    """Return a list whose lines have ``{formula}`` and ``{k}``, from 0."""
    found = _formulas(rng)
    lines = [line.replace("{k}", str(k)) for k in range(len(found))]
    texts = [each.replace("{formula}", f) for each, f in zip(lines, found, strict=True)]
    return Written(head + joined.join(texts) + tail, found)


def _mcc(rng: Random) -> Written:
    """Return a file of the Model Checking Contest."""
    k = rng.randint(0, 9)
    place = "<tokens-count><place>p0</place></tokens-count>"
    constant = f"<integer-constant>{k}</integer-constant>"
    fact = f"<integer-le>{place}{constant}</integer-le>"
    inside = f"<all-paths><globally>{fact}</globally></all-paths>"
    one = f"<property><id>n-{k}</id><formula>{inside}</formula></property>"
    head = '<?xml version="1.0"?><property-set xmlns="http://mcc.lip6.fr/">'
    return Written(f"{head}{one}</property-set>", [f'G "p0<={k}"'])


def _table(rng: Random) -> Written:
    found = _formulas(rng)
    lines = [f'{k},"{formula}",x' for k, formula in enumerate(found)]
    return Written("\n".join(["id,formula,remark", *lines, ""]), found)


def _json(rng: Random) -> Written:
    found = _formulas(rng)
    return Written(
        json.dumps([{"id": k, "formula": f} for k, f in enumerate(found)]), found
    )


_PREFIX = {
    "G(a -> F b)": "G i a F b",
    "F a": "F a",
    "G !b": "G ! b",
    "a U (b & X c)": "U a & b X c",
    "GF a -> GF b": "i G F a G F b",
}


def _lbt(rng: Random) -> Written:
    found = _formulas(rng)
    return Written("\n".join(_PREFIX[formula] for formula in found), found)


LISTS: dict[str, tuple[str, Callable[[Random], Written]]] = {
    "lines": (".ltl", lambda rng: _listed(rng, "{formula}", tail="\n")),
    "numbered": (".ltl", lambda rng: _listed(rng, "{k}: {formula}")),
    "named": (".ltl", lambda rng: _listed(rng, "safe_{k}: {formula}")),
    "names before": (".ltl", lambda rng: _listed(rng, "# name: p{k}\n{formula}")),
    "comments behind, #": (".ltl", lambda rng: _listed(rng, "{formula} # as said")),
    "comments behind, //": (".ltl", lambda rng: _listed(rng, "{formula} // as said")),
    "comments behind, --": (".ltl", lambda rng: _listed(rng, "{formula} -- as said")),
    "rers": (".txt", lambda rng: _listed(rng, "#{k}: true\n{formula}", joined="\n\n")),
    "promela": (".ltl", lambda rng: _listed(rng, "ltl p{k} { {formula} }")),
    "prefix (lbt)": (".ltl", _lbt),
    "csv": (".csv", _table),
    "json": (".json", _json),
    "mcc": (".xml", _mcc),
}
"""Dialects of lists, with their suffixes."""

# --- what has to be refused -------------------------------------------------

REFUSED: dict[str, tuple[str, Callable[[Random], Written]]] = {
    "dve, macros": (".mdve", lambda rng: _dve(rng, "system async;", "default(N,3)")),
    "dve, property with effects": (
        ".dve",
        lambda rng: _with_claim(rng, effect="effect t[0] = 1;"),
    ),
    "dve, property with shifts": (
        ".dve",
        lambda rng: _with_claim(rng, guard="t[0] << 1 == 2"),
    ),
    "dve, unknown name": (
        ".dve",
        lambda rng: _dve(rng, "system async;", "byte w = v;"),
    ),
    "pnml, time": (".pnml", lambda rng: _tapaal(rng, timed=True)),
    "pnml, arc to nowhere": (
        ".pnml",
        lambda rng: _pnml(rng, end='<arc id="z" source="p0" target="t99"/>'),
    ),
    "pnml, unknown label of a place": (
        ".pnml",
        lambda rng: _pnml(rng, of_place=_label("colour", "red")),
    ),
}
"""Files that are refused rightly, with their suffixes."""
