"""Whether a form can do what its parts can: words and divergences.

The parts are composed and the labels that the form lacks are hidden.  The form is
deterministic: one transition at most for each state and label, and silent ones are
loops.  So each word leads to one state of it, and what has to be looked at are the
pairs of a composed state and the state of the form that a word leads to.  In each pair,
the form has to offer what the parts offer; and where it has no silent loop, the silent
steps of the parts must not go on for ever.

Pairs are numbers, and many of them are looked at together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.runtime.jobs import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job

PHASE = "checking the reduction"

_AT_ONCE = 1 << 12  # pairs
_STEP_WORK = 0.5  # microseconds
_MOST_PAIRS = 1 << 62
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
        if n_pairs >= _MOST_PAIRS:
            raise RefusedError(f"{name} is too large to be checked")
        both = set(one.labels) & set(other.labels)
        shared = {label: k for k, label in enumerate(one.labels) if label in both}
        self._n_shared = max(len(one.labels), 1)
        number = {label: k for k, label in enumerate(form.labels)}
        # Behind each part's labels stands its silent one.
        (to_one, one_shared), (to_other, other_shared) = (
            (
                np.array([*(number.get(a, -1) for a in part.labels), -1]),
                np.array([*(shared.get(a, -1) for a in part.labels), -1]),
            )
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
