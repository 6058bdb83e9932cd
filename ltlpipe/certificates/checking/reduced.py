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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
import numpy as np
from ltlpipe.certificates.checking.document import STEPS, WORDS, RefusedError
from ltlpipe.certificates.checking.inclusion import PHASE, Labelled, included
from ltlpipe.runtime.jobs import Progress, StoppedError
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.runtime.ticks import Ticks

if TYPE_CHECKING:
    from collections.abc import Collection
    from ltlpipe.certificates.checking.document import Contents, Document
    from ltlpipe.certificates.checking.document import Form, Reduction
    from ltlpipe.runtime.jobs import Job

_PHASE = "checking the reduction"
_STEP_WORK = 1.0  # microseconds
_TRANSITION_BYTES = 100


class Possible:
    """What can happen in a network at most; see `possible`."""

    def __init__(self, network: Network) -> None:
        self._network = network
        internal = {
            (a.participants[0], a.name): k
            for k, a in enumerate(network.actions)
            if a.internal
        }
        shared = network.action_index
        # By component: the action of each label.
        self._actions = [
            [internal.get((i, name), shared.get(name, -1)) for name in lts.labels]
            for i, lts in enumerate(network.components)
        ]
        self._reached: list[set[int]] = [set() for _ in network.components]
        self._missing = [len(action.participants) for action in network.actions]

    def job(self) -> Job[None]:
        """Reach states and let actions happen until nothing changes."""
        network, reached, missing = self._network, self._reached, self._missing
        n = sum(lts.n_transitions for lts in network.components)
        ticks = Ticks(_PHASE, _STEP_WORK, n * _TRANSITION_BYTES)
        steps: list[dict[int, list[tuple[int, int]]]] = []
        for i, lts in enumerate(network.components):
            own: dict[int, list[tuple[int, int]]] = {}
            for src, label, dst in zip(
                lts.src.tolist(), lts.label.tolist(), lts.dst.tolist(), strict=True
            ):
                own.setdefault(src, []).append((self._actions[i][label], dst))
                if ticks.over():
                    yield ticks.progress
            steps.append(own)
        offered: set[tuple[int, int]] = set()
        waiting: dict[int, list[tuple[int, int]]] = {}
        stack = [(i, lts.initial) for i, lts in enumerate(network.components)]
        for i, state in stack:
            reached[i].add(state)
        while stack:
            i, state = stack.pop()
            for action, dst in steps[i].get(state, ()):
                if (i, action) not in offered:
                    offered.add((i, action))
                    missing[action] -= 1
                waiting.setdefault(action, []).append((i, dst))
                if missing[action]:
                    continue
                for other, target in waiting.pop(action):
                    if target not in reached[other]:
                        reached[other].add(target)
                        stack.append((other, target))
                if ticks.over():
                    yield ticks.progress

    def happens(self, action: int) -> bool:
        """Whether an action, by its number in the network, can happen."""
        return self._missing[action] == 0

    def kept(self, component: int) -> np.ndarray:
        """Return bool[m]: the transitions of a component that can be taken."""
        lts = self._network.components[component]
        own = [self.happens(action) for action in self._actions[component]]
        states = np.fromiter(self._reached[component], dtype=np.int64)
        happening = np.array([*own, False], dtype=np.bool_)
        kept: np.ndarray = np.isin(lts.src, states) & happening[lts.label]
        return kept


def possible(network: Network) -> Job[Possible]:
    """Find out what can happen in a network at most."""
    found = Possible(network)
    yield from found.job()
    return found


