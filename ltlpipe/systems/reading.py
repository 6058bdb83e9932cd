"""Reading systems, in the format that the suffix names.

`load_job` reads a model from its file, or the components that one or several files
hold, which are a network; `load` does so without limits.  Nothing but an error of
`ltlpipe` escapes, and what cannot be of its format is refused by its beginning, however
long it is.

Parsers (lark, lxml, Spot) cannot be interrupted.  They see short texts here and long
ones in a worker process, which hands plain data back (`ltlpipe.systems.plain`): reading
can be stopped at any time, whatever is read.
"""

from __future__ import annotations

import re
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from ltlpipe.automata.graphs import is_automaton, is_graph
from ltlpipe.runtime.arguments import TEXT, WHOLE, a_kind, expect, is_one, several
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import (
    Opening,
    decode,
    is_path,
    name_of,
    read_chunks,
    split_suffix,
    starts_with,
)
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.names import listed
from ltlpipe.runtime.workers import call
from ltlpipe.systems.formats import FORMATS, NETWORKS, READABLE, by_name, by_suffix
from ltlpipe.systems.graph import graph_job
from ltlpipe.systems.models import System
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.runtime.files import Source, StrPath
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.formats import Format
    from ltlpipe.systems.networks.lts import LTS
    from ltlpipe.systems.plain import Plain
    from ltlpipe.systems.programs.model import DveModel, ProgramModel

SystemLike: TypeAlias = "System | Source | Iterable[Source] | Any"
"""A system, or what one is read from: files, or graphs of Spot."""

USED, DECLARED = ALPHABETS = ("used", "declared")
"""Which labels are a component's alphabet: those of its edges, or all it declares."""


class _Manner(NamedTuple):
    """How the caller wants files to be read."""

    form: Format | None  # of all files; None goes by their names
    alphabet: str
    define: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    processes: int | None = None


def load(
    sources: Source | Iterable[Source] | Any,
    *,
    format: str | None = None,
    alphabet: str = USED,
    define: Sequence[str] = (),
    include: Sequence[str] = (),
    processes: int | None = None,
) -> System:
    """Read a system from a file, or a network from files that hold its components.

    Parameters
    ----------
    sources : path, file, or several
        A model (``.dve``, ``.pnml``, ``.pml``); or files of networks (``.dot``,
        ``.gv``, ``.aut``, ``.hoa``), whose formats may be mixed: every file
        contributes its components in order.  All of them also compressed, with
        ``.gz`` behind the suffix.  Of ``-``, which is standard input, and of an open
        file the format is known by how the text begins.  A ``spot.kripke_graph`` or
        ``spot.twa_graph`` is a system whose letters are valuations; it must not change
        as long as the system is used.  Several ``spot.twa_graph`` are a network, read
        as ``.hoa`` files are: propositions are labels, one at each step.
    format : str, optional
        ``dot``, ``aut``, ``hoa``, ``dve``, ``pnml`` or ``pml``: what the files are,
        whatever their names say.
    alphabet : str
        ``used``: a component synchronises on the labels that its edges have; or
        ``declared``: on all that its file declares, so that one without an edge never
        occurs.  Only HOA declares labels (``AP:``).
    define : sequence of str
        Macros of a Promela model that are defined in front of it: ``N`` or ``N=5``.
    include : sequence of str
        Folders from which a Promela model may include files, beside its own.
    processes : int, optional
        The most processes of a Promela model at once; by default it is found out.

    Returns
    -------
    Network, Model or SpotGraph
        Named after the files, or the graph.

    Raises
    ------
    InputError
        A file cannot be read or does not hold what its suffix promises;
        names file and, where there is one, line.
    UnsupportedError
        The format cannot be read, or says more than a network can hold; or no file
        declares an alphabet that is asked for.
    """
    job = load_job(
        sources,
        format=format,
        alphabet=alphabet,
        define=define,
        include=include,
        processes=processes,
        parameter="sources",
    )
    return complete(job)


def load_network(
    sources: Source | Iterable[Source],
    *,
    format: str | None = None,
    alphabet: str = USED,
) -> Network:
    """Read a network, as `load` does; refuse models.

    Raises
    ------
    InputError, UnsupportedError
        As `load`, and if a file holds a model.
    """
    manner = _manner(format, alphabet)
    return complete(_network(_listed(sources), manner, models_too=False))  # type: ignore[return-value]


