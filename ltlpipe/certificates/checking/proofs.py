"""The states of a certificate, and the check that they are a proof.

Each state of the product is a row of bits with a rank for each clause.  Steps of
networks are found by a kernel; those of models in plain Python, by the interpreter that
replays lassos, which takes some ten microseconds per step, much more than the search.
The letter of a step is its action, or the propositions that hold where it begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.certificates.checking.automaton import bits_of
from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.certificates.checking.kernels import (
    At,
    Batch,
    Fields,
    Net,
    Proof,
    Room,
    check_step,
    enter_rows,
    look_up,
    settle,
)
from ltlpipe.certificates.checking.reduced import actions_of_labels
from ltlpipe.logic.propositions.syntax import Number
from ltlpipe.runtime.errors import FormulaError, UnknownNameError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import ready
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.propositions.letters import evaluate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ltlpipe.certificates.checking.automaton import Automaton, Fairness
    from ltlpipe.certificates.checking.document import Document
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model
    from ltlpipe.systems.networks.lts import LTS, Network

CHECKING = "checking the certificate"
_BUDGET = 1 << 13  # states of one call of the kernel
_STATE_WORK = 2.0  # microseconds
_STEP_WORK = 15.0  # microseconds, of a model
_BATCH = 256
_LOCAL_BYTES = 40  # of a state of a component, in tables
_MOST_RANK = (1 << 31) - 1


class Claim(NamedTuple):
    """What the states of a certificate have to prove of a system."""

    document: Document
    automaton: Automaton
    fairness: Fairness


class StateProof(ABC):
    """The states of a certificate, as they are read and then checked.

    Parameters
    ----------
    system : Network or Model
        As it has been read.
    claim : Claim
        What is claimed of it.
    entries : sequence of (str, int or None)
        What each entry of a state is called, and how many values it has: from 0 on, or
        any integers.
    initial : sequence of int
        The entries of the initial state.
    """

    def __init__(
        self,
        system: Any,
        claim: Claim,
        entries: Sequence[tuple[str, int | None]],
        initial: Sequence[int],
    ) -> None:
        self._system, self._claim = system, claim
        self._entries = [*entries, ("the automaton", len(claim.automaton.edges))]
        self._initial = [*initial, claim.automaton.initial]
        self._fields = fields_of([count for _, count in self._entries])
        self._n_words = int(self._fields.word[-1]) + 1
        self._n_slots = 1 << max(claim.document.states * 3 // 2, 1).bit_length()
        self._filled = 0
        self.n_entries = len(initial)
        bytes_of_state = 8 * self._n_words + 4 * len(claim.document.clauses)
        self.memory_bytes = claim.document.states * bytes_of_state + 4 * self._n_slots
        in_block = min(claim.document.block, claim.document.states)
        self.memory_bytes += in_block * 8 * (len(claim.document.columns) + 2)
        self.transitions = 0

    def begin(self) -> None:
        """Make the arrays."""
        n, clauses = self._claim.document.states, self._claim.document.clauses
        lacks = [1 << mark for clause in clauses for mark in clause.lacks]
        self._proof = Proof(
            rows=np.zeros((n, self._n_words), dtype=np.uint64),
            slots=np.zeros(self._n_slots, dtype=np.int32),
            ranks=np.zeros((n, len(clauses)), dtype=np.int32),
            fin=np.array([bits_of(c.fin) for c in clauses], dtype=np.uint32),
            lacks_first=_first([len(clause.lacks) for clause in clauses]),
            lacks=np.array(lacks, dtype=np.uint32),
        )

    def add(self, columns: list[np.ndarray]) -> Job[None]:
        """Take in a block of states.

        Raises
        ------
        RefusedError
            A value is none of its component, or a state stands twice.
        """
        proof, first, end = self._proof, self._filled, self._filled + len(columns[0])
        states, ranks = columns[: len(self._entries)], columns[len(self._entries) :]
        for (name, count), column in zip(self._entries, states, strict=True):
            if count is not None and (column.min() < 0 or column.max() >= count):
                raise RefusedError(f"{name} has no state as high as is said")
        for clause, column in enumerate(ranks):
            if column.min() < 0 or column.max() > _MOST_RANK:
                raise RefusedError("a rank is too large")
            proof.ranks[first:end, clause] = column
        proof.rows[first:end] = self._packed(states)
        self._filled = end
        arguments = proof.rows, proof.slots, first, end
        yield from ready(enter_rows, *arguments)
        twice = enter_rows(*arguments)
        if twice >= 0:
            shown = self._shown(proof.rows[twice])
            raise RefusedError(f"a state stands twice: {shown}")

    def check(self) -> Job[None]:
        """Check that the initial state is there, and all steps of all states.

        Raises
        ------
        RefusedError
            Something does not prove what is claimed.
        """
        proof, at = self._proof, np.zeros(len(At), dtype=np.int64)
        at[At.FAULT] = -1
        batch = Batch(
            rows=np.zeros((_BATCH, self._n_words), dtype=np.uint64),
            hashes=np.zeros(_BATCH, dtype=np.uint64),
            src=np.zeros(_BATCH, dtype=np.int64),
            marks=np.zeros(_BATCH, dtype=np.uint32),
            actions=np.zeros(_BATCH, dtype=np.int64),
        )
        wanted = self._packed(np.array(self._initial)[:, np.newaxis])
        yield from ready(look_up, proof.rows, proof.slots, wanted)
        if look_up(proof.rows, proof.slots, wanted) < 0:
            raise RefusedError("the initial state is not in the certificate")
        yield from self._check_steps(batch, at)
        if at[At.FAULT] >= 0:
            raise RefusedError(self._fault(batch, int(at[At.FAULT])))
        self.transitions = int(at[At.TRANSITIONS])

    @abstractmethod
    def _check_steps(self, batch: Batch, at: np.ndarray) -> Job[None]:
        """Check all steps of all states; `at` says what was found."""

    def _packed(self, columns: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
        """Return the rows (uint64[n, words]) of states that are given by entries."""
        rows = np.zeros((len(columns[0]), self._n_words), dtype=np.uint64)
        word, shift, _ = self._fields
        for i, column in enumerate(columns):
            rows[:, word[i]] |= column.astype(np.uint64) << shift[i]
        return rows

    def _unpacked(self, row: np.ndarray) -> list[int]:
        word, shift, mask = self._fields
        return ((row[word] >> shift) & mask).view(np.int64).tolist()  # type: ignore[no-any-return]

    def _shown(self, row: np.ndarray) -> str:
        *entries, state = self._unpacked(row)
        return f"({', '.join(map(str, entries))}; {state})"

    def _fault(self, batch: Batch, k: int) -> str:
        """Return what is wrong with a step of a batch, for people."""
        proof, action, src = self._proof, int(batch.actions[k]), batch.src[k]
        name = "its repetition"
        if action >= 0:
            taken = self._system.actions[action]
            name = f"the step {getattr(taken, 'name', taken)!r}"
        where = self._shown(proof.rows[src]), self._shown(batch.rows[k])
        said = f"of state {where[0]} {name} leads to {where[1]}"
        dst = look_up(proof.rows, proof.slots, batch.rows[k : k + 1])
        if dst < 0:
            return f"{said}, which is not in the certificate"
        for number, clause in enumerate(self._claim.document.clauses):
            here, there = proof.ranks[[src, dst], number].tolist()
            lacks, marks = clause.lacks, int(batch.marks[k])
            if marks & bits_of(clause.fin) or there < here:
                continue
            if there > here:
                said += f", and rank {here} of clause {number + 1} rises to {there}"
            elif not lacks:
                said += f", and rank {here} of clause {number + 1} does not fall"
            elif marks >> lacks[here % len(lacks)] & 1:
                mark = lacks[here % len(lacks)]
                said += f", with mark {mark}, which rank {here} lacks"
            else:
                continue
            break
        return said


def fields_of(counts: Sequence[int | None]) -> Fields:
    """Lay out entries one after the other, by their values; none straddles two words.

    Where any integers are possible an entry has a word of its own.
    """
    word, shift, mask = [], [], []
    at, used = 0, 0
    for count in counts:
        width = 64 if count is None else max((count - 1).bit_length(), 1)
        if used + width > 64:
            at, used = at + 1, 0
        word.append(at)
        shift.append(used)
        mask.append((1 << width) - 1)
        used += width
    kinds = (np.int64, np.uint64, np.uint64)
    return Fields(*map(np.array, (word, shift, mask), kinds))


class NetworkProof(StateProof):
    """The states of a certificate for a network, whose actions are propositions."""

    def __init__(self, network: Network, claim: Claim) -> None:
        components = network.components
        sizes = [(f"component {i}", c.n_states) for i, c in enumerate(components, 1)]
        super().__init__(network, claim, sizes, [c.initial for c in components])
        self.memory_bytes += _LOCAL_BYTES * sum(c.n_states for c in components)

    def _check_steps(self, batch: Batch, at: np.ndarray) -> Job[None]:
        net = yield from self._tables()
        sizes = np.diff(net.group_first)
        bounds = [*net.offset.tolist(), len(sizes)]
        most = sum(int(sizes[a:b].max(initial=0)) for a, b in pairwise(bounds))
        widest = int(np.diff(net.part_first).max(initial=1))
        room = Room(
            local=np.zeros(self.n_entries + 1, dtype=np.int64),
            found=np.zeros((most + 1) * widest, dtype=np.int64),
            choice=np.zeros(self.n_entries, dtype=np.int64),
            row=np.zeros(self._n_words, dtype=np.uint64),
        )
        arguments = net, self._proof, room, batch, at, _BUDGET
        yield from ready(check_step, *arguments)
        while check_step(*arguments):
            work, states = _BUDGET * _STATE_WORK, int(at[At.STATE])
            yield Progress(CHECKING, work, self.memory_bytes, states=states)

    def _tables(self) -> Job[Net]:
        """Return the tables of the network and the automaton for the kernels."""
        network, automaton = self._system, self._claim.automaton
        fairness, actions = self._claim.fairness, network.actions
        groups = []
        for lts, labels in zip(
            network.components, actions_of_labels(network), strict=True
        ):
            groups.append(_grouped(lts, np.array(labels, dtype=np.int64)))
            yield Progress(CHECKING, work=1 + lts.n_transitions / 10)
        counts, numbers, sizes, targets = map(np.concatenate, zip(*groups, strict=True))
        shared = network.action_index
        named = [k for k, name in enumerate(automaton.propositions) if name in shared]
        letter = np.zeros(len(actions), dtype=np.int32)
        for number, k in enumerate(named, start=1):
            letter[shared[automaton.propositions[k]]] = number
        by_letter = [
            automaton.successors(bits) for bits in (0, *(1 << k for k in named))
        ]
        edges = [
            own[state] for state in range(len(automaton.edges)) for own in by_letter
        ]
        flat = np.array([edge for cell in edges for edge in cell], dtype=np.int64)
        shift = np.uint32(automaton.n_marks + network.has_acceptance)
        parts = [a.participants for a in actions]
        return Net(
            fields=self._fields,
            offset=_first([c.n_states for c in network.components])[:-1].copy(),
            group_first=_first(counts),
            group_action=numbers.astype(np.int32),
            target_first=_first(sizes),
            target=targets.astype(np.int32),
            part_first=_first([len(who) for who in parts]),
            part=np.array([i for who in parts for i in who], dtype=np.int32),
            letter=letter,
            enabled=np.array(fairness.enabled, dtype=np.uint32) << shift,
            taken=np.array(fairness.taken, dtype=np.uint32) << shift,
            accepting=np.concatenate([_accepting(c) for c in network.components]),
            edge_first=_first([len(cell) for cell in edges]),
            edge_dst=flat.reshape(-1, 2)[:, 0].astype(np.int32),
            edge_marks=flat.reshape(-1, 2)[:, 1].astype(np.uint32),
            n_letters=len(by_letter),
            stutters=self._claim.document.stutters,
            acceptance=np.uint32(network.has_acceptance << automaton.n_marks),
            idle=np.uint32(fairness.idle) << shift,
        )


def _grouped(lts: LTS, index: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return a component's transitions by state and action.

    How many groups each state has; the action, and how many transitions, of each; and
    where these lead.  Transitions that stand twice are one.
    """
    action = index[lts.label] if len(lts.label) else np.zeros(0, dtype=np.int64)
    table = np.unique(np.stack([lts.src, action, lts.dst], axis=1), axis=0)
    groups, lengths = np.unique(table[:, :2], axis=0, return_counts=True)
    per_state = np.bincount(groups[:, 0], minlength=lts.n_states)
    return per_state, groups[:, 1], lengths, table[:, 2]


