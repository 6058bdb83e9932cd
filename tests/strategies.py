"""Hypothesis strategies for what the package computes with."""

from __future__ import annotations

from hypothesis import strategies as st

from ltlpipe.systems.lts import LTS, Network

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
