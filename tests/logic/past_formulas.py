"""Random formulas of finite words and of the past, and their meaning by definition."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

UNARY = ("!", "X", "X[!]", "F", "G")
BINARY = ("&", "|", "->", "<->", "U", "R", "W", "M")
PAST_UNARY = ("Y", "Z", "O", "H")
PAST_BINARY = ("S", "T")


def trees(names="ab", *, past=False, finite=True, max_leaves=6):
    """Nested tuples of an operator and operands."""
    unary = [u for u in UNARY + PAST_UNARY * past if finite or u != "X[!]"]
    binary = BINARY + PAST_BINARY * past
    return st.recursive(
        st.sampled_from([*names, "1", "0"]),
        lambda part: st.one_of(
            st.tuples(st.sampled_from(unary), part),
            st.tuples(st.sampled_from(binary), part, part),
        ),
        max_leaves=max_leaves,
    )


def text_of(tree, names=()):
    """The formula as people write it, fully bracketed, with other names maybe."""
    if isinstance(tree, str):
        return dict(names).get(tree, tree)
    parts = [f"({text_of(part, names)})" for part in tree[1:]]
    if len(parts) == 1:
        return f"{tree[0]} {parts[0]}"
    return f"{parts[0]} {tree[0]} {parts[1]}"


def is_true(tree, word, i=0):
    """Whether a formula holds at a position of a finite word, or at its end."""
    n = len(word)
    if isinstance(tree, str):
        return tree == "1" or (tree != "0" and i < n and tree in word[i])
    operator, a, b = tree[0], tree[1], tree[-1]

    def at(part, j):
        return is_true(part, word, j)

    later, before = range(i, n), range(min(i, n - 1), -1, -1)
    if operator == "!":
        return not at(a, i)
    if operator in ("X", "X[!]"):
        return at(a, i + 1) if i + 1 < n else operator == "X"
    if operator in "FG":
        return (any if operator == "F" else all)(at(a, j) for j in later)
    if operator == "&":
        return at(a, i) and at(b, i)
    if operator == "|":
        return at(a, i) or at(b, i)
    if operator == "->":
        return not at(a, i) or at(b, i)
    if operator == "<->":
        return at(a, i) == at(b, i)
    if operator == "U":
        return any(at(b, j) and all(at(a, k) for k in range(i, j)) for j in later)
    if operator == "W":
        return is_true(("U", a, b), word, i) or is_true(("G", a), word, i)
    if operator == "R":
        return is_true(("W", b, ("&", a, b)), word, i)
    if operator == "M":
        return is_true(("U", b, ("&", a, b)), word, i)
    if operator in "YZ":
        return at(a, i - 1) if 0 < i < n else operator == "Z"
    if operator in "OH":
        return (any if operator == "O" else all)(at(a, j) for j in before)
    if operator == "S":
        return any(
            at(b, j) and all(at(a, k) for k in range(j + 1, i + 1)) for j in before
        )
    assert operator == "T"
    return not is_true(("S", ("!", a), ("!", b)), word, i)


def is_true_on_lasso(tree, prefix, cycle):
    """Whether a formula holds at the beginning of ``prefix cycle cycle ...``.

    Nested operators of the past repeat themselves one round later each.
    """
    depth = sum(str(tree).count(f"'{operator}'") for operator in "YZOHST")
    stable = len(prefix) + len(cycle) * (depth + 1)

    def letter(i):
        return prefix[i] if i < len(prefix) else cycle[(i - len(prefix)) % len(cycle)]

    @cache
    def at(tree, i):
        while i >= stable + len(cycle):
            i -= len(cycle)
        if isinstance(tree, str):
            return tree == "1" or (tree != "0" and tree in letter(i))
        operator, a, b = tree[0], tree[1], tree[-1]
        later = range(i, max(i, stable) + len(cycle))
        if operator in ("!", "&", "|", "->", "<->"):
            left, right = at(a, i), at(b, i)
            return {
                "!": not left,
                "&": left and right,
                "|": left or right,
                "->": not left or right,
                "<->": left == right,
            }[operator]
        if operator == "X":
            return at(a, i + 1)
        if operator in "FG":
            return (any if operator == "F" else all)(at(a, j) for j in later)
        if operator == "U":
            return any(at(b, j) and all(at(a, k) for k in range(i, j)) for j in later)
        if operator in "WRM":
            return {
                "W": lambda: at(("U", a, b), i) or at(("G", a), i),
                "R": lambda: at(("W", b, ("&", a, b)), i),
                "M": lambda: at(("U", b, ("&", a, b)), i),
            }[operator]()
        if operator in "YZ":
            return at(a, i - 1) if i else operator == "Z"
        if operator in "OH":
            return (any if operator == "O" else all)(at(a, j) for j in range(i + 1))
        if operator == "S":
            return any(
                at(b, j) and all(at(a, k) for k in range(j + 1, i + 1))
                for j in range(i + 1)
            )
        return not at(("S", ("!", a), ("!", b)), i)

    return at(tree, 0)
