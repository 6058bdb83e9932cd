"""From the tree of a Promela model as it is written to the checked model.

Names are looked up as in Spin: what is declared later is not known, apart from
proctypes that are run, labels, and everything in formulas, which are read last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.systems.programs.promela.checking import Expressions, priority_of
from ltlpipe.systems.programs.promela.declarations import (
    constant_of,
    declared,
    fields_of_typedef,
    set_of_constants,
)
from ltlpipe.systems.programs.promela.formulas import formula_of
from ltlpipe.systems.programs.promela.scopes import Scope, Table
from ltlpipe.systems.programs.promela.statements import Statements, with_places
from ltlpipe.systems.programs.promela.syntax import Claim, Model, Proctype, RemoteLabel
from ltlpipe.systems.programs.promela.tokens import input_error

if TYPE_CHECKING:
    from ltlpipe.systems.programs.promela.parsing import Node
    from ltlpipe.systems.programs.promela.syntax import (
        Formula,
        Place,
        RemoteVariable,
        Run,
        Variable,
    )

INIT = "init"
_ABOUT_STATES = ("ltl", "never")
_MOST_ACTIVE = 255


def resolved(tree: Node, file: str, macros: dict[str, str] | None = None) -> Model:
    """Return the checked model of a tree.

    Raises
    ------
    InputError
        A name is not declared, or is used for what it is not; with its place.
    """
    return _Resolver(file, macros or {}).model(tree)


class _Resolver:
    def __init__(self, file: str, macros: dict[str, str]) -> None:
        self.file = file
        self.macros = macros
        self.table = Table()
        self.globals = Scope(self.table)
        self.remotes: list[RemoteLabel | RemoteVariable] = []
        self.expressions = Expressions(self.globals, self.remotes)
        self.proctypes: dict[str, Proctype] = {}
        self.claims: list[Claim] = []
        self.formulas: list[Formula] = []

    def model(self, tree: Node) -> Model:
        for node in tree.parts:  # they can be run before they are declared
            if node.kind in ("proctype", "init"):
                self.note_proctype(node)
        for node in tree.parts:
            if node.kind not in _ABOUT_STATES:
                getattr(self, node.kind)(node)
        mentions = frozenset(self.table.mentions)
        for node in tree.parts:  # in which all names are known
            if node.kind in _ABOUT_STATES:
                getattr(self, node.kind)(node)
        self.check_remotes()
        self.check_starts(tree)
        return Model(
            self.file,
            self.table.sets,
            tuple(self.globals.variables),
            tuple(self.proctypes.values()),
            tuple(self.claims),
            tuple(self.formulas),
            self.macros,
            mentions,
            self.table,
        )

    def note_proctype(self, node: Node) -> None:
        name = INIT if node.kind == "init" else node.parts[2]
        if name in self.table.proctypes:
            raise input_error(f"redeclaration of proctype {name!r}", node.place)
        self.table.proctypes[name] = node.place

    def declaration(self, node: Node) -> None:
        for _ in declared(node, self.globals, self.expressions):
            pass

    def typedef(self, node: Node) -> None:
        fields_of_typedef(node, self.table, self.expressions)

    def mtypes(self, node: Node) -> None:
        set_of_constants(node, self.globals)

    def proctype(self, node: Node) -> None:
        active, _, name, parameters, priority, provided, body = node.parts
        scope = Scope(self.table, name)
        given = self.parameters(parameters, scope)
        self.table.locals[name] = scope.symbols  # also for what is in its own body
        number = 0
        if active is not None:
            count = active.parts[1]
            what = "a number of processes"
            number = 1 if count is None else constant_of(count, self.expressions, what)
            if not 0 <= number <= _MOST_ACTIVE:
                message = f"{number} processes, expected 0 to {_MOST_ACTIVE}"
                raise input_error(message, active.place)
        condition = None
        if provided is not None:
            condition = Expressions(scope, self.remotes).expression(provided.parts[1])
        self.add(node.place, name, scope, body, given, number, priority, condition)

    def init(self, node: Node) -> None:
        _, priority, body = node.parts
        scope = Scope(self.table, INIT)
        self.add(node.place, INIT, scope, body, (), 1, priority, None)

    def parameters(self, node: Node, scope: Scope) -> tuple[Variable, ...]:
        """Declare the parameters of a proctype; a record is one for each field."""
        (declarations,) = node.parts
        found: list[Variable] = []
        for declaration in () if declarations is None else declarations.parts:
            expressions = Expressions(scope, self.remotes)
            for symbol, part in declared(declaration, scope, expressions):
                if part.parts[-1] is not None:
                    message = f"parameter {symbol.name!r} has an initial value"
                    raise input_error(message, part.place)
                if any(leaf.dimensions for leaf in symbol.leaves.values()):
                    message = f"parameter {symbol.name!r} is or has an array"
                    raise input_error(message, part.place)
                # What its typedef gives to a field is not what `run` gives to it.
                for path, leaf in symbol.leaves.items():
                    symbol.leaves[path] = replace(leaf, initial=None)
                found += symbol.leaves.values()
        return tuple(found)

    def add(
        self,
        place: Place,
        name: str,
        scope: Scope,
        body: Node,
        parameters: tuple[Variable, ...],
        active: int,
        priority: Node | None,
        provided: Any,
    ) -> None:
        """Check the body of a proctype, and add it."""
        if priority is not None:
            self.table.mentions.add("priority")
        statements = Statements(scope, self.remotes)
        checked = statements.body(body)
        self.table.locals[name] = scope.symbols
        self.proctypes[name] = Proctype(
            place,
            name,
            parameters,
            tuple(scope.variables[len(parameters) :]),
            checked,
            active,
            priority_of(priority),
            provided,
            tuple(statements.labels.names),
        )

    def never(self, node: Node) -> None:
        _, name, body = node.parts
        self.claim(node, "never", name or "", body)

    def trace(self, node: Node) -> None:
        kind, body = node.parts
        self.claim(node, kind, "", body)

    def claim(self, node: Node, kind: str, name: str, body: Node) -> None:
        scope = Scope(self.table, f":{kind}:")
        manner = "never" if kind == "never" else "trace"
        statements = Statements(scope, self.remotes, manner)
        checked = statements.body(body)
        labels = tuple(statements.labels.names)
        variables = tuple(scope.variables)
        claim = Claim(node.place, kind, name, variables, checked, labels)
        self.claims.append(claim)

    def ltl(self, node: Node) -> None:
        _, name, formula = node.parts
        name = name or f"ltl_{sum(f.name.startswith('ltl_') for f in self.formulas)}"
        if any(other.name == name for other in self.formulas):
            raise input_error(f"a second formula {name!r}", node.place)
        text = node.text[node.text.index("{") + 1 : node.text.rindex("}")].strip()
        found = formula_of(formula, self.expressions, name, text, node.place)
        self.formulas.append(found)

    def check_remotes(self) -> None:
        """Refuse labels of processes that there are not; give the others places."""
        for remote in self.remotes:
            if isinstance(remote, RemoteLabel):
                check_label(remote, self.proctypes)
                proctype = self.proctypes[remote.proctype]
                body = with_places(proctype.body, remote.label.__eq__)
                self.proctypes[proctype.name] = replace(proctype, body=body)

    def check_starts(self, tree: Node) -> None:
        """Refuse a model in which nothing runs, and wrong numbers of arguments."""
        if not any(proctype.active for proctype in self.proctypes.values()):
            message = "no process: expected 'init' or an 'active proctype'"
            raise input_error(message, tree.place)
        for run in self.table.runs:
            self.check_run(run)

    def check_run(self, run: Run) -> None:
        parameters = self.proctypes[run.proctype].parameters
        if len(parameters) != len(run.arguments):
            raise input_error(
                f"{run.proctype} has {len(parameters)} parameters, "
                f"found {len(run.arguments)} arguments",
                run.place,
            )


def check_label(remote: RemoteLabel, proctypes: dict[str, Proctype]) -> None:
    """Raise `InputError` unless a proctype has the label."""
    from ltlpipe.runtime.names import nearest

    proctype = proctypes.get(remote.proctype)
    labels = () if proctype is None else proctype.labels
    if remote.label not in labels:
        meant = nearest(remote.label, labels)
        message = f"{remote.proctype} has no label {remote.label!r}{meant}"
        raise input_error(message, remote.place)
    same = [label for label in labels if label.partition("@")[0] == remote.label]
    if len(same) > 1:
        message = f"{remote.proctype} has several labels {remote.label!r}"
        raise input_error(message, remote.place)
