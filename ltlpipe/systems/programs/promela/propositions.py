"""Propositions about Promela models: their names are looked up as in the model.

They may name global variables, constants and macros without parameters; fields and
elements; ``len(q)`` and the tests of channels; ``P[1]@label`` and ``P[1]:x``; what Spin
predefines, and `FACTS`.  No variable of a model is called like one of these: names that
begin with ``_`` are predefined.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ltlpipe.logic.propositions import syntax as generic
from ltlpipe.runtime.errors import (
    FormulaError,
    InputError,
    UnknownNameError,
    UnsupportedError,
)
from ltlpipe.runtime.names import nearest
from ltlpipe.systems.programs.promela.checking import Expressions
from ltlpipe.systems.programs.promela.parsing import parse_expression
from ltlpipe.systems.programs.promela.resolving import check_label
from ltlpipe.systems.programs.promela.scopes import Scope
from ltlpipe.systems.programs.promela.syntax import RemoteLabel
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
DEAD = "_deadlock"
"""There is no step, where the model has something else that is called `DEADLOCK`."""
FACTS = (FAULT, VALID_END, ACCEPT, DEAD)


_SPECIAL = ("_nr_pr", "_last")
_MEASURES = ("len", "full", "empty", "nfull", "nempty")
_CALLS = ("enabled", "pc_value", "get_priority")


class Judged(Protocol):
    """A model whose states are judged."""

    tree: syntax.Model

    @property
    def only_stuttering(self) -> str:
        """Why propositions may not tell the numbers of processes, if so."""

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
        self.refusal = partial(refusal_in, text)
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
            return self.meant(self.known[part.text])
        operands = getattr(part, "operands", ())
        if any(isinstance(operand, generic.Text) for operand in operands):
            if self.model.only_stuttering:
                raise self.refusal(
                    f"{self.model.only_stuttering}; so propositions cannot name "
                    "a process by its number"
                )
            return part  # an action, or a process and its place, by their names
        if isinstance(part, generic.Operation) and (
            part.operator in ("&&", "||", "!") or generic.Name(ACTION) in operands
        ):
            return replace(part, operands=tuple(map(self.bound, operands)))
        if isinstance(part, generic.Text):
            return part
        try:
            node = parse_expression(self.text_of(part), set(self.table.proctypes))
            expression = self.expressions.expression(node)
            for remote in self.remotes:
                if isinstance(remote, RemoteLabel):
                    known = {p.name: p for p in self.model.tree.proctypes}
                    check_label(remote, known)
        except InputError as error:
            message = error.message.partition(": ")[2]
            kind = UnknownNameError if "undeclared" in message else FormulaError
            raise self.refusal(message, kind=kind) from None
        return self.meant(expression)

    def meant(self, expression: syntax.Expression) -> generic.Expression:
        """Return an expression of the model as a proposition about its states."""
        try:
            return self.model.proposition(expression)
        except UnsupportedError as error:
            raise self.refusal(error.args[0]) from None

    def text_of(self, part: generic.Expression) -> str:
        """Return a part of a proposition as models have it, operands in brackets."""
        if isinstance(part, generic.Number):
            return str(part.value)
        if isinstance(part, generic.Name):
            return self.named(part.text)
        if isinstance(part, generic.Element):
            return f"{self.word(part.array)}[{self.text_of(part.index)}]"
        if isinstance(part, generic.Path):
            return ".".join(
                self.word(name) + ("" if index is None else f"[{self.text_of(index)}]")
                for name, index in part.parts
            )
        if isinstance(part, generic.Remote):
            return self.remote(part)
        if isinstance(part, generic.Call):
            return self.call(part)
        if isinstance(part, generic.Operation):
            operands = [f"({self.text_of(operand)})" for operand in part.operands]
            sign = part.operator
            return sign.join(operands) if len(operands) > 1 else sign + operands[0]
        raise self.refusal(f"{part}, expected an expression of the model")

    def word(self, name: str) -> str:
        """Return a name, or names with dots between them, as models can have it."""
        if not all(map(str.isidentifier, name.split("."))):
            raise self.refusal(f"undeclared variable {name!r}", name, UnknownNameError)
        return name

    def named(self, name: str) -> str:
        table, macros = self.table, self.model.tree.macros
        known = *table.symbols, *table.constants, *_SPECIAL, "np_", "timeout"
        if name.partition(".")[0] in known:
            return self.word(name)
        if name not in macros:
            meant = nearest(name, [*table.symbols, *table.constants, *macros])
            message = f"undeclared variable {name!r}{meant}"
            raise self.refusal(message, name, UnknownNameError)
        try:
            parse_expression(macros[name], set(table.proctypes))
        except InputError:
            message = f"the macro {name!r} is no expression, but {macros[name]!r}"
            raise self.refusal(message, name) from None
        return f"({macros[name]})"

    def remote(self, part: generic.Remote) -> str:
        process, subject = part.process, part.subject
        name = getattr(process, "text", None)
        shown = str(name)
        if isinstance(process, generic.Element):
            name = process.array
            shown = f"{name}[{self.text_of(process.index)}]"
        if name not in self.table.proctypes:
            known = nearest(str(name), self.table.proctypes)
            message = f"undeclared variable: no proctype is called {name!r}{known}"
            raise self.refusal(message, name, UnknownNameError)
        if isinstance(subject, generic.Name):
            return f"{shown}{part.mark}{self.word(subject.text)}"
        if isinstance(subject, generic.Element):
            return f"{shown}:{self.text_of(subject)}"
        raise self.refusal(f"{part}, expected a variable of a process")

    def call(self, part: generic.Call) -> str:
        kinds = generic.Name, generic.Element, generic.Path
        if len(part.arguments) == 1:
            (argument,) = part.arguments
            is_channel = part.function in _MEASURES and isinstance(argument, kinds)
            if is_channel or part.function in _CALLS:
                return f"{part.function}({self.text_of(argument)})"
        raise self.refusal(f"{part}, expected one of {', '.join(_MEASURES + _CALLS)}")


def names_in(texts: Iterable[str]) -> set[str]:
    """Return the predefined names and facts that propositions mention."""
    wanted = {*FACTS, *_SPECIAL, "get_priority"}
    joined = " ".join(texts)
    return {name for name in wanted if name in joined}
