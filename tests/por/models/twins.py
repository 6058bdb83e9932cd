"""Reduced models by definition: what tables say, followed step by step in Python.

Nothing here shares code with `keep_ample` or with generated successor functions.
"""

from __future__ import annotations

from ltlpipe.por.groups import find_groups
from ltlpipe.runtime.jobs import run
from ltlpipe.systems.networks.packing import BLOCKED, LEADS


def kept(steps, codes):
    """The steps of a state that a table of ample sets leaves."""
    entries = [codes[step.action].tolist() for step in steps]
    for kind, *ends in entries:
        if kind != LEADS:
            continue
        own = [bool(set(ends) & set(entry[1:])) for entry in entries]
        if not any(
            e[0] & BLOCKED for e, mine in zip(entries, own, strict=True) if mine
        ):
            return [step for step, mine in zip(steps, own, strict=True) if mine]
    return steps


class Reduced:
    """A model that takes the steps that are kept."""

    def __init__(self, model, propositions):
        self.model = model
        self.codes = run(find_groups(model, propositions)).codes

    def __getattr__(self, name):
        return getattr(self.model, name)

    def steps(self, state):
        steps = self.model.steps(state)
        return steps if self.codes is None else kept(steps, self.codes)


def reachable(model, limit):
    """The reachable states with their steps; None if there are more than `limit`."""
    found = {model.initial(): None}
    waiting = [model.initial()]
    for state in waiting:
        found[state] = model.steps(state)
        for step in found[state]:
            if step.state not in found:
                if len(found) == limit:
                    return None
                found[step.state] = None
                waiting.append(step.state)
    return found


def without(model, start, actions, limit):
    """The states that are reached without some actions; at most `limit`."""
    seen = {start}
    waiting = [start]
    for state in waiting:
        for step in model.steps(state):
            if step.action not in actions and step.state not in seen:
                if len(seen) == limit:
                    return seen
                seen.add(step.state)
                waiting.append(step.state)
    return seen
