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

import os
import re
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, cast

from ltlpipe.automata.graphs import is_automaton, is_graph
from ltlpipe.runtime.arguments import TEXT, WHOLE, a_kind, expect, is_one, several
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import (
    LATIN_1,
    Opening,
    decode,
    is_path,
    name_of,
    read_chunks,
    refuse_wide,
    split_suffix,
    starts_with,
)
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.names import listed
from ltlpipe.runtime.workers import call
from ltlpipe.systems.formats import (
    CONVERTED,
    FORMATS,
    NETWORKS,
    READABLE,
    by_name,
    by_suffix,
)
from ltlpipe.systems.graph import SpotGraph, graph_job
from ltlpipe.systems.kinds import is_program
from ltlpipe.systems.models import System
from ltlpipe.systems.networks.lts import LABEL, MEALY, Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.runtime.files import Source, StrPath
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.formats import Format
    from ltlpipe.systems.networks.lts import LTS
    from ltlpipe.systems.plain import Plain
    from ltlpipe.systems.programs.eca.program import Source as EcaSource
    from ltlpipe.systems.programs.model import ProgramModel

SystemLike: TypeAlias = "System | Source | Iterable[Source] | Any"
"""A system, or what one is read from: files, or graphs of Spot."""

USED, DECLARED = ALPHABETS = ("used", "declared")
"""Which labels are a component's alphabet: those of its edges, or all it declares."""

USUAL = {
    "format": None,
    "alphabet": USED,
    "initial": None,
    "mealy": LABEL,
    "semantics": None,
    "define": (),
    "include": (),
    "processes": None,
}
"""The options for reading, and their defaults."""
CHOICES: dict[str, tuple[str, ...]] = {"alphabet": ALPHABETS, "mealy": MEALY}

_ABOUT = {
    "alphabet": "declares no alphabet; --alphabet={value} is for components in HOA, by "
    "their 'AP:'",
    "initial": "says itself where it begins; --initial={value} is for drawings in dot",
    "mealy": "has no labels 'input / output'; --mealy={value} is for drawings in dot",
    "define": "--define is for Promela models",
    "include": "--include is for Promela models",
    "processes": "--processes is for Promela models",
}
"""Why an option means nothing to files that do not take it."""


class _Manner(NamedTuple):
    """How the caller wants files to be read."""

    form: Format | None  # of all files; None goes by their names
    options: dict[str, Any]  # those that are not as by default


