"""Of which kind a system is, without loading the modules of all kinds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
    from ltlpipe.systems.nets.net import NetModel
    from ltlpipe.systems.programs.eca.system import EcaSystem
    from ltlpipe.systems.programs.model import ProgramModel


def is_net(system: object) -> TypeGuard[NetModel]:
    """Whether a system is a net of places; loads nothing to find out."""
    return _is_instance(system, "ltlpipe.systems.nets.net", "NetModel")


def is_symmetric_net(system: object) -> TypeGuard[SymmetricNet]:
    """Whether a system is a symmetric net; loads nothing to find out."""
    return _is_instance(
        system, "ltlpipe.systems.nets.coloured.symmetric", "SymmetricNet"
    )


def is_program(system: object) -> TypeGuard[ProgramModel]:
    """Whether a system is a DVE or Promela model; loads nothing to find out."""
    return _is_instance(system, "ltlpipe.systems.programs.model", "ProgramModel")


def is_eca(system: object) -> TypeGuard[EcaSystem]:
    """Whether a system is a program of RERS; loads nothing to find out."""
    return _is_instance(system, "ltlpipe.systems.programs.eca.system", "EcaSystem")


def _is_instance(value: object, module: str, name: str) -> bool:
    """Whether something is of a class, of which there is none before it is loaded."""
    found = getattr(sys.modules.get(module), name, None)
    return found is not None and isinstance(value, found)
