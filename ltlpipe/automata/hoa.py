"""Hanoi omega-automata (HOA), read by Spot.

`parse_sections` gives Spot's own automata; `read_buchi` what the components of a system
are made of, as integers.  Property automata, and graphs as systems, are read in
`ltlpipe.automata.given_automata`.

Source: T. Babiak, F. Blahoudek, A. Duret-Lutz, J. Klein, J. Kretinsky,
D. Mueller, D. Parker and J. Strejcek, "The Hanoi Omega-Automata Format",
CAV 2015, LNCS 9206, pp. 479-486, and the description of version 1 of the
format that it points to.

Differences from the source: exactly one ``Start:`` with one state (Spot would
add a state for several, and the numbers of states would no longer be the
file's), no alternation, and no number that the length of the file cannot
account for (``States: 4000000000`` would cost its memory before Spot notices);
property automata may have several initial states, and alternation.
An edge whose label is false is no edge.  Aliases use declared propositions only
(Spot 2.13 crashes on others if they stand before ``AP:``).

Spot runs a file name, or a text, that ends in ``|`` as a shell command if it
is given to ``spot.automata``: here Spot only ever sees text that we have read,
with a line break at its end, under a name of our own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.workers import can_send

if TYPE_CHECKING:
    from collections.abc import Iterator

# What ends the present kind of text, and what opens another: by its opener.
_BOUNDARIES = {
    "": re.compile(r'"|/\*'),
    '"': re.compile(r'\\.|"', re.DOTALL),
    "/*": re.compile(r"/\*|\*/"),
}
_ESCAPED = re.compile(r'["\\]')
_EXPECTED = "expected an automaton in HOA ('HOA: v1')"
_UNFINISHED = "unexpected end of file, expected --END--"
_END = re.compile(r"--(?:END|ABORT)--")
_START = re.compile(r"(?<![A-Za-z_-])Start:")
_STATE_LABEL = re.compile(r"(?<![A-Za-z_-])State:\s*\[")
# Shorter numbers are always plausible; names and aliases may hold any digits.
_LONG_NUMBER = re.compile(r"(?<![A-Za-z0-9_@])[0-9]{6,}")
_PROPOSITIONS = re.compile(r"(?<![A-Za-z_-])AP:\s*([0-9]+)")
_IDENTIFIER = re.compile(r"[@A-Za-z_][\w-]*")
END_OF_ALIAS = re.compile(r":|--BODY--|\Z")  # up to the next item of the header
_TOO_MANY_MARKS = "such a large number of acceptance sets"
_INTRODUCTION = "this might cause the following errors"
_MESSAGE = re.compile(r"^hoa:(\d+)\.[-\d.]*: (.*)", re.MULTILINE)


class Section(NamedTuple):
    """The text of one automaton, strings and comments blanked."""

    number: int  # of the automaton in its file, from 1
    code: str
    line: int  # on which `code` begins, from 1
    file: str

    def line_of(self, position: int) -> int:
        """Return the line of the file on which a position of `code` is."""
        return self.line - 1 + _line(self.code, position)

    def line_of_state(self, state: int) -> int:
        """Return the line of the file that defines a state."""
        definition = rf"(?<![\w-])State:\s*(?:\[[^\]]*\]\s*)?{state}\b"
        found = re.search(definition, self.code)
        return self.line if found is None else self.line_of(found.start())

    @property
    def labels_states(self) -> bool:
        """Whether some label is on a state."""
        return _STATE_LABEL.search(self.code) is not None

    def __str__(self) -> str:
        return f"automaton {self.number}"


def sections_of(text: str, file: str) -> list[tuple[Any, Section]]:
    """Parse with Spot; every automaton comes with its section of the text.

    The file's name is for messages; it is not opened.  There is at least one automaton;
    each has a BDD dictionary of its own.  It may be alternating; if it has several
    initial states or none, Spot has added one.  What ``properties:`` say is forgotten
    unless Spot has checked it: it would believe that an automaton is weak, say.

    Raises
    ------
    InputError
        `text` is not HOA, ends early, or has more than 32 marks; names file and line.
    """
    _refuse_unfinished(text, file)
    sections = list(_sections(text, file))
    automata = list(parsed(text, file))
    if len(automata) != len(sections):
        raise InputError(_EXPECTED, file=file)
    for automaton in automata:
        forget_unchecked(automaton)
    return list(zip(automata, sections, strict=True))


def forget_unchecked(automaton: Any) -> None:
    """Forget what a file says of its automaton, but for what Spot has compared."""
    checked = [
        (said, said())
        for said in (
            automaton.prop_state_acc,
            automaton.prop_universal,
            automaton.prop_complete,
        )
    ]
    automaton.prop_reset()
    for say, known in checked:
        say(known)


def unclaimed(automaton: Any) -> Any:
    """Return a copy of an automaton of which nothing is said that is not so.

    Spot does not notice that a program which changes edges leaves behind that the
    automaton is weak, say.
    """
    import spot

    nothing = spot.twa_prop_set(*[False] * 6)
    made = spot.make_twa_graph(automaton, nothing, True)  # with names of states
    sets: dict[int, Any] = {}
    if all(sets.setdefault(e.src, e.acc) == e.acc for e in made.edges()):
        made.prop_state_acc(True)
    return made


def parse_sections(text: str, file: str) -> list[tuple[Any, Section]]:
    """Parse as `sections_of`; the states of each automaton are those of the file.

    Raises
    ------
    InputError
        As `sections_of`, or an automaton has no initial state.
    UnsupportedError
        An automaton has several initial states, or alternation.
    """
    found = sections_of(text, file)
    for automaton, section in found:
        _refuse_hidden(automaton, section)
    return found


def _refuse_unfinished(text: str, file: str) -> None:
    """Refuse a wrong beginning or end before any costly parsing."""
    if not re.match(r"\s*(?:HOA:|/\*)", text):
        begin = len(text) - len(text.lstrip())
        raise InputError(_EXPECTED, file=file, line=_line(text, begin))
    if "--END--" not in text and "--ABORT--" not in text:
        raise InputError(_UNFINISHED, file=file, line=_line(text.rstrip()))


def _sections(text: str, file: str) -> Iterator[Section]:
    """Cut the text at every ``--END--``; nothing but HOA reaches Spot's parser."""
    code = _without_strings_and_comments(text)
    refuse_implausible(code, len(text), file)
    begin = 0
    for number, end in enumerate(_END.finditer(code), start=1):
        begin = _skip_blanks(code, begin)
        if not code.startswith("HOA:", begin):
            raise InputError(_EXPECTED, file=file, line=_line(code, begin))
        if end.group() == "--ABORT--":
            message = f"automaton {number} is aborted"
            raise InputError(message, file=file, line=_line(code, end.start()))
        body = code[begin : end.start()]
        section = Section(number, body, _line(code, begin), file)
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