def load_dve(path: StrPath, *, format: str | None = None) -> DveModel:
    """Read a DVE model, as `load` does; refuse other formats.

    Raises
    ------
    InputError, UnsupportedError
        As `load`, and if the name does not end in ``.dve``.
    """
    manner = _manner(format, USED)
    form, dve = _promised(path, manner), by_name("dve")
    model: Any = None
    if form is dve or not is_path(path):
        form, model = complete(_read(path, manner))
    if form is not dve:
        message = "expected a DVE model, with the suffix .dve"
        raise InputError(message, file=name_of(path))
    return model  # type: ignore[no-any-return]


def load_program(path: StrPath, *, format: str | None = None) -> ProgramModel:
    """Read a DVE or Promela model, as `load` does; refuse other formats.

    Raises
    ------
    InputError, UnsupportedError
        As `load`, and if it is another system.
    """
    promised = _promised(path, _manner(format, USED))
    if promised is not None and promised.preprocessed:
        return load(path, format=format)  # type: ignore[return-value]
    return load_dve(path, format=format)


def load_job(
    sources: Source | Iterable[Source],
    *,
    parameter: str = "system",
    **how: Any,
) -> Job[System]:
    """Return the job that `load` runs; messages name the parameter of the caller."""
    manner = _manner(**how)
    if is_graph(sources):
        return (yield from graph_job(sources))
    files = _listed(sources, parameter)
    if any(map(is_graph, files)):
        return _network_of_graphs(files, manner)
    models = [s for s in files if (f := _promised(s, manner)) is not None and f.model]
    if not models:
        return (yield from _network(files, manner, models_too=len(files) == 1))
    if len(files) > 1:
        raise UnsupportedError(
            f"{name_of(models[0])}: a model is a system of its own and has one file, "
            f"but {len(files)} are given"
        )
    form, system = yield from _read(files[0], manner)
    _check_manner([form], files, manner)
    return system  # type: ignore[no-any-return]


def system_of(given: SystemLike, parameter: str = "system", **manner: Any) -> System:
    """Return a system, which is read unless it is one; see `load`."""
    return complete(system_job(given, parameter, **manner))


def system_job(
    given: SystemLike, parameter: str = "system", **manner: Any
) -> Job[System]:
    """Return the job that `system_of` runs; messages name the parameter.

    Raises
    ------
    UnsupportedError
        It has been read, and something is said of the manner to do it in.
    """
    if not isinstance(given, System):
        return (yield from load_job(given, parameter=parameter, **manner))
    usual: dict[str, Any] = {"format": None, "alphabet": USED, "processes": None}
    for name, value in manner.items():
        if value != usual.get(name, ()):
            shown = value if isinstance(value, (str, int)) else " ".join(value)
            raise UnsupportedError(
                f"--{name}={shown} is about files, but the system has been read"
            )
    return given


def parse(
    suffix: str, data: str | bytes, file: str, *, alphabet: str = USED, **macros: Any
) -> Plain:
    """Return what the text of a file holds, as plain data: an operation of workers."""
    form = by_suffix(suffix)
    assert form is not None
    assert form.reader is not None
    reader = form.reader()
    if form.preprocessed:
        return reader.parse(data, file, **macros)
    if alphabet == DECLARED and reader.parse_declared is not None:
        return reader.parse_declared(data, file)
    return reader.parse(data, file)


def _manner(
    format: str | None = None,
    alphabet: str = USED,
    define: Sequence[str] = (),
    include: Sequence[str] = (),
    processes: int | None = None,
) -> _Manner:
    expect(TEXT.or_none, format=format)
    expect(TEXT, alphabet=alphabet)
    if alphabet not in ALPHABETS:
        raise UnsupportedError(f"--alphabet={alphabet!r}: expected {listed(ALPHABETS)}")
    form = None if format is None else by_name(format)
    macros = (
        tuple(several(TEXT, define, "define")),
        tuple(several(TEXT, include, "include")),
    )
    expect(WHOLE.or_none, processes=processes)
    return _Manner(form, alphabet, *macros, processes)


def _check_manner(forms: list[Format], files: list[Source], manner: _Manner) -> None:
    """Refuse what is said about files and means nothing for these.

    Alphabets are declared in HOA only; macros and processes that start are Promela's.
    """
    if manner.alphabet == DECLARED and not any(form.declares for form in forms):
        raise UnsupportedError(
            f"{name_of_system(files)}: declares no alphabet; --alphabet={DECLARED} is "
            "for components in HOA, by their 'AP:'"
        )
    said = [n for n in ("define", "include", "processes") if getattr(manner, n)]
    if said and not any(form.preprocessed for form in forms):
        raise UnsupportedError(
            f"{name_of_system(files)}: --{said[0]} is for Promela models"
        )


