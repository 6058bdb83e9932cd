"""Flags, arguments, progress bars, plans and error messages of several commands.

Those of a question are declared in `ltlpipe.question.options`; `takes` makes flags of
them.

Also what ``-h`` prints: the options that matter, and examples.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
import traceback
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ltlpipe.batch.engines import TaskBar
from ltlpipe.question.conditions import flag_of
from ltlpipe.question.given_options import options_of
from ltlpipe.runtime.errors import LtlpipeError, ReplayError
from ltlpipe.runtime.jobs import INTERRUPTED, Limits, StoppedError, run
from ltlpipe.runtime.names import counted, visible_lines
from ltlpipe.runtime.progress_bar import search_bar
from ltlpipe.systems.formats import (
    OUTPUT_FILE,
    READ_NAMES,
    SYSTEM_FILES,
    WRITTEN_NAMES,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from ltlpipe.batch.tasks import Task
    from ltlpipe.question.answer import Plan
    from ltlpipe.question.options import Option
    from ltlpipe.runtime.jobs import Job, Result
    from ltlpipe.runtime.progress_bar import SearchProgress

QUESTION, SEARCH, LIMITS, COUNTEREXAMPLE, RUN, OUTPUT_GROUP, EXPERTS = (
    "Question",
    "Search",
    "Limits",
    "Counterexample",
    "Run",
    "Output",
    "Experts",
)
"""The groups of options in ``--help``, in order."""
_GROUPS = (QUESTION, SEARCH, LIMITS, COUNTEREXAMPLE, RUN, OUTPUT_GROUP, EXPERTS)

question_option = partial(typer.Option, rich_help_panel=QUESTION)
search_option = partial(typer.Option, rich_help_panel=SEARCH)
lasso_option = partial(typer.Option, rich_help_panel=COUNTEREXAMPLE)
run_option = partial(typer.Option, rich_help_panel=RUN)
output_option = partial(typer.Option, rich_help_panel=OUTPUT_GROUP)
expert_option = partial(typer.Option, rich_help_panel=EXPERTS)

System = Annotated[list[str], typer.Argument(metavar="SYSTEM", help=SYSTEM_FILES)]
SystemOrNone = Annotated[
    list[str] | None, typer.Argument(metavar="SYSTEM", help=SYSTEM_FILES)
]
Format = Annotated[
    str | None,
    question_option(
        "--format",
        metavar="NAME",
        help=f"What the files are, whatever they are called: {READ_NAMES}.",
    ),
]
OUTPUT = f"{OUTPUT_FILE} With --to, - is standard output."
OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="NAME",
        help=f"What to write, whatever OUT is called: {WRITTEN_NAMES}.",
    ),
]
Formulas = Annotated[
    list[str] | None,
    question_option("-f", "--formula", metavar="FORMULA", help="LTL formula."),
]
FormulaFile = Annotated[
    str | None,
    question_option(
        "-F",
        "--formulas",
        metavar="FILE",
        help="File of formulas, one per line; or properties of the Model Checking "
        "Contest (.xml).",
    ),
]
AutomatonFile = Annotated[
    str | None,
    question_option(
        "--automaton",
        metavar="FILE",
        help="Automaton of the NEGATED property: HOA, a never claim, LBTT or "
        "ltl2dstar.",
    ),
]
Empty = Annotated[
    bool,
    question_option("--empty", help="Ask whether the network has no accepting run."),
]


def table_file(text: str) -> Any:
    """Return the option of the file for a table of results, with its help."""
    return output_option(None, "-o", "--out", metavar="FILE", help=text)


def report_file(text: str) -> Any:
    """Return the option of the file for an HTML report, with its help."""
    return output_option(None, metavar="FILE", help=text)


AsJson = Annotated[
    bool,
    output_option("--json", help="Print one JSON object per line."),
]
Steps = Annotated[
    bool,
    lasso_option(
        "--steps",
        help="Print each step of a lasso: the moves of components and the "
        "obligations left.",
    ),
]
Chart = Annotated[
    bool,
    lasso_option(
        "--chart",
        help="Draw each lasso as a sequence chart: a column per component, a row per "
        "step.",
    ),
]
Why = Annotated[
    bool,
    lasso_option(
        "--why",
        help="Print a table for each lasso: the value of each subformula at each step, "
        "and which values violate the formula.",
    ),
]
Explain = Annotated[
    bool,
    output_option("--explain", help="Print the plan: what was tried, and why."),
]
Quiet = Annotated[
    bool,
    output_option("--quiet", help="Print no progress and no summary."),
]


def _print_short(context: typer.Context, wanted: bool) -> None:
    """Print the short help of a command, and exit."""
    if wanted and not context.resilient_parsing:
        print_short(context.command, context)
        raise typer.Exit


_SHORT = inspect.Parameter(
    "short_help",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "-h",
            callback=_print_short,
            is_eager=True,
            expose_value=False,
            help="Show what is used most, with examples, and exit.",
        ),
    ],
)


def takes(
    command: str,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a flag for each option that applies to it.

    The command gets their values by name.

    Parameters
    ----------
    command : str
        One of those of `ltlpipe.question.options`.
    """

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(function, eval_str=True).parameters.values()
        parameters = [p for p in own if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in parameters}
        options = {n: o for n, o in options_of(command).items() if n not in taken}
        parameters += [_parameter(name, option) for name, option in options.items()]
        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (*parameters, _SHORT)]
        parameters.sort(key=_group)

        @wraps(function)
        def called(**given: Any) -> None:
            given.pop(_SHORT.name, None)
            for name, option in options.items():
                if option.kind is tuple:
                    given[name] = tuple(given[name] or ())
            function(**given)

        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in parameters}
        return called

    return decorated


