"""Opening files, and choosing the format by suffix."""

import gzip
import io
import os
import subprocess
import sys
import time
import tracemalloc

import pytest

from ltlpipe import check
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import read_text, split_suffix
from ltlpipe.systems.networks.lts import LTS
from ltlpipe.systems.reading import load, load_network
from tests.processes import SOON
from tests.systems.programs.eca.small_programs import COUNTER

DOT = 'digraph { 0 -> 1 [label=""] 1 -> 1 [label="é"] }\n'
AUT = 'des (0, 1, 1)\n(0, "é", 0)\n'
HOA = """\
HOA: v1 States: 1 Start: 0 AP: 1 "é" Acceptance: 0 t
--BODY-- State: 0 [0] 0
--END--
"""
TEXTS = {".dot": DOT, ".gv": DOT, ".aut": AUT, ".hoa": HOA}
SUFFIXES = [".dot", ".aut", ".hoa"]
LOOP = LTS.from_transitions([(0, "é", 0)])


def refusal(path, kind=InputError):
    with pytest.raises(kind) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["", "bom"])
def test_format_by_suffix(suffix, compressed, bom, tmp_path):
    data = bom + TEXTS[suffix].encode()
    path = tmp_path / ("M" + suffix.upper() + (".gz" if compressed else ""))
    path.write_bytes(gzip.compress(data) if compressed else data)

    network = load(path)

    assert network.components == (LOOP,)
    assert network.name == str(path)


def test_line_breaks_of_other_systems(tmp_path):
    for suffix in SUFFIXES:
        path = tmp_path / f"m{suffix}"
        path.write_bytes(TEXTS[suffix].replace("\n", "\r\n").encode())

        assert load(str(path)).components == (LOOP,)


def test_several_files_are_components_of_one_network(tmp_path):
    for suffix in SUFFIXES:
        (tmp_path / f"m{suffix}").write_text(TEXTS[suffix] * (1 + (suffix == ".hoa")))

    network = load([tmp_path / f"m{suffix}" for suffix in SUFFIXES])

    assert network.components == (LOOP,) * 4
    assert [a.participants for a in network.actions] == [(0, 1, 2, 3)]


def test_no_file():
    assert "at least one file" in refusal([])


@pytest.mark.parametrize("name", ["m", "m.txt", "m.gz", ".dot", "touch pwned|"])
def test_unknown_suffix(name, tmp_path):
    """A file that is not there may be meant as a formula."""
    assert "no such file (a formula is given by -f)" in refusal(tmp_path / name)
    (tmp_path / name).touch()
    assert "unknown suffix" in refusal(tmp_path / name)
    assert refusal(tmp_path) == f"{tmp_path}: a folder, expected a file"


