"""Components in Aldebaran files (``.aut``), as CADP and mCRL2 write them.

The first line is ``des (INITIAL, TRANSITIONS, STATES)``, each further line a
transition ``(SOURCE, LABEL, TARGET)``.  A label runs from the first comma of
its line to the last one, so it may hold commas, parentheses and quotes; it may
stand in double quotes, and nothing in it is an escape.  Blanks in a label without
quotes are dropped.  ``i`` and ``tau`` are the internal labels, quoted or not.

Labels are written in quotes, but ``i`` without, as CADP does.  A file for one of the
two tools has one internal label, its own, and nothing that it cannot read.

Source: the manual page "aut" of CADP (version of 2014); the page "Aldebaran file
format" of mCRL2 and its reader (libraries/lts/source/liblts_aut.cpp).

Differences from the source: to CADP ``tau`` is an ordinary label, to mCRL2 ``i`` is;
CADP reads 7-bit ASCII only, mCRL2 ends a label at the second quote.  Labels are
Unicode, of any length; the initial state may be any, as in CADP; blank lines are
skipped.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.systems.networks.lts import LTS

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERNAL = frozenset({"i", "tau"})

# Numbers of more than ten digits are out of range in any case.
_HEADER = re.compile(
    r"\s*des[ \t]*\([ \t]*([0-9]{1,10})[ \t]*,[ \t]*([0-9]{1,10})[ \t]*,"
    r"[ \t]*([0-9]{1,10})[ \t]*\)[ \t\r]*(?:\n|\Z)"
)
_TRANSITION = re.compile(
    r"^[ \t]*\([ \t]*([0-9]{1,10})[ \t]*,(.*\S)[ \t]*,"
    r"[ \t]*([0-9]{1,10})[ \t]*\)[ \t\r]*$",
    re.MULTILINE,
)
_FILLED_LINE = re.compile(r"^[^\S\n]*\S", re.MULTILINE)
_MAX_STATES = np.iinfo(np.int32).max
_BLOCK = 1 << 20  # characters that are looked at at once


def read_aut(text: str, file: str) -> list[LTS]:
    """Read the one component that an Aldebaran file holds.

    It is called like the `file`; its alphabet is in order of first use.

    Raises
    ------
    InputError
        A line is no transition, a state is outside the announced range, or the
        file has fewer or more transitions than announced; names file and line.
    """
    header = _HEADER.match(text)
    if header is None:
        line = 1 + text[: len(text) - len(text.lstrip())].count("\n")
        message = "expected 'des (INITIAL, TRANSITIONS, STATES)'"
        raise InputError(message, file=file, line=line)
    initial, n_transitions, n_states = map(int, header.groups())
    table = _transitions(text, header.end(), n_transitions)
    if table is None or not initial < n_states <= _MAX_STATES:
        raise _what_is_wrong(text, header, file)
    labels, src, label, dst = table
    if n_transitions and max(src.max(), dst.max()) >= n_states:
        raise _what_is_wrong(text, header, file)
    return [
        LTS(
            n_states=n_states,
            initial=initial,
            labels=labels,
            src=src,
            label=label,
            dst=dst,
            internal=INTERNAL & frozenset(labels),
            name=PurePath(file).name,
        )
    ]


def _transitions(
    text: str, begin: int, count: int
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the alphabet in order of first use, and sources, labels and targets.

    They are int32[count].  None if some line is no transition, if there are not as
    many as announced, if a quote is not closed, or if a state is beyond any range.
    """
    index: dict[str, int] = {}
    index_of_raw: dict[str, int] = {}
    parts: list[np.ndarray] = []
    found = 0
    for block in blocks(text, begin):
        rows = _TRANSITION.findall(block)
        found += len(rows)
        if len(rows) != len(_FILLED_LINE.findall(block)) or found > count:
            return None
        sources, raw, targets = zip(*rows, strict=True) if rows else ((), (), ())
        for spelt in raw:
            if spelt not in index_of_raw:
                name = _label(spelt)
                if name is None:
                    return None
                index_of_raw[spelt] = index.setdefault(name, len(index))
        states = np.array([list(map(int, sources)), list(map(int, targets))], np.int64)
        if states.max(initial=0) > _MAX_STATES:
            return None
        labels = np.fromiter(map(index_of_raw.__getitem__, raw), np.int32, len(raw))
        parts.append(np.vstack([states.astype(np.int32), labels]))
    if found != count:
        return None
    src, dst, label = np.hstack([np.zeros((3, 0), dtype=np.int32), *parts])
    return tuple(index), src.copy(), label.copy(), dst.copy()


