"""The report: one HTML page about a run that needs nothing but itself.

Input: a result store or a result table. Output: a page with disagreements, the
verdicts, a matrix of systems and formulas, plots, a table of all tasks that a script of
the page sorts, filters and searches, and the setting; the details of a task, with the
picture of its lasso, are rendered on demand. Read this module first, then
`ltlpipe.report.page_data` for the data of the script, then ``templates/script``, whose
parts are listed in `SCRIPT`.

Plots are images that are part of an address (``data:``): they bring their own styles,
which the policy forbids everywhere else.

Nothing of the input is ever code.  Jinja escapes what it inserts, the data are base64,
the script makes text nodes and never markup, and the page's policy (Content Security
Policy, Level 3) lets the browser run this one script and use this one style sheet, by
their hashes, and load nothing at all.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime, timezone
from functools import partial
from importlib.resources import files
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe._version import __version__
from ltlpipe.batch.results import filtered
from ltlpipe.batch.table import actions_in, from_frame
from ltlpipe.report.lasso_pictures import (
    Pictures,
    Place,
    ViolatingSteps,
    named,
    pictures,
)
from ltlpipe.report.page_data import (
    Story,
    columns_of,
    common_folder,
    in_table,
    number,
    packed,
    without_folder,
)
from ltlpipe.report.page_summary import (
    Loader,
    agreement,
    contradictions,
    counts,
    groups,
    matrix,
    read_source,
    setting,
)
from ltlpipe.report.palette import DIFFER, SYMBOLS, style_sheet
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from ltlpipe.report.page_summary import Source
    from ltlpipe.runtime.files import StrPath

FIRST_ROWS = 100
"""Rows that the page shows without its script."""

SCRIPT = (
    *("data.js", "view.js", "address.js", "table.js", "task.js", "lasso.js"),
    "start.js",
)
"""The parts of the script, in order."""

_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; "
    "img-src data:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def write_report(
    path: StrPath, out: StrPath, *, title: str | None = None, where: str | None = None
) -> int:
    """Write the report of a store or a result table as one HTML page.

    Parameters
    ----------
    path : path
        A store of ``solve --store``, or a table of ``solve --out`` or
        ``compare --out``.
    out : path
        The page.
    title : str, optional
        Its heading; by default it names the file.
    where : str, optional
        Only the rows for which this is true; see `ltlpipe.batch.results.filtered`.

    Returns
    -------
    int
        How many tasks it shows.

    Raises
    ------
    LtlpipeError
        `path` cannot be read or has no results, or `out` cannot be written.
    """
    source = read_source(path)
    source = source._replace(frame=filtered(source.frame, where))
    text = page(source, title or f"Report of {source.name}", where=where)
    # Names of files and arguments of programs need not be text.
    write_text(out, text.encode(errors="backslashreplace").decode())
    return len(source.frame)


def page(source: Source, title: str, *, where: str | None = None) -> str:
    """Return the page about a source."""
    loader = Loader(source)
    contradicted, n_contradicted = contradictions(source)
    drawn = pictures(_lassos(source.frame, loader), loader.network)
    steps = ViolatingSteps()
    stories = _stories(source.frame, drawn, steps)
    columns = columns_of(source.frame)
    folder = common_folder(source.frame["system"].dropna().astype(str).unique())
    script, style = _script(), _style()
    text: str = _template().render(
        policy=_POLICY.format(script=_hash(script), style=_hash(style)),
        script=script,
        style=style,
        title=title,
        where=where,
        made_at=f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC",
        version=__version__,
        setting=setting(source),
        counts=counts(source.frame),
        groups=groups(source.frame),
        matrix=matrix(source.frame),
        agreement=agreement(source.frame),
        contradictions=contradicted,
        n_contradictions=n_contradicted,
        plots=plots(source.frame),
        columns=in_table(columns),
        first=range(min(FIRST_ROWS, len(source.frame))),
        n_rows=len(source.frame),
        notes=[*_notes(source, drawn, loader, steps)],
        folder=folder,
        data=packed(columns, drawn, len(source.frame), stories, folder),
    )
    return text


def _lassos(
    frame: pd.DataFrame, loader: Loader
) -> Iterator[tuple[str, str, Place | None] | None]:
    """Yield the lasso of each row, and the files of its system if known."""
    names = ["lasso_prefix", "lasso_cycle", "task", "configuration"]
    names += ["ltlpipe_version", "spot_version"]
    for row in from_frame(frame.reindex(columns=names)):
        prefix, cycle, task, configuration, *versions = (row[name] for name in names)
        if prefix is None and cycle is None:
            yield None
            continue
        place = None
        if task is not None:
            place = loader.place(task, tuple(versions), configuration)
        yield prefix or "[]", cycle or "[]", place


def _stories(
    frame: pd.DataFrame, drawn: Pictures, steps: ViolatingSteps
) -> list[Story | None]:
    """Return the formula's view of the lasso of each row, where that is known.

    Only for networks that could be loaded: for others the propositions of a step are
    unknown.
    """
    names = ["formula", "lasso_prefix", "lasso_cycle"]
    plain = from_frame(frame.reindex(columns=names))
    place_of = {name: k for k, name in enumerate(drawn.actions)}
    found: list[Story | None] = []
    for place, row in zip(drawn.of_row, plain, strict=True):
        formula, prefix, cycle = row.values()
        system = None if place is None else drawn.pictures[place].system
        if system is None or formula is None:
            found.append(None)
            continue
        before = actions_in(prefix or "[]")
        actions = [*before, *actions_in(cycle or "[]")]
        unclear = drawn.systems[system].unclear
        lost = steps.of(formula, actions, len(before), unclear)
        seen = (named(formula) - unclear) & place_of.keys()
        found.append(Story(lost, sorted(place_of[name] for name in seen)))
    return found


def _notes(
    source: Source, drawn: Pictures, loader: Loader, steps: ViolatingSteps
) -> Iterator[str]:
    """Yield why the pictures of lassos show less than they could."""
    if not drawn.has_all_states:
        yield "The states of components are shown with the first lassos only."
    if steps.ran_out:
        yield (
            "There was no time to find out of all lassos which step violates the "
            "formula for good."
        )
    if not drawn.pictures or all(p.system is not None for p in drawn.pictures):
        return
    if source.origins is None:
        yield (
            "The table does not have the components of an action; a report of the "
            "store does."
        )
    elif loader.ran_out:
        yield (
            "There was no time to load all systems: some lassos show their "
            "actions without the components that take part."
        )
    else:
        yield (
            "Some lassos show the actions without the components that take part: their "
            "systems are models, have changed since, or could not be read again."
        )


def _template() -> Any:
    """Return the template of the page; what is inserted is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ltlpipe.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "without_folder": without_folder}
    environment.globals |= {"symbols": SYMBOLS, "differ": DIFFER}
    return environment.get_template("report.html")


