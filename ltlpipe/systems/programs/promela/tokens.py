"""The tokens of a Promela model: inlines expanded, semicolons where Spin adds them.

A line that ends in an operand, a closing bracket or the like within a body ends a
statement; so does ``else``, and a closing brace; and a separator before a brace or
another separator is none.  An inline is its text in braces, with the arguments in the
place of its parameters; ``v = f(x)`` of one with ``return e`` makes that ``v = e``.

Names are told apart as in Spin: those of typedefs, and of proctypes that are declared
before; in formulas there are temporal operators besides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.errors import InputError
from ltlpipe.systems.programs.promela.syntax import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEPARATOR = "\x02"
"""Stands between tokens that expansion has brought side by side."""


class Preprocessed(NamedTuple):
    """A text without directives and macros."""

    text: str
    starts: list[int]  # offsets where the pieces of the text begin
    places: list[Place]  # of these pieces
    macros: dict[str, str]  # what macros without parameters stand for at the end

    def place(self, offset: int) -> Place:
        """Return the place of a character."""
        piece = bisect_right(self.starts, offset) - 1
        file, line, column = self.places[piece]
        return Place(file, line, column + offset - self.starts[piece])


TYPES = ("bit", "bool", "byte", "pid", "short", "int", "unsigned", "mtype", "chan")
# fmt: off
_WORDS = [
    "active", "assert", "atomic", "break", "D_proctype", "do", "else", "empty",
    "enabled", "eval", "fi", "for", "full", "get_priority", "goto", "hidden", "if",
    "init", "inline", "len", "local", "ltl", "nempty", "never", "nfull", "notrace",
    "np_", "od", "of", "pc_value", "printf", "printm", "priority", "proctype",
    "provided", "return", "run", "d_step", "select", "set_priority", "show", "timeout",
    "trace", "typedef", "unless", "xr", "xs",
]
# fmt: on
KEYWORDS = {word: word.upper().rstrip("_") for word in _WORDS} | {
    "D_proctype": "PROCTYPE",
    "notrace": "TRACE",
    "xr": "XU",
    "xs": "XU",
    **dict.fromkeys(TYPES, "TYPE"),
    **dict.fromkeys(("true", "false", "skip"), "CONST"),
    **dict.fromkeys(("full", "empty", "nfull", "nempty"), "PROBE"),
}
_C = ("c_code", "c_decl", "c_expr", "c_state", "c_track")
_SYMBOLS = """
:: SEP  .. DOTDOT  -> ARROW  ++ INCR  -- DECR  << LSHIFT  >> RSHIFT  <= LE  >= GE
== EQ  != NE  !! SORTED  ?? RANDOM  && AND  || OR  = ASSIGN  ! SEND  ? RECEIVE
< LT  > GT  & BITAND  | BITOR  ^ BITXOR  ~ TILDE  + PLUS  - MINUS  * STAR  / SLASH
% PERCENT  ; SEMI  : COLON  , COMMA  . DOT  @ AT  ( LPAR  ) RPAR  [ LSQB  ] RSQB
{ LBRACE  } RBRACE
"""
SYMBOLS = dict(re.findall(r"(\S+) (\S+)", _SYMBOLS))
"""Kinds of tokens; no symbol stands behind one with which it begins."""
_TEMPORAL = {
    "[]": "TEMPORAL",
    "<>": "TEMPORAL",
    "->": "IMPLIES",
    "<->": "IMPLIES",
    "/\\": "AND",
    "\\/": "OR",
    **dict.fromkeys(("X", "next", "always", "eventually"), "TEMPORAL"),
    **dict.fromkeys(("U", "V", "W", "R", "until", "stronguntil"), "UNTIL"),
    **dict.fromkeys(("weakuntil", "release"), "UNTIL"),
    **dict.fromkeys(("implies", "equivalent"), "IMPLIES"),
}
_WORD = r"""
    (?P<blank>[\s\x02]+)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\d+)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<char>'(?:[^'\\\n]|\\.)')