@pytest.mark.parametrize("name", ["m.dve", "m.pnml.gz"])
def test_models_are_no_components(name):
    assert "has one file, but 2 are given" in refusal([name, "n.aut"], UnsupportedError)
    assert refusal([name, "G a"]) == "G a: no such file (a formula is given by -f)"
    with pytest.raises(UnsupportedError, match="expected components of a network"):
        load_network(name)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_that_cannot_be_opened(suffix, tmp_path):
    directory = tmp_path / f"directory{suffix}"
    directory.mkdir()

    assert refusal(tmp_path / f"m{suffix}").endswith("No such file or directory")
    assert refusal(directory).endswith("Is a directory")
    assert "cannot be read" in refusal(f"nul\0{suffix}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission(tmp_path):
    path = tmp_path / "m.dot"
    path.write_text(DOT)
    path.chmod(0)

    assert refusal(path).endswith("Permission denied")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_files(suffix, tmp_path):
    path = tmp_path / f"m{suffix}"
    for text in ("", "\n", " /* nothing */ "):
        path.write_text(text)

        assert refusal(path).startswith(f"{path}:")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_corrupt_gz(suffix, tmp_path):
    """Plain text, an archive cut anywhere, a damaged byte in the middle."""
    path = tmp_path / f"m{suffix}.gz"
    whole = gzip.compress(TEXTS[suffix].encode(), mtime=0)
    damaged = whole[:20] + bytes([whole[20] ^ 0xFF]) + whole[21:]
    cuts = [whole[:size] for size in range(len(whole))]
    for data in [TEXTS[suffix].encode(), damaged, *cuts]:
        path.write_bytes(data)

        assert refusal(path).startswith(str(path))


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".pnml", ".pml"])
def test_names_that_say_something_else_of_compression(suffix, tmp_path):
    """What is compressed has no '.gz' at its name, or the other way round."""
    path = tmp_path / f"m{suffix}"
    path.write_bytes(gzip.compress(b"text"))
    assert "compressed by gzip, expected '.gz' at its name" in refusal(path)
    packed = tmp_path / f"m{suffix}.gz"
    packed.write_text("text")
    assert "it is not compressed by gzip, as '.gz' says" in refusal(packed)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bytes_that_are_not_text(suffix, tmp_path):
    path = tmp_path / f"m{suffix}"
    for data, expected in [
        (TEXTS[suffix].encode("latin-1"), "byte 0xe9, expected text in UTF-8"),
        (TEXTS[suffix].replace("é", "\0").encode(), "a NUL byte, expected text"),
    ]:
        line = 1 + data[: max(data.find(b"\xe9"), data.find(b"\0"))].count(b"\n")
        path.write_bytes(data)

        assert refusal(path) == f"{path}:{line}: {expected}"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("suffix", [*SUFFIXES, ".c", ".pml"])
def test_other_encodings_of_unicode(suffix, encoding, tmp_path):
    """Editors write them, and show nothing of it."""
    path = tmp_path / f"m{suffix}"
    text = TEXTS.get(suffix, COUNTER)
    path.write_bytes(text.encode(encoding))
    expected = f"the text is in {encoding[:6].upper()}, expected UTF-8"
    assert refusal(path) == f"{path}:1: {expected}"
    with path.open("rb") as stream:
        assert refusal(stream) == f"{path}:1: {expected}"


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".dve", "/* caf\xe9 */ process P { state a; init a; } system async;"),
        (".c", "// caf\xe9\n" + COUNTER),
    ],
)
def test_comments_in_latin_1(suffix, text, tmp_path):
    path = tmp_path / f"m{suffix}"
    path.write_bytes(text.encode("latin-1"))
    assert check(load(path), "G true").verdict == "holds"


