"""Thousands of small questions: what Spot is asked needs no process of its own."""

from __future__ import annotations

import pytest

from ltlpipe.verdict import interruptible, model_task, stuttering, translating


@pytest.fixture(autouse=True, scope="module")
def ask_spot_at_home():
    """Ask it in this process; `tests.automata.test_bounded` has the other way."""
    with pytest.MonkeyPatch.context() as patch:
        for asking in (interruptible, model_task, stuttering, translating):
            patch.setattr(asking, "call_bounded", lambda work, **_: work())
        yield
