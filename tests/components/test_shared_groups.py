"""Groups of components that one question has reduced, for the others."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial
from unittest.mock import MagicMock, patch

from ltlpipe import Network
from ltlpipe.components import merger
from ltlpipe.components.groups import tree
from ltlpipe.components.merger import GroupShelf, Place, archived, restored
from ltlpipe.runtime.folders import SharedFolder, shared_through
from ltlpipe.runtime.jobs import MIB, Limits, StoppedError, run
from tests.components.test_composition import unplanned

MANY = float(1 << 30)


def reduced(network, visible, **options):
    return run(merger.reduced_components(network, visible, cap_states=1000, **options))


@contextmanager
def composing():
    """Let components be composed until one is left."""
    with (
        patch.object(merger, "Limit", partial(merger.Limit, small=0)),
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
    with composing():
        found = reduced(network, names)
    assert any(group.parts for group in found.groups)
    for group in found.groups:
        back = restored(*archived(group))
        assert same_trees(group, back)
        assert list(tree(back)) == list(tree(group))


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
    """The latest used stay."""
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
    assert shelf.get(places[0]) is group
    shelf.put(places[3], group)
    assert shelf.get(places[1]) is None
    assert shelf.get(places[0]) is group
    assert shelf.n_bytes <= 3 * group.tree_bytes
    shelf.limit(0)
    assert (len(shelf), shelf.n_bytes) == (0, 0)


def test_another_process_takes_over_single_groups(tmp_path):
    """Where the visible actions of all are others, but not those of the group."""
    network = unplanned(10, 14, 3)
    first, second = sorted(network.action_index)[:2]
    with (
        composing(),
        patch.object(merger, "WORTH_SHARING", 0),
        shared_through(SharedFolder(tmp_path, 1 << 22)),
    ):
        reduced(network, [first])
        with patch.object(merger, "compose", wraps=merger.compose) as spied:
            with shared_through(SharedFolder(tmp_path, 1 << 22)):
                reduced(copied(network), [second])
            n_shared = spied.call_count
            reduced(copied(network), [second], shared_bytes=0)
    assert n_shared < (spied.call_count - n_shared) / 2


def test_what_is_kept_counts_as_held():
    """And is given up where the memory of a question does not suffice for both."""
    network = unplanned(10, 14, 3)
    names = sorted(network.action_index)
    for name in names[:4]:
        reduced(network, [name])
    shelf = merger._kept.of(network).groups
    before = shelf.n_bytes
    assert before > 0
    held = []
    job = merger.reduced_components(network, names[5:7], cap_states=1000)
    with suppress(StoppedError):
        run(
            job,
            Limits(memory_mib=4 * before / MIB),
            observer=lambda progress: held.append(progress.memory_bytes),
        )
    assert shelf.n_bytes <= before / 2
    assert max(held) >= shelf.n_bytes
