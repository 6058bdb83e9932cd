"""A program as a network of one component, whose runs go back to the program.

The component has a state for each reduced state of the program, before an input, and
one for each output that is on its way to such a state: a step of the program is two of
the component, ``iA`` and ``oX``.  An input that no rule takes has no step.  Labels are
all inputs of the program and all outputs that stand in it.

A run of the component is replayed by the interpreter of the program as it was read.
What its cycle repeats is a reduced state: the program's own may come back only after
several rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.programs.eca.program import (
    RunEndedError,
    Source,
    input_name,
    output_name,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.enumeration import Machine

MOST_SYMBOLS = 1 << 12
"""Symbols for which a cycle is replayed until the program's state comes back, unless
two rounds have more; fewer of large programs, see `MOST_LOOKS`."""

MOST_LOOKS = 1 << 20
"""Conditions of the program for all of these symbols, if it looks at each each time."""

_STEP_WORK = 100.0  # microseconds of a step of the interpreter, roughly


@dataclass(frozen=True, eq=False, repr=False)
class EcaComponent(LTS):
    """The component of a program, whose states are called by its variables.

    Parameters
    ----------
    source : Source
        The program.
    rows : uint64[n, w], fields : int64[n_variables, 4]
        Those of a machine, whose n states come first; each of the others has one step.
    """

    source: Source = field(kw_only=True)
    rows: np.ndarray = field(kw_only=True)
    fields: np.ndarray = field(kw_only=True)

    def state_name(self, state: int) -> str:
        """Return the values of variables, of an output's state behind the output.

        Variables that no run depends on, or that never change, are left out.
        """
        if state >= len(self.rows):
            step = state - self.n_states  # from the end
            shown = self.state_name(int(self.dst[step]))
            return f"{self.labels[self.label[step]]}, then {shown}"
        values = []
        for variable, (word, shift, mask, low) in zip(
            self.source.variables, self.fields.tolist(), strict=False
        ):
            if mask:
                value = (int(self.rows[state, word]) >> shift & mask) + low
                shown = variable.arrays[value] if variable.arrays else value
                values.append(f"{variable.name}={shown}")
        return " ".join(values) or str(state)


class EcaSystem(Network):
    """The network of a program.

    Attributes
    ----------
    source : Source
        The program.
    n_states : int
        Reduced states, before inputs.
    lacks : str or None
        What is missing behind the bound, in words.
    proof : str or None
        Of what was guessed and proved, in words; then states are classes of states.
    machine : Machine or None
        What the component was made of.
    """

    source: Source
    n_states: int
    proof: str | None
    machine: Machine | None

    def __init__(
        self,
        component: LTS,
        source: Source,
        *,
        n_states: int,
        lacks: str | None = None,
        proof: str | None = None,
        machine: Machine | None = None,
    ) -> None:
        super().__init__([component], component.name)
        own = {"source": source, "n_states": n_states, "machine": machine}
        vars(self).update(own, lacks=lacks, proof=proof)

    __hash__ = None

    def any_run(self, declared: Collection[str]) -> Network:
        """Return a network whose runs are all words of inputs and outputs in turn.

        They are those of the program, and those that are `declared`.
        """
        names = dict.fromkeys((*self.components[0].labels, *declared))
        steps = [(0, name, 1) for name in names if name.startswith("i")]
        steps += [(1, name, 0) for name in names if not name.startswith("i")]
        return Network([LTS.from_transitions(steps, n_states=2)], self.name)

    def replayed(self, word: Sequence[str], start: int) -> Job[int | None]:
        """Replay the word of a run by the program.

        Parameters
        ----------
        word : sequence of str
            Actions, inputs and outputs in turn, an input first.
        start : int
            From where on the word is repeated; its length for one that ends.

        Returns
        -------
        int or None
            Rounds after which the program's state is one that it had before; None if
            it has not come back within some thousand symbols, or for a word that ends.

        Raises
        ------
        RunEndedError
            The program does something else; says where.
        """
        replay = _Replay(self.source)
        ticks = Ticks("replaying", _STEP_WORK)
        for name in word[:start]:
            replay.take(name)
            yield from ticks.worked()
        cycle = word[start:]
        if not cycle:
            return None
        seen: set[tuple[object, ...]] = set()
        symbols = min(MOST_SYMBOLS, MOST_LOOKS // (1 + self.source.n_conditions))
        for _ in range(max(2, symbols // len(cycle))):
            state = replay.state
            if state in seen:
                return len(seen)
            seen.add(state)
            for name in cycle:
                replay.take(name)
                yield from ticks.worked()
        return None


class _Replay:
    """The program on its way along a word."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._values = source.initial
        self._inputs = {input_name(value): value for value in source.inputs}
        self._output: str | None = None  # which comes next
        self._steps = 0

    @property
    def state(self) -> tuple[object, ...]:
        """All that decides what can come."""
        return (*self._values[2:], self._output)

    def take(self, name: str) -> None:
        """Go on by one symbol; raise RunEndedError if the program does not."""
        self._steps += 1
        if self._output is not None:
            if name != self._output:
                raise RunEndedError(f"symbol {self._steps}: {self._output}, not {name}")
            self._output = None
            return
        if name not in self._inputs:
            raise RunEndedError(f"symbol {self._steps}: {name} is no input")
        printed = self._source.step(self._values, self._inputs[name])
        if printed is None:
            raise RunEndedError(f"symbol {self._steps}: no rule takes the input {name}")
        self._output = output_name(printed)