def _network(files: list[Source], manner: _Manner, *, models_too: bool) -> Job[System]:
    """Read a network; or a model, if it comes under no name that tells."""
    components: list[LTS] = []
    forms = []
    for source in files:
        _refuse_model(_promised(source, manner), source)
        form, content = yield from _read(source, manner)
        forms.append(form)
        if form.model and models_too:
            _check_manner(forms, files, manner)
            return content  # type: ignore[no-any-return]
        _refuse_model(form, source)
        components += content
    _check_manner(forms, files, manner)
    return Network(components, name=name_of_system(files))


def _network_of_graphs(graphs: list[Any], manner: _Manner) -> Network:
    """Return the network whose components are automata of Spot."""
    from ltlpipe.automata.hoa import hoa_text
    from ltlpipe.systems.networks.hoa import read_hoa

    if not all(is_automaton(graph) for graph in graphs):
        raise UnsupportedError(
            "several systems are the components of a network: a list has paths and "
            "open files, or spot.twa_graph only; a Kripke structure is checked alone"
        )
    declared = manner.alphabet == DECLARED
    parts: list[LTS] = []
    for k, graph in enumerate(graphs, start=1):
        parts += read_hoa(hoa_text(graph), f"automaton {k}", declared=declared)
    return Network(parts, " ".join(part.name for part in parts))


def _refuse_model(form: Format | None, source: Source) -> None:
    if form is not None and form.model:
        raise UnsupportedError(
            f"{name_of(source)}: a model, expected components of a network: {NETWORKS}"
        )


def name_of_system(given: SystemLike) -> str:
    """Return what a system is called, be it read or not."""
    if isinstance(given, System):
        return given.name
    if is_graph(given):
        graph: Any = given
        return graph.get_name() or ""
    return " ".join(map(name_of, _listed(given)))


def _listed(
    sources: Source | Iterable[Source], parameter: str = "system"
) -> list[Source]:
    """Return the sources; a file is one, though it is iterable, too."""
    if hasattr(sources, "read") or isinstance(sources, (str, PathLike)):
        return cast("list[Source]", [sources])
    alone = is_one(sources) or is_graph(sources)
    files = list(cast("Iterable[Source]", [sources] if alone else sources))
    for source in files:
        known = hasattr(source, "read") or isinstance(source, (str, PathLike))
        if not known and not is_graph(source):
            raise UnsupportedError(
                f"{parameter}: a system is a Network or a Model, or what it is read "
                f"from: paths, open files or graphs of Spot, not {a_kind(source)}"
            )
    if not files:
        message = f"{parameter}: expected at least one file"
        raise InputError(message, file="(no file)")
    return files


def _promised(source: Source, manner: _Manner) -> Format | None:
    """Return the format that the caller or a file's name promises, if one does."""
    if manner.form is not None or not is_path(source):
        return manner.form
    form = by_suffix(split_suffix(name_of(source))[1])
    return form if form is not None and form.reader is not None else None


def _read(source: Source, manner: _Manner) -> Job[tuple[Format, Any]]:
    """Read a file: its format, and the components or the model that it holds."""
    file = name_of(source)
    form = _promised(source, manner)
    if form is None and is_path(source):
        suffix = split_suffix(file)[1]
        message = f"unknown suffix {suffix!r}, expected {READABLE}"
        raise InputError(message, file=file)
    opening = None if form is None or form.binary else _opening(form)
    chunks = yield from read_chunks(source, opening=opening)
    if form is None:
        form = _recognised(chunks, file)
    data: str | bytes
    if form.binary:
        data = b"".join(chunks)
    else:
        data = yield from decode(chunks, file)
    assert form.reader is not None
    suffix = form.suffixes[0]
    asked: dict[str, Any] = {"suffix": suffix, "data": data, "file": file}
    asked["alphabet"] = manner.alphabet
    if form.preprocessed:
        asked |= {"defines": list(manner.define), "folders": list(manner.include)}
    if _is_small(form, data):
        plain = parse(**asked)
    else:
        plain = yield from call(
            "read system", phase="reading", subject=f"the parser of {suffix}", **asked
        )
    del asked, data
    how = {"processes": manner.processes} if form.preprocessed else {}
    return form, (yield from form.reader().build(plain, file, **how))


def _is_small(form: Format, data: str | bytes) -> bool:
    return len(data) <= form.small


def _opening(form: Format) -> Opening:
    return Opening(re.compile(form.begins), form.expected)


def _recognised(chunks: list[bytes], file: str) -> Format:
    """Return the format of a text that has no name, by how it begins."""
    head = b"".join(chunks[:4])
    for form in FORMATS:
        if form.reader is not None and starts_with(head, _opening(form)):
            return form
    message = f"expected the text of a {READABLE.partition(' (')[0]} file"
    raise InputError(message, file=file)
