"""From the system and the evidence of a reduction to the network that was searched.

Each form is compared with its parts (`inclusion`, `check_simulation`); what is left at
the end are the components of the network.  Why that is sound is in
``docs/certificates.md``.

Whether a form can do each step of a component, with the same letter, is read off
the certificate, which has the state of the form for each state of the component.  Where
a state without steps repeats itself, both have to offer the same: then the form stops
where the component does.

Which transitions of the components of a network a run can take at most.

A local state is *reached* and an action *happens* in the smallest sense such that
initial states are reached, an action happens once each of its participants offers it in
some reached state, and transitions with it from reached states then reach their
targets.  Every run stays inside, so nothing else has to be kept.

Cost: linear in the transitions.

Whether a form can do what its parts can: words and divergences.

The parts are composed and the labels that the form lacks are hidden.  The form is
deterministic: one transition at most for each state and label, and silent ones are
loops.  So each word leads to one state of it, and what has to be looked at are the
pairs of a composed state and the state of the form that a word leads to.  In each pair,
the form has to offer what the parts offer; and where it has no silent loop, the silent
steps of the parts must not go on for ever.

Pairs are numbers, and many of them are looked at together.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.certificates.checking.document import STEPS, WORDS, RefusedError
from ltlpipe.runtime.jobs import Progress, StoppedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.lts import LTS, Network

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ltlpipe.certificates.checking.document import (
        Contents,
        Document,
        Form,
    )
    from ltlpipe.runtime.jobs import Job

PHASE = "checking the reduction"

_AT_ONCE = 1 << 12  # pairs
_STEP_WORK = 0.5  # microseconds
_MOST_NUMBER = 1 << 62  # of a pair, or of a transition
_MOST_BITS = 1 << 28  # pairs that are remembered in an array of bytes
_EDGE_BYTES = 64


class Labelled(NamedTuple):
    """A component whose silent labels are one: the number behind the others."""

    n_states: int
    initial: int
    labels: tuple[str, ...]
    src: np.ndarray  # int64[m]
    label: np.ndarray  # int64[m]
    dst: np.ndarray  # int64[m]


def included(parts: Sequence[Labelled], form: Labelled, name: str) -> Job[None]:
    """Check that the composition of one or two parts is included in a form.

    Raises
    ------
    RefusedError
        It is not, or the form is not deterministic; `name` is that of the form.
    """
    yield from _Inclusion(parts, form, name).job()


def _numbers(
    names: Iterable[str | None], known: Iterable[str | None], others: int
) -> np.ndarray:
    """Return int64[n], the place of each name among the known ones, or `others`."""
    number = {name: k for k, name in enumerate(known) if name is not None}
    found = [others if name is None else number.get(name, others) for name in names]
    return np.array(found, dtype=np.int64)


class _Table(NamedTuple):
    """Transitions sorted by a key, which may be a state, or a state and a label."""

    keys: np.ndarray  # int64[m], ascending
    label: np.ndarray  # int64[m]
    dst: np.ndarray  # int64[m]

    @classmethod
    def of(cls, keys: np.ndarray, label: np.ndarray, dst: np.ndarray) -> _Table:
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], label[order], dst[order])

    def found(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return places in `wanted` and transitions with these keys: each pair."""
        begin = np.searchsorted(self.keys, wanted, "left")
        count = np.searchsorted(self.keys, wanted, "right") - begin
        origin = np.repeat(np.arange(len(wanted)), count)
        skipped = np.repeat(begin - np.cumsum(count) + count, count)
        return origin, np.arange(len(origin)) + skipped


