"""HTML that all layouts share: tables, and pages without scripts or anything to load.

Whatever is put into it is escaped here, and nowhere else.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STYLE = """\
table { border-collapse: collapse; }
th, td { border: 1px solid #ccc; padding: 0.2em 0.5em; text-align: left; }
.n { text-align: right; }
"""
"""How tables look."""


def table(
    titles: Sequence[str],
    rows: Iterable[Iterable[str]],
    numeric: Sequence[bool] | None = None,
) -> str:
    """Return a table; the cells of `numeric` columns stand to the right.

    Parameters
    ----------
    titles : sequence of str
        The heads of the k columns, as plain text.
    rows : iterable of iterable of str
        k cells each.
    numeric : sequence of bool, optional
        Of length k; by default none is.
    """
    kinds = [
        ' class="n"' if number else "" for number in numeric or [False] * len(titles)
    ]

    def line(tag: str, cells: Iterable[str]) -> str:
        inner = "".join(
            f"<{tag}{kind}>{html.escape(cell)}</{tag}>"
            for cell, kind in zip(cells, kinds, strict=True)
        )
        return f"<tr>{inner}</tr>"

    head = line("th", titles)
    body = "\n".join(line("td", row) for row in rows)
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def page(title: str, body: str, style: str = "") -> str:
    """Return a whole page.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        HTML.
    style : str
        Further CSS.
    """
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{html.escape(title)}</title>
<style>
body {{ font-family: sans-serif; }}
{STYLE}{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
