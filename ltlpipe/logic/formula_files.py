"""Files of formulas.

A file holds one formula per line; comments begin with ``#``, ``//`` or ``--``, also
behind a formula, and a number or a name with a colon before a formula (``0: G a``,
``safe: G a``) is what it is called and no part of it; a name that could as well be part
of a proposition (``P:y == 0``, a variable of a process) is refused.  Names are also
those of a line ``# name: safe`` right before a formula, and of a block of Promela,
``ltl safe { [] a }``, which may go over several lines.  In the catalogue of Dwyer,
Avrunin and Corbett a line ``P is false:`` is a heading, and the scope before a formula
(``Before R  <>R -> (!P U R)``) is what it is called, behind the heading.  ``LTLSPEC``
of NuSMV, with or without a name, and a semicolon behind a formula are no part of it; a
comment of C may go over several lines.

``#define NAME TEXT`` says what a name stands for in the formulas that follow, as in
files of Spin and DiVinE, and goes on behind a backslash at the end of a line; where a
file has nothing else, ``#property`` precedes a formula, as in the lists of DiVinE.

Lists of properties with a header ``#K:`` before each formula, whatever their suffix,
files of the Model Checking Contest (``.xml``, `ltlpipe.logic.mcc`), and tables
(``.csv``, ``.json``, ``.jsonl``) are read, too.

In such a list, as the RERS challenge publishes them, a property is a header ``#K:`` and
its formula on the lines that follow, up to the next header; K, a number from 0, is what
the property is called.  Behind the colon stands the published solution (``true`` or
``false``, and any remark behind it), or a remark, which is the formula's title, or
nothing.  Lines ``#inputs [A, B]`` and ``#outputs [X, Y]`` before the first header
declare actions, here ``iA``, ``iB``, ``oX`` and ``oY``.  Blank lines and lines with
another ``#`` say nothing.

A wrong number is a wrong answer, so nothing is guessed: a line that is nearly a header,
a number that stands twice, text before the first header, or another word where headers
have solutions is refused.

A CSV file has a header with a column `formula`, in any case.  A JSON file is a list of
formulas, or of objects with a key `formula`, or one object from names to formulas;
``.jsonl`` has one such object, or text, per line.  A column or key `name`, `id` or
`formula_id`, the first of these that there is, is what a formula is called.  Others
mean nothing.

Source: the lists of properties of the RERS challenges 2012 to 2019, as published; the
manuals of NuSMV 2.6 and of DiVinE 2 (``divine combine``).
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from ltlpipe.logic.formulas import Formula, parse
from ltlpipe.logic.readings import IN_QUOTES
from ltlpipe.runtime.errors import FormulaError, InputError
from ltlpipe.runtime.files import check_titles, csv_rows, read_text, split_suffix
from ltlpipe.runtime.jobs import complete

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.runtime.files import StrPath

_HEADER = re.compile(r"\s*#(\d{1,9})\s*:(.*)", re.ASCII)
_NUMBERED = re.compile(r"\s*(\d+)\s*:", re.ASCII)
# What begins like a header: ``#3 true``, ``# 3:``, ``#-3:``, ``#:``.
_NEARLY = re.compile(r"\s*#(?:[-+.]?\d|\s+[-+.]?\d+\s*:|\s*:)", re.ASCII)
_DECLARING = re.compile(r"\s*#\s*(inputs|outputs)\b(.*)", re.IGNORECASE)
_LETTERS = re.compile(
    r"\s*:?\s*\[\s*(?:([^\W_]+(?:\s*,\s*[^\W_]+)*)\s*)?\]\s*", re.ASCII
)
_SOLUTION = re.compile(r"(true|false)\b", re.IGNORECASE)
_PUBLISHED = re.compile(
    r"problem[-_]?\d+[-_]properties.*\.txt(\.gz)?", re.IGNORECASE | re.ASCII
)

EXPECTED_HEADER = "expected '#K:' with the number K of the property"


class Listed(NamedTuple):
    """A property of a list."""

    number: int
    line: int  # of its header, from 1
    remark: str  # what stands behind the colon
    formula: list[tuple[int, str]]  # its lines, each with its number

    @property
    def solution(self) -> bool | None:
        """The published solution; None if the header tells none."""
        found = _SOLUTION.match(self.remark)
        return None if found is None else found[1].lower() == "true"


def is_property_list(lines: Sequence[str], file: str) -> bool:
    """Whether a file is a list of properties: by its name, or by its headers.

    Files that begin with a formula with a number of its own (``0: G a``) are none:
    there a line with ``#`` is a comment.
    """
    if _PUBLISHED.fullmatch(PurePath(file).name):
        return True
    for text in lines:
        if _HEADER.match(text):
            return True
        if _is_formula(text):
            return not _NUMBERED.match(text) and any(map(_HEADER.match, lines))
    return False


def _is_formula(text: str) -> bool:
    return bool(_without_comment(text.strip()))


def read_list(lines: Sequence[str], file: str) -> list[Listed]:
    """Read the lines of a list of properties.

    A property may have no line of formula: that is its own trouble.

    Raises
    ------
    InputError
        With the line, if headers are not what they should be; see above.
    """
    found: list[Listed] = []
    for number, text in enumerate(lines, start=1):
        begun = _header(text, number, file)
        if begun is not None:
            found.append(begun)
        elif _is_formula(text):
            if not found:
                message = f"a formula before the first header, {EXPECTED_HEADER}"
                raise InputError(message, file=file, line=number)
            listed, own = found[-1], _NUMBERED.match(text)
            if own is not None and (listed.formula or int(own[1]) != listed.number):
                message = f"a formula numbered {own[1]} behind '#{listed.number}:'"
                raise InputError(message, file=file, line=number)
            text = text if own is None else text[own.end() :]
            if text := _without_comment(text):
                listed.formula.append((number, text))
    if not found:
        raise InputError(f"no header found, {EXPECTED_HEADER}", file=file)
    _refuse_doubts(found, file)
    return found


def declared_in(lines: Sequence[str], file: str) -> tuple[str, ...] | None:
    """Return the actions that a list of properties declares; None if it declares none.

    Raises
    ------
    InputError
        A declaration is not what it should be, or stands twice or too late.
    """
    found: dict[str, list[str]] = {}
    for number, text in enumerate(lines, start=1):
        declaring = _DECLARING.fullmatch(text)
        if declaring is None:
            if _HEADER.match(text):
                break
            continue
        kind, letters = declaring[1].lower(), _LETTERS.fullmatch(declaring[2])
        if letters is None or kind in found:
            message = f"expected '#{kind} [A, B, ...]', once"
            raise InputError(message, file=file, line=number)
        names = [] if letters[1] is None else letters[1].split(",")
        found[kind] = [f"{kind[0]}{name.strip()}" for name in names]
    return tuple(name for names in found.values() for name in names) if found else None


def _header(text: str, line: int, file: str) -> Listed | None:
    """Return what a line is as a header; None if it is none, nor nearly one."""
    found = _HEADER.fullmatch(text)
    if found is not None:
        return Listed(int(found[1]), line, found[2].strip(), [])
    if _NEARLY.match(text):
        message = f"{text.strip()[:40]!r} is no header, {EXPECTED_HEADER}"
        raise InputError(message, file=file, line=line)
    return None


def _refuse_doubts(headers: Sequence[Listed], file: str) -> None:
    """Refuse numbers that stand twice, and words in the place of solutions."""
    first: dict[int, Listed] = {}
    for header in headers:
        if first.setdefault(header.number, header) is not header:
            message = (
                f"a second property {header.number}, the first is that of line "
                f"{first[header.number].line}"
            )
            raise InputError(message, file=file, line=header.line)
    for header in _without_solution(headers, file):
        message = (
            f"{header.remark[:40]!r} behind '#{header.number}:', expected the "
            "solution, true or false"
        )
        raise InputError(message, file=file, line=header.line)


def _without_solution(headers: Sequence[Listed], file: str) -> Iterator[Listed]:
    """Yield the headers whose remark stands where a solution is to be expected."""
    promised = "solution" in PurePath(file).name.lower()
    if not promised and all(header.solution is None for header in headers):
        return
    for header in headers:
        if header.solution is None and header.remark[:1] not in ("", "("):
            yield header


_NUMBERING = re.compile(r"(\d+)\s*:")
_NAMING = re.compile(r"([A-Za-z_][\w.-]*)\s*:=?")
_NAME_BEFORE = re.compile(r"#\s*name\s*:\s*(.*\S)", re.IGNORECASE)
_BEGUN = re.compile(r"ltl\b[^{}:]*\{")
_OF_NUSMV = re.compile(r"LTLSPEC\b\s*(?:NAME\b\s*)?")
_UNFINISHED = re.compile(r"LTLSPEC(?:\s+NAME\s+[^\s:]+\s*:=)?")
_DEFINE = "#define"
_MACRO = re.compile(_DEFINE + r"\s+(\w+)(\(?)\s*(.*)")
_PROPERTY = re.compile(r"#property\s+")
_BLOCK = re.compile(r"ltl(?:\s+([A-Za-z_]\w*))?\s*\{(.*)\}\s*;?", re.DOTALL)
_SCOPE = re.compile(
    r"(?:\(\*\)\s*)?(Globally|Before \w+|After \w+(?: until \w+)?"
    r"|Between \w+ and \w+)(?:\s*:\s*|\s+(?=[\[(<!]))"
)
_HEADING = re.compile(r"[A-Za-z]\w*(?: [\w,()/-]+)+:")
# Not within quotes; `-->` and `<-->` are arrows.
_COMMENT = re.compile(
    IN_QUOTES + r"|(?P<comment>(?<!\\)#|(?:^|(?<=\s))(?://|--(?!-?>)))|(?P<block>/\*)",
    re.DOTALL,
)
_WORDS = re.compile(IN_QUOTES + r"|(?<![\w.])[A-Za-z_]\w*(?![\w.])", re.DOTALL)
_MOST_EXPANDED = 1 << 20  # characters of a formula
_MOST_NESTED = 100  # macros in each other
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Asked(NamedTuple):
    """A formula of a file, and what its file says about it."""

    formula: Formula | FormulaError  # an error if it does not parse
    number: int | None = None  # by its header, or before it
    solution: bool | None = None  # whether it holds, as published
    is_listed: bool = False  # by a header: there is one of its number


@overload
def read_formulas(path: StrPath) -> list[Formula]: ...


@overload
def read_formulas(
    path: StrPath, *, collect_errors: Literal[True]
) -> list[Formula | FormulaError]: ...


def read_formulas(path: StrPath, *, collect_errors: bool = False) -> Any:
    """Read the formulas of a file.

    Parameters
    ----------
    path : path
        One formula per line, a list of properties with headers, a property file of
        the Model Checking Contest (``.xml``), or a table (``.csv``, ``.json``);
        ``.gz`` is decompressed.
    collect_errors : bool
        Whether a formula that does not parse becomes an entry of the list instead
        of ending the reading.

    Raises
    ------
    FormulaError
        A formula does not parse; carries file, line and position.
    InputError
        The file cannot be read, holds no formula, or its headers are wrong.
    """
    found = read_asked(path)
    for asked in found:
        if isinstance(asked.formula, FormulaError) and not collect_errors:
            raise asked.formula
    return [asked.formula for asked in found]


def read_asked(path: StrPath) -> list[Asked]:
    """Read the formulas of a file, and what is said about them.

    Raises
    ------
    InputError
        As `read_formulas`.
    """
    name = os.fspath(path)
    suffix = split_suffix(name)[1]
    if suffix == ".xml":
        found = list(_properties(name))
        _refuse_twice((each.formula for each in found), name)
        return found
    if suffix in _TABLES:
        found = [
            Asked(_parsed(each.text, name, each.line, name=each.name))
            for each in read_table(read_text(path), suffix, name)
        ]
        return _numbered(found, name)
    lines = _LINE_BREAK.split(read_text(path))
    if is_property_list(lines, name):
        listed = read_list(lines, name)
        if not any(each.formula for each in listed):
            message = "no formula found; expected one behind each header"
            raise InputError(message, file=name)
        alphabet = declared_in(lines, name)
        return [
            Asked(_of_lines(p, name, alphabet), p.number, p.solution, is_listed=True)
            for p in listed
        ]
    found = list(_plain(lines, name))
    if not found:
        raise InputError("no formula found; expected one per line", file=name)
    return _numbered(found, name)


def _numbered(found: list[Asked], name: str) -> list[Asked]:
    """Return the formulas of a file with numbers, unless it numbers them itself."""
    _refuse_twice((each.formula for each in found), name)
    if any(each.number is not None for each in found):
        return found
    taken = {each.formula.name for each in found}  # another one may be called 2
    return [
        each if str(k) in taken else each._replace(formula=_counted(each.formula, k))
        for k, each in enumerate(found, 1)
    ]


def _counted(formula: Formula | FormulaError, number: int) -> Formula | FormulaError:
    """Return a formula of a file that numbers none, with its number in the file."""
    if isinstance(formula, Formula):
        return replace(formula, number=number)
    formula.number = number
    return formula


def _plain(lines: Sequence[str], name: str) -> Iterator[Asked]:
    """Yield the formulas of a file that has one per line."""
    called: str | None = None  # by the line before
    heading = ""
    macros: dict[str, str] = {}
    # In a list of DiVinE there is nothing else; elsewhere it is a comment.
    of_divine = all(text.lstrip()[:1] in ("", "#") for text in lines)
    for line, content in _statements(_without_blocks(lines, name), name):
        if (macro := _MACRO.fullmatch(content)) is not None:
            _define(macro, macros, name, line)
            continue
        if of_divine:
            content = _PROPERTY.sub("", content, count=1)
        if content.startswith("#"):
            found = _NAME_BEFORE.fullmatch(content)
            called = None if found is None else found[1]
            continue
        content = _OF_NUSMV.sub("", _without_comment(content), count=1)
        if not content:
            continue
        if _HEADING.fullmatch(content):
            heading = f"{content.removesuffix(':')}, "
            continue
        number, text = None, content
        if (block := _BLOCK.fullmatch(content)) is not None:
            called, text = block[1] or called, block[2]
        elif (numbering := _NUMBERING.match(content)) is not None:
            number, text = int(numbering[1]), content[numbering.end() :]
            called = called or numbering[1]
        elif (scope := _SCOPE.match(content)) is not None:
            called, text = heading + scope[1], content[scope.end() :]
        elif (naming := _NAMING.match(content)) is not None:
            called, text = naming[1], content[naming.end() :]
            _refuse_either(content, naming, name, line)
        text, known, called = " ".join(text.split("\n")).strip(), called, None
        try:
            text = _expanded(text.rstrip("; \t"), macros)
        except ValueError as error:
            message = (
                f"the macro {str(error)!r} is too long or too deeply nested, or empty"
            )
            raise InputError(message, file=name, line=line) from None
        formula = _parsed(text, name, line, number=number, name=known)
        yield Asked(formula, number)


def _refuse_either(text: str, naming: re.Match[str], file: str, line: int) -> None:
    """Refuse a name with a colon that may be the process of a variable as well."""
    colon = naming.end() - 1
    if re.match(r"\w:[^\W\d]", text[colon - 1 :]) is None:
        return
    try:
        parse(text.rstrip("; \t"))
    except FormulaError:
        return
    own, rest = text[:colon], text[colon + 1 :]
    message = (
        f"{text[:40]!r} may be a formula called {own!r}, or one about something of "
        f"{own!r}: write '{own}: {rest[:40]}' or '({text[:40]})'"
    )
    raise InputError(message, file=file, line=line)


def _define(macro: re.Match[str], macros: dict[str, str], file: str, line: int) -> None:
    """Note what a name stands for in the formulas of the file."""
    if macro[2]:
        message = f"the macro {macro[1]!r} with parameters, expected one without"
        raise InputError(message, file=file, line=line)
    macros[macro[1]] = _without_comment(macro[3])


def _expanded(text: str, macros: dict[str, str], *inside: str) -> str:
    """Replace macros in a text, but not those that it is the meaning of.

    Raises
    ------
    ValueError
        It becomes too long, or macros stand in each other too deeply; names one.
    """
    if not macros:
        return text
    length = len(text)

    def meant(word: re.Match[str]) -> str:
        nonlocal length
        own = word[0]
        if own not in macros or own in inside:
            return own
        found = (
            ""
            if len(inside) == _MOST_NESTED
            else _expanded(macros[own], macros, own, *inside)
        )
        length += len(found)
        if not found or length > _MOST_EXPANDED:
            raise ValueError(own)
        return f"({found})"

    return _WORDS.sub(meant, text)


def _without_blocks(lines: Sequence[str], file: str) -> Iterator[str]:
    """Yield lines without comments between ``/*`` and ``*/``, which may go over some.

    Raises
    ------
    InputError
        A comment has no end.
    """
    opened: int | None = None  # the line of a comment that goes on
    for number, line in enumerate(lines, start=1):
        kept = ""
        while line:
            if opened is not None:
                _, closed, line = line.partition("*/")
                opened = None if closed else opened
                continue
            is_macro = line.lstrip().startswith(_DEFINE)
            begin = line.index("#") + 1 if is_macro else 0
            found = _COMMENT.finditer(line, begin)
            found = (f for f in found if f["comment"] or f["block"])
            first = next(found, None)
            if first is None or first["comment"]:
                kept, line = kept + line, ""
            else:
                kept, line = f"{kept}{line[: first.start()]} ", line[first.end() :]
                opened = number
        yield kept
    if opened is not None:
        raise InputError("a comment '/*' without '*/'", file=file, line=opened)


def _without_comment(text: str) -> str:
    """Return a line, or a block of lines, without the comments behind them."""
    return "\n".join(map(_uncommented, text.split("\n"))).strip()


def _uncommented(line: str) -> str:
    for found in _COMMENT.finditer(line):
        if found["comment"]:
            return line[: found.start()].rstrip()
    return line


def _statements(lines: Iterable[str], file: str) -> Iterator[tuple[int, str]]:
    """Yield lines that are not blank, and what goes on behind, with the first line.

    Raises
    ------
    InputError
        A block has no end.
    """
    numbered = iter(enumerate(lines, start=1))
    for line, text in numbered:
        content = text.strip()
        while content.startswith(_DEFINE) and content.endswith("\\"):
            content = f"{content[:-1]} {next(numbered, (0, ''))[1].strip()}"
        while _UNFINISHED.fullmatch(content) or (
            _BEGUN.match(content) and content.count("{") > content.count("}")
        ):
            more = next(numbered, None)
            if more is None:
                raise InputError("a block 'ltl' without '}'", file=file, line=line)
            content += f"\n{more[1].strip()}"
        if content:
            yield line, content


def _refuse_twice(formulas: Iterable[Formula | FormulaError], file: str) -> None:
    """Refuse a name that stands twice."""
    first: dict[str, int | None] = {}
    for formula in formulas:
        if formula.name is None:
            continue
        if formula.name in first:
            message = (
                f"a second formula {formula.name!r}, the first is that of line "
                f"{first[formula.name]}"
            )
            raise InputError(message, file=file, line=formula.line)
        first[formula.name] = formula.line


def _parsed(text: str, file: str, line: int, **about: Any) -> Formula | FormulaError:
    """Return the formula of a text, with what else is known of it, or its error."""
    try:
        return replace(parse(text, file=file, line=line), **about)
    except FormulaError as error:
        error.name, error.number = about.get("name"), about.get("number")
        return error


def _of_lines(
    listed: Listed, file: str, alphabet: tuple[str, ...] | None = None
) -> Formula | FormulaError:
    """Return the formula of a property, whose text is one line, or what is wrong."""
    number, name = listed.number, str(listed.number)
    if not listed.formula:
        message = f"no formula behind '#{name}:', expected it on the lines that follow"
        place: dict[str, Any] = {"file": file, "line": listed.line, "name": name}
        return FormulaError(message, formula="", **place)
    first, parts = listed.formula[0][0], [part for _, part in listed.formula]
    # With the line breaks: no proposition in quotes goes over one.
    found = _parsed("\n".join(parts), file, first, number=number, name=name)
    text = " ".join(parts)
    title = None if listed.solution is not None else listed.remark or None
    if isinstance(found, Formula):
        return replace(found, text=text, title=title, alphabet=alphabet)
    place = {"file": file, "line": _line_of(listed, found.position), "name": name}
    told = FormulaError(found.message, formula=text, position=found.position, **place)
    told.number, told.title, told.alphabet = number, title, alphabet
    return told


def _line_of(listed: Listed, position: int | None) -> int:
    """Return the line in which a position of the formula's text lies."""
    end = 0
    for line, part in listed.formula:
        end += len(part) + 1
        if position is None or position < end:
            return line
    return listed.formula[-1][0]


