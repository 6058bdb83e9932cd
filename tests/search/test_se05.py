"""The nested search of Schwoon & Esparza 2005, Fig. 3, by known answers."""

from __future__ import annotations

import pytest

from ltlpipe import UnsupportedError
from ltlpipe.search.registers import Status
from tests.search.explicit_automata import Explicit, explicit, run


@pytest.mark.parametrize(
    ("accepting", "transitions"), [({0}, 3), ({1}, 5)], ids=["blue", "red"]
)
def test_lasso_of_a_ring(accepting, transitions):
    """Blue closes the ring if 0 is marked, red if 1 is (Fig. 3, lines 6-8, 18-19)."""
    outcome = run("se05", explicit(3, [(0, 1), (1, 2), (2, 0)], accepting))

    assert outcome.status == Status.FOUND
    assert outcome.transitions == transitions


def test_blue_search_sees_the_cycle_of_figure_2b():
    """The transition back to an accepting state reports without a red search."""
    edges = [(0, 1), (1, 0), (1, 2), (2, 3)]
    outcome = run("se05", explicit(4, edges, {0}))

    assert outcome.status == Status.FOUND
    assert outcome.transitions == 3  # of states 0 and 1 only


def test_red_search_stops_at_a_cyan_state():
    """As in Fig. 2 (a): the red search from 1 ends at 0, which is cyan."""
    outcome = run("se05", explicit(2, [(0, 1), (1, 0)], {1}))

    assert outcome.status == Status.FOUND
    assert (outcome.states, outcome.transitions) == (2, 2)


def test_red_states_are_not_searched_again():
    """Two seeds share what lies below them; it becomes red once.

    Blue looks at all 5 transitions; red from 2 at one, from 1 at one more and
    then meets red states only.
    """
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4)]
    outcome = run("se05", explicit(5, edges, {1, 2}))

    assert outcome.status == Status.EMPTY
    # blue 5; red from 2: 2->3, 3->4, 4->4; red from 1: 1->2 (red)
    assert outcome.transitions == 5 + 3 + 1


@pytest.mark.parametrize(
    "automaton",
    [
        Explicit(2, 1, ((0, 1, 1), (0, 0, 0), (1, 0, 0))),
        Explicit(1, 2, ((0, 3, 0),)),
    ],
    ids=["marks-on-transitions", "two-marks"],
)
def test_other_acceptance_is_refused(automaton):
    """The search would answer wrongly, so it does not begin."""
    with pytest.raises(UnsupportedError, match="one acceptance mark on states"):
        run("se05", automaton)
