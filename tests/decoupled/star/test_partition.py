"""Which variables are the centre, by what the property reads and what is shared."""

from __future__ import annotations

import pytest

from ltlpipe.decoupled.star_parts import (
    Effort,
    NoStarError,
    heart_of,
    partition,
)
from ltlpipe.decoupled.star_parts import footprints_of as footprints_job
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model

CLIENTS = """byte lock; byte unused;
process A { byte x; state s, t; init s;
trans s -> t { effect x = 1; }, t -> s { guard lock == 0; effect lock = 1; }; }
process B { byte x; state s, t; init s;
trans s -> t { effect x = 1 / x; }, t -> s { effect lock = 0; }; }
system async;"""


def footprints_of(model):
    complete(model.prepared())
    return complete(footprints_job(model))


def named(model, variables):
    return [model.variables[v] for v in variables]


def test_what_clients_share():
    """What is never written is no variable; a step that may fail touches the centre."""
    model = read_dve_model(CLIENTS, "clients.dve")
    footprints = footprints_of(model)
    touched = [named(model, sorted(one)) for one in footprints.touched]
    assert touched == [
        ["A", "A.x"],
        ["lock", "A"],
        ["B", "B.x", "error"],
        ["lock", "B"],
    ]
    assert [named(model, u) for u in footprints.units] == [
        ["A", "A.x"],
        ["B", "B.x"],
        ["lock"],
        ["error"],
    ]

    whole = complete(partition(footprints, footprints.fixed, Effort(1000)))
    (leaf,) = whole.leaves
    assert named(model, heart_of(footprints, leaf)) == ["lock"]
    shared = footprints.fixed | {model.variables.index("lock")}
    star = complete(partition(footprints, shared, Effort(1000)))
    assert named(model, star.centre) == ["lock", "error"]
    assert [named(model, one.variables) for one in star.leaves] == [
        ["A", "A.x"],
        ["B", "B.x"],
    ]
    assert [one.internal for one in star.leaves] == [(0,), ()]
    assert [one.crossing for one in star.leaves] == [(1,), (2, 3)]
    assert (star.n_moving, star.share, star.own) == (1, 0.25, ())


def test_places():
    """Transitions without places of a leaf are the centre's."""
    places = [Place(name, name, 1) for name in "zab"]
    moves = [
        ({1: 1}, {1: 1}),
        ({1: 1, 0: 1}, {0: 2}),
        ({2: 1, 0: 1}, {2: 1}),
        ({0: 1}, {}),
    ]
    net = PetriNet(
        places, [Transition(f"t{k}", f"t{k}", *move) for k, move in enumerate(moves)]
    )
    star = complete(partition(footprints_of(net), {0}, Effort(1000)))

    assert [leaf.variables for leaf in star.leaves] == [(1,), (2,)]
    assert [(leaf.internal, leaf.crossing) for leaf in star.leaves] == [
        ((0,), (1,)),
        ((), (2,)),
    ]
    assert star.own == (3,)
    with pytest.raises(NoStarError, match="0 looks"):
        complete(partition(footprints_of(net), {0}, Effort(0)))
