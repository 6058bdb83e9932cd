"""The automaton of a certificate: HOA with labels that are spelled out.

Of HOA what certificates use: explicit labels on transitions, each a disjunction of
conjunctions of literals, and acceptance on transitions.  What an acceptance condition
means, and that clauses cover it, is decided here as well.

Source of the format: T. Babiak et al., "The Hanoi Omega-Automata Format", CAV 2015.

Fairness as marks, as certificates have it.

Of the k-th set of actions: weak fairness has mark k on the steps that take it and on
those that leave a state in which it is not enabled, and asks for ``Inf(k)``; strong
fairness has mark 2k on the steps that leave a state in which it is enabled and mark
2k + 1 on those that take it, and asks for ``Fin(2k)|Inf(2k+1)``.  All of that behind
the marks of the automaton and of the system.
"""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.conditions import (
    TRUE,
    Condition,
    Op,
    conjunction,
    fin,
    inf,
    marks_in,
    parse_condition,
)
from ltlpipe.certificates.checking.document import MAX_MARKS, RefusedError
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.certificates.checking.document import Clause
    from ltlpipe.systems.models import Model

_MAX_CLAUSES = 1 << 16
_MOST_COMPARED = 1 << 24

_HEADERS = {"States", "Start", "AP", "acc-name", "Acceptance", "properties"}
_PROPERTIES = {"trans-labels", "explicit-labels", "trans-acc"}  # Spot believes others
_AP = re.compile(r'"((?:[^"\\]|\\.)*)"')
_EDGE = re.compile(r"\[([^\]]*)\]\s*(\d+)(?:\s*\{([\d\s]*)\})?")
_PROPOSITIONS = re.compile(r"^AP:.*$", re.MULTILINE)


class Edge(NamedTuple):
    """A transition: on which letters, where it leads, and its marks as bits."""

    cubes: tuple[tuple[int, int], ...]  # each: propositions that hold, that do not
    dst: int
    marks: int

    def reads(self, letter: int) -> bool:
        """Whether a letter, a set of propositions as bits, takes it."""
        return any(
            letter & positive == positive and letter & negative == 0
            for positive, negative in self.cubes
        )


class Automaton(NamedTuple):
    """An automaton over sets of propositions."""

    initial: int
    propositions: tuple[str, ...]
    n_marks: int
    condition: Condition
    edges: list[list[Edge]]  # of each state

    def successors(self, letter: int) -> list[list[tuple[int, int]]]:
        """Return for each state where a letter leads, and with which marks."""
        return [
            [(edge.dst, edge.marks) for edge in own if edge.reads(letter)]
            for own in self.edges
        ]

    def text(self) -> str:
        """Return it in HOA: what Spot judges is no more than what was read."""
        names = [re.sub(r'(["\\])', r"\\\1", name) for name in self.propositions]
        lines = [
            "HOA: v1",
            f"States: {len(self.edges)}",
            f"Start: {self.initial}",
            " ".join([f"AP: {len(names)}", *(f'"{name}"' for name in names)]),
            f"Acceptance: {self.n_marks} {self.condition}",
            "--BODY--",
        ]
        for state, own in enumerate(self.edges):
            lines.append(f"State: {state}")
            for cubes, dst, marks in own:
                label = " | ".join(_told(*cube) for cube in cubes)
                told = " ".join(map(str, marks_in(marks)))
                lines.append(f"[{label}] {dst} {{{told}}}")
        return "\n".join([*lines, "--END--\n"])


def _told(positive: int, negative: int) -> str:
    """Return a cube as HOA has it."""
    literals = [f"{k}" for k in marks_in(positive)]
    literals += [f"!{k}" for k in marks_in(negative)]
    return "&".join(literals) or "t"


def propositions_in(text: str) -> tuple[str, ...]:
    """Return the propositions that an automaton in HOA, as Spot writes it, names."""
    listed = _PROPOSITIONS.search(text)
    found = [] if listed is None else _AP.findall(listed[0])
    return tuple(re.sub(r"\\(.)", r"\1", name) for name in found)


