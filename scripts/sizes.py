"""Print how large the package is: lines of code and modules per room, types of runs.

Lines of code are what is left without docstrings, comments, blank lines, imports and
``__all__``.

    python scripts/sizes.py [PACKAGE]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

REDUCTIONS = ("por", "symmetry", "decoupled", "components")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(text: str) -> int:
    """Return how many lines of a module are code."""
    lines = text.splitlines()
    code = {number for number, line in enumerate(lines, 1) if line.strip()}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
            code.discard(token.start[0])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            _discard(code, node.body[0])
        elif isinstance(node, ast.Import | ast.ImportFrom) or _is_all(node):
            _discard(code, node)
    return len(code)


def _discard(code: set[int], node: ast.AST) -> None:
    code -= set(range(node.lineno, node.end_lineno + 1))  # type: ignore[attr-defined]


def _is_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(
        getattr(target, "id", None) == "__all__" for target in node.targets
    )


def run_types(text: str) -> list[str]:
    """Return the classes of a module that are called runs, lassos, traces or tracks."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
        and node.name.endswith(("Run", "Lasso", "Trace", "Track"))
    ]


def main() -> None:
    """Print the tables."""
    package = Path(sys.argv[1] if len(sys.argv) > 1 else "ltlpipe")
    modules: Counter[str] = Counter()
    code: Counter[str] = Counter()
    runs: list[str] = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).parts
        room = parts[0] if len(parts) > 1 else "."
        text = path.read_text(encoding="utf-8")
        modules[room] += 1
        code[room] += code_lines(text)
        runs += run_types(text)
    for room, lines in code.most_common():
        print(f"{room:14} {modules[room]:4} modules {lines:6} lines of code")
    print(f"{'all':14} {modules.total():4} modules {code.total():6} lines of code")
    found = ", ".join(f"{room} {modules[room]}" for room in REDUCTIONS)
    print(f"modules per reduction: {found}")
    print(f"types of runs: {len(runs)} ({', '.join(sorted(runs))})")


if __name__ == "__main__":
    main()
