"""Automata as users have them: in files, and printed by programs of theirs.

A property is in HOA, a never claim of Spin, or an automaton of LBTT or ltl2dstar.
Whatever the text says is translated to one nondeterministic automaton with one initial
state: several of them are joined, and alternation is removed where Spot can do so, in
weak automata.  A short label can have a BDD that fills any memory, removing alternation
is exponential, and nothing stops Spot: `parse_job` lets a worker go first.

Sources: those of `ltlpipe.automata.hoa`; G. J. Holzmann, "The Spin Model Checker",
2003, for never claims; H. Tauriainen, "lbtt 1.2.1 user's guide", for its automata;
J. Klein, "ltl2dstar", the page on its output format.

Differences from the sources: Spot reads neither names of never claims nor comments in
them that begin with ``//``, which are left out before.

A system is a graph in HOA: a Kripke structure, or an automaton.  Spot reads a Kripke
structure if it is asked for one, and then crashes on alternation; so it first reads an
automaton.  The label of a state without edges gets lost in both: here such states get
an edge to themselves while Spot reads them.

External translators are programs that print HOA.  A command such as ``ltl3tela -f %f``
is called with the formula for ``%f``, as one argument and without a shell.  The
propositions of the formula are called p0, p1 and so on, and those of the automaton get
their names back.  Tools agree on ``!``, ``&&``,
``||``, ``->``, ``<->``, ``X``, ``F``, ``G`` and ``U`` in parentheses; release, weak
until and others are called or parsed differently, or missing: they are written with U,
by their definitions.

Nothing here checks the translator.  A violation that it makes up is found by the
replay of the lasso; a word that it loses is a violation that is not found.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.hoa import (
    END_OF_ALIAS,
    hoa_text,
    parse_sections,
    parsed,
    refuse_implausible,
    sections_of,
)
from ltlpipe.automata.translation import PHASE
from ltlpipe.logic.formulas import fold
from ltlpipe.logic.readings import AUTOMATON
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import Opening, name_of, read, starts_with
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.runtime.worker_process import cpu_seconds_of
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.automata.hoa import Section
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.files import Source
    from ltlpipe.runtime.jobs import Job

_OTHER = r"never\b|\d+\s+\d+[st]*\s|D[RS]A\s+v"
EXPECTED = (
    "an automaton in HOA ('HOA: v1'), a never claim, or an automaton of LBTT or "
    "ltl2dstar"
)
_OPENING = Opening(re.compile(rf"HOA:|{_OTHER}"), EXPECTED)
_OTHER_OPENING = Opening(re.compile(_OTHER), EXPECTED)
_HEAD = 1 << 16  # characters in which a text begins
_DIRECTIVE = re.compile(r"^[ \t]*#", re.MULTILINE)
_QUOTED = re.compile(r'"[^"\n]*"')
_LABEL = r"\b([A-Za-z_]\w*)\s*:(?!:)"
_NOWHERE = re.compile(rf"\bgoto\s+(\w+)|{_LABEL}\s*\}}")
_CLAIM = re.compile(
    r"""(?P<name>\bnever\s+)\w+(?=\s*\{)|"[^"\n]*"|/\*.*?\*/|//[^\n]*""", re.DOTALL
)


def is_text(given: str) -> bool:
    """Whether something is the text of an automaton, and not a path."""
    return "\n" in given or AUTOMATON.match(given) is not None


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
        if "never" in text:
            text = _CLAIM.sub(_as_spot_reads, text)
            if (line := _DIRECTIVE.search(text)) is not None:
                message = "a line for a preprocessor, expected none in a never claim"
                at = 1 + text.count("\n", 0, line.end())
                raise InputError(message, file=file, line=at)
            _check_labels(text, file)
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


def _check_labels(text: str, file: str) -> None:
    """Refuse a never claim that goes to a label or has one where no statement is.

    Spot makes states of these that have no way on.
    """
    text = _QUOTED.sub(lambda found: " " * len(found[0]), text)
    known = set(re.findall(_LABEL, text))
    for found in _NOWHERE.finditer(text):
        if found[1] not in known:
            message = f"no label is called {found[1]!r}"
            if found[2]:
                message = f"a label {found[2]!r} without a statement"
            line = 1 + text.count("\n", 0, found.start())
            raise InputError(message, file=file, line=line)


