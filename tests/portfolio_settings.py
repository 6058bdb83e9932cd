"""Settings of the portfolio under which all strategies play on small systems."""

from __future__ import annotations

from contextlib import contextmanager
from unittest.mock import patch

from ltlpipe.strategies import explicit, instant
from ltlpipe.verdict import portfolio

ALONE = {
    "instant": {"reduce": "none", "seed": None},
    "explicit": {"reduce": "none", "seed": 1},
    "ample": {"reduce": "ample"},
    "components": {"reduce": "components"},
    "decoupled": {"reduce": "decoupled"},
    "symmetry": {"reduce": "symmetry"},
}
"""Options that leave one strategy; for small products, that of their key."""

BY_NAME = ("ample", "components", "decoupled", "symmetry")
"""Strategies that refuse a question for which they cannot be used."""


@contextmanager
def searching_at_once(most_states):
    """Let `instant` search that many states."""
    with patch.object(instant, "MOST_STATES", most_states):
        yield


@contextmanager
def turns(first=20.0, growth=1.2, patience=200.0):
    """Let turns be of other lengths; short ones if nothing else is said."""
    with (
        patch.object(portfolio, "FIRST_TURN", first),
        patch.object(portfolio, "GROWTH", growth),
        patch.object(portfolio, "PATIENCE", patience),
    ):
        yield


@contextmanager
def all_playing():
    """Let all strategies play, in short turns, but for `instant`."""
    with turns(), searching_at_once(1):
        yield


@contextmanager
def few_walks(most_states=200_000):
    """Let walks that are asked for by name give up after so many states.

    Those of small nets have seen all by then, and have walked by plans, too.
    """
    with patch.object(explicit, "MANY_STATES", most_states):
        yield
