"""Property tables as Spot sees them."""

from __future__ import annotations

from itertools import product

ACTIONS = ("a", "b", "c")
LETTERS = (None, *ACTIONS)  # by their numbers

#: Words of letters: prefix and cycle.
SHORT_WORDS = [
    (list(prefix), list(cycle))
    for k in range(2)
    for prefix in product(range(4), repeat=k)
    for m in range(1, 4)
    for cycle in product(range(4), repeat=m)
]


def as_spot(table, like):
    """A property table as a Spot automaton over the propositions of `like`."""
    import buddy
    import spot

    automaton = spot.make_twa_graph(like.get_dict())
    automaton.copy_ap_of(like)
    variables = {p.ap_name(): automaton.register_ap(p) for p in like.ap()}
    if table.condition is None:
        automaton.set_generalized_buchi(table.n_marks)
    else:
        automaton.set_acceptance(table.n_marks, spot.acc_code(str(table.condition)))
    automaton.new_states(table.n_states)
    automaton.set_init_state(table.initial)
    for src in range(table.n_states):
        for letter, held in enumerate(LETTERS):
            label = buddy.bddtrue
            for name, variable in variables.items():
                literal = buddy.bdd_ithvar if name == held else buddy.bdd_nithvar
                label &= literal(variable)
            at = src * table.n_letters + letter
            for edge in range(table.first_edge[at], table.first_edge[at + 1]):
                marks = int(table.edge_marks[edge])
                sets = [m for m in range(32) if marks >> m & 1]
                automaton.new_edge(src, int(table.edge_dst[edge]), label, sets)
    return automaton


def over_actions():
    """An automaton over the actions alone, for its propositions."""
    import spot

    like = spot.make_twa_graph(spot.make_bdd_dict())
    for name in ACTIONS:
        like.register_ap(name)
    return like


def small_complement(automaton):
    """The complement, or None where it becomes large."""
    import spot

    try:
        return spot.complement(automaton, spot.output_aborter(300, 5000))
    except RuntimeError:  # more than 32 acceptance sets
        return None