class _Inclusion:
    """The check of one form in progress."""

    def __init__(self, parts: Sequence[Labelled], form: Labelled, name: str) -> None:
        empty = np.zeros(0, dtype=np.int64)
        one, other = (*parts, Labelled(1, 0, (), empty, empty, empty))[:2]
        self._form, self._name = form, name
        self._other_n, self._form_n = other.n_states, form.n_states
        n_pairs = one.n_states * other.n_states * form.n_states
        if n_pairs >= _MOST_NUMBER:
            raise RefusedError(f"{name} is too large to be checked")
        both = set(one.labels) & set(other.labels)
        shared = [label if label in both else None for label in one.labels]
        self._n_shared = max(len(one.labels), 1)
        # Behind each part's labels stands its silent one.
        (to_one, one_shared), (to_other, other_shared) = (
            [
                _numbers([*part.labels, None], known, -1)
                for known in (form.labels, shared)
            ]
            for part in (one, other)
        )
        self._one_local = _local(one, to_one, one_shared)
        self._other_local = _local(other, to_other, other_shared)
        joint = one_shared[one.label] >= 0
        self._one_joint = _Table.of(
            one.src[joint], one.label[joint], one.dst[joint]
        )  # labels of `one` are those that are shared
        joint = other_shared[other.label] >= 0
        keys = other.src * self._n_shared + other_shared[other.label]
        self._other_joint = _Table.of(keys[joint], other.label[joint], other.dst[joint])
        self._to_one = to_one
        self._moves, self._loops = self._form_moves()
        self._seen: np.ndarray | set[int] = set()
        if n_pairs <= _MOST_BITS:
            self._seen = np.zeros(n_pairs, dtype=np.bool_)
        self._n_seen_bytes = n_pairs if n_pairs <= _MOST_BITS else 0
        self._initial = self._key(
            np.array([one.initial]), np.array([other.initial]), np.array([form.initial])
        )
        self._silent: list[tuple[np.ndarray, np.ndarray]] = []  # between pairs
        self._n_silent = 0

    def _form_moves(self) -> tuple[_Table, np.ndarray]:
        """Return the transitions of the form by state and label, and its loops."""
        form, n_labels = self._form, len(self._form.labels)
        silent = form.label == n_labels
        if (form.src[silent] != form.dst[silent]).any():
            raise RefusedError(f"{self._name} has silent steps that are no loops")
        loops = np.zeros(form.n_states, dtype=np.bool_)
        loops[form.src[silent]] = True
        src, label, dst = (part[~silent] for part in (form.src, form.label, form.dst))
        moves = _Table.of(src * max(n_labels, 1) + label, label, dst)
        if (moves.keys[1:] == moves.keys[:-1]).any():
            raise RefusedError(f"{self._name} is not deterministic")
        return moves, loops

    def _key(self, one: np.ndarray, other: np.ndarray, at: np.ndarray) -> np.ndarray:
        found: np.ndarray = (one * self._other_n + other) * self._form_n + at
        return found

    @property
    def _memory_bytes(self) -> float:
        held = self._n_seen_bytes + _EDGE_BYTES * self._n_silent
        if isinstance(self._seen, set):
            held += _EDGE_BYTES * len(self._seen)
        return held

    def job(self) -> Job[None]:
        """Look at all pairs; then at the silent steps between them."""
        yield Progress(PHASE, memory_bytes=self._memory_bytes)
        waiting = [self._fresh(self._initial)]
        while waiting:
            pairs = waiting.pop()
            if len(pairs) > _AT_ONCE:
                waiting.append(pairs[_AT_ONCE:])
                pairs = pairs[:_AT_ONCE]
            targets = self._targets(pairs)
            fresh = self._fresh(targets)
            if len(fresh):
                waiting.append(fresh)
            work = _STEP_WORK * (len(pairs) + len(targets))
            yield Progress(PHASE, 20 + work, self._memory_bytes)
        if self._silent:
            yield from self._check_silent()

    def _fresh(self, pairs: np.ndarray) -> np.ndarray:
        """Return those that have not been seen, each once, and remember them."""
        pairs = np.unique(pairs)
        if isinstance(self._seen, np.ndarray):
            pairs = pairs[~self._seen[pairs]]
            self._seen[pairs] = True
            return pairs
        fresh = [pair for pair in pairs.tolist() if pair not in self._seen]
        self._seen.update(fresh)
        return np.array(fresh, dtype=np.int64)

    def _targets(self, pairs: np.ndarray) -> np.ndarray:
        """Return where the steps from some pairs lead."""
        rest, at = np.divmod(pairs, self._form_n)
        one, other = np.divmod(rest, self._other_n)
        found = []
        origin, place = self._one_local.found(one)
        table = self._one_local
        found.append((origin, table.label[place], table.dst[place], other[origin]))
        origin, place = self._other_local.found(other)
        table = self._other_local
        found.append((origin, table.label[place], one[origin], table.dst[place]))
        first, place = self._one_joint.found(one)
        label, dst = self._one_joint.label[place], self._one_joint.dst[place]
        again, place = self._other_joint.found(other[first] * self._n_shared + label)
        partner = self._other_joint.dst[place]
        letter = self._to_one[label[again]]
        found.append((first[again], letter, dst[again], partner))
        origin, letter, one, other = (
            np.concatenate(column) for column in zip(*found, strict=True)
        )
        return self._followed(pairs, at, origin, letter, one, other)

    def _followed(
        self,
        pairs: np.ndarray,
        at: np.ndarray,
        origin: np.ndarray,
        letter: np.ndarray,
        one: np.ndarray,
        other: np.ndarray,
    ) -> np.ndarray:
        """Let the form follow the steps of the parts; note the silent ones."""
        state = at[origin]
        observable = np.flatnonzero(letter >= 0)
        n_labels = max(len(self._form.labels), 1)
        wanted = state[observable] * n_labels + letter[observable]
        place = np.searchsorted(self._moves.keys, wanted)
        known = place < len(self._moves.keys)
        known[known] = self._moves.keys[place[known]] == wanted[known]
        if not known.all():
            missing = int(wanted[~known][0])
            label = self._form.labels[missing % n_labels]
            raise RefusedError(
                f"{self._name} lacks {label!r} in its state {missing // n_labels}, "
                "where its parts can do that"
            )
        state[observable] = self._moves.dst[place]
        targets = self._key(one, other, state)
        ending = (letter < 0) & ~self._loops[state]
        if ending.any():
            self._silent.append((pairs[origin[ending]], targets[ending]))
            self._n_silent += int(ending.sum())
        return targets

    def _check_silent(self) -> Job[None]:
        """Check that silent steps without a loop of the form have no cycle.

        Pairs that no such step leads to are taken away with their own, over and over.
        """
        src, dst = (np.concatenate(part) for part in zip(*self._silent, strict=True))
        yield Progress(PHASE, len(src) * _STEP_WORK, self._memory_bytes)
        names, places = np.unique(np.concatenate([src, dst]), return_inverse=True)
        src, dst = places[: len(src)], places[len(src) :]
        left = np.bincount(dst, minlength=len(names))
        table = _Table.of(src, src, dst)
        free, gone = np.flatnonzero(left == 0), 0
        while len(free):
            _, place = table.found(free)
            gone += len(place)
            targets, count = np.unique(table.dst[place], return_counts=True)
            left[targets] -= count
            free = targets[left[targets] == 0]
            yield Progress(PHASE, 20 + len(place) * _STEP_WORK, self._memory_bytes)
        if gone < len(src):
            raise RefusedError(
                f"{self._name} has no silent loop where its parts can go on silently "
                "for ever"
            )


