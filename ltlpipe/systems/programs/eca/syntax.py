r"""Reading the C and Java programs of the RERS challenge.

The grammar, of which each line is all there is (``e`` is an expression)::

    program    = { "extern" ... ";" | prototype | variable | function | main }
    prototype  = "void" NAME "(" [ "int" [NAME] ] ")" ";"
    variable   = "int" NAME "=" constant ";"
               | "int" NAME "[" [NUMBER] "]" "=" "{" constant { "," constant } "}" ";"
               | "int" "*" NAME "=" ARRAY ";"
    function   = "void" NAME "(" [ "int" "input" ] ")" block
    main       = "int" "main" ...                  not read: its loop is the meaning
    block      = "{" { statement } "}"
    statement  = "if" "(" e ")" body [ "else" body ] | NAME "=" e ";" | ";"
               | POINTER "=" ARRAY ";" | NAME "(" [ "input" ] ")" ";"
               | "printf" "(" FORMAT "," NUMBER ")" ";" | "fflush" "(" "stdout" ")" ";"
               | "fprintf" "(" "stderr" "," FORMAT "," "input" ")" ";"
               | "__VERIFIER_error" "(" NUMBER ")" ";" | "assert" "(" "0" ")" ";"
    body       = block | statement
    e          = e OP e | "-" e | "!" e | "(" e ")" | constant | NAME | NAME "[" e "]"
    OP         = "||" "&&" "==" "!=" "<" "<=" ">" ">=" "+" "-" "*" "/" "%"

Operators bind as in C.  Lines with ``#include`` and comments say nothing.  ``int
inputs[]`` has the inputs, ``int cf`` is the flag.  Arrays are never written to; all
that a pointer is made to point to have one length.

A token is a match of one regular expression, and what follows is a parser by recursive
descent over their list: a program of 110,000 lines takes a few seconds.

Programs in Java are rewritten as programs in C (`as_c`): each construct has its
counterpart in C on the same line.  A string has one letter, which becomes its number: 1
to 26 for capitals, inputs and outputs; for small letters 28 and so on, as in the C
programs, where "e" is 32.  Numbers wrap round in Java as they do in what is read of C,
and a division by zero or an index out of range ends the run.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.files import split_suffix
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.eca.program import (
    FLAG,
    INPUT,
    STEP,
    Assign,
    Call,
    Fail,
    If,
    Print,
    Refuse,
    Source,
    Variable,
)
from ltlpipe.systems.programs.program import (
    Binary,
    Expression,
    Lookup,
    Number,
    Read,
    Unary,
    wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.program import Statement

READING = "reading"

_TOKEN = re.compile(
    r"(?m:^)(?:[ \t]|/\*(?:[^*]|\*(?!/))*\*/)*\#[ \t]*include(?:[^\n/]|/(?!\*))*"
    r"|\s*\n|[^\S\n]+|//[^\n]*|/\*.*?\*/"
    r'|(\d+|[A-Za-z_]\w*|&&|\|\||--|[<>=!]=|"(?:[^"\\\n]|\\.)*"|\S)',
    re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_BINDING = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("==", "!="), 3),
    **dict.fromkeys(("<", "<=", ">", ">="), 4),
    **dict.fromkeys("+-", 5),
    **dict.fromkeys("*/%", 6),
}
_KEYWORDS = frozenset({"if", "else", "int", "void", "while", "return", "extern"})
_TURN = 20_000  # tokens between two yields
_MOST, _DIGITS = 1 << 31, 40
_LONG = f"arithmetic with {-_MOST}, which is no int in C; write ({1 - _MOST} - 1)"


class _Long(Number):
    """The number that C computes with in 64 bits, though an int can be it."""


def read_source(text: str, file: str) -> Job[Source]:
    """Read a program.

    Raises
    ------
    InputError
        Something is outside of the grammar; names file and line.
    """
    tokens: list[str] = []
    places: list[int] = []
    matches = _TOKEN.finditer(text)
    while batch := list(islice(matches, _TURN)):
        found = [m for m in batch if m[1] is not None]
        tokens += [m[1] for m in found]
        places += [m.start(1) for m in found]
        yield Progress(READING, _TURN, 100 * len(tokens))
    reader = _Reader(tokens, places, text, file)
    try:
        source = yield from reader.program()
    except RecursionError:
        raise reader.error("nested too deeply") from None
    return source


class _Reader:
    """A parser by recursive descent."""

    def __init__(
        self, tokens: list[str], places: list[int], text: str, file: str
    ) -> None:
        self._tokens = [*tokens, ""]
        self._at = 0
        ends = np.flatnonzero(np.frombuffer(text.encode("utf-32-le"), np.uint32) == 10)
        lines = np.searchsorted(ends, np.array([*places, len(text)])) + 1
        self._lines: list[int] = lines.tolist()
        self._file = file
        self._variables = [Variable("input", 0)]
        self._index = {"input": INPUT}
        self._arrays: dict[str, tuple[int, ...]] = {}
        self._pointers: dict[int, list[str]] = {}  # what each may point to
        self._started: dict[str, int] = {}  # pointers that are declared: the line
        self._functions: dict[str, tuple[Statement, ...]] = {}
        self._prototypes: set[str] = set()
        self._inputs: tuple[int, ...] | None = None

    def error(self, message: str, line: int | None = None) -> InputError:
        """Return an error at a line, by default that of the next token."""
        at = self._lines[self._at] if line is None else line
        return InputError(message, file=self._file, line=at)

    def _expected(self, what: str) -> InputError:
        found = self._tokens[self._at]
        return self.error(
            f"expected {what}, found {found!r}"
            if found
            else f"expected {what}, found the end"
        )

    def _take(self, token: str) -> None:
        if self._tokens[self._at] != token:
            raise self._expected(repr(token))
        self._at += 1

    def _takes(self, *tokens: str) -> bool:
        """Take tokens if they are the next ones."""
        if tuple(self._tokens[self._at : self._at + len(tokens)]) != tokens:
            return False
        self._at += len(tokens)
        return True

    def _name(self, what: str = "a name") -> str:
        found = self._tokens[self._at]
        if not _NAME.fullmatch(found) or found in _KEYWORDS:
            raise self._expected(what)
        self._at += 1
        return found

    # --- declarations -------------------------------------------------------

    def program(self) -> Job[Source]:
        """Read all."""
        self._collect_pointers()
        ticks = Ticks(READING, 2.0)
        while self._tokens[self._at]:
            before = self._at
            if self._takes("extern"):
                while not self._takes(";"):
                    if not self._tokens[self._at]:
                        raise self._expected("';'")
                    self._at += 1
            elif self._takes("int", "main"):
                self._skip_main()
            elif self._takes("int"):
                self._declaration()
            elif self._takes("void"):
                yield from self._function(ticks)
            else:
                raise self._expected("a declaration, 'int' or 'void'")
            yield from ticks.worked(self._at - before)
        return self._checked()

    def _checked(self) -> Source:
        if self._inputs is None:
            raise self.error("expected the inputs, 'int inputs[] = {...};'")
        if "cf" not in self._index:
            raise self.error("expected the flag, 'int cf = 1;'")
        if STEP not in self._functions:
            raise self.error(f"expected a function {STEP!r}")
        name = split_suffix(PurePath(self._file).name)[0]
        return Source(
            name or self._file,
            tuple(self._variables),
            self._inputs,
            self._functions,
        )

    def _skip_main(self) -> None:
        depth = 0
        while True:
            token = self._tokens[self._at]
            if not token:
                raise self._expected("'}'")
            self._at += 1
            depth += (token == "{") - (token == "}")
            if token == "}" and not depth:
                return

    def _collect_pointers(self) -> None:
        """Find out which arrays each pointer may point to, anywhere in the text."""
        tokens = self._tokens
        arrays = {
            tokens[k + 1]
            for k in range(len(tokens) - 3)
            if tokens[k + 2] == "[" and tokens[k] == "int"
        }
        stars = [
            k
            for k in range(len(tokens) - 2)
            if tokens[k] == "*" and tokens[k - 1] == "int"
        ]
        targets: dict[str, list[str]] = {tokens[k + 1]: [] for k in stars}
        for k in range(1, len(tokens) - 2) if targets else ():
            if (
                tokens[k] == "="
                and tokens[k - 1] in targets
                and tokens[k + 1] in arrays
            ):
                known = targets[tokens[k - 1]]
                if tokens[k + 1] not in known:
                    known.append(tokens[k + 1])
        self._targets = targets

    def _declaration(self) -> None:
        line = self._lines[self._at]
        if self._takes("*"):
            name = self._new_name()
            self._take("=")
            target = self._name("an array")
            self._take(";")
            number = self._declared(name, 0, tuple(self._targets[name]))
            self._pointers[number] = self._targets[name]
            if target not in self._arrays:
                raise self.error(
                    f"{target!r} is no array that is declared before", line
                )
            first = self._targets[name].index(target)
            self._variables[number] = self._variables[number]._replace(initial=first)
            return
        name = self._new_name()
        if self._takes("["):
            self._array(name, line)
            return
        if self._tokens[self._at] == "(":
            raise self.error(
                f"{name!r} returns a number, as in the challenges up to 2013; expected "
                "'void', and outputs by printf",
                line,
            )
        self._take("=")
        self._declared(name, self._constant())
        self._take(";")

    def _new_name(self) -> str:
        name = self._name()
        if name in self._index or name in self._arrays:
            raise self.error(f"{name!r} is declared twice")
        return name

    def _declared(self, name: str, initial: int, arrays: tuple[str, ...] = ()) -> int:
        if name == "cf" or len(self._variables) == FLAG:
            self._make_room(name)
        if name == "cf":
            return FLAG
        number = self._index[name] = len(self._variables)
        self._variables.append(Variable(name, initial, arrays))
        return number

    def _make_room(self, name: str) -> None:
        """Have the flag be where it always is, wherever it is declared."""
        if len(self._variables) == FLAG:
            self._variables.append(Variable("cf", 1))
        if name == "cf":
            self._index["cf"] = FLAG

    def _array(self, name: str, line: int) -> None:
        size = None
        if not self._takes("]"):
            size = self._constant()
            self._take("]")
        self._take("=")
        self._take("{")
        values = [self._constant()]
        while not self._takes("}"):
            self._take(",")
            values.append(self._constant())
        self._take(";")
        if size not in (None, len(values)):
            raise self.error(f"{name}: {len(values)} values, expected {size}", line)
        self._arrays[name] = tuple(values)
        if name == "inputs":
            if len(set(values)) < len(values):
                raise self.error("an input stands twice", line)
            self._inputs = tuple(values)

    def _constant(self) -> int:
        negative = self._takes("-")
        return self._number(negative)

    def _number(self, negative: bool = False) -> int:
        found = self._tokens[self._at]
        if not found.isdecimal():
            raise self._expected("a number")
        if len(found) > 1 and found[0] == "0":
            raise self.error(f"{found!r} is octal in C; expected a decimal number")
        value = int(found[:_DIGITS]) * (-1 if negative else 1)
        if len(found) > _DIGITS or not -_MOST <= value < _MOST:
            told = "-" * negative + found[:_DIGITS]
            raise self.error(f"{told} is beyond 32 bits")
        self._at += 1
        return value

    def _function(self, ticks: Ticks) -> Job[None]:
        name = self._name()
        self._take("(")
        if self._takes("int") and self._tokens[self._at] != ")":
            self._take("input")
        self._take(")")
        if self._takes(";"):
            self._prototypes.add(name)
            return
        if name in self._functions:
            raise self.error(f"function {name!r} is defined twice")
        self._take("{")
        body: list[Statement] = []
        while not self._takes("}"):
            before = self._at
            body += self._statement()
            yield from ticks.worked(self._at - before)
        self._functions[name] = tuple(body)

    # --- statements ---------------------------------------------------------

    def _body(self) -> tuple[Statement, ...]:
        if not self._takes("{"):
            return tuple(self._statement())
        found: list[Statement] = []
        while not self._takes("}"):
            found += self._statement()
        return tuple(found)

    def _statement(self) -> Sequence[Statement]:
        """Read a statement; an empty one and ``fflush`` are none."""
        line = self._lines[self._at]
        if self._takes(";"):
            return ()
        if self._takes("if", "("):
            condition = self._expression(0)
            self._take(")")
            then = self._body()
            otherwise = self._body() if self._takes("else") else ()
            return (If(condition, then, otherwise, line),)
        name = self._name("a statement")
        found: Statement | None
        if self._takes("="):
            found = self._assignment(name, line)
        elif self._tokens[self._at] == "[":
            raise self.error(f"{name!r}: elements of arrays are not assigned to")
        else:
            self._take("(")
            found = self._call(name, line)
        self._take(";")
        return () if found is None else (found,)

    def _assignment(self, name: str, line: int) -> Statement:
        number = self._index.get(name)
        if number is None or number == INPUT:
            raise self.error(f"{name!r} is no variable to be assigned to", line)
        if number not in self._pointers:
            return Assign(number, self._expression(0), line)
        target = self._name("an array")
        if target not in self._arrays:
            raise self.error(f"{target!r} is no array, to which {name!r} could point")
        return Assign(number, Number(self._pointers[number].index(target)), line)

    def _call(self, name: str, line: int) -> Statement | None:
        """Read a call behind its parenthesis."""
        found: Statement | None
        if name == "printf":
            self._format("%d\\n")
            found = Print(self._number(), line)
        elif name == "fprintf":
            self._take("stderr")
            self._take(",")
            self._format(None)
            self._take("input")
            found = Refuse(line)
        elif name == "fflush":
            self._take("stdout")
            found = None
        elif name == "__VERIFIER_error":
            self._number()
            found = Fail(line)
        elif name == "assert":
            self._take("0")
            found = Fail(line)
        else:
            self._takes("input")
            if name not in self._prototypes and name not in self._functions:
                raise self.error(f"no function is called {name!r}", line)
            found = Call(name, line)
        self._take(")")
        return found

    def _format(self, text: str | None) -> None:
        found = self._tokens[self._at]
        if not found.startswith('"') or text not in (None, found[1:-1]):
            raise self._expected("a format" if text is None else f'"{text}"')
        self._at += 1
        self._take(",")

    # --- expressions --------------------------------------------------------

    def _expression(self, binding: int) -> Expression:
        """Read an expression whose operators bind tighter than `binding`."""
        tokens = self._tokens
        left = self._operand()
        while True:
            operator = tokens[self._at]
            found = _BINDING.get(operator, 0)
            if found <= binding:
                return left
            self._at += 1
            right = self._expression(found)
            if operator in "+-*/%" and _Long in (type(left), type(right)):
                raise self.error(_LONG)
            left = Binary(operator, left, right)

    def _operand(self) -> Expression:
        token = self._tokens[self._at]
        if token == "(":
            self._at += 1
            inner = self._expression(0)
            self._take(")")
            return inner
        if token.isdecimal():
            return Number(self._number())
        if token in ("-", "!"):
            self._at += 1
            if token == "-" and self._tokens[self._at].isdecimal():
                value = self._number(negative=True)
                return _Long(value) if value == -_MOST else Number(value)
            inner = self._operand()
            if token == "-" and isinstance(inner, _Long):
                raise self.error(_LONG)
            if isinstance(inner, Number):
                value = wrapped(-inner.value) if token == "-" else int(not inner.value)
                return Number(value)
            return Unary("-" if token == "-" else "not", inner)
        name = self._name("an expression")
        if self._takes("["):
            index = self._expression(0)
            self._take("]")
            return self._element(name, index)
        number = self._index.get(name)
        if number is None or number in self._pointers:
            raise self.error(f"{name!r} is no variable with a value")
        return Read(number)

    def _element(self, name: str, index: Expression) -> Expression:
        number = self._index.get(name)
        if name in self._arrays:
            return self._looked_up(self._arrays[name], index)
        if number not in self._pointers:
            raise self.error(f"{name!r} is no array that is declared before")
        rows = [self._arrays.get(target, ()) for target in self._pointers[number]]
        size = len(rows[0])
        if any(len(row) != size for row in rows):
            raise self.error(f"{name!r} may point to arrays of different lengths")
        place = self._looked_up(range(size), index)
        row = Binary("*", Read(number), Number(size))
        return Lookup(sum(rows, ()), Binary("+", row, place))

    def _looked_up(self, values: Sequence[int], index: Expression) -> Expression:
        """Return an element, whose index is tested to be in range."""
        if not isinstance(index, Number):
            return Lookup(tuple(values), index)
        if not 0 <= index.value < len(values):
            message = f"index {index.value} of an array of {len(values)} elements"
            raise self.error(message)
        return Number(values[index.value])


# What has no end of its own is bounded: a text that never ends it is read once.
_CLASS = re.compile(r"\bclass\s{1,99}\w{1,999}[^{};]{0,999}\{")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)

_REWRITTEN = [
    (re.compile(pattern), c)
    for pattern, c in (
        (r"\b(?:import|package)\s[^;]{0,999};", ""),
        (
            r"\bclass\s{1,99}Errors\s{0,99}\{[^{}]{0,999}\{[^{}]{0,999}\}[^{}]{0,999}\}",
            "",
        ),
        (r"\bstatic\s{1,99}BufferedReader\s[^;]{0,999};", ""),
        (
            r"\bpublic\s{1,99}static\s{1,99}void\s{1,99}main\s{0,99}\([^()]{0,999}\)",
            "int main()",
        ),
        (r"\b(?:public|private|static|final)\s", " "),
        (r"\bthrows\s+Exception\b", ""),
        (r"\b(?:int|String)\s*\[\]\s*(\w+)\s*=\s*\{", r"int \1[] = {"),
        (r"\bint\s*\[\]\s*(\w+)\s*=\s*(\w+)\s*;", r"int *\1 = \2;"),
        (r"\b(?:boolean|String)\b", "int"),
        (r"\bcalculateOutput", "calculate_output"),
        (r'\b(\w+)\.equals\(\s*("\w"|\w+\[\d+\])\s*\)', r"(\1 == \2)"),
        (r"\bSystem\.out\.println\(", r'printf("%d\\n", '),
        (
            r'\bthrow\s{1,99}new\s{1,99}IllegalArgumentException\(\s*"[^"]{0,999}"\s*\)',
            'fprintf(stderr, "", input)',
        ),
        (
            r"\bthrow\s{1,99}new\s{1,99}IllegalStateException\([^;]{0,999}\)",
            "__VERIFIER_error(0)",
        ),
        (r"\bErrors\.__VERIFIER_error\b", "__VERIFIER_error"),
        (r"\btrue\b", "1"),
        (r"\bfalse\b", "0"),
        (r"\bcf\b(?!\s*=[^=])", "(cf == 1)"),
    )
]


def as_c(text: str, file: str) -> Job[str]:
    """Return a program in C with the lines of one in Java.

    Raises
    ------
    InputError
        There is something else than one class; names file and line.
    """
    for pattern, c in _REWRITTEN:
        text = pattern.sub(lambda m, c=c: m.expand(c) + "\n" * m[0].count("\n"), text)  # type: ignore[misc]
        yield Progress(READING, len(text) / 50, 3 * len(text))
    text = re.sub(r'"([A-Za-z])"', _number, text)
    begin, end = _CLASS.search(text), text.rfind("}")
    if begin is None:
        raise InputError("expected 'public class NAME {'", file=file)
    for outside, place in ((text[: begin.start()], 0), (text[end + 1 :], end + 1)):
        bare = _COMMENT.sub(_without_comment, outside)
        if found := re.search(r"\S+", bare):
            line = 1 + text.count("\n", 0, place) + bare.count("\n", 0, found.start())
            expected = "the class to end with '}'" if place else "one class"
            message = f"expected {expected}, found {found[0]!r}"
            raise InputError(message, file=file, line=line)
    functions = re.findall(r"\bvoid\s+(\w+)\s*\(", text)
    prototypes = "".join(f"void {name}(int);" for name in functions)
    lines = "\n" * text.count("\n", 0, begin.end())
    return prototypes + lines + text[begin.end() : end]


def _number(letter: re.Match[str]) -> str:
    return str(ord(letter[1]) - (64 if letter[1].isupper() else 69))


def _without_comment(found: re.Match[str]) -> str:
    """Return the lines of a comment, or what begins one that does not end."""
    is_whole = found[0].startswith("//") or found[0].endswith("*/")
    return "\n" * found[0].count("\n") if is_whole else found[0]
