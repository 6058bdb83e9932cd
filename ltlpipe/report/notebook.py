"""Display of verdicts, lassos, systems and property automata in Jupyter.

HTML with a table, or a picture of small objects if Graphviz is installed
(`ltlpipe.report.graphs`); lassos with a sequence chart (`ltlpipe.report.chart`); long
tables are abbreviated.  The classes ask for it through `ltlpipe.runtime.objects`.
"""

from __future__ import annotations

import html
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.report import graphs
from ltlpipe.report.chart import Chart, framed
from ltlpipe.report.chart_rows import kept
from ltlpipe.report.layouts import html_table, why_html
from ltlpipe.report.palette import ON_WHITE
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.names import counted
from ltlpipe.simulation.session import nothing_text, violation_text
from ltlpipe.simulation.simulation import Simulation
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.verdict.checking import EmptinessResult
from ltlpipe.verdict.lasso import MOST_STEPS, FiniteRun, Lasso
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED, Vacuity, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.verdict.lasso import LassoStep

MOST_ROWS = 24
"""Rows of a table that are shown, at least."""

_MOST_MOVES = 6  # components or variables of a step
_MOST_NAMES = 12  # actions in a line
_NAME = 60  # characters


@singledispatch
def html_of(subject: Any) -> str:
    """Return the HTML of an object; text from input is escaped."""
    raise TypeError(f"a {type(subject).__name__} has no HTML display")


def svg_of(subject: Any) -> str | None:
    """Return a picture of an object; None where no picture is possible."""
    if isinstance(subject, Lasso):
        return Chart(subject).svg
    if isinstance(subject, PropertyAutomaton):
        graph = graphs.automaton_graph(subject)
    elif isinstance(subject, (LTS, Network)):
        parts = [subject] if isinstance(subject, LTS) else subject.components
        graph = graphs.lts_graph(parts)
    else:
        return None
    return None if graph is None else graphs.svg_of_graph(graph)


@html_of.register
def _verdict_html(subject: Verdict) -> str:
    word, why = _marked(subject.verdict, subject.verdict), _because(subject.reason)
    formula = "" if subject.formula is None else f" {_code(subject.formula)}"
    about = f"<p>{word}{why}:{formula} on {_code(subject.system or 'a system')}</p>"
    run = subject.lasso or subject.finite_run
    lasso = "" if run is None else html_of(run)
    vacuity = "" if subject.vacuity is None else _vacuity_html(subject.vacuity)
    return f"<div>{about}\n{_facts(subject)}\n{vacuity}{lasso}</div>"


def _marked(verdict: str, text: str) -> str:
    """Return a text in the colour of a verdict.

    Notebooks may be dark: the background is white, as for plots.
    """
    colour = ON_WHITE.get(verdict, ON_WHITE[UNKNOWN])
    look = f"color: {colour}; background: #ffffff; padding: 0 0.2em"
    return f'<strong style="{look}">{html.escape(text)}</strong>'


def _because(reason: str | None) -> str:
    return f" ({html.escape(reason)})" if reason else ""


def _vacuity_html(found: Vacuity) -> str:
    """Return whether a formula holds vacuously, and the run that shows it does not."""
    if found.vacuous is None:
        return f"<p>vacuity undecided{_because(found.reason)}</p>"
    if found.vacuous:
        part = _code(found.part or "")
        return f"<p>vacuously: {part} could be {str(found.value).lower()}</p>"
    if found.witness is None or found.witness_part is None:
        return "<p>not vacuously</p>"
    matters = _code(found.witness_part)
    shown = f"<p>not vacuously; in this run {matters} matters:</p>"
    return shown + html_of(found.witness)


def _facts(verdict: Verdict) -> str:
    plan, stats = verdict.plan, verdict.stats
    facts = {
        "options": verdict.configuration,
        "strategy": plan.strategy,
        "automaton": plan.automaton,
        "search": plan.emptiness,
        "reductions": ", ".join(plan.reductions) or "none",
        "states": None if stats.states is None else f"{stats.states:,}",
        "transitions": None if stats.transitions is None else f"{stats.transitions:,}",
        "seconds": f"{stats.seconds:.3f}",
        "MiB": None if stats.memory_mib is None else f"{stats.memory_mib:.3f}",
        "seen": None if stats.coverage is None else f"{stats.coverage:.2%}",
    }
    known = {name: value for name, value in facts.items() if value is not None}
    return html_table([*known], [[*known.values()]])


