"""The certificate of a question that holds: its claim, and when it is written."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.translating import hoa_text
from ltlpipe.logic.propositions.syntax import Number
from ltlpipe.question.conditions import ALPHABET, AUTO, COMPONENTS
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.network import with_components
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import is_path
from ltlpipe.strategies.certified import (
    Certified,
    CertifiedComponents,
    propositions_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.certificates.writing import Certificate
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.reading import SystemLike

NONE = "none"


def certified_options(options: Options) -> Options:
    """Return the options of a search that can be certified.

    Raises
    ------
    UnsupportedError
        An option excludes certificates.
    """
    named = set(options.reduce.split(","))
    if not named <= {AUTO, NONE, ALPHABET, COMPONENTS}:
        raise UnsupportedError(
            f"--certificate is about all states, and --reduce={options.reduce} leaves "
            "some out: use none, alphabet or components"
        )
    if options.omitting is not None:
        raise UnsupportedError(
            f"--certificate is about all states, and {options.omitting} stores none"
        )
    if options.fairness is not None and not named <= {AUTO, NONE}:
        raise UnsupportedError(
            f"--reduce={options.reduce} changes what is enabled, on which "
            "--fairness depends: use none"
        )
    return replace(options, reduce=NONE)


def certified_strategies(options: Options) -> tuple[Certified, ...]:
    """Return the searches that may be certified, as the user has asked for them."""
    trims = options.insists_on(ALPHABET)
    if options.insists_on(COMPONENTS):
        return (CertifiedComponents(trims=trims, named=True),)
    if options.reduce == AUTO:
        return Certified(), CertifiedComponents()
    return (Certified(trims=trims),)


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


class Certification:
    """The certificate of one question.

    Parameters
    ----------
    question : Question
        The question.
    strategy : Certified
        The strategy that has searched and found nothing.
    files : sequence of str
        The files from which the system was read, if any.
    constraint : spot.twa_graph or None
        It restricts the runs, and is part of the automaton.

    Raises
    ------
    UnsupportedError
        The system is of a kind for which there are no certificates.
    """

    def __init__(
        self,
        question: Question,
        strategy: Certified,
        files: Sequence[str],
        constraint: Any = None,
    ) -> None:
        if isinstance(question, GraphQuestion):
            raise UnsupportedError(
                "--certificate is for networks and models, not for graphs of Spot"
            )
        self._question, self._strategy = question, strategy
        self._files, self._constraint = files, constraint

    def job(self, asked: Property) -> Job[Certificate]:
        """Write the certificate to the file that the options name.

        Raises
        ------
        InputError
            It cannot be written.
        UnsupportedError
            The acceptance has no small disjunctive normal form.
        StoppedError
            Memory does not suffice.
        """
        from ltlpipe.certificates.writing import (
            Certificate,
            Evidence,
            digest_of,
            hoa_of,
            reduction_of,
            written,
        )

        began = time.monotonic()
        question, strategy = self._question, self._strategy
        options, path = question.options, question.options.certificate
        search = strategy.ended
        assert path is not None
        assert search is not None  # since it has found nothing
        over_actions = with_components(question) is not None
        propositions = propositions_of(question, strategy.product)
        files = []
        for file in self._files:
            digest = yield from digest_of(file)
            files.append({"path": file, "sha256": digest})
        formula = asked.formula
        constraint = self._constraint
        named = () if constraint is None else constraint.ap()
        unknown = {*asked.propositions, *(p.ap_name() for p in named)}
        unknown -= set(propositions)
        if not over_actions:
            meanings = question.propositions  # type: ignore[attr-defined]
            unknown = {text for text, said in meanings.items() if said == Number(0)}
        claim = {
            "formula": None if formula is None else formula.text,
            "asked": _asked(asked),
            "constraint": None if constraint is None else hoa_text(constraint),
            "system": {
                "name": question.name,
                "files": files,
                "format": options.format,
                "alphabet": options.alphabet,
            },
            "letters": "actions" if over_actions else "states",
            "never": sorted(unknown),
            "deadlock": "stutter" if question.stutters else "ignore",
            "fairness": options.fairness,
            "fair_sets": list(options.fair_sets),
        }
        automaton = hoa_of(
            strategy.product.table, propositions, over_states=not over_actions
        )
        reduction = None
        if strategy.reduced is not None:
            before, reduced = strategy.reduced.before, strategy.reduced.reduced
            reduction = yield from reduction_of(before, reduced, trimmed=strategy.trims)
        evidence = Evidence(
            search, strategy.packed, automaton, self._columns(), reduction
        )
        size = yield from written(path, claim, evidence)
        return Certificate(
            path=path,
            states=search.n_stored,
            transitions=search.n_transitions,
            bytes=size,
            seconds=time.monotonic() - began,
        )

    def _columns(self) -> tuple[str, ...]:
        """Return the names of the entries of a state."""
        question: Any = self._question
        if with_components(question) is None:
            return tuple(question.system.variables)
        searched: Any = self._strategy.product
        n = len(searched.trimmed.network.components)
        return tuple(f"component {k}" for k in range(1, n + 1))


def _asked(asked: Property) -> str:
    if asked.formula is not None:
        return "formula"
    return "empty" if asked.is_trivial else "automaton"
