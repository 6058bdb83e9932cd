"""What searches over bits in several rows of a table have seen of one product together.

Each row has a sample of the states that its search has seen, so searches can be spread
over processes and machines, a task each, and are compared afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.arguments import is_frame, wrong_kind
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.search.nested.joint_coverage import decoded, together
from ltlpipe.verdict.verdict import VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from ltlpipe.search.nested.joint_coverage import Member

_QUESTION = ("system", "formula_id", "formula")
_PRODUCT = ("automaton", "reductions", "ltlpipe_version")

JOINT_DTYPES = {
    "system": "string",
    "formula_id": "string",
    "formula": "string",
    "searches": "Int64",
    "states": "Int64",
    "coverage": "Float64",
}
"""The columns of `joint_coverage` and their types."""


def joint_coverage(frame: pd.DataFrame) -> pd.DataFrame:
    """Estimate what the searches over bits of each question have seen together.

    Parameters
    ----------
    frame : DataFrame
        What `ltlpipe.solve` or `ltlpipe.results` returns, with the columns `system`,
        `formula` and `sample`.  Rows that searched the same product, with different
        seeds (``--grid seed=1,2,3``), are taken together.

    Returns
    -------
    DataFrame
        A row per product that two searches or more have seen a part of, unless its
        question is violated: `system`, `formula_id`, `formula`, the number of
        `searches`, the `states` that they have seen together, about, and `coverage`,
        the estimated share of the reachable states; missing where that cannot be told.

    Raises
    ------
    TypeError
        `frame` is something else.
    LtlpipeError
        A column is missing, or a sample is damaged.
    """
    import pandas as pd

    if not is_frame(frame):
        raise wrong_kind("frame", "a DataFrame", frame)
    for column in ("system", "formula", "sample", "verdict"):
        if column not in frame:
            raise LtlpipeError(f"frame: expected a column {column!r}")
    known = frame.reindex(columns=[*_QUESTION, *_PRODUCT, "verdict", "sample"])
    rows = known.astype(object).where(known.notna(), None).to_dict("records")
    return pd.DataFrame(joint_rows(rows), columns=[*JOINT_DTYPES]).astype(JOINT_DTYPES)


def joint_rows(rows: Iterable[Mapping[Any, Any]]) -> list[dict[str, Any]]:
    """Return the rows of `joint_coverage` for those of a result table."""
    seen: dict[tuple[Any, ...], list[Member]] = {}
    violated: set[tuple[Any, ...]] = set()
    for row in rows:
        question = tuple(row.get(column) for column in _QUESTION)
        if row["verdict"] == VIOLATED:
            violated.add(question)
        if row.get("sample") is not None:
            product, members = decoded(row["sample"])
            place = (*question, product, *(row.get(column) for column in _PRODUCT))
            seen.setdefault(place, []).extend(members)
    found = []
    for place, members in seen.items():
        question = place[: len(_QUESTION)]
        if len(members) > 1 and question not in violated:
            joint = together(members)
            figures = (len(members), joint.states, joint.coverage)
            found.append(dict(zip(JOINT_DTYPES, (*question, *figures), strict=True)))
    return found
