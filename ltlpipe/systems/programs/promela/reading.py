"""Reading a Promela model: from text to a checked `syntax.Model`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.promela.resolving import resolved
from ltlpipe.systems.programs.promela.syntax import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.plain import Plain
    from ltlpipe.systems.programs.promela.syntax import Model


def read_model(
    text: str,
    file: str,
    defines: Sequence[str] = (),
    folders: Sequence[str] = (),
) -> Model:
    """Read the text of a model.

    Parameters
    ----------
    text : str
        The model.
    file : str
        Its name, for messages; files are included from below its folder.
    defines : sequence of str
        Macros that are defined in front of the text: ``N`` or ``N=5``.
    folders : sequence of str
        Other folders from where files may be included.

    Raises
    ------
    InputError
        The text is no model; names file, line and column and what was expected.
    """
    plain = parse_plain(text, file, defines, folders)
    return complete(model_job(plain, file))


def parse_plain(
    text: str,
    file: str,
    define: Sequence[str] = (),
    include: Sequence[str] = (),
    processes: int | None = None,
) -> Plain:
    """Preprocess and parse the text of a model; return its tree as plain data.

    Raises
    ------
    InputError
        The text is no model.
    """
    from ltlpipe.systems.programs.promela.parsing import parse_tokens
    from ltlpipe.systems.programs.promela.preprocessing import preprocess
    from ltlpipe.systems.programs.promela.tokens import tokens_of

    source = preprocess(text, file, define, include)
    lines = text.rstrip().split("\n")
    end = Place(file, len(lines), len(lines[-1]) + 1)
    plain = parse_tokens(tokens_of(source), end)
    plain["macros"] = json.dumps(source.macros).encode()
    plain["processes"] = processes
    return plain


def model_job(plain: Plain, file: str) -> Job[Model]:
    """Return the job that checks what `parse_plain` has returned."""
    from ltlpipe.systems.programs.promela.parsing import tree_of

    tree = yield from tree_of(plain)
    return resolved(tree, file, json.loads(bytes(plain["macros"])))


def build(plain: Plain, file: str) -> Job[Any]:
    """Return the job that makes a model of what `parse_plain` has returned."""
    from ltlpipe.systems.programs.promela.model import promela_model

    tree = yield from model_job(plain, file)
    return (yield from promela_model(tree, processes=plain["processes"]))