_MOST = 1 << 62


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
    if n * n * n_labels >= _MOST:
        raise RefusedError(f"{name} is too large to be checked")
    if image.min() < 0 or image.max() > n:
        raise RefusedError(f"{name} has no state as high as is said")
    if image[part.initial] != form.initial:
        raise RefusedError(f"{name} does not begin where its component does")
    number = {label: k for k, label in enumerate(form.labels)}
    silent = len(form.labels)
    letters = np.array([*(number.get(a, silent) for a in part.labels), silent])
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
    reduction = document.reduction
    assert reduction is not None
    if network.has_acceptance or document.fairness is not None:
        raise RefusedError("acceptance and fairness are about states: no reduction")
    if reduction.keeps == WORDS and (
        document.stutters or document.asked != "formula" or document.constraint
    ):
        raise RefusedError(
            "a reduction that keeps words is for formulas about runs that never stop"
        )
    replacing = _Replacing(network, reduction, frozenset(visible))
    yield from replacing.begin()
    for k, form in enumerate(reduction.forms, start=1):
        grant = yield Progress(PHASE)
        if form.n_transitions * 3 * _VALUE_BYTES > grant.memory_bytes:
            raise StoppedError("memory")
        made = _labelled(form, contents)
        name, stutters = f"form {k}", document.stutters
        yield from replacing.put(made, form, name, contents, stutters=stutters)
    return replacing.network()


@dataclass
class _Place:
    """A component, or a form that has taken the place of some."""

    lts: Labelled
    members: frozenset[int]


class _Replacing:
    """Components that forms take the place of, one after the other."""

    def __init__(
        self, network: Network, reduction: Reduction, visible: frozenset[str]
    ) -> None:
        self._network, self._reduction, self._visible = network, reduction, visible
        self._places: dict[int, _Place] = {}  # those that nothing has replaced
        self._next = len(network.components)
        self._users = {
            action.name: frozenset(action.participants)
            for action in network.actions
            if not action.internal
        }

    def begin(self) -> Job[None]:
        """Put the components of the system in their places."""
        trimmed = None
        if self._reduction.trimmed:
            trimmed = yield from possible(self._network)
        for i, lts in enumerate(self._network.components):
            kept = slice(None) if trimmed is None else trimmed.kept(i)
            labels = tuple(name for name in lts.labels if name not in lts.internal)
            number = {name: k for k, name in enumerate(labels)}
            numbers = [number.get(name, len(labels)) for name in lts.labels]
            letters = np.array([*numbers, len(labels)], dtype=np.int64)
            made = Labelled(
                lts.n_states,
                lts.initial,
                labels,
                lts.src[kept].astype(np.int64),
                letters[lts.label[kept]],
                lts.dst[kept].astype(np.int64),
            )
            self._places[i] = _Place(made, frozenset([i]))
            yield Progress(PHASE, 1 + lts.n_transitions * 0.05)

    def put(
        self,
        made: Labelled,
        form: Form,
        name: str,
        contents: Contents,
        *,
        stutters: bool,
    ) -> Job[None]:
        """Let a form take the place of its parts, if it may."""
        if len(set(form.parts)) < len(form.parts):
            raise RefusedError(f"{name} has one part twice")
        places = [self._places.pop(part, None) for part in form.parts]
        parts = [place for place in places if place is not None]
        if len(parts) < len(places):
            raise RefusedError(f"{name} has a part that is not there, or is in another")
        members = frozenset().union(*(place.members for place in parts))
        alphabet = {label for place in parts for label in place.lts.labels}
        if not alphabet.issuperset(made.labels):
            raise RefusedError(f"{name} has a label that its parts do not have")
        for label in alphabet.difference(made.labels):
            if label in self._visible or not self._users[label] <= members:
                raise RefusedError(f"{name} hides {label!r}, which others see")
        if self._reduction.keeps == STEPS:
            if form.parts[0] >= len(self._network.components) or len(parts) > 1:
                raise RefusedError(f"{name} takes the place of more than a component")
            (part,) = parts
            (image,) = contents.columns(part.lts.n_states, 1)
            check_simulation(part.lts, made, image, name, stutters=stutters)
        else:
            yield from included([place.lts for place in parts], made, name)
        self._places[self._next] = _Place(made, members)
        self._next += 1

    def network(self) -> Network:
        """Return the network of the forms that are left."""
        n = len(self._network.components)
        if any(place < n for place in self._places):
            raise RefusedError("a component is in no form")
        components = [_lts(place.lts) for _, place in sorted(self._places.items())]
        return Network(components, self._network.name)


def _labelled(form: Form, contents: Contents) -> Labelled:
    """Read the transitions of a form."""
    n, n_labels = form.n_states, len(form.labels) + 1
    src, label, dst = contents.columns(form.n_transitions, 3)
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
