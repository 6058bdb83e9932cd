"""Hanoi omega-automata (HOA), read by Spot and handed on as integers.

`parse_automata` gives Spot's own automata, for properties; `read_buchi` gives
plain tuples, for the components of a system, so that nothing behind this room
needs Spot.

Source: T. Babiak, F. Blahoudek, A. Duret-Lutz, J. Klein, J. Kretinsky,
D. Mueller, D. Parker and J. Strejcek, "The Hanoi Omega-Automata Format",
CAV 2015, LNCS 9206, pp. 479-486, and the description of version 1 of the
format that it points to.

Differences from the source: exactly one ``Start:`` with one state (Spot would
add a state for several, and the numbers of states would no longer be the
file's), no alternation, and no number that the length of the file cannot
account for (``States: 4000000000`` would cost its memory before Spot notices).
An edge whose label is false is no edge.  Aliases use declared propositions only
(Spot 2.13 crashes on others if they stand before ``AP:``).

Spot runs a file name, or a text, that ends in ``|`` as a shell command if it
is given to ``spot.automata``: here Spot only ever sees text that we have read,
with a line break at its end, under a name of our own.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import Opening, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.files import StrPath

HOA_OPENING = Opening(re.compile("HOA:"), "an automaton in HOA ('HOA: v1')")

# What ends the present kind of text, and what opens another: by its opener.
_BOUNDARIES = {
    "": re.compile(r'"|/\*'),
    '"': re.compile(r'\\.|"', re.DOTALL),
    "/*": re.compile(r"/\*|\*/"),
}
_EXPECTED = "expected an automaton in HOA ('HOA: v1')"
_UNFINISHED = "unexpected end of file, expected --END--"
_END = re.compile(r"--(?:END|ABORT)--")
_START = re.compile(r"(?<![A-Za-z_-])Start:")
# Shorter numbers are always plausible; names and aliases may hold any digits.
_LONG_NUMBER = re.compile(r"(?<![A-Za-z0-9_@])[0-9]{6,}")
_PROPOSITIONS = re.compile(r"(?<![A-Za-z_-])AP:\s*([0-9]+)")
_IDENTIFIER = re.compile(r"[@A-Za-z_][\w-]*")
_END_OF_ALIAS = re.compile(r":|--BODY--|\Z")  # up to the next item of the header
_TOO_MANY_MARKS = "such a large number of acceptance sets"
_MESSAGE = re.compile(r"^hoa:(\d+)\.[-\d.]*: (.*)", re.MULTILINE)


@dataclass(frozen=True)
class BuchiAutomaton:
    """A Büchi automaton over words of single propositions.

    Parameters
    ----------
    name : str
        The ``name:`` of the file, or "".
    propositions : tuple of str
        In the order of the file's ``AP:``.
    n_states, initial : int
        As numbered in the file.
    edges : tuple of (src, dst, letters)
        `letters` are the indices of the propositions that satisfy the edge's
        label when they hold alone: at least one, ascending.
    accepting : tuple of bool, optional
        One flag per state; None if every run is accepting.
    """

    name: str
    propositions: tuple[str, ...]
    n_states: int
    initial: int
    edges: tuple[tuple[int, int, tuple[int, ...]], ...]
    accepting: tuple[bool, ...] | None


class _Section(NamedTuple):
    """The text of one automaton, strings and comments blanked."""

    number: int  # of the automaton in its file, from 1
    code: str
    line: int  # on which `code` begins, from 1
    file: str

    def line_of(self, position: int) -> int:
        return self.line - 1 + _line(self.code, position)

    def line_of_state(self, state: int) -> int:
        definition = rf"(?<![\w-])State:\s*(?:\[[^\]]*\]\s*)?{state}\b"
        found = re.search(definition, self.code)
        return self.line if found is None else self.line_of(found.start())

    def __str__(self) -> str:
        return f"automaton {self.number}"


def parse_automata(text: str, file: str) -> list[Any]:
    """Parse all automata of a HOA text with Spot.

    Parameters
    ----------
    text : str
        What the file holds.
    file : str
        Its name, for messages; it is not opened.

    Returns
    -------
    list of spot.twa_graph
        At least one, each with a BDD dictionary of its own, its states numbered
        as in the file.

    Raises
    ------
    InputError
        `text` is not HOA, ends early, or has more than 32 marks; names file and line.
    UnsupportedError
        An automaton has several initial states, or alternation.
    """
    return [automaton for automaton, _ in _parse(text, file)]


def read_automaton(path: StrPath, name: str | None = None) -> Any:
    """Read the one automaton, of any acceptance, that a HOA file holds.

    Parameters
    ----------
    path : path
        The file, also compressed.
    name : str, optional
        What the automaton is called, if the file may hold several.

    Returns
    -------
    spot.twa_graph
        Its states numbered as in the file.

    Raises
    ------
    InputError
        The file cannot be read, is not HOA, or does not hold exactly one automaton
        (of that name).
    UnsupportedError
        As `parse_automata`.
    """
    file = os.fspath(path)
    automata = parse_automata(read_text(path, opening=HOA_OPENING), file)
    called = ""
    if name is not None:
        automata = [one for one in automata if one.get_name() == name]
        called = f" called {name!r}"
    if len(automata) != 1:
        message = f"expected one automaton{called}, found {len(automata)}"
        raise InputError(message, file=file)
    return automata[0]


def read_buchi(text: str, file: str) -> list[BuchiAutomaton]:
    """Read the Büchi automata of a HOA text.

    Parameters and errors are those of `parse_automata`.  Besides, an edge that
    no proposition satisfies alone is an InputError, and acceptance other than
    ``Inf(0)`` on states or ``t`` an UnsupportedError.
    """
    return [_as_buchi(automaton, section) for automaton, section in _parse(text, file)]


def _parse(text: str, file: str) -> list[tuple[Any, _Section]]:
    """Parse with Spot; every automaton comes with its section of the text."""
    _refuse_unfinished(text, file)
    sections = list(_sections(text, file))
    automata = list(_spot_automata(text, file))
    if len(automata) != len(sections):
        raise InputError(_EXPECTED, file=file)
    for automaton, section in zip(automata, sections, strict=True):
        _refuse_hidden(automaton, section)
    return list(zip(automata, sections, strict=True))


def _refuse_unfinished(text: str, file: str) -> None:
    """Refuse what begins or ends wrongly, before any costly look at it."""
    if not re.match(r"\s*(?:HOA:|/\*)", text):
        begin = len(text) - len(text.lstrip())
        raise InputError(_EXPECTED, file=file, line=_line(text, begin))
    if "--END--" not in text and "--ABORT--" not in text:
        raise InputError(_UNFINISHED, file=file, line=_line(text.rstrip()))


def _sections(text: str, file: str) -> Iterator[_Section]:
    """Cut the text at every ``--END--``; nothing but HOA reaches Spot's parser."""
    code = _without_strings_and_comments(text)
    _refuse_implausible(code, len(text), file)
    begin = 0
    for number, end in enumerate(_END.finditer(code), start=1):
        begin = _skip_blanks(code, begin)
        if not code.startswith("HOA:", begin):
            raise InputError(_EXPECTED, file=file, line=_line(code, begin))
        if end.group() == "--ABORT--":
            message = f"automaton {number} is aborted"
            raise InputError(message, file=file, line=_line(code, end.start()))
        body = code[begin : end.start()]
        section = _Section(number, body, _line(code, begin), file)
        _refuse_wild_aliases(section)
        yield section
        begin = end.end()
    begin = _skip_blanks(code, begin)
    if code.startswith("HOA:", begin):
        raise InputError(_UNFINISHED, file=file, line=_line(code.rstrip()))
    if begin < len(code):
        raise InputError(_EXPECTED, file=file, line=_line(code, begin))