def _local(part: Labelled, letters: np.ndarray, shared: np.ndarray) -> _Table:
    """Return the steps that a part takes alone, with the form's letters by state."""
    alone = shared[part.label] < 0
    return _Table.of(part.src[alone], letters[part.label[alone]], part.dst[alone])


_TRANSITION_WORK = 1.0  # microseconds
_TRANSITION_BYTES = 100


def actions_of_labels(network: Network) -> list[list[int]]:
    """Return for each component the action of each of its labels, -1 for none."""
    internal = {
        (a.participants[0], a.name): k
        for k, a in enumerate(network.actions)
        if a.internal
    }
    shared = network.action_index
    return [
        [internal.get((i, name), shared.get(name, -1)) for name in lts.labels]
        for i, lts in enumerate(network.components)
    ]


class Possible(NamedTuple):
    """What can happen in a network at most."""

    happens: list[bool]  # by action
    kept: list[np.ndarray]  # bool[m] each: transitions of a component that can be taken


def possible(network: Network) -> Job[Possible]:
    """Reach states and let actions happen until nothing changes."""
    actions, components = actions_of_labels(network), network.components
    missing = [len(action.participants) for action in network.actions]
    n = sum(lts.n_transitions for lts in components)
    ticks = Ticks(PHASE, _TRANSITION_WORK, n * _TRANSITION_BYTES)
    steps: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for i, lts in enumerate(components):
        triples = lts.src.tolist(), lts.label.tolist(), lts.dst.tolist()
        for src, label, dst in zip(*triples, strict=True):
            steps[i, src].append((actions[i][label], dst))
            if ticks.over():
                yield ticks.progress
    offered: set[tuple[int, int]] = set()
    waiting: dict[int, list[tuple[int, int]]] = defaultdict(list)
    stack = [(i, lts.initial) for i, lts in enumerate(components)]
    reached = set(stack)
    while stack:
        i, state = stack.pop()
        for action, dst in steps.get((i, state), ()):
            missing[action] -= (i, action) not in offered
            offered.add((i, action))
            waiting[action].append((i, dst))
            if missing[action]:
                continue
            fresh = set(waiting.pop(action)) - reached
            reached |= fresh
            stack += fresh
            if ticks.over():
                yield ticks.progress
    happens = [not count for count in missing]
    states = [np.zeros(lts.n_states, dtype=np.bool_) for lts in components]
    for i, state in reached:
        states[i][state] = True
    kept = []
    for own, lts, numbers in zip(states, components, actions, strict=True):
        happening = np.array([happens[k] for k in numbers] or [False])
        kept.append(own[lts.src] & happening[lts.label])
    return Possible(happens, kept)


