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
from ltlpipe.runtime.jobs import Progress, reserved
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
_EDGE_BYTES = 64
_TRANSITION_WORK = 1.0  # microseconds
_TRANSITION_BYTES = 100


class Labelled(NamedTuple):
    """A component whose silent labels are one: the number behind the others."""

    n_states: int
    initial: int
    labels: tuple[str, ...]
    src: np.ndarray  # int64[m]
    label: np.ndarray  # int64[m]
    dst: np.ndarray  # int64[m]


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


class _Composed:
    """The steps of two composed parts, with the letters that a form has for them.

    Where the form lacks a label its letter is -1: the step is silent.
    """

    def __init__(self, one: Labelled, other: Labelled, labels: Sequence[str]) -> None:
        both = {*one.labels} & {*other.labels}
        shared = [name if name in both else None for name in one.labels]
        self._n_shared = max(len(one.labels), 1)
        alone, joint = [], []
        for part in (one, other):
            names = [*part.labels, None]  # behind the labels stands the silent one
            letter = _numbers(names, labels, -1)[part.label]
            place = _numbers(names, shared, -1)[part.label]
            is_joint = place >= 0
            src, dst = part.src, part.dst
            alone.append(_Table.of(src[~is_joint], letter[~is_joint], dst[~is_joint]))
            joint.append(
                (src[is_joint], place[is_joint], letter[is_joint], dst[is_joint])
            )
        self._one, self._other = alone
        src, place, _, dst = joint[0]
        self._one_joint = _Table.of(src, place, dst)
        src, place, letter, dst = joint[1]
        self._other_joint = _Table.of(src * self._n_shared + place, letter, dst)

    def steps(self, one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the steps of some pairs of states: their places, letters and ends."""
        table = self._one
        origin, place = table.found(one)
        found = [(origin, table.label[place], table.dst[place], other[origin])]
        table = self._other
        origin, place = table.found(other)
        found.append((origin, table.label[place], one[origin], table.dst[place]))
        table, joint = self._one_joint, self._other_joint
        first, place = table.found(one)
        label, dst = table.label[place], table.dst[place]
        again, place = joint.found(other[first] * self._n_shared + label)
        found.append((first[again], joint.label[place], dst[again], joint.dst[place]))
        return tuple(map(np.concatenate, zip(*found, strict=True)))


class _Moves(NamedTuple):
    """The steps of a deterministic form, and where it has silent loops."""

    table: _Table  # by state * n_labels + label
    loops: np.ndarray  # bool[n]

    @classmethod
    def of(cls, form: Labelled, name: str) -> _Moves:
        n_labels = len(form.labels)
        silent = form.label == n_labels
        if (form.src[silent] != form.dst[silent]).any():
            raise RefusedError(f"{name} has silent steps that are no loops")
        loops = np.zeros(form.n_states, dtype=np.bool_)
        loops[form.src[silent]] = True
        src, label, dst = (part[~silent] for part in (form.src, form.label, form.dst))
        table = _Table.of(src * max(n_labels, 1) + label, label, dst)
        if (table.keys[1:] == table.keys[:-1]).any():
            raise RefusedError(f"{name} is not deterministic")
        return cls(table, loops)

    def followed(
        self, form: Labelled, states: np.ndarray, letters: np.ndarray, name: str
    ) -> np.ndarray:
        """Return where letters lead from states; silent ones lead nowhere else."""
        observable = np.flatnonzero(letters >= 0)
        n_labels = max(len(form.labels), 1)
        wanted = states[observable] * n_labels + letters[observable]
        missing = wanted[~np.isin(wanted, self.table.keys)]
        if len(missing):
            state, label = divmod(int(missing[0]), n_labels)
            raise RefusedError(
                f"{name} lacks {form.labels[label]!r} in its state {state}, where its "
                "parts can do that"
            )
        after = states.copy()
        after[observable] = self.table.dst[np.searchsorted(self.table.keys, wanted)]
        return after


def included(parts: Sequence[Labelled], form: Labelled, name: str) -> Job[None]:
    """Check that the composition of one or two parts is included in a form.

    Raises
    ------
    RefusedError
        It is not, or the form is not deterministic; `name` is that of the form.
    """
    nothing = np.zeros(0, dtype=np.int64)
    one, other = (*parts, Labelled(1, 0, (), nothing, nothing, nothing))[:2]
    if one.n_states * other.n_states * form.n_states >= _MOST_NUMBER:
        raise RefusedError(f"{name} is too large to be checked")
    composed, moves = _Composed(one, other, form.labels), _Moves.of(form, name)
    first = (one.initial * other.n_states + other.initial) * form.n_states
    first += form.initial
    seen, waiting = {first}, [np.array([first])]
    silent: list[tuple[np.ndarray, np.ndarray]] = []  # steps between pairs
    n_silent = 0
    while waiting:
        pairs = waiting.pop()
        if len(pairs) > _AT_ONCE:
            waiting.append(pairs[_AT_ONCE:])
            pairs = pairs[:_AT_ONCE]
        rest, states = np.divmod(pairs, form.n_states)
        composed_states = np.divmod(rest, other.n_states)
        origin, letters, left, right = composed.steps(*composed_states)
        states = moves.followed(form, states[origin], letters, name)
        targets = (left * other.n_states + right) * form.n_states + states
        ending = (letters < 0) & ~moves.loops[states]
        silent.append((pairs[origin[ending]], targets[ending]))
        n_silent += int(np.count_nonzero(ending))
        fresh = {*targets.tolist()} - seen
        seen |= fresh
        if fresh:
            waiting.append(np.array(sorted(fresh), dtype=np.int64))
        work = 20 + _STEP_WORK * (len(pairs) + len(targets))
        yield Progress(PHASE, work, _EDGE_BYTES * (len(seen) + n_silent))
    src, dst = (np.concatenate(part) for part in zip(*silent, strict=True))
    yield from _check_ends(src, dst, name)


def _check_ends(src: np.ndarray, dst: np.ndarray, name: str) -> Job[None]:
    """Check that silent steps without a loop of the form have no cycle.

    Pairs that no such step leads to are taken away with their own, over and over.
    """
    n_bytes = _EDGE_BYTES * len(src)
    names, places = np.unique(np.concatenate([src, dst]), return_inverse=True)
    src, dst = places[: len(src)], places[len(src) :]
    left = np.bincount(dst, minlength=len(names))
    table = _Table.of(src, src, dst)
    free, gone = np.flatnonzero(left == 0), 0
    yield Progress(PHASE, len(src) * _STEP_WORK, n_bytes)
    while len(free):
        _, place = table.found(free)
        gone += len(place)
        targets, count = np.unique(table.dst[place], return_counts=True)
        left[targets] -= count
        free = targets[left[targets] == 0]
        yield Progress(PHASE, 20 + len(place) * _STEP_WORK, n_bytes)
    if gone < len(src):
        raise RefusedError(
            f"{name} has no silent loop where its parts can go on silently for ever"
        )


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
    n_bytes = n * _TRANSITION_BYTES + sum(lts.n_states for lts in components)
    ticks = Ticks(PHASE, _TRANSITION_WORK, n_bytes)
    yield ticks.progress
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
            yield from ticks.worked()
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
    if reduction.kept is not None:
        if document.stutters:
            raise RefusedError("some components do not tell where the system stops")
        network = _part(network, reduction.kept, visible)
        n = len(network.components)
    places: dict[int, _Place] = {}  # those that nothing has replaced
    for i, lts in enumerate((yield from _components(network, reduction.trimmed))):
        places[i] = _Place(lts, frozenset([i]))
    held = 0
    for k, form in enumerate(reduction.forms):
        held += (form.transitions * 3 + form.states) * _VALUE_BYTES
        if reduction.keeps == STEPS and {*form.parts} <= places.keys():
            held += places[form.parts[0]].lts.n_states * _VALUE_BYTES
        yield from reserved(PHASE, held)
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


def _part(network: Network, kept: Sequence[int], visible: Collection[str]) -> Network:
    """Return some components of a network beside one that idles.

    Each run of the network is one of theirs, where a step of the others is idle, if
    each visible action has one of them (docs/components.md, "Few components").
    """
    if sorted({*kept}) != list(kept) or not {*kept} <= {
        *range(len(network.components))
    }:
        raise RefusedError("the components that were kept are none of the system's")
    components = [network.components[i] for i in kept]
    labels = {name for c in components for name in c.labels if name not in c.internal}
    for name in visible:
        if name in network.action_index and name not in labels:
            raise RefusedError(f"no component that was kept has {name!r}")
    idle = LTS.from_transitions([(0, "idle", 0)], internal=["idle"])
    return Network([*components, idle], network.name)


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
