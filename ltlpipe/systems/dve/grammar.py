r"""The grammar of the DVE language: text to the tree of `ltlpipe.systems.dve.syntax`.

Source: J. Barnat, L. Brim, V. Havel et al., "DiVinE 3.0: An Explicit-State Model
Checker for Multithreaded C & C++ Programs", CAV 2013, and the grammar of DiVinE 2
(``dve_grammar.yy``).

Differences from the source: operators bind as in C, where DiVinE has one level for
``and`` and ``or`` and one for ``&``, ``|`` and ``^`` (`ltlpipe.systems.dve.reading`
warns where that matters); the parts ``init``, ``commit``, ``accept`` and ``assert``
come in any order; sizes of arrays and channels are constant expressions; the last
semicolon of the transitions may be missing; ``!`` also means ``not``.  There are no
probabilistic transitions and no acceptance but ``accept`` with a list of states.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from ltlpipe.runtime.errors import InputError
from ltlpipe.systems.dve import syntax
from ltlpipe.systems.dve.syntax import Place

if TYPE_CHECKING:
    from lark import Lark, UnexpectedInput

_GRAMMAR = r"""
start: (variables | channels)* process+ system
variables: CONST? type declared ("," declared)* ";"
type: BYTE | INT
declared: NAME size? initial?
size: "[" expression "]"
initial: "=" expression -> value
       | "=" "{" expression ("," expression)* "}" -> values
channels: CHANNEL types? channel ("," channel)* ";"
types: "{" type ("," type)* "}"
channel: NAME size?

process: PROCESS NAME "{" variables* states section* transitions? "}"
states: STATE labels
section: (INIT | COMMIT | ACCEPT) labels
       | ASSERT assertion ("," assertion)* ";" -> assertions
labels: label ("," label)* ";"
label: NAME
assertion: label ":" expression

transitions: TRANS transition ("," transition)* ";"?
transition: label? ARROW label "{" guard? sync? effect? "}"
guard: GUARD expression ("," expression)* ";"
sync: SYNC NAME (EXCLAMATION | QUESTION) message? ";"
message: expression | "{" expression ("," expression)* "}"
effect: EFFECT assignment ("," assignment)* ";"
assignment: name "=" expression

system: SYSTEM (ASYNC | SYNC) (PROPERTY label)? ";"

?expression: disjunction | expression IMPLY disjunction -> binary
?disjunction: conjunction | disjunction (OR | OR_WORD) conjunction -> binary
?conjunction: bit_or | conjunction (AND | AND_WORD) bit_or -> binary
?bit_or: bit_xor | bit_or BIT_OR bit_xor -> binary
?bit_xor: bit_and | bit_xor BIT_XOR bit_and -> binary
?bit_and: equality | bit_and BIT_AND equality -> binary
?equality: order | equality (EQUAL | UNEQUAL) order -> binary
?order: shift | order (LESS | AT_MOST | GREATER | AT_LEAST) shift -> binary
?shift: sum | shift (LEFT | RIGHT) sum -> binary
?sum: product | sum (PLUS | MINUS) product -> binary
?product: unary | product (TIMES | DIVIDE | MODULO) unary -> binary
?unary: primary | (MINUS | TILDE | NOT | EXCLAMATION) unary -> unary
?primary: (NUMBER | TRUE | FALSE) -> literal
        | name
        | NAME "." NAME -> state_of
        | "(" expression ")" -> closed
name: NAME ("[" expression "]")?
    | NAME ARROW NAME ("[" expression "]")? -> foreign

