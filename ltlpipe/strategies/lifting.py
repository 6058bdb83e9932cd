"""From a lasso of reduced components back to one of the components that were read.

A lasso of a network of groups tells for each group the word of observable labels that
it performs, and whether it goes on for ever without one.  A group can perform the same
because its reduction keeps traces and divergences, so some run of the composition of
its parts does; that run tells a word for each part, and so on down to the components.
The runs of the parts are then put together along the word that they have in common.

A run with a given word is itself a lasso in a product: of the parts with an automaton
that accepts the word.  So the search that finds violations finds it, and a short one.

The proof that there always is one is in docs/components.md; a lift that fails is a
bug, and the replay judges what comes out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.letters import OTHER, PropertyAutomaton
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.memory import STEP_BYTES, most_steps
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import advance
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Status
from ltlpipe.strategies.slicing import least_joined
from ltlpipe.strategies.state_search import run_of
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.networks.packing import pack_network, relabelled
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ltlpipe.components.groups import Group
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.packing import PackedSystem

LIFTING = "lifting the lasso"
"""The phase of all that is done here and in `ltlpipe.strategies.lifting`."""

SILENT = None
"""Stands in a word for a step that cannot be observed."""

_TICK = "tick"  # internal, so that it may have any name

Label = str | None


class Word(NamedTuple):
    """What a group does.

    Parameters
    ----------
    prefix, cycle : tuple of str or SILENT
        Labels; with an empty cycle the word is finite.
    diverges : bool
        Whether a finite word is followed by silent steps for ever; else the group
        need not go on.
    exact : bool
        Whether silent steps count, one by one; else there may be any number anywhere.
    blocks : bool
        Whether SILENT, if it counts, stands for one or more such steps.
    offers : frozenset of str or SILENT, optional
        Labels that the state in which a finite word stops may offer; None is any.
        Only for single components.
    """

    prefix: tuple[Label, ...]
    cycle: tuple[Label, ...]
    diverges: bool = False
    exact: bool = False
    blocks: bool = False
    offers: frozenset[Label] | None = None


def find_run(
    network: Network,
    word: Word,
    alphabet: frozenset[str],
    *,
    packed: PackedSystem | None = None,
) -> Job[Run]:
    """Find a run with a given word.

    Parameters
    ----------
    network : Network
        It is not changed.
    word : Word
        Over labels of `alphabet`; all other actions are silent.
    alphabet : frozenset of str
        The labels that can be observed.
    packed : PackedSystem, optional
        The network, to be searched by walks, for which the word is the guide; they do
        not end.  Its extra field has to have a value for each state of
        `word_automaton`, and the word must go on for ever.

    Raises
    ------
    StoppedError
        Memory does not suffice.
    RuntimeError
        There is no such run: a bug.
    """
    from ltlpipe.search.guidance import aims
    from ltlpipe.search.needs import needs_of
    from ltlpipe.search.scc.couvreur99 import Couvreur99, Walks

    stops = not word.cycle and not word.diverges
    if stops and word.offers is not None:
        (component,) = network.components
        network = Network([_ticking(component, word.offers, alphabet)])
    elif stops:  # a clock that ticks for ever once the word is over
        clock = LTS.from_transitions([(0, _TICK, 0)], internal=[_TICK])
        network = Network([*network.components, clock])
    table, letter = word_automaton(word)
    blocked = table.n_letters - 2  # what the word does not have
    letters = np.array(
        [
            OTHER
            if action.internal or action.name not in alphabet
            else letter.get(action.name, blocked)
            for action in network.actions
        ],
        dtype=np.int32,
    )
    if stops:
        letters[-1] = table.n_letters - 1
    walks = packed is not None
    if packed is not None:
        packed = relabelled(packed, letters)
    else:
        packed = yield from pack_network(network, letters, extra_values=table.n_states)
    problem = make_problem(packed, table)
    if walks:
        far, ticks = aims(table), Ticks(LIFTING)
        needs = yield from needs_of(network, packed, letters, table, far, ticks)
        search: Couvreur99 = Walks(problem, table, needs=needs)
    else:
        search = Couvreur99(problem)
    outcome = yield from advance(search, phase=LIFTING)
    if outcome.reason is not None:
        raise StoppedError(outcome.reason)
    if outcome.status != Status.FOUND:
        raise ReplayError("a lift that fails: no run has the word of its reduction")
    lasso = yield from search.lasso()
    actions, states, length = yield from run_of(lasso, search, packed)
    if stops:
        actions, states = actions[:length], states[: length + 1]
    return Run(actions, states, length)


def _ticking(component: LTS, offers: frozenset[Label], alphabet: frozenset[str]) -> LTS:
    """Return a component that ticks, by its last label, where it offers no more."""
    seen = [
        name if name in alphabet and name not in component.internal else SILENT
        for name in component.labels
    ]
    more = np.array([label not in offers for label in seen], dtype=np.bool_)
    stops = np.ones(component.n_states, dtype=np.bool_)
    if component.n_transitions:
        stops[component.src[more[component.label]]] = False
    states = np.flatnonzero(stops).astype(np.int32)
    tick = _TICK
    while tick in component.labels:
        tick += "_"
    return replace(
        component,
        labels=(*component.labels, tick),
        src=np.concatenate([component.src, states]),
        label=np.concatenate(
            [component.label, np.full_like(states, len(component.labels))]
        ),
        dst=np.concatenate([component.dst, states]),
        internal=component.internal | {tick},
    )


def word_automaton(word: Word) -> tuple[PropertyAutomaton, dict[Label, int]]:
    """Return the automaton of the runs with a word, and the letters of its labels.

    Its states are the places in the word.  The letter behind those of the labels is
    never read, and the last one is a tick: it marks that a word that stops is over.

    Examples
    --------
    >>> table, letter = word_automaton(Word(("a",), ("b",)))
    >>> table.n_states, table.edge_dst.tolist(), letter
    (2, [0, 1, 1, 1], {'a': 1, 'b': 2})
    """
    labels = (*word.prefix, *word.cycle)
    names = [name for name in dict.fromkeys(labels) if name is not SILENT]
    letter: dict[Label, int] = {
        name: k for k, name in enumerate(names, start=OTHER + 1)
    }
    n_letters = len(names) + 3
    n_places = len(labels) + (not word.cycle)
    cells: list[list[tuple[int, int]]] = [[] for _ in range(n_places * n_letters)]
    for place, label in enumerate(labels):
        last = place + 1 == len(labels) and bool(word.cycle)
        target = len(word.prefix) if last else place + 1
        if not word.exact or (word.blocks and label is SILENT):  # it may wait
            cells[place * n_letters + OTHER].append((place, 0))
        seen = OTHER if label is SILENT else letter[label]
        cells[place * n_letters + seen].append((target, int(last)))
    if not word.cycle:
        tick = OTHER if word.diverges else n_letters - 1
        cells[len(labels) * n_letters + tick].append((len(labels), 1))
    edges = [edge for cell in cells for edge in cell]
    table = PropertyAutomaton(
        n_states=n_places,
        initial=0,
        n_letters=n_letters,
        first_edge=np.cumsum([0, *map(len, cells)]).astype(np.int32),
        edge_dst=np.array([target for target, _ in edges], dtype=np.int32),
        edge_marks=np.array([mark for _, mark in edges], dtype=np.uint32),
        n_marks=1,
        state_based=False,
    )
    return table, letter


_STEPS_AT_ONCE = 1 << 12  # until the next progress
_STEP_WORK = 4


class Step(NamedTuple):
    """One step of the network that was read."""

    action: int  # -1 repeats a state without successors
    moves: tuple[tuple[int, int], ...]  # (component, its next state)


class Event(NamedTuple):
    """One step of a composition: its label, and its participants."""

    label: Label
    parts: tuple[int, ...]


class Steps(NamedTuple):
    """A run of some components; with an empty cycle it stops."""

    prefix: list[Step]
    cycle: list[Step]


class Lifter:
    """Lifts lassos of reduced networks.

    Parameters
    ----------
    network : Network
        The one that was reduced: what was read, or what `trim` left of it.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        parts = zip(network.components, network.label_actions, strict=True)
        self._numbers = [dict(zip(c.labels, own, strict=True)) for c, own in parts]

    def lift(
        self,
        groups: Sequence[Group],
        run: Run,
        visible: Collection[str] | None = None,
    ) -> Job[Run]:
        """Find a lasso of the network that was read.

        Parameters
        ----------
        groups : sequence of Group
            The components of the reduced network.
        run : Run
            Of the reduced network.
        visible : collection of str, optional
            Actions that matter to the property, in which order they happen and how
            often; None means that all do.

        Raises
        ------
        StoppedError
            Memory does not suffice for so long a lasso.
        RuntimeError
            There is no such run: a bug.
        """
        reduced = Network([group.lts for group in groups])
        events = _events(reduced, run.actions)
        offers: list[frozenset[Label]] | None = None
        if (run.actions < 0).any():
            # A run with the same word may end in a state that can do more.
            ends = zip(groups, run.states[-1].tolist(), strict=True)
            offers = [_offered(group.lts, state) for group, state in ends]
        counts = None if visible is None else frozenset(visible)
        cycle = _needed(groups, events[run.length :], counts)
        prefix = events[: run.length]
        lifted = yield from self._together(groups, prefix, cycle, offers)
        steps = [*lifted.prefix, *lifted.cycle]
        states = yield from self._states(steps)
        actions = np.array([step.action for step in steps], dtype=np.int32)
        return Run(actions, states, len(lifted.prefix))

    def _states(self, steps: list[Step]) -> Job[np.ndarray]:
        """Write int32[k + 1, n], the local states before each step and at the end."""
        yield self._progress(len(steps))
        shape = len(steps) + 1, len(self.network.components)
        states = np.empty(shape, dtype=np.int32)
        states[0] = [component.initial for component in self.network.components]
        for k, step in enumerate(steps):
            states[k + 1] = states[k]
            for component, target in step.moves:
                states[k + 1, component] = target
            if k % _STEPS_AT_ONCE == 0:
                yield self._progress(len(steps))
        return states

    def _progress(self, n_steps: int) -> Progress:
        """Return a progress with the steps that have been written down."""
        held = n_steps * STEP_BYTES * len(self.network.components)
        return Progress(LIFTING, _STEP_WORK * min(n_steps, _STEPS_AT_ONCE), held)

    def _run(self, group: Group, word: Word) -> Job[Steps]:
        """Find a run of the components of a group with a word that it has."""
        if not (word.prefix or word.cycle or word.diverges or word.offers is not None):
            return Steps([], [])  # they need not move
        if not group.parts:
            return (yield from self._leaf_run(group, word))
        network = Network([part.lts for part in group.parts])
        found = yield from find_run(network, word, group.alphabet)
        events = _events(network, found.actions)
        prefix, cycle = events[: found.length], events[found.length :]
        if not word.exact:
            cycle = _needed(group.parts, cycle, group.alphabet)
        return (yield from self._together(group.parts, prefix, cycle))

    def _leaf_run(self, group: Group, word: Word) -> Job[Steps]:
        """Find a run of a single component."""
        (number,) = group.members
        component = self.network.components[number]
        alone = Network([component])
        found = yield from find_run(alone, word, group.alphabet)
        names = [alone.actions[action].name for action in found.actions.tolist()]
        taken = zip(names, found.states[1:, 0].tolist(), strict=True)
        steps = [Step(self._numbers[number][n], ((number, s),)) for n, s in taken]
        return Steps(steps[: found.length], steps[found.length :])

    def _together(
        self,
        parts: Sequence[Group],
        prefix: list[Event],
        cycle: list[Event],
        offers: Sequence[frozenset[Label]] | None = None,
    ) -> Job[Steps]:
        """Lift the parts, and put their runs together along the events."""
        players = []
        for number, part in enumerate(parts):
            word = _word_of(number, part, prefix, cycle)
            if offers is not None:
                word = word._replace(offers=offers[number])
            run = yield from self._run(part, word)
            players.append(_Player(self.network, part, word, run))
        steps: list[Step] = []
        yield from self._play_all(players, prefix, steps, for_ever=False)
        begun: dict[tuple[int, ...], int] = {}
        places = tuple(player.place for player in players)
        while cycle and places not in begun:
            begun[places] = len(steps)
            yield from self._play_all(players, cycle, steps, for_ever=True)
            places = tuple(player.place for player in players)
        begin = begun.get(places, len(steps))
        return Steps(steps[:begin], steps[begin:])

    def _play_all(
        self,
        players: Sequence[_Player],
        events: Sequence[Event],
        steps: list[Step],
        *,
        for_ever: bool,
    ) -> Job[None]:
        """Append the steps of some events.

        Raises
        ------
        StoppedError
            There are more than memory suffices for.
        """
        said = len(steps)
        for event in events:
            steps += _play(players, event, for_ever=for_ever)
            if len(steps) // _STEPS_AT_ONCE > said // _STEPS_AT_ONCE:
                said = len(steps)
                grant = yield self._progress(said)
                if said > most_steps(grant.memory_bytes, len(self.network.components)):
                    raise StoppedError(MEMORY)


