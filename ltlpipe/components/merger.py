"""Order in which components of a network are composed, and when to stop.

For an interruptible property only the projections of infinite runs to the visible
actions matter, and what the rest of a network can see of some components is their
traces and divergences over the labels that are visible or shared with others
(docs/components.md has the proof).  So every group of components may be replaced by
the least LTS with the same traces and divergences
(`ltlpipe.components.equivalences`): first each component alone, then two groups
composed, over and over.

The order decides how large the largest composition is, and no rule for it is good for
all networks.  So there are several attempts.  In each, two groups that share a label
are a candidate; candidates are ranked by the product of their sizes, divided by `GAIN`
for every label that would become hidden; the best `TRIALS` are composed and reduced,
and the one that the attempt's heuristic (`HEURISTICS`) ranks first is kept.  The
groups that attempts have in common are computed once.

Compositions that turn out too large cost the most, so the limit of their states
begins at `FIRST_CAP`, and grows by `CAP_GROWTH` up to the user's when no heuristic
leaves little: a search through `SEARCHED` times as many states is fast.  An attempt
ends when all composed states are at most `SMALL`, or when nothing fits any more.  The
one that has left the fewest counts.

Where the deterministic form of a composition is larger than what simulation leaves of
it, the latter takes its place.  Certificates are about deterministic forms only; there,
where such a form has more states than the limit, the quotient by branching bisimulation
takes its place, which is never larger than the composition.

For a property that is not interruptible but erasable (docs/erasable.md) the block
normal form takes the place of the least LTS, and the quotient by strong bisimilarity
that of the one by branching bisimulation.

Source: the idea is named as future work by S. Siegel and Y. Yan, "Action-Based Model
Checking: Logic, Automata, and Reduction", CAV 2020, Sec. 7; compositional minimisation
goes back to S. Graf and B. Steffen, "Compositional Minimization of Finite State
Systems", CAV 1990.

Groups are kept beside the network, for other questions about it (`GroupShelf`).  What
becomes of a group depends on its members, the equivalence, and the labels that are
hidden in it: they alone decide what is hidden in groups that it is made of.  So two
formulas that name different actions have most groups in common, and what one has
composed serves the other, or a network with more components behind the same ones.
What was composed at great expense is shared with the other processes of a run, too
(`ltlpipe.runtime.folders`).

A group that was made of other parts, or with another limit, is as good: it keeps the
same traces and divergences.  One whose composition has more states than the limit
allows is not used, and one that was left to a weaker reduction is not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.components.composition import TooManyPairsError, compose
from ltlpipe.components.determinise import TooLargeError
from ltlpipe.components.equivalences import SIMULATION, least, reduce
from ltlpipe.components.groups import (
    HEURISTICS,
    MAX_COMPONENT_STATES,
    PERTURBED,
    Group,
    Reduced,
    gain,
)
from ltlpipe.components.progress import COMPONENTS, holding, reducing
from ltlpipe.runtime.folders import shared_folder
from ltlpipe.runtime.jobs import MIB
from ltlpipe.runtime.objects import Beside
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.lts import LTS, Network, digest_if_small

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ltlpipe.runtime.folders import SharedFolder
    from ltlpipe.runtime.jobs import Job

    Enough = Callable[[Network, int], Job[bool]]

WORTH_SHARING = 1 << 12
"""Transitions of a composition that are worth a file: it takes five milliseconds."""

ASKED_AFTER = 2
"""Times the transitions of groups that are composed until it is asked if they suffice.

