"""Random symmetric nets with something to exchange, and formulas about them."""

from __future__ import annotations

from ltlpipe import UnsupportedError
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import complete
from ltlpipe.symmetry.colours import group_of_colours
from ltlpipe.systems.nets.coloured.net import (
    CYCLIC,
    DOT,
    EMPTY,
    ENUMERATION,
    RANGE,
    TRUE,
    AllOf,
    AnyOf,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Comparison,
    Constant,
    Difference,
    Every,
    Part,
    Sort,
    Sum,
    Tokens,
    Variable,
    tokens_of,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from tests.cross.test_models import random_formula

_SIZES = [1, 2, 3, 4, 4]
"""Colours of a sort: a variable of one colour has one binding."""


class _Random:
    """Draws the parts of one net."""

    def __init__(self, rng, most_places):
        self.rng = rng
        self.sorts = [self.sort(k) for k in range(rng.choice([1, 1, 2, 2, 3]))]
        if rng.random() < 0.2:
            self.sorts.append(Sort("dot", "dot", DOT, ("dot",), ("dot",)))
        numbers = range(len(self.sorts))
        self.variables = [Variable(f"{s}x{k}", f"{s}x{k}", s)
                          for s in numbers for k in range(2)]  # fmt: skip
        self.domains = [
            tuple(rng.choice(numbers) for _ in range(rng.choice([1, 1, 1, 2, 2, 3])))
            for _ in range(rng.randint(2, most_places))
        ]
        self.names_colours = rng.random() < 0.25
        self.binds = True

    def sort(self, number):
        rng = self.rng
        kind = rng.choice([ENUMERATION, ENUMERATION, CYCLIC, CYCLIC, RANGE])
        names = tuple(str(k) for k in range(1, 1 + rng.choice(_SIZES)))
        ids = names if kind == RANGE else tuple(f"s{number}c{k}" for k in names)
        return Sort(f"s{number}", f"s{number}", kind, ids, names)

    def size(self, sort):
        return len(self.sorts[sort].ids)

    def bound(self, sort, shifts=0.2):
        rng = self.rng
        turns = self.sorts[sort].kind == CYCLIC and rng.random() < shifts
        size = self.size(sort)
        shift = rng.randrange(size) if turns else 0
        return Bound(2 * sort + rng.randrange(2), shift, size)

    def entry(self, sort, every):
        if not self.binds or self.rng.random() < every:
            size = self.size(sort)
            of_all = not self.names_colours or self.rng.random() < 0.5
            return Every(size) if of_all else Constant(self.rng.randrange(size))
        if self.names_colours and self.rng.random() < 0.15:
            return Constant(self.rng.randrange(self.size(sort)))
        return self.bound(sort)

    def multiset(self, domain, every=0.05):
        rng = self.rng
        weight = rng.choice([1, 1, 1, 1, 1, 2])
        tokens = Tokens(weight, tuple(self.entry(s, every) for s in domain))
        kind = rng.random()
        if kind < 0.1:
            return Sum((tokens, self.multiset(domain, 0)))
        if kind < 0.15:
            one = tuple(self.entry(s, 0) for s in domain)
            all_ = tuple(Every(self.size(s)) for s in domain)
            return Difference(Tokens(1, all_), Tokens(1, one))
        return tokens

    def guard(self):
        rng = self.rng
        kind = rng.random()
        sort = rng.randrange(len(self.sorts))
        x, y = (Bound(2 * sort + k, 0, self.size(sort)) for k in range(2))
        if kind < 0.4:
            return TRUE
        if kind < 0.6:
            return Comparison("!=", x, y)
        if kind < 0.65:
            return Comparison("==", x, self.bound(sort, 0.5))
        if kind < 0.75:
            parts = (Comparison("!=", x, y), self.guard())
            return rng.choice([AllOf, AnyOf])(parts)
        if kind < 0.85 and self.names_colours:
            constant = Constant(rng.randrange(self.size(sort)))
            ordered = self.sorts[sort].kind in (CYCLIC, RANGE)
            relations = ["==", "!=", *(["<", ">="] if ordered else [])]
            sides = (x, constant) if rng.random() < 0.5 else (constant, x)
            return Comparison(rng.choice(relations), *sides)
        if kind < 0.92 and self.names_colours:
            parts = tuple(rng.randint(0, 1) for _ in range(self.size(sort)))
            other = rng.choice([Part(y, parts), Constant(1)])
            return Comparison(rng.choice(["==", "!=", "<"]), Part(x, parts), other)
        if kind < 0.95 and self.sorts[sort].kind in (CYCLIC, RANGE):
            return Comparison("<", x, y)
        return TRUE

    def marking(self, domain):
        rng = self.rng
        kind = rng.random()
        if kind < 0.5:
            if len(domain) > 1 and rng.random() < 0.7:
                return EMPTY
            return Tokens(1, tuple(Every(self.size(s)) for s in domain))
        if kind < 0.7:
            return EMPTY
        tokens = [
            Tokens(1, tuple(Constant(rng.randrange(self.size(s))) for s in domain))
            for _ in range(rng.choice([1, 1, 2, 3]))
        ]
        return Sum(tuple(tokens))

    def moved(self, pre, number):
        """Tokens for a place, of variables that are in tokens of others."""
        known = {}
        for _, what in pre:
            for tokens in tokens_of(what):
                for entry in tokens.entries:
                    if isinstance(entry, Bound):
                        sort = entry.variable // 2
                        known.setdefault(sort, []).append(entry)
        entries = []
        for sort in self.domains[number]:
            entry = self.rng.choice(known.get(sort) or [self.entry(sort, 0)])
            turns = isinstance(entry, Bound) and self.sorts[sort].kind == CYCLIC
            if turns and self.rng.random() < 0.2:
                entry = entry._replace(shift=(entry.shift + 1) % entry.size)
            entries.append(entry)
        return Tokens(1, tuple(entries))

    def transition(self, number):
        rng = self.rng
        places = range(len(self.domains))
        pre = rng.sample(places, rng.choice([1, 1, 1, min(2, len(places))]))
        n_post = rng.choice([len(pre), len(pre), len(pre), max(len(pre) - 1, 0)])
        if number % 2 and rng.random() < 0.7:  # the last one is taken back
            pre, post = self.last[::-1]
        else:
            post = rng.sample(places, n_post)
        self.last = pre, post
        self.binds = rng.random() < 0.85  # otherwise it has no variables
        taken = tuple((p, self.multiset(self.domains[p])) for p in pre)
        put = tuple(
            (p, self.moved(taken, p) if rng.random() < 0.8
             else self.multiset(self.domains[p]))
            for p in post
        )  # fmt: skip
        guard = (
            self.guard() if self.binds else rng.choice([TRUE, TRUE, TRUE, AnyOf(())])
        )
        self.binds = True
        return ColouredTransition(f"t{number}", f"t{number}", guard, taken, put)

    def net(self, most_transitions):
        places = [
            ColouredPlace(f"p{k}", f"p{k}", domain, self.marking(domain))
            for k, domain in enumerate(self.domains)
        ]
        n = self.rng.randint(3, most_transitions)
        transitions = [self.transition(k) for k in range(n)]
        return ColouredNet(
            "random",
            tuple(self.sorts),
            tuple(self.variables),
            tuple(places),
            tuple(transitions),
        )


def random_net(rng, *, most_places=4, most_transitions=5):
    """A symmetric net; it may be unbounded, or unfold into nothing."""
    return _Random(rng, most_places).net(most_transitions)


def lively_net(rng):
    """A symmetric net in which something can happen, with something to exchange."""
    while True:
        try:
            net = SymmetricNet(random_net(rng))
            complete(net.unfolding())
        except UnsupportedError:  # it subtracts what is not there
            continue
        group = complete(group_of_colours(net.coloured))
        steps = next(net.each_step(net.initial()), None)
        if steps is not None and (not group.is_trivial or rng.random() < 0.05):
            return net


def atoms(rng, net, *, named):
    """Propositions about a net: all of its colours, or some."""
    net = complete(net.unfolding())  # what has a place or a transition there is alive
    coloured = net.coloured
    found = ["deadlock"]
    for k, place in enumerate(coloured.places):
        found += [f"{place.name} >= {rng.randint(1, 3)}", f"{place.name} == 1"]
        own = net.variables_of(k)
        if named and own:
            p, q = (net.variables[rng.choice(own)] for _ in range(2))
            found += [f"{p} >= 1", f"{p} >= 1", f"{p} + {q} == 1", f"{p} < {q}"]
    for k, transition in enumerate(coloured.transitions):
        found += [f"fireable({transition.name})", f'action=="{transition.name}"']
        own = net.actions_of(k)
        if named and own:
            move = net.actions[rng.choice(own)]
            found += [f"fireable({move})", f'action=="{move}"']
    return found


def personal_formula(rng, net):
    """A formula that names colours, and forgets some of them in time."""
    net = complete(net.unfolding())
    places = [net.variables[rng.randrange(len(net.places))] for _ in range(2)]
    a, b = (f'"{place} >= 1"' for place in places)
    common = rng.choice([place.name for place in net.coloured.places])
    shape = rng.choice(
        [
            *("F({a}) -> GF({c})", "G({a} -> F({b}))", "GF({a}) -> GF({b})"),
            *("F({a} & XF({c}))", "({a} | {c}) U {b}", "GF({a}) -> FG({c})"),
            "G({a} -> F({c}))",
        ]
    )
    text = shape.format(a=a, b=b, c=f'"{common} >= {rng.randint(1, 2)}"')
    return parse(rng.choice(["", "!"]) + f"({text})")


def formula(rng, net):
    """A formula over propositions about a net, which may name colours."""
    single = [
        f"fireable({transition.name})"
        for k, transition in enumerate(net.coloured.transitions)
        if len(net.moves.range_of(k)) == 1
    ]
    of_single = single and rng.random() < 0.4  # transitions with one binding
    if not of_single and rng.random() < 0.4:
        return personal_formula(rng, net)
    named = rng.random() < 0.6
    known = atoms(rng, net, named=named)
    chosen = rng.sample(known, min(len(known), 3))
    if of_single:
        chosen[0] = rng.choice(single)
    return random_formula(rng, chosen)
