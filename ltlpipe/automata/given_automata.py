"""Property automata as users have them: in HOA, as never claims of Spin, or of LBTT.

Whatever the text says is translated to one nondeterministic automaton with one initial
state: several of them are joined, and alternation is removed where Spot can do so, in
weak automata.  A short label can have a BDD that fills any memory, removing alternation
is exponential, and nothing stops Spot: `parse_job` lets a worker go first.

Sources: those of `ltlpipe.automata.hoa`; G. J. Holzmann, "The Spin Model Checker",
2003, for never claims; H. Tauriainen, "lbtt 1.2.1 user's guide", for its automata.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import parsed, refuse_implausible, sections_of
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import Opening, name_of, read, starts_with
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Iterator

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
