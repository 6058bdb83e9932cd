"""The group that acts on a network: all permutations of members within each class.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Defs. 10 and 11.

Differences from the source: there the group is given with the (coloured) model, here it
is found in a network, and only products of full symmetric groups are.  An element is
known by where it takes local states and actions; the *swaps*, which exchange two
members, generate all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial, prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ltlpipe.systems.networks.lts import Network

NO_SWAP = -1
"""In `Symmetry.swap_of`: the members are of different classes, or the same."""

UNREACHABLE = -1
"""In `Symmetry.canonical`: a local state that its component does not reach alone."""


_SHOWN = 5


def listed(names: list[str]) -> str:
    """Return names for people; of many only the first ones and the last."""
    if len(names) > _SHOWN:
        return f"{', '.join(names[: _SHOWN - 1])}, ... {names[-1]} ({len(names)})"
    return ", ".join(names)


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Classes of interchangeable members of a network, and how swaps act on it.

    A swap of members i and j is an automorphism of the network: it takes the local
    states of i's components to those of j's, column by column, and back, those of
    other members to themselves, those of all other components to states of the same
    component, and actions to actions, so that transitions go to transitions and
    accepting states to accepting ones.  The swaps of a class satisfy the relations of
    transpositions, so all permutations act.

    Initial states need not go to initial ones: members may begin in different states,
    but what one reaches is taken to what the other reaches.
    """

    network: Network
    # The components of each member, column by column; those of a class are together.
    members: tuple[tuple[int, ...], ...]
    class_of: np.ndarray  # int32[n_members], the class of each, ascending from 0
    # int32[n_states] for each component of a member: the numbers of its local states in
    # the first member of the class (which there are those that it has), or UNREACHABLE.
    # Swaps keep them.
    canonical: dict[int, np.ndarray]
    # int32[n_members, n_members]: the number of the swap of two members, symmetric;
    # NO_SWAP for those that cannot be swapped.
    swap_of: np.ndarray
    action_swaps: np.ndarray  # int32[n_swaps, n_actions], where swaps take actions
    # Components outside of all members of which some swap moves local states (a server
    # that knows whom it serves).
    moved: tuple[int, ...]
    # int32[n_swaps, n_states]: where swaps take the local states of each in `moved`.
    state_swaps: dict[int, np.ndarray]
    # int32[n_states, n_members]: for each component in `moved` and each of its local
    # states, which role each member has in it: members of a class have the same role
    # iff their swap leaves the state as it is; swaps take roles along with members; and
    # a state is known by the roles of all members in it (states that permutations take
    # to each other share the numbers of their roles, others do not).
    roles: dict[int, np.ndarray]

    @property
    def n_members(self) -> int:
        """Members of all classes."""
        return len(self.members)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.class_of[-1]) + 1

    @property
    def n_permutations(self) -> int:
        """How many permutations of the members there are."""
        return prod(map(factorial, np.bincount(self.class_of).tolist()))

    def names(self) -> list[list[str]]:
        """Return, class by class, the names of the members' first components."""
        names: list[list[str]] = [[] for _ in range(self.n_classes)]
        for member, class_ in zip(self.members, self.class_of.tolist(), strict=True):
            component = self.network.components[member[0]]
            names[class_].append(component.name or str(member[0]))
        return names
