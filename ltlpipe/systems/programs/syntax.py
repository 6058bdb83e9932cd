r"""The syntax of the DVE language: grammar and tree, before names are looked up.

Every node of the tree knows its place, for messages.  The nodes are called like the
rules of the grammar, and their fields are the parts of a rule in order;
`ltlpipe.systems.programs.reading` looks names up and checks the tree.

Texts are read by `ltlpipe.systems.programs.parsing`; the grammar here says what is a
model, and its parser what is wrong with a text that is none.

Source: J. Barnat, L. Brim, V. Havel et al., "DiVinE 3.0: An Explicit-State Model
Checker for Multithreaded C & C++ Programs", CAV 2013, the grammar of DiVinE 2
(``dve_grammar.yy``), and the parser of DiVinE 3 (``divine/dve/parse.h``).

Differences from the source: operators bind as in C, where DiVinE has one level for
``and`` and ``or`` and one for ``&``, ``|`` and ``^``; version 2 groups operators of one
level from the left, version 3 from the right (`ltlpipe.systems.programs.reading` warns
where that matters); the parts ``init``,
``commit``, ``accept`` and ``assert`` come in any order; sizes of arrays and channels
are constant expressions; the last semicolon of the transitions may be missing; ``!``
also means ``not``.  There are no probabilistic transitions and no acceptance but
``accept`` with a list of states.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.grammars import parser_of
from ltlpipe.runtime.names import listed
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from lark import Lark, UnexpectedInput

    from ltlpipe.runtime.jobs import Job


class Place(NamedTuple):
    """Where something stands in the file, both counted from 1."""

    line: int
    column: int


class Literal(NamedTuple):
    """A number, or ``true`` or ``false``, as it is written."""

    place: Place
    text: str


class Name(NamedTuple):
    """A variable or constant, an element of an array if there is a subscript.

    ``P->x`` names the variable `x` of the process `P`.
    """

    place: Place
    process: str | None
    name: str
    subscript: Expression | None


class StateOf(NamedTuple):
    """``P.s``: whether the process `P` is in its state `s`."""

    place: Place
    process: str
    state: str


class Unary(NamedTuple):
    """An operator before its operand: ``-``, ``~`` or ``not``."""

    place: Place
    op: str
    operand: Expression


class Binary(NamedTuple):
    """An operator, as C writes it (``and`` is ``&&``), or ``imply``, with operands."""

    place: Place
    left: Expression
    op: str
    right: Expression


class Closed(NamedTuple):
    """An expression in parentheses."""

    place: Place
    inner: Expression


Opened: TypeAlias = Literal | Name | StateOf | Unary | Binary
Expression: TypeAlias = Opened | Closed


class Values(NamedTuple):
    """A list of values in braces."""

    place: Place
    values: tuple[Expression, ...]


class Declared(NamedTuple):
    """One name of a declaration: a variable, a constant or a channel.

    `size` is None for what is no array, and for a channel without one.
    """

    place: Place
    name: str
    size: Expression | None
    initial: Expression | Values | None = None


class Variables(NamedTuple):
    """A declaration of variables, or of constants."""

    place: Place
    constant: str | None
    kind: str  # "byte" or "int"
    declared: tuple[Declared, ...]


class Channels(NamedTuple):
    """A declaration of channels; `types` is None if they have none."""

    place: Place
    types: tuple[str, ...] | None
    declared: tuple[Declared, ...]


class Label(NamedTuple):
    """A name with its place: a state, mostly."""

    place: Place
    name: str


class Assertion(NamedTuple):
    """An assertion about a state of a process."""

    place: Place
    state: Label
    condition: Expression


class Section(NamedTuple):
    """A part of a process behind its states.

    Of kind ``init``, ``commit`` or ``accept`` it has labels, of ``assert`` assertions.
    """

    place: Place
    kind: str
    entries: tuple[Label | Assertion, ...]


class Synchronisation(NamedTuple):
    """``channel!values`` or ``channel?targets``."""

    place: Place
    channel: str
    mark: str
    values: tuple[Expression, ...] | None


class Assignment(NamedTuple):
    """One assignment of an effect."""

    place: Place
    target: Name
    value: Expression


class Transition(NamedTuple):
    """A transition; `source` is None where it is that of the one before."""

    place: Place
    source: Label | None
    target: Label
    guards: tuple[Expression, ...] | None
    sync: Synchronisation | None
    effects: tuple[Assignment, ...] | None


class Process(NamedTuple):
    """A process with its declarations, states and transitions."""

    place: Place
    name: str
    declarations: tuple[Variables, ...]
    states: tuple[Label, ...]
    sections: tuple[Section, ...]
    transitions: tuple[Transition, ...] | None


class File(NamedTuple):
    """A whole model; `mode` is "sync" or "async"."""

    place: Place
    declarations: tuple[Variables | Channels, ...]
    processes: tuple[Process, ...]
    mode: str
    property: Label | None


# A rule that is called like a class of the syntax tree makes one of its objects, any
# other a tuple of its parts.  What is in quotes is no part, but in rules with a "!".
_GRAMMAR = r"""
file: declarations processes "system" (ASYNC | SYNC) ["property" label] ";"
declarations: (variables | channels)*
processes: process+
variables: [CONST] _type names ";"
!_type: "byte" | "int"
names: declared ("," declared)*
declared: NAME [size] ["=" (expression | values)]
?size: "[" expression "]"
values: "{" several "}"
several: expression ("," expression)*
channels: "channel" ["{" types "}"] channel_names ";"
types: _type ("," _type)*
channel_names: channel ("," channel)*
channel: NAME [size] -> declared

