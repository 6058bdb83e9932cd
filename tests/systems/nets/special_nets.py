"""Random nets with inhibitor, read and reset arcs and capacities, and what they do.

A net is a list of arcs as a file has them, and it is interpreted arc by arc: nothing
here shares code with the package.  `pnml_of` writes it as tools do.
"""

from __future__ import annotations

from typing import NamedTuple

from ltlpipe.systems.nets.reading import parse_pnml


class Arc(NamedTuple):
    """An arc; `kind` is normal, inhibitor, read or reset."""

    kind: str
    place: int
    transition: int
    takes: bool  # from the place; else it puts
    weight: int = 1


class SpecialNet(NamedTuple):
    """A net as its file has it."""

    tokens: tuple[int, ...]
    capacities: tuple[int, ...]  # 0 is none
    n_transitions: int
    arcs: tuple[Arc, ...]

    def initial(self):
        """The initial marking."""
        return self.tokens

    def fired(self, marking, transition):
        """The marking after a transition; None if it is not enabled."""
        own = [arc for arc in self.arcs if arc.transition == transition]
        tokens = list(marking)
        for arc in own:
            held = marking[arc.place]
            if arc.kind == "inhibitor" and held >= arc.weight:
                return None
            if arc.kind == "read" and held < arc.weight:
                return None
        for arc in own:
            if arc.kind == "normal" and arc.takes:
                tokens[arc.place] -= arc.weight
        if min(tokens, default=0) < 0:
            return None
        for arc in own:
            if arc.kind == "reset":
                tokens[arc.place] = 0
        for arc in own:
            if arc.kind == "normal" and not arc.takes:
                tokens[arc.place] += arc.weight
        for place, most in enumerate(self.capacities):
            if most and tokens[place] > max(most, marking[place]):
                return None
        return tuple(tokens)

    def steps(self, marking):
        """The steps of a marking: pairs of a transition and a marking."""
        found = ((t, self.fired(marking, t)) for t in range(self.n_transitions))
        return [(t, target) for t, target in found if target is not None]

    def graph(self, limit):
        """The reachable markings and their steps by numbers; None if there are more."""
        states = [self.initial()]
        index = {states[0]: 0}
        steps = []
        for state in states:  # grows while it is read
            found = self.steps(state)
            for _, target in found:
                if target not in index:
                    if len(states) == limit:
                        return None
                    index[target] = len(states)
                    states.append(target)
            steps.append([(t, index[target]) for t, target in found])
        return states, steps


def random_special_net(rng, *, bounded=0.7):
    """A small net; half of them have few special arcs, and mostly move tokens."""
    return _moving_net(rng) if rng.random() < 0.5 else _wild_net(rng, bounded)


def _moving_net(rng):
    """A net of few arcs that mostly keeps its tokens."""
    n_places, n_transitions = rng.randint(3, 7), rng.randint(3, 7)
    places = [*range(n_places)]
    tokens = tuple(rng.choice([0, 1, 1, 2]) for _ in places)
    arcs = []
    for t in range(n_transitions):
        weights = {p: rng.choice([1, 1, 1, 2]) for p in rng.sample(places, 1)}
        if rng.random() < 0.3:
            weights[rng.choice(places)] = 1
        arcs += [Arc("normal", p, t, True, weight) for p, weight in weights.items()]
        targets = rng.sample(places, len(weights) - (rng.random() < 0.2))
        pairs = zip(targets, weights.values(), strict=False)
        arcs += [Arc("normal", p, t, False, weight) for p, weight in pairs]
    taken = {(arc.place, arc.transition) for arc in arcs if arc.takes}
    for _ in range(rng.randint(0, 2)):
        end = rng.choice(places), rng.randrange(n_transitions)
        kinds = ["inhibitor", "reset", *["read"] * (end not in taken)]
        kind = rng.choice(kinds)
        arcs.append(Arc(kind, *end, True, 1 if kind == "reset" else rng.randint(1, 2)))
    capacities = [0] * n_places
    if rng.random() < 0.5:
        place = rng.choice(places)
        capacities[place] = tokens[place] + rng.randint(1, 2)
    return SpecialNet(tokens, tuple(capacities), n_transitions, tuple(arcs))


