"""Labelled transition systems and networks of them that synchronise.

An `LTS` is one component: states 0..n-1, an initial state, labels, and
transitions.  A `Network` composes components by maximal synchronisation: a
label occurs iff every component that has it in its alphabet takes a transition
with it, and the others stay where they are.

Sources: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic,
Automata, and Reduction", CAV 2020, Def. 7; D. Gnad, J. Eisenhut, A. Lluch
Lafuente and J. Hoffmann, "Model Checking omega-Regular Properties with
Decoupled Search", CAV 2021, Def. 2.

Differences from the sources: a component may have *internal* labels (``i`` of
Aldebaran files), which never synchronise, not even with the same name in
another component; that of Gnad et al. renames them apart instead.

Names of components do not count in the digest of a network.

Labels ``input / output`` make a component a Mealy machine (the Automata Wiki of Radboud
University; AutomataLib).  The slash is the one with blanks on both sides, or else the
only one.  An input may be joined with its output to one action ``input/output``, or be
a step before that of the output: then a state is added for each output and target.  An
action that is both an input and an output is one action.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.runtime.arguments import TEXT, WHOLE, Kind, a_kind, expect, several
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.objects import Displayed, graph_output

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LABEL, JOINED, STEPS = MEALY = ("label", "joined", "steps")
"""How labels are read: as they are, as one action, or as two steps."""

_ARRAY = Kind("an array", lambda value: isinstance(value, np.ndarray))


def _is_triple(value: Any) -> bool:
    try:
        src, label, dst = value
    except (TypeError, ValueError):
        return False
    return WHOLE.fits(src) and TEXT.fits(label) and WHOLE.fits(dst)


_TRIPLE = Kind("a triple of a state, a label and a state", _is_triple)


@dataclass(frozen=True, eq=False, repr=False)
class LTS(Displayed):
    """One component of a network.

    Two are equal iff they agree in everything but names of component and states.

    Parameters
    ----------
    n_states : int
        States are 0..n_states-1.
    initial : int
        The initial state.
    labels : tuple of str
        The alphabet, each label once.  It decides synchronisation, so it also
        holds the labels of transitions that start in unreachable states.
    src, label, dst : int32[m]
        The transitions; `label` indexes `labels`.
    internal : frozenset of str
        Labels that never synchronise and that no proposition can name.
    accepting : bool[n_states], optional
        The accepting states of a Büchi automaton; None for a component
        without acceptance (all of its states count as accepting).
    name : str
        What the component is called; it decides nothing.
    state_names : tuple of str, optional
        What the states are called; None where their numbers are all that is known.
    """

    n_states: int
    initial: int
    labels: tuple[str, ...]
    src: np.ndarray
    label: np.ndarray
    dst: np.ndarray
    internal: frozenset[str] = frozenset()
    accepting: np.ndarray | None = None
    name: str = ""
    state_names: tuple[str, ...] | None = None

    @classmethod
    def from_transitions(
        cls,
        transitions: Iterable[tuple[int, str, int]],
        *,
        initial: int = 0,
        n_states: int | None = None,
        internal: Iterable[str] = (),
        accepting: Iterable[int] | None = None,
        name: str = "",
    ) -> LTS:
        """Build a component from (source, label, target) triples.

        The alphabet is the labels in order of first use; `n_states` defaults
        to the highest state named plus one.

        Examples
        --------
        >>> LTS.from_transitions([(0, "a", 1), (1, "b", 0)]).labels
        ('a', 'b')
        """
        expect(WHOLE, initial=initial)
        expect(WHOLE.or_none, n_states=n_states)
        transitions = several(_TRIPLE, transitions, "transitions")
        index: dict[str, int] = {}
        rows = [(s, index.setdefault(a, len(index)), d) for s, a, d in transitions]
        try:
            table = np.array(rows, dtype=np.int32).reshape(len(rows), 3)
        except OverflowError:
            raise ValueError("transitions: a state is beyond 32 bits") from None
        marked = None
        if accepting is not None:
            marked = sorted(set(several(WHOLE, accepting, "accepting")))
        if n_states is None:
            n_states = 1 + max([initial, *table[:, [0, 2]].ravel(), *(marked or [])])
        flags = None
        if marked is not None:
            if marked and not 0 <= marked[0] <= marked[-1] < n_states:
                raise ValueError("accepting: a state leaves the range of states")
            flags = np.zeros(n_states, dtype=np.bool_)
            flags[marked] = True
        return cls(
            n_states=int(n_states),
            initial=initial,
            labels=tuple(index),
            src=table[:, 0].copy(),
            label=table[:, 1].copy(),
            dst=table[:, 2].copy(),
            internal=frozenset(several(TEXT, internal, "internal")) & frozenset(index),
            accepting=flags,
            name=name,
        )

    def __post_init__(self) -> None:
        expect(WHOLE, n_states=self.n_states, initial=self.initial)
        expect(TEXT, name=self.name)
        several(TEXT, self.labels, "labels")
        several(TEXT, self.internal, "internal")
        expect(_ARRAY, src=self.src, label=self.label, dst=self.dst)
        expect(_ARRAY.or_none, accepting=self.accepting)
        if not 0 <= self.initial < self.n_states:
            raise ValueError(f"initial state {self.initial} of {self.n_states} states")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError("a label stands twice in the alphabet")
        if self.state_names is not None:
            found = len(several(TEXT, self.state_names, "state_names"))
            if found != self.n_states:
                raise ValueError(f"{found} names of {self.n_states} states")
        if len(self.src) and (
            min(self.src.min(), self.dst.min(), self.label.min()) < 0
            or max(self.src.max(), self.dst.max()) >= self.n_states
            or self.label.max() >= len(self.labels)
        ):
            raise ValueError("a transition leaves the range of states or labels")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LTS):
            return NotImplemented
        return (
            (self.n_states, self.initial) == (other.n_states, other.initial)
            and (self.labels, self.internal) == (other.labels, other.internal)
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in ("src", "label", "dst", "accepting")
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def _sizes(self) -> dict[str, int]:
        return {"state": self.n_states, "transition": self.n_transitions}

    @property
    def n_transitions(self) -> int:
        """Number of transitions."""
        return len(self.src)

    def state_name(self, state: int) -> str:
        """Return what a state is called: its name, or else its number."""
        return str(state) if self.state_names is None else self.state_names[state]

    def transitions(self) -> list[tuple[int, str, int]]:
        """Return the transitions as (source, label, target) triples, in order."""
        names = self.labels
        return [
            (s, names[a], d)
            for s, a, d in zip(
                self.src.tolist(), self.label.tolist(), self.dst.tolist(), strict=True
            )
        ]


_LTS = Kind("an LTS", lambda value: isinstance(value, LTS))


@dataclass(frozen=True)
class Action:
    """One action of a network."""

    name: str  # the label that the participants share
    participants: tuple[int, ...]  # components with it in their alphabet, ascending
    internal: bool = False  # never synchronises, and no proposition names it


@dataclass(frozen=True, repr=False)
class Network(Displayed):
    """Components that run in parallel and synchronise on shared labels.

    Parameters
    ----------
    components : tuple of LTS
        At least one.
    name : str
        For messages and tables only.

    Raises
    ------
    ValueError
        `components` is empty.
    """

    components: tuple[LTS, ...]
    name: str = field(default="", compare=False)

    lacks: ClassVar[str | None] = None
    """What is missing of the system that this is a part of, in words: then a formula
    that no run violates is not known to hold."""

    def __init__(self, components: Sequence[LTS], name: str = "") -> None:
        expect(TEXT, name=name)
        listed = several(_LTS, components, "components")
        object.__setattr__(self, "components", tuple(listed))
        object.__setattr__(self, "name", name)
        if not self.components:
            raise ValueError("a network has at least one component")

    __hash__ = None  # type: ignore[assignment]

    def _sizes(self) -> dict[str, int]:
        return {"component": len(self.components), "action": len(self.actions)}

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The actions, in order of first use; internal labels stay apart."""
        users: dict[tuple[str, int], list[int]] = {}
        for i, component in enumerate(self.components):
            for label in component.labels:
                # -1 is the one key that all synchronising users of a label share
                owner = i if label in component.internal else -1
                users.setdefault((label, owner), []).append(i)
        return tuple(
            Action(label, tuple(who), internal=owner >= 0)
            for (label, owner), who in users.items()
        )

    @cached_property
    def action_index(self) -> dict[str, int]:
        """The index in `actions` of every action that a proposition can name."""
        return {a.name: i for i, a in enumerate(self.actions) if not a.internal}

    @cached_property
    def label_actions(self) -> tuple[tuple[int, ...], ...]:
        """For each component the actions of its labels, as indices in `actions`."""
        index = {
            (action.name, action.participants[0] if action.internal else -1): number
            for number, action in enumerate(self.actions)
        }
        return tuple(
            tuple(index[name, i if name in lts.internal else -1] for name in lts.labels)
            for i, lts in enumerate(self.components)
        )

    @property
    def has_acceptance(self) -> bool:
        """Whether some component is a Büchi automaton."""
        return any(c.accepting is not None for c in self.components)

    def accepting_groups(self, *, together: bool) -> list[tuple[int, ...]]:
        """Return the components of each mark: those that accept in the same state.

        These are all that accept, if they do so `together`, or else each alone.
        """
        flags = [component.accepting for component in self.components]
        accepting = [i for i, own in enumerate(flags) if own is not None]
        if together:
            return [tuple(accepting)] if accepting else []
        return [(i,) for i in accepting]

    def to_spot(self, *, max_states: int = 100_000) -> Any:
        """Return the composed system as a ``spot.twa_graph``.

        Its propositions are the actions, of which exactly one holds on each edge (none
        where the action is internal); it accepts if all components that accept do, in
        the same state.  States are called by their local states.

        Raises
        ------
        UnsupportedError
            It has more than `max_states` states.

        Examples
        --------
        >>> ring = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
        >>> ring.to_spot().num_states()
        2
        """
        expect(WHOLE, max_states=max_states)
        refuse_if_lacking(self, "a graph")
        return graph_output().network_to_spot(self, max_states)


