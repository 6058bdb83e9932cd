"""Büchi automata over single propositions, read from HOA and handed on as integers.

The components of a system are such automata; nothing behind this room needs Spot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import parse_sections
from ltlpipe.runtime.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from ltlpipe.automata.hoa import Section


@dataclass(frozen=True)
class BuchiAutomaton:
    """A Büchi automaton over words of single propositions.

    The letters of an edge are the indices of the propositions that satisfy its label
    when they hold alone: at least one, ascending.
    """

    name: str  # the ``name:`` of the file, or ""
    propositions: tuple[str, ...]  # in the order of the file's ``AP:``
    n_states: int
    initial: int  # as numbered in the file
    edges: tuple[tuple[int, int, tuple[int, ...]], ...]  # (src, dst, letters)
    accepting: tuple[bool, ...] | None  # by state; None if every run is accepting
    state_names: tuple[str, ...] | None = None  # where the file names states


def read_buchi(text: str, file: str) -> list[BuchiAutomaton]:
    """Read the Büchi automata of a HOA text.

    Parameters and errors are those of `ltlpipe.automata.hoa.parse_automata`.
    Besides, an edge that no proposition satisfies alone is an InputError, and
    acceptance other than ``Inf(0)`` on states or ``t`` an UnsupportedError.
    """
    return [
        _as_buchi(automaton, section)
        for automaton, section in parse_sections(text, file)
    ]


def _as_buchi(automaton: Any, section: Section) -> BuchiAutomaton:
    import buddy

    propositions = automaton.ap()
    variables = [automaton.register_ap(p) for p in propositions]
    exactly_one = _exactly_one(variables)
    letters_of: dict[int, tuple[int, ...]] = {}  # by BDD node, a label's letters
    edges = []
    for edge in automaton.edges():
        if edge.cond == buddy.bddfalse:
            continue  # Spot's way to keep the acceptance of a state without edges
        label = edge.cond.id()
        if label not in letters_of:
            letters_of[label] = _letters(edge.cond, exactly_one, variables)
        if not letters_of[label]:
            message = (
                f"{section}, state {edge.src}: no proposition satisfies an edge alone"
            )
            line = section.line_of_state(edge.src)
            raise InputError(message, file=section.file, line=line)
        edges.append((edge.src, edge.dst, letters_of[label]))
    return BuchiAutomaton(
        name=automaton.get_name() or "",
        propositions=tuple(p.ap_name() for p in propositions),
        n_states=automaton.num_states(),
        initial=automaton.get_init_state_number(),
        edges=tuple(edges),
        accepting=_accepting(automaton, section),
        state_names=_state_names(automaton),
    )


def _state_names(automaton: Any) -> tuple[str, ...] | None:
    """Return the names of the states, if some state has one that is no number."""
    found = automaton.get_state_names()
    names = [] if found is None else [str(name) for name in found]
    if all(not name or name.isdecimal() for name in names):
        return None
    names += [""] * (automaton.num_states() - len(names))
    return tuple(name or str(state) for state, name in enumerate(names))


def _exactly_one(variables: list[int]) -> Any:
    """Return the BDD of the assignments under which one variable holds."""
    import buddy

    none, one = buddy.bddtrue, buddy.bddfalse
    for variable in sorted(variables, reverse=True):
        one = buddy.bdd_ite(buddy.bdd_ithvar(variable), none, one)
        none = none & buddy.bdd_nithvar(variable)
    return one


def _letters(label: Any, exactly_one: Any, variables: list[int]) -> tuple[int, ...]:
    """Return the propositions that satisfy a label when they hold alone.

    In the conjunction with `exactly_one` all variables are false along the low
    branches, and a variable may be the one that holds iff its high branch is
    not false: one walk down the low branches sees them all.
    """
    import buddy

    index = {variable: i for i, variable in enumerate(variables)}
    letters = []
    node = label & exactly_one
    while node != buddy.bddfalse:
        if buddy.bdd_high(node) != buddy.bddfalse:
            letters.append(index[buddy.bdd_var(node)])
        node = buddy.bdd_low(node)
    return tuple(sorted(letters))


def _accepting(automaton: Any, section: Section) -> tuple[bool, ...] | None:
    """Return the accepting states; None if the acceptance is ``t``."""
    place = f"{section.file}:{section.line}: {section}"
    if automaton.acc().is_t():
        return None
    if not automaton.acc().is_buchi():
        raise UnsupportedError(
            f"{place} has the acceptance {automaton.get_acceptance()}, expected"
            " Inf(0) or t; Spot's 'autfilt -B -S' converts it (generalised Büchi"
            " components want --network-acceptance=each then)"
        )
    marked: dict[int, bool] = {}
    for edge in automaton.edges():
        if marked.setdefault(edge.src, bool(edge.acc)) != bool(edge.acc):
            raise UnsupportedError(
                f"{place}, state {edge.src}: acceptance on edges, expected it on"
                " states; Spot's 'autfilt -B -S' converts it"
            )
    return tuple(marked.get(s, False) for s in range(automaton.num_states()))
