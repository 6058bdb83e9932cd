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

from bisect import bisect_right
from collections import Counter
from functools import cache
from itertools import accumulate, product
from math import prod
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions.syntax import (
    Call,
    Element,
    Name,
    Number,
    Operation,
    Path,
    Text,
    name_of,
)
from ltlpipe.systems.models import Step
from ltlpipe.systems.nets.coloured.net import (
    DOT,
    AnyOf,
    Bound,
    Comparison,
    Constant,
    Difference,
    Every,
    Part,
    Sum,
    Tokens,
)
from ltlpipe.systems.propositions.letters import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.nets.coloured.net import Colour, ColouredNet, Guard, Multiset

    Binding = dict[int, int]
    Marking = list[Counter[Colour]]
    Node = tuple[int, Colour | None]
    """A place or a transition, with colours or with any."""


class _UnknownNameError(Exception):
    """A name means nothing in the net."""


class Interpreter:
    """What happens in a symmetric net, as it was read."""

    def __init__(self, net: ColouredNet) -> None:
        from ltlpipe.logic.propositions.parsing import parse_proposition

        self._net = net
        self._cells = [
            (k, colours)
            for k in range(len(net.places))
            for colours in product(*map(range, net.sizes(k)))
        ]
        self._variables = [transition.variables for transition in net.transitions]
        sorts = [[net.variables[v].sort for v in own] for own in self._variables]
        self._sizes = [[net.size(sort) for sort in own] for own in sorts]
        self._first = [0, *accumulate(map(prod, self._sizes))]
        domains = [place.domain for place in net.places]
        self._places = _Names(net, net.places, domains, shared=False)
        self._moves = _Names(net, net.transitions, sorts, shared=True)
        self._parsed = cache(parse_proposition)

    def each_step(self, state: Sequence[int]) -> Iterator[Step]:
        """Yield the steps of a row, transition by transition."""
        marking = self._marking(state)
        for number, sizes in enumerate(self._sizes):
            for colours in self._bindings(number, marking):
                action = 0
                for colour, size in zip(colours, sizes, strict=True):
                    action = action * size + colour
                yield self._step(number, colours, marking, self._first[number] + action)

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

    def _holds(self, text: str, marking: Marking, move: Node | None) -> bool:
        def valued(part: Expression) -> Expression:
            if isinstance(part, Call):
                names = [*map(name_of, part.arguments)]  # type: ignore[arg-type]
                return Number(any(self._fires(name, marking) for name in names))
            if isinstance(part, (Name, Element, Path)):
                tokens = self._tokens(name_of(part), marking, dead=move is None)
                return Number(tokens)
            if not isinstance(part, Operation):
                return part
            if part.operator == "==":
                for some, other in (part.operands, part.operands[::-1]):
                    if some == Name("action") and isinstance(other, Text):
                        own = self._called(other.value)
                        taken = move and (move in own or (move[0], None) in own)
                        return Number(bool(taken))
            return Operation(part.operator, tuple(map(valued, part.operands)))

        proposition = self._parsed(text)
        if proposition == Name("deadlock"):  # whatever has this name
            return move is None
        try:
            return bool(evaluate(valued(proposition), ()))
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
        guards = [transition.guard for transition in self._net.transitions]
        found = [
            (k, colours)
            for k, colours in self._moves.found(text)
            if colours is None or _is_true(guards[k], self._binding(k, colours))
        ]
        if not found:
            raise _UnknownNameError
        return found

    def _fires(self, text: str, marking: Marking) -> bool:
        return any(
            any(True for _ in self._bindings(k, marking))
            if colours is None
            else self._is_enabled(k, self._binding(k, colours), marking)
            for k, colours in self._called(text)
        )

    def _marking(self, row: Sequence[int]) -> Marking:
        marking: Marking = [Counter() for _ in self._net.places]
        for (place, colours), count in zip(self._cells, row, strict=True):
            if count:
                marking[place][colours] = count
        return marking

    def _move(self, action: int) -> tuple[int, Colour]:
        """Return the transition of an action, and the colours of its variables."""
        number = bisect_right(self._first, action) - 1
        action -= self._first[number]
        colours: Colour = ()
        for size in reversed(self._sizes[number]):
            action, colour = divmod(action, size)
            colours = (colour, *colours)
        return number, colours

    def _binding(self, number: int, colours: Colour) -> Binding:
        return dict(zip(self._variables[number], colours, strict=True))

    def _step(
        self, number: int, colours: Colour, marking: Marking, action: int
    ) -> Step:
        """Return the step by a transition that is enabled."""
        binding, after = self._binding(number, colours), list(marking)
        transition = self._net.transitions[number]
        for place, _ in (*transition.pre, *transition.post):
            after[place] = marking[place].copy()
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
        choices: list[tuple[Iterable[Colour], tuple[Any, ...]]] = [
            (marking[place], entries)
            for place, what in transition.pre
            for entries in _taken(what)
        ]
        told = {getattr(e, "variable", None) for _, entries in choices for e in entries}
        variables = self._variables[number]
        for variable, size in zip(variables, self._sizes[number], strict=True):
            if variable not in told:
                choices.append((product(range(size)), (Bound(variable, 0, size),)))
        choices = [(list(colours), entries) for colours, entries in choices]
        waiting: list[tuple[Binding, int]] = [({}, 0)]
        while waiting:
            binding, k = waiting.pop()
            if _is_true(transition.guard, binding) is False:
                continue
            if k < len(choices):
                longer = [_matched(choices[k][1], c, binding) for c in choices[k][0]]
                waiting += [(b, k + 1) for b in longer[::-1] if b is not None]
            elif self._is_enabled(number, binding, marking):
                yield tuple([binding[variable] for variable in variables])


