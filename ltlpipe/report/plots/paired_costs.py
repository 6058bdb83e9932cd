"""What two configurations have cost: the questions that both were asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.report.plots.configurations import answers, configured, questions
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd

DIFFER, UNANSWERED = "verdicts differ", "not answered"


class Pairs(NamedTuple):
    """The questions that two configurations were both asked, k of them."""

    x: np.ndarray  # float64[k], the cost for the first one; NaN: not answered
    y: np.ndarray  # float64[k], the second one
    kind: np.ndarray  # object[k], the kind of point

    def where(self, chosen: np.ndarray) -> Pairs:
        """Return some of the questions, those of bool[k] `chosen`."""
        return Pairs(self.x[chosen], self.y[chosen], self.kind[chosen])

    @property
    def both(self) -> np.ndarray:
        """Which were answered by both, bool[k]."""
        import numpy as np

        both: np.ndarray = np.isfinite(self.x) & np.isfinite(self.y)
        return both

    @property
    def ratio(self) -> float | None:
        """The geometric mean of y / x where both have answered; None: nowhere."""
        import numpy as np

        both = self.both
        if not both.any():
            return None
        return float(np.exp(np.log(self.y[both] / self.x[both]).mean()))

    @property
    def most(self) -> float:
        """The highest cost of an answer; 1 if there is none."""
        import numpy as np

        return float(np.nanmax([*self.x, *self.y], initial=0.0)) or 1.0

    def least(self, limit: float) -> float:
        """Return the start of the axes: below all answers, and below the limit."""
        import numpy as np

        return float(np.nanmin([*self.x, *self.y], initial=limit)) / 1.5


def pairs(
    frame: pd.DataFrame,
    a: str,
    b: str,
    *,
    by: Sequence[str] | None = None,
    value: str = "seconds",
) -> Pairs:
    """Return the questions that two configurations were both asked, in order.

    The parameters are those of `scatter`.
    """
    import numpy as np

    rows = met(frame, configured(frame, by).labels, a, b, value)
    holds = (rows["holds_x"] | rows["holds_y"]).to_numpy(dtype=bool)
    violated = (rows["violated_x"] | rows["violated_y"]).to_numpy(dtype=bool)
    kind = np.select(
        [holds & violated, holds, violated], [DIFFER, HOLDS, VIOLATED], UNANSWERED
    )
    return Pairs(*costs_of(rows), kind.astype(object))


def met(
    frame: pd.DataFrame, labels: np.ndarray, a: str, b: str, value: str
) -> pd.DataFrame:
    """Return verdicts and costs of both configurations, a row per question."""
    import pandas as pd

    said = frame["verdict"]
    rows = pd.DataFrame(
        {
            "question": questions(frame),
            "cost": answers(frame, value),
            **{v: said.eq(v).fillna(False).to_numpy(bool) for v in (HOLDS, VIOLATED)},
        }
    )
    how = {"cost": "min", HOLDS: "any", VIOLATED: "any"}
    x, y = (rows[labels == name].groupby("question").agg(how) for name in (a, b))
    both: pd.DataFrame = x.add_suffix("_x").join(y.add_suffix("_y"), how="inner")
    return both


def costs_of(met: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs for both, float64[k] each; NaN: not answered."""
    return met["cost_x"].to_numpy("float64"), met["cost_y"].to_numpy("float64")