def _skip_blanks(code: str, begin: int) -> int:
    found = re.compile(r"\S").search(code, begin)
    return len(code) if found is None else found.start()


def _line(text: str, position: int | None = None) -> int:
    """Return the line of a position, by default the last one; counted from 1."""
    return 1 + text.count("\n", 0, position)


def _without_strings_and_comments(text: str) -> str:
    """Replace them by blanks; line breaks stay (comments of HOA nest)."""
    pieces: list[str] = []
    opened: list[str] = []  # the openers of the strings and comments we are in
    kept = position = 0
    while match := _BOUNDARIES[opened[-1] if opened else ""].search(text, position):
        position = match.end()
        boundary = match.group()
        if boundary.startswith("\\"):
            continue
        if not opened:
            pieces += [text[kept : match.start()], " "]
            kept = match.start()
            opened.append(boundary)
        elif boundary == "/*":
            opened.append(boundary)
        else:
            opened.pop()
            if not opened:
                pieces.append("\n" * text.count("\n", kept, position))
                kept = position
    if not opened:
        pieces.append(text[kept:])
    return "".join(pieces)


def _refuse_implausible(code: str, length: int, file: str) -> None:
    """Refuse numbers, of states above all, beyond what the file can define."""
    for number in _LONG_NUMBER.finditer(code):
        if len(number.group()) > 12 or int(number.group()) > length:
            message = (
                f"the number {number.group()[:20]} is beyond what the file defines"
            )
            raise InputError(message, file=file, line=_line(code, number.start()))


