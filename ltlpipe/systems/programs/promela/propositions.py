"""Propositions about Promela models: their names are looked up as in the model.

They may name global variables, constants and macros without parameters; fields and
elements; ``len(q)`` and the tests of channels; ``P[1]@label`` and ``P[1]:x``; what Spin
predefines, and `FACTS`.  No variable of a model is called like one of these: names that
begin with ``_`` are predefined.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from ltlpipe.logic.propositions import syntax as generic
from ltlpipe.runtime.errors import FormulaError, InputError, UnknownNameError
from ltlpipe.runtime.names import nearest
from ltlpipe.systems.programs.promela.checking import Expressions
from ltlpipe.systems.programs.promela.parsing import Node, parse_expression
from ltlpipe.systems.programs.promela.resolving import check_label
from ltlpipe.systems.programs.promela.scopes import Scope
from ltlpipe.systems.programs.promela.syntax import Place, RemoteLabel
from ltlpipe.systems.propositions.binding import ACTION, DEADLOCK, bind, refusal_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ltlpipe.systems.programs.promela import syntax
    from ltlpipe.systems.programs.promela.scopes import Table
    from ltlpipe.systems.propositions.binding import Vocabulary

FAULT = "_fault"
"""An assertion has failed, an index was out of range, a ``d_step`` was blocked, ..."""
VALID_END = "_valid_end"
"""Every process has ended, is at its end, or at a label ``end``; or there is a fault,
which is told by `FAULT` alone."""
ACCEPT = "_accept"
"""Some process is at a label ``accept``."""
FACTS = (FAULT, VALID_END, ACCEPT)


_SPECIAL = ("_nr_pr", "_last")
_NOWHERE = Place("", 0, 0)
_MEASURES = ("len", "full", "empty", "nfull", "nempty")
_CALLS = ("enabled", "pc_value", "get_priority")


class Judged(Protocol):
    """A model whose states are judged."""

    tree: syntax.Model

    @property
    def written(self) -> Mapping[str, syntax.Expression]:
        """What propositions of the model's own formulas and claims mean."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of actions."""

    def proposition(self, tree: syntax.Expression) -> generic.Expression:
        """Return an expression of the model as a proposition about its states."""

    def fact(self, name: str) -> generic.Expression:
        """Return what one of `FACTS` is."""


def bound(model: Judged, proposition: Any, text: str) -> generic.Expression:
    """Return a proposition about a model, with its names bound to variables.

    Raises
    ------
    FormulaError
        A name means nothing, or something else than is expected.
    """
    lookup = _Lookup(model, text)
    return bind(lookup.bound(proposition), model.vocabulary, text)


