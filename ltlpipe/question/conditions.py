"""Conditions: which option goes with which system, strategy and other option.

`CONDITIONS` is the one table of them.  Its columns are what options can stand in the
way of: any answer (`ANY`), questions about a kind of system, strategies, and reductions
that several strategies use.  A column yields the sentences of the conditions that
apply; the first is said.  `ltlpipe.question.options.Options` refuses what is in the way
of `ANY`, a question what is in the way of its kind of system; the obstacles of
strategies, which ``--explain`` prints, are those of their columns.

In all of them `o` are the options and `q` is the question, of kinds of systems the
property.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.search.catalogue import (
    DECOUPLED,
    DECOUPLED_NDFS,
    DECOUPLED_SCC,
    OF_SETS,
    OF_WORKERS,
    POWERSET,
    SEARCHES,
    SHARED,
    takes_any_marks,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

AUTO, NONE = "auto", "none"

EMPTINESS_NAMES = [*SEARCHES, *DECOUPLED, *POWERSET]
ACCEPTANCE_NAMES = ["ba", "tgba", "tgra", "tfla", "tela"]
ALPHABET = "alphabet"
FACTORING = "factoring"
AMPLE = "ample"
COMPONENTS = "components"
SUBSET = "subset"
ISOLATED = "isolated"
DECOUPLING = "decoupled"
SYMMETRY = "symmetry"
AUTOMORPHISMS = "automorphisms"
WALKS = "walks"
LINEAR = "linear"
STRUCTURAL = "structural"
VARIABLES = "variables"
STATEMENTS = "statements"
PREPARATIONS = (ALPHABET, FACTORING, LINEAR, STRUCTURAL, VARIABLES, STATEMENTS)
"""Reductions that come before whatever strategy; the others are strategies."""
REDUCTION_NAMES = [
    *PREPARATIONS,
    COMPONENTS,
    SUBSET,
    ISOLATED,
    AMPLE,
    DECOUPLING,
    SYMMETRY,
    AUTOMORPHISMS,
    WALKS,
]
TOGETHER, EACH = "together", "each"
MAX_BITSTATE = 1 << 15
"""MiB of the largest bit array whose words a kernel can address: 32 GiB."""

BITSTATE = "se05"
"""The emptiness check that can do with few bits of each state."""

OWN_TABLES = (*SHARED - set(OF_WORKERS), *DECOUPLED, *POWERSET)
"""Emptiness checks whose states are no rows of the store of one worker."""

AMPLE_SEARCHES = ("se05", "dfs-weak", "couvreur99", "ufscc")
"""The emptiness checks that can expand states by ample sets."""

TAKERS = {
    AMPLE: (COMPONENTS, SYMMETRY, AUTOMORPHISMS),
    COMPONENTS: (DECOUPLING, SYMMETRY, AUTOMORPHISMS),
}
"""Strategies that use another reduction themselves if that is named beside them."""

ANY = "any"
NETWORK, MODEL, COLOURED = "network", "model", "coloured net"
KRIPKE, AUTOMATON = "Kripke structure", "automaton"
"""Kinds of systems; the last two are graphs of Spot."""

DERIVED = "derived"
"""Questions about finite runs and about the past (`ltlpipe.verdict.finite_runs`)."""

INSTANT, EXPLICIT, CERTIFIED = "instant", "explicit", "certified"
AMPLE_SETS, COMPOSITION, FEW = "ample sets", "composition", "few components"
"""Reductions, whichever strategy uses them."""

UNFAIR = "fairness depends on which actions are enabled"
WITH_FIN = "with Fin in the acceptance the marks of an SCC say nothing of its cycles"
NO_ACTIONS = "a graph of Spot has no actions"

_WITH_VALUE = ("network_acceptance", "fairness")


def first_obstacle(columns: tuple[str, ...], options: Any, asked: Any) -> str | None:
    """Return the sentence of the first condition of some columns that applies.

    `asked` is what conditions take as `q`.
    """
    sentences = (s for column in columns for s in _sentences(column, options, asked))
    return next(sentences, None)


def _sentences(column: str, o: Any, q: Any) -> Iterator[str]:
    """Yield the sentences of a column: first that its reduction is not allowed."""
    reduction = _ALLOWED.get(column)
    if reduction is not None and not o.reduces(reduction):
        yield _unnamed(o, reduction)
    yield from CONDITIONS[column](o, q)


def obstacle(question: Any, *columns: str) -> str | None:
    """Return why strategies cannot answer a question; None if nothing is known."""
    return first_obstacle(columns, question.options, question)


def refuse(column: str, options: Any, asked: Any = None) -> None:
    """Raise UnsupportedError if options stand in the way of a column.

    That is `ANY`, or a kind of systems; `asked` is the property then.
    """
    sentence = first_obstacle((column,), options, asked)
    if sentence is not None:
        raise UnsupportedError(sentence)


def flag_of(name: str) -> str:
    """Return the name of an option on the command line, without its dashes."""
    return name.replace("_", "-")


def _given(options: Any, *names: str) -> Iterator[str]:
    """Yield the flags of some options that are not their defaults."""
    differing = options.differing()
    for name in names:
        if name in differing:
            value = f"={differing[name]}" if name in _WITH_VALUE else ""
            yield f"--{flag_of(name)}{value}"


def _is_graph(question: Any) -> bool:
    return question.kind in (KRIPKE, AUTOMATON)


_HARMLESS = [AUTO], [NONE], [WALKS]
_EACH = "--network-acceptance=each gives each component a mark of its own"


def _unnamed(o: Any, name: str) -> str:
    left_out = name in o.left_out
    return "--reduce leaves it out" if left_out else "--reduce does not name it"


def _any(o: Any, _: Any) -> Iterator[str]:
    if o.bitstate is not None and not 0 < o.bitstate < MAX_BITSTATE:
        expected = f"expected more than 0 MiB and less than {MAX_BITSTATE}"
        yield f"--bitstate={o.bitstate}: {expected}"
    if o.bitstate is not None and o.compact is not None:
        yield f"--compact={o.compact} goes without --bitstate={o.bitstate}"
    if o.omitting and o.emptiness not in (AUTO, BITSTATE):
        yield f"{o.omitting} is for {BITSTATE}, not for --emptiness={o.emptiness}"
    if o.keeping and o.omitting:
        yield f"{o.keeping} is for rows of states, and {o.omitting} keeps none"
    if o.keeping and (o.workers > 1 or o.emptiness in OWN_TABLES):
        given = f"not for --emptiness={o.emptiness} with --workers={o.workers}"
        yield f"{o.keeping} is for searches of single states by one worker: {given}"
    if o.swarm is not None and o.bitstate is None:
        yield f"--swarm={o.swarm} requires --bitstate"
    if o.fair_sets and o.fairness is None:
        yield "--fair-sets requires --fairness=weak or --fairness=strong"
    if o.ndfs_stack_test and o.emptiness != DECOUPLED_NDFS:
        named = f"--emptiness={DECOUPLED_NDFS}, not for {o.emptiness}"
        yield f"--ndfs-stack-test is for {named}"
    if "stabiliser" in o.reduce_names:
        fewer = f"{AUTOMORPHISMS} stores as many states or fewer"
        yield f"--reduce=stabiliser has gone: {fewer}"
    if {*o.reduce_names, *o.left_out} - {AUTO, NONE, *REDUCTION_NAMES}:
        yield f"--reduce={o.reduce}: expected one of {', '.join(REDUCTION_NAMES)}"
    if len(o.reduce_names) > 1 and {AUTO, NONE} & {*o.reduce_names}:
        yield f"--reduce={o.reduce}: expected auto, none, a list, or auto,-NAME"


def _network(o: Any, q: Any) -> Iterator[str]:
    if o.visible is not None and q.violations is None:
        yield (
            "--visible requires --automaton; the visible actions of a formula are "
            "those that it names"
        )
    if o.semantics == "state":
        yield (
            "--semantics=state: the states of a network of LTSs have no propositions; "
            "use action"
        )
    if o.fairness and o.reduce_names not in _HARMLESS:
        yield (
            f"--reduce={o.reduce} changes which actions are enabled, on which "
            "--fairness depends: use none"
        )


def _coloured(o: Any, _: Any) -> Iterator[str]:
    of_models = {AUTO, NONE, AMPLE, SYMMETRY, AUTOMORPHISMS, DECOUPLING, WALKS}
    of_models |= {LINEAR, STRUCTURAL, VARIABLES, STATEMENTS}
    if o.semantics == "action":
        yield (
            "--semantics=action: propositions of a model are about its states; use "
            'state (an action is named by action=="...")'
        )
    stray = "is for networks of LTSs, not for models"
    for given in _given(o, *o.of_networks):
        yield f"{given} {stray}"
    if {*o.reduce_names} - of_models:
        yield f"--reduce={o.reduce} {stray}"


def _model(o: Any, q: Any) -> Iterator[str]:
    yield from _coloured(o, q)
    if o.emptiness in POWERSET:
        yield f"--emptiness={o.emptiness} is for symmetric nets, not for other models"


def _kripke(o: Any, _: Any) -> Iterator[str]:
    if o.semantics == "action":
        yield (
            "--semantics=action: the propositions of a graph of Spot are those of its "
            "valuations; use state"
        )
    if o.finite:
        yield "--semantics=finite is for networks and models, not for graphs of Spot"
    missing = "is about actions or components, which graphs of Spot do not have"
    for given in _given(o, "visible", "fairness", "network_acceptance"):
        yield f"{given} {missing}"
    if o.emptiness in OF_SETS:
        yield f"--emptiness={o.emptiness} {missing}"
    if o.reduce_names not in _HARMLESS:
        yield f"--reduce={o.reduce} {missing}"


def _automaton(o: Any, q: Any) -> Iterator[str]:
    if o.stutters:
        yield (
            "--deadlock=stutter: the letters of an automaton are on its edges, and a "
            "state without edges has none to repeat; use ignore, or a Kripke structure"
        )
    yield from _kripke(o, q)


def _derived(o: Any, q: Any) -> Iterator[str]:
    what = "--semantics=finite" if o.finite else "--past"
    if q.formula is None:
        yield f"{what} requires a formula"
    for given in _given(o, "vacuity", "certificate", "translator"):
        yield f"{given} cannot be combined with {what}"
    if not o.finite:
        return
    infinite = ("deadlock", "fairness", "constraint", "network_acceptance", "shortest")
    for given in _given(o, *infinite):
        yield f"{given} is about infinite runs, and {what} about those that end"


def _instant(o: Any, _: Any) -> Iterator[str]:
    if o.emptiness != AUTO:
        yield f"{o.emptiness} is requested"
    if o.named_strategies:
        yield _unnamed(o, INSTANT)
    for given in _given(o, "bitstate", "compact", "swarm", "seed"):
        yield f"{given} is about the compiled searches"


def _of_sets(_: Any, q: Any) -> Iterator[str]:
    if q.given.emptiness in OF_SETS:
        yield f"{q.given.emptiness} does not look at one state at a time"


def _explicit(o: Any, q: Any) -> Iterator[str]:
    yield from _of_sets(o, q)
    if o.named_strategies:
        yield _unnamed(o, EXPLICIT)
    named = q.given.emptiness
    if q.accepts_apart and named is not None and not takes_any_marks(named):
        yield f"{named} takes one mark, but {_EACH}"


def _certified(o: Any, q: Any) -> Iterator[str]:
    yield from _of_sets(o, q)
    if q.accepts_apart:
        yield _EACH


def _ample(o: Any, _: Any) -> Iterator[str]:
    if o.insists_on(AMPLE) and (taker := o.taker_of(AMPLE)):
        yield f"--reduce asks for {taker}, which are searched with ample sets then"


def _own_acceptance(q: Any) -> Iterator[str]:
    if q.property.is_trivial or q.system.has_acceptance:
        yield "acceptance of the system is about states"


def _ample_sets(o: Any, q: Any) -> Iterator[str]:
    yield from _of_sets(o, q)
    if q.fairness is not None:
        yield UNFAIR
    if _is_graph(q):
        yield NO_ACTIONS
    if q.kind == NETWORK:
        if o.omitting:
            yield f"{o.omitting} takes all steps"
        if q.given.emptiness not in (None, *AMPLE_SEARCHES):
            yield f"{q.given.emptiness} takes all steps"
        yield from _own_acceptance(q)


def _walks(o: Any, q: Any) -> Iterator[str]:
    if o.emptiness != AUTO:
        yield f"{o.emptiness} is requested"
    of_fairness = None if q.fairness is None else q.fairness.condition
    if any(c is not None and c.fin_marks for c in (q.system_condition, of_fairness)):
        yield WITH_FIN
    if o.omitting:
        yield "--bitstate and --compact are for a search of the whole product"


def _linear(o: Any, q: Any) -> Iterator[str]:
    if o.named_strategies:
        yield f"{', '.join(o.named_strategies)} is requested"
    if o.emptiness != AUTO:
        yield f"{o.emptiness} is requested"
    if o.omitting:
        yield f"{o.omitting} is for a search of the whole product"
    if o.finite:
        yield "linear programs are about infinite runs"
    if q.kind not in (MODEL, COLOURED):
        yield "linear programs are about nets"
    if q.property.is_trivial:
        yield "there is no property"


def _structural(o: Any, q: Any) -> Iterator[str]:
    if o.emptiness != AUTO and not o.insists_on(STRUCTURAL):
        yield f"{o.emptiness} is requested"
    if q.fairness is not None:
        yield UNFAIR
    if o.finite:
        yield "where runs end, each of their steps counts"
    if q.kind not in (MODEL, COLOURED):
        yield "structural reductions are those of nets"


def _variables(_: Any, __: Any) -> Iterator[str]:
    return iter(())  # programs that forget have the same steps


def _statements(_: Any, q: Any) -> Iterator[str]:
    if q.fairness is not None:
        yield UNFAIR


def _components(o: Any, q: Any) -> Iterator[str]:
    if o.insists_on(AUTOMORPHISMS):
        yield "--reduce asks for automorphisms, which are those of components then"
    yield from _of_sets(o, q)


def _few(_: Any, q: Any) -> Iterator[str]:
    if q.stutters:
        yield "few components do not tell whether the network is in a deadlock"


def _composition(o: Any, q: Any) -> Iterator[str]:
    if q.kind != NETWORK:
        yield "the system has no components"
    if q.fairness is not None:
        yield UNFAIR
    if o.omitting:
        yield f"{o.omitting} is for systems as they are"
    yield from _own_acceptance(q)


def _decoupling(o: Any, q: Any) -> Iterator[str]:
    if _is_graph(q):
        yield "the system has no components"
    if q.given.emptiness not in (None, *DECOUPLED):
        yield f"{q.given.emptiness} looks at one state at a time"
    if q.given.emptiness is None and not o.reduces(DECOUPLING):
        yield _unnamed(o, DECOUPLING)
    if q.fairness is not None:
        yield UNFAIR
    if q.kind == NETWORK:
        if q.stutters:
            yield "sets of states do not tell which of them are deadlocks"
        if q.given.emptiness == DECOUPLED_SCC and q.system.has_acceptance:
            advice = f"use {DECOUPLED_NDFS}"
            yield f"{DECOUPLED_SCC} takes no components that accept: {advice}"


def _symmetry(o: Any, q: Any) -> Iterator[str]:
    if not (q.given.emptiness or o.reduces(SYMMETRY) or o.wants_symmetry):
        yield _unnamed(o, SYMMETRY)
    if o.wants_decoupling:
        yield "decoupled search, which is requested, has sets of another kind"
    yield from (_sets_of_markings if q.kind == COLOURED else _orbits_unasked)(o, q)


def _sets_of_markings(o: Any, q: Any) -> Iterator[str]:
    if q.given.emptiness not in (None, *POWERSET):
        yield f"{q.given.emptiness} looks at one state at a time"
    if q.fairness:
        yield "fairness tells colours apart"
    if o.omitting:
        yield f"{o.omitting} looks at one state at a time"
    if o.insists_on(AMPLE):
        yield "ample sets are chosen for states, not for sets: leave one out"


def _orbits_unasked(o: Any, q: Any) -> Iterator[str]:
    named = q.given.emptiness
    if named in POWERSET:
        yield f"{named} is for sets of markings, of symmetric nets only"
    if q.kind != NETWORK and not o.wants_symmetry:
        yield "the system has neither components nor colours"
    if not o.wants_symmetry and (named or o.omitting):
        yield f"{named or o.omitting} is requested, which searches all states"
    yield from _orbits(o, q)


def _automorphisms(o: Any, q: Any) -> Iterator[str]:
    if not o.insists_on(AUTOMORPHISMS):
        yield _unnamed(o, AUTOMORPHISMS)
    yield from _orbits(o, q)


def _orbits(o: Any, q: Any) -> Iterator[str]:
    if _is_graph(q):
        yield "a graph has no parts that could change places"
    yield from _of_sets(o, q)
    if q.fairness is not None:
        yield UNFAIR
    if o.workers > 1 and (o.reduce_names != [AUTO] or o.wants_symmetry):
        yield "several workers cannot share its tables: leave out --workers"
    if o.swarm:
        yield "--swarm searches the system as it is"
    if o.insists_on(AMPLE) and q.kind != NETWORK:
        yield "ample sets of models are chosen by action: leave one out"
    elif o.insists_on(AMPLE) and (hindrance := q.obstacle_to_ample()):
        yield f"--reduce asks for ample sets, but {hindrance}"
    if q.accepts_apart:
        yield _EACH


CONDITIONS: dict[str, Callable[[Any, Any], Iterator[str]]] = {
    ANY: _any,
    NETWORK: _network,
    MODEL: _model,
    COLOURED: _coloured,
    KRIPKE: _kripke,
    AUTOMATON: _automaton,
    DERIVED: _derived,
    INSTANT: _instant,
    EXPLICIT: _explicit,
    CERTIFIED: _certified,
    AMPLE: _ample,
    AMPLE_SETS: _ample_sets,
    WALKS: _walks,
    LINEAR: _linear,
    STRUCTURAL: _structural,
    VARIABLES: _variables,
    STATEMENTS: _statements,
    COMPONENTS: _components,
    SUBSET: _of_sets,
    ISOLATED: _of_sets,
    FEW: _few,
    COMPOSITION: _composition,
    DECOUPLING: _decoupling,
    SYMMETRY: _symmetry,
    AUTOMORPHISMS: _automorphisms,
}

_ALLOWED = {AMPLE_SETS: AMPLE} | {
    name: name for name in (WALKS, *PREPARATIONS[2:], COMPONENTS, SUBSET, ISOLATED)
}
"""The reductions that ``--reduce`` has to allow, by their columns."""
