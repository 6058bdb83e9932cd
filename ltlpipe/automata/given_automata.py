"""Automata as users have them, as properties and as systems.

A property is in HOA, a never claim of Spin, or an automaton of LBTT.  Whatever the text
says is translated to one nondeterministic automaton with one initial state: several of
them are joined, and alternation is removed where Spot can do so, in weak automata.  A
short label can have a BDD that fills any memory, removing alternation is exponential,
and nothing stops Spot: `parse_job` lets a worker go first.

Sources: those of `ltlpipe.automata.hoa`; G. J. Holzmann, "The Spin Model Checker",
2003, for never claims; H. Tauriainen, "lbtt 1.2.1 user's guide", for its automata.

A system is a graph in HOA: a Kripke structure, or an automaton.  Spot reads a Kripke
structure if it is asked for one, and then crashes on alternation; so it first reads an
automaton.  The label of a state without edges gets lost in both: here such states get
an edge to themselves while Spot reads them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.hoa import (
    END_OF_ALIAS,
    parse_sections,
    parsed,
    refuse_implausible,
    sections_of,
)
from ltlpipe.logic.formulas import fold
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import Opening, name_of, read, starts_with
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.automata.hoa import Section
    from ltlpipe.runtime.files import Source
    from ltlpipe.runtime.jobs import Job

_OTHER = r"never\b|\d+\s+\d+[st]*\s"
EXPECTED = "an automaton in HOA ('HOA: v1'), a never claim, or an automaton of LBTT"
_OPENING = Opening(re.compile(rf"HOA:|{_OTHER}"), EXPECTED)
_OTHER_OPENING = Opening(re.compile(_OTHER), EXPECTED)
_HEAD = 1 << 16  # characters in which a text begins
_IS_TEXT = re.compile(r"\s*(?:HOA:|never\s*\{)|[^\n]*\n")


def is_text(given: str) -> bool:
    """Whether something is the text of an automaton, and not a path."""
    return _IS_TEXT.match(given) is not None


def parse_automata(text: str, file: str) -> list[Any]:
    """Parse all automata of a text with Spot.

    The file's name is for messages; it is not opened.  There is at least one automaton;
    each has a BDD dictionary of its own, and the states of the file where it has one
    initial state and is not alternating.

    Raises
    ------
    InputError
        `text` is no automaton, ends early, or has more than 32 marks; names file and
        line.
    UnsupportedError
        An automaton is alternating, and not weak.
    """
    return list(_automata(text, file))


def _automata(text: str, file: str) -> Iterator[Any]:
    if starts_with(text[:_HEAD].encode(errors="replace"), _OTHER_OPENING):
        refuse_implausible(text, len(text), file)
        found = list(parsed(text, file))
        if not found:
            raise InputError(f"expected {EXPECTED}", file=file, line=1)
        yield from found
        return
    for automaton, section in sections_of(text, file):
        place = f"{file}:{section.line}: {section}"
        yield (
            automaton if automaton.is_existential() else _existential(automaton, place)
        )


def _existential(automaton: Any, place: str) -> Any:
    """Return an automaton of the same words that is not alternating."""
    import spot

    try:
        found = spot.remove_alternation(automaton)
        found.prop_reset()  # Spot 2.13 can leave one that is wrong
        return found
    except RuntimeError:
        raise UnsupportedError(
            f"{place} is alternating and not weak: Spot removes alternation of weak "
            "automata only"
        ) from None


def parse_job(text: str, file: str) -> Job[list[Any]]:
    """Return the job that parses as `parse_automata`, but can be stopped.

    A worker parses the text first, and what it writes.  That is parsed here: equal
    automata, whose labels have shown to be harmless in time and memory.
    """
    automata: list[Any] = []
    for one in (yield from normalised(text, file)):
        automata += parsed(one, file)
        yield Progress("reading", len(one))
    return automata


@remote("reading")
def normalised(text: str, file: str) -> list[str]:
    """Return each automaton of a text as Spot writes it."""
    texts: list[str] = []
    for automaton in parse_automata(text, file):
        # Else Spot would say of more automata that their marks are on states.
        on_states = automaton.prop_state_acc().is_true()
        texts.append(automaton.to_str("hoa", "s" if on_states else "t"))
        list(parsed(texts[-1], file))
    return texts


def read_automaton(source: Source, name: str | None = None) -> Any:
    """Read the one automaton, of any acceptance, that a file holds.

    If the file may hold several, `name` says which.  Its states are numbered as in the
    file, which may be compressed.

    Raises
    ------
    InputError
        The file cannot be read, is no automaton, or does not hold exactly one (of that
        name).
    UnsupportedError
        As `parse_automata`.
    """
    return complete(read_job(source, name))


def read_job(source: Source, name: str | None = None) -> Job[Any]:
    """Return the job that `read_automaton` runs."""
    file = name_of(source)
    text = yield from read(source, opening=_OPENING)
    automata = yield from parse_job(text, file)
    called = ""
    if name is not None:
        automata = [one for one in automata if one.get_name() == name]
        called = f" called {name!r}"
    if len(automata) != 1:
        message = f"expected one automaton{called}, found {len(automata)}"
        raise InputError(message, file=file)
    return automata[0]


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
