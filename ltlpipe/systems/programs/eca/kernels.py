"""The kernel that enumerates the states of a program, breadth first.

A state is a row of words with a field for each variable.  The rules that may fire in
it are found by a decision tree over the values of variables; the leaf that is reached
has the rules that its path leaves possible, in the program's order, each with the
literals that the path does not decide.  A rule that fires leaves some fields as they
are, sets others to constants, and has code for the rest.

Tables (int64, but for words):

- `tree`: an inner node is a variable, the number k of children, k - 1 cuts, and the
  places of the children; a leaf is -1, the number of rules, and for each of them its
  number, the length of what follows, and for each literal a variable, the number of
  spans, and the bounds of each;
- `rules`, by `At`, and `masks`: which fields each leaves, and the constants;
- `code`: operations of a stack machine (`Op`), with their operands behind them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, njit
from ltlpipe.runtime.kernels.rows import hash_row, same_row
from ltlpipe.systems.programs.kernels import divided, remainder, wrapped


class Op(IntEnum):
    """Operations; operands are those behind them, then those on the stack."""

    END = 0
    CONSTANT = 1  # its value
    LOAD = 2  # a variable
    STORE = 3  # a variable; the value
    SET = 4  # a variable, its value
    JUMP = 5  # numbers that are passed over
    UNLESS = 6  # numbers that are passed over if the value is 0; the value
    LOOKUP = 7  # the place of an array in `data`, its length; the index
    OUT = 8  # a variable, whose field is written
    OUT_REGION = 9  # the same, the place of n cuts and n + 1 values in `data`, n
    MINUS = 10
    NOT = 11
    PLUS = 16
    LESS = 17  # a difference
    TIMES = 18
    DIVIDE = 19
    REMAINDER = 20
    IS = 21
    IS_NOT = 22
    BELOW = 23
    UP_TO = 24
    ABOVE = 25
    FROM = 26


class At(IntEnum):
    """The columns of `rules`."""

    INPUTS = 0  # bits
    OUTPUT = 1  # its number, or -1
    CODE = 2  # place of the code
    CONDITION = 3  # place of code that leaves a truth; -1 without


class Reg(IntEnum):
    """The scalars that outlive a call."""

    STORED = 0  # states known
    EXPANDED = 1
    STEPS = 2
    LEVEL_END = 3  # the first state of the next level
    DEPTH = 4  # levels that are complete
    LIMIT = 5  # states at which no more are expanded
    INITIAL = 6  # state at which a step begins


class Status(IntEnum):
    """How a call ended."""

    RUNNING = 0  # the budget is spent
    GROW = 1  # an array is full; the call can be repeated
    DONE = 2
    LIMIT = 3


class Tables(NamedTuple):
    """The rules of a program, with n_words words in a row."""

    tree: np.ndarray  # int64
    rules: np.ndarray  # int64[n_rules, len(At)]
    kept: np.ndarray  # uint64[n_rules, n_words]
    constants: np.ndarray  # uint64[n_rules, n_words]
    code: np.ndarray  # int64
    data: np.ndarray  # int64, arrays; cuts and values of regions
    fields: np.ndarray  # int64[n_variables, 4]: word, shift, mask, least value
    inputs: np.ndarray  # int64[n_inputs]


class Space(NamedTuple):
    """What is found: n states with room for m, and the steps."""

    rows: np.ndarray  # uint64[m + 1, n_words]; the row behind the last is at work
    slots: np.ndarray  # uint32[a power of two], a state's number + 1
    first: np.ndarray  # int64[m + 1], where the steps of each state begin
    label: np.ndarray  # int16[s, 2], input and output by numbers
    target: np.ndarray  # int32[s]
    values: np.ndarray  # int64[2, n_variables + 2], of the state and at work
    stack: np.ndarray  # int64[deepest]


@inlined
def number_of(space, registers):
    """Return the number of the row behind the last, which becomes a state."""
    rows, slots = space.rows, space.slots
    new = registers[Reg.STORED]
    at = np.int64(hash_row(rows, new) & np.uint64(slots.shape[0] - 1))
    while True:
        known = np.int64(slots[at]) - 1
        if known < 0:
            slots[at] = np.uint32(new + 1)
            registers[Reg.STORED] = new + 1
            return new
        if same_row(rows, known, rows, new):
            return known
        at = (at + 1) & (slots.shape[0] - 1)


@inlined
def put(tables, space, row, variable, value):
    """Write a field of the row at work, whose bits are 0."""
    fields = tables.fields
    bits = np.uint64(value - fields[variable, 3]) & np.uint64(fields[variable, 2])
    space.rows[row, fields[variable, 0]] |= bits << np.uint64(fields[variable, 1])


@inlined
def binary(op, a, b):
    """Return the result of an operation; the divisor is not 0."""
    if op == Op.PLUS:
        return wrapped(a + b)
    if op == Op.LESS:
        return wrapped(a - b)
    if op == Op.TIMES:
        return wrapped(a * b)
    if op == Op.DIVIDE:
        return divided(a, b)
    if op == Op.REMAINDER:
        return remainder(a, b)
    if op == Op.IS:
        return np.int64(a == b)
    if op == Op.IS_NOT:
        return np.int64(a != b)
    if op == Op.BELOW:
        return np.int64(a < b)
    if op == Op.UP_TO:
        return np.int64(a <= b)
    if op == Op.ABOVE:
        return np.int64(a > b)
    return np.int64(a >= b)


@inlined
def place_above(numbers, low, high, value):
    """Return the first place from `low` to `high` of a number above a value.

    Numbers ascend; it is `high` if none is above.
    """
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@called
def execute(tables, space, at, row):
    """Run the code at a place on the values at work; fields go to a row.

    Returns the value that it leaves on the stack, 1 if none; -1 if it has failed.
    """
    code, data, values, stack = tables.code, tables.data, space.values, space.stack
    top = 0
    while True:
        op = code[at]
        if op == Op.END:
            return stack[0] if top else np.int64(1)
        if op >= Op.PLUS:
            top -= 1
            b = stack[top]
            if b == 0 and (op == Op.DIVIDE or op == Op.REMAINDER):
                return np.int64(-1)
            stack[top - 1] = binary(op, stack[top - 1], b)
            at += 1
        elif op == Op.CONSTANT:
            stack[top] = code[at + 1]
            top += 1
            at += 2
        elif op == Op.LOAD:
            stack[top] = values[1, code[at + 1]]
            top += 1
            at += 2
        elif op == Op.STORE:
            top -= 1
            values[1, code[at + 1]] = stack[top]
            at += 2
        elif op == Op.SET:
            values[1, code[at + 1]] = code[at + 2]
            at += 3
        elif op == Op.OUT:
            variable = code[at + 1]
            put(tables, space, row, variable, values[1, variable])
            at += 2
        elif op == Op.OUT_REGION:
            variable, place, n_cuts = code[at + 1], code[at + 2], code[at + 3]
            value = values[1, variable]
            low = place_above(data, place, place + n_cuts, value)
            put(tables, space, row, variable, data[low + n_cuts])
            at += 4
        elif op == Op.LOOKUP:
            index = stack[top - 1]
            if index < 0 or index >= code[at + 2]:
                return np.int64(-1)
            stack[top - 1] = data[code[at + 1] + index]
            at += 3
        elif op == Op.JUMP:
            at += 2 + code[at + 1]
        elif op == Op.UNLESS:
            top -= 1
            at += 2
            if stack[top] == 0:
                at += code[at - 1]
        elif op == Op.MINUS:
            stack[top - 1] = wrapped(-stack[top - 1])
            at += 1
        else:
            stack[top - 1] = np.int64(stack[top - 1] == 0)
            at += 1


@inlined
def allows(tree, at, end, values):
    """Whether the literals from one place of a leaf to another hold."""
    while at < end:
        value = values[0, tree[at]]
        n_spans = tree[at + 1]
        at += 2
        holds = False
        for k in range(n_spans):
            if tree[at + 2 * k] <= value and value <= tree[at + 2 * k + 1]:
                holds = True
                break
        if not holds:
            return False
        at += 2 * n_spans
    return True


@inlined
def leaf_of(tree, values):
    """Return the place of the leaf of a state."""
    at = np.int64(0)
    while tree[at] >= 0:
        value, n_children = values[0, tree[at]], tree[at + 1]
        low = place_above(tree, at + 2, at + 1 + n_children, value)
        at = tree[low + n_children - 1]
    return at


@called
def fire(tables, space, registers, state, rule, taken):
    """Add the steps of a state by a rule, for inputs that are not taken yet."""
    values, rows = space.values, space.rows
    output = tables.rules[rule, At.OUTPUT]
    for k in range(tables.inputs.shape[0]):
        if not taken >> k & 1:
            continue
        for v in range(values.shape[1]):
            values[1, v] = values[0, v]
        values[1, 0] = tables.inputs[k]
        row = registers[Reg.STORED]
        for w in range(rows.shape[1]):
            own = rows[state, w] & tables.kept[rule, w]
            rows[row, w] = own | tables.constants[rule, w]
        if execute(tables, space, tables.rules[rule, At.CODE], row) < 0:
            continue
        step = registers[Reg.STEPS]
        space.label[step, 0] = k
        space.label[step, 1] = output
        space.target[step] = number_of(space, registers)
        registers[Reg.STEPS] = step + 1


@inlined
def expand(tables, space, registers, state):
    """Add all steps of a state."""
    values, fields, tree, rules = space.values, tables.fields, tables.tree, tables.rules
    for v in range(fields.shape[0]):
        bits = space.rows[state, fields[v, 0]] >> np.uint64(fields[v, 1])
        values[0, v] = np.int64(bits & np.uint64(fields[v, 2])) + fields[v, 3]
    at = leaf_of(tree, values)
    n_rules = tree[at + 1]
    at += 2
    free = (np.int64(1) << tables.inputs.shape[0]) - 1
    for _ in range(n_rules):
        rule, length = tree[at], tree[at + 1]
        at += 2
        taken = rules[rule, At.INPUTS] & free
        if taken and allows(tree, at, at + length, values):
            holds = True
            if rules[rule, At.CONDITION] >= 0:
                for v in range(values.shape[1]):
                    values[1, v] = values[0, v]
                place = rules[rule, At.CONDITION]
                holds = execute(tables, space, place, np.int64(0)) != 0
            if holds:
                free &= ~taken
                if rules[rule, At.OUTPUT] >= 0:
                    fire(tables, space, registers, state, rule, taken)
                if free == 0:
                    break
        at += length


@inlined
def lacks_room(tables, space, registers):
    """Whether what the steps of one more state lead to might not fit."""
    n_inputs = tables.inputs.shape[0]
    room = min(space.rows.shape[0] - 1, space.slots.shape[0] // 2)
    lacks = registers[Reg.STORED] + n_inputs > room
    return lacks or registers[Reg.STEPS] + n_inputs > space.target.shape[0]


@njit
def enumerate_step(tables, space, registers, budget):
    """Expand at most `budget` states, changing `space` and `registers`; a Status."""
    while budget > 0:
        state = registers[Reg.EXPANDED]
        if state == registers[Reg.STORED]:
            return np.int64(Status.DONE)
        if state == registers[Reg.LEVEL_END]:
            registers[Reg.LEVEL_END] = registers[Reg.STORED]
            registers[Reg.DEPTH] += 1
        if registers[Reg.STORED] >= registers[Reg.LIMIT]:
            return np.int64(Status.LIMIT)
        if lacks_room(tables, space, registers):
            return np.int64(Status.GROW)
        space.first[state] = registers[Reg.STEPS]
        expand(tables, space, registers, state)
        registers[Reg.EXPANDED] = state + 1
        space.first[state + 1] = registers[Reg.STEPS]
        budget -= 1
    return np.int64(Status.RUNNING)


@njit
def expand_listed(tables, space, registers, states, spans, begin, end):
    """Expand the states that are listed from one place to before another.

    `spans` (int64[2, n]) become the first step of each, and that behind the last.
    Returns the place at which there was no room left.
    """
    for k in range(begin, end):
        if lacks_room(tables, space, registers):
            return np.int64(k)
        spans[0, k] = registers[Reg.STEPS]
        expand(tables, space, registers, states[k])
        spans[1, k] = registers[Reg.STEPS]
    return np.int64(end)


@njit
def enter_rows(space, begin, end):
    """Enter the rows from one to before another into slots."""
    slots = space.slots
    for state in range(begin, end):
        at = np.int64(hash_row(space.rows, state) & np.uint64(slots.shape[0] - 1))
        while slots[at] != 0:
            at = (at + 1) & (slots.shape[0] - 1)
        slots[at] = np.uint32(state + 1)


@njit
def join_steps(machine, number, steps, halves, begin, end, n_halves):
    """Make two steps of each one from the states from `begin` to before `end`.

    Between them is a state for each target and output, in the order of their first use.

    machine : (int64[n + 1], int16[m, 2], int32[m]), its `first`, `label` and `target`
    number : int32[n_outputs], the label of each output
    steps : int32[3, >= 2m], sources, labels and targets; the m first steps come first
    halves : (int32[n], int32[m]), the state between that was met last for each target,
        and the one before it; -1 at the end

    Returns how many states between there are, which were `n_halves`.
    """
    first, label, target_of = machine
    last, before = halves
    n, m = len(last), len(before)
    for state in range(begin, end):
        for step in range(first[state], first[state + 1]):
            target = target_of[step]
            output = number[label[step, 1]]
            half = np.int64(last[target])
            while half >= 0 and steps[1, m + half] != output:
                half = np.int64(before[half])
            if half < 0:
                half = n_halves
                n_halves += 1
                before[half] = last[target]
                last[target] = half
                steps[0, m + half] = n + half
                steps[1, m + half] = output
                steps[2, m + half] = target
            steps[0, step] = state
            steps[1, step] = label[step, 0]
            steps[2, step] = n + half
    return n_halves
