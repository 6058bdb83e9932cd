"""Random symmetric nets."""

from __future__ import annotations

from hypothesis import strategies as st

from ltlpipe.systems.nets.coloured.net import (
    CYCLIC,
    DOT,
    EMPTY,
    ENUMERATION,
    RANGE,
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
)


@st.composite
def sorts(draw, number, max_size=3):
    kind = draw(st.sampled_from([CYCLIC, CYCLIC, ENUMERATION, RANGE, DOT]))
    size = 1 if kind == DOT else draw(st.integers(1, max_size))
    name = f"s{number}"
    if kind == DOT:
        return Sort("dot", "dot", kind, ("dot",), ("dot",))
    if kind == RANGE:
        low = draw(st.integers(-1, 2))
        names = tuple(str(k) for k in range(low, low + size))
        return Sort(name, name, kind, names, names)
    ids = tuple(f"{name}c{k}" for k in range(size))
    return Sort(name, name, kind, ids, tuple(map(str, range(size))))


@st.composite
def symmetric_nets(draw, *, max_places=3, max_transitions=3, wild=False):
    """Nets with all kinds of sorts, terms and guards.

    Differences are ``all`` without one tuple, which they can be; `wild` ones are of any
    multisets.
    """
    n_sorts = draw(st.integers(1, 3))
    known = [draw(sorts(k)) for k in range(n_sorts)]
    if sum(sort.kind == DOT for sort in known) > 1:
        known = [sort for sort in known if sort.kind != DOT] or known[:1]
    numbers = st.integers(0, len(known) - 1)
    of = draw(st.lists(numbers, max_size=3))
    variables = [Variable(f"x{k}", f"x{k}", sort) for k, sort in enumerate(of)]

    def size(sort):
        return len(known[sort].ids)

    def bounds(sort):
        own = [k for k, v in enumerate(variables) if v.sort == sort]
        if not own:
            return None
        turns = known[sort].kind == CYCLIC
        shift = draw(st.integers(0, size(sort) - 1)) if turns else 0
        return Bound(draw(st.sampled_from(own)), shift, size(sort))

    def entry(sort, *, ground=False, single=False):
        kinds = ["constant"] if ground else ["bound", "bound", "bound", "constant"]
        kind = draw(st.sampled_from(kinds if single else [*kinds, "every"]))
        bound = bounds(sort) if kind == "bound" else None
        if bound is not None:
            return bound
        if kind == "every":
            return Every(size(sort))
        return Constant(draw(st.integers(0, size(sort) - 1)))

    def tokens(domain, **how):
        weight = draw(st.sampled_from([1, 1, 1, 2]))
        return Tokens(weight, tuple(entry(sort, **how) for sort in domain))

    def multiset(domain, *, ground=False, depth=2):
        kind = draw(st.sampled_from(["tokens"] * 3 + ["sum", "difference"]))
        if draw(st.integers(0, 15)) == 0:
            return EMPTY
        if kind == "sum" and depth:
            parts = [
                multiset(domain, ground=ground, depth=depth - 1)
                for _ in range(draw(st.integers(1, 2)))
            ]
            return Sum(tuple(parts))
        if kind == "difference" and wild and depth:
            return Difference(
                multiset(domain, ground=ground, depth=depth - 1),
                multiset(domain, ground=ground, depth=depth - 1),
            )
        if kind == "difference":
            every = Tokens(1, tuple(Every(size(sort)) for sort in domain))
            one = tokens(domain, ground=ground, single=True)
            return Difference(every, one._replace(weight=1))
        return tokens(domain, ground=ground)

    def comparison():
        sort = draw(st.sampled_from(variables)).sort
        left, right = bounds(sort), entry(sort, single=True)
        relations = ["==", "!="]
        if draw(st.integers(0, 3)) == 0:
            elements = st.lists(
                st.integers(0, 1), min_size=size(sort), max_size=size(sort)
            )
            parts = tuple(draw(elements))
            own = Constant(draw(st.integers(0, 2)))
            right = Part(right, parts) if isinstance(right, Bound) else own
            relation = draw(st.sampled_from([*relations, "<", "<=", ">", ">="]))
            return Comparison(relation, Part(left, parts), right)
        if known[sort].kind in (CYCLIC, RANGE):
            relations += ["<", "<=", ">", ">="]
        return Comparison(draw(st.sampled_from(relations)), left, right)

    def guard(depth=2):
        kind = draw(st.sampled_from(["compare", "compare", "all", "any"]))
        if not variables or (kind != "compare" and not depth):
            return AllOf(())
        if kind == "compare":
            return comparison()
        parts = tuple(guard(depth - 1) for _ in range(draw(st.integers(1, 2))))
        return AllOf(parts) if kind == "all" else AnyOf(parts)

    places = []
    for k in range(draw(st.integers(1, max_places))):
        domain = tuple(draw(st.lists(numbers, min_size=1, max_size=2)))
        marking = EMPTY
        if draw(st.integers(0, 3)):
            marking = multiset(domain, ground=True)
        places.append(ColouredPlace(f"p{k}", f"p{k}", domain, marking))
    transitions = []
    for k in range(draw(st.integers(1, max_transitions))):
        ends = [
            draw(st.lists(st.integers(0, len(places) - 1), max_size=2, unique=True))
            for _ in range(2)
        ]
        sides = [tuple((p, multiset(places[p].domain)) for p in side) for side in ends]
        condition = guard() if draw(st.booleans()) else AllOf(())
        transitions.append(ColouredTransition(f"t{k}", f"t{k}", condition, *sides))
    return ColouredNet(
        "random", tuple(known), tuple(variables), tuple(places), tuple(transitions)
    )