def refuse_implausible(code: str, length: int, file: str) -> None:
    """Refuse numbers, of states above all, beyond what the file can define."""
    for number in _LONG_NUMBER.finditer(code):
        if len(number.group()) > 12 or int(number.group()) > length:
            message = (
                f"the number {number.group()[:20]} is beyond what the file defines"
            )
            raise InputError(message, file=file, line=_line(code, number.start()))


def _refuse_wild_aliases(section: Section) -> None:
    """Refuse aliases with undeclared propositions."""
    declared = min(map(int, _PROPOSITIONS.findall(section.code)), default=0)
    for alias in re.finditer("Alias:", section.code):
        end = END_OF_ALIAS.search(section.code, alias.end())
        expression = section.code[alias.end() : end.start() if end else None]
        for number in re.findall(r"[0-9]+", _IDENTIFIER.sub("", expression)):
            if int(number) >= declared:
                message = f"proposition {number} in an alias, expected one of 'AP:'"
                line = section.line_of(alias.start())
                raise InputError(message, file=section.file, line=line)


def parse_again(text: str, dictionary: Any = None) -> Any:
    """Return the automaton of a text that Spot has written, over a BDD dictionary.

    It has one of its own if none is given.
    """
    return next(parsed(text, "automaton", dictionary))


def hoa_text(automaton: Any, manner: str = "1.1") -> str:
    """Return an automaton of Spot in HOA, with all that is known of it.

    Spot 2.13 writes quotes in names of states as they are, which cannot be read again,
    and refuses an automaton that is not what is said of it.
    """
    found = automaton.get_state_names()
    names = [] if found is None else [str(name) for name in found]
    if any(_ESCAPED.search(name) for name in names):
        automaton.set_state_names([_ESCAPED.sub(r"\\\g<0>", name) for name in names])
    try:
        text = str(automaton.to_str("hoa", manner)) + "\n"
    except RuntimeError:
        text = str(unclaimed(automaton).to_str("hoa", manner)) + "\n"
    if names:
        automaton.set_state_names(names)
    return text


can_send(
    "automaton",
    lambda value: hasattr(value, "get_acceptance"),
    hoa_text,
    parse_again,
)


def parsed(
    text: str, file: str, dictionary: Any = None, *, kripke: bool = False
) -> Iterator[Any]:
    """Parse a text with Spot, as it is; Kripke structures if that is what they are."""
    import spot

    options = spot.automaton_parser_options()
    options.want_kripke = kripke
    stream = spot.automaton_stream_parser(text + "\n", "hoa", options)
    while True:
        one = stream.parse(dictionary or spot.make_bdd_dict())
        messages = spot.ostringstream()
        if one.format_errors(messages):
            raise _input_error(messages.str(), file, text)
        graph = one.ks if kripke else one.aut
        if graph is None:
            return
        yield graph