def _refuse_wild_aliases(section: _Section) -> None:
    """Refuse aliases with undeclared propositions."""
    declared = min(map(int, _PROPOSITIONS.findall(section.code)), default=0)
    for alias in re.finditer("Alias:", section.code):
        end = _END_OF_ALIAS.search(section.code, alias.end())
        expression = section.code[alias.end() : end.start() if end else None]
        for number in re.findall(r"[0-9]+", _IDENTIFIER.sub("", expression)):
            if int(number) >= declared:
                message = f"proposition {number} in an alias, expected one of 'AP:'"
                line = section.line_of(alias.start())
                raise InputError(message, file=section.file, line=line)


def _spot_automata(text: str, file: str) -> Iterator[Any]:
    import spot

    options = spot.automaton_parser_options()
    stream = spot.automaton_stream_parser(text + "\n", "hoa", options)
    while True:
        parsed = stream.parse(spot.make_bdd_dict())
        messages = spot.ostringstream()
        if parsed.format_errors(messages):
            raise _input_error(messages.str(), file, text)
        if parsed.aut is None:
            return
        yield parsed.aut


def _input_error(messages: str, file: str, text: str) -> InputError:
    """Turn Spot's messages (``hoa:11.6-8: ...``) into one error."""
    found = _MESSAGE.search(messages)
    if found is None:
        return InputError(messages.strip(), file=file)
    line = min(int(found.group(1)), _line(text.rstrip()))
    if _TOO_MANY_MARKS in found.group(2):
        message = "more acceptance marks than 32, the limit of Spot and ltlpipe"
        return InputError(message, file=file, line=line)
    return InputError(found.group(2), file=file, line=line)


def _refuse_hidden(automaton: Any, section: _Section) -> None:
    """Refuse what Spot would hide behind states of its own making."""
    place = f"{section.file}:{section.line}: {section}"
    n_starts = len(_START.findall(section.code))
    if n_starts == 0:
        message = f"{section} has no initial state, expected 'Start:'"
        raise InputError(message, file=section.file, line=section.line)
    if n_starts > 1:
        raise UnsupportedError(
            f"{place} has {n_starts} initial states; Spot's 'autfilt' merges them"
        )
    if not automaton.is_existential():
        raise UnsupportedError(
            f"{place} is alternating; Spot's 'autfilt -B -S' makes it nondeterministic"
        )


def _as_buchi(automaton: Any, section: _Section) -> BuchiAutomaton:
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
    )


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


def _accepting(automaton: Any, section: _Section) -> tuple[bool, ...] | None:
    """Return the accepting states; None if the acceptance is ``t``."""
    place = f"{section.file}:{section.line}: {section}"
    if automaton.acc().is_t():
        return None
    if not automaton.acc().is_buchi():
        raise UnsupportedError(
            f"{place} has the acceptance {automaton.get_acceptance()}, expected"
            " Inf(0) or t; Spot's 'autfilt -B -S' converts it (generalised Büchi"
            " components want --accepting each then)"
        )
    marked: dict[int, bool] = {}
    for edge in automaton.edges():
        if marked.setdefault(edge.src, bool(edge.acc)) != bool(edge.acc):
            raise UnsupportedError(
                f"{place}, state {edge.src}: acceptance on edges, expected it on"
                " states; Spot's 'autfilt -B -S' converts it"
            )
    return tuple(marked.get(s, False) for s in range(automaton.num_states()))