class _Lookup:
    def __init__(self, model: Judged, text: str) -> None:
        self.model = model
        self.text = text
        self.table: Table = model.tree.names
        self.remotes: list[Any] = []
        scope = Scope(self.table)
        self.expressions = Expressions(scope, self.remotes)
        self.known: Mapping[str, syntax.Expression] = model.written

    def bound(self, part: generic.Expression) -> generic.Expression:
        """Bind all that is the model's, and leave the rest."""
        if isinstance(part, generic.Name) and part.text in FACTS:
            return self.model.fact(part.text)
        if part in (generic.Name(DEADLOCK), generic.Name(ACTION)):
            return part
        if isinstance(part, generic.Name) and part.text in self.known:
            return self.model.proposition(self.known[part.text])
        operands = getattr(part, "operands", ())
        if any(isinstance(operand, generic.Text) for operand in operands):
            return part  # an action, or a process and its place, by their names
        if isinstance(part, generic.Operation) and (
            part.operator in ("&&", "||", "!") or generic.Name(ACTION) in operands
        ):
            return replace(part, operands=tuple(map(self.bound, operands)))
        if isinstance(part, generic.Text):
            return part
        try:
            expression = self.expressions.expression(self.node(part))
            for remote in self.remotes:
                if isinstance(remote, RemoteLabel):
                    known = {p.name: p for p in self.model.tree.proctypes}
                    check_label(remote, known)
        except InputError as error:
            message = error.message.partition(": ")[2]
            kind = UnknownNameError if "undeclared" in message else FormulaError
            raise self.refusal(message, kind=kind) from None
        return self.model.proposition(expression)

    def node(self, part: generic.Expression) -> Node:
        """Return a part of a proposition as the parser of models would."""
        if isinstance(part, generic.Number):
            number = _node("number", str(abs(part.value)))
            return number if part.value >= 0 else _node("unary", "-", number)
        if isinstance(part, generic.Name):
            return self.named(part.text)
        if isinstance(part, (generic.Element, generic.Path)):
            return self.reference(part)
        if isinstance(part, generic.Remote):
            return self.remote(part)
        if isinstance(part, generic.Call):
            return self.call(part)
        if isinstance(part, generic.Operation):
            operands = list(map(self.node, part.operands))
            if len(operands) == 1:
                return _node("unary", part.operator, operands[0])
            found = operands[0]
            for operand in operands[1:]:
                found = _node("binary", found, part.operator, operand)
            return found
        raise self.refusal(f"{part}, expected an expression of the model")

    def named(self, name: str) -> Node:
        first = name.partition(".")[0]
        table = self.table
        known = first in table.symbols or first in table.constants
        if first in ("np_", "timeout"):
            return _node("special", first)
        if not known and first not in _SPECIAL:
            if name in self.model.tree.macros:
                return self.macro(name)
            everything = [*table.symbols, *table.constants, *self.model.tree.macros]
            message = f"undeclared variable {name!r}{nearest(name, everything)}"
            raise self.refusal(message, name, UnknownNameError)
        parts: list[Any] = []
        for part in name.split("."):
            parts += [part, None]
        return _node("reference", *parts)

    def macro(self, name: str) -> Node:
        """Return what a macro of the model stands for."""
        text = self.model.tree.macros[name]
        try:
            return parse_expression(text, set(self.table.proctypes))
        except InputError:
            message = f"the macro {name!r} is no expression, but {text!r}"
            raise self.refusal(message, name) from None

    def reference(self, part: generic.Element | generic.Path) -> Node:
        named = (
            part.parts
            if isinstance(part, generic.Path)
            else ((part.array, part.index),)
        )
        parts: list[Any] = []
        for name, index in named:
            *fields, last = name.split(".")
            for own in fields:
                parts += [own, None]
            parts += [last, None if index is None else self.node(index)]
        return _node("reference", *parts)

    def remote(self, part: generic.Remote) -> Node:
        process, subject = part.process, part.subject
        pid = None
        name = getattr(process, "text", None)
        if isinstance(process, generic.Element):
            name, pid = process.array, self.node(process.index)
        if name not in self.table.proctypes:
            known = nearest(str(name), self.table.proctypes)
            message = f"undeclared variable: no proctype is called {name!r}{known}"
            raise self.refusal(message, name, UnknownNameError)
        if isinstance(subject, generic.Name) and part.mark == "@":
            return _node("remote_label", name, pid, "@", subject.text)
        if isinstance(subject, generic.Name):
            return _node("remote_variable", name, pid, subject.text, None)
        if isinstance(subject, generic.Element):
            index = self.node(subject.index)
            return _node("remote_variable", name, pid, subject.array, index)
        raise self.refusal(f"{part}, expected a variable of a process")

    def call(self, part: generic.Call) -> Node:
        if len(part.arguments) == 1 and part.function in _MEASURES:
            argument = self.node(part.arguments[0])
            if argument.kind == "reference":
                return _node("measure", part.function, argument)
        if len(part.arguments) == 1 and part.function in _CALLS:
            return _node("call", part.function, self.node(part.arguments[0]))
        raise self.refusal(f"{part}, expected one of {', '.join(_MEASURES + _CALLS)}")

    def refusal(
        self,
        message: str,
        name: str | None = None,
        kind: type[FormulaError] = FormulaError,
    ) -> FormulaError:
        return refusal_in(self.text, message, name, kind)


def _node(kind: str, *parts: Any) -> Node:
    return Node(kind, _NOWHERE, parts)


def names_in(texts: Iterable[str]) -> set[str]:
    """Return the predefined names and facts that propositions mention."""
    wanted = {*FACTS, *_SPECIAL, "get_priority"}
    joined = " ".join(texts)
    return {name for name in wanted if name in joined}