def _input_error(messages: str, file: str, text: str) -> InputError:
    """Turn Spot's messages (``hoa:11.6-8: ...``) into one error."""
    every = list(_MESSAGE.finditer(messages))
    if not every:
        return InputError(messages.strip(), file=file)
    found = next((m for m in every if not m[2].endswith(_INTRODUCTION)), every[0])
    line = min(int(found.group(1)), _line(text.rstrip()))
    told = found[2]
    if told.endswith("..."):  # and what it contradicts stands in the next message
        rest = every[every.index(found) + 1 :]
        told = told[:-3] + "".join(m[2].replace("...", "") for m in rest[:1])
    if _TOO_MANY_MARKS in found.group(2):
        message = "more acceptance marks than 32, the limit of Spot and ltlpipe"
        return InputError(message, file=file, line=line)
    return InputError(told, file=file, line=line)


def _refuse_hidden(automaton: Any, section: Section) -> None:
    """Refuse automata to which Spot would add states of its own."""
    place = f"{section.file}:{section.line}: {section}"
    n_starts = len(_START.findall(section.code))
    if not n_starts:
        message = f"{section} has no initial state, expected 'Start:'"
        raise InputError(message, file=section.file, line=section.line)
    if n_starts > 1:
        raise UnsupportedError(
            f"{place} has {n_starts} initial states, expected one in a system; Spot's "
            "'autfilt' merges them"
        )
    if not automaton.is_existential():
        raise UnsupportedError(
            f"{place} is alternating; Spot's 'autfilt -B -S' makes it nondeterministic"
        )


def read_buchi(text: str, file: str, *, declared: bool) -> list[dict[str, Any]]:
    """Read the components of a network: the fields of an ``LTS`` for each automaton.

    There is a transition for every proposition that satisfies an edge when it holds
    alone.  Labels are the propositions that some edge uses, or all that are `declared`.

    Raises
    ------
    InputError, UnsupportedError
        As for `parse_sections`; or an edge that no proposition satisfies alone, or
        another acceptance than ``Inf(0)`` on states or ``t``.
    """
    return [
        _as_buchi(automaton, section, declared=declared)
        for automaton, section in parse_sections(text, file)
    ]


def _as_buchi(automaton: Any, section: Section, *, declared: bool) -> dict[str, Any]:
    import buddy

    propositions = automaton.ap()
    variables = [automaton.register_ap(p) for p in propositions]
    one = exactly_one(variables)
    letters_of: dict[int, tuple[int, ...]] = {}  # by BDD node, a label's letters
    rows = []
    for edge in automaton.edges():
        if edge.cond == buddy.bddfalse:
            continue  # Spot's way to keep the acceptance of a state without edges
        label = edge.cond.id()
        if label not in letters_of:
            letters_of[label] = _letters(edge.cond, one, variables)
        if not letters_of[label]:
            message = (
                f"{section}, state {edge.src}: no proposition satisfies an edge alone"
            )
            if section.labels_states:
                message += "; --semantics=state reads labels of states together"
            line = section.line_of_state(edge.src)
            raise InputError(message, file=section.file, line=line)
        rows += [(edge.src, letter, edge.dst) for letter in letters_of[label]]
    src, letter, dst = np.array(rows, dtype=np.int32).reshape(len(rows), 3).T.copy()
    used = np.arange(len(propositions)) if declared else np.unique(letter)
    return {
        "n_states": automaton.num_states(),
        "initial": automaton.get_init_state_number(),
        "labels": tuple(propositions[a].ap_name() for a in used.tolist()),
        "src": src,
        "label": np.searchsorted(used, letter).astype(np.int32),
        "dst": dst,
        "accepting": _accepting(automaton, section),
        "name": automaton.get_name() or str(section),
        "state_names": _state_names(automaton),
    }


def _state_names(automaton: Any) -> tuple[str, ...] | None:
    """Return the names of the states, if some state has one that is no number."""
    found = automaton.get_state_names()
    names = [] if found is None else [str(name) for name in found]
    if all(not name or name.isdecimal() for name in names):
        return None
    names += [""] * (automaton.num_states() - len(names))
    return tuple(name or str(state) for state, name in enumerate(names))


def exactly_one(variables: list[int]) -> Any:
    """Return the BDD of the assignments under which one variable holds."""
    import buddy

    none, one = buddy.bddtrue, buddy.bddfalse
    for variable in sorted(variables, reverse=True):
        one = buddy.bdd_ite(buddy.bdd_ithvar(variable), none, one)
        none = none & buddy.bdd_nithvar(variable)
    return one


def _letters(label: Any, one: Any, variables: list[int]) -> tuple[int, ...]:
    """Return the propositions that satisfy a label when they hold alone.

    In the conjunction with that of `exactly_one` all variables are false along the low
    branches, and a variable may be the one that holds iff its high branch is
    not false: one walk down the low branches sees them all.
    """
    import buddy

    index = {variable: i for i, variable in enumerate(variables)}
    letters = []
    node = label & one
    while node != buddy.bddfalse:
        if buddy.bdd_high(node) != buddy.bddfalse:
            letters.append(index[buddy.bdd_var(node)])
        node = buddy.bdd_low(node)
    return tuple(sorted(letters))


def _accepting(automaton: Any, section: Section) -> np.ndarray | None:
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
    return np.array([marked.get(s, False) for s in range(automaton.num_states())])
