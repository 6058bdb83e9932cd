"""Systems whose steps are judged by the states they leave: DVE models, Petri nets.

A *valuation* is the tuple of the values of a model's variables (places of a net;
variables, elements of arrays and states of the processes of a DVE model).  A model
says what steps a valuation has, in plain Python, which is what lassos are replayed
by; and it is packed for one property into rows and a successor function of the
signature that `ltlpipe.systems.networks.packing` states, whose letters are the sets of
propositions that hold in the state that a step leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.objects import Displayed, graph_output
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.propositions.binding import bind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set

    import numpy as np

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.packing import PackedSystem
    from ltlpipe.systems.propositions.binding import Vocabulary

Valuation = tuple[int, ...]


class Step(NamedTuple):
    """One step of a model: the number of the action that moves, and where it leads."""

    action: int
    state: Valuation


class OwnQuestion(NamedTuple):
    """What a model itself asks."""

    name: str
    formula: str | None = None
    """Shall hold; or there is an automaton."""
    automaton: str | None = None
    """In HOA: accepts the violations."""
    written: str | None = None
    """The formula as the model has it, which may be of another syntax."""


class Model(Displayed, ABC):
    """A state-based system.

    Attributes
    ----------
    name : str
        For messages and tables.
    variables : tuple of str
        What propositions call the entries of a valuation.
    actions : tuple of str
        What moves in a step: a transition of a net, transitions of processes.
    vocabulary : Vocabulary
        All names that propositions may use.
    about : tuple of str
        What to tell people of the model beside its name, in lines.
    only_stuttering : str
        Why nothing can be asked of it but stutter-invariant properties of its states,
        without fairness; empty if anything can.
    processes : tuple of str
        The variables that are the states of processes; none of a net.
    has_colours : bool
        Whether it is a symmetric net.
    is_unfolded : bool
        Whether `unfolding` costs nothing.
    own_questions : tuple of OwnQuestion
        What the model itself asks: what is checked if nothing else is.
    ends_validly, makes_progress : str or None
        Formulas that say that the model ends where it may, and that it never goes on
        without progress, for models that say where that is.
    violations : str or None
        The property that the model's file has: an automaton of the runs that shall not
        be, in HOA, over propositions of the model.
    """

    name: str
    variables: tuple[str, ...]
    actions: tuple[str, ...]
    vocabulary: Vocabulary
    about: tuple[str, ...] = ()
    only_stuttering: str = ""
    processes: tuple[str, ...] = ()
    has_colours: bool = False
    is_unfolded: bool = True
    own_questions: tuple[OwnQuestion, ...] = ()
    ends_validly: str | None = None
    makes_progress: str | None = None
    violations: str | None = None

    def _sizes(self) -> dict[str, int]:
        sizes = {"variable": len(self.variables), "action": self.n_actions}
        processes = len(self.processes)
        return ({"process": processes} if processes else {}) | sizes

    def movers(self, action: int) -> tuple[str, ...]:
        """Return the processes that move in an action, by its number."""
        del action
        return ()

    def message(
        self, action: int, before: Valuation, after: Valuation
    ) -> tuple[str, str] | None:
        """Return from where to where a message goes in a step, if one does.

        Ends are processes, and channels with a buffer as `shown` calls them.
        """
        del action, before, after
        return None

    @abstractmethod
    def initial(self) -> Valuation:
        """Return the valuation in which runs begin."""

    @property
    def n_actions(self) -> int:
        """How many actions there are."""
        return len(self.actions)

    @abstractmethod
    def each_step(self, state: Valuation) -> Iterator[Step]:
        """Yield the steps of a valuation one by one: they may be very many."""

    def each_step_of_search(self, state: Valuation) -> Iterator[Step]:
        """Yield the same for a search, maybe by code that replays do not share."""
        return self.each_step(state)

    def steps_by(self, state: Valuation, action: int) -> Iterator[Step]:
        """Yield at least the steps of a valuation by an action, maybe others."""
        del action
        return self.each_step(state)

    @property
    def step_work(self) -> float:
        """Microseconds that `steps_by` takes, roughly: here, that of all actions."""
        return 5.0 + 0.5 * self.n_actions

    def steps(self, state: Valuation) -> list[Step]:
        """Return all steps of a valuation."""
        return list(self.each_step(state))

    @abstractmethod
    def shown(self, state: Valuation) -> dict[str, int | str]:
        """Return the variables with their values as people know them."""

    def shown_name(self, number: int) -> str:
        """Return the name under which `shown` has a variable."""
        return self.variables[number]

    def telling(self, names: Set[str]) -> Model:
        """Return the model whose states are shown with names, as a record has them.

        It is the model itself where there is no other.
        """
        del names
        return self

    def ranged(self) -> Job[None]:
        """Find out, once, which values there can be, and which steps can fail."""
        yield from ()

    def prepared(self) -> Job[None]:
        """Find out what packing needs to know, once."""
        yield from ()

    def unfolding(self) -> Job[Model]:
        """Return the model that is searched state by state: itself.

        A symmetric net is unfolded for that.
        """
        yield from ()
        return self

    @abstractmethod
    def pack(
        self,
        propositions: Sequence[Expression],
        *,
        extra_values: int = 1,
        seed: int | None = None,
        ample: np.ndarray | None = None,
    ) -> PackedSystem:
        """Lay out the tables for one property.

        Parameters
        ----------
        propositions : sequence of Expression
            Bound; letters are sets of them.
        extra_values : int
            Values of the field that is reserved for the caller in every row.
        seed : int, optional
            Shuffles the order in which successors are generated.
        ample : int64[n_actions, 3], optional
            Which steps may be taken before all others, as
            `ltlpipe.systems.successor_kernels.keep_ample` reads it; None takes all.

        Raises
        ------
        UnsupportedError
            The property has too many propositions, or the system is too large.
        """

    def packing(
        self, propositions: Sequence[Expression], **layout: Any
    ) -> Job[PackedSystem]:
        """Do `pack`, whose arguments it takes, as a job."""
        yield from self.prepared()
        return self.pack(propositions, **layout)

    def bound(self, proposition: Expression, text: str) -> Expression:
        """Return a proposition with its names bound to variables.

        Raises
        ------
        FormulaError
            A name means nothing; offers the nearest known ones.
        """
        return bind(proposition, self.vocabulary, text)

    def meaning(self, text: str) -> Expression:
        """Return what the text of a proposition means, with its names bound.

        Raises
        ------
        FormulaError
            It is no proposition, or a name means nothing.
        """
        from ltlpipe.logic.propositions.parsing import parse_proposition

        return self.bound(parse_proposition(text), text)

    def for_question(self, texts: Iterable[str]) -> Model:
        """Return the model that a question with some propositions is about."""
        del texts
        return self

    def to_spot(
        self,
        propositions: Sequence[str],
        *,
        max_states: int = 100_000,
        stutters: bool = True,
    ) -> Any:
        """Return the states that can be reached as a ``spot.kripke_graph``.

        Parameters
        ----------
        propositions : sequence of str
            Comparisons such as ``P_1=="CS"``, which become its propositions.
        max_states : int
            The most states that it may have.
        stutters : bool
            Whether a state without successors repeats itself for ever, as it does in
            `ltlpipe.check`.

        Raises
        ------
        FormulaError
            A proposition does not parse, or names what the model does not have.
        UnsupportedError
            There are more states, or a proposition is about steps.
        """
        output = graph_output()
        return output.model_to_spot(self, propositions, max_states, stutters=stutters)


System = Network | Model | SpotGraph
"""What can be checked; `ltlpipe.systems.reading.load` reads one."""
