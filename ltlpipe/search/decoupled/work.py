"""How much work a decoupled search has done."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from ltlpipe.search.registers import Reg, Status

if TYPE_CHECKING:
    import numpy as np


class LabelSteps:
    """A search whose steps are labels followed from decoupled states."""

    unit_work: ClassVar[float] = 0.5  # microseconds per label, roughly
    granted_bytes: float = math.inf

    registers: np.ndarray
    n_steps = 0  # labels so far

    def _count(self, status: Status, budget: int, transitions: int) -> None:
        """Count the labels of a call that began with so many transitions.

        A call that spends its budget has looked at as many labels; one that ends
        sooner has looked at those that led somewhere, at least.
        """
        if status == Status.RUNNING:
            self.n_steps += budget
        else:
            self.n_steps += int(self.registers[Reg.TRANSITIONS]) - transitions
