"""Files as tools and people write them: a function for each dialect.

Each takes a transition system with numbered states and a random generator, and returns
the text of a file that means that system; what is chosen at random is what a dialect
leaves open.  `DIALECTS` says how each is read, and which labels it takes.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.alternating import alternating
from ltlpipe.systems.networks.lts import LTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random


class Dialect(NamedTuple):
    """A dialect: how it is written, and how it is read."""

    write: Callable[[LTS, Random], str]
    suffix: str = ".dot"
    mealy: bool = False  # whether labels are ``input / output``
    internal: str | None = None  # the internal label, if there can be one
    options: dict[str, Any] = {}  # noqa: RUF012 - it is never changed


def random_lts(rng: Random, *, mealy: bool = False, internal: str | None = None) -> LTS:
    """Return a small system."""
    n_states = rng.randint(1, 6)
    labels = ["a", "b c", "send(1)", "x_1", "ünï"]
    if mealy:
        labels = [f"{label} / {rng.choice(['0', 'ok', 'a'])}" for label in labels]
    if internal is not None:
        labels.append(internal)
    steps = {
        (rng.randrange(n_states), rng.choice(labels), rng.randrange(n_states))
        for _ in range(rng.randint(0, 3 * n_states))
    }
    chosen = rng.sample(sorted(steps), len(steps))
    inside = [internal] if internal is not None else []
    start = rng.randrange(n_states)
    return LTS.from_transitions(
        chosen, n_states=n_states, initial=start, internal=inside
    )


def rers(lts: LTS, rng: Random) -> str:
    """RERS 2016 to 2020: a subgraph, a node 0 before the states, internal edges."""
    shown = [
        f"    {s + 1} -> {d + 1} [label={_quoted('' if a in lts.internal else a)}];"
        for s, a, d in lts.transitions()
    ]
    shown += [f"    {s + 1};" for s in range(lts.n_states)]
    rng.shuffle(shown)
    shown = [*_order(shown, lts), f'    0 -> {lts.initial + 1} [label=""];']
    body = "\n".join(shown)
    return f"digraph G {{\n  subgraph component0 {{\n{body}\n  }}\n}}\n"


def rers_blanks(lts: LTS, rng: Random) -> str:
    """RERS as edited: blanks in labels, colours, attributes in any order."""
    lines = ['"0" [label="0" style=filled];', f'0->{lts.initial + 1} [ label="" ];']
    lines += [f"{s + 1};" for s in range(lts.n_states)]
    for s, a, d in lts.transitions():
        text = "" if a in lts.internal else rng.choice(["", "  "]) + a + " "
        lines.append(f'{s + 1} -> "{d + 1}" [color=black label={_quoted(text)} ];')
    return "digraph G { subgraph c {\n" + "\n".join(lines) + "\n} }\n"


def learnlib(lts: LTS, rng: Random) -> str:
    """GraphDOT of AutomataLib, and the Automata Wiki."""
    q = rng.choice(["", '"'])
    states = [
        f"\ts{s} [shape={q}circle{q} label={q}{s}{q}];" for s in range(lts.n_states)
    ]
    steps = [f"\ts{s} -> s{d} [label={_quoted(a)}];" for s, a, d in lts.transitions()]
    marker = f'__start0 [label="" shape={q}none{q}{rng.choice(["", " width=0"])}];'
    start = f"__start0 -> s{lts.initial};"
    parts = ["digraph g {", *states, *steps, "", start, "", "}", ""]
    parts.insert(rng.choice([1, len(parts) - 4]), marker)
    return "\n".join(parts)


def html_tables(lts: LTS, rng: Random) -> str:
    """Labels in tables, as some models of the Automata Wiki have them."""
    lines = [f"s{s}" for s in range(lts.n_states)]
    for s, a, d in lts.transitions():
        cells = "".join(f"<td>{escape(part)}</td>" for part in a.split(" "))
        table = f'<<table border="0"><tr>{cells}</tr></table>>'
        lines.append(f"s{s} -> s{d} [label={table}]")
    rng.shuffle(lines)
    lines = [*_order(lines, lts, "s"), f"__start0 -> s{lts.initial}"]
    return "\n".join(['digraph G {\nlabel=""\n__start0 [shape=none]', *lines, "}"])


def mcrl2(lts: LTS, rng: Random) -> str:
    """mCRL2: two lines around the initial state, tau internal."""
    end = rng.choice([";", ""])
    lines = [f"S{s}{end}" for s in range(lts.n_states)]
    lines += [
        f"S{s}->S{d}[label={_quoted('tau' if a in lts.internal else a)}];"
        for s, a, d in lts.transitions()
    ]
    head = 'digraph "m.dot" {\ncenter = TRUE;\nmclimit = 10.0;\nnodesep = 0.05;\n'
    head += 'node [ width=0.25, height=0.25, label="" ];\n'
    lines.insert(lts.n_states, f"S{lts.initial} [ peripheries=2 ];")
    return head + "\n".join([*lines, "}", ""])


def divine(lts: LTS, rng: Random) -> str:
    """``divine draw -l`` of DiVinE 3: magenta is the initial state."""
    nodes = []
    for s in range(lts.n_states):
        colour = " fillcolor = magenta style=filled " if s == lts.initial else ""
        nodes.append(f'{s + 1} [{colour}shape=ellipse label="x = {rng.randint(0, 9)}"]')
    steps = [
        f"{s + 1} -> {d + 1} [label = {_quoted(a)}]" for s, a, d in lts.transitions()
    ]
    lines = ["digraph { node [ fontname = Courier ]", *nodes, "", *steps, "", "}"]
    return "\n".join(lines)


def spot(lts: LTS, rng: Random) -> str:
    """Spot, for automata whose labels are single propositions."""
    label = rng.choice(['label="t\\n[all]"', 'label="[all]"', ""])
    lines = ['digraph "" {', "  rankdir=LR", f"  {label}", '  labelloc="t"']
    lines += ['  node [shape="circle"]', '  I [label="", style=invis, width=0]']
    lines.append(f"  I -> {lts.initial}")
    lines += [f'  {s} [label="{s}"]' for s in range(lts.n_states)]
    names = {a: f"p{k}" for k, a in enumerate(lts.labels)}
    lines += [f'  {s} -> {d} [label="{names[a]}"]' for s, a, d in lts.transitions()]
    return "\n".join([*lines, "}", ""])


def by_hand(lts: LTS, rng: Random) -> str:
    """Drawings by hand: an edge from a node that is not drawn."""
    ways = {
        "point": ("start [shape=point];", "start"),
        "default": ("node [shape = point]; qi\n  node [shape = circle];", "qi"),
        "invisible": ('init [style="invis"]', "init"),
        "plain": ('"" [shape=plaintext]', '""'),
        "nothing": ("entry [shape=none, label=begin]", "entry"),
    }
    marker, source = ways[rng.choice(sorted(ways))]
    empty = rng.choice(["", ' [label=""]', " [color=grey]"])
    lines = [f"q{s} [shape=circle]" for s in range(lts.n_states)]
    lines += [
        f"q{s} -> q{d} [ label = {_quoted(a)}, weight=1 ];"
        for s, a, d in lts.transitions()
    ]
    start = f"{source} -> q{lts.initial}{empty};"
    lines.insert(rng.randint(0, len(lts.src)) + lts.n_states, start)
    return "\n  ".join(["digraph fsm { rankdir=LR;", marker, *lines]) + "\n}\n"


def initial_attribute(lts: LTS, rng: Random) -> str:
    """``initial=true``, and names with digits and underscores."""
    yes = rng.choice(["true", "True", "1", '"true"'])
    lines = [f"{s}_0" for s in range(lts.n_states)]
    lines.insert(lts.n_states, f"{lts.initial}_0 [initial={yes}] // here")
    lines += [f"{s}_0 -> {d}_0 [label={_quoted(a)}]" for s, a, d in lts.transitions()]
    return "digraph {\n" + "\n".join(lines) + "\n}"


def nowhere(lts: LTS, rng: Random) -> str:
    """No initial state at all: the caller has to say that it is n0."""
    names = [f"n{(s - lts.initial) % lts.n_states}" for s in range(lts.n_states)]
    lines = [*names]
    for s, a, d in lts.transitions():
        lines.append(f"{names[s]} -> {names[d]} [label={_quoted(a)}]")
    return f"digraph g{rng.randint(0, 9)} {{\n" + "\n".join(lines) + "\n}"


def graphviz(lts: LTS, rng: Random) -> str:
    """Output of ``dot -Tdot``: positions, in lists over several lines."""
    lines = ['graph [bb="0,0,54,108"];', 'node [label="\\N"];']
    lines += [
        f's{s}\t[height=0.5,\n\t\tpos="27,{rng.randint(0, 99)}",\n\t\twidth=0.75];'
        for s in range(lts.n_states)
    ]
    lines += ['begin\t[height=0.05,\n\t\tlabel="",\n\t\tshape=point];']
    lines += [f'begin -> s{lts.initial}\t[pos="e,27,36 27,71"];']
    lines += [
        f's{s} -> s{d}\t[label={_quoted(a)},\n\t\tlp="9,9",\n\t\tpos="e,1,2 3,4"];'
        for s, a, d in lts.transitions()
    ]
    return "digraph g {\n\t" + "\n\t".join(lines) + "\n}\n"


def cadp(lts: LTS, rng: Random) -> str:
    """Aldebaran files of CADP: ``i`` without quotes, blanks anywhere."""
    gap = rng.choice(["", " "])
    lines = [f"des ({lts.initial},{gap}{lts.n_transitions},{gap}{lts.n_states})"]
    for s, a, d in lts.transitions():
        label = "i" if a in lts.internal else f'"{a}"'
        lines.append(f"({s},{gap}{label},{gap}{d})")
    return "\n".join(lines) + "\n"


def mcrl2_aut(lts: LTS, rng: Random) -> str:
    """Aldebaran files of mCRL2 and LTSmin: every label in quotes, ``tau`` internal."""
    end = rng.choice(["", "\n"])
    lines = [f"des ({lts.initial},{lts.n_transitions},{lts.n_states})"]
    for s, a, d in lts.transitions():
        lines.append(f'({s},"{"tau" if a in lts.internal else a}",{d})')
    return "\n".join(lines) + end


def hoa(lts: LTS, rng: Random) -> str:
    """HOA, one proposition at each step."""
    names = " ".join(map(_quoted, lts.labels))
    lines = ["HOA: v1", f"States: {lts.n_states}", f"Start: {lts.initial}"]
    lines += [f"AP: {len(lts.labels)} {names}", "Acceptance: 0 t", "--BODY--"]
    n = len(lts.labels)
    for s in range(lts.n_states):
        lines.append(f"State: {s}")
        for src, a, d in lts.transitions():
            if src == s:
                k = lts.labels.index(a)
                alone = rng.choice([True, False])
                others = [f"!{m}" for m in range(n) if m != k and not alone]
                lines.append(f"[{'&'.join([str(k), *others])}] {d}")
    return "\n".join([*lines, "--END--", ""])


def kripke(lts: LTS, rng: Random) -> str:
    """HOA with labels on states: the actions that a state offers."""
    names = " ".join(map(_quoted, lts.labels))
    lines = ["HOA: v1", f"States: {lts.n_states}", f"Start: {lts.initial}"]
    lines += [f"AP: {len(lts.labels)} {names}", "Acceptance: 0 t"]
    lines += rng.choice([[], ["properties: state-labels explicit-labels"]])
    lines.append("--BODY--")
    for s in range(lts.n_states):
        offered = {a for src, a, _ in lts.transitions() if src == s}
        label = "&".join(
            f"{'' if a in offered else '!'}{k}" for k, a in enumerate(lts.labels)
        )
        lines.append(f"State: [{label or 't'}] {s}")
        lines += sorted({str(d) for src, _, d in lts.transitions() if src == s})
    return "\n".join([*lines, "--END--", ""])


DIALECTS = {
    "rers": Dialect(rers, internal="tau"),
    "rers edited": Dialect(rers_blanks, internal="tau"),
    "learnlib": Dialect(learnlib),
    "automata wiki": Dialect(learnlib, mealy=True),
    "automata wiki, tables": Dialect(html_tables, mealy=True),
    "mcrl2": Dialect(mcrl2, internal="tau"),
    "divine": Dialect(divine),
    "spot": Dialect(spot),
    "by hand": Dialect(by_hand),
    "initial attribute": Dialect(initial_attribute),
    "no initial state": Dialect(nowhere, options={"initial": "n0"}),
    "graphviz": Dialect(graphviz),
    "cadp": Dialect(cadp, ".aut", internal="i"),
    "mcrl2, aut": Dialect(mcrl2_aut, ".aut", internal="tau"),
    "hoa": Dialect(hoa, ".hoa"),
}
"""The dialects of networks by name; the right reading of "spot" calls label k p<k>."""

KRIPKE = {"kripke": Dialect(kripke, ".hoa", options={"semantics": "state"})}
"""The same of graphs with propositions."""

PROPERTIES: dict[str, Callable[[Any], str]] = {
    "hoa": lambda formula: _automaton(formula).to_str("hoa"),
    "never claim": lambda formula: _automaton(formula).to_str("spin"),
    "lbtt": lambda formula: _automaton(formula).to_str("lbtt"),
    "alternating": alternating,
}
"""Property automata: what writes that of a formula of Spot, in each syntax."""


def _automaton(formula: Any) -> Any:
    import spot

    return spot.translate(formula, "Buchi", "SBAcc")


def _order(lines: list[str], lts: LTS, prefix: str = "") -> list[str]:
    """Return lines with those that only name states first, in order of the states."""
    first = 0 if prefix else 1
    names = [f"{prefix}{s + first}" for s in range(lts.n_states)]
    rest = [line for line in lines if line.strip().rstrip(";") not in names]
    return [*(f"{name};" for name in names), *rest]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