def _script() -> Any:
    """Return the script, whose parts share one private scope."""
    from markupsafe import Markup

    parts = "\n".join(_own(f"script/{name}") for name in SCRIPT)
    return Markup(f'"use strict";\n(() => {{\n{parts}}})();\n')


def _style() -> Any:
    """Return the style sheet, with the palette of verdicts."""
    from markupsafe import Markup

    return Markup(style_sheet() + _own("report.css"))


def _own(name: str) -> str:
    """Return a file of the package."""
    return (files("ltlpipe.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return how a policy names an inline script or style."""
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


MOST_PAIRS = 3
"""Scatter plots, one for each two configurations."""

MOST_NAMES = 12
"""Limit on the configurations of one plot: more curves are indistinguishable."""

_LEAST_SIZES = 3


class Plot(NamedTuple):
    """A plot; `image` is None if there is only a text."""

    caption: str
    image: str | None  # an address that holds it


def plots(frame: pd.DataFrame) -> list[Plot]:
    """Return the plots that are informative for a result table."""
    from ltlpipe.report.plots import svg_text

    found: list[Plot] = []
    for caption, draw in _wanted(frame):
        try:
            text = svg_text(draw())
        except UnsupportedError as error:
            if "matplotlib" in str(error):
                return [Plot(f"No plots: {error}", None)]
            continue  # there is nothing to plot
        coded = base64.b64encode(text.encode()).decode("ascii")
        found.append(Plot(caption, f"data:image/svg+xml;base64,{coded}"))
    return found


def _wanted(frame: pd.DataFrame) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield captions of plots and how to draw them."""
    from ltlpipe.report.plots import cactus, growth, scatter, verdicts
    from ltlpipe.report.plots.configurations import OF_SEARCH, configured, cost_column

    if not len(frame):
        return
    found = configured(frame)
    names, by = found.names, found.columns
    value = cost_column(frame, by) if "seconds" in frame else "seconds"
    seconds = "Seconds of the search" if value == OF_SEARCH else "Seconds"
    if len(names) <= MOST_NAMES:
        of_all = " of each configuration" if len(names) > 1 else ""
        yield f"Verdicts{of_all}", partial(verdicts, frame, by=by)
        if "seconds" in frame:
            of_one = "search" if value == OF_SEARCH else "task"
            caption = f"Solved tasks over the seconds of a {of_one}{of_all}"
            yield caption, partial(cactus, frame, by=by, value=value)
    if "seconds" not in frame:
        return
    for a, b in list(combinations(names, 2))[:MOST_PAIRS]:
        caption = f"{seconds} with {a} and with {b}"
        yield caption, partial(scatter, frame, a, b, by=by, value=value)
    with_size = _with_size(frame)
    if len(with_size) and "states" in frame:
        caption = "States over the size in the name of a system's file"
        yield caption, partial(growth, with_size, by=by)


def _with_size(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of systems with a size; none if these are too few to compare."""
    from ltlpipe.report.plots.curves import sized

    families: dict[str, list[str]] = {}
    for name in frame["system"].dropna().unique():
        size, family = sized(str(name))
        if size is not None:
            families.setdefault(family, []).append(name)
    systems = [name for names in families.values() for name in names]
    if len(systems) < _LEAST_SIZES or len(systems) == len(families):
        return frame.iloc[:0]
    return frame[frame["system"].isin(systems)]
