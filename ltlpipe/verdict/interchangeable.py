"""The symmetry that a question may use: what is declared, or what there is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.identity_cache import Beside
from ltlpipe.verdict.advancing import advance

if TYPE_CHECKING:
    from ltlpipe.reduction.symmetry.group import Symmetry
    from ltlpipe.search.driver import Interrupt, Limits
    from ltlpipe.systems.lts import Network
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
    from ltlpipe.reduction.symmetry.declaration import declared_symmetry
    from ltlpipe.reduction.symmetry.detection import find_symmetry

    if options.symmetric:
        classes = [names.split(",") for names in options.symmetric]
        stripped = [[name.strip() for name in names] for names in classes]
        return advance(declared_symmetry(network, stripped), limits, interrupt)
    least = 2 if options.wants_symmetry else WORTH_IT
    found = _found.of(network)
    if least not in found:
        job = find_symmetry(network, least=least)
        symmetry = advance(job, limits, interrupt)
        nothing: Any = None  # a reference would keep the network for ever
        found[least] = symmetry and replace(symmetry, network=nothing)
    kept = found[least]
    return kept and replace(kept, network=network)