process: "process" NAME "{" locals "state" labels sections [transitions] "}"
locals: variables*
sections: section*
section: (INIT | COMMIT | ACCEPT) labels | ASSERT assertions
labels: label ("," label)* ";"
label: NAME
assertions: assertion ("," assertion)* ";"
assertion: label ":" expression

transitions: "trans" transition ("," transition)* ";"?
transition: [label] ARROW label "{" [guard] [synchronisation] [effect] "}"
guard: "guard" expression ("," expression)* ";"
synchronisation: "sync" NAME (SENDS | RECEIVES) [message] ";"
message: expression | "{" expression ("," expression)* "}"
effect: "effect" assignment ("," assignment)* ";"
assignment: name "=" expression

!?expression: disjunction | expression "imply" disjunction -> binary
!?disjunction: conjunction | disjunction ("||" | "or") conjunction -> binary
!?conjunction: bit_or | conjunction ("&&" | "and") bit_or -> binary
!?bit_or: bit_xor | bit_or "|" bit_xor -> binary
!?bit_xor: bit_and | bit_xor "^" bit_and -> binary
!?bit_and: equality | bit_and "&" equality -> binary
!?equality: order | equality ("==" | "!=") order -> binary
!?order: shift | order ("<" | "<=" | ">" | ">=") shift -> binary
!?shift: sum | shift ("<<" | ">>") sum -> binary
!?sum: product | sum ("+" | "-") product -> binary
!?product: signed | product ("*" | "/" | "%") signed -> binary
!?signed: primary | ("-" | "~" | "not" | "!") signed -> unary
?primary: literal | name | NAME "." NAME -> stateof | LPAR expression ")" -> closed
!literal: NUMBER | "true" | "false"
name: [NAME "->"] NAME [size]

CONST: "const"
INIT: "init"
COMMIT: "commit"
ACCEPT: "accept"
ASSERT: "assert"
SYNC: "sync"
ASYNC: "async"
SENDS: "!"
RECEIVES: "?"
ARROW: "->"
LPAR: "("
NAME: /[A-Za-z_][A-Za-z0-9_]*/
NUMBER: /[0-9]+/
BLANK: /\s+/
COMMENT: /\/\/[^\n]*|\/\*(?s:.*?)\*\//
%ignore BLANK
%ignore COMMENT
"""

_TOKEN_WORK = 20  # units, of lark
_TOKEN_BYTES = 1000

# How messages name terminals that are not their own text.
_TERMINALS = {"NAME": "a name", "NUMBER": "a number", "$END": "the end of the file"}
_EXPRESSION = {"NAME", "NUMBER", "TRUE", "FALSE", "MINUS", "TILDE", "NOT", "LPAR"}
_SEVERAL = 6  # more expected terminals than this are not listed


def diagnosed(text: str, file: str) -> Job[InputError]:
    """Return the job that finds what is wrong with a text that is no model."""
    from lark import Token, UnexpectedInput

    ticks = Ticks("reading", _TOKEN_WORK)
    try:
        parser = _grammar().parse_interactive(text)
        for number, _ in enumerate(parser.iter_parse()):
            if ticks.over():
                ticks.memory_bytes = _TOKEN_BYTES * number
                yield ticks.progress
        parser.feed_token(Token("$END", ""))
    except UnexpectedInput as error:
        error.interactive_parser = parser  # which knows what could stand there
        return _syntax_error(error, text, file)
    raise AssertionError(f"{file}: the grammar has what the parser has not")


def input_error(message: str, place: Place, file: str) -> InputError:
    """Return an error at a place of a model."""
    return InputError(f"column {place.column}: {message}", file=file, line=place.line)


@cache
def _grammar() -> Lark:
    options: Any = {"lexer": "basic", "maybe_placeholders": True}
    return parser_of(_GRAMMAR, "dve", start="file", **options)


def _syntax_error(error: UnexpectedInput, text: str, file: str) -> InputError:
    """Report in the terms of the language what lark did not expect."""
    from lark import UnexpectedToken

    if not isinstance(error, UnexpectedToken):
        found = repr(text[error.pos_in_stream or 0])
        place = Place(error.line, error.column)
        return input_error(f"unexpected character {found}", place, file)
    token = error.token
    place = Place(token.line or 1, token.column or 1)
    found = repr(str(token)[:40])
    if token.type != "$END" and text.startswith("/*", token.start_pos or 0):
        message = "unexpected end of file in a comment, expected '*/'"
        return input_error(message, place, file)
    if token.type == "$END":
        lines = text.rstrip().split("\n")
        place = Place(len(lines), len(lines[-1]) + 1)
        found = "end of file"
    message = f"unexpected {found}, expected {_expected(error)}"
    return input_error(message, place, file)


def _expected(error: Any) -> str:
    """Return what could stand there, in words."""
    names = set(error.accepts or error.expected)
    if len(names) > 1:
        names.discard("IMPLY")  # possible behind every expression, hardly missing
    known = []
    if names >= _EXPRESSION:
        names -= {*_EXPRESSION, "SENDS"}
        known.append("an expression")
    literals = {t.name: repr(t.pattern.value) for t in _grammar().terminals}
    known += sorted(_TERMINALS.get(name) or literals[name] for name in names)
    operators = [k for k in known if not k[1:2].isalnum()]
    if len(known) > _SEVERAL and len(operators) > _SEVERAL:
        known = [
            "an operator",
            *(k for k in ("']'", "')'", "','", "';'") if k in known),
        ]
    return listed(known or ["something else"])
