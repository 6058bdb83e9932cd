"""Verdicts on standard output, as text or JSON, and the exit code."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from ltlpipe.runtime.errors import UnsupportedError, warn
from ltlpipe.runtime.names import quoted_name, visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ltlpipe.certificates.writing import Certificate
    from ltlpipe.question.answer import Statistics
    from ltlpipe.verdict.lasso import Lasso
    from ltlpipe.verdict.verdict import Vacuity, Verdict
    from ltlpipe.verdict.why import Explanation

_SHOWN_STEPS = 60  # of a part of a lasso, printed as text
_SHOWN_CHANGES = 8  # variables of a step


BUG, BAD_INPUT = 70, 2
"""Exit codes: 70 is EX_SOFTWARE of sysexits.h, never to be taken for a verdict."""


def exit_code(verdicts: list[str], reasons: Collection[str | None] = ()) -> int:
    """Return the exit code for all verdicts and their reasons."""
    if "error" in reasons:
        return BUG
    if "input-error" in reasons:
        return BAD_INPUT
    if "violated" in verdicts:
        return 1
    return 3 if "unknown" in verdicts else 0


class Form(NamedTuple):
    """How verdicts are printed."""

    as_json: bool = False
    steps: bool = False  # of the lasso, each
    chart: bool = False  # of the lasso, in place of its actions
    why: bool = False  # values of subformulas at each step of the lasso
    options: Mapping[str, Any] = {}  # of the question, for JSON
    files: tuple[str, ...] = ()  # of the system, for JSON if it has another name

    def checked(self) -> Form:
        """Return it, or raise `typer.BadParameter` for what cannot be printed."""
        if self.as_json and self.chart:
            raise typer.BadParameter("--chart goes without --json")
        return self


FINITE = {
    "bad-prefix": "a finite run: every continuation violates the property",
    "maximal": "a finite run that has no continuation",
    "final": "a finite run that ends in a final state",
}
"""What is said of finite runs, by their kinds."""

LIKELY = 0.5
"""Probability above which the number of omissions is printed, not just the
possibility."""


def report(verdict: Verdict, form: Form, *, about: str | None = None) -> None:
    """Print one verdict.

    `about` says what it is about, beside its formula.
    """
    from ltlpipe.verdict.joint import TOGETHER
    from ltlpipe.verdict.verdict import LASSO_LIMIT

    if form.as_json:
        asked: dict[str, Any] = {"options": form.options} if form.options else {}
        if form.why and (known := _explanation(verdict)) is not None:
            asked["why"] = known.to_dict()
        if form.files and " ".join(form.files) != verdict.system:
            asked["files"] = list(form.files)
        print(json_line(verdict.to_dict() | asked), flush=True)
        return
    stats = verdict.stats
    subject = ": ".join(filter(None, (about, verdict.formula))) or (
        "no accepting run" if verdict.plan.automaton is None else "automaton"
    )
    why = f" ({verdict.reason})" if verdict.reason else ""
    states = "" if stats.states is None else f"{stats.states:,} states, "
    if verdict.verdict == "unknown" and stats.omitted is not None:
        states += f"{share_of(stats.coverage)}, {_omissions(stats)}, "
    if "spilled_mib" in stats.details:
        states += f"{stats.details['spilled_mib']:,.0f} MiB in files, "
    named = None if verdict.message else verdict.plan.strategy
    way = "" if named is None else f"{named}: "
    took = f"{stats.seconds:.2f} s"
    if TOGETHER in stats.details:
        took += f" for {len(stats.details[TOGETHER])} together"
    head = f"{verdict.verdict}{why}: {subject}   [{way}{states}{took}]"
    print(visible_lines(head), flush=True)
    if verdict.message is not None:
        print(visible_lines(f"  {verdict.message}"), flush=True)
    elif verdict.verdict == "unknown" and "swarm" in stats.details:
        _print_swarm(stats)
    elif verdict.reason == LASSO_LIMIT:
        _say("  no lasso: a limit was hit while it was extracted")
    elif verdict.lasso is not None:
        _print_lasso(verdict, verdict.lasso, form)
    elif verdict.finite_run is not None:
        _say(f"  {FINITE[verdict.finite_run.kind]}")
        _print_lasso(verdict, verdict.finite_run, form)
    if form.why and (known := _explanation(verdict)) is not None:
        _print_why(known)
    if verdict.certificate is not None:
        _print_certificate(verdict.certificate)
    if verdict.vacuity is not None:
        _print_vacuity(verdict.vacuity, form)


def _say(line: str) -> None:
    """Print a line in which names carry nothing that a terminal would obey."""
    print(visible(line.rstrip()), flush=True)


def share_of(coverage: float | None) -> str:
    """Describe the share of a product that has been visited."""
    if coverage is None:
        return "of how many is unknown"
    return f"about {coverage:.4%} of those that can be reached"


def _omissions(stats: Statistics) -> str:
    """Describe the states that may have been missed."""
    omitted, probability = stats.omitted or 0.0, stats.omission_probability or 0.0
    if probability < LIKELY:
        return f"any missed with probability {probability:.2g}"
    return f"about {omitted:,.0f} missed when they were met"


def _print_swarm(stats: Statistics) -> None:
    """Print the coverage of each of several bitstate searches."""
    for number, run in enumerate(stats.details["swarm"], 1):
        share = share_of(run["coverage"])
        _say(f"  run {number}: {run['states']:,} states, {share}")


def _print_certificate(certificate: Certificate) -> None:
    """Print the path and size of a certificate."""
    per_state = ""
    if certificate.states:
        per_state = f"{certificate.bytes / certificate.states:.1f} per state, "
    _say(
        f"  certificate: {certificate.path} ({certificate.bytes:,} bytes, "
        f"{per_state}{certificate.seconds:.2f} s)"
    )


def _print_lasso(verdict: Verdict, lasso: Lasso, form: Form) -> None:
    """Print a counterexample: drawn, or its actions; then, on demand, each step."""
    _print_run(lasso, form)
    if not form.chart:  # which has it
        _print_bad_prefix(lasso)
    if form.steps:
        _print_moves(verdict)


def _print_run(lasso: Lasso, form: Form) -> None:
    """Print a lasso: drawn, or its actions."""
    if form.chart:
        _print_chart(lasso)
    elif lasso.has_valuations:
        _print_initial_state(lasso)
        if not form.steps:  # which show changes, too
            _print_changes(lasso)
    else:
        _say(f"  prefix: {_listed(lasso.prefix)}")
        if lasso.cycle:
            _say(f"  cycle:  {_listed(lasso.cycle)}")


def _explanation(verdict: Verdict) -> Explanation | None:
    """Return why a formula is violated; None if there is no run, or it cannot be said.

    It cannot be said of PSL.
    """
    run = verdict.lasso or verdict.finite_run
    try:
        return None if run is None else run.explanation()
    except UnsupportedError as error:
        warn(f"--why: {error}")
        return None


def _print_why(known: Explanation) -> None:
    """Print the values of subformulas at each step, and which of them matter."""
    from rich.console import Console

    from ltlpipe.report.layouts import legend_of, why_table

    console = Console()
    with console.capture() as text:
        console.print(why_table(known, console.width - 4))
    lines = [line.rstrip() for line in text.get().splitlines()]
    print(textwrap.indent("\n".join([*lines, legend_of(known)]), "  "), flush=True)


def _print_chart(lasso: Lasso) -> None:
    """Print a lasso as a chart as wide as the terminal."""
    from ltlpipe.report.text_chart import ASCII, marks_for

    width = shutil.get_terminal_size().columns - 2
    ascii_only = marks_for(sys.stdout.encoding) is ASCII
    text = lasso.chart().text(width, ascii_only=ascii_only)
    print(textwrap.indent(text, "  "), end="", flush=True)


_TECHNIQUES = {
    "ample": "STUBBORN_SETS",
    "symmetry": "SYMMETRIES",
    "automorphisms": "SYMMETRIES",
    "linear": "STATE_EQUATION",
    "structural": "STRUCTURAL_REDUCTION",
}
"""What the contest calls reductions."""


def print_answer(verdict: Verdict, *, workers: int) -> None:
    """Print a verdict as the Model Checking Contest takes it, and nothing else."""
    plan = verdict.plan
    used = (plan.strategy, *plan.reductions)
    print(contest_line(verdict.verdict, verdict.formula_id, used, workers), flush=True)


def contest_line(
    verdict: str, name: str | None, used: Sequence[str | None], workers: int
) -> str:
    """Return a verdict as the Model Checking Contest takes it.

    `used` has the strategy that has answered, and reductions.
    """
    answers = {"holds": "TRUE", "violated": "FALSE"}
    answer = answers.get(verdict, "CANNOT_COMPUTE")
    processing = "PARALLEL" if workers > 1 else "SEQUENTIAL"
    told = [f"{processing}_PROCESSING"]
    told += [] if used[:1] == ("linear",) else ["EXPLICIT"]
    told += [_TECHNIQUES[each] for each in used if each in _TECHNIQUES]
    techniques = " ".join(dict.fromkeys(told))
    identifier = "_".join((name or "formula").split())  # blanks would end it
    return f"FORMULA {identifier} {answer} TECHNIQUES {techniques}"


def json_line(record: dict[str, Any]) -> str:
    """Return a JSON object, escaped if standard output cannot encode it."""
    text = json.dumps(record, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return json.dumps(record)
    return text


def _listed(actions: list[str]) -> str:
    """Return actions as text: quoted where needed, cut where long."""
    shown = " ".join(map(quoted_name, actions[:_SHOWN_STEPS])) or "(empty)"
    return shown + _left(len(actions) - _SHOWN_STEPS)


def _left(number: int) -> str:
    return f" ... ({number} more; --json prints all)" if number > 0 else ""


def _print_vacuity(vacuity: Vacuity, form: Form) -> None:
    """Report the redundant part of a formula that holds, or show a witness."""
    if vacuity.vacuous is None:
        _say(f"  vacuously or not: not decided ({vacuity.reason})")
    elif vacuity.vacuous:
        _say(f"  vacuously: {_replaceable(vacuity)}")
    elif vacuity.witness is None:
        _say("  not vacuously: each part matters")
    else:
        _say(f"  not vacuously: this run shows that it needs {vacuity.witness_part}")
        _print_run(vacuity.witness, form)


def _replaceable(vacuity: Vacuity) -> str:
    """Describe the replaceable part."""
    if vacuity.stronger == "1":
        return "no run of any system could violate it"
    if vacuity.stronger == "0":
        return "the system has no infinite run that counts"
    value = "true" if vacuity.value else "false"
    return f"it holds with {vacuity.part} replaced by {value}, too: {vacuity.stronger}"


def _print_initial_state(lasso: Lasso) -> None:
    """Print the values of a model's variables before the first step.

    Of many variables those that are 0 are left out, as most places of a large net are.
    """
    first = lasso.valuation(0)
    is_long = len(first) > _SHOWN_STEPS
    told = {name: value for name, value in first.items() if value or not is_long}
    values = [f"{name}={value}" for name, value in told.items()]
    shown = " ".join(values[:_SHOWN_STEPS]) + _left(len(values) - _SHOWN_STEPS)
    others = "; all others 0" if len(told) < len(first) else ""
    _say(f"  initial state: {shown}{others}")


def _print_changes(lasso: Lasso) -> None:
    """Print a run of a model: the processes that move, and the changes."""
    names, k = lasso.action_names, len(lasso.prefix)
    parts = [("prefix", range(k)), ("cycle", range(k, len(names)))]
    for title, part in parts if lasso.cycle else parts[:1]:
        _say(f"  {title}:" + ("" if part else " (empty)"))
        shown = part[:_SHOWN_STEPS]
        width = max((len(visible(names[step])) for step in shown), default=0)
        for step in shown:
            name, changes = visible(names[step]), _changed(lasso.change(step))
            _say(f"    {name:{width}}  {changes}")
        if left := _left(len(part) - _SHOWN_STEPS):
            _say(f"   {left}")


def _print_bad_prefix(lasso: Lasso) -> None:
    """Print the end of the shortest bad prefix, where that is known."""
    if lasso.bad_prefix is not None:
        number = lasso.bad_prefix
        many = (
            "step: no continuation of it satisfies"
            if number == 1
            else (f"{number} steps: no continuation of them satisfies")
        )
        _say(f"  violated by the first {many} the formula")


def _print_moves(verdict: Verdict) -> None:
    """Print the moves, true propositions and obligations of each step."""
    from ltlpipe.verdict.lasso import steps_of

    lasso = verdict.lasso or verdict.finite_run
    assert lasso is not None
    left = verdict.residuals()
    shown = steps_of(lasso, range(len(lasso.actions))[:_SHOWN_STEPS])
    names = [visible(step.action) for step in shown]
    width = max(map(len, names), default=0)
    first = len(lasso.prefix)
    for number, step in enumerate(shown):
        if number in (0, first):
            _say(f"  {'cycle' if number == first else 'prefix'}, step by step:")
        mark = "*" if step.holds else " "
        moves = ", ".join(map(str, step.moves[:_SHOWN_CHANGES]))
        _say(f"  {number + 1:4} {mark} {names[number]:{width}}  {moves}")
        if left and left[number + 1] != left[number]:
            _say(f"         left: {left[number + 1]}")
    if left_out := _left(len(lasso.actions) - _SHOWN_STEPS):
        _say(f"   {left_out}")


def _changed(changes: dict[str, tuple[Any, Any]]) -> str:
    shown = [f"{name}: {old} -> {new}" for name, (old, new) in changes.items()]
    left = len(shown) - _SHOWN_CHANGES
    return ", ".join(shown[:_SHOWN_CHANGES]) + (
        f", and {left} more" if left > 0 else ""
    )
