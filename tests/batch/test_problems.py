"""Which folders are problems, and in which order they come."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ltlpipe import InputError, solve
from ltlpipe.batch.task_sources import Problem, find_problems

RING = 'digraph { 0 [initial=1]; 0 -> 1 [label="a"]; 1 -> 0 [label="b"]; }'


def made(folder, *names):
    """Return a folder that holds empty files of these names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


def refusal(*paths):
    with pytest.raises(InputError) as caught:
        find_problems(paths)
    return str(caught.value)


def test_a_problem_is_a_system_and_its_formulas(tmp_path):
    """Other files do not matter; formula files come sorted, 2 before 10."""
    made(tmp_path, "system.dot.gz", "f10.ltl", "f2.ltl.gz", "F.LTL", "readme", "x.dot")

    (problem,) = find_problems([tmp_path])

    assert problem == Problem(
        system=(f"{tmp_path}/system.dot.gz",),
        formulas=tuple(f"{tmp_path}/{f}" for f in ("F.LTL", "f2.ltl.gz", "f10.ltl")),
    )


@pytest.mark.parametrize("suffix", [".dot", ".gv", ".aut", ".hoa", ".AUT", ".hoa.gz"])
def test_formats_of_systems(suffix, tmp_path):
    """Whatever can be read, compressed or not."""
    made(tmp_path, f"System{suffix}", "f.ltl")

    assert find_problems([str(tmp_path)])[0].system == (f"{tmp_path}/System{suffix}",)


@pytest.mark.parametrize("separator", ["_", "-", ""])
def test_numbered_systems_are_components_in_their_order(separator, tmp_path):
    """system_10 comes after system_9, as in a network of ten components."""
    made(tmp_path, "f.ltl", *(f"system{separator}{k}.aut" for k in range(1, 12)))

    (problem,) = find_problems([tmp_path])

    assert problem.system == tuple(
        f"{tmp_path}/system{separator}{k}.aut" for k in range(1, 12)
    )


def test_folders_at_any_depth_in_natural_order(tmp_path):
    """2 before 10, and folders without a system are passed over."""
    names = ["2", "10", "10/deeper/still", "a²", "b/1"]
    for name in names:
        made(tmp_path / name, "system.dot", "f.ltl")
    made(tmp_path / "b", "f.ltl")

    found = [Path(p.system[0]).parent for p in find_problems([tmp_path])]

    assert found == [tmp_path / name for name in names]


def test_folders_in_the_order_in_which_they_are_named(tmp_path):
    """As the user wants them."""
    first = made(tmp_path / "z", "system.aut", "f.ltl")
    second = made(tmp_path / "a", "system.aut", "f.ltl")

    found = find_problems([first, second])

    assert [p.system for p in found] == [
        (f"{first}/system.aut",),
        (f"{second}/system.aut",),
    ]


@pytest.mark.parametrize(
    "names",
    [
        ["system.dot", "system.aut"],
        ["system.dot", "system.dot.gz"],
        ["system.aut", "system_1.aut"],
        ["system_1.aut", "system_2.aut", "system_2.dot"],
    ],
    ids=" ".join,
)
def test_two_systems_in_one_folder(names, tmp_path):
    """Nobody could say which of them is meant."""
    made(tmp_path / "p", "f.ltl", *names)

    (problem,) = find_problems([tmp_path])
    error = str(problem.error)
    assert error.startswith(f"{tmp_path}/p: two systems in one folder: ")
    assert all(name in error for name in names)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("model.pnml", "/2: a system without *.ltl or LTL*.xml beside it"),
        ("system.dot", "/2: a system without *.ltl or LTL*.xml beside it"),
        ("LTLx.xml", "/2/LTLx.xml: formulas without model.pnml beside them"),
    ],
)
def test_halves_of_problems(name, error, tmp_path):
    """Each has a row that says so, and the problems beside it are solved."""
    for folder in ("1", "3"):
        made(tmp_path / folder, "system.dot")
        (tmp_path / folder / "system.dot").write_text(RING)
        (tmp_path / folder / "f.ltl").write_text("G(a -> F b)")
    made(tmp_path / "2", name, "f.txt")

    frame = solve(tmp_path)

    assert frame["verdict"].tolist() == ["holds", "unknown", "holds"]
    assert frame["reason"].dropna().to_dict() == {1: "input-error"}
    assert frame["message"][1] == f"{tmp_path}{error}"


def test_no_problem_in_a_folder(tmp_path):
    """Each folder that is named has to hold one."""
    made(tmp_path / "full", "system.dot", "f.ltl")
    made(tmp_path / "empty", "f.ltl")

    assert "no problem found" in refusal(tmp_path / "full", tmp_path / "empty")


@pytest.mark.parametrize("name", ["file", "nothing"])
def test_not_a_folder(name, tmp_path):
    """A file is no folder of problems, even if it holds a system."""
    made(tmp_path, "file")

    found = "" if name == "file" else "no such folder; "
    told = "expected a folder of problems, or a table (.csv or .parquet)"
    expected = f"{tmp_path / name}: {found}{told}"
    assert refusal(tmp_path / name) == expected


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read(tmp_path):
    """Its problems would be missing without a word."""
    made(tmp_path / "1", "system.dot", "f.ltl")
    made(tmp_path / "2", "system.dot", "f.ltl").chmod(0)

    assert refusal(tmp_path) == f"{tmp_path}/2: cannot be read: Permission denied"


def test_a_folder_that_goes_away(tmp_path, monkeypatch):
    """An error of the system becomes one of ours (root may read everything)."""

    def walk(path, onerror):
        onerror(PermissionError(13, "Permission denied", str(path)))
        return []

    monkeypatch.setattr(os, "walk", walk)

    assert refusal(tmp_path) == f"{tmp_path}: cannot be read: Permission denied"