class _Names:
    """What names mean: nodes of a net, with colours of some sorts or with any.

    If they are `shared`, a name that several nodes have means any of them.
    """

    def __init__(
        self, net: ColouredNet, nodes: Sequence[Any], domains: Any, *, shared: bool
    ) -> None:
        self._domains, self._shared = domains, shared
        ids = [node.id for node in nodes]
        self._whole = _numbers(ids, [node.name for node in nodes])
        self._readings = [
            (_numbers(ids, ids), [_numbers(sort.ids, sort.ids) for sort in net.sorts]),
            (self._whole, [_numbers(sort.ids, sort.names) for sort in net.sorts]),
        ]
        self._is_dot = [sort.kind == DOT for sort in net.sorts]
        self.found = cache(self._found)

    def _found(self, text: str) -> list[Node]:
        """Return the nodes that a text means; ids come before names."""
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


def _counted(what: Multiset, binding: Binding, sign: int = 1) -> Counter[Colour]:
    """Return the tokens of a multiset; negative if more is subtracted than there is."""
    total: Counter[Colour] = Counter()
    if isinstance(what, Tokens):
        entries: list[Any] = [
            range(entry.size) if isinstance(entry, Every) else [_colour(entry, binding)]
            for entry in what.entries
        ]
        return Counter(dict.fromkeys(product(*entries), sign * what.weight))
    for part in what.parts if isinstance(what, Sum) else [what.left]:
        total.update(_counted(part, binding, sign))
    if isinstance(what, Difference):
        total.update(_counted(what.right, binding, -sign))
    return total


def _taken(what: Multiset) -> list[tuple[Any, ...]]:
    """Return the entries of tokens of one tuple that are taken in any case."""
    if isinstance(what, Sum):
        return [entries for part in what.parts for entries in _taken(part)]
    if not isinstance(what, Tokens) or not what.weight:
        return []
    return [] if any(isinstance(e, Every) for e in what.entries) else [what.entries]


def _matched(
    entries: tuple[Any, ...], colours: Colour, binding: Binding
) -> Binding | None:
    """Return a binding under which entries are a tuple of colours, if there is one."""
    longer = dict(binding)
    for entry, colour in zip(entries, colours, strict=True):
        if isinstance(entry, Bound):
            longer.setdefault(entry.variable, (colour - entry.shift) % entry.size)
        if _colour(entry, longer) != colour:
            return None
    return longer
