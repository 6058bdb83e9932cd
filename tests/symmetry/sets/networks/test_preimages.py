"""Sources of a step that may be in a set, against all that there are."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice, product

from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.classes.detection import find_symmetry
from ltlpipe.symmetry.sets.networks.preimages import Preimages
from tests.depth import at_least, examples
from tests.symmetry.sets.networks.networks import random_symmetric


def assert_complete(rng, network, symmetry):
    """Each state that looks like one of the set comes out, and nothing else."""
    components = network.components
    local = tuple(rng.randrange(c.n_states) for c in components)
    if any(symmetry.canonical[c][local[c]] < 0 for m in symmetry.members for c in m):
        return 0  # no run gets there
    blocks = [rng.randrange(2) for _ in symmetry.members]
    preimages = Preimages(symmetry, local, blocks)

    def look(state):
        """What tells states of the set from others, roles left out."""
        kinds = Counter(
            (
                symmetry.class_of[m],
                blocks[m],
                *(symmetry.canonical[c][state[c]] for c in symmetry.members[m]),
            )
            for m in range(symmetry.n_members)
        )
        inside = {c for m in symmetry.members for c in m} | {*symmetry.moved}
        return kinds, [s for c, s in enumerate(state) if c not in inside]

    n_found = 0
    for action in network.actions:
        who = action.participants
        arcs = [
            [(s, d) for s, a, d in components[c].transitions() if a == action.name]
            for c in who
        ]
        for step in islice(product(*arcs), 20):
            after = list(local)
            for c, (_, target) in zip(who, step, strict=True):
                after[c] = target
            sources = {
                c: sorted({s for s, d in arcs[k] if d == after[c]})
                for k, c in enumerate(who)
            }
            ways = preimages.completed(tuple(after), sources)
            found = [before for before in ways if before is not None]
            expected = []
            for states in product(*sources.values()):
                before = list(after)
                for c, state in zip(sources, states, strict=True):
                    before[c] = state
                if look(before) == look(local):
                    expected.append(tuple(before))
            assert len(found) == len(set(found))
            assert set(found) == set(expected)
            n_found += len(found)
    return n_found


def test_all_sources_and_no_others():
    """In random networks, from random states, with random blocks."""
    n_found = 0
    for seed in range(examples(60)):
        rng = random.Random(seed)
        network = random_symmetric(rng)
        symmetry = run(find_symmetry(network, least=2))
        if symmetry is not None:
            n_found += sum(assert_complete(rng, network, symmetry) for _ in range(20))
    assert n_found >= at_least(1000)