def _properties(file: str) -> Iterator[Asked]:
    """Yield the formulas of a property file of the Model Checking Contest."""
    from ltlpipe.logic.mcc import property_job

    for name, line, text, is_formula in complete(property_job(file)):
        if is_formula:
            yield Asked(_parsed(text, file, line, name=name))
        else:
            place: dict[str, Any] = {"file": file, "line": line, "name": name}
            yield Asked(FormulaError(f"{name}: {text}", formula=name, **place))


_TABLES = (".csv", ".json", ".jsonl")
_FORMULA, _NAMES = "formula", ("name", "id", "formula_id")
_EXPECTED = "expected a list of formulas, or of objects with a formula"


class Entry(NamedTuple):
    """A formula of a table."""

    text: str
    line: int
    name: str | None


def read_table(text: str, suffix: str, file: str) -> list[Entry]:
    """Return the formulas in the text of a table.

    Raises
    ------
    InputError
        With the line: it is no table, or has no column of formulas.
    """
    read = {".csv": _of_csv, ".json": _of_json, ".jsonl": _of_json_lines}[suffix]
    found = list(read(text, file))
    if not found:
        raise InputError("no formula found; expected one per row", file=file)
    return found


def _of_csv(text: str, file: str) -> Iterator[Entry]:
    header: list[str] | None = None
    for line, cells in csv_rows(text, file):
        if header is None:
            header = [title.strip().lower() for title in cells]
            check_titles(header, file, line)
            if _FORMULA not in header:
                message = f"expected one column {_FORMULA!r} in the header"
                raise InputError(message, file=file, line=line)
        elif len(cells) != len(header):
            message = f"{len(cells)} cells, expected {len(header)} as in the header"
            raise InputError(message, file=file, line=line)
        else:
            yield _entry(dict(zip(header, cells, strict=True)), line, file)


