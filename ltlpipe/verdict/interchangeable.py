"""The symmetry that a question may use: what is declared, or what there is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.identity_cache import Beside
from ltlpipe.verdict.limits import stop_in_time

if TYPE_CHECKING:
    from ltlpipe.reduction.symmetry.group import Symmetry
    from ltlpipe.runtime.jobs import Interrupt
    from ltlpipe.systems.lts import Network
    from ltlpipe.verdict.limits import Limits
    from ltlpipe.verdict.options import Options

WORTH_IT = 3
"""Members of a class from which on symmetry is used unasked."""

_found: Beside[dict[int, Symmetry | None]] = Beside(dict)
"""What was found for each network, by the least size of a class: one is asked a lot."""


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
    found = _found.of(network)
    if least not in found:
        symmetry = find_symmetry(network, least=least, stop_in_time=stop)
        nothing: Any = None  # a reference would keep the network for ever
        found[least] = symmetry and replace(symmetry, network=nothing)
    kept = found[least]
    return kept and replace(kept, network=network)