"""
_LEXED, _LEXED_LTL = (
    re.compile(_WORD + "| (?P<symbol>" + "|".join(map(re.escape, symbols)) + ")", re.X)
    for symbols in (
        SYMBOLS,
        ["<->", *(s for s in _TEMPORAL if not s.isalpha() and s != "<->"), *SYMBOLS],
    )
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}
_BODIES = {"PROCTYPE", "INIT", "NEVER", "TRACE", "TYPEDEF"}
_ENDS = {"RBRACE", "RPAR", "RSQB", "OD", "FI", "ELSE", "BREAK", "NAME", "CONST"}
_ENDS |= {"INCR", "DECR"}
_NO_SEMI_AFTER_BRACE = {"PROCTYPE", "INIT", "NEVER", "SEP", "FI", "OD", "RBRACE"}
_NO_SEMI_AFTER_BRACE |= {"UNLESS", "SEMI", "ARROW", "COMMA", "RPAR"}
_SELECT = ["SELECT", "LPAR", "NAME", "COLON", "CONST", "DOTDOT", "CONST", "RPAR"]
_WIDEST = 32  # of a range whose values are alternatives
_IN_FRONT = ("NAME", "RSQB")  # of ``in`` in a loop
_DEEPEST = 100  # inlines inside each other
_MOST = 2_000_000  # tokens of a model


@dataclass(frozen=True)
class Token:
    """A token; its text is as it is written, but that of a character is a number."""

    kind: str
    text: str
    place: Place
    spaced: bool = False  # whether blanks stand before it
    line: bool = False  # whether a line ends before it


@dataclass(frozen=True)
class _Inline:
    parameters: list[str]
    body: list[Token]  # with its braces


def input_error(message: str, place: Place) -> InputError:
    """Return an error at a place of a model."""
    text = f"column {place.column}: {message}"
    return InputError(text, file=place.file, line=place.line)


def tokens_of(source: Preprocessed) -> list[Token]:
    """Return the tokens for the parser.

    Raises
    ------
    InputError
        There are characters that no token begins with, or embedded C, or an inline is
        wrong.
    """
    raw = list(_lexed(source))
    if any(token.kind == "NAME" and token.text == "R" for token in raw):
        # Spin knows no operator of this name.
        raw = [replace(t, kind="NAME") if t.text == "R" else t for t in raw]
    for token in raw:
        if token.kind == "C":
            message = f"embedded C ({token.text}) is not supported"
            raise input_error(message, token.place)
        if token.kind == "BAD":
            raise input_error(f"unexpected character {token.text!r}", token.place)
    outside, inlines = _without_inlines(raw)
    _mark_alternatives(outside)
    expanded = _Expansion(inlines).expanded(outside)
    proctypes = {
        token.text
        for token, before in zip(raw[1:], raw, strict=False)
        if before.kind == "PROCTYPE" and token.kind == "NAME"
    }
    return list(_Names(proctypes).named(_repaired(_with_line_ends(expanded))))


def expression_tokens(text: str, place: Place, proctypes: set[str]) -> list[Token]:
    """Return the tokens of an expression outside of a model.

    Raises
    ------
    InputError
        There are characters that no token begins with.
    """
    raw = list(_lexed(Preprocessed(text, [0], [place], {})))
    for token in raw:
        if token.kind in ("C", "BAD"):
            raise input_error(f"unexpected {token.text!r}", token.place)
    names = _Names(proctypes)
    names.in_formula = True
    return list(names.named(iter(raw)))


def _lexed(source: Preprocessed) -> Iterator[Token]:
    """Yield what stands in the text; formulas have symbols of their own."""
    text = source.text
    offset, depth = 0, 0
    ltl: int | None = None  # the depth around the formula that this is in
    spaced = line = False
    while offset < len(text):
        found = (_LEXED if ltl is None else _LEXED_LTL).match(text, offset)
        place = source.place(offset)
        if text.startswith("/*", offset):
            raise input_error("a comment without its end, expected '*/'", place)
        if found is None:
            yield Token("BAD", text[offset], place)
            return
        offset = found.end()
        if found.lastgroup == "blank":
            spaced = spaced or found[0] != SEPARATOR
            line = line or "\n" in found[0]
            continue
        kind, word = _kind(found, ltl=ltl is not None and depth > ltl)
        if kind == "LTL":
            ltl = depth
        depth += {"LBRACE": 1, "RBRACE": -1}.get(kind, 0)
        if kind == "RBRACE" and depth == ltl:
            ltl = None
        yield Token(kind, word, place, spaced, line)
        spaced = line = False


def _kind(found: re.Match[str], *, ltl: bool) -> tuple[str, str]:
    text = found[0]
    if ltl and text in _TEMPORAL:
        return _TEMPORAL[text], text
    if found.lastgroup == "name":
        if text in _C:
            return "C", text
        return KEYWORDS.get(text, "NAME"), text
    if found.lastgroup == "char":
        inner = text[1:-1]
        inner = _ESCAPES.get(inner[1], inner[1]) if len(inner) == 2 else inner
        return "CONST", str(ord(inner))
    if found.lastgroup in ("number", "string"):
        return {"number": "CONST", "string": "STRING"}[found.lastgroup], text
    return SYMBOLS.get(text) or _TEMPORAL[text], text


def _without_inlines(raw: list[Token]) -> tuple[list[Token], dict[str, _Inline]]:
    """Take the definitions of inlines out."""
    outside: list[Token] = []
    inlines: dict[str, _Inline] = {}
    at = 0
    while at < len(raw):
        if raw[at].kind != "INLINE":
            outside.append(raw[at])
            at += 1
            continue
        head = raw[at + 1 : at + 3]
        if [token.kind for token in head] != ["NAME", "LPAR"]:
            message = "expected 'inline NAME(PARAMETERS) { ... }'"
            raise input_error(message, raw[at].place)
        name = head[0]
        if name.text in inlines:
            raise input_error(f"redeclaration of inline {name.text!r}", name.place)
        close = _closing(raw, at + 2)
        parts = raw[at + 3 : close]
        names, commas = parts[::2], parts[1::2]
        well_formed = all(t.kind == "NAME" for t in names) and all(
            t.kind == "COMMA" for t in commas
        )
        if not well_formed or (parts and len(parts) % 2 == 0):
            raise input_error("expected names of parameters", head[1].place)
        if close + 1 >= len(raw) or raw[close + 1].kind != "LBRACE":
            raise input_error("expected '{' behind it", raw[close].place)
        end = _closing(raw, close + 1)
        body = raw[close + 1 : end + 1]
        inlines[name.text] = _Inline([t.text for t in names], body)
        at = end + 1
    return outside, inlines


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """Return where the bracket is closed that opens at an index."""
    opens = tokens[opening].kind
    closes = {"LPAR": "RPAR", "LBRACE": "RBRACE"}[opens]
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at].kind == opens) - (tokens[at].kind == closes)
        if depth == 0:
            return at
    bracket = {"LPAR": "')'", "LBRACE": "'}'"}[opens]
    message = f"expected {bracket} for it, found the end of the file"
    raise input_error(message, tokens[opening].place)


def _mark_alternatives(tokens: list[Token]) -> None:
    """Mark each ``select`` that is an ``if`` of constants, not a loop, as in Spin.

    It is one with numbers as bounds, less than 33 apart, of a variable with letters and
    digits in its name only, outside of inlines.
    """
    for at, token in enumerate(tokens):
        if token.kind != "SELECT":
            continue
        form = tokens[at : at + len(_SELECT)]
        if [t.kind for t in form] != _SELECT or not form[2].text.isalnum():
            continue
        low, high = form[4].text, form[6].text
        if low.isdigit() and high.isdigit() and int(high) - int(low) <= _WIDEST:
            tokens[at] = replace(token, kind="CHOOSE")


class _Expansion:
    def __init__(self, inlines: dict[str, _Inline]) -> None:
        self.inlines = inlines
        self.count = 0

    def expanded(self, tokens: list[Token], calls: tuple[str, ...] = ()) -> list[Token]:
        """Return tokens with the texts of the inlines that they call."""
        result: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            opens = at + 1 < len(tokens) and tokens[at + 1].kind == "LPAR"
            if token.kind != "NAME" or token.text not in self.inlines or not opens:
                result.append(token)
                at += 1
                continue
            if token.text in calls or len(calls) >= _DEEPEST:
                raise input_error(f"inline {token.text!r} calls itself", token.place)
            end = _closing(tokens, at + 1)
            arguments = _arguments(tokens[at + 2 : end])
            target: list[Token] = []
            if result and result[-1].kind == "ASSIGN":
                result.pop()
                target = _popped_reference(result)
            body = self.body(token, arguments, target)
            result += self.expanded(body, (*calls, token.text))
            self.count += len(body)
            if self.count > _MOST:
                raise input_error(f"inlines have more than {_MOST} tokens", token.place)
            at = end + 1
        return result

    def body(
        self, call: Token, arguments: list[list[Token]], target: list[Token]
    ) -> list[Token]:
        """Return the text of an inline for one call."""
        inline = self.inlines[call.text]
        if len(arguments) != len(inline.parameters):
            raise input_error(
                f"inline {call.text!r} has {len(inline.parameters)} parameters, "
                f"found {len(arguments)} arguments",
                call.place,
            )
        given = dict(zip(inline.parameters, arguments, strict=True))
        body: list[Token] = []
        for token in inline.body:
            if token.kind == "RETURN":
                if not target:
                    message = f"return, but the value of {call.text} is not assigned"
                    raise input_error(message, call.place)
                body += [replace(t, place=token.place) for t in target]
                body.append(Token("ASSIGN", "=", token.place, spaced=True))
            elif token.kind == "NAME" and token.text in given:
                for k, part in enumerate(given[token.text]):
                    spaced, line = (
                        (part.spaced, part.line) if k else (token.spaced, token.line)
                    )
                    body.append(
                        replace(part, place=token.place, spaced=spaced, line=line)
                    )
            else:
                body.append(token)
        body[0] = replace(body[0], line=call.line)
        return body


def _arguments(tokens: list[Token]) -> list[list[Token]]:
    """Return the arguments of a call, which commas separate."""
    arguments: list[list[Token]] = [[]] if tokens else []
    depth = 0
    for token in tokens:
        depth += token.kind in ("LPAR", "LSQB", "LBRACE")
        depth -= token.kind in ("RPAR", "RSQB", "RBRACE")
        if token.kind == "COMMA" and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments


def _popped_reference(tokens: list[Token]) -> list[Token]:
    """Take the variable off that tokens end with."""
    taken: list[Token] = []
    depth = 0
    while tokens:
        token = tokens[-1]
        depth += (token.kind == "RSQB") - (token.kind == "LSQB")
        joins = not taken or taken[-1].kind in ("DOT", "LSQB") or token.kind == "DOT"
        if depth == 0 and token.kind not in ("NAME", "DOT", "LSQB"):
            break
        if depth == 0 and token.kind == "NAME" and not joins:
            break
        taken.append(tokens.pop())
    return taken[::-1]


def _with_line_ends(tokens: list[Token]) -> Iterator[Token]:
    """Yield tokens with the semicolons that ends of lines stand for."""
    depth = parentheses = 0
    body: int | None = None  # the depth around the body that this is in
    begins = False
    before = ""
    for token in tokens:
        inside = body is not None and parentheses == 0
        unless = before == "RBRACE" and token.text.startswith("u")
        if inside and token.line and before in _ENDS and not unless:
            yield Token("SEMI", ";", token.place)
        if token.kind in _BODIES and depth == 0:
            begins = True
        if token.kind == "LBRACE":
            if begins and body is None:
                body, begins = depth, False
            depth += 1
        elif token.kind == "RBRACE":
            depth -= 1
            if body == depth:
                body = None
        parentheses += (token.kind == "LPAR") - (token.kind == "RPAR")
        before = token.kind
        yield token


def _repaired(tokens: Iterator[Token]) -> Iterator[Token]:
    """Yield tokens with semicolons that only braces and ``else`` need, and no more."""
    held: Token | None = None  # a separator
    before = ""
    for token in tokens:
        if held is not None:
            if token.kind not in ("RBRACE", "ARROW", "SEMI"):
                yield held
            held = None
        elif (before == "ELSE" and token.kind not in ("SEMI", "ARROW", "FI")) or (
            before == "RBRACE" and token.kind not in _NO_SEMI_AFTER_BRACE
        ):
            yield Token("SEMI", ";", token.place)
        before = token.kind
        if token.kind in ("SEMI", "ARROW"):
            held = token
        else:
            yield token
    if held is not None:
        yield held


class _Names:
    """The kinds of names, and of ``in`` of a loop."""

    def __init__(self, proctypes: set[str]) -> None:
        self.all_proctypes = proctypes
        self.proctypes: set[str] = set()
        self.typedefs: set[str] = set()
        self.in_formula = False
        self.before = ""
        self.depth = self.loop = 0

    def named(self, tokens: Iterator[Token]) -> Iterator[Token]:
        """Yield tokens with the kinds of their names."""
        for token in tokens:
            kind = token.kind
            self.depth += (kind == "LPAR") - (kind == "RPAR")
            if kind == "FOR":
                self.loop = self.depth + 1
            elif self.depth < self.loop:
                self.loop = 0
            # Formulas are read when everything else has been.
            if kind in ("LTL", "NEVER"):
                self.in_formula = True
            elif kind == "RBRACE":
                self.in_formula = False
            if kind == "NAME":
                kind = self.kind(token.text)
            self.before = kind
            yield token if kind == token.kind else replace(token, kind=kind)

    def kind(self, name: str) -> str:
        """Return the kind of a name at this place."""
        if self.before == "TYPEDEF":
            self.typedefs.add(name)
        elif self.before == "PROCTYPE":
            self.proctypes.add(name)
        elif self.before in ("DOT", "GOTO", "AT"):
            return "NAME"
        elif name == "in" and self.loop == self.depth and self.before in _IN_FRONT:
            return "IN"
        elif name in self.typedefs:
            return "UNAME"
        elif name in (self.all_proctypes if self.in_formula else self.proctypes):
            return "PNAME"
        return "NAME"
