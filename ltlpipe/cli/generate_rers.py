"""``ltlpipe generate rers``: problems in the style of the RERS challenges."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Annotated

import typer


class Year(str, Enum):
    """The styles of `ltlpipe.families.rers_networks`."""

    PAIRS = "2016"
    DENSE = "2019"


def rers(
    out: Annotated[
        str,
        typer.Option(
            "-o", "--out", metavar="FOLDER", help="A new or empty folder to fill."
        ),
    ],
    components: Annotated[
        int, typer.Option(min=1, metavar="N", help="Components of each network.")
    ],
    style: Annotated[
        Year,
        typer.Option(
            help="2016: each label shared by two components, on one transition of each;"
            " 2019: denser, shared by two to four, on several transitions."
        ),
    ] = Year.PAIRS,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of the first problem.")
    ] = 0,
    synchronisations: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="K",
            help="Number of shared labels; by default 1.5 (2016) or 2 (2019) per "
            "component.",
        ),
    ] = None,
    formulas: Annotated[
        int, typer.Option(min=1, metavar="N", help="Formulas of each problem.")
    ] = 20,
    problems: Annotated[
        int, typer.Option(min=1, metavar="N", help="Problems, with one seed each.")
    ] = 1,
    max_states: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="States explored at most for a verdict; 250000."
        ),
    ] = None,
) -> None:
    """Parallel problems in the style of RERS, with known verdicts, for `solve`.

    FOLDER/problems/001 has system.dot and formulas.ltl, about half of which hold where
    networks are small enough to know; FOLDER/truth.csv has the known verdicts.
    """
    from ltlpipe.batch.rers_problems import MAX_STATES, write_problems

    for path in write_problems(
        out,
        components,
        style=style.value,
        seed=seed,
        synchronisations=synchronisations,
        n_formulas=formulas,
        n_problems=problems,
        max_states=MAX_STATES if max_states is None else max_states,
    ):
        print(f"wrote {path}", file=sys.stderr)
