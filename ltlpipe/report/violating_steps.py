"""Named steps and bad prefixes of the lassos of a result table.

Which actions they name, and after which step a safety formula is lost.  Tables do not
have that: it is found out again for formulas that are safety formulas by their syntax
(`ltlpipe.automata.bad_prefixes`), as far as there is time.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.automata.bad_prefixes import first_bad_prefix
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.runtime.jobs import Limits, StoppedError, run

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@lru_cache(maxsize=4096)
def named(formula: str) -> frozenset[str]:
    """Return the names of a formula's propositions; none if it is not a formula."""
    try:
        return frozenset(parse(formula).propositions)
    except LtlpipeError:
        return frozenset()


SECONDS = 3.0
"""For all formulas of a table."""

SECONDS_OF_ONE = 0.5


class ViolatingSteps:
    """Finds bad prefixes, within some seconds in all."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + SECONDS
        self.ran_out = False  # there was no time for some
        self._known: dict[tuple[str, tuple[str, ...], int], int | None] = {}

    def of(
        self,
        formula: str,
        actions: Sequence[str],
        first: int,
        unclear: Collection[str] = (),
    ) -> int | None:
        """Return the length of the bad prefix of a run of a network, if it is known.

        Parameters
        ----------
        formula : str
            What the run violates.
        actions : sequence of str
            Prefix and cycle.
        first : int
            Where the cycle begins.
        unclear : collection of str
            Names of steps that no proposition can name.
        """
        key = (formula, tuple(actions), first)
        if key not in self._known:
            left = self._deadline - time.monotonic()
            if left <= 0:
                self.ran_out = True
                return None
            limits = Limits(timeout=min(left, SECONDS_OF_ONE))
            try:
                self._known[key] = _found(formula, actions, first, unclear, limits)
            except (LtlpipeError, StoppedError):
                self._known[key] = None
        return self._known[key]


def _found(
    text: str,
    actions: Sequence[str],
    first: int,
    unclear: Collection[str],
    limits: Limits,
) -> int | None:
    formula = parse(text)
    names = set(formula.propositions)
    if not formula.spot.is_syntactic_safety() or names & {*unclear} & {*actions}:
        return None
    letters = [[], *([name] for name in sorted(names))]
    number = {name: k for k, (name,) in enumerate(letters[1:], start=1)}
    word = np.array([number.get(action, 0) for action in actions])
    job = first_bad_prefix(formula, letters, word, first, one_at_a_time=True)
    return run(job, limits)