That takes a tenth of the time that composing as many takes.
"""

_MOST_FAILURES = 1 << 16
_COLUMNS = ("src", "label", "dst")


class Place(NamedTuple):
    """What a group is known by; `hidden` are labels that only its members have."""

    equivalence: str
    members: frozenset[int]
    hidden: frozenset[str]

    @property
    def names(self) -> tuple[list[int], list[str]]:
        """Members and actions as JSON has them."""
        return sorted(self.members), sorted(self.hidden)


class GroupShelf:
    """The groups of one network, up to so many bytes; the latest used stay.

    Attributes
    ----------
    digest : str or None
        What stands for the network's contents among processes; None where nothing is
        shared with others.
    failed : dict
        How many states the composition of two groups has at least, less one.
    """

    def __init__(self) -> None:
        self.digest: str | None = None
        self.failed: dict[tuple[Place, Place], int] = {}
        self._groups: OrderedDict[Place, Group] = OrderedDict()
        self.n_bytes = 0
        self.most_bytes = 0.0  # nothing is kept by default

    def __len__(self) -> int:
        return len(self._groups)

    def limit(self, most_bytes: float) -> None:
        """Keep at most so many bytes from now on."""
        self.most_bytes = most_bytes
        self._shrink()

    def get(self, place: Place) -> Group | None:
        """Return a group if it is known, here or to another process."""
        if place in self._groups:
            self._groups.move_to_end(place)
            return self._groups[place]
        folder = self._folder
        if len(place.members) == 1 or folder is None:
            return None
        entry = folder.get(["group", self.digest, place.equivalence], place.names)
        if entry is None:
            return None
        group = restored(entry.about, entry.arrays)
        self._keep(place, group)
        return group

    def put(self, place: Place, group: Group) -> None:
        """Keep a group, if it was reduced as far as the equivalence allows."""
        if group.equivalence == _INSTEAD.get(place.equivalence):
            return
        if place in self._groups:
            return
        self._keep(place, group)
        folder, is_worth_it = self._folder, group.n_transitions >= WORTH_SHARING
        if group.parts and is_worth_it and folder is not None:
            at = ["group", self.digest, place.equivalence]
            folder.put(at, place.names, *archived(group))

    @property
    def _folder(self) -> SharedFolder | None:
        """The folder of the run, if something is shared."""
        return None if self.digest is None else shared_folder()

    def note_failure(self, pair: tuple[Place, Place], cap: int) -> None:
        """Note that the composition of two groups has more than `cap` states."""
        if len(self.failed) >= _MOST_FAILURES:
            self.failed.clear()
        self.failed[pair] = cap

    def _keep(self, place: Place, group: Group) -> None:
        self._groups[place] = group
        self.n_bytes += group.tree_bytes
        self._shrink()

    def _shrink(self) -> None:
        while self._groups and self.n_bytes > self.most_bytes:
            _, group = self._groups.popitem(last=False)
            self.n_bytes -= group.tree_bytes


def archived(group: Group) -> tuple[Any, dict[str, np.ndarray]]:
    """Return a group and all its parts as JSON and arrays; parts come before wholes."""
    nodes, left = [], [group]
    while left:
        nodes.append(left.pop())
        left += nodes[-1].parts
    nodes.reverse()
    rows = [
        (
            [node.n_states, node.n_transitions, node.equivalence],
            [] if node.parts else sorted(node.members),
            [node.lts.n_states, node.lts.n_transitions, node.lts.name],
            [node.lts.labels, sorted(node.lts.internal)],
        )
        for node in nodes
    ]
    return rows, {
        column: np.concatenate([getattr(node.lts, column) for node in nodes])
        for column in _COLUMNS
    }


def restored(rows: Any, arrays: dict[str, np.ndarray]) -> Group:
    """Return the group that `archived` was given."""
    groups: list[Group] = []
    begin = 0
    for before, members, (n_states, n_transitions, name), (labels, internal) in rows:
        end = begin + n_transitions
        src, label, dst = (arrays[column][begin:end] for column in _COLUMNS)
        known, silent = tuple(labels), frozenset(internal)
        lts = LTS(n_states, 0, known, src, label, dst, silent, name=name)
        parts: tuple[Group, ...] = ()
        if not members:
            parts = (groups.pop(-2), groups.pop())
            members = parts[0].members | parts[1].members
        groups.append(Group(lts, frozenset(members), parts, *before))
        begin = end
    return groups.pop()


TRIALS = 4
FIRST_CAP = 1_000
CAP_GROWTH = 10
PERTURBED_CAP = 10_000
SMALL = 1_000
SEARCHED = 100

_INSTEAD = {"trace": "branching", "block": "strong"}  # where a form is too large
SHARED_BYTES = 256 * MIB
"""What is kept of one network in a process at most, and of a run on disk."""

_MEMORY_SHARE = 1 / 8  # of what a question may hold: the most that is kept for others
_KEPT_TRANSITIONS = 10_000_000  # of groups that other attempts might use
_TRANSITION_BYTES = 12
_FAILED_AT_ONCE = 1 << 9  # of candidates that may have been tried before
_PAIR_WORK = 4


@dataclass(frozen=True)
class Limit:
    """How far merging goes."""

    cap_states: int = MAX_COMPONENT_STATES  # and of a deterministic form
    small: int = SMALL  # merging ends when all composed states are at most so many
    equivalence: str = "trace"  # the coarsest that is tried


class Merger:
    """Composes, hides and reduces components, each group once.

    The network has no accepting states and is not changed; `visible` are the visible
    actions of an interruptible property.  `largest` is the number of states of the
    largest composition so far, `single` what attempts begin with (empty before
    `begin`).
    """

    def __init__(
        self,
        network: Network,
        visible: Collection[str],
        limit: Limit,
        shelf: GroupShelf | None = None,
        enough: Enough | None = None,
    ) -> None:
        self.limit = limit
        self._enough = enough
        self._composed = 0  # transitions of compositions since that was asked
        self._shelf = GroupShelf() if shelf is None else shelf  # which keeps nothing
        self.largest = max(c.n_states for c in network.components)
        self._users = {
            action.name: frozenset(action.participants)
            for action in network.actions
            if not action.internal
        }
        self._visible = frozenset(visible)
        self._places: dict[frozenset[int], Place] = {}
        self._known: dict[frozenset[int], Group] = {}
        self._kept = 0  # transitions of those
        self.single: tuple[Group, ...] = ()
        self._single_bytes = 0

    @property
    def memory_bytes(self) -> int:
        """Bytes of the groups that are kept."""
        return self._single_bytes + _TRANSITION_BYTES * self._kept

    def begin(self, start: Collection[Group]) -> Job[None]:
        """Reduce what to begin with: all components of the network."""
        single = []
        for group in start:
            place = self._place(group.members)
            small = self._shelf.get(place)
            if small is None:
                cap = self.limit.cap_states
                small = yield from self._reduced(group.lts, group.members, (), cap)
                self._shelf.put(place, small)
            self._single_bytes += _TRANSITION_BYTES * small.lts.n_transitions
            single.append(small)
        self.single = tuple(single)

    def hidden(self, alphabet: frozenset[str], members: frozenset[int]) -> set[str]:
        """Return the labels that only some components have."""
        return {
            name for name in alphabet - self._visible if self._users[name] <= members
        }

    def _place(self, members: frozenset[int]) -> Place:
        """Return what a group is known by among questions about the network."""
        if members not in self._places:
            hidden = frozenset(self.hidden(frozenset(self._users), members))
            self._places[members] = Place(self.limit.equivalence, members, hidden)
        return self._places[members]

    def suffices(self, groups: Collection[Group]) -> Job[bool]:
        """Whether a search is faster than going on.

        The user is asked when much has been composed since the last time.
        """
        n_left = sum(group.lts.n_transitions for group in groups)
        if is_small(groups, self.limit):
            return True
        if self._enough is None or self._composed < ASKED_AFTER * n_left:
            return False
        self._composed = 0
        network = Network([group.lts for group in groups])
        asked = self._enough(network, self.limit.small)
        return (yield from holding(asked, self.memory_bytes))

    def composed(self, one: Group, other: Group, cap: int) -> Job[Group | None]:
        """Compose and reduce two groups; None if they have more than `cap` states."""
        members = one.members | other.members
        # Whatever parts it was made of, a group with these members is as good.
        if members in self._known:
            return self._known[members]
        shelf = self._shelf
        pair = self._place(one.members), self._place(other.members)
        if shelf.failed.get(pair, 0) >= cap:
            return None
        place = self._place(members)
        group = shelf.get(place)
        if group is None:
            try:
                job = compose(one.lts, other.lts, cap=cap)
                whole = yield from holding(job, self.memory_bytes)
            except TooManyPairsError:
                shelf.note_failure(pair, cap)
                return None
            self.largest = max(self.largest, whole.n_states)
            self._composed += whole.n_transitions
            group = yield from self._reduced(whole, members, (one, other), cap)
            shelf.put(place, group)
        elif group.n_states > cap:
            return None
        self.largest = max(self.largest, group.largest)
        if self._kept > _KEPT_TRANSITIONS:
            self._known.clear()
            self._kept = 0
        self._known[members] = group
        self._kept += group.lts.n_transitions
        return group

    def _reduced(
        self, lts: LTS, members: frozenset[int], parts: tuple[Group, ...], cap: int
    ) -> Job[Group]:
        """Hide the labels that only some components have, and reduce them."""
        hidden = self.hidden(frozenset(lts.labels) - lts.internal, members)
        held = self.memory_bytes + _TRANSITION_BYTES * lts.n_transitions
        equivalence = self.limit.equivalence
        try:
            if equivalence == SIMULATION:
                leaves = least(lts, hidden, cap=cap)
                small, equivalence = yield from holding(leaves, held)
            else:
                reduces = reduce(lts, hidden, equivalence, cap=cap)
                small = yield from holding(reduces, held)
        except TooLargeError:
            equivalence = _INSTEAD[equivalence]
            small = yield from holding(reduce(lts, hidden, equivalence), held)
        return Group(
            small, members, parts, lts.n_states, lts.n_transitions, equivalence
        )


def reduce_components(
    network: Network,
    visible: Collection[str],
    limit: Limit | None = None,
    known: Reduced | None = None,
    shelf: GroupShelf | None = None,
    enough: Enough | None = None,
) -> Job[Reduced]:
    """Replace components by fewer and smaller ones, with the same visible projections.

    That is, projections of infinite runs to `visible`, the visible actions of an
    interruptible property; a state without successors must not count as a run.  The
    network has no accepting states and is not changed.  `known` is what became of it
    with a lower limit: where this goes on.  `shelf` has groups that other questions
    have reduced.  Merging ends where `enough` says that of a network that has become of
    it no more states matter than a number.

    With the equivalence ``block`` the property need be erasable only: then a run that
    violates it is kept, if there is one, and not all projections.
    """
    limit = limit or Limit()
    merger = Merger(network, visible, limit, shelf, enough)
    yield from merger.begin(components_of(network))
    best, cap = merger.single, min(FIRST_CAP, limit.cap_states)
    if known is not None:
        best, cap = known.groups, min(known.cap_states * CAP_GROWTH, limit.cap_states)
        merger.largest = max(merger.largest, known.largest)
    is_done = is_small(best, limit)
    # A search of as many states as a round of attempts has composed is no worse.
    while not is_done and n_composed(best) > SEARCHED * cap:
        cheap = cap <= PERTURBED_CAP
        for heuristic in (*HEURISTICS, *PERTURBED) if cheap else HEURISTICS:
            groups = yield from _attempt(merger, heuristic, cap)
            if n_composed(groups) < n_composed(best):
                best = groups
                is_done = yield from merger.suffices(best)
            if is_done:
                break
        if is_done or cap == limit.cap_states:
            break
        cap = min(cap * CAP_GROWTH, limit.cap_states)
    components = [group.lts for group in best]
    network = Network(components, network.name)
    most = 0 if is_done and not is_small(best, limit) else limit.cap_states
    return Reduced(network, best, merger.largest, most, frozenset(visible))


@dataclass
class _Kept:
    """What has been found out about a network."""

    groups: GroupShelf = field(default_factory=GroupShelf)
    latest: dict[tuple[str, frozenset[str]], Reduced] = field(default_factory=dict)


_kept = Beside(_Kept)


def reduced_components(
    network: Network,
    visible: Collection[str],
    *,
    cap_states: int,
    equivalence: str = "trace",
    shared_bytes: float = SHARED_BYTES,
    shelf: GroupShelf | None = None,
    enough: Enough | None = None,
) -> Job[Reduced]:
    """Do `reduce_components` for a network, with what that has found before.

    The network must not be changed as long as it exists.  Kept of it are groups, also
    those of a job that is closed, and the latest result; with `shared_bytes` 0 nothing
    is kept or used.  A `shelf` of the caller takes their place: it may have groups of
    another network, whose components are the first of this one.
    """
    limit = Limit(cap_states, equivalence=equivalence)
    if shelf is not None:
        grant = yield reducing(0)
        shelf.limit(min(SHARED_BYTES, grant.memory_bytes * _MEMORY_SHARE))
        job = reduce_components(network, visible, limit, shelf=shelf, enough=enough)
        return (yield from holding(job, shelf.n_bytes))
    if not shared_bytes:
        return (yield from reduce_components(network, visible, limit, enough=enough))
    kept, key = _kept.of(network), (equivalence, frozenset(visible))
    known = kept.latest.get(key)
    if known is not None and known.cap_states == cap_states:
        return known
    if known is not None and known.cap_states > cap_states:
        known = None
    grant = yield reducing(0)
    kept.groups.limit(min(shared_bytes, grant.memory_bytes * _MEMORY_SHARE))
    if shared_folder() is not None:
        kept.groups.digest = kept.groups.digest or digest_if_small(network)
    job = reduce_components(network, visible, limit, known, kept.groups, enough)
    reduced = yield from holding(job, kept.groups.n_bytes)
    if reduced.cap_states:
        kept.latest = {key: reduced}
    return reduced


def components_of(network: Network) -> tuple[Group, ...]:
    """Return each component as a group of its own, as it is."""
    return tuple(
        Group(c, frozenset([number]), (), c.n_states, c.n_transitions, "strong")
        for number, c in enumerate(network.components)
    )


def shrink_components(network: Network, visible: Collection[str]) -> Job[Reduced]:
    """Replace each component by its quotient by strong bisimilarity.

    This keeps every property of words in which invisible actions are one letter, and
    deadlocks, too.  The network has no accepting states.
    """
    # By component: what is internal to one may be a common label of others.
    alone: list[set[str]] = [set() for _ in network.components]
    for action in network.actions:
        if len(action.participants) == 1 and (
            action.internal or action.name not in visible
        ):
            alone[action.participants[0]].add(action.name)
    groups = []
    held = 0
    for group, hidden in zip(components_of(network), alone, strict=True):
        lts = yield from holding(reduce(group.lts, hidden, "strong"), held)
        held += _TRANSITION_BYTES * lts.n_transitions
        groups.append(replace(group, lts=lts))
    components = [group.lts for group in groups]
    largest = max(c.n_states for c in network.components)
    return Reduced(Network(components, network.name), tuple(groups), largest)


def n_composed(groups: Collection[Group]) -> int:
    """Return a bound of the states that groups have together."""
    return prod(group.lts.n_states for group in groups)


def is_small(groups: Collection[Group], limit: Limit) -> bool:
    """Whether a search is faster than going on."""
    return n_composed(groups) <= limit.small


def _attempt(
    merger: Merger, heuristic: Callable[[Group], float], cap: int
) -> Job[tuple[Group, ...]]:
    """Compose groups as one heuristic says.

    Until what is left is small or no two groups fit any more.
    """
    groups = merger.single
    while not is_small(groups, merger.limit):
        found: list[Group] = []
        candidates = yield from _candidates(merger, groups)
        for n, (one, other) in enumerate(candidates, start=1):
            if n % _FAILED_AT_ONCE == 0:  # most are known to be too large
                yield reducing(_PAIR_WORK * _FAILED_AT_ONCE, merger.memory_bytes)
            merged = yield from merger.composed(one, other, cap)
            if merged is not None:
                found.append(merged)
                if len(found) == TRIALS:
                    break
        if not found:
            break
        best = min(found, key=heuristic)
        left = [group for group in groups if not group.members <= best.members]
        groups = tuple(sorted([*left, best], key=lambda group: min(group.members)))
    return groups


def _candidates(
    merger: Merger, groups: Collection[Group]
) -> Job[list[tuple[Group, Group]]]:
    """List the pairs of groups that share a label, the most promising first."""
    users: dict[str, list[Group]] = {}
    n_labels = 0
    for group in groups:
        for label in group.alphabet:
            users.setdefault(label, []).append(group)
        n_labels += len(group.alphabet)
    ticks = Ticks(COMPONENTS, _PAIR_WORK, merger.memory_bytes)
    yield reducing(n_labels, merger.memory_bytes)
    pairs: dict[tuple[int, int], tuple[Group, Group]] = {}
    for sharing in users.values():
        for one, other in combinations(sharing, 2):
            pairs[min(one.members), min(other.members)] = one, other
            yield from ticks.worked()
    estimates = {}
    for key, (one, other) in pairs.items():
        estimates[key] = _estimate(merger, one, other), key
        yield from ticks.worked(1 + min(len(one.alphabet), len(other.alphabet)))
    return [pairs[key] for key in sorted(pairs, key=estimates.__getitem__)]


def _estimate(merger: Merger, one: Group, other: Group) -> float:
    """Return about how many states two groups will have together."""
    shared = one.alphabet & other.alphabet
    n_hidden = len(merger.hidden(shared, one.members | other.members))
    product = one.lts.n_states * other.lts.n_states
    return product / gain(n_hidden)