@html_of.register
def _lasso_html(subject: Lasso) -> str:
    names = subject.action_names
    first = len(subject.prefix)
    changes = "what changes" if subject.has_valuations else "who moves"
    rows = []
    for step in kept(len(names), MOST_ROWS, [first]):
        row = ["…", "", "", ""]
        if step is not None:
            part = "cycle" if step >= first else "prefix"
            moves = _moves_of(subject.steps[step])
            row = [str(step + 1), part, _name(names[step]), moves]
        rows.append(row)
    about = (
        f"<p>Lasso: {counted(first, 'step')}, then {len(subject.cycle)} for ever</p>"
    )
    if isinstance(subject, FiniteRun):
        about = f"<p>Finite run ({subject.kind}): {counted(first, 'step')}</p>"
    table = html_table(["step", "part", "action", changes], rows)
    listed = f"<details><summary>The steps as a table</summary>\n{table}</details>"
    picture = framed(Chart(subject).svg)
    return f"<div>{about}\n{picture}\n{_why(subject)}{listed}</div>"


def _why(lasso: Lasso) -> str:
    """Return why a run violates its formula, where that can be said in a moment."""
    if len(lasso.actions) > MOST_STEPS:
        return ""
    try:
        table = why_html(lasso.explanation())
    except UnsupportedError:
        return ""
    return f"<details><summary>Why it is violated</summary>\n{table}</details>\n"


def _moves_of(step: LassoStep) -> str:
    """Return which components or variables a step changes, and how."""
    moves = [m for m in step.moves if m.before != m.after]
    shown = [
        f"{_name(name)}: {_name(str(old))} → {_name(str(new))}"
        for name, old, new in moves[:_MOST_MOVES]
    ]
    if len(moves) > _MOST_MOVES:
        shown.append(f"… {len(moves) - _MOST_MOVES} more")
    return ", ".join(shown)


@html_of.register
def _simulation_html(subject: Simulation) -> str:
    number = subject.n_steps
    about = f"<p>Simulation of {_code(subject.system.name or 'a system')}"
    about += f" after {counted(number, 'step')}</p>"
    if subject.formula is not None:
        left, lost = _code(str(subject.residual)), violation_text(subject)
        about += f"<p>left of {_code(subject.formula)}: {left}</p>"
        about += "" if lost is None else f"<p>{lost}</p>"
    half = MOST_ROWS // 2
    state = [[_name(n), _name(str(value))] for n, value in subject.state.items()]
    table = html_table(["state", ""], state[:half])
    table += _rest(len(state) - half, "value")
    enabled = subject.enabled
    rows = [
        [str(k), _name(step.action), _moves_of(step)]
        for k, step in enumerate(enabled[:half])
    ]
    head = ["", "enabled step", "who moves"]
    nothing = html.escape(nothing_text(subject) or "")
    steps = html_table(head, rows) if rows else f"<p>{nothing}</p>"
    return (
        f"<div>{about}\n{table}\n{steps}{_rest(len(enabled) - len(rows), 'step')}</div>"
    )


@html_of.register
def _network_html(subject: Network) -> str:
    n = len(subject.components)
    marked = ", with acceptance" if subject.has_acceptance else ""
    about = f"<p>Network{_titled(subject)}: {counted(n, 'component')}{marked}</p>"
    head = ["", "component", "states", "transitions", "labels", "accepting"]
    numeric = ["n", "", "n", "n", "n", "n"]
    rows = [
        [
            str(number),
            _name(lts.name),
            *(f"{k:,}" for k in (lts.n_states, lts.n_transitions, len(lts.labels))),
            "-" if lts.accepting is None else f"{int(lts.accepting.sum()):,}",
        ]
        for number, lts in enumerate(subject.components[:MOST_ROWS])
    ]
    table = html_table(head, rows, numeric) + _rest(n - len(rows), "component")
    names = [action.name for action in subject.actions]
    actions = f"<p>{counted(len(names), 'action')}: {_listed(names)}</p>"
    return f"<div>{about}\n{table}\n{actions}\n{svg_of(subject) or ''}</div>"


@html_of.register
def _model_html(subject: Model) -> str:
    counts = f"{counted(len(subject.variables), 'variable')}, "
    counts += counted(len(subject.actions), "action")
    about = f"<p>Model{_titled(subject)}: {counts}</p>"
    about += "".join(f"<p>{html.escape(line)}</p>" for line in subject.about)
    values = [*subject.shown(subject.initial()).items()]
    rows = [[_name(n), _name(str(value))] for n, value in values[:MOST_ROWS]]
    table = html_table(["variable", "initially"], rows)
    rest = _rest(len(values) - len(rows), "variable")
    actions = f"<p>actions: {_listed(subject.actions)}</p>"
    return f"<div>{about}\n{table}{rest}\n{actions}</div>"


