"""Figures show themselves, in a kernel that knows nothing of matplotlib."""

from __future__ import annotations

import copy
import pickle
import struct
from base64 import b64decode

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from ltlpipe import plots
from tests.report.handmade_tables import row, stored

TABLE = """
from ltlpipe import plots
from tests.report.handmade_tables import row, stored

frame = stored([row("default", 1.0), row("default", None)])
"""


def executed(sources, folder, monkeypatch):
    """Return what each cell of a notebook shows, in a new kernel."""
    for name in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "TMPDIR"):
        (folder / name).mkdir()
        monkeypatch.setenv(name, str(folder / name))
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return [[o["data"] for o in c.outputs if "data" in o] for c in notebook.cells]


@pytest.mark.thorough("runs notebooks")
@pytest.mark.parametrize("before", ["", "%matplotlib inline"])
def test_the_last_value_of_a_cell(before, tmp_path, monkeypatch):
    """It is shown once, as a picture; that it is an object is said besides."""
    cells = [before, TABLE, "plots.verdicts(frame)", "plots.cactus(frame);"]
    *_, first, second = executed(cells, tmp_path, monkeypatch)

    assert [{*data} for data in first] == [{"text/plain", "image/png"}]
    assert b64decode(first[0]["image/png"]).startswith(b"\x89PNG")
    assert second == []


def test_its_size():
    """A page has 100 pixels for an inch, a screen with more shows them."""
    figure = plots.verdicts(stored([row("default", 1.0)]))
    data, about = figure._repr_png_()
    width, _ = struct.unpack(">II", data[16:24])
    assert about == {"width": 700}
    assert width == 1050


def test_copies():
    """Figures can be copied and pickled, as any of matplotlib."""
    figure = plots.cactus(stored([row("default", 1.0)]))
    for other in (copy.deepcopy(figure), pickle.loads(pickle.dumps(figure))):
        assert plots.svg_text(other) == plots.svg_text(figure)
