"""Moves that follow each other within a step, made one.

Behind a move that keeps control no state is stored.  So where only one move is possible
there, whatever the state, it is appended to the move before it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.programs.program import Transition

_LONGEST = 100


def fused(
    transitions: Sequence[Transition], begin: int
) -> list[tuple[Transition, Transition]]:
    """Append to the transitions of a process what they are always followed by.

    Parameters
    ----------
    transitions : sequence of Transition
        Those of a proctype in a slot.
    begin : int
        The place where its processes begin.

    Returns
    -------
    list of (Transition, Transition)
        Those that can still be taken, and what each has been made of first.
    """
    leaving: dict[int, list[Transition]] = defaultdict(list)
    for transition in transitions:
        leaving[transition.source].append(transition)
    made = {t: _followed(t, leaving) for t in transitions}
    reached, places = {begin}, [begin]
    for place in places:  # which grows meanwhile
        for transition in leaving[place]:
            target = made[transition].target
            if target not in reached:
                reached.add(target)
                places.append(target)
    return [(new, old) for old, new in made.items() if old.source in reached]


def _followed(
    transition: Transition, leaving: dict[int, list[Transition]]
) -> Transition:
    sends = transition.message is not None and transition.message.sends
    if sends:  # control goes to the receiver
        return transition
    effects, texts, last = list(transition.effects), [transition.text], transition
    while last.keeps and len(texts) < _LONGEST:
        following = leaving[last.target]
        if len(following) != 1:
            break
        (after,) = following
        if after.conditions or after.message or after.start or len(after.exchange) > 1:
            break
        effects += (*after.exchange, *after.effects)
        texts.append(after.text.partition(": ")[2])
        last = after
    if last is transition:
        return transition
    text = "; ".join(texts)
    return replace(
        transition,
        target=last.target,
        keeps=last.keeps,
        effects=tuple(effects),
        text=text,
    )
