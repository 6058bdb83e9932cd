"""What the compiler does not see: how the sources use kernels."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "ltlpipe"
PARTS = {"called", "inlined", "specialised"}
KERNELS = PARTS | {"njit"}


def decorators(function):
    """Names of the plain decorators of a function."""
    return {d.id for d in function.decorator_list if isinstance(d, ast.Name)}


def functions(tree, kinds):
    """The functions of a module that carry one of some decorators."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and decorators(node) & kinds
    ]


def calls(tree):
    """Names that a module calls outside of kernels, or gives another name."""
    inside = {node for kernel in functions(tree, KERNELS) for node in ast.walk(kernel)}
    used = [
        node.func
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node not in inside
    ]
    used += [node.value for node in tree.body if isinstance(node, ast.Assign)]
    return {node.id for node in used if isinstance(node, ast.Name)}


def imported(tree):
    """What a module calls what it imports: (module, name) to its own name."""
    return {
        (node.module, alias.name): alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_no_python_code_calls_a_part_of_a_kernel():
    """Parts have no wrapper that Python could call: the call would crash."""
    trees = {}
    for path in PACKAGE.rglob("*.py"):
        dotted = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        trees[dotted] = ast.parse(path.read_text(encoding="utf-8"))
    parts = [
        (module, part.name)
        for module, tree in trees.items()
        for part in functions(tree, PARTS)
    ]
    assert len(parts) > 50
    callers = set()
    for where, tree in trees.items():
        known, called = imported(tree), calls(tree)
        for module, name in parts:
            own = name if where == module else known.get((module, name))
            if own in called:
                callers.add(where)
    # The exceptions are compiled by their addresses, with what they call.
    expanding = {
        "tests.symmetry.sets.explicit",
        "ltlpipe.symmetry.sets.inclusion",
        "ltlpipe.symmetry.sets.product",
        "ltlpipe.systems.successor_kernels",
        "ltlpipe.systems.networks.packing_kernels",
        "ltlpipe.systems.nets.kernels",
        "ltlpipe.systems.programs.machine_kernels",
    }
    assert callers <= expanding