def refuse_if_lacking(system: object, purpose: str) -> None:
    """Raise `UnsupportedError` for a part of a system, wanted as a whole."""
    if isinstance(system, Network) and system.lacks is not None:
        raise UnsupportedError(
            f"{system.name}: {purpose} would be read as the whole system, but "
            f"{system.lacks}"
        )


def require_network(system: object, purpose: str, parameter: str = "system") -> None:
    """Raise `UnsupportedError` for what is no network but wanted for "saving", say."""
    if not isinstance(system, Network):
        found = getattr(system, "name", "") or a_kind(system)
        raise UnsupportedError(
            f"{parameter}: {purpose} needs a network of LTSs, not {found}"
        )


MOST_ENTRIES = 1 << 18
"""Transitions and labels of a network whose digest is computed on the way."""


def network_digest(network: Network) -> str:
    """Return a digest of the contents of a network."""
    from hashlib import sha256

    digest = sha256()
    for lts in network.components:
        digest.update(sha256(_component(lts)).digest())
    return f"network:{digest.hexdigest()}"


def _component(lts: LTS) -> bytes:
    accepting = None
    if lts.accepting is not None:
        accepting = np.flatnonzero(lts.accepting).tolist()
    header = json.dumps(
        [lts.n_states, lts.initial, lts.labels, sorted(lts.internal), accepting]
    )
    table = np.array([lts.src, lts.label, lts.dst], dtype=np.int64)
    return header.encode() + b"\0" + table.tobytes()