class _Player:
    """The run of a part, and how far it has been taken.

    `network` is the one that was read, `run` is how `part` performs `word`.
    """

    def __init__(self, network: Network, part: Group, word: Word, run: Steps) -> None:
        self.word = word
        self.place = 0
        self._steps = [*run.prefix, *run.cycle]
        self._back = len(run.prefix)
        actions = [network.actions[step.action] for step in self._steps]
        self._labels: list[Label] = [
            action.name
            if action.name in part.alphabet and not action.internal
            else SILENT
            for action in actions
        ]
        self._counted = [*word.prefix, *word.cycle]
        self._n_counted = 0  # events that count and have been taken

    def _next(self) -> tuple[Label, Step]:
        """Take one step."""
        label, step = self._labels[self.place], self._steps[self.place]
        self.place += 1
        if self.place == len(self._steps):
            self.place = self._back
        return label, step

    def through(self, label: Label) -> Iterator[Step]:
        """Yield the steps of an event that counts.

        A silent one may stand for a block of steps, in this group or in its parts.  Of
        several in a row the last one takes what is left, and if none is the last, as
        the group goes on silently for ever, each takes one.
        """
        yield from self.until(label)
        self._n_counted += 1
        if label is SILENT and self._following() is not SILENT:
            while self._labels[self.place] is SILENT:
                yield self._next()[1]

    def _following(self) -> Label:
        """Return the label that counts next; SILENT if the group stops."""
        at, n_prefix = self._n_counted, len(self.word.prefix)
        if at >= len(self._counted):
            if not self.word.cycle:
                return SILENT
            at = n_prefix + (at - n_prefix) % len(self.word.cycle)
        return self._counted[at]

    def until(self, label: Label) -> Iterator[Step]:
        """Yield the steps up to the next that counts, which has this label."""
        shown: Label = SILENT
        while shown is SILENT:
            shown, step = self._next()
            yield step
            if self.word.exact:
                break
        if shown != label:
            raise ReplayError(f"a lift that fails: {shown} instead of {label}")

    def silently(self) -> Iterator[Step]:
        """Yield the steps to where the cycle begins, at least one, all silent."""
        yield self._next()[1]
        while self.place != self._back:
            yield self._next()[1]


