"""A parser of DVE that is fast enough for generated models of millions of characters.

It reads what the grammar of `ltlpipe.systems.programs.syntax` says, one token ahead,
and returns the nodes of the tree as they travel.  A text that it does not read is
parsed by the grammar, whose parser knows what it expected: all messages are made there.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*(?:(?://[^\n]*|/\*(?s:.*?)\*/)\s*)*"
    r"(?:([A-Za-z_][A-Za-z0-9_]*)|([0-9]+)"
    r"|(->|\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%&|^~!?<>=(){}\[\],;:.])|(.)|\Z)"
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
_TYPES = frozenset({"byte", "int"})
_SECTIONS = frozenset({"init", "commit", "accept"})

Ref = list[int]
"""The number of a node, as the parts of other nodes have it."""


class UnreadError(Exception):
    """The text is no model."""


class Parser:
    """Reads the tokens of a text from the first to the last."""

    def __init__(self, text: str) -> None:
        self.nodes: list[list[Any]] = []
        self._lines = [found.start() for found in re.finditer("\n", text)]
        self._tokens: list[str] = []
        self._kinds: list[int] = []
        self._starts: list[int] = []
        for found in _TOKEN.finditer(text):
            kind = found.lastindex
            if kind is None:  # the end
                break
            token = found[kind]
            is_word = kind == _NAME and token in _KEYWORDS
            self._tokens.append(token)
            self._kinds.append(_SIGN if is_word else kind)
            self._starts.append(found.start(kind))
        self._tokens.append("")
        self._kinds.append(0)
        self._at = 0

    def node(self, kind: str, place: int, *fields: Any) -> Ref:
        """Append a node at the place of a token; return its number."""
        start = self._starts[place]
        line = bisect_left(self._lines, start)
        before = self._lines[line - 1] if line else -1
        self.nodes.append([kind, line + 1, start - before, *fields])
        return [len(self.nodes) - 1]

    def several(self, kind: str, parts: list[Any]) -> Ref:
        """Append a node that only holds others."""
        self.nodes.append([kind, 0, 0, *parts])
        return [len(self.nodes) - 1]

    def accept(self, token: str) -> bool:
        """Skip a token if it is the next."""
        if self._tokens[self._at] == token:
            self._at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        """Skip a token that has to be the next."""
        if self._tokens[self._at] != token:
            raise UnreadError
        self._at += 1

    def name(self) -> str:
        """Return the next token, which has to be a name."""
        if self._kinds[self._at] != _NAME:
            raise UnreadError
        self._at += 1
        return self._tokens[self._at - 1]

    def one_of(self, tokens: frozenset[str]) -> str:
        """Return the next token, which has to be one of some."""
        token = self._tokens[self._at]
        if token not in tokens:
            raise UnreadError
        self._at += 1
        return token

    def listed(self, kind: str, part: Callable[[], Any], end: str | None = None) -> Ref:
        """Read parts with commas between them, and what ends them."""
        parts = [part()]
        while self.accept(","):
            parts.append(part())
        if end is not None:
            self.expect(end)
        return self.several(kind, parts)

    # --- the rules of the grammar ---

    def file(self) -> None:
        """Read all of the text."""
        declarations = []
        while self._tokens[self._at] != "process":
            is_channel = self._tokens[self._at] == "channel"
            declarations.append(self.channels() if is_channel else self.variables())
        declared = self.several("declarations", declarations)
        processes = []
        while self._tokens[self._at] == "process":
            processes.append(self.process())
        listed = self.several("processes", processes)
        self.expect("system")
        place = self._at
        mode = self.one_of(frozenset({"async", "sync"}))
        claim = self.label() if self.accept("property") else None
        self.expect(";")
        if self._at != len(self._starts):
            raise UnreadError
        self.node("file", place, declared, listed, mode, claim)

    def variables(self) -> Ref:
        """Read a declaration of variables or constants."""
        place = self._at
        constant = "const" if self.accept("const") else None
        kind = self.one_of(_TYPES)
        names = self.listed("names", self.declared, ";")
        return self.node("variables", place, constant, kind, names)

    def declared(self) -> Ref:
        """Read one name of a declaration."""
        place = self._at
        name, size, initial = self.name(), self.size(), None
        if self.accept("="):
            if self.accept("{"):
                several = self.listed("several", self.expression, "}")
                values = self.nodes[several[0]][3]
                line, column = self.nodes[values[0]][1:3]
                self.nodes.append(["values", line, column, several])
                initial = [len(self.nodes) - 1]
            else:
                initial = self.expression()
        return self.node("declared", place, name, size, initial)

    def size(self) -> Ref | None:
        """Read the size of an array or channel, if there is one."""
        if not self.accept("["):
            return None
        found = self.expression()
        self.expect("]")
        return found

    def channels(self) -> Ref:
        """Read a declaration of channels."""
        self.expect("channel")
        place, types = self._at, None
        if self.accept("{"):
            place = self._at
            types = self.listed("types", lambda: self.one_of(_TYPES), "}")
        names = self.listed("channel_names", self.channel, ";")
        return self.node("channels", place, types, names)

    def channel(self) -> Ref:
        """Read one channel of a declaration."""
        place = self._at
        name = self.name()
        return self.node("declared", place, name, self.size())

    def process(self) -> Ref:
        """Read a process."""
        self.expect("process")
        place = self._at
        name = self.name()
        self.expect("{")
        local = []
        while not self.accept("state"):
            local.append(self.variables())
        declared = self.several("locals", local)
        states = self.listed("labels", self.label, ";")
        sections = self.sections()
        transitions = None
        if self.accept("trans"):
            transitions = self.listed("transitions", self.transition)
            self.accept(";")
        self.expect("}")
        return self.node(
            "process", place, name, declared, states, sections, transitions
        )

    def sections(self) -> Ref:
        """Read the parts of a process behind its states."""
        found: list[Ref] = []
        while True:
            place, token = self._at, self._tokens[self._at]
            if token in _SECTIONS:
                self._at += 1
                entries = self.listed("labels", self.label, ";")
            elif self.accept("assert"):
                entries = self.listed("assertions", self.assertion, ";")
            else:
                return self.several("sections", found)
            found.append(self.node("section", place, token, entries))

    def label(self) -> Ref:
        """Read the name of a state."""
        place = self._at
        return self.node("label", place, self.name())

    def assertion(self) -> Ref:
        """Read an assertion."""
        place = self._at
        state = self.label()
        self.expect(":")
        return self.node("assertion", place, state, self.expression())

    def transition(self) -> Ref:
        """Read a transition."""
        source = self.label() if self._kinds[self._at] == _NAME else None
        place = self._at
        self.expect("->")
        target = self.label()
        self.expect("{")
        guard = sync = effect = None
        if self.accept("guard"):
            guard = self.listed("guard", self.expression, ";")
        if self.accept("sync"):
            sync = self.synchronisation()
        if self.accept("effect"):
            effect = self.listed("effect", self.assignment, ";")
        self.expect("}")
        return self.node("transition", place, source, target, guard, sync, effect)

    def synchronisation(self) -> Ref:
        """Read what is sent or received."""
        place = self._at
        channel = self.name()
        mark, message = self.one_of(frozenset("!?")), None
        if self.accept("{"):
            message = self.listed("message", self.expression, "}")
        elif self._tokens[self._at] != ";":
            message = self.several("message", [self.expression()])
        self.expect(";")
        return self.node("synchronisation", place, channel, mark, message)

    def assignment(self) -> Ref:
        """Read one assignment."""
        place = self._at
        target = self.variable()
        self.expect("=")
        return self.node("assignment", place, target, self.expression())

    def variable(self) -> Ref:
        """Read what is assigned to."""
        place = self._at
        process, name = None, self.name()
        if self.accept("->"):
            process, name = name, self.name()
        return self.node("name", place, process, name, self.size())

    def expression(self) -> Ref:
        """Read an expression: operands and operators wait on two stacks."""
        tokens = self._tokens
        values: list[Ref] = []
        waiting: list[tuple[int, int, tuple[str | None, str] | None]] = []
        while True:
            values.append(self._operand(waiting))
            while True:
                level = _LEVELS.get(tokens[self._at])
                self._reduce(values, waiting, -1 if level is None else level)
                if level is not None:
                    waiting.append((level, self._at, None))
                    self._at += 1
                    break
                if not waiting:
                    (found,) = values
                    return found
                if not self._closed(values, waiting):
                    raise UnreadError

    def _operand(self, waiting: list[Any]) -> Any:
        """Read an operand, with the operators and brackets before it on the stack."""
        while True:
            place, token = self._at, self._tokens[self._at]
            kind = self._kinds[place]
            self._at += 1
            if kind == _NUMBER or token in ("true", "false"):
                return self.node("literal", place, token)
            if kind == _NAME:
                found = self._named(place, token, waiting)
                if found is not None:
                    return found
            elif token in _PREFIXES:
                waiting.append((_SIGNED, place, None))
            elif token == "(":
                waiting.append((-1, place, None))
            else:
                raise UnreadError

    def _named(self, place: int, name: str, waiting: list[Any]) -> Any:
        """Read what begins with a name; None if it is an array, whose index follows."""
        process = None
        if self.accept("."):
            return self.node("stateof", place, name, self.name())
        if self.accept("->"):
            process, name = name, self.name()
        if self.accept("["):
            waiting.append((-1, place, (process, name)))
            return None
        return self.node("name", place, process, name, None)

    def _closed(self, values: list[Ref], waiting: list[Any]) -> bool:
        """Close a bracket if it is the next token, and fits."""
        _, place, array = waiting[-1]
        if not self.accept(")" if array is None else "]"):
            return False
        waiting.pop()
        inner = values.pop()
        if array is None:
            values.append(self.node("closed", place, inner))
        else:
            values.append(self.node("name", place, *array, inner))
        return True

    def _reduce(self, values: list[Ref], waiting: list[Any], least: int) -> None:
        """Apply the operators on the stack that bind at least as close as a level."""
        while waiting and waiting[-1][0] >= max(least, 0):
            level, place, _ = waiting.pop()
            token = self._tokens[place]
            op = _CALLED.get(token, token)
            right = values.pop()
            if level == _SIGNED:
                values.append(self.node("unary", place, op, right))
            else:
                values.append(self.node("binary", place, values.pop(), op, right))
