"""The property of a question, and which of its names the system has.

Runs are fair to sets of actions: those of each component, or those that the user names.

Ample sets need a property that is interruptible, and its automaton in normal form;
component reduction also needs to know whether it is erasable (docs/erasable.md).

Source: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020: ample sets are sound for properties that depend on their
visible actions only, with an automaton in interrupt normal form (Theorem 3).
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.conditions import MAX_MARKS, STRONG, Fairness, fairness_to
from ltlpipe.automata.interrupts import first_violation, interruptible_table, norm
from ltlpipe.logic.readings import read_as_operators
from ltlpipe.question.options import NEVER
from ltlpipe.runtime.errors import (
    FormulaError,
    UnknownNameError,
    UnsupportedError,
    warn,
)
from ltlpipe.runtime.jobs import StoppedError, TooMuchWorkError, bounded
from ltlpipe.runtime.names import listed, nearest
from ltlpipe.systems.networks.lts import END, Network

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.options import Options
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model

MEANT = " (--unknown=never treats it as never happening)"

_TRUTHS = ("==", "<", "<=", "!", "&&", "||")
_SUSPECT = re.compile(r"[=<>!&|(]")
_SHOWN = 3  # actions that a message offers


@dataclass(frozen=True)
class Property:
    """A property: a formula, an automaton, or none (any run).

    Parameters
    ----------
    formula : Formula, optional
        Shall hold on every run.
    violations : spot.twa_graph, optional
        Accepts the runs that shall not be.
    name : str, optional
        What an automaton is called.
    declared : tuple of str, optional
        Of an automaton that is made of a formula: its actions; see `Formula.alphabet`.
    """

    formula: Formula | None = None
    violations: Any = None
    name: str | None = None
    declared: tuple[str, ...] | None = None

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The actions that are known not to happen where a system lacks them."""
        formula = self.formula
        return (self.declared if formula is None else formula.alphabet) or ()

    @property
    def propositions(self) -> tuple[str, ...]:
        """The propositions that it names, sorted."""
        if self.formula is not None:
            return self.formula.propositions
        if self.violations is not None:
            return tuple(sorted(p.ap_name() for p in self.violations.ap()))
        return ()

    @property
    def text(self) -> str:
        """What is asked, as somebody has to know who asks it again."""
        if self.formula is not None:
            return self.formula.text
        return "--empty" if self.is_trivial else str(self.violations.to_str("hoa"))

    @property
    def is_trivial(self) -> bool:
        """Whether any accepting run of the system counts (``--empty``)."""
        return self.formula is None and self.violations is None

    @property
    def has_fin(self) -> bool:
        """Whether it is an automaton whose acceptance has Fin."""
        if self.violations is None:
            return False
        return bool(self.violations.acc().uses_fin_acceptance())


def known_actions(system: Network, asked: Property, options: Options) -> list[str]:
    """Return the propositions that are actions of a system.

    Raises
    ------
    UnknownNameError
        There are others, which the formula's file does not declare either, or visible
        actions that neither the system nor the property has, unless
        ``options.unknown`` is "never": then there is a warning.
    FormulaError
        One compares values, as if the network had variables.
    """
    index = system.action_index
    _refuse_state_propositions(asked.propositions, index, asked.formula)
    names = asked.propositions
    told = {*index, END} if options.finite else {*index}
    told.update(asked.alphabet)
    unknown = [name for name in names if name not in told]
    if unknown:
        message = f"no action of the system is called {_listed(unknown)}"
        hidden = {a.name for a in system.actions if a.internal}.intersection(unknown)
        if hidden:
            message = f"no formula can name what is internal: {_listed(sorted(hidden))}"
            refuse_unknown(message, min(hidden), (), asked, options, advice="")
        else:
            refuse_unknown(message, unknown[0], index, asked, options)
    if options.visible is not None:
        known = {*index, *names}
        stray = [name for name in options.visible_actions or [] if name not in known]
        if stray:
            message = (
                "no action of the system and no proposition of the automaton is "
                f"called {_listed(stray)}, which --visible names"
            )
            refuse_unknown(message, stray[0], known, Property(), options, "ignored")
    return [name for name in names if name in told]


def known_names(
    names: Collection[str], asked: Property, options: Options, what: str
) -> list[str]:
    """Return the propositions that are names of a system, which are `what`.

    Raises
    ------
    UnknownNameError
        There are others, as for `known_actions`.
    """
    unknown = [name for name in asked.propositions if name not in names]
    if unknown:
        message = f"no {what} of the system is called {_listed(unknown)}"
        refuse_unknown(message, unknown[0], names, asked, options)
    return [name for name in asked.propositions if name in names]


