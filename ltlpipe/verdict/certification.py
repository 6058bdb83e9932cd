"""The certificate of a question that holds: its claim, and when it is written.

Where a certificate is asked for, searches whose product is kept if they find nothing
take the place of all strategies: the explicit search of the system, and that of what
component reduction makes of it, as far as that can be certified.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import hoa_text
from ltlpipe.logic.propositions.syntax import Number
from ltlpipe.question.answer import EMPTY, Answer
from ltlpipe.question.conditions import (
    ALPHABET,
    AUTO,
    CERTIFIED,
    COMPONENTS,
    COMPOSITION,
    EXPLICIT,
    FEW,
    LINEAR,
    SUBSET,
    UNFAIR,
)
from ltlpipe.question.given_options import manner_of
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.network import NetworkProduct, with_components
from ltlpipe.question.property import Decision
from ltlpipe.question.question import NotApplicableError, for_workers, note_table
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import MIB
from ltlpipe.strategies.components import (
    Composed,
    small_first,
)
from ltlpipe.strategies.linear import UNPROVED, net_of, proof_of
from ltlpipe.strategies.registry import Strategy
from ltlpipe.strategies.state_search import (
    Attempt,
    answer_of,
    new_search,
    search_states,
)
from ltlpipe.strategies.subset import refinement_of
from ltlpipe.systems.kinds import is_eca

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.certificates.writing import Certificate
    from ltlpipe.components.groups import Group
    from ltlpipe.question.answer import Trace
    from ltlpipe.question.network import NetworkQuestion
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.question.question import Product, Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import Search
    from ltlpipe.search.exploring import Recording
    from ltlpipe.search.scc.ranks import RankedSearch
    from ltlpipe.systems.networks.packing import PackedSystem


class Certified(Strategy):
    """An explicit search in progress.

    Attributes
    ----------
    product : Product
        What is searched, once that has begun.
    packed : PackedSystem
        The system as it was searched, if nothing was found.
    ended : RankedSearch, Recording or None
        The search, which has ranked all states; or a recording of their transitions,
        to begin over the same store.  None before it is known that nothing was found.
    reduced : Composed or None
        What component reduction has made of the system, if that was searched.
    kept : tuple of int or None
        The components that `reduced` is made of, if not of all.
    """

    product: Product
    packed: PackedSystem
    kept: tuple[int, ...] | None = None

    def __init__(self, *, trims: bool = False) -> None:
        super().__init__(EXPLICIT, self.answer, (EXPLICIT, CERTIFIED))
        self.trims = trims  # what no run can take, before the search
        self.ended: RankedSearch | Recording | None = None
        self.reduced: Composed | None = None

    def answer(self, question: Question, trace: Trace) -> Job[Answer]:
        """Return the job that answers a question, and keeps what it has searched."""
        network = with_components(question)
        if self.trims and network is not None:
            self.product = yield from _trimmed(network, trace)
        else:
            self.product = yield from question.product(question.given, trace)
        answer = yield from self._searched(question, trace)
        return answer

    def _searched(
        self, question: Question, trace: Trace, max_states: int | None = None
    ) -> Job[Answer]:
        """Search the product."""
        table = self.product.table
        if table.system_marks:
            raise UnsupportedError(
                "--certificate needs the acceptance of the network apart from that of "
                f"the property, which --emptiness={question.options.emptiness} takes "
                "together: use --emptiness=auto"
            )
        plan = question.settled(self.product.plan, table, self.product.reductions)
        trace.plan = for_workers(plan, question.options)
        return (
            yield from search_states(
                question, self.product, trace, way=self._search, max_states=max_states
            )
        )

    def _search(self, attempt: Attempt) -> Job[Answer]:
        """Search a product, and keep it if nothing was found."""
        from ltlpipe.search.exploring import Recording
        from ltlpipe.search.scc.ranks import RankedSearch

        options, trace = attempt.question.options, attempt.trace
        problem = attempt.product.problem(attempt.packed)
        ranks = options.emptiness == AUTO and options.workers == 1
        simplified = RankedSearch.simplified(problem) if ranks else None
        search: Search
        if simplified is not None:
            search = RankedSearch(simplified)
            trace.plan = replace(trace.plan, emptiness=search.name)
        else:
            search = new_search(attempt.question, trace.plan, problem)
        answer = yield from answer_of(attempt, search)
        if answer.kind == EMPTY:
            self.packed = attempt.packed
            if isinstance(search, RankedSearch):
                self.ended = search
            else:
                # Workers share a store of another kind.
                known = None if search.takes_workers else search
                self.ended = Recording(search.problem, known=known, ways=False)
        return answer


class CertifiedComponents(Certified):
    """Component reduction with forms that are checked; see `Certified`.

    Forms are the least deterministic ones where the formula allows it, else the
    quotients of single components by strong bisimilarity (docs/certificates.md).

    Parameters
    ----------
    trims : bool
        Whether components lose what no run can take before they are reduced.
    named : bool
        Whether the user asks for it by name.
    """

    def __init__(self, *, trims: bool = True, named: bool = False) -> None:
        super().__init__(trims=trims)
        self.name, self.columns = COMPONENTS, (CERTIFIED, COMPOSITION)
        self._named = named
        self._keeps_words = True  # where the property allows that

    def is_named(self, options: Options) -> bool:  # noqa: ARG002 (one signature for all)
        """Whether the options ask for it by name."""
        return self._named

    def answer(self, question: Question, trace: Trace) -> Job[Answer]:
        """Return the job that reduces, searches, and keeps what it has searched."""
        network = with_components(question)
        assert network is not None  # by `obstacle`
        return (yield from small_first(network, trace, self._answer))

    def _answer(
        self, question: NetworkQuestion, cap: int, max_states: int | None, trace: Trace
    ) -> Job[Answer]:
        """Reduce components up to so many states, and search what is left."""
        composed = yield from self._composed(question, cap)
        reduced = composed.reduced
        if reduced.visible is not None and not all(
            map(_is_deterministic, reduced.groups)
        ):
            raise NotApplicableError(
                "some components have no small deterministic form, and others have no "
                "certificate"
            )
        self.product = yield from question.product(
            question.given, trace, reduced.network
        )
        answer = yield from self._searched(question, trace, max_states)
        trace.plan = composed.noted(trace.plan)
        self.reduced = composed
        return (yield from composed.lifted(answer, trace))

    def _composed(self, question: NetworkQuestion, cap: int) -> Job[Composed]:
        from ltlpipe.components.alphabet import trim
        from ltlpipe.components.merger import reduced_components, shrink_components

        network = question.system
        if self.trims:
            network = yield from trim(network)
        decision = yield from question.decision()
        is_free = decision is not None and decision.allowed and self._keeps_words
        if question.stutters or decision is None or not is_free:
            reduced = yield from shrink_components(network, question.actions)
            reason = "certificates keep each step of other properties"
            return Composed(decision or Decision(False, ""), reason, network, reduced)
        reduced = yield from reduced_components(
            network,
            question.actions,
            cap_states=cap,
            equivalence="trace",
            shared_bytes=question.options.share * MIB,
        )
        return Composed(decision, decision.reason, network, reduced)


class LinearCertified(Strategy):
    """Linear programs, which prove without states.

    Attributes
    ----------
    ended : dict or None
        What they have proved, with refutations; None before.
    meanings : dict of str to Expression
        The propositions that the proof is about.
    """

    meanings: dict[str, Any]

    def __init__(self) -> None:
        super().__init__(LINEAR, self.answer, (CERTIFIED,))
        self.ended: dict[str, Any] | None = None

    def answer(self, question: Question, trace: Trace) -> Job[Answer]:
        """Return the job that proves, and keeps the proof."""
        asked: Any = question
        if asked.property.formula is None:
            raise NotApplicableError("only a formula can be judged again")
        found = yield from proof_of(asked, net_of(asked), certified=True)
        trace.note(states=0, transitions=0, details={"programs": found["programs"]})
        if not found["proved"]:
            raise NotApplicableError(UNPROVED)
        self.ended, self.meanings = found, asked.propositions
        return Answer(EMPTY)


class CertifiedSubset(CertifiedComponents):
    """Some components that suffice, with their forms; see `CertifiedComponents`."""

    def __init__(self, *, trims: bool = True, named: bool = False) -> None:
        super().__init__(trims=trims, named=named)
        self.name, self.columns = SUBSET, (*self.columns, FEW)

    def answer(self, question: Question, trace: Trace) -> Job[Answer]:
        """Return the job that looks for components that suffice."""
        network = with_components(question)
        assert network is not None  # by `obstacle`
        refinement = yield from refinement_of(network, trace, self._part, sorts=True)
        answer = yield from refinement.answer()
        self.kept = tuple(sorted(refinement.chosen))
        return answer

    def _part(self, question: Question, trace: Trace) -> Job[Answer]:
        """Answer for some components, whose steps are kept if words cannot be."""
        self._keeps_words = True
        try:
            return (yield from super().answer(question, trace))
        except NotApplicableError:
            self._keeps_words = False
        return (yield from super().answer(question, trace))


def _is_deterministic(group: Group) -> bool:
    """Whether a group and its parts are the least deterministic forms."""
    return group.equivalence == "trace" and all(map(_is_deterministic, group.parts))


def _trimmed(question: NetworkQuestion, trace: Trace) -> Job[NetworkProduct]:
    """Return the product of a network without what no run of it can take.

    Its automaton says nothing of actions that cannot happen.
    """
    from ltlpipe.components.alphabet import Trimmed, trim_alone

    if question.fairness is not None:
        raise NotApplicableError(UNFAIR)
    network, known = yield from trim_alone(question.system, question.actions)
    table = yield from question.automaton(question.given, known, trace)
    note_table(trace, table)
    smaller = network is not question.system or known != question.actions
    return NetworkProduct(
        question,
        Trimmed(network, table, known),
        question.given,
        (ALPHABET,) if smaller else (),
    )


NONE = "none"


def certified_options(options: Options) -> Options:
    """Return the options of a search that can be certified.

    Raises
    ------
    UnsupportedError
        An option excludes certificates.
    """
    named = set(options.reduce_names)
    if not named <= {AUTO, NONE, ALPHABET, COMPONENTS, SUBSET, LINEAR}:
        raise UnsupportedError(
            f"--certificate is about all states, and --reduce={options.reduce} leaves "
            "some out: use none, alphabet, components, subset or linear"
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


def certified_strategies(options: Options) -> tuple[Certified | LinearCertified, ...]:
    """Return the strategies that may be certified, as the user has asked for them."""
    trims = options.insists_on(ALPHABET)
    if options.insists_on(LINEAR):
        return LinearCertified(), Certified(trims=trims)
    if options.insists_on(SUBSET):
        return (CertifiedSubset(trims=trims, named=True),)
    if options.insists_on(COMPONENTS):
        return (CertifiedComponents(trims=trims, named=True),)
    if options.reduce_names == [AUTO]:
        linear = (LinearCertified(),)[: options.reduces(LINEAR)]
        components = (CertifiedComponents(),)[: options.reduces(COMPONENTS)]
        subset = (CertifiedSubset(),)[: options.reduces(SUBSET)]
        return *linear, Certified(), *components, *subset
    return (Certified(trims=trims),)


def certificate_of(
    question: Question,
    strategy: Certified | LinearCertified,
    asked: Property,
    files: Sequence[str],
    constraint: Any = None,
) -> Job[Certificate]:
    """Write the certificate of a question to the file that its options name.

    Parameters
    ----------
    question : Question
        The question.
    strategy : Certified or LinearCertified
        The strategy that has searched and found nothing, or proved it.
    asked : Property
        What was asked.
    files : sequence of str
        The files from which the system was read, if any.
    constraint : spot.twa_graph or None
        It restricts the runs, and is part of the automaton.

    Raises
    ------
    InputError
        It cannot be written.
    UnsupportedError
        There are no certificates for this kind of system, or the acceptance has no
        small disjunctive normal form.
    StoppedError
        Memory does not suffice.
    """
    from ltlpipe.certificates.invariants import invariant_of
    from ltlpipe.certificates.writing import (
        Certificate,
        Evidence,
        digest_of,
        hoa_of,
        proof_written,
        reduction_of,
        written,
    )

    if isinstance(question, GraphQuestion):
        raise UnsupportedError(
            "--certificate is for networks and models, not for graphs of Spot"
        )
    began = time.monotonic()
    digests = []
    for file in files:
        digests.append({"path": file, "sha256": (yield from digest_of(file))})
    claim = _claim(question, asked, digests)
    path: Any = question.options.certificate
    if isinstance(strategy, LinearCertified):
        said = strategy.meanings.items()
        proof: Any = strategy.ended
        told = {
            "propositions": [text for text, _ in said],
            "never": sorted(text for text, own in said if own == Number(0)),
            "clauses": proof["clauses"],
            "facts": proof["facts"],
            "inductive": proof["inductive"],
        }
        size = proof_written(path, claim, told)
        return Certificate(path, 0, 0, size, time.monotonic() - began)
    search = strategy.ended
    product: Any = strategy.product
    assert search is not None  # since it has found nothing
    network = with_components(question)
    if network is not None:
        propositions = list(product.trimmed.actions)
        numbers = range(1, len(product.trimmed.network.components) + 1)
        columns = tuple(f"component {k}" for k in numbers)
        named = () if constraint is None else (p.ap_name() for p in constraint.ap())
        known = {*propositions, *network.system.action_index}
        unknown = {*asked.propositions, *named} - known
    else:
        meanings: dict[str, Any] = question.propositions  # type: ignore[attr-defined]
        propositions = list(meanings)
        columns = tuple(question.system.variables)  # type: ignore[attr-defined]
        unknown = {text for text, said in meanings.items() if said == Number(0)}
    claim |= {
        "constraint": None if constraint is None else hoa_text(constraint),
        "never": sorted(unknown),
    }
    over_states = claim["letters"] == "states"
    automaton = hoa_of(product.table, propositions, over_states=over_states)
    reduction = None
    if strategy.reduced is not None:
        before, reduced = strategy.reduced.before, strategy.reduced.reduced
        job = reduction_of(before, reduced, trimmed=strategy.trims, kept=strategy.kept)
        reduction = yield from job
    invariant = None
    if network is not None and is_eca(network.system):
        invariant = yield from invariant_of(network.system)
    packed = strategy.packed
    evidence = Evidence(search, packed, automaton, columns, reduction, invariant)
    size = yield from written(path, claim, evidence)
    return Certificate(
        path=path,
        states=search.n_stored,
        transitions=search.n_transitions,
        bytes=size,
        seconds=time.monotonic() - began,
    )


def _claim(
    question: Question, asked: Property, files: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what a certificate claims, but for the constraint and unknown names."""
    options = question.options
    kind = "empty" if asked.is_trivial else "automaton"
    grown = getattr(question.system, "grown", None)  # type: ignore[attr-defined]
    return {
        "formula": None if asked.formula is None else asked.formula.text,
        "asked": kind if asked.formula is None else "formula",
        "system": {
            "name": question.name,
            "files": files,
            **manner_of(options.differing()),
            **({} if grown is None else {"processes": grown}),
        },
        "letters": "states" if with_components(question) is None else "actions",
        "deadlock": "stutter" if question.stutters else "ignore",
        "fairness": options.fairness,
        "fair_sets": list(options.fair_sets),
    }
