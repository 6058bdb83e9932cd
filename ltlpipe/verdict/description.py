"""Descriptions of systems: sizes, names, the initial state, example formulas.

A system is explored in plain Python, breadth first, as far as is cheap: that tells the
reachable states and a nearest deadlock of a small system.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.generating import quoted
from ltlpipe.logic.propositions.syntax import escaped
from ltlpipe.runtime.errors import RoomError, UnsupportedError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import (
    TooLargeError,
    component_names,
    named_steps_of,
    plain_steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.graph import SpotGraph
    from ltlpipe.systems.models import System

MAX_STATES = 20_000
"""States that are explored."""
_MOST_WORK = 3e6  # units, each about a microsecond, until exploring is not cheap

_ELEMENT = re.compile(r"[^\W\d][\w.]*\[\d+\]")
_WORK = 20.0  # units of a step, roughly


@dataclass
class Description:
    """What can be said of a system without a question.

    Attributes
    ----------
    kind, name : str
        What it is, and what it is called.
    sizes : dict of str to int
        How many components, actions, variables, ... it has.
    components : list of dict
        Name, states, transitions and initial state of each component of a network.
    actions : dict of str to list of str
        The actions that formulas can name, with the components that take part.
    variables : tuple of str
        What formulas can speak of besides: variables, places, propositions.
    initial : dict of str to str or int
        The initial state.
    n_states : int
        The states that were explored.
    is_complete : bool
        Whether these are all that can be reached.
    deadlock : int or None
        Steps to a nearest deadlock, if there is one among them.
    formulas : tuple of str
        Examples that can be asked about the system.
    about : tuple of str
        What else there is to say.
    """

    kind: str
    name: str
    sizes: dict[str, int]
    components: list[dict[str, Any]] = field(default_factory=list)
    actions: dict[str, list[str]] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    initial: dict[str, Any] = field(default_factory=dict)
    n_states: int = 0
    is_complete: bool = False
    deadlock: int | None = None
    formulas: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


def description_job(system: System) -> Job[Description]:
    """Return the job that describes a system."""
    if isinstance(system, Network):
        told = _of_network(system)
    elif isinstance(system, Model):
        told = _of_model(system)
    else:
        told = _of_graph(system)
    if isinstance(system, Network) and system.lacks is not None:
        told.about = (*told.about, f"incomplete: {system.lacks}")
        return told  # whose states may have steps that are not known
    yield from _explore(system, told)
    return told


def _of_network(network: Network) -> Description:
    names = component_names(network)
    parts = [
        {
            "name": name,
            "states": lts.n_states,
            "transitions": lts.n_transitions,
            "initial": lts.state_name(lts.initial),
            "accepting": None if lts.accepting is None else int(lts.accepting.sum()),
        }
        for name, lts in zip(names, network.components, strict=True)
    ]
    actions = {
        action.name: [names[i] for i in action.participants]
        for action in network.actions
        if not action.internal
    }
    n_internal = sum(action.internal for action in network.actions)
    shared = sum(len(who) > 1 for who in actions.values())
    sizes = {"component": len(parts), "action": len(actions), "shared action": shared}
    sizes["internal action"] = n_internal
    one, more = "LTS", "LTSs"
    if network.has_acceptance:
        one, more = "Büchi automaton", "Büchi automata"
    return Description(
        kind=one if len(parts) == 1 else f"network of {more}",
        name=network.name,
        sizes=sizes,
        components=parts,
        actions=actions,
        initial=named_steps_of(network).shown(named_steps_of(network).initial()),
        formulas=_about_letters([quoted(name) for name in actions]),
    )


def _of_model(model: Model) -> Description:
    is_net = not model.processes and not hasattr(model, "program")
    is_promela = model.ends_validly is not None
    language = "Promela" if is_promela else "DVE"
    kind = "Petri net" if is_net else f"{language} model"
    shown = model.shown(model.initial())
    sizes = model._sizes()  # with the variable of errors, which is not shown
    return Description(
        kind="symmetric net" if model.has_colours else kind,
        name=model.name,
        sizes={n: len(shown) if n == "variable" else k for n, k in sizes.items()},
        variables=tuple(shown),
        initial=shown,
        formulas=_about_states(model, shown),
        about=model.about,
    )


def _of_graph(graph: SpotGraph) -> Description:
    kind = "Kripke structure"
    if not graph.is_kripke:
        kind = f"automaton with the acceptance {graph.graph.get_acceptance()}"
    return Description(
        kind=kind,
        name=graph.name,
        sizes={**graph._sizes(), "proposition": len(graph.propositions)},
        variables=graph.propositions,
        initial={"state": graph.initial},
        formulas=_about_letters([quoted(name) for name in graph.propositions]),
    )


def _about_states(model: Model, shown: dict[str, Any]) -> tuple[str, ...]:
    """Return formulas about one or two variables, and an action of a net."""
    known = [name for name in (*model.processes, *shown) if name in shown]
    if model.only_stuttering:
        known = [n for n in known if n not in model.processes and ":" not in n]
    if not known:
        return ("G !deadlock", "F deadlock")
    first, second = (_test(name, shown[name]) for name in (known[0], known[:2][-1]))
    found = ["G !deadlock", f"G F {first}", f"G ({first} -> F !{first})"]
    found.append(f"{first} U !{second}")
    if not model.processes and model.n_actions and model.is_unfolded:
        return (*found, f"G F fireable({escaped(model.actions[0])})")
    return (*found, f"F G !{first}")


def _test(name: str, value: int | str) -> str:
    """Return the proposition that a variable has a value."""
    spelt = name if _ELEMENT.fullmatch(name) else escaped(name)
    shown = value if isinstance(value, int) else f'"{value}"'
    return f"({spelt} == {shown})"


def _about_letters(names: list[str]) -> tuple[str, ...]:
    """Return formulas about one or two letters; none if there are none."""
    if not names:
        return ()
    a, b = names[0], names[1 % len(names)]
    if a == b:
        return (f"G F {a}", f"F {a}", f"F G !{a}", f"G !({a} & X {a})", f"G {a}")
    patterns = "G F {a}", "G ({a} -> F {b})", "!{b} W {a}", "F G !{a}", "{a} R !{b}"
    return tuple(pattern.format(a=a, b=b) for pattern in patterns)


def _explore(system: System, told: Description) -> Job[None]:
    """Note how many states can be reached, and a nearest deadlock."""
    if isinstance(system, Model):
        if not (system.is_unfolded or getattr(system, "is_small", False)):
            return
        system = yield from system.for_question(()).unfolding()
    try:
        view = plain_steps_of(system)
    except TooLargeError:
        return
    depth: dict[Hashable, int] = {view.initial(): 0}
    states = [*depth]
    work = whole = 0.0
    for place, state in enumerate(states):  # it grows
        told.n_states = len(states)
        try:
            steps = view.steps(state)
        except RoomError as error:
            yield from _explore(error.roomier(), told)
            return
        except (TooLargeError, UnsupportedError):  # more processes than allowed
            return
        if not steps and told.deadlock is None:
            told.deadlock = depth[state]
        for step in steps:
            if step.state not in depth:
                depth[step.state] = depth[state] + 1
                states.append(step.state)
        work += view.cost + _WORK * len(steps)
        whole += view.cost + _WORK * len(steps)
        if len(states) > MAX_STATES or whole > _MOST_WORK:
            return
        if place % 64 == 0:
            yield Progress("exploring", work)
            work = 0.0
    told.n_states, told.is_complete = len(states), True