def _parameter(name: str, option: Option) -> inspect.Parameter:
    """Return the parameter of which typer makes a flag."""
    kind: Any = str if option.kind is object else option.kind
    default = option.default
    if kind is tuple:
        kind, default = list[str] | None, None
    elif default is None:
        kind = kind | None
    flag = f"--{flag_of(name)}"
    annotation = typer.Option(
        f" /--no-{flag_of(name)}" if default is True else flag,
        *option.flags,
        metavar=option.metavar,
        help=option.help,
        parser=None if option.kind in (bool, tuple) else partial(option.read, name),
        autocompletion=_completing(option),
        rich_help_panel=option.group.capitalize() or None,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, annotation],
    )


def _completing(option: Option) -> Callable[[str], list[str]]:
    """Return what completes the values of an option in the shell."""

    def completed(incomplete: str) -> list[str]:
        return [v for v in map(str, option.choices) if v.startswith(incomplete)]

    return completed


def _group(parameter: inspect.Parameter) -> int:
    """Return the place of a parameter's group; arguments come first."""
    declared = *getattr(parameter.annotation, "__metadata__", ()), parameter.default
    panels = (getattr(about, "rich_help_panel", None) for about in declared)
    named = [panel for panel in panels if isinstance(panel, str)]
    return _GROUPS.index(named[0]) if named and named[0] in _GROUPS else -1


_WIDTH = 80


class Short(NamedTuple):
    """The short help of a command."""

    options: tuple[str, ...]  # the names of their parameters
    examples: tuple[str, ...]


SHORT = {
    "check": Short(
        (
            *("formula", "formula_file", "deadlock", "fairness", "reduce"),
            *("timeout", "memory", "shortest", "why", "as_json"),
        ),
        (
            "ltlpipe check ring.aut -f 'G(a1 -> F d1)'",
            "ltlpipe check net.pnml -F formulas.ltl --timeout 5m --why",
        ),
    ),
    "solve": Short(
        (
            *("out", "store", "report", "jobs", "timeout", "memory"),
            *("grid", "retry", "log", "as_json"),
        ),
        (
            "ltlpipe solve problems --out results.csv --report report.html",
            "ltlpipe solve problems --store run.sqlite --jobs 4 --timeout 60s",
        ),
    ),
    "compare": Short(
        (
            *("formula", "formula_file", "emptiness", "acceptance", "reduce"),
            *("grid", "repeat", "timeout", "plot", "out"),
        ),
        (
            "ltlpipe compare ring.aut -f 'G(a1 -> F d1)' --emptiness se05,couvreur99",
            "ltlpipe compare ring.aut -F formulas.ltl --repeat 5 --out table.csv",
        ),
    ),
    "info": Short(
        ("count", "as_json", "define", "timeout", "max_states"),
        (
            "ltlpipe info ring.aut",
            "ltlpipe info model.pml -D N=3 --count",
        ),
    ),
    "simulate": Short(
        ("formula", "lasso", "last", "seed", "plain"),
        ("ltlpipe simulate ring.aut", "ltlpipe simulate --last"),
    ),
}
"""The commands whose long help is long."""


