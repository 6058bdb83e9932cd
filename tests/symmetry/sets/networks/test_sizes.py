"""The estimate of the tables' bytes against the tables."""

from __future__ import annotations

import random

import numpy as np

from ltlpipe.families.client_server import client_server
from ltlpipe.symmetry.sets.automaton import Tables
from ltlpipe.symmetry.sets.networks.layout import PHASE, Sym
from ltlpipe.symmetry.sets.networks.tables import product_bytes
from tests.depth import at_least, examples
from tests.symmetry.sets.networks.expanding import question
from tests.symmetry.sets.networks.networks import (
    personal_formula,
    random_formula,
    random_symmetric,
)

GIVEN = ("system_ints", "system_words")  # the packed network's


def made(tables):
    """The bytes of all that a product adds to its packed network."""
    return sum(
        array.nbytes
        for name, array in zip(Tables._fields, tables, strict=True)
        if name not in GIVEN
    )


def further_phases(asked, tables):
    """The bytes of phases beside one for each state with transitions, and their number.

    Of a phase there is the block of each member and the first edge for each letter.
    """
    ints, table = tables.ints, asked.table
    n_phases = int(ints[ints[Sym.PHASES] + table.n_states])
    at = np.asarray(table.first_edge)[:: table.n_letters]
    further = n_phases - sum(at[1:] != at[:-1])
    each = PHASE + asked.symmetry.n_members + table.n_letters + 1
    return 8 * each * further, further


def test_random_networks():
    """Of products: the estimate is exact but for further phases."""
    compared = with_further = with_moved = 0
    for seed in range(examples(200)):
        rng = random.Random(seed)
        network = random_symmetric(
            rng, n_clients=rng.randint(2, 6), accepting=rng.random() < 0.3
        )
        make = rng.choice([personal_formula, random_formula])
        told = rng.choice([0, int(network.has_acceptance)])
        asked = question(network, make(rng, network), told=told)
        if asked is None:
            continue
        tables = asked.automaton().tables
        more, further = further_phases(asked, tables)
        estimate = product_bytes(asked.symmetry, asked.packed, asked.table)
        assert estimate + more == made(tables), seed
        compared += 1
        with_further += further > 0
        with_moved += len(asked.symmetry.moved) > 0
    assert compared >= at_least(150)
    assert min(with_further, with_moved) >= at_least(10)


def test_many_clients():
    """Swaps grow with the square of the clients, and with the actions."""
    asked = question(client_server(20), "G(grant1 -> F grant2)")
    estimate = product_bytes(asked.symmetry, asked.packed, asked.table)
    swaps = asked.symmetry.action_swaps
    assert swaps.shape[0] == 190
    assert 8 * swaps.size < estimate <= made(asked.automaton().tables)
