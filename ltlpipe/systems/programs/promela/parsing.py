"""The grammar of Promela (``grammar.lark``), and the tree as it is written.

The parser works on the tokens of `ltlpipe.systems.programs.promela.tokens`; expressions
and formulas have one grammar, as in Spin, in which temporal operators are tokens of
formulas only.  The tree goes to `ltlpipe.systems.programs.promela.resolving` as plain
data: the list of its nodes, children before their parents, in JSON.

Source: the grammar of Spin 6.5 (``spin.y``), and its manual pages.

Differences from the source: tests such as ``full(q)`` are expressions like others, also
in formulas; there is ``X`` in formulas; lists of initial values are constant
expressions.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.folders import grammar_beside, parser_of
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.runtime.names import listed
from ltlpipe.systems.programs.promela.syntax import Place
from ltlpipe.systems.programs.promela.tokens import (
    KEYWORDS,
    SYMBOLS,
    expression_tokens,
    input_error,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lark import Lark

    from ltlpipe.runtime.errors import InputError
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.plain import Plain
    from ltlpipe.systems.programs.promela.tokens import Token


class Node(NamedTuple):
    """A rule of the grammar: its parts are nodes, texts of tokens, and None."""

    kind: str
    place: Place
    parts: tuple[Any, ...]
    text: str = ""  # as it is written, of statements and formulas


_GRAMMAR = grammar_beside(__file__)


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


_WITH_TEXT = _kinds(
    "assign increment send receive for for_in select choose goto set_priority print "
    "print_mtype assert condition break else variable ltl lone"
)
_BLOCK = 250  # nodes that are built at once
_NODE_WORK = 10  # units
_NODE_BYTES = 500

_IDLE = _kinds("SEMI ARROW")
_EXPRESSION = _kinds(
    "NAME CONST LPAR SEND TILDE MINUS RUN LEN PROBE ENABLED PC_VALUE GET_PRIORITY "
    "TIMEOUT NP PNAME TEMPORAL"
)
_STATEMENT = _kinds("IF DO GOTO ATOMIC ASSERT")
_STATEMENTS = _EXPRESSION | _STATEMENT
_STATEMENTS |= _kinds(
    "FOR SELECT CHOOSE BREAK D_STEP PRINTF PRINTM ELSE SET_PRIORITY LBRACE TYPE UNAME "
    "HIDDEN SHOW LOCAL XU"
)
_OPERATORS = _kinds(
    "OR AND BITOR BITXOR BITAND EQ NE LT LE GT GE LSHIFT RSHIFT PLUS MINUS STAR SLASH "
    "PERCENT IMPLIES UNTIL"
)
_CALLED = {
    "NAME": "a name",
    "UNAME": "the name of a typedef",
    "PNAME": "the name of a proctype",
    "CONST": "a number",
    "STRING": "a text in quotes",
    "TYPE": "a type",
    "PROBE": "'full'",
    "XU": "'xr'",
    "TEMPORAL": "'[]'",
    "UNTIL": "'U'",
    "IMPLIES": "'->'",
    "CHOOSE": "'select'",
    "IN": "'in'",
    "TRACE": "'trace'",
    "PROCTYPE": "'proctype'",
    "$END": "the end of the file",
    **{kind: repr(text) for text, kind in SYMBOLS.items()},
}
_SEVERAL = 6  # more expected tokens than this are not listed


def parse_tokens(tokens: Sequence[Token], end: Place, start: str = "file") -> Plain:
    """Parse the tokens of a model, or (``lone``) of an expression; return plain data.

    Raises
    ------
    InputError
        They are no model; names file, line and column and what was expected.
    """
    from lark import Token as Lexed
    from lark import UnexpectedToken

    lexed = [
        Lexed(_terminal(token.kind), token.text, number, 1, 1, 1, 1, number + 1)
        for number, token in enumerate(tokens)
    ]
    try:
        tree = _parser().parse(lexed, start=start)
    except UnexpectedToken as error:
        raise _syntax_error(error, tokens, end) from None
    return _plain(tree, tokens, end)


def parse_expression(text: str, proctypes: set[str]) -> Node:
    """Return the tree of an expression, as it is written.

    Raises
    ------
    InputError
        It is none.
    """
    place = Place("", 1, 1)
    tokens = expression_tokens(text, place, proctypes)
    lone = complete(tree_of(parse_tokens(tokens, place, start="lone")))
    return lone.parts[0]  # type: ignore[no-any-return]


def tree_of(plain: Plain) -> Job[Node]:
    """Build the tree that `parse_tokens` has returned."""
    files = json.loads(bytes(plain["files"]))
    nodes: list[Node] = []
    begin = 0
    for last in plain["ends"].tolist():
        encoded = json.loads(bytes(plain["nodes"][begin:last]))
        for kind, file, line, column, text, *fields in encoded:
            parts = tuple(nodes[f[0]] if isinstance(f, list) else f for f in fields)
            nodes.append(Node(kind, Place(files[file], line, column), parts, text))
        begin = last
        yield Progress("reading", _NODE_WORK * _BLOCK, _NODE_BYTES * len(nodes))
    return nodes[-1]


def _plain(tree: Any, tokens: Sequence[Token], end: Place) -> Plain:
    """Return a tree of lark as plain data."""
    found = [tree]
    for node in found:  # which grows meanwhile
        found += [child for child in node.children if hasattr(child, "children")]
    found.reverse()
    numbers = {id(node): number for number, node in enumerate(found)}
    files: dict[str, int] = {}
    encoded = []
    for first in range(0, len(found), _BLOCK):
        block = []
        for node in found[first : first + _BLOCK]:
            begin = getattr(node.meta, "start_pos", None)
            place = end if begin is None else tokens[begin].place
            text = ""
            if node.data in _WITH_TEXT:
                text = text_of(tokens[begin : node.meta.end_pos])
            fields = [
                [numbers[id(c)]] if hasattr(c, "children") else c and str(c)
                for c in node.children
            ]
            number = files.setdefault(place.file, len(files))
            head = [str(node.data), number, place.line, place.column, text]
            block.append(head + fields)
        encoded.append(json.dumps(block).encode())
    return {
        "files": json.dumps(list(files)).encode(),
        "nodes": b"".join(encoded),
        "ends": np.cumsum([len(block) for block in encoded]),
    }


def text_of(tokens: Sequence[Token]) -> str:
    """Return tokens as they are written, in one line."""
    texts = [" " * token.spaced + token.text for token in tokens]
    return "".join(texts).strip()


def _terminal(kind: str) -> str:
    return kind if kind in _kept() else "_" + kind


@cache
def _kept() -> frozenset[str]:
    return frozenset(re.findall(r"(?<![\w_])[A-Z][A-Z_]*", _GRAMMAR))


@cache
def _parser() -> Lark:
    from ltlpipe.systems.programs.promela.given_tokens import GivenTokens

    declared = " ".join(sorted(set(re.findall(r"(?<!\w)_?[A-Z][A-Z_]*", _GRAMMAR))))
    return parser_of(
        f"{_GRAMMAR}\n%declare {declared}\n",
        "promela",
        start=["file", "lone"],
        lexer=GivenTokens,
        maybe_placeholders=True,
        propagate_positions=True,
    )


def _syntax_error(error: Any, tokens: Sequence[Token], end: Place) -> InputError:
    """Report what was not expected, and what was."""
    token = error.token
    if token.type == "$END":
        found, place = "end of file", end
    else:
        given = tokens[token.start_pos]
        place = given.place
        text = given.text if len(given.text) <= 40 else given.text[:37] + "..."
        found = repr(text)
        before = tokens[token.start_pos - 1]
        if given.kind == "LPAR" and token.start_pos and before.kind == "NAME":
            found += f" (no inline is called {before.text!r})"
    names = {name.lstrip("_") for name in error.accepts or error.expected}
    return input_error(f"unexpected {found}, expected {_expected(names)}", place)


def _expected(names: set[str]) -> str:
    """Return what could stand there, in words."""
    known = []
    if names >= _STATEMENT:
        names = names - _STATEMENTS
        known.append("a statement")
    elif names >= _EXPRESSION - {"TEMPORAL", "PNAME"}:
        names = names - _EXPRESSION
        known.append("an expression")
    operators = names & _OPERATORS
    if len(operators) > _SEVERAL:
        names = names - operators
        known.append("an operator")
    if names >= _IDLE:
        names = names - {"ARROW"}
    words = {kind: repr(word) for word, kind in KEYWORDS.items()}
    known += sorted(_CALLED.get(name) or words[name] for name in names)
    return listed(known or ["something else"])
