"""Which steps of a state are enough: by sets of components, or by stubborn sets.

Kernels are compiled for each of the two apart; ``tables.stubborn`` is None for the
first (`ltlpipe.por.component_sets`), and has the tables of the second
(`ltlpipe.por.stubborn_sets`).
"""

from __future__ import annotations

from ltlpipe.por.component_sets import close_seed, find_candidates
from ltlpipe.por.stubborn_sets import (
    find_stubborn,
    look_at,
    show_all,
    stubborn_again,
    take_effort,
)
from ltlpipe.runtime.kernels.jit import specialised


@specialised
def first_choices(tables, stubborn, row, actions, n_steps):
    """Find sets of invisible steps, in `closures` and so on; return how many.

    `actions` are those of the state's steps, int32[n_steps].  After a set of one step
    no other is looked for.
    """
    if stubborn is None:
        return find_candidates(tables, row, actions, n_steps)
    look_at(tables, stubborn, row, actions, n_steps)
    return find_stubborn(tables, stubborn, actions, n_steps, 0)


@specialised
def more_choices(tables, stubborn, actions, n_steps, n):
    """Add those sets that have not been looked for behind the first `n`."""
    if stubborn is None:
        return n
    before = -1
    while before < n:
        before = n
        n = find_stubborn(tables, stubborn, actions, n_steps, n)
    return n


@specialised
def choice_on_cycles(tables, stubborn, actions, n_steps):
    """Write a set that may stand for all steps to ``closures[0]``: 0, or -1 for none.

    The sets that were there are lost.
    """
    if stubborn is None:
        return -1
    return show_all(tables, stubborn, actions, n_steps)


@specialised
def choose_again(tables, stubborn, row, actions, n_steps, seed):
    """Write the set of a seed that was noted to ``closures[0]`` again."""
    if stubborn is None:
        close_seed(tables, row, seed)
    else:
        look_at(tables, stubborn, row, actions, n_steps)
        stubborn_again(tables, stubborn, actions, n_steps, seed)


@specialised
def effort_of_choices(stubborn):
    """Return how many actions were looked at to choose among the steps of a state.

    Closed sets of components take no longer than the transitions: none are counted.
    """
    if stubborn is None:
        return 0
    return take_effort(stubborn)