def read_automaton(text: str) -> Automaton:
    """Read an automaton.

    Raises
    ------
    RefusedError
        `text` is none of the kind that certificates have.
    """
    head, found, rest = text.partition("--BODY--\n")
    body, ended, behind = rest.partition("--END--")
    if not found or not ended or behind.strip() or not head.startswith("HOA: v1\n"):
        raise RefusedError("the automaton is not in HOA")
    lines = head.split("\n")[1:]
    fields = dict(line.partition(":")[::2] for line in lines[:-1])
    if len(fields) < len(lines) - 1 or lines[-1] or not fields.keys() <= _HEADERS:
        raise RefusedError("the automaton has a header twice, or an unknown one")
    if not {*fields.get("properties", "").split()} <= _PROPERTIES:
        raise RefusedError("the automaton claims properties that nobody has checked")
    try:
        n_states = int(fields["States"])
        initial = int(fields["Start"])
        n_marks, _, condition = fields["Acceptance"].strip().partition(" ")
        count = int(fields["AP"].split()[0])
        names = propositions_in("AP:" + fields["AP"])
        if _AP.sub("", fields["AP"]).split() != [str(count)]:
            raise ValueError
        edges = _edges(body, n_states, len(names), int(n_marks))
        accepts = parse_condition(condition)
    except (KeyError, IndexError, ValueError, LtlpipeError):
        raise RefusedError("the automaton is not in the HOA of certificates") from None
    if count != len(names) or len(set(names)) != count:
        raise RefusedError("the automaton names its propositions wrongly")
    if not 0 <= initial < n_states or not 0 <= int(n_marks) <= MAX_MARKS:
        raise RefusedError("the automaton has no initial state, or too many marks")
    if accepts.n_marks > int(n_marks):
        raise RefusedError("the acceptance condition has marks that there are not")
    return Automaton(initial, names, int(n_marks), accepts, edges)


def _edges(
    body: str, n_states: int, n_propositions: int, n_marks: int
) -> list[list[Edge]]:
    lines = body.splitlines()
    if not 0 < n_states <= len(lines):  # each has a line of its own
        raise ValueError
    edges: list[list[Edge]] = [[] for _ in range(n_states)]
    own: list[Edge] | None = None
    for line in lines:
        if line.startswith("State:"):
            state = int(line.removeprefix("State:"))
            if state < 0:
                raise ValueError
            own = edges[state]
            continue
        parsed = _EDGE.fullmatch(line)
        if parsed is None or own is None:
            raise ValueError
        dst, marks = int(parsed[2]), {int(m) for m in (parsed[3] or "").split()}
        if dst >= n_states or not marks <= set(range(n_marks)):
            raise ValueError
        cubes = tuple(_cube(part, n_propositions) for part in parsed[1].split("|"))
        own.append(Edge(cubes, dst, bits_of(marks)))
    return edges


def _cube(text: str, n_propositions: int) -> tuple[int, int]:
    """Return the propositions that hold and those that do not, as bits."""
    positive = negative = 0
    if text.strip() == "t":
        return 0, 0
    for part in text.split("&"):
        literal = part.strip()
        number = int(literal.removeprefix("!"))
        if not 0 <= number < n_propositions:
            raise ValueError
        if literal.startswith("!"):
            negative |= 1 << number
        else:
            positive |= 1 << number
    return positive, negative


def uncovered(condition: Condition, clauses: Iterable[Clause]) -> str | None:
    """Return a way to satisfy a condition that no clause covers; None if there is none.

    Raises
    ------
    RefusedError
        That would take too long to find out.
    """
    known = {(bits_of(clause.fin), bits_of(clause.inf)) for clause in clauses}
    others = [clause for clause in _distributed(condition) if clause not in known]
    if len(known) * len(others) > _MOST_COMPARED:
        raise RefusedError("there are too many clauses")
    for fins, infs in others:
        if not any(f & ~fins == 0 and i & ~infs == 0 for f, i in known):
            parts = [f"Fin({m})" for m in marks_in(fins)]
            parts += [f"Inf({m})" for m in marks_in(infs)]
            return "&".join(parts) or "t"
    return None


