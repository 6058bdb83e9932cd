"""Groups and factors that one question has found, for the others."""

from __future__ import annotations

import random
from contextlib import contextmanager, suppress
from functools import partial
from unittest.mock import MagicMock, patch

import numpy as np
import pytest

from ltlpipe import LTS, Network
from ltlpipe.components import archive
from ltlpipe.components.composition import group_shelf, merger, shared_results
from ltlpipe.components.composition.group_shelf import (
    GroupShelf,
    Place,
    archived_groups,
    archived_result,
    restored_groups,
    restored_result,
)
from ltlpipe.components.composition.groups import tree
from ltlpipe.components.factoring import factors
from ltlpipe.runtime.folders import Entry, SharedFolder, shared_through
from ltlpipe.runtime.jobs import MIB, Limits, StoppedError, run
from tests.components.factoring.products import random_product
from tests.components.test_composition import unplanned

MANY = float(1 << 30)


def reduced(network, visible, **options):
    return run(
        shared_results.reduced_components(network, visible, cap_states=1000, **options)
    )


@contextmanager
def composing():
    """Let components be composed until one is left."""
    with (
        patch.object(shared_results, "Limit", partial(merger.Limit, small=0)),
        patch.object(merger, "SEARCHED", 0),
    ):
        yield


def copied(network):
    return Network([*network.components], network.name)


def same_trees(one, other):
    """Whether groups are made of the same parts, with the same components."""
    names = ("members", "n_states", "n_transitions", "equivalence", "lts")
    return (
        all(getattr(one, name) == getattr(other, name) for name in names)
        and len(one.parts) == len(other.parts)
        and all(map(same_trees, one.parts, other.parts))
    )


def test_groups_come_back_as_they_were():
    """With all that they are made of."""
    network = unplanned(8, 12, 5)
    names = sorted(network.action_index)[:3]
    found = reduced(network, names)
    back = restored_result(Entry(*archived_result(found)), 8, frozenset(names))
    assert all(map(same_trees, found.groups, back.groups))
    assert (back.largest, back.cap_states) == (found.largest, found.cap_states)
    assert back.visible == found.visible
    assert list(map(list, map(tree, back.groups))) == [
        list(tree(group)) for group in found.groups
    ]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda about: about["groups"][0].__setitem__(1, [99]),
        lambda about: about["groups"][-1].__setitem__(0, [0]),
        lambda about: about.pop("labels"),
        lambda about: about["components"][0].__setitem__(0, 0),
        lambda about: about["components"][-1].__setitem__(2, 10**6),
        lambda about: about.__setitem__("roots", [0]),
    ],
    ids=["parts", "members", "labels", "states", "transitions", "roots"],
)
def test_what_does_not_fit_together_is_refused(spoil):
    """And computed anew, see below."""
    network = unplanned(5, 7, 2)
    names = sorted(network.action_index)[:2]
    about, arrays = archived_result(reduced(network, names))
    spoil(about)
    with pytest.raises((ValueError, KeyError, TypeError, IndexError)):
        restored_result(Entry(about, arrays), 5, frozenset(names))


def test_components_come_back_as_they_were():
    """Accepting states, internal labels and names included."""
    one = LTS.from_transitions(
        [(0, "a", 1), (1, "i", 0)], internal=["i"], accepting=[1], name="one"
    )
    other = LTS.from_transitions([], n_states=3, initial=2)
    back = archive.restored(Entry(*archive.archived([one, other])))
    assert back == [one, other]
    assert [lts.name for lts in back] == ["one", ""]


def test_groups_serve_formulas_that_name_other_actions():
    """Only those are reduced anew in which somebody takes part who is seen."""
    network = unplanned(10, 14, 3)
    first, second = sorted(network.action_index)[:2]
    whole = []
    shelf = GroupShelf()
    shelf.limit(MANY)
    for groups in (shelf, None):
        spied = MagicMock(wraps=merger.reduce)
        with composing(), patch.object(merger, "reduce", spied):
            for name in (first, second):
                limit = merger.Limit(1000, small=0)
                run(merger.reduce_components(network, [name], limit, shelf=groups))
                whole.append(spied.call_count)
    assert whole[0] == whole[2]
    assert whole[1] - whole[0] < (whole[3] - whole[2]) / 2


