"""Conditions: which option goes with which system, strategy and other option.

`CONDITIONS` is the one table of them.  Its columns are what options can stand in the
way of: any answer (`ANY`), questions about a kind of system, strategies, and reductions
that several strategies use.  A column lists conditions and the sentence for each; the
first that applies is said.  `ltlpipe.question.options.Options` refuses what is in the
way of `ANY`, a question what is in the way of its kind of system; the obstacles of
strategies, which ``--explain`` prints, are those of their columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.question.option import flag_of
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
    from collections.abc import Callable

AUTO, NONE = "auto", "none"

EMPTINESS_NAMES = [*SEARCHES, *DECOUPLED, *POWERSET]
ACCEPTANCE_NAMES = ["ba", "tgba", "tgra", "tfla", "tela"]
ALPHABET = "alphabet"
FACTORING = "factoring"
AMPLE = "ample"
COMPONENTS = "components"
DECOUPLING = "decoupled"
SYMMETRY = "symmetry"
AUTOMORPHISMS = "automorphisms"
WALKS = "walks"
PREPARATIONS = (ALPHABET, FACTORING)
"""Reductions that come before whatever strategy; the others are strategies."""
REDUCTION_NAMES = [
    *PREPARATIONS,
    COMPONENTS,
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

INSTANT, EXPLICIT, CERTIFIED = "instant", "explicit", "certified"
AMPLE_SETS, COMPOSITION = "ample sets", "composition"
"""Reductions, whichever strategy uses them."""

UNFAIR = "fairness depends on which actions are enabled"
WITH_FIN = "with Fin in the acceptance the marks of an SCC say nothing of its cycles"
NO_ACTIONS = "a graph of Spot has no actions"

_WITH_VALUE = ("network_acceptance", "fairness")


def first_obstacle(columns: tuple[str, ...], options: Any, asked: Any) -> str | None:
    """Return the sentence of the first condition of some columns that applies.

    `asked` is what conditions take as `q`.
    """
    for column in columns:
        for applies, sentence in CONDITIONS[column]:
            found = applies(options, asked)
            if found:
                return sentence.format(o=options, q=asked, found=found)
    return None


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


def _given(options: Any, *names: str) -> str | None:
    """Return the flag of the first of some options that is not its default."""
    differing = options.differing()
    for name in names:
        if name in differing:
            value = f"={differing[name]}" if name in _WITH_VALUE else ""
            return f"--{flag_of(name)}{value}"
    return None


def _names(options: Any) -> set[str]:
    return set(options.reduce.split(","))


def _beyond(options: Any) -> set[str]:
    """Return the named reductions that models do not have."""
    of_models = {AMPLE, SYMMETRY, AUTOMORPHISMS, DECOUPLING, WALKS}
    return _names(options) - {AUTO, NONE} - of_models


def _has_fin(question: Any) -> bool:
    """Whether runs have to avoid marks, whatever the property."""
    fair = question.fairness
    conditions = (question.system_condition, None if fair is None else fair.condition)
    return any(c is not None and c.fin_marks for c in conditions)


def _one_mark(question: Any) -> bool:
    """Whether a search of states is named that takes a single mark."""
    named = question.given.emptiness
    return named is not None and not takes_any_marks(named)


class Condition(NamedTuple):
    """When something cannot be used."""

    applies: Callable[[Any, Any], Any]
    """Takes the options `o`, and `q`: a question, or the property for kinds of systems.
    """
    sentence: str
    """Formatted with `o`, `q`, and `found`, which is what `applies` has returned."""


def _unnamed(name: str) -> Condition:
    return Condition(lambda o, _: not o.reduces(name), "--reduce does not name it")


def _only(kinds: tuple[str, ...], *conditions: Condition) -> list[Condition]:
    """Return conditions that apply to some kinds of systems only."""

    def within(condition: Condition) -> Condition:
        def applies(options: Any, question: Any) -> Any:
            return question.kind in kinds and condition.applies(options, question)

        return condition._replace(applies=applies)

    return list(map(within, conditions))


_OF_PARTS = ("visible", "symmetric", "fairness", "network_acceptance")
_NO_PARTS = "is about actions or components, which graphs of Spot do not have"
_NOT_OF_MODELS = "is for networks of LTSs, not for models"
_EACH = "--network-acceptance=each gives each component a mark of its own"
_OF_SETS = Condition(
    lambda _, q: q.given.emptiness in OF_SETS,
    "{q.given.emptiness} does not look at one state at a time",
)
_REQUESTED = Condition(lambda o, _: o.emptiness != AUTO, "{o.emptiness} is requested")
_OTHERS_NAMED = Condition(lambda o, _: o.named_strategies, "--reduce does not name it")
_UNFAIR = Condition(lambda _, q: q.fairness is not None, UNFAIR)
_NO_COMPONENTS = Condition(
    lambda _, q: q.kind in (KRIPKE, AUTOMATON), "the system has no components"
)
_OWN_ACCEPTANCE = Condition(
    lambda _, q: q.property.is_trivial or q.system.has_acceptance,
    "acceptance of the system is about states",
)
_APART = Condition(lambda _, q: q.accepts_apart, _EACH)

_OF_ORBITS = (
    Condition(
        lambda _, q: q.kind in (KRIPKE, AUTOMATON),
        "a graph has no parts that could change places",
    ),
    _OF_SETS,
    _UNFAIR,
    Condition(
        lambda o, _: o.workers > 1 and (o.reduce != AUTO or o.wants_symmetry),
        "several workers cannot share its tables: leave out --workers",
    ),
    Condition(lambda o, _: o.swarm, "--swarm searches the system as it is"),
    Condition(
        lambda o, q: o.insists_on(AMPLE) and q.kind != NETWORK,
        "ample sets of models are chosen by action: leave one out",
    ),
    Condition(
        lambda o, q: o.insists_on(AMPLE) and q.obstacle_to_ample(),
        "--reduce asks for ample sets, but {found}",
    ),
    _APART,
)

_OF_ANY = (
    Condition(
        lambda o, _: o.bitstate is not None and not 0 < o.bitstate < MAX_BITSTATE,
        "--bitstate={o.bitstate}: expected more than 0 MiB and less than "
        f"{MAX_BITSTATE}",
    ),
    Condition(
        lambda o, _: o.bitstate is not None and o.compact is not None,
        "--compact={o.compact} goes without --bitstate={o.bitstate}",
    ),
    Condition(
        lambda o, _: o.omitting and o.emptiness not in (AUTO, BITSTATE),
        f"{{o.omitting}} is for {BITSTATE}, not for --emptiness={{o.emptiness}}",
    ),
    Condition(
        lambda o, _: o.keeping and o.omitting,
        "{o.keeping} is for rows of states, and {o.omitting} keeps none",
    ),
    Condition(
        lambda o, _: o.keeping and (o.workers > 1 or o.emptiness in OWN_TABLES),
        "{o.keeping} is for searches of single states by one worker: not for "
        "--emptiness={o.emptiness} with --workers={o.workers}",
    ),
    Condition(
        lambda o, _: o.swarm is not None and o.bitstate is None,
        "--swarm={o.swarm} requires --bitstate",
    ),
    Condition(
        lambda o, _: o.fair_sets and o.fairness is None,
        "--fair-sets requires --fairness=weak or --fairness=strong",
    ),
    Condition(
        lambda o, _: o.ndfs_stack_test and o.emptiness != DECOUPLED_NDFS,
        f"--ndfs-stack-test is for --emptiness={DECOUPLED_NDFS}, not for "
        "{o.emptiness}",
    ),
    Condition(
        lambda o, _: (
            o.symmetric and not o.reduces(SYMMETRY) and not o.insists_on(AUTOMORPHISMS)
        ),
        "--symmetric goes with symmetry, which --reduce={o.reduce} leaves out",
    ),
    Condition(
        lambda o, _: "stabiliser" in _names(o),
        f"--reduce=stabiliser has gone: {AUTOMORPHISMS} stores as many states or fewer",
    ),
    Condition(
        lambda o, _: _names(o) - {AUTO, NONE} - {*REDUCTION_NAMES},
        f"--reduce={{o.reduce}}: expected one of {', '.join(REDUCTION_NAMES)}",
    ),
)

_OF_MODEL = (
    Condition(
        lambda o, _: o.semantics == "action",
        "--semantics=action: propositions of a model are about its states; use state "
        '(an action is named by action=="...")',
    ),
    Condition(lambda o, _: _given(o, *o.of_networks), "{found} " + _NOT_OF_MODELS),
    Condition(lambda o, _: _beyond(o), "--reduce={o.reduce} " + _NOT_OF_MODELS),
)

_OF_GRAPH = (
    Condition(
        lambda o, _: o.semantics == "action",
        "--semantics=action: the propositions of a graph of Spot are those of its "
        "valuations; use state",
    ),
    Condition(
        lambda o, _: _given(o, *_OF_PARTS),
        "{found} " + _NO_PARTS,
    ),
    Condition(
        lambda o, _: o.emptiness in OF_SETS, "--emptiness={o.emptiness} " + _NO_PARTS
    ),
    Condition(
        lambda o, _: o.reduce not in (AUTO, NONE, WALKS),
        "--reduce={o.reduce} " + _NO_PARTS,
    ),
)

CONDITIONS: dict[str, tuple[Condition, ...]] = {
    ANY: _OF_ANY,
    NETWORK: (
        Condition(
            lambda o, q: o.visible is not None and q.violations is None,
            "--visible requires --automaton; the visible actions of a formula are "
            "those that it names",
        ),
        Condition(
            lambda o, _: o.semantics == "state",
            "--semantics=state: the states of a network of LTSs have no propositions; "
            "use action",
        ),
        Condition(
            lambda o, _: o.fairness and o.reduce not in (AUTO, NONE, WALKS),
            "--reduce={o.reduce} changes which actions are enabled, on which "
            "--fairness depends: use none",
        ),
    ),
    MODEL: (
        *_OF_MODEL,
        Condition(
            lambda o, _: o.emptiness in POWERSET,
            "--emptiness={o.emptiness} is for symmetric nets, not for other models",
        ),
    ),
    COLOURED: _OF_MODEL,
    KRIPKE: _OF_GRAPH,
    AUTOMATON: (
        Condition(
            lambda o, _: o.stutters,
            "--deadlock=stutter: the letters of an automaton are on its edges, and a "
            "state without edges has none to repeat; use ignore, or a Kripke structure",
        ),
        *_OF_GRAPH,
    ),
    INSTANT: (
        _REQUESTED,
        _OTHERS_NAMED,
        Condition(
            lambda o, _: _given(o, "bitstate", "compact", "swarm", "seed"),
            "{found} is about the compiled searches",
        ),
    ),
    EXPLICIT: (
        _OF_SETS,
        _OTHERS_NAMED,
        Condition(
            lambda _, q: q.accepts_apart and _one_mark(q),
            "{q.given.emptiness} takes one mark, but " + _EACH,
        ),
    ),
    CERTIFIED: (_OF_SETS, _APART),
    AMPLE: (
        Condition(
            lambda o, _: o.insists_on(AMPLE) and o.taker_of(AMPLE),
            "--reduce asks for {found}, which are searched with ample sets then",
        ),
    ),
    AMPLE_SETS: (
        _unnamed(AMPLE),
        _OF_SETS,
        _UNFAIR,
        Condition(lambda _, q: q.kind in (KRIPKE, AUTOMATON), NO_ACTIONS),
        *_only(
            (NETWORK,),
            Condition(lambda o, _: o.omitting, "{found} takes all steps"),
            Condition(
                lambda _, q: q.given.emptiness not in (None, *AMPLE_SEARCHES),
                "{q.given.emptiness} takes all steps",
            ),
            _OWN_ACCEPTANCE,
        ),
    ),
    WALKS: (
        _unnamed(WALKS),
        _REQUESTED,
        Condition(lambda _, q: _has_fin(q), WITH_FIN),
        Condition(
            lambda o, _: o.omitting,
            "--bitstate and --compact are for a search of the whole product",
        ),
    ),
    COMPONENTS: (
        _unnamed(COMPONENTS),
        Condition(
            lambda o, _: o.insists_on(AUTOMORPHISMS),
            "--reduce asks for automorphisms, which are those of components then",
        ),
        _OF_SETS,
    ),
    COMPOSITION: (
        Condition(lambda _, q: q.kind != NETWORK, "the system has no components"),
        _UNFAIR,
        Condition(lambda o, _: o.omitting, "{o.omitting} is for systems as they are"),
        _OWN_ACCEPTANCE,
    ),
    DECOUPLING: (
        _NO_COMPONENTS,
        Condition(
            lambda _, q: q.given.emptiness not in (None, *DECOUPLED),
            "{q.given.emptiness} looks at one state at a time",
        ),
        Condition(
            lambda o, q: q.given.emptiness is None and not o.reduces(DECOUPLING),
            "--reduce does not name it",
        ),
        _UNFAIR,
        *_only(
            (NETWORK,),
            Condition(
                lambda _, q: q.stutters,
                "sets of states do not tell which of them are deadlocks",
            ),
            Condition(
                lambda _, q: (
                    q.given.emptiness == DECOUPLED_SCC and q.system.has_acceptance
                ),
                f"{DECOUPLED_SCC} takes no components that accept: use "
                f"{DECOUPLED_NDFS}",
            ),
        ),
    ),
    SYMMETRY: (
        Condition(
            lambda o, q: (
                not (q.given.emptiness or o.reduces(SYMMETRY) or o.wants_symmetry)
            ),
            "--reduce does not name it",
        ),
        Condition(
            lambda o, _: o.wants_decoupling,
            "decoupled search, which is requested, has sets of another kind",
        ),
        *_only(
            (COLOURED,),
            Condition(
                lambda _, q: q.given.emptiness not in (None, *POWERSET),
                "{q.given.emptiness} looks at one state at a time",
            ),
            Condition(lambda _, q: q.fairness, "fairness tells colours apart"),
            Condition(lambda o, _: o.omitting, "{found} looks at one state at a time"),
            Condition(
                lambda o, _: o.insists_on(AMPLE),
                "ample sets are chosen for states, not for sets: leave one out",
            ),
        ),
        *_only(
            (NETWORK, MODEL, KRIPKE, AUTOMATON),
            Condition(
                lambda _, q: q.given.emptiness in POWERSET,
                "{q.given.emptiness} is for sets of markings, of symmetric nets only",
            ),
            Condition(
                lambda o, q: q.kind != NETWORK and not o.wants_symmetry,
                "the system has neither components nor colours",
            ),
            Condition(
                lambda o, q: not o.wants_symmetry and (q.given.emptiness or o.omitting),
                "{found} is requested, which searches all states",
            ),
            *_OF_ORBITS,
        ),
    ),
    AUTOMORPHISMS: (
        Condition(
            lambda o, _: not o.insists_on(AUTOMORPHISMS), "--reduce does not name it"
        ),
        *_OF_ORBITS,
    ),
}
