"""A place/transition net packed for a search.

Each place owns a bit field of a row (`ltlpipe.systems.nets.widths`).  A field that
turns out to be too narrow is noted by the successor function, which leaves the
successor out: the caller looks at ``overflowed()`` and begins again with what
``widened()`` returns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.fields import allocation
from ltlpipe.systems.models import PackedModel
from ltlpipe.systems.nets.kernels import Header, Part, expand_net
from ltlpipe.systems.nets.orbit_kernels import expand_net_orbits
from ltlpipe.systems.nets.tables import TableBuilder
from ltlpipe.systems.nets.widths import Widths, first_widths
from ltlpipe.systems.networks.packing import PACKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.structure import Net
    from ltlpipe.systems.propositions.tables import Place

_PER_THING = 0.5  # microseconds, roughly, of all that is done to an arc or a place


@dataclass(frozen=True)
class PackedNet(PackedModel):
    """What a search sees of a net.

    Parameters
    ----------
    widths : Widths
        How wide fields are, and which may be too narrow.
    repacked : callable
        The job that packs the net with fields of other widths.
    """

    widths: Widths = field(kw_only=True)
    repacked: Callable[[Widths], Job[PackedNet]] = field(kw_only=True)


def pack_net(
    net: Net,
    propositions: Sequence[Expression] = (),
    *,
    extra_values: int = 1,
    seed: int | None = None,
    ample: np.ndarray | None = None,
    widths: Widths | None = None,
) -> Job[PackedNet]:
    """Lay out the tables of `net`.

    Parameters
    ----------
    net : Net
        It is not changed.
    propositions : sequence of Expression
        Bound; letters are sets of them.
    extra_values : int
        Values of the field that is reserved for the caller in every row.
    seed : int, optional
        Shuffles the order in which successors are generated; None keeps that of
        places and transitions, as far as places own transitions.
    ample : int64[n_transitions, 3], optional
        See `ltlpipe.systems.models.Model.pack`.
    widths : Widths, optional
        How wide fields are, if not what `first_widths` says.

    Raises
    ------
    UnsupportedError
        There are too many propositions.
    """
    ticks = Ticks(PACKING, _PER_THING)
    if widths is None:
        widths = yield from first_widths(net, ticks)
    order = np.arange(len(net.places))
    if seed is not None:
        order = np.random.default_rng(seed).permutation(order)
    sizes = [1 << widths.bits[place] for place in order.tolist()]
    *placed, extra = yield from allocation([*sizes, extra_values], ticks)
    places = [placed[k] for k in np.argsort(order).tolist()]
    n_words = 1 + max(place.word for place in (*places, extra))
    builder = TableBuilder(net, places, n_words, widths.proven)
    ints, words = yield from builder.build(propositions, seed, ticks)
    if ample is not None:
        ints[Header.AMPLE] = len(ints)
        ints = np.concatenate([ints, ample.ravel()])
    initial = [0] * n_words
    for place, tokens in zip(places, net.initial(), strict=True):
        initial[place.word] |= tokens << place.shift

    def repacked(others: Widths) -> Job[PackedNet]:
        return pack_net(
            net,
            propositions,
            extra_values=extra_values,
            seed=seed,
            ample=ample,
            widths=others,
        )

    def widened() -> Job[PackedNet | None]:
        wider = widths.widened(too_narrow(ints, words, places))
        return None if wider is None else (yield from repacked(wider))

    return PackedNet(
        expand=expand_net,
        expand_orbits=expand_net_orbits,
        ints=ints,
        words=words,
        initial=np.array(initial, dtype=np.uint64),
        extra=extra,
        max_successors=max(len(net.transitions), 1),
        places=tuple(places),
        overflowed=lambda: next(iter(too_narrow(ints, words, places)), None),
        widened=widened,
        widths=widths,
        repacked=repacked,
    )


def too_narrow(
    ints: np.ndarray, words: np.ndarray, places: Sequence[Place]
) -> list[int]:
    """Return the places of a net whose fields were too narrow for some successor."""
    if not ints[Header.OVERFLOW]:
        return []
    noted = words[ints[Header.N_WORDS] * Part.PASSED :].tolist()
    return [
        number
        for number, place in enumerate(places)
        if noted[place.word] >> place.shift + place.bits - 1 & 1
    ]
