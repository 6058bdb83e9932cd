"""The symmetry that a question may use: what is declared, or what there is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ltlpipe.search.driver import stop_in_time

if TYPE_CHECKING:
    from ltlpipe.reduction.symmetry.group import Symmetry
    from ltlpipe.search.driver import Interrupt, Limits
    from ltlpipe.systems.lts import Network
    from ltlpipe.verdict.options import Options

WORTH_IT = 3
"""Members of a class from which on symmetry is used unasked."""

_FOUND = "_symmetry_found"
"""Where a network, which does not change, keeps what was found: one is asked a lot."""


def symmetry_of(
    network: Network, options: Options, limits: Limits, interrupt: Interrupt
) -> Symmetry | None:
    """Return the symmetry of a network: what the user declares, or what there is.

    Classes of two are used only if the user asks for symmetry.
    """
    from ltlpipe.reduction.symmetry.declaring import declared_symmetry
    from ltlpipe.reduction.symmetry.finding import find_symmetry

    stop = partial(stop_in_time, limits, interrupt)
    if options.symmetric:
        classes = [names.split(",") for names in options.symmetric]
        return declared_symmetry(
            network,
            [[name.strip() for name in names] for names in classes],
            stop_in_time=stop,
        )
    least = 2 if options.wants_symmetry else WORTH_IT
    found: dict[int, Symmetry | None] = vars(network).setdefault(_FOUND, {})
    if least not in found:
        found[least] = find_symmetry(network, least=least, stop_in_time=stop)
    return found[least]
