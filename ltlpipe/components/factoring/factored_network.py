"""The outcome of factoring the components of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from ltlpipe.systems.networks.lts import Network

_SHOWN = 3


class Origin(NamedTuple):
    """The outcome for a component, and the way back."""

    places: tuple[int, ...]  # of its factors among the components now
    weights: tuple[int, ...]  # of their states in a number; see `numbers_of`
    # int64[n_states]: the number of each of its states, -1 where not reachable; None
    # for a component that has stayed as it was.
    number_of: np.ndarray | None


class Factored(NamedTuple):
    """A network, its components replaced by factors where they are products."""

    network: Network | None  # None if no component is a product
    origins: tuple[Origin, ...]  # of each component before
    left: tuple[tuple[int, str], ...]  # components not looked at, and why

    def __str__(self) -> str:
        """Describe the outcome for each component."""
        if self.network is None:
            return "no component is a product" + self._but()
        split = sum(len(origin.places) > 1 for origin in self.origins)
        n = len(self.origins)
        return (
            f"{split} of {n} component{'s' * (n != 1)} "
            f"{'is a product' if split == 1 else 'are products'}: "
            f"{n} became {len(self.network.components)}{self._but()}"
        )

    def _but(self) -> str:
        """Return which components have not been looked at."""
        if not self.left:
            return ""
        said = [f"component {k + 1} ({why})" for k, why in self.left[:_SHOWN]]
        if len(self.left) > _SHOWN:
            said.append(f"{len(self.left) - _SHOWN} more")
        return f"; not looked at: {', '.join(said)}"
