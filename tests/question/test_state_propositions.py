"""Propositions about states are no actions of a network that are mistyped."""

import pytest

import ltlpipe
from ltlpipe import LTS, FormulaError, Network

SYSTEM = Network([LTS.from_transitions([(0, "send", 1), (1, "PUT !1", 0)])])


@pytest.mark.parametrize(
    ("formula", "position", "offered"),
    [
        ("G(send >= 1)", 2, "such as 'send', which"),
        ('F P_1=="CS"', 2, "such as 'send' or 'PUT !1', which"),
        ('F action=="send"', 2, "such as 'send', which"),
        ("F fireable(send)", 11, "such as 'send', which"),
        ("F t[1] != send + 1", 2, "such as 'send', which"),
        ('F "send >= 1"', 3, "such as 'send', which"),
    ],
)
def test_refused_with_what_to_write(formula, position, offered):
    with pytest.raises(FormulaError, match="has actions and no variables") as caught:
        ltlpipe.check(SYSTEM, formula)

    assert offered in caught.value.message
    assert caught.value.position == position


def test_refused_in_automata():
    import spot

    automaton = spot.translate(spot.formula_ap("P_1=='CS'"))
    with pytest.raises(FormulaError, match="has actions and no variables"):
        ltlpipe.check(SYSTEM, automaton=automaton)


@pytest.mark.parametrize("name", ["PUT !1", "a>1", "x == y", "f(x)"])
def test_names_of_actions_may_look_like_comparisons(name):
    system = Network([LTS.from_transitions([(0, name, 0)])])

    assert ltlpipe.check(system, f'G "{name}"').verdict == "holds"


@pytest.mark.parametrize("name", ["PUT !2", "a-b", "other"])
def test_other_names_are_only_unknown(name):
    with pytest.raises(FormulaError, match="no action of the system"):
        ltlpipe.check(SYSTEM, f'G !"{name}"')


def test_unknown_names_that_never_happen_are_still_no_states():
    with pytest.raises(FormulaError, match="has actions and no variables"):
        ltlpipe.check(SYSTEM, "G(send >= 1)", unknown="never")
