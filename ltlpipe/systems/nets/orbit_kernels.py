"""The successor function of nets whose states are representatives of orbits."""

from __future__ import annotations

from ltlpipe.runtime.kernels.jit import called
from ltlpipe.systems.nets.kernels import expand_net
from ltlpipe.systems.networks.orbit_kernels import normalise_all

_expand = called(expand_net)


def expand_net_orbits(
    ints, words, row, select, out_rows, out_letters, out_actions, out_marks
):
    """Generate the representatives behind that of a marking.

    See `ltlpipe.systems.networks.packing`.
    """
    count = _expand(
        ints, words, row, select, out_rows, out_letters, out_actions, out_marks
    )
    return normalise_all(ints, select, out_rows, count)
