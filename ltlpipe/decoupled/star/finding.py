"""Whether a model is a star: centres are tried until one will do.

Cost: one exploration per trial.  Where a leaf is too large, those of the next trial are
a fourth smaller, so that the trials are no more than a logarithm of the variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.decoupled.star.effort import Effort, SpentError
from ltlpipe.decoupled.star.exploration import Spaces, TooLargeError
from ltlpipe.decoupled.star.footprints import of_net, of_program
from ltlpipe.decoupled.star.networks import TooManyLabelsError, star_of
from ltlpipe.decoupled.star.partition import joined_most, largest, partition
from ltlpipe.por.processes import names_steps, watched
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.programs.model import DveModel
from ltlpipe.systems.propositions.letters import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from ltlpipe.decoupled.star.footprints import Footprints, Values
    from ltlpipe.decoupled.star.networks import Star
    from ltlpipe.decoupled.star.partition import Leaf, Partition
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model

MIN_LEAVES = 2
"""Leaves with steps of their own that make a star."""

MAX_LOOKS = 1 << 17
"""Looks at actions, of all trials for one property."""


class NoStarError(Exception):
    """A model is no star, or too large a one.

    Parameters
    ----------
    reason : str
        Why.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def find_star(
    model: Model,
    propositions: Sequence[Expression],
    *,
    stutters: bool,
    least_share: float = 0.0,
) -> Job[Star]:
    """Return a model as a star whose centre tells the truth of propositions.

    Parameters
    ----------
    model : Model
        A DVE model or a net, which has been prepared.
    propositions : sequence of Expression
        Bound to it; those that hold are a letter, as bits.
    stutters : bool
        Whether deadlocks repeat themselves.
    least_share : float
        The least share of actions that are steps of leaves alone, 0 to 1.

    Raises
    ------
    NoStarError
        It is none.
    """
    if any(map(names_steps, propositions)):
        raise NoStarError("a proposition is about steps, not only about states")
    footprints = yield from _footprints(model)
    known = frozenset().union(*footprints.touched)
    seen = {atom.variable for p in propositions for atom in watched(p)}
    centre: Set[int] = (seen | footprints.fixed) & known

    def letter_of(state: Values) -> int:
        return sum(1 << k for k, p in enumerate(propositions) if evaluate(p, state))

    try:
        star, spaces = yield from _explored(footprints, centre, least_share)
        return (
            yield from star_of(
                spaces, star, footprints.initial, letter_of, stutters=stutters
            )
        )
    except (SpentError, TooManyLabelsError) as error:
        raise NoStarError(str(error)) from None


def _explored(
    footprints: Footprints, centre: Set[int], least_share: float
) -> Job[tuple[Partition, Spaces]]:
    """Return a star that is not too large, and its local states."""
    effort = Effort(MAX_LOOKS)
    while True:
        star, centre = yield from _next_star(footprints, centre, least_share, effort)
        spaces = Spaces(footprints, star, effort)
        try:
            yield from spaces.explore()
        except TooLargeError as error:
            if error.leaf is None:
                raise NoStarError(error.reason) from None
            large = error.leaf
        else:
            return star, spaces
        centre = yield from _divided(footprints, centre, large, effort)


def _next_star(
    footprints: Footprints, centre: Set[int], least_share: float, effort: Effort
) -> Job[tuple[Partition, Set[int]]]:
    """Return a star with enough leaves that move, and its centre, which has grown."""
    while True:
        star = yield from partition(footprints, centre, effort)
        if not star.leaves:
            raise NoStarError(_NO_LEAVES)
        if star.n_moving >= MIN_LEAVES:
            break
        centre = centre | _heart(footprints, largest(star.leaves))
    if star.share < least_share:
        raise NoStarError(
            f"{star.share:.0%} of the actions are steps of leaves alone (it pays from "
            f"{least_share:.0%} on; Gnad et al. 2021, Sec. 6)"
        )
    return star, centre


def _footprints(model: Model) -> Job[Footprints]:
    """Return what the actions of a model touch."""
    if isinstance(model, PetriNet):
        return (yield from of_net(model))
    if not isinstance(model, DveModel):
        raise NoStarError(f"nothing is known of the steps of {model.name}")
    if model.program.synchronous:
        raise NoStarError("all processes of a synchronous system move at once")
    if any(process.committed for process in model.program.processes):
        raise NoStarError("a committed state holds up all other processes")
    return (yield from of_program(model))


def _heart(footprints: Footprints, leaf: Leaf) -> Set[int]:
    """Return what of a leaf goes to the centre."""
    if not leaf.internal:
        return frozenset(leaf.variables)
    return frozenset(joined_most(footprints, leaf))


def _divided(
    footprints: Footprints, centre: Set[int], too_large: Leaf, effort: Effort
) -> Job[Set[int]]:
    """Return a centre whose leaves are all smaller than one that is too large."""
    most = len(too_large.variables) * 3 // 4
    is_done = False
    while not is_done:
        star: Partition = yield from partition(footprints, centre, effort)
        large = [leaf for leaf in star.leaves if len(leaf.variables) > most]
        for leaf in large:
            centre = centre | _heart(footprints, leaf)
        is_done = not large
    return centre


_NO_LEAVES = (
    "fewer than two parts of the model have steps of their own, that is steps which "
    "neither touch what the property reads nor what other parts do"
)
