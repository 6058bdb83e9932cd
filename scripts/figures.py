"""Fill in the figures of README.md and docs/benchmarks.md from the tables of results/.

A figure is the word in front of a comment that says where it comes from::

    of which 194<!-- mcc judged=right: count --> are decided
    at most 1.7<!-- rers problem~2017: max seconds .2g --> s

First the table and the rows, by conditions (``=``, ``!=``, ``>=``, ``<=``, ``~`` for
"contains", in quotes where there are blanks); then how many, or a column: of the one
row, or its `max`, `min`, `median` or `sum`, divided by a number (``/1e6``), in a format
of Python.  A whole table stands between ``<!-- table NAME -->`` and ``<!-- end -->``;
a function below makes it.

python scripts/figures.py [--check]
"""

from __future__ import annotations

import re
import shlex
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/benchmarks.md")
_FIGURE = re.compile(r"([^\s|(*]+)<!-- (\w+[^>:]*(?:[<>]=[^>:]*)*: [^>]+) -->")
_TABLE = re.compile(r"<!-- table (\w+) -->\n.*?<!-- end -->", re.DOTALL)
_CONDITION = re.compile(r"(\w+)(!=|>=|<=|=|~)(.*)")
_NUMBER = {"!=": "ne", ">=": "ge", "<=": "le", "=": "eq"}


@cache
def table(name: str) -> pd.DataFrame:
    """Return a table of results."""
    return pd.read_csv(ROOT / "results" / f"{name}.csv", low_memory=False)


def rows(name: str, *conditions: str) -> pd.DataFrame:
    """Return the rows of a table that meet all conditions."""
    found = table(name)
    for condition in conditions:
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise ValueError(f"{name}: no condition: {condition}")
        column, relation, value = match.groups()
        cells = found[column]
        if relation == "~":
            kept = cells.astype(str).str.contains(value, regex=False)
        elif pd.api.types.is_numeric_dtype(cells):
            kept = getattr(cells, _NUMBER[relation])(float(value))
        else:
            kept = getattr(cells.astype(str), _NUMBER[relation])(value)
        found = found[kept]
    return found


def one(name: str, *conditions: str) -> Any:
    """Return the one row that meets all conditions."""
    found = rows(name, *conditions)
    if len(found) != 1:
        raise ValueError(f"{name} {conditions}: {len(found)} rows")
    return found.iloc[0]


def figure(source: str) -> str:
    """Return what a comment asks for."""
    where, _, asked = source.partition(": ")
    name, *conditions = shlex.split(where)
    found = rows(name, *conditions)
    words = asked.split()
    if words == ["count"]:
        return f"{len(found):,}"
    spec = words.pop() if len(words) > 1 and words[-1][0] in ".," else ","
    divisor = float(words.pop()[1:]) if words[-1][0] == "/" else None
    *how, column = words
    if how:
        value = getattr(found[column].dropna(), how[0])()
    else:
        value = one(name, *conditions)[column]
    if divisor:
        value /= divisor
    return f"{int(value):,}" if spec == "," else f"{value:{spec}}"


def lines(*cells: Iterable[str]) -> str:
    """Return the lines of a table, of which the first is the head."""
    head, *body = [f"| {' | '.join(line)} |" for line in cells]
    return "\n".join([head, "|---" * (head.count(" | ") + 1) + "|", *body])


def explore() -> str:
    """State by state, beside Spin."""
    body = []
    for family, n in (("philosophers", 9), ("philosophers", 11), ("ring", 9)):
        where = [f"family={family}", f"n={n}"]
        spin = one("explore", *where, "tool=spin")
        cells = [f"{family} {n}"]
        for tool in ("ltlpipe couvreur99", "ltlpipe se05", "spin noreduce"):
            row = one("explore", *where, f"tool={tool}")
            cells += [f"{row.states:,}"] if len(cells) == 1 else []
            text = f"{row.states_per_second:,.0f} /s, {row.bytes_per_state:.0f} B"
            times = f" ({row.times_spin_noreduce:.1f}x)"
            cells.append(text + times * tool.startswith("ltlpipe"))
        text = f"{spin.states_per_second:,.0f} /s, {spin.bytes_per_state:.0f} B"
        body.append([*cells, f"{text}, {spin.states:,} states"])
    own = ["`couvreur99`", "`se05`"]
    others = ["Spin, no reduction", "Spin, with reduction"]
    return lines(["system", "states", *own, *others], *body)


