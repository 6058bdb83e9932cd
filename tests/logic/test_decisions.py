"""What Spot decides of formulas has a limit, and can be interrupted."""

import os
import signal
import threading
import time

import pytest

from ltlpipe import (
    UnsupportedError,
    action_equivalent,
    is_erasable,
    is_interruptible,
)
from tests.processes import SOON
from tests.runtime.worker_operations import these_operations

SLOW = """
import time
from ltlpipe.logic import actions, erasable, interruptible
slow = lambda **_: time.sleep(1000)
interruptible.interruptible_formula.here = erasable.erasable_formula.here = slow
actions.equivalent.here = slow
"""

DECISIONS = pytest.mark.parametrize(
    "decide",
    [
        lambda **limit: is_interruptible("X a", **limit),
        lambda **limit: is_erasable("X a", **limit),
        lambda **limit: action_equivalent("X a", "a", **limit),
    ],
    ids=["is_interruptible", "is_erasable", "action_equivalent"],
)


@DECISIONS
def test_time_is_limited(decide):
    """No answer is none: neither True nor False."""
    began = time.monotonic()
    with (
        these_operations(SLOW),
        pytest.raises(UnsupportedError, match=r"not decided within timeout=0\.5"),
    ):
        decide(timeout=0.5)
    assert time.monotonic() - began < SOON


@DECISIONS
def test_ctrl_c(decide):
    """A notebook gets its kernel back."""

    def press():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with these_operations(SLOW), pytest.raises(KeyboardInterrupt):
        decide()


@DECISIONS
def test_answers(decide):
    """The same with time as without."""
    assert decide(timeout=SOON) is decide() is False
