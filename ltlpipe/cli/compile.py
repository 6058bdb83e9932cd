"""``ltlpipe compile``: the successor function of a state-based model."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from ltlpipe.cli import options as shared  # noqa: TC001 (typer reads the annotations)
from ltlpipe.runtime.names import counted


def compile_model(
    path: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A DVE model (.dve, .dve.gz); - is standard input.",
        ),
    ],
    form: shared.Format = None,
    show: Annotated[
        bool, typer.Option("--show", help="Print the generated source instead.")
    ] = False,
) -> None:
    """Compile a DVE model, or print the generated source.

    Every command compiles the successor function of a model when it first needs it, and
    caches the machine code.  This command only compiles, and reports the time.
    """
    from ltlpipe.systems.reading import load_dve

    model = load_dve(path, format=form)
    if show:
        print(model.source, end="")
        return
    from ltlpipe.runtime.kernels.jit import expand_pointer

    started = time.perf_counter()
    expand_pointer(model.pack([]).expand)
    seconds = time.perf_counter() - started
    print(
        f"{path}: {counted(len(model.variables), 'variable')} in "
        f"{counted(model.layout.n_words, 'word')}, "
        f"{counted(model.n_actions, 'action')}; compiled in {seconds:.2f} s"
    )