def emptiness() -> str:
    """Beside Spot's searches."""
    body = []
    names = ["se05", "cvwy92", "gv04", "couvreur99", "tauriainen03"]
    for case, title in (
        ("philosophers 9, empty", "philosophers 9"),
        ("ring 8, empty", "ring 8"),
        ("ring 8, three marks", "ring 8, property with three marks"),
    ):
        cells = [title]
        for name in names:
            where = (f"case={case}", "tool=ltlpipe", f"algorithm={name}")
            row = one("emptiness", *where)
            rate = f"{row.states_per_second / 1e6:.2f} M"
            memory = f"{row.bytes_per_state:.0f} B"
            cells.append(f"{rate}, {memory}, {row.times_namesake:.1f}x")
            if name == "couvreur99":
                last = f"{row.times_is_empty:.2f}x"
        body.append([*cells, last])
    head = [*(f"`{name}`" for name in names), "`couvreur99` to `is_empty()`"]
    return lines(["system", *head], *body)


MODELS = {
    "philosophers": "philosophers 9",
    "bakery": "bakery 3",
    "election": "election 8",
    "window": "window 8",
    "paxos": "paxos 6",
    "filter": "filter lock 4",
}


def promela() -> str:
    """Promela models, beside Spin."""
    body = []
    for model, title in MODELS.items():
        where = (f"model={model}", "question=count")
        own, trees, spin, collapse = (
            one("promela", *where, f"tool={tool}")
            for tool in ("ltlpipe", "ltlpipe --compress", "spin", "spin -DCOLLAPSE")
        )
        cells = [f"{own.states:,.0f}"]
        has_trees = trees.bytes_per_state != own.bytes_per_state
        for row in (own, trees)[: 1 + has_trees]:
            rate = f"{row.states_per_second / 1e6:.1f} M/s ({row.times_spin:.1f}x)"
            cells.append(f"{rate}, {row.bytes_per_state:.0f} B")
        cells += ["the same"] * (not has_trees)
        cells.append(f"{spin.bytes_per_state:.0f}, {collapse.bytes_per_state:.0f} B")
        body.append([title, *cells])
    head = "model; states; ltlpipe; `--compress`; Spin, `-DCOLLAPSE`"
    return lines(head.split("; "), *body)


def merging() -> str:
    """Reduce Promela models, beside Spin with its defaults."""
    body = []
    ways = "full", "ample", "statements", "variables", "all"
    for model, title in MODELS.items():
        row = one("promela_merging", f"model={model}", "question=formula", "size>=0")
        if row.full_states == 1:
            continue
        states = [row[f"{way}_states"] for way in ways]
        counts = ["-" if pd.isna(n) else f"{n:,.0f}" for n in states]
        of_spin = [f"{row.spin_states:,.0f}", f"{row.spin_cpu:.2f}"]
        body.append([title, *counts, f"{row.all_cpu:.2f}", *of_spin])
    head = (
        "model, all states, ample sets, merged statements, dead variables, all, seconds"
    )
    return lines([*head.split(", "), "Spin: states", "seconds"], *body)


def memory() -> str:
    """Bytes per state."""
    net = "ParamProductionCell-PT-2"
    subjects = {
        "philosophers 8": "philosophers 8",
        "ring 9": "ring 9",
        "bopdp.3 (BEEM)": "bopdp.3 057",
        "elevator.4 (BEEM)": "elevator.4 001",
        "ParamProductionCell-2 (net)": f"{net} {net}_LTLC_3_",
    }
    searches = {
        "`se05`": "se05",
        "`couvreur99`": "couvreur99",
        "`--compact 64`": "compact 64",
        "`--compact 32`": "compact 32",
        "`--bitstate`": "bitstate",
        "Spin": "spin",
    }
    words = ["words per state"]
    for subject in subjects.values():
        row = one("memory", f"subject={subject}", "search=se05")
        words.append(f"{row.words:.0f}")
    body = []
    for title, search in searches.items():
        cells = [title]
        for subject in subjects.values():
            found = rows("memory", f"subject={subject}", f"search={search}")
            cells.append(f"{found.bytes_per_state.iloc[0]:.1f}" if len(found) else "-")
        body.append(cells)
    return lines(["", *subjects], words, *body)


def startup() -> str:
    """First checks."""
    body = []
    for title, case in (
        ("ten states, `se05`", "check, se05"),
        ("ten states, `couvreur99`", "check, couvreur99"),
        ("nine philosophers, a million states", "check, philosophers 9"),
    ):
        cpu = [
            f"{one('startup', f'case={case}, {which}').cpu_seconds:.1f}"
            for which in ("first", "compiling", "second")
        ]
        body.append([title, *cpu])
    there = "kernels [in the package](searches.md#kernels)"
    return lines(["first check", there, "compiling them", "any later one"], *body)


def programs() -> str:
    """Sequential programs of RERS."""
    body = []
    for problem in ("D04", "D11", "D16"):
        row = one("rers_sequential", f"problem={problem}")
        raw = str(row.states_raw)
        raw = f"> {int(raw[1:]):,}" if raw[0] == ">" else f"{int(raw):,}"
        calls = [row.kernel_calls_per_second, row.compiled_calls_per_second]
        ready = row.read_seconds + row.analyse_seconds + row.enumerate_seconds
        seconds = [f"{ready:.2f}", f"{row.seconds:.2g}"]
        rates = [f"{rate / 1e6:.1f}" for rate in calls]
        body.append([problem, raw, f"{int(row.states):,}", *seconds, *rates])
    head = ["program", "states", "reduced", "seconds", "20 properties"]
    return lines([*head, "calls, kernel", "calls, gcc"], *body)


