"""Random nets that are bounded mostly, with loops and places on the way."""

from __future__ import annotations

from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition


def net_of(tokens, *transitions):
    """Places p0, p1, ... and transitions t0, t1, ... with these arcs."""
    places = [Place(f"p{i}", f"p{i}", n) for i, n in enumerate(tokens)]
    return PetriNet(
        places, [Transition(f"t{i}", f"t{i}", *t) for i, t in enumerate(transitions)]
    )


def random_net(rng):
    """A few tokens that move, in steps that may be split at further places."""
    n_places = rng.randint(1, 4)
    tokens = [rng.choice([0, 0, 1, 1, 2]) for _ in range(n_places)]
    transitions = []
    for _ in range(rng.randint(1, 5)):
        pre = _side(rng, n_places, rng.choice([1, 1, 2, 2]))
        n = rng.randint(0, len(pre)) if rng.random() < 0.3 else len(pre)
        transitions.append((pre, _side(rng, n_places, n)))
    for _ in range(rng.randint(0, 3)):
        _split(rng, tokens, transitions)
    if rng.random() < 0.2:  # a place beside another one
        k, more = rng.randrange(len(tokens)), len(tokens)
        tokens.append(tokens[k] + rng.randint(0, 1))
        for pre, post in transitions:
            for arcs in (pre, post):
                if k in arcs:
                    arcs[more] = arcs[k]
    return net_of(tokens, *transitions)


def _side(rng, n_places, n):
    chosen = rng.sample(range(n_places), min(n, n_places))
    return {place: 2 if rng.random() < 0.05 else 1 for place in chosen}


def _split(rng, tokens, transitions):
    """Let two transitions do what one does, with a new place between."""
    k, place = rng.randrange(len(transitions)), len(tokens)
    tokens.append(0 if rng.random() < 0.9 else 1)
    pre, post = transitions[k]
    late = {p: w for p, w in pre.items() if rng.random() < 0.5}
    soon = {p: w for p, w in post.items() if rng.random() < 0.3}
    first = {p: w for p, w in pre.items() if p not in late}
    last = {p: w for p, w in post.items() if p not in soon}
    transitions[k] = first, {**soon, place: 1}
    transitions.append(({**late, place: 1}, last))
    if rng.random() < 0.2:  # a second way out
        transitions.append(({place: 1}, dict(last) if rng.random() < 0.5 else {}))
