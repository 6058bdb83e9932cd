"""Which colours variables need be bound to, where some colours are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.systems.nets.coloured.bindings import Admits, Binding, Condition
    from ltlpipe.systems.nets.coloured.net import ColouredNet


def first_alike(
    net: ColouredNet, alike: Mapping[tuple[int, int], Sequence[int]]
) -> Admits:
    """Return the condition that colours which are alike are bound in their order.

    Parameters
    ----------
    net : ColouredNet
        Whose variables are bound.
    alike : mapping
        For a sort and a colour all colours that are like it, itself among them; others
        are like none.

    Returns
    -------
    callable
        As `ltlpipe.systems.nets.coloured.bindings.bindings` takes it.  A variable may
        have a colour that one before it has, or the first of those alike that none has.
    """
    sorts = [variable.sort for variable in net.variables]

    def admits(before: Sequence[int], variable: int) -> Condition:
        sort = sorts[variable]
        bound = [other for other in before if sorts[other] == sort]

        def condition(binding: Binding) -> bool:
            colour = binding[variable]
            used = {binding[other] for other in bound}
            if colour in used:
                return True
            members = alike.get((sort, colour), ())
            return next((c for c in members if c not in used), colour) == colour

        return condition

    return admits
