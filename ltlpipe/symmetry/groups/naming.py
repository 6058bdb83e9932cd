"""Which variables of a DVE model only name things: process numbers, turns, leaders.

Values of a *naming* are assigned to each other, compared for equality and used as
indices, and nothing else: a permutation of its values, together with the elements of
the arrays that they index, changes nothing that the model can see.  Variables,
constants and indices that meet in an assignment or a comparison are of one naming.
Whatever is calculated with, ordered, taken as a truth or sent in a message is a plain
number.

A naming that passes has values that are known beforehand: its constants, the initial
values of its variables, and the indices of its arrays.  No variable of it ever has
another one.

Source: C. N. Ip and D. L. Dill, "Better Verification Through Symmetry", Formal Methods
in System Design 9, 1996, pp. 41-75 (scalarsets: the same conditions, declared).

Differences from the source: namings are found; constants of a naming are allowed, as an
automorphism has to take the places where they stand to each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ltlpipe.logic.propositions import syntax
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.symmetry.groups.graph import PHASE
from ltlpipe.systems.programs.program import (
    BOUNDS,
    Binary,
    Element,
    Lookup,
    Number,
    Read,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.model import DveModel
    from ltlpipe.systems.programs.program import Expression, Transition

MOST_VALUES = 64
"""Of a naming."""

MOST_BITS = 8
"""Of the fields of its variables."""

_PLAIN = "plain"  # what everything is that is no name


@dataclass
class Naming:
    """Variables, constants and indices that are of one naming."""

    number: int
    values: set[int] = field(default_factory=set)
    variables: list[int] = field(default_factory=list)


def namings_of(
    model: DveModel, propositions: Sequence[syntax.Expression]
) -> Job[Namings]:
    """Return the namings of a model and of the propositions that are asked of it."""
    namings = Namings(model)
    yield from namings.read(propositions)
    return namings


class Namings:
    """What `namings_of` returns."""

    def __init__(self, model: DveModel) -> None:
        self._model = model
        self._parents: dict[Hashable, Hashable] = {}
        self._constants: list[tuple[Hashable, int]] = []
        self._arrays: dict[Hashable, int] = {}  # sizes of those that are indexed
        self._namings: dict[Hashable, Naming] = {}  # by the roots of their keys

    def read(self, propositions: Sequence[syntax.Expression]) -> Job[None]:
        """Find the namings, before any is asked for."""
        ticks = Ticks(PHASE)
        self._read_variables()
        for process in self._model.program.processes:
            for transition in process.transitions:
                self._read_transition(transition)
                if ticks.over(20 * (1 + len(transition.effects))):
                    yield ticks.progress
        for _, _, truth in self._model.program.assertions:
            self._plain(self._seen(truth))
        for proposition in propositions:
            self._plain(self._asked(proposition))
        self._namings = self._made()

    def of_variable(self, variable: int) -> Naming | None:
        """Return the naming of a variable, None if it is a plain number."""
        return self._namings.get(self._root(("variable", variable)))

    def of_constant(self, constant: object) -> Naming | None:
        """Return the naming of a constant, by the place where it stands."""
        return self._namings.get(self._root(("constant", id(constant))))

    def of_indices(self, first: int) -> Naming | None:
        """Return the naming of the indices of an array."""
        return self._namings.get(self._root(("indices", first)))

    def _root(self, key: Hashable) -> Hashable:
        above = self._parents.get(key)
        while above is not None:
            higher = self._parents.get(above)
            if higher is not None:
                self._parents[key] = higher  # the path becomes half as long
            key, above = above, higher
        return key

    def _unite(self, one: Hashable, two: Hashable) -> None:
        one, two = self._root(one), self._root(two)
        if one != two:
            # What is plain stays so.
            one, two = (two, one) if one == _PLAIN else (one, two)
            self._parents[one] = two

    def _plain(self, key: Hashable) -> None:
        self._unite(key, _PLAIN)

    def _read_variables(self) -> None:
        """Note which variables are plain, whatever is done with them."""
        program = self._model.program
        for number, variable in enumerate(program.variables):
            if variable.kind not in BOUNDS:
                self._plain(("variable", number))
        for channel in program.channels:
            for first in channel.cells:
                for message in range(channel.capacity):
                    self._plain(("variable", first + message))

    def _read_transition(self, transition: Transition) -> None:
        if transition.guard is not None:
            self._plain(self._seen(transition.guard))
        if transition.message is not None:
            for value in transition.message.values:
                self._plain(self._seen(value))
        for effect in transition.effects:
            self._unite(self._seen(effect.target), self._seen(effect.value))

    def _seen(self, expression: Expression) -> Hashable:
        """Return the key of an expression, whose parts are united as they meet."""
        if isinstance(expression, Number):
            return self._constant(expression, expression.value)
        if isinstance(expression, Read):
            return "variable", expression.variable
        if isinstance(expression, Element):
            indices = "indices", expression.first
            self._arrays[indices] = expression.size
            self._unite(self._seen(expression.index), indices)
            cell = "variable", expression.first
            for k in range(1, expression.size):
                self._unite(cell, ("variable", expression.first + k))
            return cell
        if isinstance(expression, Binary) and expression.op in ("==", "!="):
            self._unite(self._seen(expression.left), self._seen(expression.right))
            return _PLAIN
        if isinstance(expression, Binary):
            self._plain(self._seen(expression.left))
            self._plain(self._seen(expression.right))
        elif isinstance(expression, Unary):
            self._plain(self._seen(expression.operand))
        else:
            assert isinstance(expression, Lookup)
            self._plain(self._seen(expression.index))
        return _PLAIN

    def _asked(self, expression: syntax.Expression) -> Hashable:
        """Return the key of an expression of a proposition, as `_seen` does."""
        if isinstance(expression, syntax.Number):
            return self._constant(expression, expression.value)
        if isinstance(expression, syntax.Variable):
            return "variable", expression.number
        if isinstance(expression, syntax.Operation):
            keys = [self._asked(operand) for operand in expression.operands]
            if expression.operator == "==" and len(keys) == 2:
                self._unite(*keys)
            else:
                for key in keys:
                    self._plain(key)
        if isinstance(expression, syntax.Indexed):
            # It is 0 where there is no such element.
            self._plain(self._asked(expression.index))
            self._plain(("indices", expression.first))
            for k in range(expression.size):
                self._plain(("variable", expression.first + k))
        return _PLAIN

    def _constant(self, place: object, value: int) -> Hashable:
        key = "constant", id(place)
        self._constants.append((key, value))
        return key

    def _made(self) -> dict[Hashable, Naming]:
        """Return the namings that pass, by the roots of their keys."""
        found: dict[Hashable, Naming] = {}

        def naming(key: Hashable) -> Naming:
            return found.setdefault(self._root(key), Naming(len(found)))

        variables = self._model.program.variables
        for number, variable in enumerate(variables):
            own = naming(("variable", number))
            own.variables.append(number)
            own.values.add(variable.initial)
        for key, value in self._constants:
            naming(key).values.add(value)
        for key, size in self._arrays.items():
            naming(key).values |= set(range(size))
        return {
            root: own
            for root, own in found.items()
            if root != _PLAIN and self._passes(own)
        }

    def _passes(self, naming: Naming) -> bool:
        """Whether all variables can have all values, and these are few."""
        variables = [self._model.program.variables[v] for v in naming.variables]
        places = [self._model.layout.places[v] for v in naming.variables]
        kinds = {variable.kind for variable in variables}
        if len(kinds) != 1 or len(naming.values) > MOST_VALUES:
            return False
        low, high = BOUNDS[kinds.pop()]
        in_bounds = all(low <= value <= high for value in naming.values)
        return in_bounds and all(place.bits <= MOST_BITS for place in places)
