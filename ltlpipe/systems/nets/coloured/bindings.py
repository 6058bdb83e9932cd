"""The bindings of a transition: which colours its variables can have together.

Variables are bound one at a time, those first whose colour an equation of the guard
tells, then those that most conditions look at; each condition is looked at as soon as
its variables are bound.  Conditions are the conjuncts of the guard, and of tuples that
are taken from a place that never changes, that the place has them.

Before, the colours of each variable are narrowed (`narrowed`): to those that the places
can have at all, each component of a tuple by itself, and that conditions on this
variable alone admit.

Where some colours are alike, the first of them stands for all (`first_alike`).

`Firing` takes transitions of a net that is not unfolded, forwards and backwards:
bindings are found from the tokens of a marking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.models import Step
from ltlpipe.systems.nets.coloured.cells import Cells, Moves, holds, value
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
    from collections.abc import Container, Iterable, Mapping, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.ticks import Ticks
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.coloured.cells import Binding
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        ColouredTransition,
        Guard,
        Multiset,
    )

Condition = Callable[["Binding"], bool]

Admits = Callable[["Sequence[int]", int], Condition]
"""A condition on a variable, after those that are bound before it."""

Support = dict[int, list[set[int]]]
"""For places that may be marked the colours that each component of a tuple can have."""

_ROUNDS = 100
"""Times that all transitions are looked at before colours are narrowed no further."""


def narrowed(net: ColouredNet, ticks: Ticks) -> Job[list[dict[int, list[int]] | None]]:
    """Return the colours that the variables of each transition can ever have.

    None stands for a transition that is never taken.  The colours of places grow from
    those of the initial marking, until they do not change.  After many rounds, all
    colours are taken.
    """
    support: Support = {}

    def put(place: int, what: Multiset, known: Mapping[int, Iterable[int]]) -> bool:
        """Add the colours of tokens to a place; return whether some are new."""
        before = place in support, sum(map(len, support.get(place, [])))
        for tokens in tokens_of(what):
            own = support.setdefault(place, [set() for _ in net.places[place].domain])
            for colours, entry in zip(own, tokens.entries, strict=True):
                if isinstance(entry, Every):
                    colours.update(range(entry.size))
                elif isinstance(entry, Constant):
                    colours.add(entry.colour)
                else:
                    shifted = known[entry.variable]
                    colours.update((c + entry.shift) % entry.size for c in shifted)
        return before != (place in support, sum(map(len, support.get(place, []))))

    for number, place in enumerate(net.places):
        put(number, place.marking, {})
    variables: list[dict[int, list[int]] | None] = []
    changed, rounds = True, 0
    while changed:
        changed, variables, rounds = False, [], rounds + 1
        if rounds == _ROUNDS:
            support = full_support(net)
        for transition in net.transitions:
            known = domains(net, transition, support)
            variables.append(known)
            for target, what in transition.post if known is not None else ():
                changed |= put(target, what, known or {})
            size = 0 if known is None else sum(map(len, known.values()))
            yield from ticks.worked(
                1 + size * (1 + len(transition.pre) + len(transition.post))
            )
    return variables


def full_support(net: ColouredNet) -> Support:
    """Return all colours of all places."""
    return {k: [set(range(n)) for n in net.sizes(k)] for k in range(len(net.places))}


def domains(
    net: ColouredNet, transition: ColouredTransition, support: Support
) -> dict[int, list[int]] | None:
    """Return the colours that variables can have; None if the transition is dead.

    What is surely taken has to be there, and conditions on one variable hold.
    """
    colours = {v: set(range(net.size(net.variables[v].sort)))
               for v in transition.variables}  # fmt: skip
    for place, what in transition.pre:
        for tokens in surely_taken(what):
            if place not in support:
                return None
            for known, entry in zip(support[place], tokens.entries, strict=True):
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

    def bound(depth: int) -> Iterator[tuple[int, ...] | None]:
        if depth == len(levels):
            yield tuple([binding[v] for v in variables])
            return
        level = levels[depth]
        choices = level.colours
        if level.determined is not None:
            colour = level.determined(binding)
            choices = (colour,) if colour in level.colours else ()
        for colour in choices:
            binding[level.variable] = colour
            if all(condition(binding) for condition in level.conditions):
                yield from bound(depth + 1)
            else:
                yield None

    yield from bound(0)


def _levels(
    transition: ColouredTransition,
    colours: Mapping[int, Sequence[int]],
    unchanged: Mapping[int, Container[Any]],
    admits: Admits | None,
) -> list[_Level]:
    """Return in which order variables are bound, and what is looked at when."""
    waiting: list[tuple[set[int], Guard | None, Condition]] = [
        (set(variables_of(guard)), guard, partial(holds, guard))
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
                return lambda binding: (value(other, binding) - side.shift) % side.size
    return None


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
        As `bindings` takes it.  A variable may have a colour that one before it has, or
        the first of those alike that none has.
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


class Firing:
    """What is enabled in the markings of a symmetric net.

    Parameters
    ----------
    coloured : ColouredNet
        The net.
    file : str
        What messages name.

    Attributes
    ----------
    cells, moves : Cells, Moves
        The entries of a marking, and what can be taken.
    """

    def __init__(self, coloured: ColouredNet, file: str) -> None:
        self.coloured = coloured
        self.cells = Cells(coloured)
        self.moves = Moves(coloured)
        self._file = file

    def each_step_onto(
        self, state: Valuation, admits: Admits | None = None
    ) -> Iterator[Step | None]:
        """Yield the steps that lead to a marking, with the markings before them.

        None is yielded where a colour has been tried in vain; `admits` is that of
        `bindings`.
        """
        marked = self._marked(state)
        for number, transition in enumerate(self.coloured.transitions):
            turned = transition._replace(pre=transition.post, post=transition.pre)
            yield from self._steps(number, turned, state, marked, admits)

    def is_dead(self, state: Sequence[int]) -> bool:
        """Whether no transition can be taken."""
        return not any(
            self.can_fire(k, state) for k in range(len(self.moves.variables))
        )

    def can_fire(self, number: int, state: Sequence[int]) -> bool:
        """Whether a transition can be taken under some binding."""
        transition = self.coloured.transitions[number]
        steps = self._steps(number, transition, state, self._marked(state))
        return any(step is not None for step in steps)

    def _marked(self, state: Sequence[int]) -> dict[int, set[Colour]]:
        """Return the tuples that are in each place."""
        marked: dict[int, set[Colour]] = {
            place: set() for place in range(len(self.coloured.places))
        }
        for cell, count in enumerate(state):
            if count:
                place, colours = self.cells.split(cell)
                marked[place].add(colours)
        return marked

    def _steps(
        self,
        number: int,
        transition: ColouredTransition,
        state: Sequence[int],
        marked: Mapping[int, set[Colour]],
        admits: Admits | None = None,
    ) -> Iterator[Step | None]:
        """Yield the steps by a transition; None where a colour was tried in vain.

        Parameters
        ----------
        number : int
            Of the transition in the net; `transition` may be turned round.
        marked : mapping
            The tuples in each place.

        Raises
        ------
        UnsupportedError
            A step subtracts what is not there.
        """
        support = {
            place: [set(colours) for colours in zip(*own, strict=True)]
            for place, own in marked.items()
            if own
        }
        known = domains(self.coloured, transition, support)
        if known is None:
            return
        for colours in bindings(self.coloured, transition, known, marked, admits):
            if colours is None:
                yield None
                continue
            binding = self.moves.binding(number, colours)
            pre, wrong = self.cells.counted(transition.pre, binding)
            if any(state[cell] < weight for cell, weight in pre.items()):
                yield None
                continue
            post, also_wrong = self.cells.counted(transition.post, binding)
            wrong += also_wrong
            if not wrong:
                tokens = list(state)
                for cell, weight in pre.items():
                    tokens[cell] -= weight
                for cell, weight in post.items():
                    tokens[cell] += weight
                yield Step(self.moves.number(number, colours), tuple(tokens))
            elif transition is self.coloured.transitions[number]:
                what = self.moves.refusal(self._file, number, colours, wrong[0])
                raise UnsupportedError(what)
            else:
                yield None  # backwards: it need not be reached