def digest_if_small(network: Network) -> str | None:
    """Return `network_digest` where that takes milliseconds, else None."""
    n = sum(c.n_transitions + len(c.labels) for c in network.components)
    return network_digest(network) if n <= MOST_ENTRIES else None


END = "<end>"
"""The action of the end, where finite runs count; no other action is called so.

A run ends in a deadlock, or, if components accept, in a state in which all of them do:
then it may go on, too.  From such a state all components take it to a state of their
own, in which they stay with it.  A deadlock repeats itself with the same letter
(`ltlpipe.question.network`).
"""


def ended(network: Network) -> Network:
    """Return a network of which runs that end go on with `END`.

    Components, states and actions keep their numbers; nothing accepts.

    Raises
    ------
    UnsupportedError
        An action is called `END`.
    """
    if END in network.action_index:
        raise UnsupportedError(f"--semantics=finite: an action is called {END!r}")
    if not network.has_acceptance:
        return network
    return Network(list(map(_ended, network.components)), network.name)


def numbers_before(network: Network) -> np.ndarray:
    """Return the actions of `network` that those of `ended` of it are, by number.

    int32[n + 1]; -1 is the end, and what repeats a state, whose number is -1.
    """
    number = {action: k for k, action in enumerate(network.actions)}
    known = [number.get(action, -1) for action in ended(network).actions]
    return np.array([*known, -1], dtype=np.int32)