def _play(
    players: Sequence[_Player], event: Event, *, for_ever: bool = False
) -> Iterator[Step]:
    """Yield the steps of the components that make up one event.

    Silent steps of a group need not be followed one by one, unless they are all that
    it does `for_ever`.
    """
    if not event.parts:
        yield Step(-1, ())
        return
    joint: list[Step] = []
    for number in event.parts:
        player = players[number]
        if event.label is not SILENT or player.word.exact:
            *before, last = player.through(event.label)
            yield from before
            joint.append(last)
        elif for_ever and player.word.diverges:
            yield from player.silently()
    if joint:
        moves = tuple(move for step in joint for move in step.moves)
        yield Step(joint[0].action, moves)


def _events(network: Network, actions: np.ndarray) -> list[Event]:
    """Return what happens, in terms of the components of a network."""
    stutter = Event(SILENT, ())
    events = [
        Event(SILENT if action.internal else action.name, action.participants)
        for action in network.actions
    ]
    return [stutter if a < 0 else events[a] for a in actions.tolist()]


def _needed(
    parts: Sequence[Group], cycle: list[Event], counts: frozenset[str] | None
) -> list[Event]:
    """Return the events of a cycle that a lasso needs.

    Parts that have no event together on the cycle can go on without each other.  So
    those may stop that have nothing to do, directly or through others, with an event
    that counts, as long as some part goes on for ever.

    Parameters
    ----------
    parts : sequence of Group
        Whose events they are.
    cycle : list of Event
        Returned as it is if it repeats a state without successors.
    counts : frozenset of str, optional
        The labels that count; None means that all do, and all steps of parts whose
        silent steps count one by one.  Silent steps for which blocks stand are needed
        in one part only: without the others a violation is one (docs/erasable.md).
    """
    if not all(event.parts for event in cycle):
        return cycle
    joined = least_joined(len(parts), [event.parts for event in cycle])
    if counts is None:
        counting = [
            event
            for event in cycle
            if event.label is not SILENT
            or any(parts[number].equivalence == "strong" for number in event.parts)
        ]
    else:
        counting = [event for event in cycle if event.label in counts]
    needed = {joined[event.parts[0]] for event in counting}
    blocks = {
        joined[number]
        for event in cycle
        for number in event.parts
        if event.label is SILENT and parts[number].equivalence == "block"
    }
    if not needed or (blocks and not needed & blocks):
        # Something has to go on, or happen that is not visible: the fewest events.
        lengths = Counter(
            least
            for event in cycle
            if (least := joined[event.parts[0]]) in blocks or not blocks
        )
        needed |= set(sorted(lengths, key=lambda least: (lengths[least], least))[:1])
    return [event for event in cycle if joined[event.parts[0]] in needed]


def _word_of(
    number: int, part: Group, prefix: Sequence[Event], cycle: Sequence[Event]
) -> Word:
    """Return what a part does on the way."""
    exact = part.counts_silent
    own = [[e.label for e in es if number in e.parts] for es in (prefix, cycle)]
    counted = [[la for la in labels if exact or la is not SILENT] for labels in own]
    return Word(
        prefix=tuple(counted[0]),
        cycle=tuple(counted[1]),
        diverges=not counted[1] and bool(own[1]),
        exact=exact,
        blocks=part.equivalence == "block",
    )


def _offered(lts: LTS, state: int) -> frozenset[Label]:
    """Return the labels of the transitions that leave a state."""
    labels = [lts.labels[k] for k in np.unique(lts.label[lts.src == state]).tolist()]
    return frozenset(SILENT if name in lts.internal else name for name in labels)
