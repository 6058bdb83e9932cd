"""Spot's formulas and BDDs of valuations, graphs of edges, and where Spot gives up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import TypeVar

    Answer = TypeVar("Answer")


def conjunction(literals: Mapping[str, Any]) -> Any:
    """Return the formula that says of some propositions whether they hold."""
    import spot

    return spot.formula_And(
        [
            spot.formula_ap(name) if holds else spot.formula_Not(spot.formula_ap(name))
            for name, holds in literals.items()
        ]
    )


def relabelled(formula: Any, meaning: Mapping[str, Any]) -> Any:
    """Return a formula with formulas for some of its propositions."""
    import spot

    known = spot.relabeling_map()
    for name, meant in meaning.items():
        known[spot.formula_ap(name)] = meant
    return spot.relabel_apply(formula, known)


def cube(literals: Iterable[tuple[int, Any]]) -> Any:
    """Return the BDD that says of some variables whether they hold."""
    import spot  # noqa: F401  (the first: it says where buddy is)

    # isort: split
    import buddy

    found = buddy.bddtrue
    for variable, holds in sorted(
        literals, reverse=True
    ):  # so each step costs the same
        literal = buddy.bdd_ithvar if holds else buddy.bdd_nithvar
        found = literal(variable) & found
    return found


def valuation(graph: Any, holding: Collection[str]) -> Any:
    """Return the BDD of the valuation of a graph's propositions in which some hold."""
    propositions = graph.ap()
    return cube((graph.register_ap(p), p.ap_name() in holding) for p in propositions)


def automaton_of(
    n_states: int,
    edges: Iterable[tuple[Any, ...]],
    *,
    like: Any = None,
    initial: int = 0,
    n_marks: int = 0,
    acceptance: str | None = None,
    names: Sequence[str] = (),
) -> Any:
    """Return a Spot automaton with these edges: source, target, label, maybe marks.

    It has the propositions, and the BDD dictionary, of another one, and generalised
    Büchi acceptance or the one that is given as HOA writes it.  States may have names.
    """
    import spot

    dictionary = spot.make_bdd_dict() if like is None else like.get_dict()
    made = spot.make_twa_graph(dictionary)
    if like is not None:
        made.copy_ap_of(like)
    made.set_generalized_buchi(n_marks)
    if acceptance is not None:
        made.set_acceptance(n_marks, spot.acc_code(acceptance))
    made.new_states(n_states)
    made.set_init_state(initial)
    for edge in edges:
        made.new_edge(*edge)
    if names:
        made.set_state_names(list(names))
    return made


def by_spot(work: Callable[[], Answer], what: str = "build the automaton") -> Answer:
    """Run `work`, with what Spot raises turned into an error of ours."""
    try:
        return work()
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedError(f"Spot cannot {what}: {reason}") from error
