"""The bindings of a transition: which colours its variables can have together.

Variables are bound one at a time, those first whose colour an equation of the guard
tells, then those that most conditions look at; each condition is looked at as soon as
its variables are bound.  Conditions are the conjuncts of the guard, and of tuples that
are taken from a place that never changes, that the place has them.

Before, the colours of each variable are narrowed (`narrowed`): to those that the places
can have at all, each component of a tuple by itself, and that conditions on this
variable alone admit.

Where some colours are alike, the first of them stands for all (`first_alike`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.systems.nets.coloured.net import (
    AllOf,
    AnyOf,
    Bound,
    Comparison,
    Constant,
    Difference,
    Every,
    Part,
    Sum,
    Tokens,
    tokens_of,
    variables_of,
)

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.ticks import Ticks
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredTransition,
        Guard,
        Multiset,
    )

Binding = list[int]
"""The colours of all variables of a net, by their numbers; of others than those of the
transition they mean nothing."""

Condition = Callable[[Binding], bool]

Admits = Callable[["Sequence[int]", int], Condition]
"""A condition on a variable, after those that are bound before it."""

_ROUNDS = 100
"""Times that all transitions are looked at before colours are narrowed no further."""

RELATIONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class SubtractionError(Exception):
    """A multiset is subtracted from one that it is no part of."""


def value(term: Bound | Constant | Part, binding: Binding) -> int:
    """Return the colour, or the number of the element of a partition, of a term."""
    if isinstance(term, Bound):
        return (binding[term.variable] + term.shift) % term.size
    if isinstance(term, Constant):
        return term.colour
    return term.elements[value(term.of, binding)]


def holds(guard: Guard, binding: Binding) -> bool:
    """Whether a guard is true."""
    if isinstance(guard, Comparison):
        sides = value(guard.left, binding), value(guard.right, binding)
        return bool(RELATIONS[guard.relation](*sides))
    some = all if isinstance(guard, AllOf) else any
    return some(holds(part, binding) for part in guard.parts)


def counted(multiset: Multiset, binding: Binding) -> dict[Colour, int]:
    """Return how often each tuple is in a multiset, those that are there.

    Raises
    ------
    SubtractionError
        More is subtracted than there is.
    """
    counts: dict[Colour, int] = {}
    if isinstance(multiset, Tokens):
        if multiset.weight:
            choices = [
                range(entry.size)
                if isinstance(entry, Every)
                else (value(entry, binding),)
                for entry in multiset.entries
            ]
            counts = dict.fromkeys(product(*choices), multiset.weight)
    elif isinstance(multiset, Sum):
        for part in multiset.parts:
            for colour, count in counted(part, binding).items():
                counts[colour] = counts.get(colour, 0) + count
    else:
        counts = counted(multiset.left, binding)
        for colour, count in counted(multiset.right, binding).items():
            left = counts.get(colour, 0) - count
            if left < 0:
                raise SubtractionError
            counts[colour] = left
        counts = {colour: count for colour, count in counts.items() if count}
    return counts


def most_counted(multiset: Multiset) -> int:
    """Return a bound of the number of tuples that `counted` looks at."""
    if isinstance(multiset, Tokens):
        n_tuples = 1
        for entry in multiset.entries:
            n_tuples *= entry.size if isinstance(entry, Every) else 1
        return n_tuples
    if isinstance(multiset, Sum):
        return sum(map(most_counted, multiset.parts))
    return most_counted(multiset.left) + most_counted(multiset.right)


class Narrowed(NamedTuple):
    """What colours there can be at most."""

    places: list[list[set[int]]]
    """For each place and component the colours; all empty if it is never marked."""
    variables: list[dict[int, list[int]] | None]
    """For each transition the colours of its variables; None if it is never taken."""


def narrowed(net: ColouredNet, ticks: Ticks) -> Job[Narrowed]:
    """Return a bound of the colours that places and variables ever have.

    The colours of places grow from those of the initial marking, until they do not
    change.  After many rounds, all colours are taken.
    """
    places: list[list[set[int]]] = [[set() for _ in p.domain] for p in net.places]
    marked = [False] * len(net.places)

    def put(place: int, entries: Sequence[Any], known: Mapping[int, list[int]]) -> bool:
        """Add colours to a place; return whether some are new."""
        before = marked[place], sum(map(len, places[place]))
        marked[place] = True
        for colours, entry in zip(places[place], entries, strict=True):
            if isinstance(entry, Every):
                colours.update(range(entry.size))
            elif isinstance(entry, Constant):
                colours.add(entry.colour)
            else:
                shifted = known[entry.variable]
                colours.update((c + entry.shift) % entry.size for c in shifted)
        return before != (True, sum(map(len, places[place])))

    for number, place in enumerate(net.places):
        for tokens in tokens_of(place.marking):
            if tokens.weight:
                put(number, tokens.entries, {})
    variables: list[dict[int, list[int]] | None] = [None] * len(net.transitions)
    changed, rounds = True, 0
    while changed:
        changed = False
        rounds += 1
        if rounds == _ROUNDS:
            for number in range(len(net.places)):
                marked[number] = True
                for colours, size in zip(
                    places[number], net.sizes(number), strict=True
                ):
                    colours.update(range(size))
        for number, transition in enumerate(net.transitions):
            known = _domains(net, transition, places, marked)
            variables[number] = known
            if known is not None:
                for place_number, what in transition.post:
                    for tokens in tokens_of(what):
                        if tokens.weight:
                            changed |= put(place_number, tokens.entries, known)
            size = 0 if known is None else sum(map(len, known.values()))
            if ticks.over(1 + size * (1 + len(transition.pre) + len(transition.post))):
                yield ticks.progress
    return Narrowed(places, variables)


def _domains(
    net: ColouredNet,
    transition: ColouredTransition,
    places: list[list[set[int]]],
    marked: list[bool],
) -> dict[int, list[int]] | None:
    """Return the colours that variables can have; None if the transition is dead."""
    colours = {v: set(range(net.size(net.variables[v].sort)))
               for v in transition.variables}  # fmt: skip
    for place, what in transition.pre:
        for tokens in surely_taken(what):
            if not marked[place]:
                return None
            for known, entry in zip(places[place], tokens.entries, strict=True):
                if isinstance(entry, Bound):
                    colours[entry.variable] &= {
                        (c - entry.shift) % entry.size for c in known
                    }
                elif isinstance(entry, Constant):
                    if entry.colour not in known:
                        return None
                elif len(known) < entry.size:
                    return None
    binding = [0] * len(net.variables)
    for guard in conjuncts(transition.guard):
        used = set(variables_of(guard))
        if not used and not holds(guard, binding):
            return None
        if len(used) == 1:
            (variable,) = used
            kept = set()
            for colour in colours[variable]:
                binding[variable] = colour
                if holds(guard, binding):
                    kept.add(colour)
            colours[variable] = kept
    if not all(colours.values()):
        return None
    return {variable: sorted(known) for variable, known in colours.items()}


def surely_taken(multiset: Multiset) -> Iterator[Tokens]:
    """Yield tokens that are taken whatever else is: those of no difference."""
    if isinstance(multiset, Sum):
        for part in multiset.parts:
            yield from surely_taken(part)
    elif not isinstance(multiset, Difference) and multiset.weight:
        yield multiset


def conjuncts(guard: Guard) -> Iterator[Guard]:
    """Yield the parts of a guard that all have to hold."""
    if isinstance(guard, AllOf):
        for part in guard.parts:
            yield from conjuncts(part)
    elif isinstance(guard, AnyOf) and len(guard.parts) == 1:
        yield from conjuncts(guard.parts[0])
    else:
        yield guard


class _Level(NamedTuple):
    """How one variable is bound, when those before it are."""

    variable: int
    colours: Sequence[int]
    determined: Callable[[Binding], int] | None  # by an equation
    conditions: list[Condition]


def bindings(
    net: ColouredNet,
    transition: ColouredTransition,
    colours: Mapping[int, Sequence[int]],
    unchanged: Mapping[int, Container[Any]],
    admits: Admits | None = None,
) -> Iterator[tuple[int, ...] | None]:
    """Yield the bindings of a transition; None where a colour has been tried in vain.

    Parameters
    ----------
    colours : mapping
        Those that each variable can have, in order.
    unchanged : mapping
        The tuples in places that never change, by the places' numbers.
    admits : callable, optional
        Returns a further condition on a variable; it is given those bound before, too.

    Yields
    ------
    tuple of int
        The colours of ``transition.variables``.
    """
    binding = [0] * len(net.variables)
    levels = _levels(transition, colours, unchanged, admits)
    variables = transition.variables
    if not levels:
        yield ()
        return
    stack = [_choices(levels[0], binding)]
    while stack:
        level = levels[len(stack) - 1]
        for colour in stack[-1]:
            binding[level.variable] = colour
            if not all(condition(binding) for condition in level.conditions):
                yield None
            elif len(stack) < len(levels):
                stack.append(_choices(levels[len(stack)], binding))
                break
            else:
                yield tuple([binding[v] for v in variables])
        else:
            stack.pop()


def _choices(level: _Level, binding: Binding) -> Iterator[int]:
    if level.determined is None:
        return iter(level.colours)
    colour = level.determined(binding)
    return iter((colour,) if colour in level.colours else ())


def _levels(
    transition: ColouredTransition,
    colours: Mapping[int, Sequence[int]],
    unchanged: Mapping[int, Container[Any]],
    admits: Admits | None,
) -> list[_Level]:
    """Return in which order variables are bound, and what is looked at when."""
    waiting: list[tuple[set[int], Guard | None, Condition]] = [
        (set(variables_of(guard)), guard, _condition(guard))
        for guard in conjuncts(transition.guard)
    ]
    for place, what in transition.pre:
        if place in unchanged:
            for tokens in surely_taken(what):
                if not any(isinstance(entry, Every) for entry in tokens.entries):
                    condition = _is_in(tokens, unchanged[place])
                    waiting.append((set(variables_of(tokens)), None, condition))
    levels: list[_Level] = []
    bound: set[int] = set()
    left = list(transition.variables)
    while left:
        determined = {
            v: t for v in left if (t := _determined(v, bound, waiting)) is not None
        }

        def rank(
            v: int, determined: Mapping[int, Any] = determined
        ) -> tuple[bool, int, int]:
            ready = sum(v in used and used <= bound | {v} for used, *_ in waiting)
            return v not in determined, -ready, len(colours[v])

        variable = min(left, key=rank)
        left.remove(variable)
        before = [level.variable for level in levels]
        bound.add(variable)
        conditions = [c for used, _, c in waiting if variable in used and used <= bound]
        if admits is not None:
            conditions.append(admits(before, variable))
        inside = colours[variable]
        domain: Any = frozenset(inside) if variable in determined else inside
        levels.append(_Level(variable, domain, determined.get(variable), conditions))
    return levels


def _condition(guard: Guard) -> Condition:
    return lambda binding: holds(guard, binding)


def _is_in(tokens: Tokens, known: Container[Any]) -> Condition:
    return lambda binding: tuple([value(e, binding) for e in tokens.entries]) in known  # type: ignore[arg-type]


def _determined(
    variable: int, bound: set[int], waiting: Sequence[tuple[set[int], Any, Any]]
) -> Callable[[Binding], int] | None:
    """Return how an equation tells the colour of a variable, if one does."""
    for used, guard, _ in waiting:
        if not isinstance(guard, Comparison) or guard.relation != "==":
            continue
        if variable not in used or not used <= bound | {variable}:
            continue
        for side, other in ((guard.left, guard.right), (guard.right, guard.left)):
            if (
                isinstance(side, Bound)
                and side.variable == variable
                and variable not in variables_of(other)
                and not isinstance(other, Part)
            ):
                return _solved(side, other)
    return None


def _solved(side: Bound, other: Bound | Constant) -> Callable[[Binding], int]:
    return lambda binding: (value(other, binding) - side.shift) % side.size


def first_alike(
    net: ColouredNet, alike: Mapping[tuple[int, int], Sequence[int]]
) -> Admits:
    """Return the condition that colours which are alike are bound in their order.

    Parameters
    ----------
    net : ColouredNet
        Whose variables are bound.
    alike : mapping
        For a sort and a colour all colours that are like it, itself among them; others
        are like none.

    Returns
    -------
    callable
        As `ltlpipe.systems.nets.coloured.bindings.bindings` takes it.  A variable may
        have a colour that one before it has, or the first of those alike that none has.
    """
    sorts = [variable.sort for variable in net.variables]

    def admits(before: Sequence[int], variable: int) -> Condition:
        sort = sorts[variable]
        bound = [other for other in before if sorts[other] == sort]

        def condition(binding: Binding) -> bool:
            colour = binding[variable]
            used = {binding[other] for other in bound}
            if colour in used:
                return True
            members = alike.get((sort, colour), ())
            return next((c for c in members if c not in used), colour) == colour

        return condition

    return admits