def load(
    sources: Source | Iterable[Source] | Any,
    *,
    format: str | None = None,
    alphabet: str = USED,
    initial: str | None = None,
    mealy: str = LABEL,
    semantics: str | None = None,
    define: Sequence[str] = (),
    include: Sequence[str] = (),
    processes: int | None = None,
) -> System:
    """Read a system from a file, or a network from files that hold its components.

    Parameters
    ----------
    sources : path, file, or several
        A model (``.dve``, ``.pnml``, ``.pml``), or a program of the RERS challenge
        (``.c``, ``.java``); or files of networks (``.dot``, ``.gv``, ``.aut``,
        ``.hoa``), whose formats may be mixed: every file contributes its components in
        order.  All of them also compressed, with ``.gz`` behind the suffix.  Of ``-``,
        which is standard input, and of an open file the format is known by how the text
        begins.
        A ``spot.kripke_graph`` or ``spot.twa_graph`` is a system whose letters are
        valuations; it must not change as long as the system is used.  Several
        ``spot.twa_graph`` are a network, read as ``.hoa`` files are: propositions are
        labels, one at each step.
    format : str, optional
        ``dot``, ``aut``, ``hoa``, ``dve``, ``c``, ``java``, ``pnml`` or ``pml``: what
        the files are, whatever their names say.
    alphabet : str
        ``used``: a component synchronises on the labels that its edges have; or
        ``declared``: on all that its file declares, so that one without an edge never
        occurs.  Only HOA declares labels (``AP:``).
    initial : str, optional
        The node that is the initial state, of each component in a ``.dot`` file.
    mealy : str
        How labels ``input / output`` of ``.dot`` files are read: as the file has them
        (``label``), as one action ``input/output`` (``joined``), or as two steps
        (``steps``).
    semantics : str, optional
        ``state``: a ``.hoa`` file is one graph of Spot, whose propositions hold
        together: a Kripke structure if its labels are on states, else an automaton.
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
    manner: dict[str, Any] = {"alphabet": alphabet, "initial": initial}
    manner |= {"mealy": mealy, "semantics": semantics}
    manner |= {"define": define, "include": include, "processes": processes}
    loaded = complete(load_job(sources, format=format, parameter="sources", **manner))
    if isinstance(loaded, SpotGraph):
        loaded.keep()
    return loaded


def load_network(
    sources: Source | Iterable[Source],
    *,
    format: str | None = None,
    **options: Any,
) -> Network:
    """Read a network, as `load` does, with its options; refuse models.

    Raises
    ------
    InputError, UnsupportedError
        As `load`, and if a file holds a model.
    """
    manner = _manner(format, **options)
    return complete(_network(_listed(sources), manner, models_too=False))  # type: ignore[return-value]


def load_program(path: StrPath, *, format: str | None = None) -> ProgramModel:
    """Read a DVE or Promela model, as `load` does; refuse other systems.

    Raises
    ------
    InputError, UnsupportedError
        As `load`, and if it is another system.
    """
    forms = by_name("dve"), by_name("pml")
    if not is_path(path) or _promised(path, _manner(format)) in forms:
        model = load(path, format=format)
        if is_program(model):
            return model
    suffixes = listed([form.suffixes[0] for form in forms])
    message = f"expected a DVE or Promela model, with the suffix {suffixes}"
    raise InputError(message, file=name_of(path))


def load_job(
    sources: Source | Iterable[Source],
    *,
    format: str | None = None,
    parameter: str = "system",
    **options: Any,
) -> Job[System]:
    """Return the job that `load` runs; messages name the parameter of the caller."""
    manner = _manner(format, **options)
    if is_graph(sources):
        return (yield from graph_job(sources))
    files = _listed(sources, parameter)
    if any(map(is_graph, files)):
        return _network_of_graphs(files, manner)
    several = len(files) > 1
    models = [
        source
        for source in files
        if (form := _promised(source, manner)) is not None
        and form.model
        and not (form.is_network and several)
    ]
    if not models:
        return (yield from _network(files, manner, models_too=len(files) == 1))
    if several:
        for source in files:
            if is_path(source) and _promised(source, manner) is None:
                _refuse_unknown(name_of(source))
        raise UnsupportedError(
            f"{name_of(models[0])}: a model is a system of its own and has one file, "
            f"but {len(files)} are given"
        )
    form, system = yield from _read(files[0], manner)
    _check_options([form], files, manner)
    return system  # type: ignore[no-any-return]


def included_files(path: str, **manner: Any) -> list[str]:
    """Return the other files that one of a system includes, in order; see `load`.

    Raises
    ------
    InputError, UnsupportedError
        It cannot be read, or an option is wrong.
    """
    said = _manner(**manner)
    form = _promised(path, said)
    if form is None or "include" not in form.takes:
        return []
    text = complete(decode(complete(read_chunks(path)), path, LATIN_1))
    if "include" not in text:
        return []
    from ltlpipe.systems.programs.promela.preprocessing import included

    options = said.options.get("define", ()), said.options.get("include", ())
    return included(text, path, *options)


def source_job(path: str, *, format: str | None = None) -> Job[EcaSource]:
    """Read a program of the RERS challenge; nothing is analysed but its form.

    Raises
    ------
    InputError
        It is outside of the syntax, or no program.
    """
    from ltlpipe.systems.programs.eca.rules import rules_of
    from ltlpipe.systems.programs.eca.syntax import as_c, read_source

    form = _promised(path, _manner(format))
    if form not in (by_name("c"), by_name("java")):
        raise InputError("expected a program of the RERS challenge", file=path)
    text = yield from decode((yield from read_chunks(path)), path)
    if form is by_name("java"):
        text = yield from as_c(text, path)
    source = yield from read_source(text, path)
    try:
        yield from rules_of(source, path)  # refuses what is none of the challenge
    except RecursionError:
        raise InputError("an expression is nested too deeply", file=path) from None
    return source


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
    said = _manner(**manner)
    for name, value in {**said.options, "format": manner.get("format")}.items():
        if value is not None and name != "semantics":
            raise UnsupportedError(
                f"--{name}={value} is about files, but the system has been read"
            )
    return given


def parse(suffix: str, data: str | bytes, file: str, **options: Any) -> Plain:
    """Return what the text of a file holds, as plain data: an operation of workers."""
    form = by_suffix(suffix)
    assert form is not None
    assert form.reader is not None
    return form.reader().parse(data, file, **options)


def _manner(format: str | None = None, **options: Any) -> _Manner:
    expect(TEXT.or_none, format=format)
    chosen = {}
    for name, value in options.items():
        if name in ("define", "include"):
            value = [value] if isinstance(value, str) else value
            value = () if value is None else tuple(several(TEXT, value, name))
        elif name == "processes":
            expect(WHOLE.or_none, processes=value)
        else:
            expect(TEXT.or_none if USUAL[name] is None else TEXT, **{name: value})
        choices = CHOICES.get(name)
        if choices is not None and value not in choices:
            raise UnsupportedError(f"--{name}={value!r}: expected {listed(choices)}")
        if value != USUAL[name]:
            chosen[name] = value
    return _Manner(None if format is None else by_name(format), chosen)


def _check_options(forms: list[Format], files: list[Source], manner: _Manner) -> None:
    """Refuse options that mean nothing to any of the files."""
    for name, value in manner.options.items():
        if name in _ABOUT and not any(name in form.takes for form in forms):
            file = name_of_system(files)
            reason = _ABOUT[name].format(value=value)
            raise UnsupportedError(f"{file}: {reason}")


def _network(files: list[Source], manner: _Manner, *, models_too: bool) -> Job[System]:
    """Read a network; or a model, if it comes under no name that tells."""
    components: list[LTS] = []
    forms = []
    for source in files:
        _refuse_model(_promised(source, manner), source)
        form, content = yield from _read(source, manner)
        forms.append(form)
        if form.model and models_too:
            _check_options(forms, files, manner)
            return content  # type: ignore[no-any-return]
        _refuse_model(form, source)
        if isinstance(content, SpotGraph):
            if len(files) > 1 or not models_too:
                raise UnsupportedError(
                    f"{name_of(source)}: a graph with propositions "
                    "(--semantics=state) is a system of its own, and no component"
                )
            _check_options(forms, files, manner)
            return replace(content, name=name_of_system(files))
        if isinstance(content, Network):
            if content.lacks is not None:
                raise UnsupportedError(f"{name_of(source)}: {content.lacks}")
            content = content.components
        components += content
    _check_options(forms, files, manner)
    return Network(components, name=name_of_system(files))


def _network_of_graphs(graphs: list[Any], manner: _Manner) -> Network:
    """Return the network whose components are automata of Spot."""
    from ltlpipe.automata.hoa import hoa_text
    from ltlpipe.systems.hoa_systems import read_hoa

    if not all(is_automaton(graph) for graph in graphs):
        raise UnsupportedError(
            "several systems are the components of a network: a list has paths and "
            "open files, or spot.twa_graph only; a Kripke structure is checked alone"
        )
    declared = manner.options.get("alphabet") == DECLARED
    parts: list[LTS] = []
    for k, graph in enumerate(graphs, start=1):
        parts += read_hoa(hoa_text(graph), f"automaton {k}", declared=declared)
    return Network(parts, " ".join(part.name for part in parts))


def _refuse_model(form: Format | None, source: Source) -> None:
    if form is not None and form.model and not form.is_network:
        raise UnsupportedError(
            f"{name_of(source)}: a model, expected components of a network: {NETWORKS}"
        )


def files_of(given: SystemLike) -> tuple[str, ...]:
    """Return the paths from which a system is read; none if it is not read from paths.

    The paths are those given to `ltlpipe.check`.
    """
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    if not isinstance(given, (list, tuple)):
        return ()
    sources: list[Any] = list(given)
    if not all(isinstance(s, (str, os.PathLike)) and is_path(s) for s in sources):
        return ()
    return tuple(map(os.fspath, sources))


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
        raise InputError(f"{parameter}: expected at least one file", file="(no file)")
    return files


def _promised(source: Source, manner: _Manner) -> Format | None:
    """Return the format that the caller or a file's name promises, if one does."""
    if manner.form is not None or not is_path(source):
        return manner.form
    form = by_suffix(split_suffix(name_of(source))[1])
    return form if form is not None and form.reader is not None else None


