"""Tables over sets of propositions, by what each state tells apart."""

from __future__ import annotations

import random

import numpy as np
import pytest
import spot

from ltlpipe.automata.translation import table_over, table_over_sets
from tests.example_counts import examples

KINDS = (
    ("Buchi", "SBAcc"),
    ("GeneralizedBuchi",),
    ("Generic",),
    ("parity", "complete"),
)


def random_automaton(seed, n_propositions):
    """An automaton of a random formula, and its propositions with some others."""
    rng = random.Random(seed)
    names = [f"p{k}" for k in range(n_propositions)]
    formula = next(spot.randltl(names, seed=seed, tree_size=rng.randint(3, 14), n=1))
    automaton = spot.translate(formula, *rng.choice(KINDS))
    rng.shuffle(names)
    return automaton, names


@pytest.mark.parametrize("n_propositions", [0, 1, 3, 6])
def test_every_label_is_evaluated_at_every_letter(n_propositions):
    """The table is that which evaluates all labels at all letters, one by one."""
    for seed in range(examples(60)):
        automaton, names = random_automaton(seed, n_propositions or 1)
        if not n_propositions:
            automaton, names = spot.translate("1"), []
        letters = [
            {name for k, name in enumerate(names) if number >> k & 1}
            for number in range(1 << len(names))
        ]
        found = table_over_sets(automaton, names)
        expected = table_over(automaton, letters, "tela")
        for name, value in vars(expected).items():
            if isinstance(value, np.ndarray):
                own = getattr(found, name)
                assert own.dtype == value.dtype
                assert own.tolist() == value.tolist()
            else:
                assert getattr(found, name) == value


def test_many_propositions_cost_what_labels_cost():
    names = [f"p{k}" for k in range(18)]
    text = "G(" + " | ".join(names[:9]) + ") & GF(" + " & ".join(names[9:]) + ")"
    automaton = spot.translate(text, "GeneralizedBuchi")
    table = table_over_sets(automaton, names)
    assert table.n_letters == 1 << 18
    whole = (1 << 18) - 1
    assert np.diff(table.first_edge)[[0, 1, whole]].tolist() == [0, 1, 1]
    assert table.edge_marks[table.first_edge[whole]] == 1