def _as_spot_reads(part: re.Match[str]) -> str:
    """Return a part of a never claim without its name, a comment as line breaks."""
    if part[0][0] == '"':
        return part[0]
    return part["name"] or " " + "\n" * part[0].count("\n")


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
        texts.append(hoa_text(automaton, "s" if on_states else "t"))
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

    With acceptance it is an automaton all the same: Spot puts labels on the edges.

    Raises
    ------
    InputError, UnsupportedError
        As for `parse_sections`; or there are several, or some labels are on states and
        others on edges.
    """
    found = parse_sections(text, file)
    if len(found) > 1:
        message = f"expected one automaton or Kripke structure, found {len(found)}"
        raise InputError(message, file=file)
    automaton, section = found[0]
    if not section.labels_states or automaton.num_sets():
        return Parsed(automaton)
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


FORMULA = "%f"
"""What stands for the formula in a command."""

MAX_LENGTH = 100_000
"""Characters that a formula may have: an argument of a program ends at 128 KiB."""

_FORMS = {
    "tt": "true",
    "ff": "false",
    "Not": "!{0}",
    "X": "X {0}",
    "F": "F {0}",
    "G": "G {0}",
    "Implies": "{0} -> {1}",
    "Equiv": "{0} <-> {1}",
    "Xor": "!({0} <-> {1})",
    "U": "{0} U {1}",
    "R": "!(!{0} U !{1})",
    "W": "({0} U {1}) || (G {0})",
    "M": "{1} U ({0} && {1})",
}

_SHOWN = 300  # characters of what a program printed
_MOST_PRINTED = 64 << 20  # bytes of its output


def translate_externally(formula: Formula, command: str) -> Job[Any]:
    """Return the Spot automaton of the violations that another translator makes.

    It is over the propositions of `formula`, with any acceptance.  The program and all
    that it has started are killed when the job is closed.  What it has printed is first
    read in a worker process.

    Parameters
    ----------
    formula : Formula
        LTL over actions; its negation is translated.
    command : str
        The program and its arguments, quoted as in a shell.  ``%f`` in an argument
        becomes the formula, and ``%%`` a percent sign.

    Raises
    ------
    UnsupportedError
        The command cannot be run, fails, or prints something else than one
        automaton in HOA; names the command and shows what it printed.
    """
    import spot

    names = {name: f"p{i}" for i, name in enumerate(formula.propositions)}
    text = portable_text(spot.formula_Not(formula.spot), names)
    printed = yield from _printed(_arguments(command, text), command)
    automaton = yield from _only_automaton(printed, command)
    _rename(automaton, {short: name for name, short in names.items()}, command)
    return automaton


def portable_text(formula: Any, names: Mapping[str, str]) -> str:
    """Return a formula of Spot as any translator reads it, with names for propositions.

    Raises
    ------
    UnsupportedError
        The text would be longer than `MAX_LENGTH`, or the formula is no LTL.
    """

    def combine(node: Any, kind: str, parts: list[str]) -> str:
        if kind == "ap":
            return names[node.ap_name()]
        if kind in ("And", "Or"):
            text = (" && " if kind == "And" else " || ").join(parts)
        else:
            text = _FORMS[kind].format(*parts)
        if len(text) > MAX_LENGTH:
            raise UnsupportedError(
                f"the formula has more than {MAX_LENGTH:,} characters in the syntax of "
                "other translators: use Spot's translation"
            )
        return text if kind in ("tt", "ff") else f"({text})"

    return fold(formula, combine)


def _arguments(command: str, text: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _failure(command, f"cannot be read: {error}") from None
    parts = [word.split("%%") for word in words]
    if not any(FORMULA in piece for word in parts for piece in word):
        raise _failure(command, f"does not say where the formula stands ({FORMULA})")
    return ["%".join(p.replace(FORMULA, text) for p in word) for word in parts]


def _printed(arguments: Sequence[str], command: str) -> Job[str]:
    """Run a program and return its standard output."""
    with TemporaryFile() as output, TemporaryFile() as errors:
        try:
            program = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,  # so that what it starts ends with it
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise _failure(command, f"cannot be run: {reason}") from None
        try:
            yield from _ended(program, (output, errors), command)
        finally:
            with suppress(OSError):  # it has ended, and all that it has started
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        output.seek(0)
        errors.seek(0)
        shown, said = (
            file.read().decode(errors="replace") for file in (output, errors)
        )
    if program.returncode != 0:
        end = _end_of(program.returncode)
        raise _failure(command, f"{end} and printed {_quoted(said.strip() or shown)}")
    return shown


def _ended(
    program: subprocess.Popen[bytes], files: Sequence[IO[bytes]], command: str
) -> Job[None]:
    """Wait for the end of a program, and look at how much it prints."""
    cpu, waits = 0.0, []
    if hasattr(os, "pidfd_open"):
        waits.append(os.pidfd_open(program.pid))
    try:
        while True:
            ended = program.poll() is not None
            if any(os.fstat(f.fileno()).st_size > _MOST_PRINTED for f in files):
                raise _failure(command, f"printed more than {_MOST_PRINTED:,} bytes")
            if ended:
                return
            now = cpu_seconds_of(program.pid)
            work, cpu = max(now - cpu, 0.0) * 1e6, max(now, cpu)
            if not waits:
                time.sleep(0.01)
            yield Progress(PHASE, work, waits=tuple(waits))
    finally:
        for descriptor in waits:
            os.close(descriptor)


@remote(PHASE)
def _n_automata(text: str) -> int:
    """Return how many automata a text holds; a worker finds out whether it can be read.

    Raises
    ------
    InputError, UnsupportedError
        It holds something else.
    """
    return len(parse_automata(text, "output"))


def _only_automaton(printed: str, command: str) -> Job[Any]:
    try:
        n_automata = yield from _n_automata(printed)
    except InputError as error:
        reason = f"{error}; it printed {_quoted(printed)}"
        raise _failure(command, f"printed no HOA: {reason}") from None
    except UnsupportedError as error:
        raise _failure(command, f"printed what is not supported: {error}") from None
    if n_automata > 1:
        raise _failure(command, f"printed {n_automata} automata, expected one")
    return parse_automata(printed, "output")[0]


def _rename(automaton: Any, names: dict[str, str], command: str) -> None:
    """Give the propositions of an automaton the names that they stand for."""
    import spot

    meaning = spot.relabeling_map()
    for proposition in automaton.ap():
        short = proposition.ap_name()
        if short not in names:
            known = ", ".join(names) or "none"
            raise _failure(
                command,
                f"printed an automaton over {short!r}, which is no proposition of its "
                f"formula ({known})",
            )
        meaning[proposition] = spot.formula_ap(names[short])
    spot.relabel_here(automaton, meaning)


def _end_of(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"failed ({status})"


def _quoted(text: str) -> str:
    """Return the beginning of what a program printed, on one line."""
    line = " ".join(text.split())
    if not line:
        return "nothing"
    return repr(line if len(line) <= _SHOWN else line[:_SHOWN] + " ...")


def _failure(command: str, what: str) -> UnsupportedError:
    return UnsupportedError(f"the translator {command!r} {what}")