def _refuse_unknown(file: str) -> NoReturn:
    """Say why a path whose name promises no format cannot be read."""
    stem, suffix = split_suffix(file)
    message = f"unknown suffix {suffix!r}, expected {READABLE}"
    if Path(file).is_dir():
        message = "a folder, expected a file"
    elif suffix in CONVERTED:
        message = CONVERTED[suffix].format(stem)
    elif not Path(file).exists():
        message = "no such file (a formula is given by -f)"
    raise InputError(message, file=file)


def _read(source: Source, manner: _Manner) -> Job[tuple[Format, Any]]:
    """Read a file: its format, and the components or the model that it holds."""
    file = name_of(source)
    form = _promised(source, manner)
    if form is None and is_path(source):
        _refuse_unknown(file)
    # A text with macros can begin with any word, and have comments in Latin 1.
    opening = None
    if form is not None and not form.binary and "define" not in form.takes:
        opening = _opening(form)
    chunks = yield from read_chunks(source, opening=opening)
    if form is None:
        form = _recognised(chunks, file)
    data: str | bytes
    if form.binary:
        data = b"".join(chunks)
    else:
        # Names in models are ASCII, but comments are not always UTF-8.
        errors = LATIN_1 if form.model else "strict"
        data = yield from decode(chunks, file, errors)
    assert form.reader is not None
    suffix = form.suffixes[0]
    options = {n: v for n, v in manner.options.items() if n in form.takes}
    if _is_small(form, data):
        plain = parse(suffix, data, file, **options)
    else:
        asked: dict[str, Any] = {"suffix": suffix, "data": data, "file": file}
        asked |= options
        plain = yield from call(
            "read system", phase="reading", subject=f"the parser of {suffix}", **asked
        )
        del asked
    del data
    return form, (yield from form.reader().build(plain, file))


def _is_small(form: Format, data: str | bytes) -> bool:
    return len(data) <= form.small


def _opening(form: Format) -> Opening:
    return Opening(re.compile(form.begins), form.expected)


def _recognised(chunks: list[bytes], file: str) -> Format:
    """Return the format of a text that has no name, by how it begins."""
    data = b"".join(chunks)
    readable = (form for form in FORMATS if form.reader is not None)
    alike = [form for form in readable if starts_with(data, _opening(form))]
    for form in alike:
        if form is alike[-1] or re.search(form.has.encode(), data):
            return form
    refuse_wide(data, file)
    message = f"expected the text of a {READABLE.partition(' (')[0]} file"
    raise InputError(message, file=file)