CONST: "const"
BYTE: "byte"
INT: "int"
CHANNEL: "channel"
PROCESS: "process"
STATE: "state"
INIT: "init"
COMMIT: "commit"
ACCEPT: "accept"
ASSERT: "assert"
TRANS: "trans"
GUARD: "guard"
SYNC: "sync"
EFFECT: "effect"
SYSTEM: "system"
ASYNC: "async"
PROPERTY: "property"
TRUE: "true"
FALSE: "false"
NOT: "not"
AND_WORD: "and"
OR_WORD: "or"
IMPLY: "imply"
ARROW: "->"
AND: "&&"
OR: "||"
BIT_AND: "&"
BIT_OR: "|"
BIT_XOR: "^"
EQUAL: "=="
UNEQUAL: "!="
AT_MOST: "<="
AT_LEAST: ">="
LESS: "<"
GREATER: ">"
LEFT: "<<"
RIGHT: ">>"
PLUS: "+"
MINUS: "-"
TIMES: "*"
DIVIDE: "/"
MODULO: "%"
TILDE: "~"
EXCLAMATION: "!"
QUESTION: "?"
NAME: /[A-Za-z_][A-Za-z0-9_]*/
NUMBER: /[0-9]+/
BLANK: /\s+/
COMMENT: /\/\/[^\n]*|\/\*(?s:.*?)\*\//
%ignore BLANK
%ignore COMMENT
"""

_WORDS = {"and": "&&", "or": "||", "!": "not"}
_MAX_DIGITS = 10  # of a number: longer ones are no values

# How messages name terminals that are not their own text.
_TERMINALS = {"NAME": "a name", "NUMBER": "a number", "$END": "the end of the file"}
_EXPRESSION = {"NAME", "NUMBER", "TRUE", "FALSE", "MINUS", "TILDE", "NOT", "LPAR"}
_SEVERAL = 6  # more expected terminals than this are not listed


def parse(text: str, file: str) -> syntax.File:
    """Parse the text of a model.

    Parameters
    ----------
    text : str
        What the file holds.
    file : str
        Its name, for messages.

    Raises
    ------
    InputError
        `text` is no model; names file, line and column and what was expected.
    """
    from lark import UnexpectedInput

    try:
        return cast("syntax.File", _parser().parse(text))
    except UnexpectedInput as error:
        raise _syntax_error(error, text, file) from None


def input_error(message: str, place: Place, file: str) -> InputError:
    """Return an error at a place of a model."""
    return InputError(f"column {place.column}: {message}", file=file, line=place.line)


@cache
def _parser() -> Lark:
    """Build the parser once; its callbacks reduce a model to a `syntax.File`."""
    from lark import Lark, Token, Transformer

    def place(token: Token) -> Place:
        return Place(token.line or 0, token.column or 0)

    class Reduce(Transformer[Token, syntax.File]):
        def start(self, children: list[Any]) -> syntax.File:
            *parts, (synchronous, prop) = children
            processes = [p for p in parts if isinstance(p, syntax.Process)]
            declared = [d for p in parts if isinstance(p, list) for d in p]
            return syntax.File(tuple(declared), tuple(processes), synchronous, prop)

        def system(self, children: list[Any]) -> tuple[bool, syntax.Label | None]:
            prop = children[3] if len(children) > 3 else None
            return children[1].type == "SYNC", prop

        def type(self, children: list[Token]) -> Token:
            return children[0]

        def variables(self, children: list[Any]) -> list[syntax.Declared]:
            constant = children[0].type == "CONST"
            kind, *declared = children[constant:]
            return [
                syntax.Declared(place(name), str(name), str(kind), constant, *rest)
                for name, *rest in declared
            ]

        def declared(self, children: list[Any]) -> tuple[Any, ...]:
            size, initial, braces = None, None, False
            for child in children[1:]:
                if isinstance(child, tuple):
                    initial, braces = child
                else:
                    size = child
            return children[0], size, initial, braces

        def size(self, children: list[Any]) -> Any:
            return children[0]

        def value(self, children: list[Any]) -> tuple[tuple[Any, ...], bool]:
            return tuple(children), False

        def values(self, children: list[Any]) -> tuple[tuple[Any, ...], bool]:
            return tuple(children), True

        def channels(self, children: list[Any]) -> list[syntax.DeclaredChannel]:
            types = children[1] if isinstance(children[1], list) else None
            return [
                syntax.DeclaredChannel(
                    place(name),
                    str(name),
                    None if types is None else tuple(types),
                    size,
                )
                for name, size in children[1 if types is None else 2 :]
            ]

        def types(self, children: list[Token]) -> list[str]:
            return [str(c) for c in children]

        def channel(self, children: list[Any]) -> tuple[Token, Any]:
            return children[0], children[1] if len(children) > 1 else None

        def process(self, children: list[Any]) -> syntax.Process:
            name, *parts = children[1:]
            declared = [
                d
                for part in parts
                if isinstance(part, list)
                for d in part
                if isinstance(d, syntax.Declared)
            ]
            transitions = [
                t
                for part in parts
                if isinstance(part, list)
                for t in part
                if isinstance(t, syntax.Transition)
            ]
            states = next(p for p in parts if isinstance(p, tuple))
            sections = [
                p for p in parts if isinstance(p, (syntax.Section, syntax.Assertions))
            ]
            return syntax.Process(
                place(name),
                str(name),
                tuple(declared),
                states,
                tuple(sections),
                tuple(transitions),
            )

        def states(self, children: list[Any]) -> tuple[syntax.Label, ...]:
            return tuple(children[1])

        def labels(self, children: list[syntax.Label]) -> list[syntax.Label]:
            return children

        def label(self, children: list[Token]) -> syntax.Label:
            return syntax.Label(place(children[0]), str(children[0]))

        def section(self, children: list[Any]) -> syntax.Section:
            kind, labels = children
            return syntax.Section(place(kind), str(kind), tuple(labels))

        def assertions(self, children: list[Any]) -> syntax.Assertions:
            return syntax.Assertions(place(children[0]), tuple(children[1:]))

        def assertion(self, children: list[Any]) -> syntax.Assertion:
            return syntax.Assertion(*children)

        def transitions(self, children: list[Any]) -> list[syntax.Transition]:
            return children[1:]

        def transition(self, children: list[Any]) -> syntax.Transition:
            has_source = isinstance(children[0], syntax.Label)
            source = children[0] if has_source else None
            arrow, target, *parts = children[has_source:]
            guards: tuple[Any, ...] = ()
            effects: tuple[Any, ...] = ()
            sync = None
            for part in parts:
                if isinstance(part, syntax.Synchronisation):
                    sync = part
                elif part[0] == "guard":
                    guards = part[1]
                else:
                    effects = part[1]
            where = place(arrow) if source is None else source.place
            return syntax.Transition(where, source, target, guards, sync, effects)

        def guard(self, children: list[Any]) -> tuple[str, tuple[Any, ...]]:
            return "guard", tuple(children[1:])

        def effect(self, children: list[Any]) -> tuple[str, tuple[Any, ...]]:
            return "effect", tuple(children[1:])

        def sync(self, children: list[Any]) -> syntax.Synchronisation:
            _, channel, mark, *message = children
            values = message[0] if message else ()
            return syntax.Synchronisation(
                place(channel), str(channel), mark.type == "EXCLAMATION", values
            )

        def message(self, children: list[Any]) -> tuple[Any, ...]:
            return tuple(children)

        def assignment(self, children: list[Any]) -> syntax.Assignment:
            return syntax.Assignment(children[0].place, *children)

        def binary(self, children: list[Any]) -> syntax.Binary:
            left, op, right = children
            return syntax.Binary(place(op), _WORDS.get(op, str(op)), left, right)

        def unary(self, children: list[Any]) -> syntax.Unary:
            op, operand = children
            return syntax.Unary(place(op), _WORDS.get(op, str(op)), operand)

        def literal(self, children: list[Token]) -> syntax.Literal:
            token = children[0]
            if token.type != "NUMBER":
                return syntax.Literal(place(token), int(token.type == "TRUE"))
            digits = token.lstrip("0") or "0"
            # What has more digits is out of range, whatever it is exactly.
            return syntax.Literal(place(token), int(digits[: _MAX_DIGITS + 1]))

        def name(self, children: list[Any]) -> syntax.Name:
            index = children[1] if len(children) > 1 else None
            return syntax.Name(place(children[0]), str(children[0]), index)

        def foreign(self, children: list[Any]) -> syntax.Name:
            process, _, name, *index = children
            return syntax.Name(
                place(process), str(name), index[0] if index else None, str(process)
            )

        def state_of(self, children: list[Token]) -> syntax.StateOf:
            process, state = children
            return syntax.StateOf(place(process), str(process), str(state))

        def closed(self, children: list[Any]) -> syntax.Expression:
            inner = children[0]
            if isinstance(inner, syntax.Binary):
                return replace(inner, closed=True)
            return cast("syntax.Expression", inner)

    return Lark(
        _GRAMMAR,
        parser="lalr",
        lexer="basic",
        maybe_placeholders=False,
        transformer=Reduce(),
    )


def _syntax_error(error: UnexpectedInput, text: str, file: str) -> InputError:
    """Say in the words of the language what lark did not expect."""
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
        names -= {*_EXPRESSION, "EXCLAMATION"}
        known.append("an expression")
    literals = {t.name: repr(t.pattern.value) for t in _parser().terminals}
    known += sorted(_TERMINALS.get(name) or literals[name] for name in names)
    operators = [k for k in known if not k[1:2].isalnum()]
    if len(known) > _SEVERAL and len(operators) > _SEVERAL:
        known = [
            "an operator",
            *(k for k in ("']'", "')'", "','", "';'") if k in known),
        ]
    if len(known) < 2:
        return "".join(known) or "something else"
    return f"{', '.join(known[:-1])} or {known[-1]}"