def _distributed(condition: Condition) -> list[tuple[int, int]]:
    """Return the clauses of a condition that do not contradict themselves."""
    if condition.op == Op.INF:
        return [(0, 1 << condition.mark)]
    if condition.op == Op.FIN:
        return [(1 << condition.mark, 0)]
    if condition.op == Op.OR:
        found = [c for part in condition.parts for c in _distributed(part)]
        return list(dict.fromkeys(found))
    if condition.op == Op.TRUE:
        return [(0, 0)]
    if condition.op == Op.FALSE:
        return []
    clauses = [(0, 0)]
    for part in condition.parts:
        more = _distributed(part)
        if len(clauses) * len(more) > _MAX_CLAUSES:
            raise RefusedError("the acceptance condition has too many clauses")
        joined = ((f | g, i | j) for f, i in clauses for g, j in more)
        clauses = list(dict.fromkeys(c for c in joined if not c[0] & c[1]))
    return clauses


def bits_of(marks: Iterable[int]) -> int:
    """Return the integer with these bits."""
    return sum(1 << mark for mark in {*marks})


class Fairness(NamedTuple):
    """The marks of fairness, from 0 on; sets of them are bits."""

    n_marks: int
    condition: Condition
    idle: int  # where nothing is enabled and nothing taken
    enabled: list[int]  # of each action: marks that change where it is enabled
    taken: list[int]  # marks of a step that takes it


def fairness_of(
    system: Network | Model, kind: str | None, named: Sequence[str]
) -> Fairness:
    """Return the marks of a kind of fairness, "weak", "strong" or None.

    Raises
    ------
    RefusedError
        A set names an action that there is not.
    """
    n_actions = len(system.actions)
    enabled, taken = [0] * n_actions, [0] * n_actions
    if kind is None:
        return Fairness(0, TRUE, 0, enabled, taken)
    sets = _sets(system, named)
    strong = kind == "strong"
    if len(sets) * (1 + strong) > 32:
        raise RefusedError("there are too many sets of fairness")
    conditions = []
    for k, actions in enumerate(sets):
        here, done = (2 * k, 2 * k + 1) if strong else (k, k)
        conditions.append(fin(here) | inf(done) if strong else inf(done))
        for action in actions:
            enabled[action] |= 1 << here
            taken[action] |= 1 << done
    n_marks = len(sets) * (1 + strong)
    idle = 0 if strong else (1 << n_marks) - 1
    return Fairness(n_marks, conjunction(conditions), idle, enabled, taken)


def _sets(system: Network | Model, named: Sequence[str]) -> list[set[int]]:
    """Return the sets that ``--fair-sets`` names, or those of each part."""
    parts = _parts(system)
    if named:
        return [own for text in named for own in _meant(system, parts, text)]
    return [own for _, own in parts] or [{k} for k in range(len(system.actions))]


def _parts(system: Network | Model) -> list[tuple[set[str], set[int]]]:
    """Return names and actions of each component or process; a net has none."""
    if isinstance(system, Network):
        found: list[tuple[set[str], set[int]]] = [
            ({f"component {i}", lts.name}, set())
            for i, lts in enumerate(system.components, start=1)
        ]
        for number, action in enumerate(system.actions):
            for i in action.participants:
                found[i][1].add(number)
        return found
    own: dict[str, set[int]] = {name: set() for name in system.processes}
    for number in range(len(system.actions)) if own else ():
        for name in system.movers(number):
            own[name].add(number)
    return [({name}, actions) for name, actions in own.items()]


def _called(system: Network | Model) -> dict[str, set[int]]:
    """Return the actions by their names, internal ones left out."""
    if not isinstance(system, Network):
        return {name: {*own} for name, own in system.vocabulary.actions.items()}
    named = enumerate(system.actions)
    return {action.name: {k} for k, action in named if not action.internal}


def _meant(
    system: Network | Model, parts: list[tuple[set[str], set[int]]], text: str
) -> list[set[int]]:
    """Return the sets that a text means: one, if it has several names."""
    known, found = _called(system), []
    if text.strip() in known:
        return [known[text.strip()]]
    for word in map(str.strip, text.split(",")):
        meant = [own for names, own in parts if word not in known and _fit(word, names)]
        if not meant:
            fitting = {k for name in _fit(word, known) for k in known[name]}
            meant = [{k} for k in sorted(fitting)]
        if not meant:
            raise RefusedError(f"fairness names an action {word!r} that is not")
        found.append(meant)
    if len(found) == 1:
        return found[0]
    return [{k for meant in found for own in meant for k in own}]


def _fit(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that a word is, or that fit it as a pattern."""
    names = [*names]
    return [word] if word in names else fnmatch.filter(names, word)