@html_of.register
def _graph_html(subject: SpotGraph) -> str:
    kind = "Kripke structure" if subject.is_kripke else "Automaton"
    counts = f"{counted(subject.n_states, 'state')}, "
    counts += counted(subject.n_edges, "edge")
    acceptance = html.escape(str(subject.graph.get_acceptance()))
    about = f"<p>{kind} {_code(subject.name)}: {counts}; acceptance {acceptance}</p>"
    names = f"<p>propositions: {_listed(subject.propositions)}</p>"
    return f"<div>{about}\n{names}</div>"


@html_of.register
def _emptiness_html(subject: EmptinessResult) -> str:
    verdict, text = {
        True: (HOLDS, "empty"),
        False: (VIOLATED, "not empty"),
        None: (UNKNOWN, UNKNOWN),
    }[subject.empty]
    word, why = _marked(verdict, text), _because(subject.reason)
    run = "" if subject.run is None else f"; run {_code(str(subject.run))}"
    return f"<p>{word}{why}{run}</p>"


@html_of.register
def _lts_html(subject: LTS) -> str:
    counts = f"{counted(subject.n_states, 'state')}, "
    counts += counted(subject.n_transitions, "transition")
    about = f"<p>LTS{_titled(subject)}: {counts}; labels: {_listed(subject.labels)}</p>"
    picture = svg_of(subject)
    if picture is not None:
        return f"<div>{about}\n{picture}</div>"
    about += f"<p>initial: {subject.initial}{_accepting(subject)}</p>"
    columns = (subject.src, subject.label, subject.dst)
    first = zip(*(column[:MOST_ROWS].tolist() for column in columns), strict=True)
    rows = [
        [str(src), _name(subject.labels[label]), str(dst)] for src, label, dst in first
    ]
    table = html_table(["src", "label", "dst"], rows, ["n", "", "n"])
    rest = _rest(subject.n_transitions - len(rows), "transition")
    return f"<div>{about}\n{table}{rest}</div>"


def _accepting(lts: LTS) -> str:
    if lts.accepting is None:
        return ""
    states = np.flatnonzero(lts.accepting).tolist()
    return f"; accepting: {_listed(list(map(str, states)))}"


@html_of.register
def _automaton_html(subject: PropertyAutomaton) -> str:
    kinds = ("state_based", "weak", "terminal")
    held = [kind.replace("_", "-") for kind in kinds if getattr(subject, kind)]
    counts = f"{counted(subject.n_states, 'state')}, "
    counts += f"{counted(subject.n_letters, 'letter')}, "
    facts = [f"acceptance {subject.acceptance}", *held]
    about = f"<p>Property automaton: {counts}{html.escape(', '.join(facts))}</p>"
    picture = svg_of(subject)
    if picture is not None:
        return f"<div>{about}\n{picture}</div>"
    arrows = [*graphs.automaton_arrows(subject).items()]
    rows = []
    for (src, dst, marks), letters in arrows[:MOST_ROWS]:
        told = _name(graphs.letters_text(subject, letters))
        rows.append([str(src), told, str(dst), graphs.marks_text(marks)])
    about += f"<p>initial: {subject.initial}</p>"
    table = html_table(["src", "letters", "dst", "marks"], rows)
    rest = _rest(len(arrows) - len(rows), "transition")
    return f"<div>{about}\n{table}{rest}</div>"


def _titled(subject: Network | Model | LTS) -> str:
    return f" {_code(subject.name)}" if subject.name else ""


def _name(text: str) -> str:
    return graphs.short(text, _NAME)


def _code(text: str) -> str:
    return f"<code>{html.escape(graphs.short(text, 4 * _NAME))}</code>"


def _listed(names: Sequence[str]) -> str:
    """Return some names with commas between, escaped."""
    shown = ", ".join(_code(_name(name)) for name in names[:_MOST_NAMES])
    rest = len(names) - _MOST_NAMES
    return f"{shown}, … {rest:,} more" if rest > 0 else shown or "none"


def _rest(number: int, noun: str) -> str:
    return f"\n<p>… {counted(number, noun)} more</p>" if number > 0 else ""
