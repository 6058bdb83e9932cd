"""The plots of a page: those of `ltlpipe.report.plots` as SVG that a page can hold.

A page whose policy allows one style sheet takes no styles from its plots, so what
matplotlib writes as styles becomes attributes (SVG 2, Sec. 6.6: presentation
attributes); names of parts are told apart by plot.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

MOST_PAIRS = 3
"""Scatter plots, one for each two configurations."""

MOST_NAMES = 12
"""Configurations of one plot; with more nobody can tell the curves apart."""

SIZE_IN_NAME = r"(?<!\d)([1-9]\d*)[^\d/\\]*$"
"""The size of a system, in the name of its file and not in that of its folder.

Numbers with zeros in front, as in ``problem_007.dot``, are names.
"""

_LEAST_SIZES = 3

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]*)\)")


class Plot(NamedTuple):
    """A plot; `svg` is None where there is only something to say."""

    caption: str
    svg: Any  # markup, or None


def plots(frame: pd.DataFrame) -> list[Plot]:
    """Return the plots that say something about a result table."""
    from ltlpipe.report.plots import svg_text

    found: list[Plot] = []
    for caption, draw in _wanted(frame):
        try:
            text = svg_text(draw())
        except UnsupportedError as error:
            if "matplotlib" in str(error):
                return [Plot(f"No plots: {error}", None)]
            continue  # there is nothing to plot
        found.append(Plot(caption, embedded(text, f"plot{len(found)}-", caption)))
    return found


def _wanted(frame: pd.DataFrame) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield captions of plots and how to draw them."""
    from ltlpipe.report.plots import cactus, growth, scatter, verdicts
    from ltlpipe.report.plots.configurations import configured

    if not len(frame):
        return
    found = configured(frame)
    names, by = found.names, found.columns
    if len(names) <= MOST_NAMES:
        of_all = " of each configuration" if len(names) > 1 else ""
        yield f"Verdicts{of_all}", partial(verdicts, frame, by=by)
        if "seconds" in frame:
            caption = f"Solved tasks over the seconds of a task{of_all}"
            yield caption, partial(cactus, frame, by=by)
    if "seconds" not in frame:
        return
    for a, b in list(combinations(names, 2))[:MOST_PAIRS]:
        caption = f"Seconds with {a} and with {b}"
        yield caption, partial(scatter, frame, a, b, by=by)
    systems = frame["system"].dropna().unique()
    with_size = [name for name in systems if re.search(SIZE_IN_NAME, name)]
    if len(with_size) >= _LEAST_SIZES and "states" in frame:
        sized = frame[frame["system"].isin(with_size)]
        caption = "States over the size in the name of a system's file"
        yield caption, partial(growth, sized, by=by, size=SIZE_IN_NAME)


def embedded(text: str, prefix: str, caption: str) -> Any:
    """Return SVG as it can stand in a page with other plots.

    Parameters
    ----------
    text : str
        What matplotlib has written, from ``<svg`` on.
    prefix : str
        Stands before each name of a part.
    caption : str
        What is read out in place of the picture.

    Returns
    -------
    markupsafe.Markup
    """
    from markupsafe import Markup

    ElementTree.register_namespace("", _SVG[1:-1])
    ElementTree.register_namespace("xlink", _HREF[1:-5])
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("style", "metadata", "script"):
                parent.remove(child)
    for element in root.iter():
        _unstyle(element)
        _rename(element, prefix)
    # What matplotlib says of all elements in the style sheet that is gone.
    root.attrib.update({"stroke-linejoin": "round", "stroke-linecap": "butt"})
    root.attrib.update({"role": "img", "aria-label": caption})
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _unstyle(element: ElementTree.Element) -> None:
    """Replace the style of an element by attributes."""
    for declaration in element.attrib.pop("style", "").split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            element.set(name.strip(), value.strip())


def _rename(element: ElementTree.Element, prefix: str) -> None:
    """Put a prefix before the name of an element, and before those it refers to."""
    for name, value in list(element.attrib.items()):
        if name == "id":
            element.set(name, prefix + value)
        elif name == _HREF and value.startswith("#"):
            element.set(name, f"#{prefix}{value[1:]}")
        elif "url(#" in value:
            element.set(name, _REFERENCE.sub(rf"url(#{prefix}\1)", value))
