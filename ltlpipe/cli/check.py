"""``ltlpipe check``: one system, one or several formulas.

Also ``livelock`` and ``deadlocks``, which take no formula.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.options import PlanPrinter, run_within, search_progress
from ltlpipe.cli.report import AnswerTable
from ltlpipe.cli.simulate import keep_run
from ltlpipe.cli.verdicts import BUG, Form, exit_code, print_answer
from ltlpipe.cli.verdicts import report as print_verdict
from ltlpipe.logic.history import PLAIN
from ltlpipe.question.given_options import (
    manner_of,
    of_question,
    options_of,
    understood,
)
from ltlpipe.question.options import CHECK, DEADLOCKS, LIVELOCK, SIMULATE
from ltlpipe.runtime.errors import (
    FormulaError,
    ReplayError,
    UnsupportedError,
    noting,
)
from ltlpipe.runtime.names import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.history import Dialect
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Limits
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.inquiry import Inquiry
    from ltlpipe.verdict.verdict import Verdict


_LESS_MEMORY = (
    "hint: --emptiness se05 keeps two bits per state beside the state; "
    "--compact 64 and --bitstate MIB keep bits only, and can miss violations"
)


_ONE_QUESTION = (
    "expected one of -f FORMULA, -F FILE, --automaton FILE, --empty; a Promela model "
    "has properties of its own, also -N NAME"
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
    if verify is not None:
        if formula or formula_file or automaton or empty or answers or own:
            raise typer.BadParameter("--verify FILE has the system and the property")
        if out or report or steps or chart or why or simulate or explain:
            raise typer.BadParameter("--verify prints findings: it goes with --json")
        from ltlpipe.cli.verify import verify_results

        code = verify_results(verify, system or [], chosen, as_json=as_json)
        raise typer.Exit(code)
    if not system:
        raise typer.BadParameter("missing argument 'SYSTEM'")
    from ltlpipe.question.conditions import INSTANT
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import StoppedError
    from ltlpipe.systems.reading import files_of, load_job
    from ltlpipe.verdict.checking import (
        automaton_job,
        note_own_property,
        own_property,
    )
    from ltlpipe.verdict.inquiry import Inquiry
    from ltlpipe.verdict.joint import STRATEGIES_OF_JOINT, joint_verdicts
    from ltlpipe.verdict.portfolio import PRELUDE, PRELUDE_ALONE
    from ltlpipe.verdict.verdict import CRASH, misread, not_read

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
    form = Form(as_json, steps, chart, why, told).checked()
    texts, dialect = formula or [], options.dialect
    questions = _questions(texts, formula_file, automaton, empty, dialect, own)
    is_single = len(questions) == 1 and formula_file is None
    if is_single and isinstance(questions[0], FormulaError):
        raise questions[0]
    is_asked = bool(formula or formula_file or automaton or empty)
    verdicts: list[Verdict] = []
    plans = PlanPrinter(wanted=explain, as_json=as_json)
    with (
        search_progress(quiet=quiet) as progress,
        AnswerTable(out, report, system, chosen) as table,
    ):
        tell = partial(
            _tell, answers=answers, workers=options.workers, form=form, table=table
        )
        says_little = quiet or as_json or answers is not None
        progress.begin("reading")
        try:
            read = partial(run_within, limits=limits, progress=progress)
            loaded = read(load_job(system, **manner_of(chosen)))
            if is_asked:
                note_own_property(loaded)
            elif own or bool(getattr(loaded, "own_questions", None)):
                questions = list(_own_questions(loaded, own or [], read))
                is_single = len(questions) == 1
            elif getattr(loaded, "violations", None) is None:
                raise typer.BadParameter(_ONE_QUESTION)
            else:
                automaton = own_property(loaded)
                told["automaton"] = automaton
            if automaton is not None:
                questions = [Property(violations=read(automaton_job(automaton)))]
            allowed = read(automaton_job(options.constraint))
        except StoppedError as stopped:
            progress.hide()
            for asked in questions:
                name = " ".join(system)
                if isinstance(asked, FormulaError):
                    tell(misread(name, asked))
                else:
                    tell(not_read(name, stopped.reason, asked.formula), asked)
            table.finish(quiet=says_little)
            raise typer.Exit(exit_code(["unknown"] * len(questions))) from None
        if options.certificate is not None and len(questions) > 1:
            raise typer.BadParameter("--certificate goes with one formula")
        # Questions of a model's own are few, and worth no kernel if they are easy.
        are_few = is_single or not is_asked
        searched: list[Verdict] = []  # which have loaded kernels, or may have

        def posed(asked: Property, **told: Any) -> tuple[Inquiry, Limits]:
            text = "accepting run" if asked.formula is None else asked.formula.text
            progress.begin(text[:60])
            options, limits = understood(chosen)  # with the memory that is free now
            has_kernels = any(v.plan.strategy not in (None, INSTANT) for v in searched)
            prelude = PRELUDE_ALONE if are_few and not has_kernels else PRELUDE
            told |= {"prelude": prelude, "files": files_of(system)}
            return Inquiry(loaded, asked, options, allowed, **told), limits

        def ask_jointly(asked: Property) -> Verdict | None:
            with suppress(FormulaError, UnsupportedError), noting() as said:
                inquiry, limits = posed(asked, strategies=STRATEGIES_OF_JOINT)
                verdict = inquiry.verdict(limits, progress)
                searched.append(verdict)
                return replace(verdict, warnings=tuple(said))
            return None

        models_own = [] if is_asked else questions
        joint = joint_verdicts(loaded, models_own, options, ask_jointly, read)
        is_stopped = False
        for place, asked in enumerate(questions):
            if isinstance(asked, FormulaError):
                verdicts.append(misread(loaded.name, asked))
                progress.hide()
                tell(verdicts[-1], system=loaded)
                continue
            # After Ctrl-C all that is known is told, and one verdict that says so.
            is_over = is_stopped or joint.was_interrupted
            is_known = place in joint.verdicts
            if is_stopped and joint.was_interrupted:
                is_known = False
            if is_over and not is_known and place not in joint.violations:
                continue
            if is_known:
                verdict = joint.verdicts[place]
            elif is_over:
                verdict = joint.violations[place]
            else:
                with noting() as said:
                    try:
                        inquiry, limits = posed(asked)
                    except FormulaError as error:  # it names what there is not
                        if is_single:
                            raise
                        verdicts.append(misread(loaded.name, error))
                        progress.hide()
                        tell(verdicts[-1], asked, loaded)
                        continue
                    try:
                        verdict = inquiry.verdict(limits, progress)
                    except (ReplayError, UnsupportedError) as error:
                        if is_single:
                            raise
                        verdict = inquiry.refused(error)  # the others go on
                        if isinstance(error, ReplayError):
                            verdict = replace(verdict, reason=CRASH)
                searched.append(verdict)
                verdict = replace(verdict, warnings=tuple(said))
            is_stopped = is_stopped or verdict.reason == "interrupted"
            verdict = joint.at_least(place, verdict)
            progress.hide()
            plans.show(verdict.plan)
            tell(verdict, asked, loaded)
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


def _questions(
    texts: list[str],
    file: str | None,
    automaton: str | None,
    empty: bool,
    dialect: Dialect,
    own: list[str] | None,
) -> list[Property | FormulaError]:
    """Return the questions; an automaton is read with the system, or is part of it."""
    from ltlpipe.question.property import Property

    ways = sum((bool(texts or file), automaton is not None, empty, bool(own)))
    if ways > 1:
        raise typer.BadParameter(_ONE_QUESTION)
    if not (texts or file):
        return [Property()]
    return [
        each if isinstance(each, FormulaError) else Property(each)
        for each in formulas_of(texts, file, dialect)
    ]


def _own_questions(
    system: System, names: list[str], read: Callable[..., Any]
) -> list[Property]:
    """Return what a model itself asks; by their names, if some are named."""
    from ltlpipe.logic.formulas import parse
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.names import nearest
    from ltlpipe.verdict.checking import automaton_job

    known = {own.name: own for own in getattr(system, "own_questions", ())}
    if not known:
        raise typer.BadParameter(_ONE_QUESTION)
    for name in names:
        if name not in known:
            message = f"no property of the model is called {name!r}"
            raise UnsupportedError(message + nearest(name, known))
    questions = []
    for name in names or known:
        own = known[name]
        if own.formula is None:
            violations = read(automaton_job(own.automaton))
            questions.append(Property(violations=violations, name=name))
        else:
            formula = parse(own.formula)
            if own.written is not None:
                with suppress(FormulaError):  # it is in another syntax
                    written = parse(own.written)
                    formula = written if written.spot == formula.spot else formula
            questions.append(Property(replace(formula, name=name)))
    return questions


def _tell(
    verdict: Verdict,
    asked: Property | None = None,
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
    formula = None if asked is None else asked.formula
    name = getattr(asked, "name", None) if formula is None else formula.name
    print_verdict(verdict, form, about=name)


def _check_answers(form: str, formulas: Any, *, as_json: bool) -> None:
    if form.lower() != "mcc":
        raise typer.BadParameter(f"{form!r}, expected mcc", param_hint="--answers")
    if as_json or not formulas:
        raise typer.BadParameter("--answers goes with -f or -F, and without --json")


def formulas_of(
    texts: list[str], file: str | None, dialect: Dialect = PLAIN
) -> list[Formula | FormulaError]:
    """Return the formulas of -f and then those of the file of -F.

    One that cannot be read is its error.
    """
    from ltlpipe.logic import formulas
    from ltlpipe.logic.formula_files import read_formulas

    found = formulas.formulas_of(texts, dialect=dialect)
    if file is not None:
        read = read_formulas(file, collect_errors=True)
        found.extend(formulas.reread(each, dialect) for each in read)
    return found


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
    as the run that violates "no deadlock"), 2 bad input or usage, 3 unknown.
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

    form.checked()
    plans = PlanPrinter(wanted=explain, as_json=form.as_json)
    with search_progress(quiet=quiet) as bar:
        bar.begin("reading")
        try:
            job = load_job(files, **manner_of(chosen))
            system = run_within(job, understood(chosen)[1], progress=bar)
            bar.begin(label)
            verdict = look_for_one(system, progress=bar, **of_question(chosen))
        except StoppedError as stopped:
            verdict = not_read(" ".join(files), stopped.reason)
            if getattr(system, "ends_validly", None) is not None:
                label = {"deadlock": "invalid end state"}.get(label, label)
        bar.hide()
        plans.show(verdict.plan)
    print_verdict(verdict, form, about=None if label == "livelock" else f"no {label}")
    raise typer.Exit(exit_code([verdict.verdict]))
