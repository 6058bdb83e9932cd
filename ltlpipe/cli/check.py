"""``ltlpipe check``: one system, one or several formulas.

Also ``livelock`` and ``deadlocks``, which take no formula.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.options import PlanPrinter, run_within, search_progress
from ltlpipe.cli.questions import ONE_QUESTION, Asked
from ltlpipe.cli.report import AnswerTable
from ltlpipe.cli.simulate import keep_run
from ltlpipe.cli.verdicts import BUG, Form, exit_code, print_answer
from ltlpipe.cli.verdicts import report as print_verdict
from ltlpipe.question.given_options import (
    manner_of,
    of_question,
    options_of,
    understood,
)
from ltlpipe.question.options import CHECK, DEADLOCKS, LIVELOCK, SIMULATE
from ltlpipe.runtime.errors import FormulaError
from ltlpipe.runtime.names import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.verdict import Verdict


_LESS_MEMORY = (
    "hint: --emptiness se05 keeps two bits per state beside the state; "
    "--compact 64 and --bitstate MIB keep bits only, and can miss violations"
)


@shared.takes(CHECK)
def check(
    system: shared.SystemOrNone = None,
    formula: shared.Formulas = None,
    formula_file: shared.FormulaFile = None,
    automaton: shared.AutomatonFile = None,
    empty: shared.Empty = False,
    own: list[str] | None = shared.question_option(
        None,
        "-N",
        "--property",
        metavar="NAME",
        help="A property of the model itself, by its name; without any property "
        "all are asked.",
    ),
    answers: str | None = shared.output_option(
        None,
        metavar="mcc",
        help="Print only FORMULA lines, for the Model Checking Contest.",
    ),
    verify: str | None = shared.run_option(
        None,
        metavar="FILE",
        help="Search nothing: replay the lassos of what check --json has printed, "
        "against SYSTEM or the system that it names.",
    ),
    out: str | None = shared.table_file(
        "Result table with a row for each formula, .csv or .parquet."
    ),
    report: str | None = shared.report_file("Write an HTML report about the answers."),
    as_json: shared.AsJson = False,
    steps: shared.Steps = False,
    chart: shared.Chart = False,
    why: shared.Why = False,
    simulate: bool = shared.lasso_option(
        False, "--simulate", help="Then step through the last counterexample found."
    ),
    explain: shared.Explain = False,
    quiet: shared.Quiet = False,
    **chosen: Any,
) -> None:
    """Check whether every infinite run of a system satisfies formulas.

    Exit code: 0 every formula holds, 1 some formula is violated, 2 bad input
    or usage, 3 some verdict is unknown and none is violated, 70 what was found fails
    its replay: a bug.  With --verify: 0 every lasso is confirmed, 1 some is refuted, 3
    some could not be checked.
    """
    asked = Asked(formula or [], formula_file, automaton, empty, own or [])
    if verify is not None:
        if any(asked) or answers:
            raise typer.BadParameter("--verify FILE has the system and the property")
        if out or report or steps or chart or why or simulate or explain:
            raise typer.BadParameter("--verify prints findings: it goes with --json")
        from ltlpipe.cli.verify import verify_results

        code = verify_results(verify, system or [], chosen, as_json=as_json)
        raise typer.Exit(code)
    if not system:
        raise typer.BadParameter("missing argument 'SYSTEM'")
    from ltlpipe.runtime.files import refuse_overwriting
    from ltlpipe.runtime.jobs import StoppedError
    from ltlpipe.systems.reading import files_of
    from ltlpipe.verdict.several import Questions
    from ltlpipe.verdict.verdict import CRASH

    options, limits = understood(chosen)
    if options.visible is not None and automaton is None:
        raise typer.BadParameter("--visible requires --automaton")
    if simulate and (as_json or answers is not None or "-" in system):
        raise typer.BadParameter(
            "--simulate goes without --json and --answers, and a SYSTEM that is a file"
        )
    if why and (automaton or empty):
        raise typer.BadParameter("--why explains formulas: it goes with -f or -F")
    if answers is not None:
        _check_answers(answers, formula or formula_file, as_json=as_json)
    told = recorded_options(options, automaton)
    form = Form(as_json, steps, chart, why, told, tuple(system)).checked()
    refuse_overwriting(
        {"--out": out, "--report": report, "--certificate": options.certificate},
        [*system, formula_file, automaton, chosen["constraint"]],
    )
    questions = asked.questions(options.dialect)
    verdicts: list[Verdict] = []
    plans = PlanPrinter(wanted=explain, as_json=as_json)
    with (
        search_progress(quiet=quiet) as progress,
        AnswerTable(out, report, system, chosen) as table,
    ):
        tell = partial(_tell, answers=answers, workers=options.workers, table=table)
        says_little = quiet or as_json or answers is not None
        read = partial(run_within, limits=limits, progress=progress)
        progress.begin("reading")
        try:
            loaded, automaton, constraint = _read(system, asked, chosen, read)
            questions = asked.of_system(loaded, automaton, questions, read)
        except StoppedError as stopped:
            progress.hide()
            for each in questions:
                verdict = _unread(" ".join(system), each, stopped.reason)
                tell(verdict, each, form=form)
            table.finish(quiet=says_little)
            raise typer.Exit(exit_code(["unknown"] * len(questions))) from None
        if options.certificate is not None and len(questions) > 1:
            raise typer.BadParameter("--certificate goes with one formula")
        form = form._replace(options=recorded_options(options, automaton))
        several = Questions(
            loaded,
            questions,
            chosen,
            constraint=constraint,
            files=files_of(system),
            are_own=not asked.is_given,
            is_single=len(questions) == 1 and formula_file is None,
            begin=progress.begin,
            read=read,
            progress=progress,
        )
        for each, verdict in several.verdicts():
            progress.hide()
            plans.show(verdict.plan)
            tell(verdict, each, loaded, form=form)
            if verdict.reason == "memory" and not quiet and sys.stderr.isatty():
                print(_LESS_MEMORY, file=sys.stderr)
            verdicts.append(verdict)
        table.finish(quiet=says_little)
    left = len(questions) - len(verdicts)
    if left:
        print(
            f"interrupted: {counted(left, 'more formula')} not checked", file=sys.stderr
        )
    found = [verdict for verdict in verdicts if verdict.lasso or verdict.finite_run]
    if found:
        keep_run(found[-1], system, chosen)
    if simulate:
        _simulate(loaded, found, chosen)
    reasons = [v.reason for v in verdicts]
    code = exit_code([v.verdict for v in verdicts], reasons)
    raise typer.Exit(BUG if CRASH in reasons else code)


def _read(
    files: list[str],
    asked: Asked,
    chosen: dict[str, Any],
    read: Callable[[Job[Any]], Any],
) -> tuple[System, str | None, Any]:
    """Read a system; return it, the file or text of an automaton, and a constraint."""
    from ltlpipe.systems.reading import load_job
    from ltlpipe.verdict.checking import automaton_job, note_own_property, own_property

    system = read(load_job(files, **manner_of(chosen)))
    automaton = asked.automaton
    if asked.is_given:
        note_own_property(system)
    elif not (asked.own or getattr(system, "own_questions", None)):
        if getattr(system, "violations", None) is None:
            raise typer.BadParameter(ONE_QUESTION)
        automaton = own_property(system)
    return system, automaton, read(automaton_job(understood(chosen)[0].constraint))


def _unread(name: str, asked: Property | FormulaError, reason: str) -> Verdict:
    """Return the verdict about a system that was not read within the limits."""
    from ltlpipe.verdict.verdict import misread, not_read

    if isinstance(asked, FormulaError):
        return misread(name, asked)
    return not_read(name, reason, asked.formula)


def _simulate(system: System, found: list[Verdict], chosen: dict[str, Any]) -> None:
    """Let the user step through the last of some counterexamples."""
    from ltlpipe.cli.simulate import step_through
    from ltlpipe.simulation.simulation import Simulation

    if not found:
        print("--simulate: there is no counterexample", file=sys.stderr)
        return
    options = {n: chosen[n] for n in options_of(SIMULATE) if n in chosen}
    step_through(Simulation(system, lasso=found[-1], **of_question(options)))


def recorded_options(options: Options, automaton: str | None) -> dict[str, Any]:
    """Return what has been asked beside the formula, for ``--verify``.

    Only options that say which runs count, and that are not their defaults.
    """
    from ltlpipe.question.given_options import QUESTION_OPTIONS

    told = {n: v for n, v in options.differing().items() if n in QUESTION_OPTIONS}
    return told if automaton is None else told | {"automaton": automaton}


def _tell(
    verdict: Verdict,
    asked: Property | FormulaError,
    system: System | None = None,
    *,
    answers: str | None,
    workers: int,
    form: Form,
    table: AnswerTable,
) -> None:
    """Print a verdict in the form that is wanted, and write its row."""
    table.add(verdict, system)
    if answers is not None:
        print_answer(verdict, workers=workers)
        return
    name = None
    if not isinstance(asked, FormulaError):
        formula = asked.formula
        name = getattr(asked, "name", None) if formula is None else formula.name
    print_verdict(verdict, form, about=name)


def _check_answers(form: str, formulas: Any, *, as_json: bool) -> None:
    if form.lower() != "mcc":
        raise typer.BadParameter(f"{form!r}, expected mcc", param_hint="--answers")
    if as_json or not formulas:
        raise typer.BadParameter("--answers goes with -f or -F, and without --json")


@shared.takes(LIVELOCK)
def livelock(
    system: shared.System,
    progress: list[str] | None = shared.question_option(
        None,
        metavar="A,B",
        help="The progress actions; may be given several times.  Of a Promela "
        "model they are its labels 'progress' by default.",
    ),
    as_json: shared.AsJson = False,
    steps: shared.Steps = False,
    chart: shared.Chart = False,
    explain: shared.Explain = False,
    quiet: shared.Quiet = False,
    **chosen: Any,
) -> None:
    """Find an infinite run with only finitely many progress actions.

    With --fairness, only runs that are fair to each component, or to each set of
    --fair-sets, count.  Exit code: 0 there is none, 1 there is one (printed as a
    violation of "infinitely often progress"), 2 bad input or usage, 3 unknown.
    """
    from ltlpipe.verdict.checking import livelock as look_for_one

    names = [name.strip() for names in progress or () for name in names.split(",")]
    look = partial(look_for_one, progress_actions=names)
    form = Form(as_json=as_json, steps=steps, chart=chart)
    _answered(system, "livelock", look, chosen, form, explain=explain, quiet=quiet)


@shared.takes(DEADLOCKS)
def deadlocks(
    system: shared.System,
    as_json: shared.AsJson = False,
    steps: shared.Steps = False,
    chart: shared.Chart = False,
    explain: shared.Explain = False,
    quiet: shared.Quiet = False,
    **chosen: Any,
) -> None:
    """Find a reachable deadlock: a state without successors.

    Prints a shortest path to it.  Exit code: 0 there is none, 1 there is one (printed
    as the run that violates "no deadlock", of a Promela model "no invalid end state"),
    2 bad input or usage, 3 unknown.
    """
    from ltlpipe.verdict.checking import deadlocks as look_for_one

    form = Form(as_json=as_json, steps=steps, chart=chart)
    _answered(
        system, "deadlock", look_for_one, chosen, form, explain=explain, quiet=quiet
    )


def _answered(
    files: list[str],
    label: str,
    look_for_one: Callable[..., Verdict],
    chosen: dict[str, Any],
    form: Form,
    *,
    explain: bool,
    quiet: bool,
) -> None:
    """Read a system, look for a run within the limits, and print the verdict."""
    from ltlpipe.runtime.jobs import StoppedError
    from ltlpipe.systems.reading import load_job
    from ltlpipe.verdict.verdict import not_read

    options, limits = understood(chosen)
    told = recorded_options(options, None)
    told |= {"deadlock": "stutter"} if label == "deadlock" else {}
    form = form._replace(options=told, files=tuple(files)).checked()
    plans = PlanPrinter(wanted=explain, as_json=form.as_json)
    with search_progress(quiet=quiet) as bar:
        bar.begin("reading")
        try:
            job = load_job(files, **manner_of(chosen))
            system = run_within(job, limits, progress=bar)
            if getattr(system, "ends_validly", None) is not None:
                label = {"deadlock": "invalid end state"}.get(label, label)
            bar.begin(label)
            verdict = look_for_one(system, progress=bar, **of_question(chosen))
        except StoppedError as stopped:
            verdict = not_read(" ".join(files), stopped.reason)
        bar.hide()
        plans.show(verdict.plan)
    says_all = label == "livelock" and verdict.formula is not None
    print_verdict(verdict, form, about=None if says_all else f"no {label}")
    raise typer.Exit(exit_code([verdict.verdict]))
