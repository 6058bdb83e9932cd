"""The interpreter of symmetric nets, by which their runs are replayed.

It shares no code with the searches of such nets, nor with what unfolds them and tells
what names mean for a search: terms and guards are evaluated as they were read,
bindings are found by matching input arcs with tokens, and propositions are evaluated
from their syntax trees, name by name.

A row lists the tokens of all tuples of colours of all places, and actions number the
bindings of all transitions; in both, the last colour varies first.  A marking has the
marked tuples of each place with their tokens.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.logic.propositions.syntax import (
    Call,
    Element,
    Name,
    Number,
    Operation,
    Text,
)
from ltlpipe.systems.models import Step
from ltlpipe.systems.pnml.coloured.net import (
    DOT,
    AnyOf,
    Bound,
    Comparison,
    Constant,
    Every,
    Part,
    Sum,
    Tokens,
)
from ltlpipe.systems.propositions.evaluating import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.pnml.coloured.net import Colour, ColouredNet, Guard, Multiset

    Binding = dict[int, int]
    Marking = list[Counter[Colour]]
    Node = tuple[int, Colour | None]
    """A place or a transition, with colours or with any."""


class _UnknownNameError(Exception):
    """A name means nothing in the net."""


class Interpreter:
    """What happens in a symmetric net, as it was read."""

    def __init__(self, net: ColouredNet) -> None:
        self._net = net
        self._cells = [
            (k, colours)
            for k in range(len(net.places))
            for colours in product(*map(range, net.sizes(k)))
        ]
        sorts = [[net.variables[v].sort for v in t.variables] for t in net.transitions]
        self._sizes = [[net.size(sort) for sort in own] for own in sorts]
        domains = [place.domain for place in net.places]
        self._places = _Names(net, net.places, domains, shared=False)
        self._moves = _Names(net, net.transitions, sorts, shared=True)
        self._trees: dict[str, Expression] = {}

    def each_step(self, state: Sequence[int]) -> Iterator[Step]:
        """Yield the steps of a row, transition by transition."""
        marking, first = self._marking(state), 0
        for number, sizes in enumerate(self._sizes):
            for binding in self._bindings(number, marking):
                action = 0
                for colour, size in zip(binding, sizes, strict=True):
                    action = action * size + colour
                yield self._step(number, binding, marking, first + action)
            first += prod(sizes)

    def steps_by(self, state: Sequence[int], action: int) -> Iterator[Step]:
        """Yield the step of a row by an action, if it is enabled."""
        number, colours = self._move(action)
        marking = self._marking(state)
        if self._is_enabled(number, self._binding(number, colours), marking):
            yield self._step(number, colours, marking, action)

    def holding(
        self, propositions: Iterable[str], state: Sequence[int], action: int
    ) -> tuple[str, ...]:
        """Return the propositions that hold where a step leaves a row.

        The action is -1 where a row without steps repeats itself.  A name that means
        nothing makes its proposition false.
        """
        marking = self._marking(state)
        move = None if action < 0 else self._move(action)
        return tuple(text for text in propositions if self._holds(text, marking, move))

    def _holds(
        self, text: str, marking: Marking, move: tuple[int, Colour] | None
    ) -> bool:
        def valued(part: Expression) -> Expression:
            if isinstance(part, Call):
                return Number(any(self._fires(t, marking) for t in part.arguments))
            if isinstance(part, Element):
                part = Name(f"{part.array}[{part.index}]")
            if isinstance(part, Name):
                return Number(self._tokens(part.text, marking, dead=move is None))
            if not isinstance(part, Operation):
                return part
            if part.operator == "==":
                for some, other in (part.operands, part.operands[::-1]):
                    if some == Name("action") and isinstance(other, Text):
                        own = self._called(other.value)
                        taken = move and (move in own or (move[0], None) in own)
                        return Number(bool(taken))
            return Operation(part.operator, tuple(map(valued, part.operands)))

        if text not in self._trees:
            self._trees[text] = parse_proposition(text)
        try:
            return bool(evaluate(valued(self._trees[text]), ()))
        except _UnknownNameError:
            return False

    def _tokens(self, text: str, marking: Marking, *, dead: bool) -> int:
        own = self._places.found(text)
        if not own and text == "deadlock":
            return dead
        if not own:
            raise _UnknownNameError
        return sum(marking[k].total() if c is None else marking[k][c] for k, c in own)

    def _called(self, text: str) -> list[Node]:
        """Return the transitions with a name; with colours, if their guards hold."""
        found = []
        for k, colours in self._moves.found(text):
            guard = self._net.transitions[k].guard
            if colours is None or _is_true(guard, self._binding(k, colours)):
                found.append((k, colours))
        if not found:
            raise _UnknownNameError
        return found

    def _fires(self, text: str, marking: Marking) -> bool:
        return any(
            any(True for _ in self._bindings(number, marking))
            if colours is None
            else self._is_enabled(number, self._binding(number, colours), marking)
            for number, colours in self._called(text)
        )

    def _marking(self, row: Sequence[int]) -> Marking:
        marking: Marking = [Counter() for _ in self._net.places]
        for (place, colours), count in zip(self._cells, row, strict=True):
            if count:
                marking[place][colours] = count
        return marking

    def _move(self, action: int) -> tuple[int, Colour]:
        """Return the transition of an action, and the colours of its variables."""
        number = 0
        while action >= prod(self._sizes[number]):
            action -= prod(self._sizes[number])
            number += 1
        colours: Colour = ()
        for size in reversed(self._sizes[number]):
            action, colour = divmod(action, size)
            colours = (colour, *colours)
        return number, colours

    def _binding(self, number: int, colours: Colour) -> Binding:
        return dict(zip(self._net.transitions[number].variables, colours, strict=True))

    def _step(
        self, number: int, colours: Colour, marking: Marking, action: int
    ) -> Step:
        """Return the step by a transition that is enabled."""
        transition, binding = (
            self._net.transitions[number],
            self._binding(number, colours),
        )
        after = [tokens.copy() for tokens in marking]
        for place, what in transition.pre:
            after[place].subtract(_counted(what, binding))
        for place, what in transition.post:
            after[place].update(_counted(what, binding))
        return Step(action, tuple([after[k][colours] for k, colours in self._cells]))

    def _is_enabled(self, number: int, binding: Binding, marking: Marking) -> bool:
        transition = self._net.transitions[number]
        return bool(_is_true(transition.guard, binding)) and all(
            0 <= count <= marking[place][colours]
            for place, what in transition.pre
            for colours, count in _counted(what, binding).items()
        )

    def _bindings(self, number: int, marking: Marking) -> Iterator[Colour]:
        """Yield the bindings that enable a transition: colours of its variables."""
        transition = self._net.transitions[number]
        taken = [(marking[place], tokens) for place, what in transition.pre
                 for tokens in _taken(what)]  # fmt: skip
        sizes = dict(zip(transition.variables, self._sizes[number], strict=True))

        def bound(binding: Binding, k: int) -> Iterator[Binding]:
            free = [v for v in sizes if v not in binding]
            if _is_true(transition.guard, binding) is False:
                return
            if k < len(taken):
                marked, tokens = taken[k]
                for colours in marked:
                    longer = _matched(tokens, colours, binding)
                    if longer is not None:
                        yield from bound(longer, k + 1)
            elif free:
                for colour in range(sizes[free[0]]):
                    yield from bound({**binding, free[0]: colour}, k)
            elif self._is_enabled(number, binding, marking):
                yield binding

        for binding in bound({}, 0):
            yield tuple([binding[variable] for variable in sizes])


class _Names:
    """What names mean: nodes of a net, with colours of some sorts or with any."""

    def __init__(
        self,
        net: ColouredNet,
        nodes: Sequence[Any],
        domains: Sequence[Sequence[int]],
        *,
        shared: bool,  # whether a name that several have means any of them
    ) -> None:
        ids, self._domains = [node.id for node in nodes], domains
        self._whole = _numbers(ids, [node.name for node in nodes])
        self._shared = shared
        self._readings = [
            (_numbers(ids, ids), [_numbers(sort.ids, sort.ids) for sort in net.sorts]),
            (self._whole, [_numbers(sort.ids, sort.names) for sort in net.sorts]),
        ]
        self._found: dict[str, list[Node]] = {}
        self._is_dot = [sort.kind == DOT for sort in net.sorts]

    def found(self, text: str) -> list[Node]:
        """Return the nodes that a text means; ids come before names."""
        if text not in self._found:
            self._found[text] = self._find(text)
        return self._found[text]

    def _find(self, text: str) -> list[Node]:
        whole: list[Node] = [(k, None) for k in self._whole.get(text, ())]
        if self._shared and whole:
            return whole
        for nodes, sorts in self._readings:
            exact: list[Node] = [
                (k, colours)
                for name, own in nodes.items()
                if text.startswith(name)
                for k in own
                for colours in self._colours(self._domains[k], sorts, text[len(name) :])
            ]
            if len(exact) == 1 or (exact and self._shared):
                return exact
        return whole if len(whole) == 1 else []

    def _colours(
        self, domain: Sequence[int], sorts: Sequence[dict[str, list[int]]], text: str
    ) -> Iterator[Colour]:
        """Yield the colours that a text lists, with a dot before each."""
        if not domain:
            yield from [()] if not text else []
            return
        dotted = {f".{name}": own for name, own in sorts[domain[0]].items()}
        for name, own in ({"": [0]} if self._is_dot[domain[0]] else dotted).items():
            if text.startswith(name):
                for rest in self._colours(domain[1:], sorts, text[len(name) :]):
                    yield from ((colour, *rest) for colour in own)


def _numbers(ids: Sequence[str], names: Sequence[str]) -> dict[str, list[int]]:
    """Return the numbers that ids, and names that are no ids, stand for."""
    known: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        known.setdefault(name, []).append(k)
    return known | {own: [k] for k, own in enumerate(ids)}


def _colour(term: Bound | Constant | Part, binding: Binding) -> int | None:
    """Return the colour of a term, or its element of a partition, if it is bound."""
    if isinstance(term, Constant):
        return term.colour
    if isinstance(term, Part):
        colour = _colour(term.of, binding)
        return None if colour is None else term.elements[colour]
    bound = binding.get(term.variable)
    return None if bound is None else (bound + term.shift) % term.size


def _is_true(guard: Guard, binding: Binding) -> bool | None:
    """Return whether a guard holds; None if that depends on variables not bound."""
    if isinstance(guard, Comparison):
        left, right = _colour(guard.left, binding), _colour(guard.right, binding)
        if left is None or right is None:
            return None
        if guard.relation == "!=":
            return left != right
        return "<=>"[(left >= right) + (left > right)] in guard.relation
    decisive = isinstance(guard, AnyOf)
    parts = {_is_true(part, binding) for part in guard.parts}
    return decisive if decisive in parts else None if None in parts else not decisive


def _counted(what: Multiset, binding: Binding) -> Counter[Colour]:
    """Return the tokens of a multiset; negative if more is subtracted than there is."""
    total: Counter[Colour] = Counter()
    if isinstance(what, Tokens):
        entries: list[Any] = [
            range(entry.size) if isinstance(entry, Every) else [_colour(entry, binding)]
            for entry in what.entries
        ]
        total.update(dict.fromkeys(product(*entries), what.weight))
    elif isinstance(what, Sum):
        for part in what.parts:
            total.update(_counted(part, binding))
    else:
        total.update(_counted(what.left, binding))
        total.subtract(_counted(what.right, binding))
    return total


def _taken(what: Multiset) -> Iterator[Tokens]:
    """Yield tokens of one tuple each that are taken whatever is subtracted."""
    if isinstance(what, Sum):
        for part in what.parts:
            yield from _taken(part)
    elif isinstance(what, Tokens) and not any(
        isinstance(entry, Every) for entry in what.entries
    ):
        yield from [what] if what.weight else []


def _matched(tokens: Tokens, colours: Colour, binding: Binding) -> Binding | None:
    """Return a binding with what makes tokens a tuple of colours, if they can be it."""
    longer = dict(binding)
    for entry, colour in zip(tokens.entries, colours, strict=True):
        if isinstance(entry, Bound):
            longer.setdefault(entry.variable, (colour - entry.shift) % entry.size)
        if _colour(entry, longer) != colour:  # type: ignore[arg-type]
            return None
    return longer