def _first(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return where the entries of each begin, int64[n + 1]."""
    first = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(np.asarray(counts, dtype=np.int64), out=first[1:])
    return first


def _accepting(component: LTS) -> np.ndarray:
    if component.accepting is None:
        return np.ones(component.n_states, dtype=np.uint8)
    return component.accepting.astype(np.uint8)


class ModelProof(StateProof):
    """The states of a certificate for a model.

    Raises
    ------
    RefusedError
        A proposition of the automaton means nothing.
    """

    def __init__(self, model: Model, claim: Claim) -> None:
        entries = [("a variable", None)] * len(model.variables)
        super().__init__(model, claim, entries, model.initial())
        self._meanings = [
            meaning_of(model, text, claim.document.never)
            for text in claim.automaton.propositions
        ]

    def _check_steps(self, batch: Batch, at: np.ndarray) -> Job[None]:
        proof, automaton = self._proof, self._claim.automaton
        yield from ready(settle, proof, batch, at)
        ticks = Ticks(CHECKING, _STEP_WORK, self.memory_bytes)
        successors = cache(automaton.successors)  # by letter
        for src, row in enumerate(proof.rows):
            *values, state = self._unpacked(row)
            try:
                steps = self._steps(tuple(values))
                rows = np.array([dst for _, dst, _, _ in steps], dtype=np.int64)
            except (LookupError, ArithmeticError, ValueError) as error:
                told = self._shown(row)
                raise RefusedError(f"the model cannot be in state {told}") from error
            for dst, (action, _, letter, marks) in zip(rows, steps, strict=True):
                for after, own in successors(letter)[state]:
                    k = int(at[At.WAITING])
                    if k == _BATCH:
                        if not settle(proof, batch, at):
                            return
                        k = 0
                    batch.rows[k, :-1] = dst.view(np.uint64)  # a word for each entry
                    batch.rows[k, -1] = after
                    batch.src[k], batch.actions[k] = src, action
                    batch.marks[k] = marks | own
                    at[At.WAITING] = k + 1
            if ticks.over(1 + len(steps)):
                yield ticks.progress._replace(states=src)
        settle(proof, batch, at)

    def _steps(
        self, values: tuple[int, ...]
    ) -> list[tuple[int, Sequence[int], int, int]]:
        """Return the steps of a valuation: action, successor, letter and marks."""
        fairness, shift = self._claim.fairness, self._claim.automaton.n_marks
        steps = list(self._system.each_step(values))
        if not steps and self._claim.document.stutters:
            letter = self._letter(values, None, dead=True)
            return [(-1, values, letter, fairness.idle << shift)]
        seen = 0
        for step in steps:
            seen |= fairness.enabled[step.action]
        return [
            (
                step.action,
                step.state,
                self._letter(values, step.action, dead=False),
                ((fairness.idle ^ seen) | fairness.taken[step.action]) << shift,
            )
            for step in steps
        ]

    def _letter(
        self, values: tuple[int, ...], action: int | None, *, dead: bool
    ) -> int:
        return sum(
            1 << k
            for k, meaning in enumerate(self._meanings)
            if evaluate(meaning, values, action=action, dead=dead)
        )


def meaning_of(model: Model, text: str, never: Collection[str]) -> Expression:
    """Return what a proposition means in a model.

    Raises
    ------
    RefusedError
        It means nothing, and is not said never to hold.
    """
    try:
        return model.meaning(text)
    except UnknownNameError:
        if text in never:
            return Number(0)
        raise RefusedError(f"the model has nothing that {text!r} could mean") from None
    except FormulaError:
        raise RefusedError(f"{text!r} is no proposition") from None