def check_simulation(
    part: Labelled, form: Labelled, image: np.ndarray, name: str, *, stutters: bool
) -> None:
    """Check that a form can follow a component step by step.

    Parameters
    ----------
    part, form : Labelled
        The component, and what takes its place.
    image : int64[part.n_states]
        The state of the form for each state; ``form.n_states`` where no run gets.
    name : str
        That of the form, for messages.
    stutters : bool
        Whether both have to offer the same.

    Raises
    ------
    RefusedError
        It cannot.
    """
    n, n_labels = form.n_states, len(form.labels) + 1
    if n * n * n_labels >= _MOST_NUMBER:
        raise RefusedError(f"{name} is too large to be checked")
    if image.min() < 0 or image.max() > n:
        raise RefusedError(f"{name} has no state as high as is said")
    if image[part.initial] != form.initial:
        raise RefusedError(f"{name} does not begin where its component does")
    silent = len(form.labels)
    letters = _numbers([*part.labels, None], form.labels, silent)
    own = image[part.src] < n
    src, dst = part.src[own], image[part.dst[own]]
    offered = letters[part.label[own]]
    if (dst == n).any():
        raise RefusedError(f"{name} has no state for one that its component reaches")
    wanted = (image[src] * n_labels + offered) * n + dst
    known = (form.src * n_labels + form.label) * n + form.dst
    missing = ~np.isin(wanted, known)
    if missing.any():
        letter = int(offered[missing][0])
        told = "a silent step" if letter == silent else repr(form.labels[letter])
        raise RefusedError(f"{name} lacks {told}, which its component can take")
    if not stutters:
        return
    # The form offers what the component does; as much of it is the same.
    n_own = _offers(src * n_labels + offered, n_labels, part.n_states)
    n_form = _offers(form.src * n_labels + form.label, n_labels, n)
    mapped = image < n
    if (n_own[mapped] != n_form[image[mapped]]).any():
        raise RefusedError(f"{name} goes on where its component cannot")


