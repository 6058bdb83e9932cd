"""Verification of certificates: no run of a system violates the property.

The format, what is checked and why that is a proof are in ``docs/certificates.md``.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.conditions import TRUE, generalised_buchi
from ltlpipe.automata.words import contains_violations, has_violations
from ltlpipe.certificates.checking.automaton import (
    fairness_of,
    propositions_in,
    read_automaton,
    uncovered,
)
from ltlpipe.certificates.checking.document import (
    MAX_MARKS,
    READING,
    WORDS,
    Contents,
    Document,
    LinearDocument,
    RefusedError,
    blocks_of,
    opened,
    progress_of,
)
from ltlpipe.certificates.checking.linear import LinearProof, is_of_markings
from ltlpipe.certificates.checking.reduced import possible, reduced_network
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.interruptible import interruptible_formula
from ltlpipe.logic.propositions.syntax import Number
from ltlpipe.runtime.arguments import NUMBER, PATH, expect
from ltlpipe.runtime.errors import (
    FormulaError,
    InputError,
    LtlpipeError,
    UnsupportedError,
)
from ltlpipe.runtime.files import open_regular
from ltlpipe.runtime.jobs import (
    INTERRUPTED,
    Limits,
    Progress,
    StoppedError,
    TooMuchWorkError,
    bounded,
    imported,
    run,
)
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.runtime.names import visible
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.systems.models import Model, System
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.programs.eca.system import EcaSystem
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.systems.reading import load_job, name_of_system, source_job

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.certificates.checking.automaton import Automaton
    from ltlpipe.certificates.checking.proofs import StateProof
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.reading import SystemLike

VERIFIED, CONDITIONAL, REFUSED = "verified", "conditional", "refused"

_JUDGING = 5e6
"""CPU time, in microseconds, in which Spot may judge the automaton."""

READERS = "that the files of the system mean what ltlpipe reads in them"
ANALYSIS = "the analysis that finds the states of a program"
STEPS = "the interpreter that finds the steps of a model"


@dataclass(frozen=True)
class Verification:
    """The result of checking a certificate.

    Parameters
    ----------
    result : str
        "verified", "conditional" (verified if all `conditions` hold), or "refused".
    reason : str or None
        The first thing that is wrong with it.
    certificate : str
        Its path.
    claim : str or None
        What it claims, if its header could be read.
    trusted : tuple of str
        What the result rests on besides the check: readers, Spot's decisions, and the
        interpreter of models.
    conditions : tuple of str
        What nobody has checked.
    states, transitions : int or None
        Of the product, if all of them have been checked.
    seconds : float
        What the check took.
    """

    result: str
    reason: str | None
    certificate: str
    claim: str | None = None
    trusted: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    states: int | None = None
    transitions: int | None = None
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return vars(self) | {
            "trusted": list(self.trusted),
            "conditions": list(self.conditions),
            "seconds": round(self.seconds, 6),
        }


def verify_certificate(
    certificate: str,
    system: SystemLike | None = None,
    *,
    system_root: str | None = None,
    timeout: float | None = None,
    memory: float | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
) -> Verification:
    """Check a certificate that `ltlpipe.check` has written.

    Parameters
    ----------
    certificate : str
        Its path.
    system : Network, Model or paths, optional
        What it is about; by default the files that it names.  Files have to be as they
        were.
    system_root : str, optional
        The folder in which these files are, by their names in it.
    timeout, memory : float, optional
        Limits, in seconds and MiB, as for `check`.
    progress : bool or callable, optional
        As for `check`.

    Returns
    -------
    Verification
        `result` is "verified", "conditional" or "refused", `reason` why it is refused.

    Raises
    ------
    InputError
        The file cannot be read, or is no certificate; or a file of the system cannot be
        read.
    LtlpipeError
        A limit was hit.
    KeyboardInterrupt
        Ctrl-C was pressed.
    """
    expect(PATH, certificate=certificate)
    expect(PATH.or_none, system_root=system_root)
    expect(NUMBER.or_none, timeout=timeout, memory=memory)
    if system is not None:
        name_of_system(system)  # refuses what is none
    if memory is None:
        memory = default_memory_mib()
    job = verification_job(str(certificate), system, system_root)
    try:
        return run(job, Limits(timeout, memory), observer=progress)
    except StoppedError as stopped:
        if stopped.reason == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise LtlpipeError(f"{certificate}: {stopped.reason} limit hit") from None


def is_certificate(path: str) -> bool:
    """Whether a file begins as certificates do."""
    try:
        with open_regular(path) as file:
            return file.read(20) == b"ltlpipe certificate "
    except OSError as error:
        raise InputError(error.strerror or str(error), file=path) from None


def verification_job(
    path: str, system: SystemLike | None = None, system_root: str | None = None
) -> Job[Verification]:
    """Return the job that `verify_certificate` runs."""
    began = time.monotonic()
    check = _Check(path)
    reason = None
    try:
        yield from check.job(system, system_root)
    except RefusedError as refused:
        reason = visible(refused.reason)
    document = check.document
    verified = CONDITIONAL if check.conditions else VERIFIED
    return Verification(
        result=verified if reason is None else REFUSED,
        reason=reason,
        certificate=path,
        claim=None if document is None else claim_of(document, check.name),
        trusted=tuple(check.trusted),
        conditions=tuple(check.conditions),
        states=None if document is None or reason else document.states,
        transitions=None if reason else check.transitions,
        seconds=time.monotonic() - began,
    )


def claim_of(document: Document | LinearDocument, name: str) -> str:
    """Return what a certificate claims of a system, for people.

    All of the question is in it, for what is not there could be forged.
    """
    runs = f"no {document.fairness}ly fair run" if document.fairness else "no run"
    told = {"empty": "is accepting", "automaton": "is accepted by the automaton"}
    what = told.get(document.asked, f"violates {document.formula}")
    allowed = " that the constraint allows" if document.constraint else ""
    stutters = {"actions": False, "states": True}[document.letters]
    about = [
        f"--{name}={value}"
        for name, said in document.system.manner.items()
        for value in (said if isinstance(said, tuple) else (said,))
    ]
    if document.stutters != stutters:
        about.append(f"--deadlock={'stutter' if document.stutters else 'ignore'}")
    about += [f"--fair-sets={names}" for names in document.fair_sets]
    about += [f"{name} never holds" for name in document.never]
    if document.constraint:
        about.append(f"constraint: {' '.join(document.constraint.split())}")
    besides = f" ({'; '.join(about)})" if about else ""
    return visible(f"{runs} of {name or 'the system'}{allowed} {what}{besides}")


class _Check:
    """The check of one certificate in progress."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.document: Document | LinearDocument | None = None
        self.trusted: list[str] = []
        self.conditions: list[str] = []  # what is taken on trust
        self.name = ""  # of the system, when that is known
        self.transitions: int | None = None

    def job(self, given: SystemLike | None, root: str | None) -> Job[None]:
        """Do all of it; RefusedError says what is wrong."""
        yield Progress(READING)
        try:
            with open_regular(self._path) as file:
                document, contents = opened(file, self._path)
                self.document = document
                system = yield from self._system(document, contents, given, root)
                self.name = system.name
                if isinstance(system, Model):
                    system = system.for_question(_named(document))
                    system = yield from system.unfolding()
                yield from _refuse_known(document, system)
                if isinstance(document, LinearDocument):
                    self.transitions = 0
                    yield from self._linear(document, system)
                    return
                automaton = read_automaton(document.automaton)
                yield from self._judge(document, automaton, system)
                if document.reduction is not None:
                    system = yield from self._reduced(
                        document, automaton, system, contents
                    )
                proof = yield from self._proof(document, automaton, system)
                yield from _filled(proof, document, contents)
        except OSError as error:
            raise InputError(error.strerror or str(error), file=self._path) from None
        yield from proof.check()
        self.transitions = proof.transitions

    def _system(
        self,
        document: Document | LinearDocument,
        contents: Contents,
        given: SystemLike | None,
        root: str | None,
    ) -> Job[System]:
        """Return what is given, or read; of a program, the machine that is proved."""
        machine = document.machine if isinstance(document, Document) else None
        if isinstance(given, System):
            if machine is None:
                return given
            if not isinstance(given, EcaSystem):
                raise RefusedError("a machine is about a program")
            name, source = given.name, given.source
        else:
            self.trusted.append(READERS)
            files = yield from _files(document, given, self._path, root)
            if machine is None:
                system = yield from load_job(files, **document.system.manner)
                if isinstance(system, EcaSystem):
                    self.trusted.append(ANALYSIS)
                return system
            name = files[0]
            source = yield from source_job(name, format=document.system.format)
        yield from imported("pyarrow")
        from ltlpipe.certificates.checking.machine import proved_network

        try:
            return (yield from proved_network(source, machine, contents, name))
        except RecursionError:
            raise RefusedError("the program is nested too deeply") from None

    def _linear(self, document: LinearDocument, system: System) -> Job[None]:
        """Check a proof by linear algebra."""
        if not isinstance(system, PetriNet):
            raise RefusedError("a proof by linear algebra is about nets")
        yield from imported("numba")
        from ltlpipe.certificates.checking.proofs import meaning_of

        formula = _parsed(document.formula)
        meanings = {
            text: meaning_of(system, text, document.never)
            for text in document.propositions
        }
        proof = LinearProof(system, meanings, stutters=document.stutters)
        ticks = Ticks("checking the proof", 1000.0)
        try:
            proof.check_inductive(document.inductive)
            for clause in document.clauses:
                proof.check_clause(clause["cube"], clause["refutation"])
                yield from ticks.worked()
            for fact in document.facts:
                proof.check_fact(fact)
                yield from ticks.worked()
            known = {
                "clauses": [clause["cube"] for clause in document.clauses],
                "facts": [[fact["always"], fact["then"]] for fact in document.facts],
            }
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
            raise RefusedError("the proof makes no sense") from None
        initial = {
            text: bool(evaluate(meaning, system.initial()))
            for text, meaning in meanings.items()
            if is_of_markings(meaning)
        }
        names = sorted({*meanings, *formula.propositions})
        judging = has_violations(formula, initial=initial, combined=names, **known)
        claim = "no word that the proof allows violates the formula"
        yield from self._decided(
            _negated(judging),
            claim,
            f"that {claim}",
            "words that the proof allows violate the formula",
        )

    def _judge(
        self, document: Document, automaton: Automaton, system: System
    ) -> Job[None]:
        """Check that the automaton accepts all that must not be."""
        constraint = document.constraint
        if document.asked == "empty" and constraint is None:
            loops = [edge.cubes == ((0, 0),) for edge in automaton.edges[0]]
            single = len(automaton.edges) == 1 and automaton.condition == TRUE
            if not (single and any(loops)):
                raise RefusedError("the automaton does not accept every run")
            return
        if document.asked == "automaton":
            self.conditions.append(
                "that the automaton is the one that was asked about, and sees to the "
                "constraint if there is one"
            )
            return
        formula = _parsed(document.formula or "false")
        names = automaton.propositions
        stray = {*formula.propositions, *propositions_in(constraint or "")} - {*names}
        one_of: set[str] = set()
        combined: set[str] = set()
        never: set[str] = set()
        if isinstance(system, Network):
            actions = set(system.action_index)
            never = stray & set(document.never) - actions
            if stray - never:
                never |= yield from _impossible(system, stray - never)
            # Of an action that it does not name an automaton only sees that it is one.
            one_of = {*names, *stray} - never
            if unknown := one_of - {*names} - actions:
                name = min(unknown)
                raise RefusedError(f"no action of the network is called {name!r}")
        else:  # the automaton names those that never hold, and it is judged with them
            combined = {*names, *stray}
        judging = contains_violations(
            automaton.text(),
            formula,
            constraint=constraint,
            never=sorted(never),
            at_most_one=sorted(one_of),
            combined=sorted(combined),
        )
        try:
            yield from self._decided(
                judging,
                "the automaton accepts all violations",
                "that the automaton accepts all violations of the formula",
                "the automaton misses words that violate the formula",
            )
        except InputError as error:
            raise RefusedError(f"of its constraint: {error}") from None

    def _decided(
        self, judging: Job[bool], claim: str, on_trust: str, otherwise: str
    ) -> Job[None]:
        """Have Spot decide what a proof rests on, if it can."""
        try:
            holds = yield from bounded(judging, _JUDGING)
        except (TooMuchWorkError, UnsupportedError):
            self.conditions.append(f"{on_trust}, which was too hard to check")
            return
        if not holds:
            raise RefusedError(otherwise)
        self.trusted.append(f"Spot, which says that {claim}")

    def _reduced(
        self,
        document: Document,
        automaton: Automaton,
        system: System,
        contents: Contents,
    ) -> Job[System]:
        """Return the network that was searched; check that it may be searched."""
        if not isinstance(system, Network):
            raise RefusedError("a reduction is for networks")
        visible = set(automaton.propositions)
        if document.formula is not None:
            formula = _parsed(document.formula)
            visible |= set(formula.propositions)
        reduction = document.reduction
        assert reduction is not None
        if reduction.keeps == WORDS and document.formula is not None:
            claim = "only the actions that the formula names matter to it"
            yield from self._decided(
                interruptible_formula(formula),
                claim,
                f"that {claim}",
                "actions that the formula does not name matter to it",
            )
        yield from imported("pyarrow")
        return (yield from reduced_network(system, document, visible, contents))

    def _proof(
        self, document: Document, automaton: Automaton, system: System
    ) -> Job[StateProof]:
        """Return what is to be filled with the states, its acceptance checked."""
        if isinstance(system, SpotGraph):
            raise UnsupportedError("there are no certificates for graphs of Spot")
        over_actions = isinstance(system, Network)
        if over_actions != (document.letters == "actions"):
            raise RefusedError(f"letters are not {document.letters} of such a system")
        fairness = fairness_of(system, document.fairness, document.fair_sets)
        own = int(system.has_acceptance) if isinstance(system, Network) else 0
        shift = automaton.n_marks + own
        if shift + fairness.n_marks > MAX_MARKS:
            raise RefusedError("there are too many marks")
        condition = automaton.condition & generalised_buchi(own).renumbered(
            lambda mark: mark + automaton.n_marks
        )
        condition &= fairness.condition.renumbered(lambda mark: mark + shift)
        missing = uncovered(condition, document.clauses)
        if missing is not None:
            raise RefusedError(f"no clause covers {missing} of the acceptance")
        yield from imported("numba")
        from ltlpipe.certificates.checking.proofs import (
            Claim,
            ModelProof,
            NetworkProof,
        )

        claim = Claim(document, automaton, fairness)
        proof: StateProof
        if isinstance(system, Network):
            _refuse_names(document, automaton, system)
            proof = NetworkProof(system, claim)
        else:
            self.trusted.append(STEPS)
            proof = ModelProof(system, claim)
        if proof.n_entries != document.n_entries:
            raise RefusedError(
                f"a state has {document.n_entries} entries, and the system has "
                f"{proof.n_entries}"
            )
        return proof