def _entry(row: Any, line: int, file: str) -> Entry:
    """Return the formula of a row, or of a value of JSON."""
    if isinstance(row, str):
        return Entry(row, line, None)
    text = row.get(_FORMULA) if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise InputError(_EXPECTED, file=file, line=line)
    given = (row.get(title) for title in _NAMES)
    named = (str(name).strip() for name in given if name is not None)
    return Entry(text.strip(), line, next(filter(None, named), None))


def _of_json(text: str, file: str) -> Iterator[Entry]:
    data = _decoded(text, 1, file)
    if isinstance(data, dict) and _FORMULA not in data:
        data = [{"name": name, _FORMULA: formula} for name, formula in data.items()]
    rows = data if isinstance(data, list) else [data]
    return _placed(rows, text, file)


def _placed(rows: Iterable[Any], text: str, file: str) -> Iterator[Entry]:
    """Yield formulas with the lines in which they stand, in order."""
    at = 0
    for row in rows:
        found = row.get(_FORMULA) if isinstance(row, dict) else row
        if isinstance(found, str):
            own = json.dumps(found)
            spellings = (own, json.dumps(found, ensure_ascii=False))
            places = [p for s in spellings if (p := text.find(s, at)) >= 0]
            at = min(places, default=at)
        yield _entry(row, text.count("\n", 0, at) + 1, file)


def _of_json_lines(text: str, file: str) -> Iterator[Entry]:
    for line, content in enumerate(_LINE_BREAK.split(text), start=1):
        if content.strip():
            yield _entry(_decoded(content, line, file), line, file)


def _decoded(text: str, line: int, file: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        names = [name for name, _ in pairs]
        for name in names if len(found) < len(names) else ():
            if names.count(name) > 1:
                place = line + text.count("\n", 0, max(text.rfind(json.dumps(name)), 0))
                raise InputError(f"{name!r} stands twice", file=file, line=place)
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (json.JSONDecodeError, RecursionError) as error:
        told = getattr(error, "msg", "too deep")
        place = line + getattr(error, "lineno", 1) - 1
        raise InputError(f"not JSON: {told}", file=file, line=place) from None