def _ended(lts: LTS) -> LTS:
    """Return a component with a last state, to which accepting ones lead."""
    last, label = lts.n_states, len(lts.labels)
    final = np.arange(last) if lts.accepting is None else np.flatnonzero(lts.accepting)
    src = np.append(final, last).astype(np.int32)
    return replace(
        lts,
        n_states=last + 1,
        labels=(*lts.labels, END),
        src=np.concatenate([lts.src, src]),
        label=np.concatenate([lts.label, np.full(len(src), label, dtype=np.int32)]),
        dst=np.concatenate([lts.dst, np.full(len(src), last, dtype=np.int32)]),
        accepting=None,
        state_names=None if lts.state_names is None else (*lts.state_names, END),
    )


def mealy_obstacle(label: str) -> str | None:
    """Return why a label is none of a Mealy machine; None if it is."""
    input_and_output = _input_and_output(label)
    if len(input_and_output) == 2 and all(input_and_output):
        return None
    return f"the label {label!r}, expected 'input / output'"


def mealy_joined(lts: LTS) -> LTS:
    """Return a component whose actions are called ``input/output``.

    Its labels have no `obstacle`, but for the internal ones.
    """
    alphabet: dict[str, int] = {}
    named = []
    for label in lts.labels:
        name = label if label in lts.internal else "/".join(_input_and_output(label))
        named.append(alphabet.setdefault(name, len(alphabet)))
    number = np.array([*named, 0], dtype=np.int32)[lts.label]
    return replace(lts, labels=tuple(alphabet), label=number)


def mealy_in_steps(lts: LTS) -> LTS:
    """Return a component that takes an input, and then a step with the output.

    Its labels have no `obstacle`, but for the internal ones, which are called neither
    like inputs nor like outputs.
    """
    alphabet: dict[str, int] = {}
    taken, given = [], []  # by label: what is taken, and given then; -1 is nothing
    for label in lts.labels:
        pair = [label] if label in lts.internal else _input_and_output(label)
        first, *second = [alphabet.setdefault(one, len(alphabet)) for one in pair]
        taken.append(first)
        given += second or [-1]
    output = np.array([*given, -1], dtype=np.int64)[lts.label]
    answered = output >= 0
    keys = output[answered] * lts.n_states + lts.dst[answered]
    different, number = np.unique(keys, return_inverse=True)
    answer, target = np.divmod(different, lts.n_states)
    between = lts.dst.copy()
    between[answered] = lts.n_states + number
    more = lts.n_states + np.arange(len(different))
    names, texts = lts.state_names, list(alphabet)
    if names is not None:
        added = zip(answer.tolist(), target.tolist(), strict=True)
        names = (*names, *(f"{texts[a]} -> {names[dst]}" for a, dst in added))
    first_steps = np.array([*taken, 0])[lts.label]
    columns = [lts.src, more], [first_steps, answer], [between, target]
    src, number_of, dst = (np.concatenate(c).astype(np.int32) for c in columns)
    return replace(
        lts,
        n_states=lts.n_states + len(different),
        labels=tuple(alphabet),
        src=src,
        label=number_of,
        dst=dst,
        state_names=names,
    )


def _input_and_output(label: str) -> list[str]:
    """Return the parts of a label between slashes: an input and an output."""
    return [part.strip() for part in label.split(" / " if " / " in label else "/")]
