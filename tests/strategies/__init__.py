"""Hypothesis strategies for what the package computes with."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from ltlpipe.automata.conditions import (
    FALSE,
    TRUE,
    Clause,
    conjunction,
    disjunction,
    fin,
    from_clauses,
    inf,
    marks_in,
)
from ltlpipe.automata.structure import Draft, table_of
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.networks.lts import LTS, Network

#: Few labels, so that components share some and have some for themselves.
LETTERS = st.sampled_from(["a", "b", "c", "d"])

#: Labels that tempt readers: quotes, escapes, separators, any script.
AWKWARD_LABELS = st.one_of(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8),
    st.text("\\\"'|&!()[]{}<>,;:=-+#/*$%@ aé☃", min_size=1, max_size=8),
)


@st.composite
def lts(
    draw,
    *,
    max_states=4,
    max_transitions=8,
    labels=LETTERS,
    internal=(),
    acceptance=False,
):
    """One component, its alphabet in order of first use.

    Any state may be initial, without transitions or unreachable.  Labels in
    `internal` are internal; with `acceptance`, half of the components are Büchi
    automata.
    """
    n_states = draw(st.integers(min_value=1, max_value=max_states))
    states = st.integers(min_value=0, max_value=n_states - 1)
    transitions = draw(
        st.lists(st.tuples(states, labels, states), max_size=max_transitions)
    )
    accepting = None
    if acceptance and draw(st.booleans()):
        accepting = draw(st.sets(states))
    return LTS.from_transitions(
        transitions,
        initial=draw(states),
        n_states=n_states,
        internal=internal,
        accepting=accepting,
    )


#: What components and states may be called.
NAMES = st.one_of(
    AWKWARD_LABELS, st.sampled_from(["idle", "idle_2", "node", "0", "-1", "", "start"])
)


@st.composite
def named_networks(draw, **of_lts):
    """Networks of which some components, and states of some of them, have names."""
    components = []
    for component in draw(networks(**of_lts)).components:
        names = st.lists(
            NAMES, min_size=component.n_states, max_size=component.n_states
        )
        chosen = draw(st.none() | names.map(tuple))
        name = draw(st.just("") | NAMES)
        components.append(replace(component, name=name, state_names=chosen))
    return Network(components)


def networks(*, max_components=3, **of_lts):
    """Networks of components as `lts` makes them; it takes `of_lts`."""
    return st.lists(lts(**of_lts), min_size=1, max_size=max_components).map(Network)


#: Formulas over the letters, and now and then over an action nobody has.
PROPOSITIONS = st.sampled_from(["a", "a", "b", "b", "c", "d", "nowhere"])


def formulas(*, max_leaves=7):
    """LTL in Spot's syntax, fully bracketed."""
    return st.recursive(
        PROPOSITIONS | st.sampled_from(["1", "0"]),
        lambda part: st.one_of(
            st.tuples(st.sampled_from(["!", "X", "F", "G"]), part).map(
                lambda p: f"{p[0]}({p[1]})"
            ),
            st.tuples(
                part,
                st.sampled_from(["&", "|", "->", "<->", "xor", "U", "W", "R", "M"]),
                part,
            ).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        ),
        max_leaves=max_leaves,
    )


def recurrent_formulas(*, max_leaves=5):
    """Formulas about what happens again and again, or from some time on."""
    again = st.tuples(st.sampled_from(["GF", "FG"]), formulas(max_leaves=2)).map(
        lambda p: f"{p[0]}({p[1]})"
    )
    return st.recursive(
        again | PROPOSITIONS,
        lambda part: st.tuples(
            part, st.sampled_from(["&", "|", "->", "xor", "U", "W"]), part
        ).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        max_leaves=max_leaves,
    )


@st.composite
def mark_sets(draw, n, n_marks):
    """Bits of `n` sets of marks: dense ones, or each mark in two of them at most."""
    if n == 0 or draw(st.booleans()):
        marks = st.integers(0, (1 << n_marks) - 1)
        return draw(st.lists(marks, min_size=n, max_size=n))
    found = [0] * n
    for mark in range(n_marks):
        for place in draw(st.lists(st.integers(0, n - 1), max_size=2)):
            found[place] |= 1 << mark
    return found


#: Kinds of automata, as Schwoon & Esparza 2005, Sec. 5, tell them apart.
KINDS = ["any", "weak", "terminal", "inherently weak", "generalised"]

#: Labels over the propositions 0 = a, 1 = b, 2 = c.
HOA_LABELS = st.sampled_from(["t", "0", "1", "2", "!0", "!1", "0|1", "!0&!1&!2"])


