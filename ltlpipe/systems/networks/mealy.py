"""Mealy machines as transition systems, from labels ``input / output``.

The slash is the one with blanks on both sides, or else the only one.  An input may be
joined with its output to one action ``input/output``, or be a step before that of the
output: then a state is added for each output and target.  An action that is both an
input and an output is one action.

Source: the Automata Wiki of Radboud University; AutomataLib.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ltlpipe.systems.networks.lts import LTS

LABEL, JOINED, STEPS = MEALY = ("label", "joined", "steps")
"""How labels are read: as they are, as one action, or as two steps."""


def obstacle(label: str) -> str | None:
    """Return why a label is none of a Mealy machine; None if it is."""
    input_and_output = _pair(label)
    if len(input_and_output) == 2 and all(input_and_output):
        return None
    return f"the label {label!r}, expected 'input / output'"


def joined(lts: LTS) -> LTS:
    """Return a component whose actions are called ``input/output``.

    Its labels have no `obstacle`, but for the internal ones.
    """
    alphabet: dict[str, int] = {}
    named = []
    for label in lts.labels:
        name = label if label in lts.internal else "/".join(_pair(label))
        named.append(alphabet.setdefault(name, len(alphabet)))
    number = np.array([*named, 0], dtype=np.int32)[lts.label]
    return replace(lts, labels=tuple(alphabet), label=number)


def in_steps(lts: LTS) -> LTS:
    """Return a component that takes an input, and then a step with the output.

    Its labels have no `obstacle`, but for the internal ones, which are called neither
    like inputs nor like outputs.
    """
    alphabet: dict[str, int] = {}
    taken, given = [], []  # by label: what is taken, and given then; -1 is nothing
    for label in lts.labels:
        pair = [label] if label in lts.internal else _pair(label)
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


def _pair(label: str) -> list[str]:
    """Return the parts of a label between slashes: an input and an output."""
    return [part.strip() for part in label.split(" / " if " / " in label else "/")]
