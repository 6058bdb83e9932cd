"""The registry of formats, and the order of imports in the room."""

import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

from ltlpipe.systems import formats
from ltlpipe.systems.formats import FORMATS, MODEL_SUFFIXES, by_suffix
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.reading import load
from ltlpipe.systems.writing import save

ROOT = Path(formats.__file__).parents[1]
RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])


def test_no_import_in_the_room_goes_round():
    """Not in functions either, and not for type checkers."""
    graph = grimp.build_graph("ltlpipe")
    modules = {m for m in graph.modules if m.startswith("ltlpipe.systems")}
    imports = {m: graph.find_modules_directly_imported_by(m) & modules for m in modules}

    assert set(TopologicalSorter(imports).static_order()) == modules


def test_suffixes_are_declared_once():
    suffixes = [suffix for form in FORMATS for suffix in form.suffixes]

    assert len(set(suffixes)) == len(suffixes)
    assert by_suffix(".nonsense") is None


@pytest.mark.parametrize("room", ["cli", "batch", "systems/reading", "systems/writing"])
def test_nothing_else_lists_suffixes(room):
    """Messages and helps are made from the registry: no line names two formats."""
    suffixes = "|".join(re.escape(s) for form in FORMATS for s in form.suffixes)
    place = ROOT / room
    files = place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
    for file in files:
        text = re.sub(r'"""(.|\n)*?"""', "", file.read_text(encoding="utf-8"))
        for line in text.splitlines():
            assert len(set(re.findall(rf"(?:{suffixes})\b", line))) < 2, file


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.suffixes[0])
def test_what_is_declared_is_done(form, tmp_path):
    """What has a writer is written; what has a reader, too, is read back."""
    if form.writer is None:
        assert form.reader is not None
        assert form.suffixes[0] in MODEL_SUFFIXES
        return
    for suffix in form.suffixes:
        (path,) = save(RING, tmp_path / f"ring{suffix}")
        if form.reader is not None and not form.model:
            assert load(path) == RING
        elif form.model:  # a system of another kind, with as many steps
            assert load(path).n_actions == len(RING.actions)


def test_the_registry_imports_nothing():
    code = (
        "import sys, ltlpipe.systems.formats;"
        "print({'lark', 'spot', 'lxml', 'numpy', 'numba', 'multiprocessing'}"
        " & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert found.stdout == "set()\n"
