"""An interpreter of symmetric nets that shares nothing with the package.

It reads the XML of a net and steps through multisets of tuples of colours, which are
known by their ids; bindings are all combinations of colours that satisfy the guard.
"""

from __future__ import annotations

import operator
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import product

RELATIONS = {
    "equality": operator.eq,
    "inequality": operator.ne,
    "lessthan": operator.lt,
    "lessthanorequal": operator.le,
    "greaterthan": operator.gt,
    "greaterthanorequal": operator.ge,
    "ltp": operator.lt,
    "gtp": operator.gt,
}


class NegativeError(Exception):
    """More is subtracted than there is."""


class ColouredOracle:
    """A net, from the text of its file."""

    def __init__(self, text):
        root = ET.fromstring(text.encode())
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
        self.sorts = {e.get("id"): e[0] for e in root.iter("namedsort")}
        self.variables = {
            e.get("id"): [c for (c,) in self.colours(e[0])]
            for e in root.iter("variabledecl")
        }
        self.order = list(self.variables)
        self.position = {}
        self.parts = {}
        for sort in self.sorts.values():
            for k, constant in enumerate(sort.iter("feconstant")):
                self.position[constant.get("id")] = k
        for partition in root.iter("partition"):
            for k, element in enumerate(partition.iter("partitionelement")):
                self.parts[element.get("id")] = k
                for constant in element:
                    (colour,) = self.tokens(constant, {})
                    self.parts[(partition.get("id"), *colour)] = k
        self.initial = Counter()
        for place in root.iter("place"):
            term = place.find("hlinitialMarking/structure/*")
            if term is not None:
                own = place.get("id")
                for colour, count in self.tokens(term, {}).items():
                    self.initial[own, colour] = count
        self.transitions = {t.get("id"): t for t in root.iter("transition")}
        self.arcs = [
            (a.get("source"), a.get("target"), a.find("hlinscription/structure/*"))
            for a in root.iter("arc")
        ]

    def colours(self, sort):
        """All colours of a sort, as tuples."""
        if sort.tag == "usersort":
            return self.colours(self.sorts[sort.get("declaration")])
        if sort.tag == "productsort":
            parts = product(*map(self.colours, sort))
            return [tuple(c for part in parts_ for c in part) for parts_ in parts]
        if sort.tag == "finiteintrange":
            low, high = int(sort.get("start")), int(sort.get("end"))
            return [(str(k),) for k in range(low, high + 1)]
        if sort.tag == "dot":
            return [("dot",)]
        return [(constant.get("id"),) for constant in sort]

    def tokens(self, term, binding):
        """The multiset of tuples that a term is."""
        parts = [child[0] for child in term.findall("subterm")]
        if term.tag == "variable":
            return Counter({(binding[term.get("refvariable")],): 1})
        if term.tag == "all":
            return Counter(self.colours(term[0]))
        if term.tag == "numberof":
            times = int(parts[0].get("value"))
            counts = self.tokens(parts[1], binding)
            return Counter({c: times * n for c, n in counts.items() if times * n})
        if term.tag in ("successor", "predecessor"):
            ((colour,),) = self.tokens(parts[0], binding)
            ring = next(
                [e.get("id") for e in sort]
                for sort in self.sorts.values()
                if any(e.get("id") == colour for e in sort)
            )
            step = 1 if term.tag == "successor" else -1
            return Counter({(ring[(ring.index(colour) + step) % len(ring)],): 1})
        if term.tag in ("tuple", "add", "subtract"):
            counts = [self.tokens(part, binding) for part in parts]
            if term.tag == "tuple":
                return Counter([sum(choice, ()) for choice in product(*counts)])
            total = Counter(counts[0])
            for other in counts[1:]:
                for colour, n in other.items():
                    total[colour] += n if term.tag == "add" else -n
            if any(n < 0 for n in total.values()):
                raise NegativeError
            return +total
        if term.tag == "empty":
            return Counter()
        constant = term.get("declaration") or term.get("value") or "dot"
        return Counter({(constant,): 1})

    def rank(self, term, binding):
        """What comparisons compare: a number."""
        if term.tag == "partitionelementof":
            (colour,) = self.tokens(term[0][0], binding)
            return self.parts[(term.get("refpartition"), *colour)]
        if term.tag == "useroperator" and term.get("declaration") in self.parts:
            return self.parts[term.get("declaration")]
        ((colour,),) = self.tokens(term, binding)
        if colour in self.position:
            return self.position[colour]
        return 0 if colour == "dot" else int(colour)

    def holds(self, guard, binding):
        parts = [child[0] for child in guard.findall("subterm")]
        if guard.tag == "booleanconstant":
            return guard.get("value") == "true"
        if guard.tag in RELATIONS:
            return RELATIONS[guard.tag](*(self.rank(part, binding) for part in parts))
        values = [self.holds(part, binding) for part in parts]
        if guard.tag == "not":
            return not values[0]
        if guard.tag == "imply":
            return not values[0] or values[1]
        return all(values) if guard.tag == "and" else any(values)

    def bindings(self, own):
        """The bindings of a transition, and what it takes and puts under each."""
        guard = self.transitions[own].find("condition/structure/*")
        pre = [(s, term) for s, t, term in self.arcs if t == own]
        post = [(t, term) for s, t, term in self.arcs if s == own]
        terms = [term for _, term in (*pre, *post)]
        terms += [] if guard is None else [guard]
        used = {v.get("refvariable") for term in terms for v in term.iter("variable")}
        names = [name for name in self.order if name in used]
        for colours in product(*(self.variables[name] for name in names)):
            binding = dict(zip(names, colours, strict=True))
            if guard is None or self.holds(guard, binding):
                sides = []
                for side in (pre, post):
                    total = Counter()
                    for place, term in side:
                        for colour, n in self.tokens(term, binding).items():
                            total[place, colour] += n
                    sides.append(total)
                yield ".".join([own, *(c for c in colours if c != "dot")]), *sides

    def steps(self, marking):
        """The steps of a marking: names of actions and markings."""
        found = []
        for own in self.transitions:
            for name, pre, post in self.bindings(own):
                if all(marking[slot] >= n for slot, n in pre.items()):
                    after = Counter(marking)
                    after.subtract(pre)
                    after.update(post)
                    found.append((name, +after))
        return found

    def graph(self, limit):
        """Markings by their `shown`, and their steps; None if there are too many."""
        graph = {}
        waiting = [self.initial]
        while waiting:
            marking = waiting.pop()
            if shown(marking) not in graph:
                if len(graph) == limit:
                    return None
                steps = self.steps(marking)
                graph[shown(marking)] = {(name, shown(after)) for name, after in steps}
                waiting += [after for _, after in steps]
        return graph


def shown(marking):
    """A marking by the names of places with colours, those with tokens."""
    return frozenset(
        (".".join([place, *(c for c in colour if c != "dot")]), n)
        for (place, colour), n in marking.items()
        if n
    )
