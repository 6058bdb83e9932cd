"""Files in HOA as graphs that are systems: Kripke structures, or automata.

Spot reads a Kripke structure if it is asked for one, and then crashes on alternation;
so it first reads an automaton.  The label of a state without edges gets lost in both:
here such states get an edge to themselves while Spot reads them.

Source: that of `ltlpipe.automata.hoa`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.hoa import END_OF_ALIAS, parse_sections, parsed
from ltlpipe.logic.formulas import fold
from ltlpipe.runtime.errors import InputError

if TYPE_CHECKING:
    from ltlpipe.automata.hoa import Section

_STATE = re.compile(r"(?<![A-Za-z_-])State:\s*(?:\[[^\]]*\])?\s*([0-9]+)")
_BODY = "--BODY--"


class Parsed(NamedTuple):
    """A graph of Spot, and the states that have an edge to themselves for its sake."""

    graph: Any
    looped: frozenset[int] = frozenset()


def parse_graph(text: str, file: str) -> Parsed:
    """Return the one graph in a text: a Kripke structure if its labels are on states.

    Raises
    ------
    InputError, UnsupportedError
        As for `parse_sections`; or there are several, or some labels are on states and
        others on edges, or a Kripke structure has another acceptance than ``t``.
    """
    found = parse_sections(text, file)
    if len(found) > 1:
        message = f"expected one automaton or Kripke structure, found {len(found)}"
        raise InputError(message, file=file)
    automaton, section = found[0]
    if not section.labels_states:
        return Parsed(automaton)
    if automaton.num_sets():
        message = "a Kripke structure with acceptance, expected 'Acceptance: 0 t'"
        raise InputError(message, file=file, line=section.line)
    states = range(automaton.num_states())
    ends = frozenset(s for s in states if not any(True for _ in automaton.out(s)))
    graph = next(parsed(_with_loops(automaton, section, ends), file, kripke=True))
    graph.set_name(automaton.get_name() or "")
    return Parsed(graph, ends)


def _with_loops(automaton: Any, section: Section, ends: frozenset[int]) -> str:
    """Return the text of a section, with an edge from each of some states to itself.

    Lines have the numbers that they have in the file; names of states are gone.
    """
    header, _, body = section.code.partition(_BODY)
    names = [
        '"' + re.sub(r'(["\\])', r"\\\1", p.ap_name()) + '"' for p in automaton.ap()
    ]
    aliases = []
    for alias in re.finditer(r"Alias:\s*@[\w-]+", header):
        end = END_OF_ALIAS.search(header, alias.end())
        assert end is not None
        name = re.compile(r"[\w-]+$").search(header, alias.end(), end.start())
        stop = end.start() if end[0] != ":" or name is None else name.start()
        aliases.append(" ".join(header[alias.start() : stop].split()))
    items = [
        f"HOA: v1 States: {automaton.num_states()}",
        f"Start: {automaton.get_init_state_number()}",
        " ".join([f"AP: {len(names)}", *names]),
        *aliases,
        f"Acceptance: 0 t properties: state-labels {_BODY}",
    ]
    body = _STATE.sub(lambda s: f"{s[0]} {s[1]}" if int(s[1]) in ends else s[0], body)
    before = "\n" * (section.line - 1)
    return f"{before}{' '.join(items)}{_breaks(header)}{body}--END--"


def _breaks(text: str) -> str:
    return "\n" * text.count("\n")


def label_text(graph: Any, condition: Any) -> str:
    """Return a condition as a label in HOA, with the numbers of propositions."""
    import spot

    numbers = {p.ap_name(): str(k) for k, p in enumerate(graph.ap())}
    signs = {"And": "&", "Or": "|"}

    def combine(node: Any, kind: str, parts: list[str]) -> str:
        if kind in ("tt", "ff"):
            return kind[0]
        if kind == "ap":
            return numbers[node.ap_name()]
        return f"!{parts[0]}" if kind == "Not" else f"({signs[kind].join(parts)})"

    return fold(spot.bdd_to_formula(condition, graph.get_dict()), combine)