def refuse_unknown(
    message: str,
    name: str,
    known: Iterable[str],
    asked: Property,
    options: Options,
    otherwise: str = "never true",
    advice: str = MEANT,
) -> None:
    """Refuse an unknown name, or warn of it if ``unknown`` is "never".

    Parameters
    ----------
    message : str
        The message.
    name : str
        The first unknown name.
    known : iterable of str
        The known names; the nearest are suggested.
    otherwise : str
        How it is treated if it is not refused.
    advice : str
        What to do if it is meant.
    """
    formula = asked.formula
    if options.unknown == NEVER:
        if formula is not None and formula.file is not None:
            message += f" ({formula.where})"
        warn(f"{message}: {otherwise}")
        return
    text = formula.text if formula else options.visible or "(automaton)"
    if read := read_as_operators(text, name):
        advice = f" ({read}){advice}"
    raise UnknownNameError(
        f"{message}{nearest(name, known)}{advice}",
        formula=text,
        position=_place_of(name, text),
        file=formula.file if formula else asked.name,
        line=formula.line if formula else None,
    )


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))


def _place_of(proposition: str, text: str) -> int | None:
    """Return the position of a proposition in a text, if it occurs literally."""
    found = re.search(rf"(?<!\w){re.escape(proposition)}(?!\w)", text)
    return None if found is None else found.start()


def _refuse_state_propositions(
    propositions: Iterable[str], actions: Collection[str], formula: Formula | None
) -> None:
    """Refuse comparisons of values among the propositions that name no action.

    A proposition of a network names an action: ``send >= 1`` or ``P_1=="CS"`` cannot be
    a mistyped name, so it is refused whatever ``unknown`` says.

    Parameters
    ----------
    propositions : iterable of str
        What a property names; those that are actions are passed over.
    actions : collection of str
        What the network's actions are called.
    formula : Formula, optional
        Where they come from, if not from an automaton.

    Raises
    ------
    FormulaError
        Says what to write instead.
    """
    for text in propositions:
        expression = None if text in actions else _about_states(text)
        if expression is None:
            continue
        names = list(_names(expression))
        named = [name for name in names if name in actions]
        known = [repr(name) for name in named or islice(actions, _SHOWN)]
        offered = f", such as {listed(known)}" if known else ""
        written = formula.text if formula else text
        places = [place for n in names if (place := written.find(n)) >= 0]
        raise FormulaError(
            f"{text} is about states, but a network has actions and no variables; "
            f"write the name of an action{offered}, which is true at the steps that "
            "take it",
            formula=written,
            position=min(places, default=None),
            file=formula.file if formula else None,
            line=formula.line if formula else None,
        )


def _about_states(text: str) -> Expression | None:
    """Return the operands of a comparison; None if it can only be a name."""
    if not _SUSPECT.search(text):
        return None
    from ltlpipe.logic.propositions.parsing import parse_proposition
    from ltlpipe.logic.propositions.syntax import Call, Operation, Remote

    try:
        found = parse_proposition(text)
    except FormulaError:  # a label such as "PUT !1"
        return None
    compares = isinstance(found, Operation) and found.operator in _TRUTHS
    return found if compares or isinstance(found, (Call, Remote)) else None


def _names(expression: Expression) -> Iterator[str]:
    """Yield the names and texts in an expression, from left to right."""
    from ltlpipe.logic.propositions.syntax import Call, Element, Name, Operation, Text

    if isinstance(expression, Operation):
        for operand in expression.operands:
            yield from _names(operand)
    elif isinstance(expression, Element):
        yield expression.array
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _names(argument)
    elif isinstance(expression, Name):
        yield expression.text
    elif isinstance(expression, Text):
        yield expression.value


class FairSet(NamedTuple):
    """Actions that a run is fair to."""

    name: str  # for people
    actions: frozenset[int]  # as indices into those of the system


def fair_sets(system: Network | Model, options: Options) -> list[FairSet]:
    """Return the sets that a run has to be fair to; none without ``--fairness``.

    Unless sets are named, there is one for each component, for each process of a model,
    and for each transition of a net.

    Raises
    ------
    UnsupportedError
        An action does not exist, or there are more sets than marks.
    """
    if options.fairness is None:
        return []
    most = MAX_MARKS // 2 if options.fairness == STRONG else MAX_MARKS
    parts = _parts(system)
    if options.fair_sets:
        sets = [s for text in options.fair_sets for s in _named(system, parts, text)]
    else:
        sets = parts or _single(system, range(len(system.actions)))
    if len(sets) > most:
        raise UnsupportedError(
            f"--fairness={options.fairness} takes at most {most} sets, here are "
            f"{len(sets)}: name some with --fair-sets=A,B"
        )
    return sets


def _parts(system: Network | Model) -> list[FairSet]:
    """Return the actions of each component or process; a shared one is of each."""
    if isinstance(system, Network):
        names = [f"component {i}" for i in range(1, len(system.components) + 1)]
        members = [action.participants for action in system.actions]
    else:
        names = list(system.processes)
        place = {name: number for number, name in enumerate(names)}
        members = [
            tuple(place[name] for name in system.movers(action))
            for action in (range(system.n_actions) if names else ())
        ]
    own: list[set[int]] = [set() for _ in names]
    for number, who in enumerate(members):
        for part in who:
            own[part].add(number)
    return [FairSet(*both) for both in zip(names, map(frozenset, own), strict=True)]


