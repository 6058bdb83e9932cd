"""One setting scales all random tests: none names its own number."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import settings

from tests.example_counts import FEWEST, examples

TESTS = Path(__file__).parent


def test_every_number_of_examples_is_scaled():
    """A literal would be drawn by the quick tests, too: write `examples(300)`."""
    unscaled = []
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.keyword) or node.arg != "max_examples":
                continue
            called = isinstance(node.value, ast.Call) and ast.unparse(node.value.func)
            if called != "examples" and path.name != "conftest.py":
                unscaled.append(f"{path.relative_to(TESTS)}:{node.value.lineno}")
    assert not unscaled


def test_scaling():
    """In proportion, but a few stay, and none is added."""
    percent = settings.default.max_examples
    assert examples(1000) == 10 * percent
    assert examples(2) == 2
    assert examples(30) >= FEWEST
