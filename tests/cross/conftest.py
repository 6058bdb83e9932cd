"""Thousands of small questions: their translations need no process of their own."""

from __future__ import annotations

import pytest

from ltlpipe.verdict import translating


@pytest.fixture(autouse=True, scope="module")
def translate_at_home():
    """Translate in this process; `tests.automata.test_bounded` has the other way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translating, "call_bounded", lambda work, **_: work())
        yield