def _single(system: Network | Model, numbers: Iterable[int]) -> list[FairSet]:
    """Return a set for each of some actions: those that share a name are kept apart."""
    if isinstance(system, Network):
        names = tuple(action.name for action in system.actions)
    else:
        names = system.actions
    return [FairSet(names[k], frozenset((k,))) for k in numbers]


def _by_name(system: Network | Model) -> Mapping[str, Collection[int]]:
    """Return the actions by their names; several of a model may share one."""
    if isinstance(system, Network):
        return {name: (number,) for name, number in system.action_index.items()}
    return system.vocabulary.actions


def _named(
    system: Network | Model, parts: Sequence[FairSet], text: str
) -> list[FairSet]:
    """Return the sets that a text names.

    Names with commas between are one set.  A name or pattern that stands alone is a set
    for each component or process that has it, or else for each action that fits it.
    """
    actions = _by_name(system)
    if text.strip() in actions:  # whatever commas and stars it has
        return [FairSet(text, frozenset(actions[text.strip()]))]
    called = [{part.name} for part in parts]
    if isinstance(system, Network):
        called = [
            c | {lts.name} for c, lts in zip(called, system.components, strict=True)
        ]
    found = []
    for word in (part.strip() for part in text.split(",")):
        meant = [
            part
            for part, names in zip(parts, called, strict=True)
            if word not in actions and _fitting(word, names)
        ]
        if not meant:
            own = {k for n in _fitting(word, actions) for k in actions[n]}
            meant = _single(system, sorted(own))
        if not meant:
            known = {*actions}.union(*called)
            raise UnsupportedError(
                f"--fair-sets={text!r}: no action of the system is called {word!r}"
                + nearest(word, known)
            )
        found.append(meant)
    if len(found) == 1:
        return found[0]
    together = (part.actions for meant in found for part in meant)
    return [FairSet(text, frozenset().union(*together))]


def _fitting(word: str, known: Collection[str]) -> list[str]:
    """Return the names that are a word, or fit it as a pattern."""
    return [word] if word in known else fnmatch.filter(known, word)


def fairness_of(system: Network | Model, options: Options) -> Fairness | None:
    """Return the marks of fairness, or None without ``--fairness``.

    Raises
    ------
    UnsupportedError
        As `fair_sets`.
    """
    sets = fair_sets(system, options)
    if not sets:
        return None
    strong = options.fairness == STRONG
    return fairness_to([s.actions for s in sets], len(system.actions), strong=strong)


_SECONDS = 5.0
"""CPU time for the decision; a property without an answer is not reduced."""

NOT_BUCHI = "the automaton has more than one mark on states, or marks on transitions"
"""Why there are no ample sets: normal forms need one mark on states at most."""


FOLLOWING = "what the automaton can do next is preserved in each of its states"
"""Why stubborn sets of nets may be used (`ltlpipe.por.net_sets`)."""


@dataclass(frozen=True)
class Decision:
    """Whether ample sets may be used, and why or why not."""

    allowed: bool
    reason: str  # for people


def decision_of(
    jobs: Iterable[Job[bool]], subject: str, kind: str, seconds: float = _SECONDS
) -> Job[Decision]:
    """Decide whether a subject, such as a formula, is of a kind, such as weak.

    It is if one of some jobs says so; each may take so many seconds of CPU time.
    """
    answer = None
    for job in jobs:
        answer = yield from _answered(job, seconds)
        if answer:
            break
    if answer is None:
        why = f"deciding whether the property is {kind} takes too long"
        return Decision(False, why)
    return Decision(answer, f"the {subject} is {'' if answer else 'not '}{kind}")


def decide_formula(formula: Formula) -> Job[Decision]:
    """Decide whether a formula depends only on the actions that it names."""
    from ltlpipe.logic.classes import syntactic_class
    from ltlpipe.logic.interruptible import interruptible_formula

    try:
        if "intrpt" in syntactic_class(formula.spot):
            return Decision(True, "the formula is interruptible by its syntax")
        jobs = [interruptible_formula(formula)]
    except UnsupportedError as error:
        return Decision(False, str(error))
    return (yield from decision_of(jobs, "formula", "interruptible"))


def decide_automaton(table: PropertyAutomaton, visible: Sequence[int]) -> Job[Decision]:
    """Decide whether a Büchi automaton depends only on its visible letters."""
    if first_violation(table, visible) is None:  # Prop. 6
        return Decision(True, "the automaton is in interrupt normal form")
    jobs = [interruptible_table(table, visible)]
    return (yield from decision_of(jobs, "automaton", "interruptible"))


def normalised(table: PropertyAutomaton, visible: Sequence[int]) -> PropertyAutomaton:
    """Return a table in interrupt normal form, the same if it is so already."""
    if first_violation(table, visible) is None:
        return table
    return norm(table, visible)


def _answered(job: Job[bool], seconds: float) -> Job[bool | None]:
    """Return the decision of a job, or None if it takes too much CPU time or fails."""
    try:
        answer = yield from bounded(job, seconds * 1e6)
        return bool(answer)
    except (TooMuchWorkError, StoppedError, UnsupportedError, RuntimeError):
        return None