def blocks(text: str, begin: int) -> Iterator[str]:
    """Cut a text from a position on into blocks of whole lines."""
    while begin < len(text):
        end = text.find("\n", begin + _BLOCK) + 1 or len(text)
        yield text[begin:end]
        begin = end


def _label(spelt: str) -> str | None:
    """Return a label as it is meant; None if a quote is not closed."""
    label = spelt.strip()
    if label[0] != '"':
        return "".join(label.split())
    return label[1:-1] if len(label) > 1 and label[-1] == '"' else None


def _what_is_wrong(text: str, header: re.Match[str], file: str) -> InputError:
    """Find the first line at fault, slowly."""
    initial, n_transitions, n_states = map(int, header.groups())
    line = 1 + text.count("\n", 0, header.start(1))
    if not 0 < n_states <= _MAX_STATES:
        message = f"{n_states} states announced, expected 1 to {_MAX_STATES}"
        return InputError(message, file=file, line=line)
    if initial >= n_states:
        message = f"initial state {initial}, expected one of 0 to {n_states - 1}"
        return InputError(message, file=file, line=line)
    found = 0
    body = text[header.end() :].split("\n")
    for line, content in enumerate(body, start=1 + text.count("\n", 0, header.end())):
        if not content.strip():
            continue
        found += 1
        message = ""
        transition = _TRANSITION.match(content)
        if transition is None:
            message = "expected a transition '(SOURCE, LABEL, TARGET)'"
        elif _label(transition[2]) is None:
            message = "a label begins with a quote, expected another at its end"
        elif found > n_transitions:
            message = f"expected the end of the file after {n_transitions} transitions"
        else:
            for state in map(int, transition.group(3, 1)):
                if state >= n_states:
                    message = f"state {state}, expected one of 0 to {n_states - 1}"
        if message:
            return InputError(message, file=file, line=line)
    message = (
        f"unexpected end of file after {found} transitions, expected {n_transitions}"
    )
    return InputError(message, file=file, line=1 + text.rstrip().count("\n"))


def write_aut(lts: LTS, internal: str | None = None) -> str:
    """Write one component as an Aldebaran file, its labels in quotes.

    Parameters
    ----------
    lts : LTS
        The component.
    internal : str, optional
        What every internal label is called: ``i`` in a file for CADP, ``tau`` in one
        for mCRL2.  Without, ``tau`` stays, and others become ``i``.

    Raises
    ------
    UnsupportedError
        Accepting states, an ordinary label that would be internal when read
        again, a label with a line break, or one that the tool cannot read.
    """
    if internal not in (None, *INTERNAL):
        raise UnsupportedError(f"--internal={internal!r}: expected i or tau")
    if lts.accepting is not None:
        raise UnsupportedError("an .aut file cannot hold accepting states; write .hoa")
    for label in lts.labels:
        if label not in lts.internal:
            _refuse_label(label, internal)
    names = []
    for label in lts.labels:
        if label in lts.internal:
            label = internal or (label if label in INTERNAL else "i")
        names.append(label if label == "i" else f'"{label}"')
    columns = (lts.src.tolist(), lts.label.tolist(), lts.dst.tolist())
    lines = [f"des ({lts.initial}, {lts.n_transitions}, {lts.n_states})"]
    lines += [f"({s}, {names[a]}, {d})" for s, a, d in zip(*columns, strict=True)]
    return "\n".join(lines) + "\n"


def _refuse_label(label: str, internal: str | None) -> None:
    """Raise UnsupportedError for an ordinary label that would not be read as it is."""
    if label in INTERNAL:
        reason = "is internal in an .aut file"
    elif "\n" in label:
        reason = "has a line break"
    elif internal == "i" and not label.isascii():
        reason = "is not ASCII, which is all that CADP reads"
    elif internal == "tau" and '"' in label:
        reason = "has a quote, where mCRL2 would end it"
    else:
        return
    raise UnsupportedError(f"the label {label!r} {reason}; write .dot or .hoa")