def _parsed(text: str) -> Formula:
    try:
        return parse(text)
    except FormulaError:
        raise RefusedError("the formula does not parse") from None


def _named(document: Document | LinearDocument) -> set[str]:
    """Return the propositions by which a model is that of the question.

    Assertions fail where the question names failures; an automaton for a formula might
    name anything.
    """
    named = {*propositions_in(document.constraint or "")}
    if document.formula is not None:
        return named.union(_parsed(document.formula).propositions)
    assert isinstance(document, Document)
    return named.union(propositions_in(document.automaton))


def _negated(job: Job[bool]) -> Job[bool]:
    return not (yield from job)


def _impossible(network: Network, names: set[str]) -> Job[set[str]]:
    """Return those actions that can happen in no run of a network."""
    index = network.action_index
    if not names <= index.keys():
        return set()
    found = yield from possible(network)
    return {name for name in names if not found.happens[index[name]]}


def _refuse_known(document: Document | LinearDocument, system: System) -> Job[None]:
    """Refuse what is said never to hold, and is something of the system."""
    if not document.never:
        return
    yield from imported("numba")
    from ltlpipe.certificates.checking.proofs import meaning_of

    ticks = Ticks("reading propositions", 100.0)
    for name in document.never:
        if isinstance(system, Network):
            known = name in system.action_index
        else:
            known = isinstance(system, Model) and meaning_of(
                system, name, document.never
            ) != Number(0)
        if known:
            raise RefusedError(f"{name!r} is said never to hold, and the system has it")
        yield from ticks.worked()


