"""The evidence of a component reduction, as certificates have it.

Forms come in such an order that each stands behind its parts, and those that are left
stand in the order of the components of the searched network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.components.refinement import classes
from ltlpipe.components.transition_arrays import Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.components.groups import Group, Reduced
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS, Network

WORDS, STEPS = "words", "steps"
"""What forms keep: words and divergences, or each step with its letter."""


class _Form(NamedTuple):
    parts: tuple[int, ...]
    labels: tuple[str, ...]  # observable ones
    lts: LTS
    image: np.ndarray | None  # int64[n], the state of the form for each of its part


@dataclass(frozen=True, eq=False)
class Reduction:
    """The forms from which a searched network is made."""

    keeps: str
    trimmed: bool
    forms: tuple[_Form, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what the header says of it."""
        return {
            "keeps": self.keeps,
            "trimmed": self.trimmed,
            "forms": [
                {
                    "parts": list(form.parts),
                    "states": form.lts.n_states,
                    "initial": form.lts.initial,
                    "labels": list(form.labels),
                    "transitions": form.lts.n_transitions,
                }
                for form in self.forms
            ],
        }

    def columns(self) -> Iterator[np.ndarray]:
        """Yield the columns of all forms; those without values are left out."""
        for form in self.forms:
            letters = np.array([*_letters(form.lts, form.labels), 0])
            columns = [form.lts.src, letters[form.lts.label], form.lts.dst]
            if form.image is not None:
                columns.append(form.image)
            yield from (column.astype(np.int64) for column in columns if len(column))


def _letters(lts: LTS, labels: Sequence[str]) -> list[int]:
    """Return the number of each label among `labels`; others are silent."""
    number = {name: k for k, name in enumerate(labels)}
    silent = len(labels)
    return [
        silent if name in lts.internal else number.get(name, silent)
        for name in lts.labels
    ]


def reduction_of(before: Network, reduced: Reduced, *, trimmed: bool) -> Job[Reduction]:
    """Return the evidence that a network may take the place of another one.

    Parameters
    ----------
    before : Network
        What was reduced.
    reduced : Reduced
        Its groups by ``trace``, or each component by ``strong``.
    trimmed : bool
        Whether `before` is the system without what no run can take.
    """
    forms: list[_Form] = []
    if reduced.visible is None:
        for i, group in enumerate(reduced.groups):
            image = yield from _image(before.components[i], group.lts)
            forms.append(_Form((i,), _observable(group.lts), group.lts, image))
        return Reduction(STEPS, trimmed, tuple(forms))
    for group in reduced.groups:
        _enter(group, forms, len(before.components))
    return Reduction(WORDS, trimmed, tuple(forms))


def _enter(group: Group, forms: list[_Form], n: int) -> int:
    """Enter a group behind its parts; return its number."""
    parts = tuple(_enter(part, forms, n) for part in group.parts)
    forms.append(
        _Form(parts or tuple(group.members), _observable(group.lts), group.lts, None)
    )
    return n + len(forms) - 1


def _observable(lts: LTS) -> tuple[str, ...]:
    return tuple(name for name in lts.labels if name not in lts.internal)


def _image(part: LTS, form: LTS) -> Job[np.ndarray]:
    """Return the state of a quotient for each state of a component, int64[n].

    Both are refined as one: bisimilar states come into one class.  States that no state
    of the quotient is bisimilar to are not reachable, and have its number of states.
    """
    labels = _observable(form)
    sides = []
    for lts in (part, form):
        letters = np.array([*_letters(lts, labels), 0], dtype=np.int32)
        sides.append((lts.src, letters[lts.label], lts.dst))
    (src, label, dst), (form_src, form_label, form_dst) = sides
    shift, n = part.n_states, part.n_states + form.n_states
    steps = Steps(
        n_states=n,
        initial=0,
        n_labels=len(labels) + 1,  # silent steps are steps like others
        src=np.concatenate([src, form_src + shift]).astype(np.int32),
        label=np.concatenate([label, form_label]).astype(np.int32),
        dst=np.concatenate([dst, form_dst + shift]).astype(np.int32),
        marked=np.zeros(n, dtype=np.bool_),
    )
    n_classes, known = yield from classes(steps)
    state = np.full(n_classes, form.n_states, dtype=np.int64)
    state[known[shift:]] = np.arange(form.n_states)
    image: np.ndarray = state[known[:shift]]
    return image
