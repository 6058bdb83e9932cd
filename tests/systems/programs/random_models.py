"""Random DVE models, with everything that the language has."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

# What may fail is rare, or most models would stop at once.
ARITHMETIC = [*("+", "-", "*", "&", "|", "^") * 2, "<<", ">>", "/", "%"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
LOGICAL = ["&&", "||", "and", "or", "imply"]
NUMBERS = st.one_of(
    st.integers(0, 4), st.sampled_from([7, 31, 32, 127, 255, 256, 32767, 65536])
)


@st.composite
def expressions(draw, names, depth=2):
    """An expression over variables, in parentheses throughout."""
    kind = draw(st.integers(0, 9))
    if depth == 0 or kind < 2:
        if draw(st.booleans()):
            return str(draw(NUMBERS))
        return draw(st.sampled_from(names.scalars + names.tests))
    inner = expressions(names, depth - 1)
    if kind == 2 and names.sizes:
        return draw(elements(names, depth - 1))
    if kind == 3:
        return f"{draw(st.sampled_from(['-', '~', 'not ']))}({draw(inner)})"
    operators = ARITHMETIC if kind < 6 else COMPARISONS if kind < 8 else LOGICAL
    return f"({draw(inner)} {draw(st.sampled_from(operators))} {draw(inner)})"


class Names(NamedTuple):
    """What expressions of a process may name."""

    scalars: list
    tests: list
    targets: list
    sizes: list  # of arrays: name and size


@st.composite
def elements(draw, names, depth, writable=False):
    """An element of an array, mostly one that there is."""
    array, size = draw(st.sampled_from(names.sizes[: 2 if writable else None]))
    index = draw(expressions(names, depth))
    kind = draw(st.integers(0, 5))
    if kind < 2:
        index = draw(st.integers(0, size - 1))
    elif kind < 5:
        index = f"({index} & 32767) % {size}"
    return f"{array}[{index}]"


@st.composite
def targets(draw, names):
    """A variable or an element of an array."""
    if draw(st.integers(0, 2)) == 0:
        return draw(elements(names, 1, writable=True))
    return draw(st.sampled_from(names.targets))


@st.composite
def transitions(draw, n_states, names, channels):
    """One transition."""
    states = st.integers(0, n_states - 1)
    text = f"s{draw(states)} -> s{draw(states)} {{"
    guard = draw(st.integers(0, 4))
    if guard == 0:
        text += f" guard {draw(expressions(names))};"
    elif guard < 3:
        operator = draw(st.sampled_from(COMPARISONS))
        text += f" guard {draw(targets(names))} {operator} {draw(NUMBERS)};"
    if channels and draw(st.booleans()):
        name, parts = draw(st.sampled_from(channels))
        mark = draw(st.sampled_from("!?"))
        part = expressions(names, 1) if mark == "!" else targets(names)
        values = [draw(part) for _ in range(parts)]
        listed = values[0] if parts == 1 else f"{{{', '.join(values)}}}"
        text += f" sync {name}{mark}{listed if parts else ''};"
    assignments = []
    for _ in range(draw(st.integers(0, 3))):
        target, value = draw(targets(names)), draw(expressions(names))
        if draw(st.booleans()):  # keeps what is reached small, but moving
            value = (
                f"({target} + {draw(st.integers(1, 3))}) % {draw(st.integers(2, 5))}"
            )
        assignments.append(f"{target} = {value}")
    if assignments:
        text += f" effect {', '.join(assignments)};"
    return text + " }"


@st.composite
def models(draw):
    """The text of a model of up to three processes."""
    synchronous = draw(st.integers(0, 4)) == 0
    n_processes = draw(st.integers(1, 3))
    n_states = [draw(st.integers(1, 3)) for _ in range(n_processes)]
    size = draw(st.integers(1, 5))
    kind = draw(st.sampled_from(["byte", "int"]))
    lines = [
        f"const int LIMIT = {draw(st.integers(-3, 9))};",
        "const byte table[3] = {2, 0, 1};",
        f"byte a = {draw(st.integers(0, 255))}, b;",
        f"int c = {draw(st.integers(-32768, 32767))};",
        f"{kind} t[{size}] = {{{draw(st.integers(0, 9))}}};",
    ]
    channels = []
    if not synchronous:
        capacity = draw(st.integers(0, 3))
        lines += [
            "channel plain, values;",
            f"channel {{byte}} bytes[{capacity}];",
            f"channel {{int, byte}} pairs[{draw(st.integers(0, 2))}];",
        ]
        channels = [("plain", 0), ("values", 1), ("bytes", 1), ("pairs", 2)]
    tests = [f"P{p}.s{s}" for p in range(n_processes) for s in range(n_states[p])]
    for p in range(n_processes):
        foreign = [f"P{q}->x" for q in range(n_processes)]
        names = Names(
            ["a", "b", "c", "x", "y", "LIMIT", f"t[{size - 1}]", *foreign],
            tests,
            ["a", "b", "c", "x", "y"],
            [("t", size), ("u", 2), ("table", 3)],
        )
        lines.append(f"process P{p} {{ byte x = {draw(st.integers(0, 3))}; int y;")
        lines.append(
            f"byte u[2]; state {', '.join(f's{s}' for s in range(n_states[p]))};"
        )
        lines.append(f"init s{draw(st.integers(0, n_states[p] - 1))};")
        if draw(st.integers(0, 3)) == 0:
            lines.append(f"commit s{draw(st.integers(0, n_states[p] - 1))};")
        moves = draw(
            st.lists(transitions(n_states[p], names, channels), min_size=3, max_size=7)
        )
        lines.append("trans " + ",\n  ".join(moves) + "; }")
    lines.append(f"system {'sync' if synchronous else 'async'};")
    return "\n".join(lines)
