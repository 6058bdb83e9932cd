"""Whether an automaton accepts all words that violate a formula: Spot decides.

The formula is translated without simplification, as for the replay of lassos
(`ltlpipe.automata.words`), and the automaton is complemented: no word may be in both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import parse_again, parse_automata
from ltlpipe.automata.translation import by_spot
from ltlpipe.logic.formulas import from_spot_text, spot_text
from ltlpipe.logic.propositions.parsing import boolean_formula
from ltlpipe.runtime import workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Job


def contains_violations(
    hoa: str,
    formula: Formula,
    *,
    constraint: str | None = None,
    never: Sequence[str],
    at_most_one: Sequence[str],
    combined: Sequence[str] = (),
) -> Job[bool]:
    """Decide whether an automaton accepts all words that violate a formula.

    Parameters
    ----------
    hoa : str
        The automaton.
    formula : Formula
        Its propositions may be more than those of the automaton.
    constraint : str, optional
        An automaton in HOA: only words that it accepts count.
    never : sequence of str
        Propositions that no word has.
    at_most_one : sequence of str
        Propositions of which each letter has at most one.
    combined : sequence of str
        Propositions about states, which may be Boolean combinations of others.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    answer: bool = yield from workers.call(
        "contains violations",
        phase="judging the automaton",
        hoa=hoa,
        formula=spot_text(formula.spot),
        constraint=constraint,
        never=list(never),
        at_most_one=list(at_most_one),
        combined=list(combined),
    )
    return answer


def are_contained(
    hoa: str,
    formula: str,
    constraint: str | None,
    never: list[str],
    at_most_one: list[str],
    combined: list[str],
) -> bool:
    """Do the work of `contains_violations`."""
    import spot

    absent = [spot.formula_G(spot.formula_Not(spot.formula_ap(n))) for n in never]
    violations = spot.formula_And([spot.formula_Not(from_spot_text(formula)), *absent])
    dictionary = spot.make_bdd_dict()
    automaton = parse_again(hoa, dictionary)
    wishes = "Generic", "Any", "Low"
    wanted = by_spot(lambda: spot.translate(violations, *wishes, dict=dictionary))
    if len(at_most_one) > 1:
        single = _one_at_a_time(at_most_one, dictionary)
        wanted = by_spot(lambda: spot.product(wanted, single))
    if constraint is not None:
        parse_automata(constraint, "constraint")  # refuses what would be costly
        allowed = parse_again(constraint, dictionary)
        wanted = by_spot(lambda: spot.product(wanted, allowed))
    if combined:
        consistent = _consistent(combined, dictionary)
        wanted = by_spot(lambda: spot.product(wanted, consistent))
    rest = by_spot(lambda: spot.complement(automaton))
    return not by_spot(lambda: wanted.intersects(rest))


def _one_at_a_time(names: Sequence[str], dictionary: Any) -> Any:
    """Return the automaton of the words whose letters have at most one of these."""
    import spot  # the first: it says where buddy is

    # isort: split
    import buddy

    graph = spot.make_twa_graph(dictionary)
    none, one = buddy.bddtrue, buddy.bddfalse
    for name in names:
        variable = graph.register_ap(name)
        yes, no = buddy.bdd_ithvar(variable), buddy.bdd_nithvar(variable)
        one = (one & no) | (none & yes)
        none = none & no
    graph.new_states(1)
    graph.new_edge(0, 0, none | one)
    return graph


def _consistent(propositions: Sequence[str], dictionary: Any) -> Any:
    """Return the automaton of the words in which combinations are what they combine."""
    import spot  # the first: it says where buddy is

    # isort: split
    import buddy

    graph = spot.make_twa_graph(dictionary)
    label = buddy.bddtrue
    for text in propositions:
        same = spot.formula_Equiv(spot.formula_ap(text), boolean_formula(text))
        label = label & spot.formula_to_bdd(same, dictionary, graph)
    graph.new_states(1)
    graph.new_edge(0, 0, label)
    return graph
