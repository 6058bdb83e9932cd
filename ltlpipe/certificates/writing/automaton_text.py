"""A property automaton as certificates have it: HOA with spelled-out labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.automata.conditions import generalised_buchi, marks_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton


def hoa_of(
    table: PropertyAutomaton, propositions: Sequence[str], *, over_states: bool
) -> str:
    """Return a table in HOA.

    Each label is a disjunction of conjunctions, and each of these says of every
    proposition whether it holds.

    Parameters
    ----------
    table : PropertyAutomaton
        Its letters tell no marks of the system.
    propositions : sequence of str
        Those of its letters.
    over_states : bool
        Whether letter i is the set of the propositions k for all bits k of i; else
        letter k + 1 is proposition k alone, and letter 0 none.
    """
    condition = table.condition
    if condition is None:
        condition = generalised_buchi(table.n_marks)
    names = " ".join(_quoted(name) for name in propositions)
    return "\n".join(
        [
            "HOA: v1",
            f"States: {table.n_states}",
            f"Start: {table.initial}",
            f"AP: {len(propositions)} {names}".rstrip(),
            f"Acceptance: {table.n_marks} {condition}",
            "properties: trans-labels explicit-labels trans-acc",
            "--BODY--",
            *_body(table, len(propositions), over_states=over_states),
            "--END--",
            "",
        ]
    )


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _body(
    table: PropertyAutomaton, n_propositions: int, *, over_states: bool
) -> Iterator[str]:
    cubes = [
        _cube(letter if over_states else 1 << letter >> 1, n_propositions)
        for letter in range(table.n_letters)
    ]
    for state in range(table.n_states):
        yield f"State: {state}"
        labels: dict[tuple[int, int], list[str]] = {}
        for letter, cube in enumerate(cubes):
            at = state * table.n_letters + letter
            edges = slice(int(table.first_edge[at]), int(table.first_edge[at + 1]))
            for dst, marks in zip(
                table.edge_dst[edges].tolist(),
                table.edge_marks[edges].tolist(),
                strict=True,
            ):
                labels.setdefault((dst, marks), []).append(cube)
        for (dst, marks), parts in labels.items():
            label = " | ".join(dict.fromkeys(parts))
            carried = " ".join(map(str, marks_in(marks)))
            yield f"[{label}] {dst}" + (f" {{{carried}}}" if marks else "")


def _cube(holding: int, n_propositions: int) -> str:
    literals = [f"{'' if holding >> k & 1 else '!'}{k}" for k in range(n_propositions)]
    return "&".join(literals) or "t"
