"""The quotient by the stabiliser against orbits that are written out."""

from __future__ import annotations

import random

import pytest

from ltlpipe import check
from ltlpipe.families.client_server import client_server
from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.classes.detection import find_symmetry
from ltlpipe.symmetry.orbits.stabiliser import orbit_bytes, orbits, stabiliser
from ltlpipe.symmetry.sets.networks.starts import transpositions
from tests.depth import at_least, examples
from tests.modes import INTERPRETED, output
from tests.symmetry.sets.networks.expanding import Expansion, question, underlying
from tests.symmetry.sets.networks.networks import (
    personal_formula,
    random_formula,
    random_symmetric,
)


def reached(product):
    """All states of an underlying product."""
    found = set(product.initial)
    waiting = list(found)
    while waiting:
        for _, state in product.steps(waiting.pop()):
            if state not in found:
                found.add(state)
                waiting.append(state)
    return found


def numbers(network, text):
    """States and orbits of a product; None if a search of the quotient ends early.

    Such a search visits each orbit once.
    """
    asked = question(network, text)
    if asked is None:
        return None
    options = {"acceptance": "tgba", "emptiness": "couvreur99", "unknown": "never"}
    found = check(network, text, reduce="stabiliser", **options)
    if found.verdict == "violated":
        return None
    blocks = run(stabiliser(asked.symmetry, asked.table, asked.letters))
    states = reached(underlying(asked))
    n_states, n_orbits = len(states), 0
    expanded = Expansion(asked)
    while states:
        orbit = expanded.permuted(next(iter(states)), blocks)
        assert orbit <= states, "the group is none of the product's"
        states -= orbit
        n_orbits += 1
    assert found.stats.states == n_orbits
    return n_states, n_orbits


@pytest.mark.parametrize(
    "text",
    [
        "!grant1 W request1",
        "G(open -> (!(refuse1 | refuse2) W maintain))",
        "G(commit2 -> F save) | FG !open",
        "!open W maintain",
    ],
)
def test_orbits_of_clients(text):
    """There are fewer orbits than states wherever two of three clients are alike."""
    n_states, n_orbits = numbers(client_server(3), text)

    assert n_orbits < n_states


def test_as_many_states_as_orbits():
    """The same of random networks, most of which have no state twice."""
    compared = 0
    for seed in range(examples(60)):
        rng = random.Random(seed)
        network = random_symmetric(rng, n_clients=rng.randint(2, 4), lively=True)
        make = rng.choice([personal_formula, random_formula])
        compared += numbers(network, make(rng, network)) is not None

    assert compared >= at_least(10)


def test_the_stabiliser_of_a_formula():
    """Clients that are named are told apart, together or one by one."""
    network = client_server(4)
    symmetry = run(find_symmetry(network, least=2))

    def blocks(text):
        asked = question(network, text)
        found = run(stabiliser(symmetry, asked.table, asked.letters))
        names = [name for own in symmetry.names() for name in own]
        return {n: names[found[m]] for m, n in enumerate(names) if found[m] != m}

    assert blocks("G !maintain") == dict.fromkeys(
        ["client2", "client3", "client4"], "client1"
    )
    assert blocks("G !grant1") == dict.fromkeys(["client3", "client4"], "client2")
    both = {"client2": "client1", "client4": "client3"}
    assert blocks("G !(grant1 | grant2)") == both
    assert blocks("G(grant1 -> F grant2)") == {"client4": "client3"}


def test_tables_and_their_estimate():
    """The table of a quotient has as many bytes as were asked for."""
    network = client_server(4)
    asked = question(network, "G !grant1")
    blocks = run(stabiliser(asked.symmetry, asked.table, asked.letters))
    made = orbits(asked.symmetry, asked.packed, blocks)

    assert made.ints.nbytes == orbit_bytes(asked.symmetry, asked.packed)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_exchanges_make_up_a_permutation(n):
    """What stands in a place ends where the permutation says."""
    rng = random.Random(n)
    for _ in range(20):
        permutation = rng.sample(range(n), n)
        placed = list(range(n))
        for first, second in transpositions(tuple(permutation)):
            placed[first], placed[second] = placed[second], placed[first]
        assert [placed.index(member) for member in range(n)] == permutation


PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe import check
from tests.symmetry.sets.networks.networks import personal_formula, random_symmetric
import random

for seed in (3, 10, 11):
    rng = random.Random(seed)
    network = random_symmetric(rng, n_clients=3, most_states=3, lively=True)
    formula = personal_formula(rng, network)
    for name in ("couvreur99", "se05"):
        v = check(
            network, formula, emptiness=name, reduce="stabiliser", max_states=200
        )
        print(name, formula, v.verdict, v.lasso and v.lasso.to_dict(), v.stats.states)
"""


@pytest.mark.thorough("interprets kernels, or compiles them once more")
def test_interpreted_kernels_are_the_same():
    """Plain Python gives the same runs."""
    said = output(PROGRAM)

    assert said.count("violated") >= 2
    assert output(PROGRAM, **INTERPRETED) == said
