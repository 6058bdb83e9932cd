"""Flags and arguments that several commands share.

Those of a question are declared in `ltlpipe.question.options`; `takes` makes flags of
them.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltlpipe.question.options import OPTIONS
from ltlpipe.systems.formats import SYSTEM_FILES

if TYPE_CHECKING:
    from collections.abc import Callable

System = Annotated[list[str], typer.Argument(metavar="SYSTEM", help=SYSTEM_FILES)]
Formulas = Annotated[
    list[str] | None,
    typer.Option("-f", "--formula", metavar="FORMULA", help="LTL formula."),
]
FormulaFile = Annotated[
    str | None,
    typer.Option("-F", "--formulas", metavar="FILE", help="One formula per line."),
]
Empty = Annotated[
    bool, typer.Option("--empty", help="Ask whether the network has no accepting run.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One object per line.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Print the plan and its reasons.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")]


def _flag(name: str, taken: set[str] | None = None) -> Any:
    """Return the flag of an option, without the spellings that are `taken`."""
    option = OPTIONS[name]
    flags = option.flags or ("--" + name.replace("_", "-"),)
    return typer.Option(
        *(flag for flag in flags if flag not in (taken or ())),
        metavar=option.metavar,
        help=option.help,
        min=option.least,
        max=option.most,
    )


def takes(
    *names: str, **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command flags for options of a question, which it gets by name.

    Parameters
    ----------
    *names : str
        Keys of `OPTIONS`.
    **defaults
        Further ones, with other defaults than those declared.
    """
    wanted = {name: OPTIONS[name].default for name in names} | defaults

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [p for p in own if p.kind is not p.VAR_KEYWORD]
        taken = {f"--{p.name}" for p in parameters}
        for name, default in wanted.items():
            kind: Any = OPTIONS[name].kind
            if kind is tuple:
                kind, default = list[str] | None, None
            elif default is None:
                kind = kind | None
            parameters.append(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=default,
                    annotation=Annotated[kind, _flag(name, taken)],
                )
            )

        @wraps(command)
        def called(**given: Any) -> None:
            for name in wanted:
                if OPTIONS[name].kind is tuple:
                    given[name] = tuple(given[name] or ())
            command(**given)

        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in parameters}
        return called

    return decorated
