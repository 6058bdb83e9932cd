"""The registry of formats: each is declared here, and nowhere else.

Reading (`ltlpipe.systems.reading`), writing (`ltlpipe.systems.writing`) and the help of
the command line follow from the declarations.  A new format is a module with its
grammar and one entry of `FORMATS`.

What a format's reader and writer need is imported when they are first used: nothing
here costs start-up time.  What parsers return is plain data (`ltlpipe.systems.plain`),
which travels between processes.

A file that is read later synchronises on the labels that it has transitions with, so
`ltlpipe.systems.writing` gives the others self-loops at a state of their own; formats
without internal labels have ordinary ones in their place, under fresh names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.names import declare, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.graph import SpotGraph
    from ltlpipe.systems.networks.lts import LTS, Network
    from ltlpipe.systems.plain import Plain

_SMALL = 1 << 14
_ANY = 1 << 62

declare(
    "format", "alphabet", "initial", "mealy", "internal", "propositions", to="format"
)


class Reader(NamedTuple):
    """How a format is read, in two steps."""

    parse: Callable[..., Plain]
    """Returns what a text (bytes, if the format is `binary`) holds, from it, the file's
    name, and options among those that the format takes.  It may take long: large files
    are parsed in a worker process."""
    build: Callable[[Plain, str], Job[Any]]
    """Returns the job that makes the components of a network, or a model, of what
    `parse` has returned, and of the file's name."""


class Writer(NamedTuple):
    """How a format is written: systems of each kind that it can hold."""

    components: Callable[[Sequence[LTS]], str] | None = None
    """Returns the text of a file that can be read again; it has no internal labels."""
    component: Callable[[LTS, str | None], str] | None = None
    """Returns the text of a file that can be read again and holds one component, with
    its internal labels; calls them as the second argument says, if it says."""
    network: Callable[[Network], str] | None = None
    """Returns the text of a file for another tool."""
    graph: Callable[[SpotGraph], str] | None = None
    """Returns the text of a file that holds one graph with propositions."""
    model: Callable[[Any], str] | None = None
    """Returns the text of a file that holds a model, as it is."""


@dataclass(frozen=True)
class Format:
    """One format."""

    suffixes: tuple[str, ...]  # in lower case; the first is the usual one
    model: bool = False  # whether a file is a model of its own, no part of a network
    is_network: bool = False  # whether it is a model that comes to be a network
    begins: str = ""
    """A regular expression for what files begin with, blanks and comments apart."""
    expected: str = ""  # the same in words
    has: str = ""
    """The same for what is somewhere in the text, where later formats begin alike."""
    binary: bool = False
    """Whether the reader takes bytes, and what they begin with is its own matter."""
    takes: tuple[str, ...] = ()  # options for reading that mean something to it
    small: int = _SMALL
    """Length up to which a file is parsed in this process; 0 if even a short one can
    take for ever."""
    reader: Callable[[], Reader] | None = None  # imports and returns how it is read
    writer: Callable[[], Writer] | None = None  # the same of writing


def _read_dot() -> Reader:
    from ltlpipe.systems.networks.dot import read_dot

    return _components(read_dot)


def _write_dot() -> Writer:
    from ltlpipe.systems.networks.dot import write_dot

    return Writer(write_dot)


def _read_aut() -> Reader:
    from ltlpipe.systems.networks.aut import read_aut

    return _components(read_aut)


def _write_aut() -> Writer:
    from ltlpipe.systems.networks.aut import write_aut

    return Writer(component=write_aut)


def _read_hoa() -> Reader:
    from ltlpipe.systems.hoa_systems import build, parse_plain

    return Reader(parse_plain, build)


def _write_hoa() -> Writer:
    from ltlpipe.systems.hoa_systems import write_graph, write_hoa

    return Writer(write_hoa, graph=write_graph)


def _read_dve() -> Reader:
    from ltlpipe.systems.programs.model import build

    return Reader(_unparsed, build)


def _read_c() -> Reader:
    from ltlpipe.systems.programs.eca.reading import build

    return Reader(_unparsed, build)


def _read_java() -> Reader:
    from ltlpipe.systems.programs.eca.reading import build_java

    return Reader(_unparsed, build_java)


def _read_pnml() -> Reader:
    from ltlpipe.systems.nets.reading import build, parse_plain

    return Reader(parse_plain, build)


def _write_pnml() -> Writer:
    from ltlpipe.systems.nets.writing import net_text, write_components

    return Writer(write_components, model=net_text)


def _read_promela() -> Reader:
    from ltlpipe.systems.programs.promela.model import build, parse_plain

    return Reader(parse_plain, build)


def _write_promela() -> Writer:
    from ltlpipe.systems.networks.exports import to_promela

    return Writer(network=to_promela)


def _write_ll_net() -> Writer:
    from ltlpipe.systems.networks.exports import to_ll_net

    return Writer(network=to_ll_net)


def _unparsed(text: str, _file: str) -> Any:
    """Return the text: what is built of it is a job that can be interrupted."""
    return text


def _components(parse: Callable[..., list[LTS]]) -> Reader:
    """Return the reader of a format whose files hold components."""
    from ltlpipe.systems.plain import components_of, plain_components

    return Reader(
        lambda text, file, **manner: plain_components(parse(text, file, **manner)),
        lambda plain, _file: components_of(plain),
    )