def print_short(command: Any, context: Any) -> None:
    """Print the short help of a command; the long one if it has no other."""
    short = SHORT.get(command.name or "")
    if short is None:
        print(command.get_help(context))
        return
    by_name = {parameter.name: parameter for parameter in command.params}
    lines = [command.get_usage(context), "", _first_line(command.help), ""]
    for name in short.options:
        lines += _described(by_name[name], context)
    lines += ["", "Examples:", *(f"  {example}" for example in short.examples)]
    lines += ["", f"All options: {context.command_path} --help"]
    print("\n".join(lines), file=sys.stdout)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _described(parameter: Any, context: Any) -> list[str]:
    """Return the lines about an option: its flags, and the first sentence of help."""
    flags, help_text = parameter.get_help_record(context)
    head = f"  {flags}"
    sentence = _first_sentence(help_text.strip())
    indent = " " * 6
    return [
        head,
        *textwrap.wrap(
            sentence,
            _WIDTH - len(indent),
            initial_indent=indent,
            subsequent_indent=indent,
        ),
    ]


def _first_sentence(text: str) -> str:
    """Return a text up to its first full stop that ends a sentence."""
    return text.split(". ")[0].removesuffix(".").rstrip() + "."


class Complaints:
    """Prints the failures of a run over many tasks."""

    found_bug = False
    """Whether a run that was found fails its replay."""

    _said = ""

    def complain(self, error: Exception) -> None:
        """Print an error; the same one in a row is printed once."""
        message = f"error: {error}"
        self.found_bug |= isinstance(error, ReplayError)
        if isinstance(error, StoppedError):
            return  # a limit, which is the reason in the task's row
        if not isinstance(error, LtlpipeError):
            traceback.print_exception(error)
            print("error: this is a bug of ltlpipe; please report it", file=sys.stderr)
        elif message != self._said:
            print(visible_lines(message), file=sys.stderr)
        self._said = message


def search_progress(*, quiet: bool) -> AbstractContextManager[SearchProgress]:
    """Show progress while the block runs, if standard error is a terminal."""
    return search_bar(not quiet)


def run_within(
    job: Job[Result],
    limits: Limits | None = None,
    *,
    progress: SearchProgress | None = None,
) -> Result:
    """Run a job; StoppedError if a limit was hit, KeyboardInterrupt after Ctrl-C."""
    try:
        return run(job, limits, observer=progress)
    except StoppedError as stopped:
        if stopped.reason == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise


class PlanPrinter:
    """Prints each plan of a run once, if ``--explain`` is given.

    Where standard output belongs to JSON, plans go to standard error.
    """

    def __init__(self, *, wanted: bool, as_json: bool) -> None:
        self._wanted = wanted
        self._stream = sys.stderr if as_json else sys.stdout
        self._shown: set[tuple[str, ...]] = set()

    def show(self, plan: Plan) -> None:
        """Print a plan that has not been printed yet."""
        outcomes = (f"{t.strategy} {t.outcome} {t.reason}" for t in plan.tried)
        key = (*plan.reasons, *outcomes)  # without the seconds
        if not self._wanted or key in self._shown:
            return
        self._shown.add(key)
        for title, lines in (
            ("plan", plan.reasons),
            ("components", plan.merges),
            ("strategies", sorted(plan.tried, key=lambda t: t.outcome == "not tried")),
        ):
            if lines:
                print(f"{title}:", file=self._stream)
            for line in lines:
                print(f"  {line}", file=self._stream)


class TaskWatcher(TaskBar, Complaints):
    """Shows tasks on bars, prints plans and failures."""

    def __init__(
        self,
        progress: SearchProgress,
        plans: PlanPrinter,
        tasks: Sequence[Task],
    ) -> None:
        super().__init__(progress, tasks)
        self._plans = plans

    def solved(self, task: Task, plan: Plan) -> None:  # noqa: ARG002
        """Show the plan of a task."""
        self.progress.hide()
        self._plans.show(plan)

    def failed(self, question: Task, error: Exception) -> None:  # noqa: ARG002
        """Say why a task could not be solved."""
        self.complain(error)

    def stopping(self, running: int) -> None:
        """Say that Ctrl-C was pressed."""
        print(
            f"interrupted: finishing {counted(running, 'running task')}; "
            "Ctrl-C again to stop",
            file=sys.stderr,
        )
