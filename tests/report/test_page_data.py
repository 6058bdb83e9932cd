"""The data of a page: what goes in comes out, in the order of people."""

from __future__ import annotations

import base64
import json
import zlib
from datetime import datetime, timedelta

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe.batch.results import RESULTS_DTYPES
from ltlpipe.batch.table import COMPARISON_DTYPES, to_frame
from ltlpipe.report.lasso_pictures import pictures
from ltlpipe.report.page_data import columns_of, in_table, packed
from tests.report.handmade_stores import EVIL

EPOCH = datetime(1970, 1, 1)

texts = st.one_of(st.none(), st.text(max_size=8), st.sampled_from(EVIL))


def unpacked(text):
    """What the page's script reads."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def data_of(frame):
    return unpacked(packed(columns_of(frame), pictures([], None), len(frame)))


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "system": texts,
                "formula": texts,
                "verdict": st.sampled_from(["holds", "violated", "unknown"]),
                "states": st.one_of(st.none(), st.integers(0, 2**53)),
                "seconds": st.one_of(st.none(), st.floats(0, 1e6)),
                "started_at": st.one_of(st.none(), st.datetimes(EPOCH)),
            }
        )
    )
)
def test_what_goes_in_comes_out(rows):
    """Texts by their numbers, numbers in six digits, times in milliseconds."""
    frame = to_frame(rows, {"system": "string", "formula": "string"})
    for name, dtype in {"verdict": "category", "states": "Int64"}.items():
        frame[name] = pd.Series([row[name] for row in rows], dtype=dtype)
    frame["seconds"] = pd.Series([row["seconds"] for row in rows], dtype="Float64")
    times = pd.Series([row["started_at"] for row in rows], dtype="datetime64[us]")
    frame["started_at"] = times.dt.tz_localize("UTC")
    data = data_of(frame)
    assert data["rows"] == len(rows)
    columns = {column["name"]: column for column in data["columns"]}
    for name in ("system", "formula", "verdict"):
        column = columns[name]
        assert len(set(column["texts"])) == len(column["texts"])
        found = [None if k is None else column["texts"][k] for k in column["values"]]
        assert found == [row[name] for row in rows]
    for row, number in enumerate(columns.get("states", {"values": []})["values"]):
        assert number == rows[row]["states"]
    for row, number in enumerate(columns.get("seconds", {"values": []})["values"]):
        exact = rows[row]["seconds"]
        assert (number is None) == (exact is None)
        assert exact is None or abs(number - exact) <= 1e-5 * exact
    for row, number in enumerate(columns.get("started_at", {"values": []})["values"]):
        exact = rows[row]["started_at"]
        assert (number is None) == (exact is None)
        if exact is not None:
            assert number == (exact - EPOCH) // timedelta(milliseconds=1)


def test_texts_are_in_the_order_of_people():
    """Numbers in names count as numbers, and capitals as small letters."""
    names = ["m10", "m9", "M9b", "", "m", "10", "9", "m\u0663", "m9"]
    frame = pd.DataFrame({"system": names})
    (column,) = columns_of(frame)
    assert column.texts == ["", "9", "10", "m", "m9", "M9b", "m10", "m\u0663"]
    assert [column.text(row) for row in range(len(names))] == names


def test_missing_columns_and_unknown_ones():
    """Columns without any value are left out; others are kept under their names."""
    frame = to_frame([{"system": "s", "weak": True}], COMPARISON_DTYPES)
    frame["my column"] = [float("inf")]
    columns = {column.name: column for column in columns_of(frame)}
    # Those in front are there, whatever they hold.
    assert list(columns) == [
        *("formula", "system", "configuration", "verdict"),
        *("weak", "my column"),
    ]
    assert columns["weak"].text(0) == "yes"
    assert columns["my column"].text(0) is None
    assert columns["formula"].text(0) is None


def test_the_table_has_a_configuration_if_there_are_two():
    rows = [{"configuration": name, "formula": "a"} for name in ("x", "y")]
    one, two = (to_frame(rows[:n], RESULTS_DTYPES) for n in (1, 2))
    assert "configuration" not in [c.name for c in in_table(columns_of(one))]
    assert "configuration" in [c.name for c in in_table(columns_of(two))]