@pytest.mark.parametrize(
    "garbage",
    [b"\0", b"\xff\xfe", b"garbage ", b"{", b'"', b"(", b"\n\n\x7fELF"],
    ids=["nul", "bytes", "words", "braces", "quotes", "brackets", "lines"],
)
@pytest.mark.parametrize("suffix", [*SUFFIXES, ".dot.gz"])
def test_garbage_is_refused_by_its_beginning(suffix, garbage, tmp_path):
    """20 MB cost no more than a few buffers of time and memory."""
    path = tmp_path / f"m{suffix}"
    data = garbage * (20_000_000 // len(garbage))
    path.write_bytes(gzip.compress(data, 1) if suffix.endswith(".gz") else data)

    tracemalloc.start()
    start = time.perf_counter()
    message = refusal(path)
    seconds = time.perf_counter() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert message.startswith(f"{path}:")
    assert "expected" in message
    assert peak < 4_000_000
    assert seconds < SOON


@pytest.mark.parametrize(
    ("suffix", "opening"),
    [
        (".dot", 'digraph { "'),
        (".dot", "digraph { /*"),
        (".dot", "digraph {{{{ @"),
        (".aut", "des (0, 1, 1)\n"),
        (".hoa", 'HOA: v1 "'),
    ],
)
@pytest.mark.parametrize("garbage", ["a", ", ", "*", "\\", " ", '"', "/*", "(0,a"])
def test_garbage_behind_a_good_beginning(suffix, opening, garbage, tmp_path):
    """No expression backtracks over the whole file again and again."""
    path = tmp_path / f"m{suffix}"
    path.write_text(opening + garbage * 200_000)

    start = time.perf_counter()
    assert refusal(path).startswith(f"{path}:")
    assert time.perf_counter() - start < SOON


@pytest.mark.parametrize("suffix", ["", *SUFFIXES])
def test_no_name_and_no_content_is_run(suffix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = f"touch pwned|{suffix}"
    for text in ("touch pwned|", "HOA: v1\n|", "touch pwned |\n"):
        (tmp_path / name).write_text(text)

        assert refusal(name)
        assert [p.name for p in tmp_path.iterdir()] == [name]


def test_text_may_begin_with_a_long_comment(tmp_path):
    path = tmp_path / "m.dot"
    path.write_text("/*" + " licence" * 20_000 + "*/" + DOT)

    assert load(path).components == (LOOP,)


def test_read_text_without_opening(tmp_path):
    path = tmp_path / "anything"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\n")

    assert read_text(path) == "a\r\nb\n"


def test_split_suffix():
    assert split_suffix("a.b/m.x.AUT.gz") == ("m.x", ".aut")


def test_parsers_are_imported_when_needed():
    code = (
        "import sys, ltlpipe.systems.reading, ltlpipe.systems.writing;"
        "print({'lark', 'spot', 'buddy'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert found.stdout == "set()\n"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_format_may_be_named(suffix, tmp_path):
    """Whatever the file is called, and however it begins."""
    for name in ("m", "m.dve", "m.txt.gz"):
        path = tmp_path / name
        data = TEXTS[suffix].encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)

        for spelt in (suffix, suffix[1:].upper()):
            assert load(path, format=spelt).components == (LOOP,)


def test_another_format_than_the_file_has(tmp_path):
    path = tmp_path / "m.dot"
    path.write_text(DOT)

    with pytest.raises(InputError, match=r"m.dot:1: expected 'des .* found 'digraph'"):
        load(path, format="aut")
    with pytest.raises(InputError, match=r"m.dot:1: no XML"):
        load(path, format="pnml")
    with pytest.raises(
        UnsupportedError, match="'ll_net': expected dot, aut, hoa, dve, c, "
    ):
        load(path, format="ll_net")
    with pytest.raises(UnsupportedError, match="expected components of a network"):
        load_network(path, format="dve")


FORBIDS = HOA.replace('AP: 1 "é"', 'AP: 2 "é" "stop"')


def test_a_component_can_forbid_what_it_declares(tmp_path):
    """Gnad et al. 2021, Def. 2: every component that has a label takes part in it."""
    (tmp_path / "m.hoa").write_text(FORBIDS)
    (tmp_path / "n.aut").write_text('des (0, 2, 1)\n(0, stop, 0)\n(0, "é", 0)\n')
    files = [tmp_path / "m.hoa", tmp_path / "n.aut"]

    free, blocked = load(files), load(files, alphabet="declared")

    assert check(free, "G !stop").verdict == "violated"
    assert check(blocked, "G !stop").verdict == "holds"
    assert blocked.components[0].labels == ("é", "stop")


def test_alphabets_are_declared_in_hoa_alone(tmp_path):
    path = tmp_path / "m.aut"
    path.write_text(AUT)

    with pytest.raises(UnsupportedError, match=r"m.aut: declares no alphabet; .* HOA"):
        load(path, alphabet="declared")
    with pytest.raises(UnsupportedError, match="'own': expected used or declared"):
        load(path, alphabet="own")


@pytest.mark.parametrize("n_characters", [65_530, 65_536, 300_000])
def test_comments_before_the_first_word(n_characters, tmp_path):
    """Only a part is looked at to tell formats, which may end within that word."""
    drawn = "digraph { 0 [initial=1]; 0 -> 0 [label=a]; }"
    text = f"/*{'x' * (n_characters - 4)}*/{drawn}"
    (tmp_path / "m.dot").write_text(text)
    for source in (tmp_path / "m.dot", io.StringIO(text), io.BytesIO(text.encode())):
        assert len(load(source).actions) == 1
    (tmp_path / "m.dot").write_text(text[:-10])
    with pytest.raises(InputError, match="unexpected end of file"):
        load(tmp_path / "m.dot")
