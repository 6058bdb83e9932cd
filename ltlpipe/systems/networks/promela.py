"""Networks written as Promela models, for Spin.

Every component becomes a process with one state label per local state; a local
transition is a ``goto``, a label shared by two components a message on one
rendezvous channel: the first participant sends it, the second receives it.  A
network with acceptance also gets a never claim for "infinitely often all
components accept".

Sources: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model
Checking omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6.
G. J. Holzmann, "The SPIN Model Checker", Addison-Wesley 2003 (the language).

Differences from the source: it has a monitor process watch for the states in
which all accept; the claim here costs few states or none (below).  One channel
carries all labels, as numbers: a channel for each label gives the same states,
but each adds nine bytes to the state vector.

How to run Spin on the result::

    spin -a model.pml
    gcc -O2 -DNOSTUTTER -DNOREDUCE -o pan pan.c
    ./pan -a -E

``-DNOSTUTTER`` because a deadlock ends a run: by default Spin lets the last
state repeat itself for the claim, and an accepting deadlock would count as a
run.  ``-E`` because a deadlock is no error either.  Without ``-DNOREDUCE`` Spin
uses partial-order reduction; it then treats steps that enter or leave a state
which the claim names as visible, so the verdict stays.  A large network needs
``-DVECTORSZ=...``, a deep search ``-m``.

What Spin 6.5.2 counts with ``-DNOREDUCE``: without acceptance, "states, stored"
is the number of reachable composed states.  The claim is deterministic, and its
state says whether the composed state *before* the last transition accepted.  So
stored are, if there is no accepting run, the initial state and one state for
every pair (destination, whether the source accepts) of a reachable transition:
the reachable states, those twice that follow an accepting state and also follow
a rejecting one or are the initial state.  For `philosophers` and `ring` that is
no state more.  "Visited" adds the states that the nested searches see again, and
"depth reached" counts a transition twice, once for the claim.

With `watched` actions a variable ``last`` says which of them was taken last, for a
claim that the caller adds: 1 for the first of them, 0 for any other action and before
the first.  A message carries that number in its second field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ltlpipe.systems.networks.lts import LTS, Network

MAX_PROCESSES = 255  # of Spin, a claim included

Messages = dict[tuple[int, str], str]  # (component, label) to channel operation


def to_promela(network: Network, watched: Sequence[str] = ()) -> str:
    """Write `network` as a Promela model.

    Parameters
    ----------
    network : Network
        At most 255 components, 254 with acceptance; no label shared by more
        than two of them.
    watched : sequence of str
        Actions of which ``last`` tells; at most 255.

    Returns
    -------
    str
        The model.  Component i is process ``P<i>``, its state s the label
        ``S<s>``; comments name the labels.

    Raises
    ------
    UnsupportedError
        Three or more components share a label, or there are too many.
    """
    n_processes = len(network.components) + network.has_acceptance
    if n_processes > MAX_PROCESSES:
        raise UnsupportedError(
            f"{n_processes} processes, Spin runs {MAX_PROCESSES}: use a smaller network"
        )
    messages = _messages(network, watched)
    lines = ["byte last;"] if watched else []
    if messages:
        n = len(messages) // 2
        kind = "byte" if n <= 1 << 8 else "short" if n <= 1 << 15 else "int"
        fields = f"{kind}, byte" if watched else kind
        lines.append(f"chan sync = [0] of {{ {fields} }};")
        lines.append("")
    for i, component in enumerate(network.components):
        lines += _process(i, component, messages, watched)
    if network.has_acceptance:
        lines += _claim(network)
    return "\n".join(lines)


def _number(label: str, watched: Sequence[str]) -> int:
    """Return what ``last`` becomes by a label."""
    return watched.index(label) + 1 if label in watched else 0


def _messages(network: Network, watched: Sequence[str]) -> Messages:
    """Return the channel operation of every component and shared label of it."""
    shared = [action for action in network.actions if len(action.participants) > 1]
    messages = {}
    for number, action in enumerate(shared):
        sender, receiver, *more = action.participants
        if more:
            raise UnsupportedError(
                f"label {action.name!r} is shared by {len(action.participants)}"
                " components, a rendezvous of Promela by two: use another format"
            )
        told = f",{_number(action.name, watched)}" if watched else ""
        messages[sender, action.name] = f"sync!{number}{told}"
        messages[receiver, action.name] = f"sync?{number}{told and ',last'}"
    return messages


def _process(
    i: int, component: LTS, messages: Messages, watched: Sequence[str]
) -> list[str]:
    """Write component `i`; its initial state comes first, where Spin begins."""
    options: list[list[str]] = [[] for _ in range(component.n_states)]
    for src, label, dst in component.transitions():
        step = f"goto S{dst} /* {_comment(label)} */"
        if (i, label) in messages:
            step = f"{messages[i, label]} -> {step}"
        elif watched:
            step = f"last = {_number(label, watched)} -> {step}"
        options[src].append(step)
    lines = [f"active proctype P{i}() {{ /* {_comment(component.name)} */"]
    for state in sorted(range(component.n_states), key=component.initial.__ne__):
        if options[state]:
            lines.append(f"S{state}: if")
            lines += [f"  :: {step}" for step in options[state]]
            lines.append("  fi;")
        else:
            lines.append(f"S{state}: false;")
    return [*lines, "}", ""]


def _comment(text: str) -> str:
    """Make `text` fit for a comment: ASCII, one line, no end of comment."""
    return ascii(text)[1:-1].replace("*/", "* /")


def _claim(network: Network) -> list[str]:
    """Write the deterministic automaton of "infinitely often all accept"."""
    conditions = [
        _accepts(i, component.accepting)
        for i, component in enumerate(network.components)
        if component.accepting is not None and not component.accepting.all()
    ]
    lines = ["never { /* infinitely often, all components accept */"]
    for state in ["rejecting", "accept_all"]:
        lines.append(f"{state}: if")
        lines.append("  :: (" + "\n    && ".join(conditions or ["true"]))
        lines.append("     ) -> goto accept_all")
        lines.append("  :: else -> goto rejecting")
        lines.append("  fi;")
    return [*lines, "}", ""]


def _accepts(i: int, accepting: np.ndarray) -> str:
    """Write that component `i` is in a state of `accepting`, bool[n_states]."""
    states = accepting.nonzero()[0].tolist()
    return "(" + (" || ".join(f"P{i}[{i}]@S{s}" for s in states) or "false") + ")"
