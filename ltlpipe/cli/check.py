"""``ltlpipe check``: one system, one or several formulas."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.plans import PlanPrinter
from ltlpipe.cli.progress import search_progress
from ltlpipe.cli.reading import not_read, read_within
from ltlpipe.cli.verdicts import exit_code, noted_warnings, report
from ltlpipe.reduction.components.groups import CAP_STATES
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.formats import SYSTEM_FILES

if TYPE_CHECKING:
    from ltlpipe.cli.progress import SearchProgress
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.verdict import Verdict

_NO_OPTIONS = ("timeout", "memory", "constraint")
"""Keywords of `ltlpipe.check` that are no fields of its options."""

_LESS_MEMORY = (
    "hint: --emptiness se05 keeps two bits per state beside the state; "
    "--bitstate MIB keeps bits only, and can miss violations"
)


def check(
    system: Annotated[
        list[str],
        typer.Argument(
            metavar="SYSTEM",
            help=SYSTEM_FILES,
        ),
    ],
    formula: Annotated[
        list[str] | None,
        typer.Option("-f", "--formula", metavar="FORMULA", help="LTL formula."),
    ] = None,
    formula_file: Annotated[
        str | None,
        typer.Option("-F", "--formulas", metavar="FILE", help="One formula per line."),
    ] = None,
    automaton: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="HOA automaton of the NEGATED property."),
    ] = None,
    visible: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="The visible actions of --automaton."),
    ] = None,
    constraint: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Only runs that this HOA automaton accepts."),
    ] = None,
    empty: Annotated[
        bool,
        typer.Option("--empty", help="Ask whether the network has no accepting run."),
    ] = False,
    emptiness: shared.Emptiness = "auto",
    acceptance: shared.Acceptance = "auto",
    reduce: shared.Reduce = "auto",
    semantics: shared.Semantics = None,
    deadlock: shared.Deadlock = None,
    timeout: shared.Timeout = None,
    memory: shared.Memory = None,
    max_states: shared.MaxStates = None,
    bitstate: shared.Bitstate = None,
    ample_inner: shared.AmpleInner = "full",
    cap_states: shared.CapStates = CAP_STATES,
    accepting: shared.Accepting = "together",
    stack_test: shared.StackTest = False,
    deterministic: shared.Deterministic = False,
    translator: shared.Translator = None,
    fairness: shared.Fairness = None,
    fair_sets: shared.FairSets = None,
    symmetric: shared.Symmetric = None,
    workers: shared.Workers = 1,
    seed: shared.Seed = None,
    strict: shared.Strict = False,
    no_lasso: Annotated[
        bool, typer.Option("--no-lasso", help="Neither compute nor print lassos.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One object per formula and line.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the plan and its reasons.")
    ] = False,
    quiet: shared.Quiet = False,
) -> None:
    """Check whether every infinite run of a system satisfies formulas.

    Exit code: 0 every formula holds, 1 some formula is violated, 2 bad input
    or usage, 3 some verdict is unknown and none is violated.
    """
    from ltlpipe.automata.hoa import read_job
    from ltlpipe.runtime import workers as processes
    from ltlpipe.runtime.jobs import StoppedError
    from ltlpipe.systems.reading import load_job

    chosen = shared.given(
        emptiness=emptiness,
        acceptance=acceptance,
        reduce=reduce,
        semantics=semantics,
        deadlock=deadlock,
        timeout=timeout,
        memory=memory,
        max_states=max_states,
        bitstate=bitstate,
        ample_inner=ample_inner,
        cap_states=cap_states,
        accepting=accepting,
        stack_test=stack_test,
        deterministic=deterministic,
        translator=translator,
        fairness=fairness,
        fair_sets=tuple(fair_sets or ()),
        symmetric=tuple(symmetric or ()),
        visible=visible,
        workers=workers,
        seed=seed,
        strict=strict,
        lasso=not no_lasso,
    )
    if not empty:  # it imports Spot while this process reads
        processes.prepare("spot", "ltlpipe.automata.translation")
    if visible is not None and automaton is None:
        raise typer.BadParameter("--visible goes with --automaton")
    questions = _questions(formula or [], formula_file, automaton, empty)
    is_single = len(questions) == 1 and formula_file is None
    if not empty:
        processes.prepare("spot", "ltlpipe.automata.translation")
    verdicts: list[Verdict] = []
    plans = PlanPrinter(wanted=explain, as_json=as_json)
    with search_progress(quiet=quiet) as progress:
        progress.begin("reading")
        limits = {"timeout": timeout, "memory": memory}
        try:
            loaded = read_within(load_job(system), progress, **limits)
            if automaton is not None:
                negated = read_within(read_job(automaton), progress, **limits)
                questions = [{"violations": negated}]
            if constraint is not None:
                allowed = read_within(read_job(constraint), progress, **limits)
                chosen["constraint"] = allowed
        except StoppedError as stopped:
            progress.hide()
            for question in questions:
                asked = question.get("formula")
                told = (None, None) if asked is None else (asked.text, asked.identifier)
                verdict = not_read(system, stopped.reason, *told)
                report(verdict, as_json=as_json)
                verdicts.append(verdict)
            raise typer.Exit(exit_code([v.verdict for v in verdicts])) from None
        for question in questions:
            progress.begin(_label(question))
            verdict = _answered(loaded, question, chosen, progress, alone=is_single)
            progress.hide()
            plans.show(verdict.plan)
            report(verdict, as_json=as_json)
            if verdict.reason == "memory" and not quiet and sys.stderr.isatty():
                print(_LESS_MEMORY, file=sys.stderr)
            verdicts.append(verdict)
            if verdict.reason == "interrupted":
                break
    left = len(questions) - len(verdicts)
    if left:
        print(f"interrupted: {left} more formulas not checked", file=sys.stderr)
    raise typer.Exit(exit_code([v.verdict for v in verdicts]))


def _answered(
    system: System,
    question: dict[str, Any],
    chosen: dict[str, Any],
    progress: SearchProgress,
    *,
    alone: bool,
) -> Verdict:
    """Answer a question; one of several that is unsupported does not end the others."""
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Limits
    from ltlpipe.runtime.memory import default_memory_mib
    from ltlpipe.verdict.checking import Inquiry

    asked = Property(question.get("formula"), question.get("violations"))
    options = {name: v for name, v in chosen.items() if name not in _NO_OPTIONS}
    memory = chosen["memory"]
    limits = Limits(
        chosen["timeout"],
        default_memory_mib() if memory is None else memory,
        chosen["max_states"],
    )
    with noted_warnings() as said:
        inquiry = Inquiry(system, asked, Options(**options), chosen.get("constraint"))
        try:
            verdict = inquiry.verdict(limits, progress)
        except UnsupportedError as error:
            if alone:
                raise
            verdict = inquiry.refused(error)
    return replace(verdict, warnings=tuple(said))


def _questions(
    texts: list[str], file: str | None, automaton: str | None, empty: bool
) -> list[dict[str, Any]]:
    """Return the keywords of one call of `ltlpipe.check` per question."""
    ways = sum((bool(texts or file), automaton is not None, empty))
    if ways != 1:
        raise typer.BadParameter(
            "expected one of -f FORMULA, -F FILE, --automaton FILE, --empty"
        )
    if empty:
        return [{"empty": True}]
    if automaton is not None:
        return [{}]  # it is read with the system
    return [{"formula": formula} for formula in formulas_of(texts, file)]


def formulas_of(texts: list[str], file: str | None) -> list[Formula]:
    """Return the formulas of -f and then those of the file of -F."""
    from ltlpipe.logic.formulas import parse, read_formulas

    formulas = [parse(text) for text in texts]
    if file is not None:
        formulas.extend(read_formulas(file))
    return formulas


def _label(question: dict[str, Any]) -> str:
    formula = question.get("formula")
    return "accepting run" if formula is None else str(formula.text)[:60]