def test_a_shelf_is_bounded():
    """The latest used stay; a composition beyond a limit is not used."""
    network = unplanned(6, 8, 1)
    with composing():
        whole = reduced(network, sorted(network.action_index)[:2])
    (group,) = [g for g in whole.groups if g.parts][:1]
    shelf = GroupShelf()
    places = [Place("trace", group.members, frozenset([str(k)])) for k in range(4)]
    shelf.put(places[0], group)
    assert len(shelf) == 0
    shelf.limit(3 * group.tree_bytes)
    for place in places[:3]:
        shelf.put(place, group)
    assert shelf.get(places[0], 10**6) is group
    shelf.put(places[3], group)
    assert shelf.get(places[1], 10**6) is None
    assert shelf.get(places[0], group.n_states) is group
    assert shelf.get(places[0], group.n_states - 1) is None
    assert shelf.has_failed(places[0], places[1], places[2], group.n_states - 1)
    shelf.note_failure(places[1], places[2], 10)
    assert shelf.has_failed(places[1], places[1], places[2], 10)
    assert not shelf.has_failed(places[1], places[1], places[2], 11)
    assert shelf.n_bytes <= 3 * group.tree_bytes
    shelf.limit(0)
    assert (len(shelf), shelf.n_bytes) == (0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_another_process_takes_over(seed, tmp_path):
    """Results for the same actions and for more; unless they are damaged."""
    network = unplanned(7, 10, seed)
    names = sorted(network.action_index)[:3]
    spied = []

    def spy(network, visible, limit, start=None, known=None, shelf=None):
        spied.append(start)
        return original(network, visible, limit, start, known, shelf)

    original = merger.reduce_components
    with (
        patch.object(shared_results, "_WORTH_SHARING", 0.0),
        patch.object(shared_results, "reduce_components", spy),
        shared_through(SharedFolder(tmp_path, 1 << 20)),
    ):
        found = reduced(network, names)
        with shared_through(SharedFolder(tmp_path, 1 << 20)):
            again = reduced(copied(network), names)
            assert len(spied) == 1
            assert all(map(same_trees, found.groups, again.groups))
            reduced(copied(network), names[:2])
            if merger.is_small(found.groups, merger.Limit()):
                assert all(map(same_trees, spied[-1].groups, found.groups))
            else:
                assert spied[-1] is None
        for path in tmp_path.glob("*.result"):
            path.write_bytes(path.read_bytes()[:-7])
        with shared_through(SharedFolder(tmp_path, 1 << 20)):
            reduced(copied(network), names)
        assert len(spied) == 3
        reduced(copied(network), names, shared_bytes=0)
        assert len(spied) == 4


def test_another_process_takes_over_single_groups(tmp_path):
    """Where the visible actions of all are others, but not those of the group."""
    network = unplanned(10, 14, 3)
    first, second = sorted(network.action_index)[:2]
    with (
        composing(),
        patch.object(group_shelf, "WORTH_SHARING", 0),
        shared_through(SharedFolder(tmp_path, 1 << 22)),
    ):
        reduced(network, [first])
        with patch.object(merger, "compose", wraps=merger.compose) as spied:
            with shared_through(SharedFolder(tmp_path, 1 << 22)):
                reduced(copied(network), [second])
            n_shared = spied.call_count
            reduced(copied(network), [second], shared_bytes=0)
    assert n_shared < (spied.call_count - n_shared) / 2


def test_factors_come_back_as_they_were(tmp_path):
    """Of random networks with products: equal, and lassos find back through them."""
    n_split = 0
    for seed in range(100):
        rng = random.Random(seed)
        parts = [random_product(rng, acceptance=seed % 2).component for _ in "12"]
        network = Network([*parts, LTS.from_transitions([(0, "z", 0)])])
        with shared_through(SharedFolder(tmp_path, 1 << 20)):
            found = run(factors.factored(network))
        with (
            shared_through(SharedFolder(tmp_path, 1 << 20)),
            patch.object(factors, "_factored", None),
        ):
            other = copied(network)
            again = run(factors.factored(other))
        assert again.left == found.left
        assert str(again) == str(found)
        for one, two in zip(found.origins, again.origins, strict=True):
            assert one[:2] == two[:2]
            assert (one.number_of is None) == (two.number_of is None)
            if one.number_of is not None:
                n_split += 1
                assert np.array_equal(one.number_of, two.number_of)
        if found.network is not None:
            assert again.network == found.network
    assert n_split > 20


def test_factors_of_another_network_are_refused(tmp_path):
    """What does not fit the components is computed anew."""
    grid = [(0, "a", 1), (0, "b", 2), (1, "b", 3), (2, "a", 3)]
    network = Network([LTS.from_transitions(grid)])
    with shared_through(SharedFolder(tmp_path, 1 << 20)):
        found = run(factors.factored(network))
        entry = Entry(*factors.archived_factors(found))
        wrong = Network([LTS.from_transitions([*grid, (4, "a", 4)])])
        with pytest.raises(ValueError, match="another component"):
            factors.restored_factors(entry, wrong)


def test_what_is_kept_counts_as_held():
    """And is given up where the memory of a question does not suffice for both."""
    network = unplanned(10, 14, 3)
    names = sorted(network.action_index)
    for name in names[:4]:
        reduced(network, [name])
    shelf = shared_results._shelves.of(network)
    before = shelf.n_bytes
    assert before > 0
    held = []
    job = shared_results.reduced_components(network, names[5:7], cap_states=1000)
    with suppress(StoppedError):
        run(
            job,
            Limits(memory_mib=4 * before / MIB),
            observer=lambda progress: held.append(progress.memory_bytes),
        )
    assert shelf.groups(network).n_bytes <= before / 2
    assert max(held) >= shelf.n_bytes


def test_groups_by_names_only():
    """A group that is restored has its members; another one is not taken."""
    network = unplanned(5, 7, 2)
    found = reduced(network, sorted(network.action_index)[:2])
    groups = [g for g in found.groups if g.parts]
    about, arrays = archived_groups(groups)
    assert [g.members for g in restored_groups(Entry(about, arrays))] == [
        g.members for g in groups
    ]