def por() -> str:
    """States of products with ample sets."""
    titles = {
        "philosophers-9": "philosophers 9",
        "ring-8": "ring 8",
        "workers-6x10": "six workers",
    }
    body = []
    for system, title in titles.items():
        row = one("por", f"system={system}", "emptiness=couvreur99")
        counts = (row.full_states, row.ample_states, row.stubborn_states)
        body.append([f"{title}, `{row.formula}`", *(f"{n:,}" for n in counts)])
    head = ["network and formula", "whole", "closed sets", "stubborn sets"]
    return lines(head, *body)


def decided(found: pd.DataFrame) -> int:
    """Return how many rows have a verdict."""
    return int((found.verdict != "unknown").sum())


def random() -> str:
    """Random networks: decided by each way."""
    ways = ("decoupled", "auto", "couvreur99", "spin")
    body = []
    for title, *conditions in (
        ("at most 20 % internal", "ratio<=0.2"),
        ("40 % internal or more", "ratio>=0.4"),
        ("of these, five components or more", "ratio>=0.4", "components>=5"),
    ):
        found = [rows("decoupled_random", f"way={way}", *conditions) for way in ways]
        body.append([title, f"{len(found[0])}", *(f"{decided(f)}" for f in found)])
    return lines(["", "networks", "decoupled", "`auto`", "`couvreur99`", "Spin"], *body)


def components() -> str:
    """RERS-like networks: decided by each way."""
    sizes = {"random-pairs": (10, 30, 60), "random-dense": (10, 15, 30)}
    ways = {
        "`none`": "none",
        "`alphabet,ample`": "ample",
        "`alphabet,components,ample`": "components+ample",
        "`auto`": "auto",
    }
    body = []
    for title, way in ways.items():
        cells = [title]
        for style, numbers in sizes.items():
            for n in numbers:
                where = (f"style={style}", f"components={n}", f"way={way}", "timeout=3")
                found = rows("components", *where)
                of = f" of {len(found)}" * (len(found) != 20)
                cells.append(f"{decided(found)}{of}")
        body.append(cells)
    head = [f"{style}: {n}" for style, numbers in sizes.items() for n in numbers]
    return lines(["`--reduce`", *head], *body)


def ways() -> str:
    """Properties of RERS: decided by each way."""
    names = ["auto", "components", "ample", "decoupled", "explicit", "walks", "spin"]
    found = [decided(rows("rers_ways", f"way={name}")) for name in names]
    head = [*(f"`{name}`" for name in names[:-1]), "Spin"]
    asked, of_spin = (len(rows("rers_ways", f"way={way}")) for way in ("auto", "spin"))
    title = f"decided of {asked} (Spin: {of_spin})"
    return lines(["", *head], [title, *map(str, found)])


def workers() -> str:
    """Two workers, times as fast."""
    kinds = {
        "BEEM": ("beem", "holds"),
        "philosophers": ("philosophers", "holds"),
        "dispatchers": ("dispatcher", "holds"),
        "nets": ("net", "holds"),
        "violated: philosophers": ("philosophers", "violated"),
        "violated: ring 8, the violation late": ("ring", "violated"),
    }
    body = []
    for title, (kind, verdict) in kinds.items():
        where = (f"kind={kind}", f"verdict={verdict}", "workers=2")
        found = rows("workers_summary", *where)
        found = found[~found.question.str.startswith("median of")]
        times = found.to_sequential
        text = f"{times.median():.2f} ({times.min():.2f} to {times.max():.2f})"
        body.append([title, str(len(found)), text, f"{found.to_one.median():.2f}"])
    return lines(
        ["", "products", "two workers to `couvreur99`", "to one worker"], *body
    )


TABLES: dict[str, Callable[[], str]] = {
    made.__name__: made
    for made in (
        *(explore, emptiness, promela, merging, memory),
        *(startup, programs, por, random, components, ways, workers),
    )
}


def filled(text: str) -> str:
    """Return a page with the figures of today's tables."""
    text = _TABLE.sub(
        lambda m: f"<!-- table {m[1]} -->\n\n{TABLES[m[1]]()}\n\n<!-- end -->", text
    )
    return _FIGURE.sub(lambda m: f"{figure(m[2])}<!-- {m[2]} -->", text)


def main() -> int:
    """Write the pages, or say which would change."""
    code = 0
    for page in PAGES:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        if filled(text) == text:
            continue
        if sys.argv[1:] == ["--check"]:
            print(f"{page}: not the figures of results/; run scripts/figures.py")
            code = 1
        else:
            path.write_text(filled(text), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