def _offers(pairs: np.ndarray, n_labels: int, n_states: int) -> np.ndarray:
    """Return how many labels each state offers."""
    counts: np.ndarray = np.bincount(np.unique(pairs) // n_labels, minlength=n_states)
    return counts


_VALUE_BYTES = 24  # of a number in a column while it is read


class _Place(NamedTuple):
    """A component, or a form that has taken the place of some."""

    lts: Labelled
    members: frozenset[int]


def reduced_network(
    network: Network, document: Document, visible: Collection[str], contents: Contents
) -> Job[Network]:
    """Return the network that was searched, its reduction checked.

    Parameters
    ----------
    network : Network
        The system.
    document : Document
        It has a reduction.
    visible : collection of str
        The actions that formula and automaton name.
    contents : Contents
        The certificate, behind its header.

    Raises
    ------
    RefusedError
        The reduction does not keep what it has to.
    """
    reduction, n = document.reduction, len(network.components)
    assert reduction is not None
    if network.has_acceptance or document.fairness is not None:
        raise RefusedError("acceptance and fairness are about states: no reduction")
    if reduction.keeps == WORDS and (
        document.stutters or document.asked != "formula" or document.constraint
    ):
        raise RefusedError(
            "a reduction that keeps words is for formulas about runs that never stop"
        )
    places: dict[int, _Place] = {}  # those that nothing has replaced
    for i, lts in enumerate((yield from _components(network, reduction.trimmed))):
        places[i] = _Place(lts, frozenset([i]))
    for k, form in enumerate(reduction.forms):
        grant = yield Progress(PHASE)
        if form.transitions * 3 * _VALUE_BYTES > grant.memory_bytes:
            raise StoppedError("memory")
        made, name = _labelled(form, contents), f"form {k + 1}"
        if not places.keys() >= {*form.parts} or len({*form.parts}) < len(form.parts):
            raise RefusedError(f"{name} has a part that is not there, or is in another")
        parts = [places.pop(part) for part in form.parts]
        place = _Place(made, frozenset().union(*(part.members for part in parts)))
        _refuse_hiding(name, network, place, parts, visible)
        if reduction.keeps == STEPS:
            if form.parts[0] >= n or len(parts) > 1:
                raise RefusedError(f"{name} takes the place of more than a component")
            ((part, _),) = parts
            (image,) = contents.columns(part.n_states, 1)
            check_simulation(part, made, image, name, stutters=document.stutters)
        else:
            yield from included([part.lts for part in parts], made, name)
        places[n + k] = place
    if any(place < n for place in places):
        raise RefusedError("a component is in no form")
    return Network([_lts(place.lts) for place in places.values()], network.name)


def _components(network: Network, trimmed: bool) -> Job[list[Labelled]]:
    """Return the components of the system as forms see them."""
    found = (yield from possible(network)) if trimmed else None
    components = []
    for i, lts in enumerate(network.components):
        kept = slice(None) if found is None else found.kept[i]
        labels = tuple(name for name in lts.labels if name not in lts.internal)
        letters = _numbers(lts.labels, labels, len(labels))
        columns = lts.src[kept], letters[lts.label[kept]], lts.dst[kept]
        src, label, dst = (column.astype(np.int64) for column in columns)
        components.append(Labelled(lts.n_states, lts.initial, labels, src, label, dst))
        yield Progress(PHASE, 1 + lts.n_transitions * 0.05)
    return components


def _refuse_hiding(
    name: str,
    network: Network,
    place: _Place,
    parts: Sequence[_Place],
    visible: Collection[str],
) -> None:
    """Refuse a form with labels that its parts lack, or without some that matter."""
    alphabet = {label for part in parts for label in part.lts.labels}
    if not alphabet.issuperset(place.lts.labels):
        raise RefusedError(f"{name} has a label that its parts do not have")
    for label in alphabet.difference(place.lts.labels):
        users = network.actions[network.action_index[label]].participants
        if label in visible or not place.members.issuperset(users):
            raise RefusedError(f"{name} hides {label!r}, which others see")


def _labelled(form: Form, contents: Contents) -> Labelled:
    """Read the transitions of a form."""
    n, n_labels = form.states, len(form.labels) + 1
    src, label, dst = contents.columns(form.transitions, 3)
    for column, most in ((src, n), (label, n_labels), (dst, n)):
        if len(column) and (column.min() < 0 or column.max() >= most):
            raise RefusedError("a transition of a form leaves its states or labels")
    return Labelled(n, form.initial, form.labels, src, label, dst)


def _lts(made: Labelled) -> LTS:
    """Return a form as a component."""
    silent = "silent"
    while silent in made.labels:
        silent += "'"
    return LTS(
        n_states=made.n_states,
        initial=made.initial,
        labels=(*made.labels, silent),
        src=made.src.astype(np.int32),
        label=made.label.astype(np.int32),
        dst=made.dst.astype(np.int32),
        internal=frozenset([silent]),
    )
