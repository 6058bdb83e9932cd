"""Whether a form can do each step of a component, with the same letter.

The certificate has the state of the form for each state of the component.  Where a
state without steps repeats itself, both have to offer the same: then the form stops
where the component does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.certificates.checking.refusal import RefusedError

if TYPE_CHECKING:
    from ltlpipe.certificates.checking.inclusion import Labelled

_MOST = 1 << 62


def check_simulation(
    part: Labelled, form: Labelled, image: np.ndarray, name: str, *, stutters: bool
) -> None:
    """Check that a form can follow a component step by step.

    Parameters
    ----------
    part, form : Labelled
        The component, and what takes its place.
    image : int64[part.n_states]
        The state of the form for each state; ``form.n_states`` where no run gets.
    name : str
        That of the form, for messages.
    stutters : bool
        Whether both have to offer the same.

    Raises
    ------
    RefusedError
        It cannot.
    """
    n, n_labels = form.n_states, len(form.labels) + 1
    if n * n * n_labels >= _MOST:
        raise RefusedError(f"{name} is too large to be checked")
    if image.min() < 0 or image.max() > n:
        raise RefusedError(f"{name} has no state as high as is said")
    if image[part.initial] != form.initial:
        raise RefusedError(f"{name} does not begin where its component does")
    number = {label: k for k, label in enumerate(form.labels)}
    silent = len(form.labels)
    letters = np.array([*(number.get(a, silent) for a in part.labels), silent])
    own = image[part.src] < n
    src, dst = part.src[own], image[part.dst[own]]
    offered = letters[part.label[own]]
    if (dst == n).any():
        raise RefusedError(f"{name} has no state for one that its component reaches")
    wanted = (image[src] * n_labels + offered) * n + dst
    known = (form.src * n_labels + form.label) * n + form.dst
    missing = ~np.isin(wanted, known)
    if missing.any():
        letter = int(offered[missing][0])
        told = "a silent step" if letter == silent else repr(form.labels[letter])
        raise RefusedError(f"{name} lacks {told}, which its component can take")
    if not stutters:
        return
    # The form offers what the component does; as much of it is the same.
    n_own = _offers(src * n_labels + offered, n_labels, part.n_states)
    n_form = _offers(form.src * n_labels + form.label, n_labels, n)
    mapped = image < n
    if (n_own[mapped] != n_form[image[mapped]]).any():
        raise RefusedError(f"{name} goes on where its component cannot")


def _offers(pairs: np.ndarray, n_labels: int, n_states: int) -> np.ndarray:
    """Return how many labels each state offers."""
    counts: np.ndarray = np.bincount(np.unique(pairs) // n_labels, minlength=n_states)
    return counts
