"""A parser of DVE that is fast enough for generated models of millions of characters.

It reads what the grammar of the language says (``tests/systems/programs``), one token
ahead; lark takes ten times as long.  A text that it does not read is read once more, by
a parser that notes what could stand where it is wrong.

Lists of declarations, states and transitions are read by jobs, which yield between two
parts; one part is bounded by `MAX_TOKENS`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.names import listed
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.syntax import (
    Assertion,
    Assignment,
    Binary,
    Channels,
    Closed,
    Declared,
    File,
    Label,
    Literal,
    Name,
    Place,
    Process,
    Section,
    StateOf,
    Synchronisation,
    Transition,
    Unary,
    Values,
    Variables,
    input_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ltlpipe.runtime.errors import InputError
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.syntax import Expression

MAX_TOKENS = 1 << 16
"""Tokens of one declared name or transition."""

_TOKEN = re.compile(
    r"\s*(?:(?://[^\n]*|/\*(?s:.*?)\*/)\s*)*"
    r"(?:([A-Za-z_][A-Za-z0-9_]*)|([0-9]+)"
    r"|(->|\|\||&&|==|!=|<=|>=|<<|>>|/(?!\*)|[-+*%&|^~!?<>=(){}\[\],;:.])"
    r"|(/\*(?s:.*)|.)|\Z)"  # a comment that does not end is one token
)
_NAME, _NUMBER, _SIGN = 1, 2, 3
_KEYWORDS = frozenset(
    (
        *("process", "system", "property", "const", "byte", "int", "channel", "state"),
        *("init", "commit", "accept", "assert", "trans", "guard", "sync", "effect"),
        *("async", "imply", "or", "and", "not", "true", "false"),
    )
)
_LEVELS = {
    operator: level
    for level, operators in enumerate(
        (
            *(("imply",), ("||", "or"), ("&&", "and"), ("|",), ("^",), ("&",)),
            *(("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-")),
            ("*", "/", "%"),
        )
    )
    for operator in operators
}
_SIGNED = len(_LEVELS)  # the level of operators before their operand
_CALLED = {"and": "&&", "or": "||", "!": "not"}  # operators that have another name
_PREFIXES = frozenset({"-", "~", "not", "!"})
_TYPES = ("byte", "int")
_SECTIONS = ("init", "commit", "accept", "assert")
_END = ""  # the token behind all others
_OPERAND, _OPERATOR = "an expression", "an operator"
_CLOSING = ("]", ")", ",", ";")  # what can stand behind an expression

_TOKEN_WORK = 1.0  # units
_TOKEN_BYTES = 250  # of its text, its place and its part of the tree


def tree_of(text: str, file: str) -> Job[File]:
    """Return the job that parses the text of a model.

    Raises
    ------
    InputError
        `text` is no model; names file, line and column and what was expected.
    UnsupportedError
        A part has more than `MAX_TOKENS` tokens.
    """
    parser = Parser(text, file)
    try:
        yield from parser.tokenise()
        return (yield from parser.file())
    except UnreadError:
        pass
    noting = _NotingParser(text, file)
    yield from noting.tokenise()
    try:
        yield from noting.file()
    except UnreadError as error:
        raise noting.error(error.expected) from None
    raise AssertionError(f"{file}: it was not read before")


class UnreadError(Exception):
    """The text is no model; what was expected, if no single token."""

    def __init__(self, expected: str | None = None) -> None:
        super().__init__(expected)
        self.expected = expected


class Parser:
    """Reads the tokens of a text from the first to the last."""

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text, name
        self._lines = [found.start() for found in re.finditer("\n", text)]
        self._tokens: list[str] = []
        self._kinds: list[int] = []
        self._starts: list[int] = []
        self._at = self._last = 0
        self._ticks = Ticks("reading", _TOKEN_WORK)

    def tokenise(self) -> Job[None]:
        """Find the tokens."""
        tokens, kinds, starts = self._tokens, self._kinds, self._starts
        for found in _TOKEN.finditer(self._text):
            kind = found.lastindex
            if kind is None:  # the end
                break
            token = found[kind]
            is_word = kind == _NAME and token in _KEYWORDS
            tokens.append(token)
            kinds.append(_SIGN if is_word else kind)
            starts.append(found.start(kind))
            if not len(tokens) & 0xFFF and self._ticks.over(0x1000):
                self._ticks.memory_bytes = _TOKEN_BYTES * len(tokens)
                yield self._ticks.progress
        tokens.append(_END)
        kinds.append(0)

    def place(self, token: int) -> Place:
        """Return the place of a token."""
        start = self._starts[token]
        line = bisect_left(self._lines, start)
        return Place(line + 1, start - self._lines[line - 1] if line else start + 1)

    def accept(self, token: str) -> bool:
        """Skip a token if it is the next."""
        if self._tokens[self._at] == token:
            self._at += 1
            return True
        return False

    def sees(self, token: str) -> bool:
        """Whether a token is the next."""
        return self._tokens[self._at] == token

    def sees_name(self) -> bool:
        """Whether a name is the next."""
        return self._kinds[self._at] == _NAME

    def expect(self, token: str) -> None:
        """Skip a token that has to be the next."""
        if not self.accept(token):
            raise UnreadError

    def name(self) -> str:
        """Return the next token, which has to be a name."""
        if not self.sees_name():
            raise UnreadError
        self._at += 1
        return self._tokens[self._at - 1]

    def one_of(self, tokens: Collection[str]) -> str:
        """Return the next token, which has to be one of some."""
        found = next(filter(self.accept, tokens), None)
        if found is None:
            raise UnreadError
        return found

    def listed(
        self, part: Callable[[], Any], end: str | None = None
    ) -> Job[tuple[Any, ...]]:
        """Read any number of parts with commas between them, and what ends them."""
        parts: list[Any] = []
        while not parts or self.accept(","):
            begin = self._at
            self._last = begin + MAX_TOKENS
            parts.append(part())
            yield from self._ticks.worked(self._at - begin)
        if end is not None:
            self.expect(end)
        return tuple(parts)

    def several(self, part: Callable[[], Any], end: str | None = None) -> Any:
        """Read a few parts with commas between them, and what ends them."""
        parts = [part()]
        while self.accept(","):
            self._bound()
            parts.append(part())
        if end is not None:
            self.expect(end)
        return tuple(parts)

    def _bound(self) -> None:
        """Refuse a part that is so long that reading it could not be interrupted."""
        if self._at > self._last:
            line = self.place(self._last).line
            raise UnsupportedError(
                f"{self._name}:{line}: more than {MAX_TOKENS} tokens in one declaration"
                " or transition"
            )

    # --- the rules of the grammar ---

    def file(self) -> Job[File]:
        """Read all of the text."""
        declarations: list[Variables | Channels] = []
        while not self.sees("process"):
            is_channel = self.sees("channel")
            read: Job[Any] = self.channels() if is_channel else self.variables()
            declarations.append((yield from read))
        processes: list[Process] = []
        while not processes or self.sees("process"):
            processes.append((yield from self.process()))
        self.expect("system")
        place = self._at
        mode = self.one_of(("async", "sync"))
        claim = self.label() if self.accept("property") else None
        self.expect(";")
        self.expect(_END)
        parts = tuple(declarations), tuple(processes)
        return File(self.place(place), *parts, mode, claim)

    def variables(self) -> Job[Variables]:
        """Read a declaration of variables or constants."""
        place = self._at
        constant = "const" if self.accept("const") else None
        kind = self.one_of(_TYPES)
        names = yield from self.listed(self.declared, ";")
        return Variables(self.place(place), constant, kind, names)

    def declared(self) -> Declared:
        """Read one name of a declaration."""
        place = self.place(self._at)
        name, size = self.name(), self.size()
        initial: Expression | Values | None = None
        if self.accept("="):
            if self.accept("{"):
                values = self.several(self.expression, "}")
                initial = Values(values[0].place, values)
            else:
                initial = self.expression()
        return Declared(place, name, size, initial)

    def size(self) -> Expression | None:
        """Read the size of an array or channel, if there is one."""
        if not self.accept("["):
            return None
        found = self.expression()
        self.expect("]")
        return found

    def channels(self) -> Job[Channels]:
        """Read a declaration of channels."""
        self.expect("channel")
        place, types = self._at, None
        if self.accept("{"):
            place = self._at
            types = yield from self.listed(lambda: self.one_of(_TYPES), "}")
        names = yield from self.listed(self.channel, ";")
        return Channels(self.place(place), types, names)

    def channel(self) -> Declared:
        """Read one channel of a declaration."""
        place = self.place(self._at)
        return Declared(place, self.name(), self.size())

    def process(self) -> Job[Process]:
        """Read a process."""
        self.expect("process")
        place = self._at
        name = self.name()
        self.expect("{")
        local = []
        while not self.accept("state"):
            local.append((yield from self.variables()))
        states = yield from self.listed(self.label, ";")
        sections = yield from self.sections()
        transitions = None
        if self.accept("trans"):
            transitions = yield from self.listed(self.transition)
            self.accept(";")
        self.expect("}")
        parts = tuple(local), states, sections, transitions
        return Process(self.place(place), name, *parts)

    def sections(self) -> Job[tuple[Section, ...]]:
        """Read the parts of a process behind its states."""
        found: list[Section] = []
        while True:
            place, token = self._at, next(filter(self.accept, _SECTIONS), None)
            if token is None:
                return tuple(found)
            part: Callable[[], Label | Assertion] = self.label
            if token == "assert":
                part = self.assertion
            entries = yield from self.listed(part, ";")
            found.append(Section(self.place(place), token, entries))

    def label(self) -> Label:
        """Read the name of a state."""
        place = self._at
        return Label(self.place(place), self.name())

    def assertion(self) -> Assertion:
        """Read an assertion."""
        place = self.place(self._at)
        state = self.label()
        self.expect(":")
        return Assertion(place, state, self.expression())

    def transition(self) -> Transition:
        """Read a transition."""
        source = self.label() if self.sees_name() else None
        place = self._at
        self.expect("->")
        target = self.label()
        self.expect("{")
        guard = sync = effect = None
        if self.accept("guard"):
            guard = self.several(self.expression, ";")
        if self.accept("sync"):
            sync = self.synchronisation()
        if self.accept("effect"):
            effect = self.several(self.assignment, ";")
        self.expect("}")
        return Transition(self.place(place), source, target, guard, sync, effect)

    def synchronisation(self) -> Synchronisation:
        """Read what is sent or received."""
        place = self.place(self._at)
        channel = self.name()
        mark, message = self.one_of("!?"), None
        if self.accept("{"):
            message = self.several(self.expression, "}")
        elif not self.sees(";"):
            message = (self.expression(),)
        self.expect(";")
        return Synchronisation(place, channel, mark, message)

    def assignment(self) -> Assignment:
        """Read one assignment."""
        place = self.place(self._at)
        target = self.variable()
        self.expect("=")
        return Assignment(place, target, self.expression())

    def variable(self) -> Name:
        """Read what is assigned to."""
        place = self.place(self._at)
        process, name = None, self.name()
        if self.accept("->"):
            process, name = name, self.name()
        return Name(place, process, name, self.size())

    def expression(self) -> Expression:
        """Read an expression: operands and operators wait on two stacks."""
        tokens = self._tokens
        values: list[Expression] = []
        waiting: list[tuple[int, int, tuple[str | None, str] | None]] = []
        while True:
            values.append(self._operand(waiting))
            while True:
                level = _LEVELS.get(tokens[self._at])
                self._reduce(values, waiting, -1 if level is None else level)
                if level is not None:
                    waiting.append((level, self._at, None))
                    self._at += 1
                    self._bound()
                    break
                if not waiting:
                    (found,) = values
                    return found
                if not self._closed(values, waiting):
                    raise UnreadError

    def _operand(self, waiting: list[Any]) -> Expression:
        """Read an operand, with the operators and brackets before it on the stack."""
        while True:
            place, token = self._at, self._tokens[self._at]
            kind = self._kinds[place]
            self._at += 1
            if kind == _NUMBER or token in ("true", "false"):
                return Literal(self.place(place), token)
            if kind == _NAME:
                found = self._named(place, token, waiting)
                if found is not None:
                    return found
            elif token in _PREFIXES:
                waiting.append((_SIGNED, place, None))
            elif token == "(":
                waiting.append((-1, place, None))
            else:
                self._at = place
                raise UnreadError(_OPERAND)
            self._bound()

    def _named(
        self, place: int, name: str, waiting: list[Any]
    ) -> Name | StateOf | None:
        """Read what begins with a name; None if it is an array, whose index follows."""
        process = None
        token = self._tokens[self._at]
        if token == ".":
            self._at += 1
            return StateOf(self.place(place), name, self.name())
        if token == "->":
            self._at += 1
            process, name = name, self.name()
            token = self._tokens[self._at]
        if token == "[":
            self._at += 1
            waiting.append((-1, place, (process, name)))
            return None
        return Name(self.place(place), process, name, None)

    def _closed(self, values: list[Expression], waiting: list[Any]) -> bool:
        """Close a bracket if it is the next token, and fits."""
        _, place, array = waiting[-1]
        if not self.accept(")" if array is None else "]"):
            return False
        waiting.pop()
        inner = values.pop()
        if array is None:
            values.append(Closed(self.place(place), inner))
        else:
            process, name = array
            values.append(Name(self.place(place), process, name, inner))
        return True

    def _reduce(self, values: list[Expression], waiting: list[Any], least: int) -> None:
        """Apply the operators on the stack that bind at least as close as a level."""
        while waiting and waiting[-1][0] >= max(least, 0):
            level, place, _ = waiting.pop()
            token = self._tokens[place]
            op = _CALLED.get(token, token)
            right = values.pop()
            if level == _SIGNED:
                values.append(Unary(self.place(place), op, right))
            else:
                values.append(Binary(self.place(place), values.pop(), op, right))


class _NotingParser(Parser):
    """Notes at the place that it has reached what could stand there."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self._wanted: set[str] = set()
        self._noted = -1  # for which token

    def _note(self, what: str) -> None:
        if self._noted < self._at:
            self._noted, self._wanted = self._at, set()
        self._wanted.add(what)

    def accept(self, token: str) -> bool:
        """Skip a token if it is the next."""
        self._note(repr(token) if token else "the end of the file")
        return super().accept(token)

    def sees(self, token: str) -> bool:
        """Whether a token is the next."""
        self._note(repr(token))
        return super().sees(token)

    def sees_name(self) -> bool:
        """Whether a name is the next."""
        self._note("a name")
        return super().sees_name()

    def _reduce(self, values: list[Expression], waiting: list[Any], least: int) -> None:
        self._note(_OPERATOR)
        super()._reduce(values, waiting, least)

    def error(self, expected: str | None) -> InputError:
        """Return what is wrong at the place that has been reached."""
        token = self._tokens[self._at]
        if token == _END:
            lines = self._text.rstrip().split("\n")
            place = Place(len(lines), len(lines[-1]) + 1)
            found = "end of file"
        else:
            place, found = self.place(self._at), repr(token[:40])
        if token.startswith("/*"):
            message = "unexpected end of file in a comment, expected '*/'"
        elif self._kinds[self._at] > _SIGN:
            message = f"unexpected character {token!r}"
        else:
            message = f"unexpected {found}, expected {self._expected(token, expected)}"
        return input_error(message, place, self._name)

    def _expected(self, token: str, expected: str | None) -> str:
        """Return what could stand in the place of a token, in words."""
        wanted = self._wanted if self._noted == self._at else set()
        if _OPERATOR in wanted:
            # What can end an expression has ended it, though nothing like it could
            # follow that; and what else could go on with an operand is not said.
            wanted = {c for c in map(repr, _CLOSING) if c in wanted} or wanted
            begun = [] if token in (*_CLOSING, "}") else [_OPERATOR]
        else:
            begun = [] if expected is None else [expected]
        return listed([*begun, *sorted(wanted - {_OPERATOR})])
