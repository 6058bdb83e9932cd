"""A simulation in words: what standard output and the terminal application show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import counted, quoted_name, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.simulation.simulation import Simulation
    from ltlpipe.verdict.lasso import LassoStep

MOST_VALUES = 60
"""Components or variables of a state that are shown by default."""

MOST_LISTED = 40
"""Enabled steps that are listed by default."""

_MOST_MOVES = 8  # of a step
_MOST_LETTERS = 400  # of a residual formula


def moves_text(step: LassoStep) -> str:
    """Describe the moves of a step, with source and target."""
    shown = [
        f"{visible(name)}: {visible(str(old))} -> {visible(str(new))}"
        for name, old, new in step.moves[:_MOST_MOVES]
    ]
    left = len(step.moves) - _MOST_MOVES
    return ", ".join(shown) + (f", and {left} more" if left > 0 else "")


def value_text(value: Any) -> str:
    """Return the state of a component, or a value."""
    return quoted_name(str(value))


def state_text(simulation: Simulation, *, most: int | None = MOST_VALUES) -> str:
    """Return the state in one line."""
    values = [*simulation.state.items()]
    shown = [
        f"{quoted_name(name)}={value_text(value)}" for name, value in values[:most]
    ]
    text = " ".join(shown)
    left = len(values) - len(shown)
    return f"{text} ... ({left:,} more; state prints all)" if left else text


def residual_text(simulation: Simulation) -> str:
    """Describe the residual formula."""
    text = visible(str(simulation.residual))
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]} ..."


def violation_text(simulation: Simulation) -> str | None:
    """Return since when the formula cannot be satisfied any more."""
    number = simulation.bad_prefix
    if number is None:
        return None
    return (
        f"violated by the first {counted(number, 'step')}: no continuation satisfies it"
    )


def lasso_text(simulation: Simulation) -> str | None:
    """Describe the position of the run on its lasso, or off it."""
    lengths = simulation.lasso_length
    if lengths is None:
        return None
    if not simulation.on_lasso:
        return f"off the lasso since step {simulation.n_on_lasso + 1:,}"
    step = simulation.next_on_lasso
    if step is None:
        return "at the end of the lasso"
    prefix, cycle = lengths
    taken = simulation.n_steps
    part = f"prefix of {prefix:,}"
    number = taken + 1
    if taken >= prefix:
        number = (taken - prefix) % cycle + 1
        part = f"cycle of {cycle:,}"
    return f"on the lasso; next is {visible(step.action)}, step {number:,} of a {part}"


def mark_of(step: LassoStep, expected: LassoStep | None) -> str:
    """Return the marks of an enabled step.

    They are ``>`` if the lasso continues with it, ``*`` if a proposition holds.
    """
    return (">" if step == expected else " ") + ("*" if step.holds else " ")


def nothing_text(simulation: Simulation) -> str | None:
    """Describe why no steps are listed, or how many more there are."""
    if simulation.is_deadlock:
        after = ", and repeats itself for ever" if simulation.enabled else ""
        return f"deadlock: the state has no successors{after}"
    if not simulation.enabled:
        name = quoted_name(simulation.name_filter)
        return f"no enabled step is like {name}: filter lists all again"
    return None


def enabled_lines(
    simulation: Simulation, *, most: int | None = MOST_LISTED
) -> list[str]:
    """Return the enabled steps, numbered from 1."""
    steps = simulation.enabled
    expected = simulation.next_on_lasso
    about = nothing_text(simulation)
    lines = [] if about is None else [about]
    names = [visible(step.action) for step in steps[:most]]
    width = max(map(len, names), default=0)
    for number, (name, step) in enumerate(zip(names, steps, strict=False), start=1):
        mark = mark_of(step, expected)
        lines.append(f"{number:4} {mark} {name:{width}}  {moves_text(step)}".rstrip())
    left = len(steps) - len(names)
    if left or simulation.has_more:
        more = f"{left:,} more" if left else "more"
        if left and simulation.has_more:
            more = f"more than {left:,} more"
        lines.append(
            f"     ... {more}: filter TEXT lists those with TEXT in their names"
        )
    return lines


def overview(simulation: Simulation) -> str:
    """Describe the state, the residual formula, and the enabled steps."""
    lines = [f"after {counted(simulation.n_steps, 'step')}: {state_text(simulation)}"]
    if simulation.accepting:
        names = " ".join(map(quoted_name, simulation.accepting))
        lines.append(f"accepting: {names}")
    if simulation.formula is not None:
        lines.append(f"left: {residual_text(simulation)}")
    about: Iterable[str | None] = violation_text(simulation), lasso_text(simulation)
    lines += filter(None, about)
    return "\n".join([*lines, *enabled_lines(simulation)])


def history_lines(simulation: Simulation) -> list[str]:
    """Return the steps up to here, numbered from 1; ``!`` marks the bad prefix."""
    lines = []
    for number, step in enumerate(simulation.history, start=1):
        bad = "!" if number == simulation.bad_prefix else " "
        mark = bad + ("*" if step.holds else " ")
        lines.append(f"{number:4} {mark} {visible(step.action)}  {moves_text(step)}")
    return [line.rstrip() for line in lines] or ["no steps yet"]