def _refuse_names(document: Document, automaton: Automaton, network: Network) -> None:
    """Refuse propositions that are no actions, unless they are said never to hold."""
    known = {*network.action_index, *document.never}
    for name in automaton.propositions:
        if name not in known:
            raise RefusedError(f"no action of the network is called {name!r}")


def _filled(proof: StateProof, document: Document, contents: Contents) -> Job[None]:
    """Read all states."""
    yield from imported("pyarrow")
    grant = yield progress_of(document, proof.memory_bytes)
    if proof.memory_bytes > grant.memory_bytes:
        raise StoppedError("memory")
    proof.begin()
    for columns in blocks_of(contents, document):
        yield from proof.add(columns)
        yield progress_of(document, proof.memory_bytes)


def _files(
    document: Document | LinearDocument, given: Any, path: str, root: str | None
) -> Job[list[str]]:
    """Return the files that a certificate names, or that are given, as they were."""
    named = document.system.files
    if not named:
        raise InputError(
            "the certificate names no file of its system, which was none: give it from "
            "Python",
            file=path,
        )
    files = [file.path for file in named]
    if root is not None:
        files = [str(Path(root) / _below(file)) for file in files]
    if given is not None:
        paths = [given] if isinstance(given, (str, PathLike)) else list(given)
        if not all(isinstance(file, (str, PathLike)) for file in paths):
            raise UnsupportedError("system: a certificate is about files: give paths")
        files = [fspath(file) for file in paths]
    if len(files) != len(named):
        raise InputError(f"the certificate is about {len(named)} files", file=path)
    for place, file in zip(files, named, strict=True):
        if (yield from _digest(place)) != file.sha256.lower():
            raise RefusedError(f"{place} is not the file that was checked")
    return files


def _below(path: str) -> str:
    """Return a path as it is looked for in another folder."""
    given = Path(path)
    return given.name if given.is_absolute() or ".." in given.parts else path


def _digest(path: str) -> Job[str]:
    found = hashlib.sha256()
    try:
        with open_regular(path) as file:
            while chunk := file.read(1 << 20):
                found.update(chunk)
                yield Progress(READING, work=1000)
    except OSError as error:
        raise InputError(error.strerror or str(error), file=path) from None
    return found.hexdigest()