FORMATS = (
    Format(
        suffixes=(".dot", ".gv"),
        begins=r"(?i:strict|digraph)\b",
        expected="a Graphviz 'digraph'",
        takes=("initial", "mealy"),
        reader=_read_dot,
        writer=_write_dot,
    ),
    Format(
        suffixes=(".aut",),
        begins=r"des\b",
        expected="'des (INITIAL, TRANSITIONS, STATES)'",
        reader=_read_aut,
        writer=_write_aut,
    ),
    Format(
        suffixes=(".hoa",),
        begins="HOA:",
        expected="an automaton in HOA ('HOA: v1')",
        takes=("alphabet", "semantics"),
        small=0,  # a short label can have a BDD that fills any memory
        reader=_read_hoa,
        writer=_write_hoa,
    ),
    Format(
        suffixes=(".dve",),
        model=True,
        begins=r"(?:const|byte|int|channel|process)\b",
        expected="a declaration or a process (macros are expanded before, by m4)",
        has=r"\bsystem\s+a?sync\b",
        small=_ANY,
        reader=_read_dve,
    ),
    Format(
        suffixes=(".c",),
        model=True,
        is_network=True,
        begins=r"(?:extern|int|void)\b",
        expected="a declaration, as in a program of the RERS challenge",
        small=_ANY,
        reader=_read_c,
    ),
    Format(
        suffixes=(".java",),
        model=True,
        is_network=True,
        begins=r"(?:import|package|public|class)\b",
        expected="a class, as in a program of the RERS challenge",
        small=_ANY,
        reader=_read_java,
    ),
    Format(
        suffixes=(".pnml", ".tapn"),
        model=True,
        begins="<",
        binary=True,
        reader=_read_pnml,
        writer=_write_pnml,
    ),
    Format(
        suffixes=(".pml",),
        model=True,
        begins=r"[#;]|(?:active|D_proctype|proctype|init|inline|typedef|mtype|hidden|"
        r"show|local|bit|bool|byte|pid|short|int|unsigned|chan|never|trace|notrace|ltl|"
        r"c_decl|c_code|c_state|c_track)\b",
        expected="a declaration or a proctype",
        takes=("define", "include", "processes"),
        reader=_read_promela,
        writer=_write_promela,
    ),
    Format(
        suffixes=(".ll_net",),
        writer=_write_ll_net,
    ),
)

_NETWORKS = [f for f in FORMATS if f.reader is not None and not f.model]
_MODELS = [f for f in FORMATS if f.reader is not None and f.model]
_WRITTEN = [f for f in FORMATS if f.writer is not None]


def by_suffix(suffix: str) -> Format | None:
    """Return the format with a suffix (in lower case, with its dot), if any."""
    return next((f for f in FORMATS if suffix in f.suffixes), None)


def by_name(name: str, *, written: bool = False) -> Format:
    """Return the format with a name such as ``dot``, to read or to write it.

    Raises
    ------
    UnsupportedError
        There is no such format; the message lists the formats.
    """
    found = by_suffix("." + name.lower().removeprefix("."))
    known = _WRITTEN if written else [*_NETWORKS, *_MODELS]
    if found is None or found not in known:
        names = listed([suffix[1:] for suffix in _usual(known)])
        flag = "to" if written else "format"
        raise UnsupportedError(f"--{flag}={name!r}: expected {names}")
    return found


def _usual(formats: Sequence[Format]) -> list[str]:
    return [f.suffixes[0] for f in formats]


MODEL_SUFFIXES = tuple(suffix for f in _MODELS for suffix in f.suffixes)

READ_SUFFIXES = tuple(s for f in [*_NETWORKS, *_MODELS] for s in f.suffixes)
READABLE = f"{listed(_usual([*_NETWORKS, *_MODELS]))} (or one of these with .gz)"
"""The suffixes that can be read, for messages."""
NETWORKS = f"{listed(_usual(_NETWORKS))} files"
WRITABLE = f"{listed(_usual(_WRITTEN))} (or one of these with .gz)"

CONVERTED = {
    ".mdve": "macros have to be expanded before, by m4 (m4 {0}.mdve > {0}.dve), which "
    "needs the definitions of DiVinE's own ones, such as default",
    ".lts": "a file of mCRL2, which converts it: ltsconvert {0}.lts {0}.aut",
    ".fsm": "a file of mCRL2, which converts it: ltsconvert {0}.fsm {0}.aut",
    ".bcg": "a file of CADP, which converts it: bcg_io {0}.bcg {0}.aut",
    ".gcf": "a file of LTSmin, which converts it: ltsmin-convert {0}.gcf {0}.aut",
    ".dir": "a file of LTSmin, which converts it: ltsmin-convert {0}.dir {0}.aut",
    ".net": "a file of Tina, which converts it: ndrio {0}.net {0}.pnml",
    ".ndr": "a file of Tina, which converts it: ndrio {0}.ndr {0}.pnml",
    ".xml": "a net in XML, as PIPE writes it, is read with --format pnml",
}
"""Suffixes of files that another program has to convert first, and how; or that say
too little."""

READ_NAMES = " ".join(suffix[1:] for suffix in _usual([*_NETWORKS, *_MODELS]))
WRITTEN_NAMES = " ".join(suffix[1:] for suffix in _usual(_WRITTEN))
"""What formats are called, for the help of flags."""

NETWORK_FILES = (
    f"Files ({' '.join(_usual(_NETWORKS))}, .gz) of one network; - is standard input."
)
"""Help of an argument that is a network."""
SYSTEM_FILES = (
    f"Files ({' '.join(_usual(_NETWORKS))}, .gz) of a network, or a "
    f"{listed(_usual(_MODELS))} model; - is standard input."
)
"""Help of an argument that is a system."""
OUTPUT_FILE = f"File to write ({' '.join(_usual(_WRITTEN))}, .gz of each)."
"""Help of an argument that is a network to be written."""
