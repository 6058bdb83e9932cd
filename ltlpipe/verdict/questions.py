"""A system and a property as a question of the kind that the system has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.systems.kinds import is_symmetric_net

if TYPE_CHECKING:
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System


def question_of(system: System, asked: Property, options: Options) -> Question:
    """Return the question as one about a network, a graph of Spot, or a model."""
    from ltlpipe.systems.graph import SpotGraph
    from ltlpipe.systems.networks.lts import Network

    if isinstance(system, Network):
        from ltlpipe.question.network import NetworkQuestion

        return NetworkQuestion(system, asked, options)
    if isinstance(system, SpotGraph):
        from ltlpipe.question.graph import GraphQuestion

        return GraphQuestion(system, asked, options)
    from ltlpipe.question.model import ModelQuestion

    return ModelQuestion(system.for_question(asked.propositions), asked, options)


def without_fairness(system: System, asked: Property, options: Options) -> Question:
    """Return the question about all runs; it looks at no step of the system."""
    return question_of(system, asked, replace(options, fairness=None, fair_sets=()))


def is_unfolded_first(system: System, options: Options) -> bool:
    """Whether a question is about an unfolded net in any case.

    Fairness is to steps, which the unfolded net has.
    """
    return options.fairness is not None and is_symmetric_net(system)


def with_fair_steps(system: System, options: Options) -> Job[System]:
    """Return the system with the steps that ``--fairness`` is about.

    Raises
    ------
    UnsupportedError
        It is a symmetric net that is too large when it is unfolded.
    """
    if is_unfolded_first(system, options):
        net: Any = system
        system = yield from net.unfolding()
    return system