def _wild_net(rng, bounded):
    """A net of any arcs; with the probability `bounded` all places have capacities."""
    n_places, n_transitions = rng.randint(1, 5), rng.randint(1, 5)
    tokens = tuple(rng.choice([0, 0, 1, 1, 2, 3]) for _ in range(n_places))
    every = rng.random() < bounded
    capacities = tuple(
        rng.randint(max(m, 1), 4) if every or rng.random() < 0.2 else 0 for m in tokens
    )
    arcs = []
    for t in range(n_transitions):
        places = [*range(n_places)]
        pre = rng.sample(places, rng.randint(0, min(2, n_places)))
        post = rng.sample(places, rng.randint(0, min(2, n_places)))
        arcs += [Arc("normal", p, t, True, rng.choice([1, 1, 1, 2])) for p in pre]
        arcs += [Arc("normal", p, t, False, rng.choice([1, 1, 1, 2])) for p in post]
        for place in places:
            if rng.random() < 0.12:
                arcs.append(Arc("inhibitor", place, t, True, rng.choice([1, 1, 2, 3])))
            if rng.random() < 0.1:
                arcs.append(Arc("reset", place, t, True))
            if place not in pre and rng.random() < 0.12:
                arcs.append(Arc("read", place, t, True, rng.choice([1, 1, 2])))
    return SpecialNet(tokens, capacities, n_transitions, tuple(arcs))


KINDS = {
    "TAPAAL": {"inhibitor": "tapnInhibitor", "read": "test", "reset": "reset"},
    "PIPE": {"inhibitor": "inhibitor", "read": "test", "reset": "reset"},
    "ProM": {"inhibitor": "inhibitor", "read": "read", "reset": "reset"},
}


def pnml_of(net, dialect="ProM"):
    """A file with a net, as tools write it."""
    attributes = dialect == "TAPAAL"
    tag = "value" if dialect == "PIPE" else "text"
    classes = "Default," if dialect == "PIPE" else ""

    def label(kind, value):
        return f"<{kind}><{tag}>{value}</{tag}><graphics/></{kind}>"

    lines = []
    for k, (tokens, most) in enumerate(zip(net.tokens, net.capacities, strict=True)):
        if attributes:
            more = f' capacity="{most}"' if most else ""
            lines.append(
                f'<place displayName="true" id="p{k}" initialMarking="{tokens}" '
                f'invariant="&lt; inf" name="p{k}" positionX="1"{more}/>'
            )
            continue
        labels = label("initialMarking", f"{classes}{tokens}")
        labels += label("capacity", most) if most or dialect == "PIPE" else ""
        lines.append(f'<place id="p{k}">{label("name", f"p{k}")}{labels}</place>')
    for k in range(net.n_transitions):
        if attributes:
            lines.append(
                f'<transition id="t{k}" name="t{k}" infiniteServer="false" '
                'priority="0" urgent="false" angle="0"/>'
            )
        elif dialect == "PIPE":
            more = "".join(
                label(*pair)
                for pair in (("rate", "1.0"), ("timed", "false"), ("priority", "1"))
            )
            lines.append(f'<transition id="t{k}">{more}</transition>')
        else:
            lines.append(f'<transition id="t{k}"/>')
    for arc in net.arcs:
        ends = [f"p{arc.place}", f"t{arc.transition}"][:: 1 if arc.takes else -1]
        own = 'id="a" source="{}" target="{}"'.format(*ends)
        kind = KINDS[dialect].get(arc.kind, "normal")
        if attributes:
            kind = "timed" if kind == "normal" and arc.takes else kind
            ages = "1" if kind == "normal" else "[0,inf)"
            lines.append(
                f'<arc {own} inscription="{ages}" type="{kind}" weight="{arc.weight}">'
                '<arcpath id="0" xCoord="1"/></arc>'
            )
            continue
        weight = label("inscription", f"{classes}{arc.weight}")
        said = label("arctype", kind) if dialect == "ProM" else ""
        said += f'<type value="{kind}"/>' if dialect == "PIPE" else ""
        lines.append(f"<arc {own}>{weight}{said}</arc>")
    body = "\n".join(lines)
    token = '<token id="Default" enabled="true"/>' if dialect == "PIPE" else ""
    return (
        f'<pnml><net id="n" type="P/T net">{token}\n{body}\n</net>'
        f"{'<k-bound bound=' + chr(34) + '3' + chr(34) + '/>' if attributes else ''}"
        "</pnml>"
    ).encode()


def read(net, dialect="ProM"):
    """The net as the package reads it."""
    return parse_pnml(pnml_of(net, dialect), "random.pnml")