@st.composite
def hoa_automata(draw, kind, *, max_states=5):
    """HOA text of an automaton of a kind, with self-loops, dead ends and loose parts.

    Those of kind "emerson-lei" have four marks and any condition over them.  In all
    but these, "any" and "generalised" a transition never lowers the rank of a
    state, and whether cycles accept is a matter of the rank.
    """
    n = draw(st.integers(1, max_states))
    states = st.integers(0, n - 1)
    triples = draw(
        st.lists(st.tuples(states, HOA_LABELS, states), min_size=1, max_size=3 * n)
    )
    condition = None
    if kind == "emerson-lei":
        n_marks = 4
        marks = list(map(marks_in, draw(mark_sets(len(triples), n_marks))))
        condition = str(draw(conditions(n_marks)))
    elif kind in ("any", "generalised"):
        least = 2 if kind == "generalised" else 0
        n_marks = draw(st.integers(least, 3 + (least > 0)))
        marks = list(map(marks_in, draw(mark_sets(len(triples), n_marks))))
    else:
        n_marks = 1
        ranks = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        accepting = draw(st.lists(st.booleans(), min_size=3, max_size=3))
        if kind == "terminal":
            ranks[n - 1], accepting = 2, [False, False, True]
            triples = [(s, x, t if ranks[s] < 2 else n - 1) for s, x, t in triples]
            triples += [(s, "t", n - 1) for s in range(n) if ranks[s] == 2]
        triples = [
            (s, x, t) if ranks[s] <= ranks[t] else (t, x, s) for s, x, t in triples
        ]
        marks = [
            {0}
            if accepting[ranks[s]] and (kind != "inherently weak" or t <= s)
            else set()
            for s, _, t in triples
        ]
    return _hoa(n, n_marks, triples, marks, condition)


def _hoa(n_states, n_marks, triples, marks, condition):
    condition = condition or "&".join(f"Inf({mark})" for mark in range(n_marks)) or "t"
    lines = [
        "HOA: v1",
        f"States: {n_states}",
        "Start: 0",
        'AP: 3 "a" "b" "c"',
        f"Acceptance: {n_marks} {condition}",
        "--BODY--",
    ]
    for state in range(n_states):
        lines.append(f"State: {state}")
        for (src, label, dst), sets in zip(triples, marks, strict=True):
            if src == state:
                shown = " {" + " ".join(map(str, sorted(sets))) + "}" if sets else ""
                lines.append(f"[{label}] {dst}{shown}")
    return "\n".join([*lines, "--END--", ""])


def conditions(n_marks, *, max_leaves=10):
    """Acceptance conditions over marks below `n_marks`, constants included."""
    marks = st.integers(0, n_marks - 1)
    return st.recursive(
        st.one_of(marks.map(inf), marks.map(fin), st.sampled_from([TRUE, FALSE])),
        lambda part: st.one_of(
            st.lists(part, min_size=2, max_size=4).map(conjunction),
            st.lists(part, min_size=2, max_size=4).map(disjunction),
        ),
        max_leaves=max_leaves,
    )


def generalised_rabin(n_marks):
    """Conditions with one to three pairs, each with Fin and Inf."""
    bits = st.integers(1, (1 << n_marks) - 1)
    pairs = st.tuples(bits, bits).map(lambda p: Clause(p[0] & ~p[1], p[1]))
    return st.lists(pairs, min_size=1, max_size=3).map(from_clauses)


@st.composite
def marked_cells(draw, n_states, n_cells, n_marks, *, max_edges):
    """Cells of a property table: for each some edges, a state and marks as bits."""
    cell = st.lists(st.integers(0, n_states - 1), max_size=max_edges)
    ends = draw(st.lists(cell, min_size=n_cells, max_size=n_cells))
    marks = iter(draw(mark_sets(sum(map(len, ends)), n_marks)))
    return [[(dst, next(marks)) for dst in cell] for cell in ends]


@st.composite
def tela_tables(draw, *, max_states=4, n_letters=4, n_marks=5, condition=None):
    """Property tables with any condition, as `table_of` makes them."""
    n = draw(st.integers(1, max_states))
    cells = draw(marked_cells(n, n * n_letters, n_marks, max_edges=2))
    return table_of(
        Draft(
            cells,
            n_letters=n_letters,
            initial=0,
            n_marks=n_marks,
            condition=draw(conditions(n_marks) if condition is None else condition),
        )
    )


@st.composite
def petri_nets(draw, *, max_places=5, max_transitions=5, max_weight=2, max_tokens=3):
    """Nets with weights, self-loops, and transitions that take or put nothing.

    Many are unbounded.
    """
    n = draw(st.integers(0, max_places))
    tokens = draw(st.lists(st.integers(0, max_tokens), min_size=n, max_size=n))
    arcs = st.just({})
    if n:
        weights = st.integers(1, max_weight)
        arcs = st.dictionaries(st.integers(0, n - 1), weights, max_size=3)
    sides = draw(st.lists(st.tuples(arcs, arcs), max_size=max_transitions))
    return PetriNet(
        [Place(f"p{k}", f"p{k}", m) for k, m in enumerate(tokens)],
        [
            Transition(f"t{k}", f"t{k}", pre, post)
            for k, (pre, post) in enumerate(sides)
        ],
    )
