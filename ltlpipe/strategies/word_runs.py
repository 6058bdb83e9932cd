"""Runs of a small network with a given word, as lassos.

A run with a word is itself a lasso in a product: of the network with an automaton that
accepts the word.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.letters import OTHER, PropertyAutomaton
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.search.driver import advance
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Status
from ltlpipe.strategies.state_search import run_of
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.networks.packing import pack_network
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job

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


def find_run(network: Network, word: Word, alphabet: frozenset[str]) -> Job[Run]:
    """Find a run with a given word.

    Parameters
    ----------
    network : Network
        It is not changed.
    word : Word
        Over labels of `alphabet`; all other actions are silent.
    alphabet : frozenset of str
        The labels that can be observed.

    Raises
    ------
    StoppedError
        Memory does not suffice.
    RuntimeError
        There is no such run: a bug.
    """
    from ltlpipe.search.scc.couvreur99 import Couvreur99

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
    packed = yield from pack_network(network, letters, extra_values=table.n_states)
    search = Couvreur99(make_problem(packed, table))
    outcome = yield from advance(search, phase=LIFTING)
    if outcome.reason is not None:
        raise StoppedError(outcome.reason)
    if outcome.status != Status.FOUND:
        raise ReplayError("a lift that fails: no run has the word of its reduction")
    lasso = yield from search.lasso()
    actions, states, length = run_of(lasso, search, packed)
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
