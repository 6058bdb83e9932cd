"""From a system and a property to a verdict: what users call.

The way between the two is `ltlpipe.verdict.task`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import Formula, parse
from ltlpipe.logic.generating import quoted
from ltlpipe.reduction.components.groups import CAP_STATES
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.search.driver import Limits, interruptible
from ltlpipe.systems.lts import Network
from ltlpipe.verdict.finishing import finish
from ltlpipe.verdict.options import AUTO, TOGETHER, Options
from ltlpipe.verdict.property import Property
from ltlpipe.verdict.task import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.search.driver import Interrupt, Progress
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.model_task import ModelTask
    from ltlpipe.verdict.question import ProductSize
    from ltlpipe.verdict.verdict import Verdict


def check(
    system: System,
    formula: str | Formula | None = None,
    *,
    violations: Any = None,
    empty: bool = False,
    timeout: float | None = None,
    memory: float | None = None,
    max_states: int | None = None,
    emptiness: str = AUTO,
    acceptance: str = AUTO,
    reduce: str = AUTO,
    semantics: str | None = None,
    deadlock: str | None = None,
    seed: int | None = None,
    strict: bool = False,
    lasso: bool = True,
    bitstate: float | None = None,
    visible: str | None = None,
    ample_inner: str = "full",
    cap_states: int = CAP_STATES,
    accepting: str = TOGETHER,
    stack_test: bool = False,
    deterministic: bool = False,
    translator: str | None = None,
    fairness: str | None = None,
    fair_sets: Sequence[str] = (),
    symmetric: Sequence[str] = (),
    constraint: Any = None,
    progress: Progress | None = None,
) -> Verdict:
    """Decide whether every infinite run of `system` satisfies a property.

    Exactly one of `formula`, `violations` and `empty` says what is asked.

    Parameters
    ----------
    system : Network or Model
        What `ltlpipe.load` returned; it is not changed.
    formula : str or Formula
        LTL in Spot's syntax.  Of a network an atomic proposition names an action, and
        exactly one action happens at each step; of a model it is a comparison, such as
        ``P_1=="CS"``, about the state that a step leaves.  If components have accepting
        states, only runs that visit a state in which all accept infinitely
        often count.
    violations : spot.twa_graph
        An automaton of the runs that shall not be.
    empty : bool
        Ask whether the network, with the acceptance of its components, has no
        accepting run at all.
    timeout : float, optional
        Wall-clock limit in seconds for translation and search; None is none.
        Extracting the lasso of a violation that was found in time is not cut
        off.
    memory : float, optional
        Limit in MiB of the search's arrays; None is nine tenths of what the
        machine has free.
    max_states : int, optional
        Limit of product states.
    emptiness, acceptance, reduce, semantics, deadlock : str, optional
        As the flags of the command line; see `ltlpipe.verdict.options.Options`.
    seed : int, optional
        Shuffles the order of transitions.
    strict : bool
        Whether it is an error, not a warning, that a proposition is no action of
        the system, or that `visible` names what neither system nor automaton has.
    lasso : bool
        Whether a violation is followed by extracting and replaying a lasso.
    bitstate : float, optional
        Size in MiB of a bit array in which visited states are noted instead of
        being stored.  States may be missed: "holds" becomes "unknown" for the
        reason "bitstate"; "violated" is as exact as ever.
    visible : str, optional
        The visible actions of `violations`, with commas between; by default all
        that it names.  Ample sets are used only if no others matter to it.
    ample_inner : str
        "full" or "stored": how the red search of se05 finds ample sets again.
    cap_states : int
        States that a composition of components may have while they are reduced.
    accepting : str
        Which runs of a network with several accepting components count: "together",
        those on which all accept in the same state, infinitely often; or "each",
        those on which each accepts infinitely often, no matter when.
    stack_test : bool
        Whether decoupled-ndfs compares its inner states with those on the stack, too
        (Gnad et al. 2021, Lemma 1): violations may be found earlier, at a price that
        grows with the stack.
    deterministic : bool
        Whether the property automaton is to be deterministic (for `acceptance` "tgra",
        "tfla" and "tela").
    translator : str, optional
        A command that prints an automaton in HOA for the formula that stands for
        ``%f`` in it; by default Spot translates.
    fairness : str, optional
        "weak" or "strong": only runs count that are fair to every component, or to
        each of `fair_sets`.  What is enabled again and again (strong), or all the time
        from some point on (weak), must be taken again and again.
    fair_sets : sequence of str
        Sets of actions, each with commas between.
    symmetric : sequence of str
        Classes of components that can be interchanged, each with commas between the
        names; by default they are found.
    constraint : spot.twa_graph, optional
        Only runs that it accepts count; it is moved to the property's side, so that
        what it says of single components does not take the system its symmetry.
    progress : callable, optional
        Called with the states and the depth of the search, ten times a second
        or more.

    Returns
    -------
    Verdict
        `verdict` is "holds", "violated" or "unknown"; `reason` is the limit
        that was hit, else None.  `lasso` is set iff violated and asked for.

    Raises
    ------
    FormulaError
        `formula` does not parse; or, if strict, a name means nothing.
    UnsupportedError
        The options ask for what cannot be done.

    References
    ----------
    .. [1] S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
       Algorithms", TACAS 2005.
    """
    if sum((formula is not None, violations is not None, empty)) != 1:
        raise UnsupportedError("expected one of a formula, an automaton, or --empty")
    formula = _formula(formula)
    chosen = Options(
        emptiness=emptiness,
        acceptance=acceptance,
        reduce=reduce,
        semantics=semantics,
        deadlock=deadlock,
        seed=seed,
        strict=strict,
        lasso=lasso,
        bitstate=bitstate,
        visible=visible,
        ample_inner=ample_inner,
        cap_states=cap_states,
        accepting=accepting,
        stack_test=stack_test,
        deterministic=deterministic,
        translator=translator,
        fairness=fairness,
        fair_sets=tuple(fair_sets),
        symmetric=tuple(symmetric),
    )
    if memory is None:
        memory = default_memory_mib()
    limits = Limits.within(timeout, memory, max_states)
    asked = Property(formula, violations)
    with interruptible() as interrupt:
        if constraint is None:
            return task_of(system, asked, chosen).run(limits, interrupt, progress)
        verdict = _constrained(
            system, asked, constraint, chosen, limits, interrupt, progress
        )
    if formula is None:
        return verdict
    return replace(verdict, formula=formula.text, formula_id=formula.identifier)


def _formula(given: str | Formula | None) -> Formula | None:
    """Return what was given as a formula; an automaton is not taken for one."""
    if isinstance(given, str):
        return parse(given)
    if given is None or isinstance(given, Formula):
        return given
    raise UnsupportedError(
        f"a formula is a text or what `parse` returns, not a {type(given).__name__}; "
        "an automaton of the unwanted runs goes into `violations`"
    )


def _constrained(
    system: System,
    asked: Property,
    constraint: Any,
    options: Options,
    limits: Limits,
    interrupt: Interrupt,
    progress: Progress | None,
) -> Verdict:
    """Answer a question about the runs that a constraint allows."""
    from ltlpipe.automata.constraining import constrained

    if options.translator is not None:
        raise UnsupportedError(
            "--constraint takes what Spot translates: no --translator"
        )
    try:
        job = constrained(asked.formula or asked.violations, constraint)
        violations = finish(job, limits, interrupt)
    except StoppedError as stopped:
        return task_of(system, asked, options).stopped(stopped.reason)
    task = task_of(system, Property(violations=violations), options)
    return task.run(limits, interrupt, progress)


def task_of(system: System, asked: Property, options: Options) -> Task | ModelTask:
    """Return the question as one about a network or about a model.

    Raises
    ------
    FormulaError, UnsupportedError
        As for `check`.
    """
    if isinstance(system, Network):
        return Task(system, asked, options)
    from ltlpipe.verdict.model_task import ModelTask

    return ModelTask(system, asked, options)


def livelock(
    system: Network,
    progress_actions: Sequence[str],
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Verdict:
    """Decide whether every infinite run makes progress again and again.

    Parameters
    ----------
    system : Network
        What `ltlpipe.load` returned; it is not changed.
    progress_actions : sequence of str
        The actions that are progress.
    progress : callable, optional
        As for `check`.
    **options
        The others of `check`, such as `fairness`.

    Returns
    -------
    Verdict
        "violated" if there is a livelock: an infinite run, fair as `fairness` says,
        with finitely many of these actions.

    Raises
    ------
    UnsupportedError
        An action does not exist, or the options ask for what cannot be done.

    References
    ----------
    .. [1] V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
       Rabin and Fin-less automata", STTT 21 (2019), Sec. 4.3.
    """
    for name in progress_actions:
        if name not in system.action_index:
            raise UnsupportedError(
                f"no action of the system is called {name!r}, which shall be progress"
            )
    if not progress_actions:
        raise UnsupportedError("no actions are progress: name some")
    formula = f"GF({' | '.join(map(quoted, progress_actions))})"
    return check(system, formula, progress=progress, **options)


def product_size(
    system: System,
    formula: Formula | None,
    *,
    violations: Any = None,
    acceptance: str,
    timeout: float | None = None,
    memory: float | None = None,
    max_states: int | None = None,
    **options: Any,
) -> ProductSize | None:
    """Return the reachable states and transitions of a product.

    Parameters
    ----------
    system, formula, violations, acceptance
        As for `check`; without a property the product is the system itself.
    timeout, memory, max_states : optional
        Limits, as for `check`.
    **options
        The others of `check`.

    Returns
    -------
    ProductSize or None
        Also how many of the transitions carry Fin marks.  None if a limit was hit.

    Raises
    ------
    UnsupportedError
        The options ask for what cannot be done.
    """
    chosen = Options(acceptance=acceptance, **options)
    task = task_of(system, Property(formula, violations), chosen)
    if memory is None:
        memory = default_memory_mib()
    limits = Limits.within(timeout, memory, max_states)
    with interruptible() as interrupt:
        return task.explore(limits, interrupt)
