r"""Networks written for other tools: Promela models for Spin, Petri nets for Cunf.

Promela
-------

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

Petri nets
----------
They are in PEP's low-level format, for unfolders.

Every local state becomes a place, every combination of local transitions that
can happen together a net transition, in one net.  The token of each component
marks its local state, so the net is safe and its reachable markings are the
reachable composed states.  Cunf unfolds such files.

Sources: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model
Checking omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6 (the
translation).  C. Rodríguez and S. Schwoon, Cunf, ``src/cunf/readpep.c`` (the
format, as its reader takes it).

Differences from the source: local transitions that stand twice in a component
count once, as in a set of transitions.

The format, as far as it is used here::

    PEP
    PTNet
    FORMAT_N
    PL                   places
    1"P0:S0"0@0M1        number, name, coordinates, initial marking
    2"P0:S1"0@0
    TR                   transitions
    1"T1:a"0@0
    TP                   arcs that put a token: transition<place
    1<2
    PT                   arcs that take a token: place>transition
    1>1

The blocks come in this order and may be empty; places and transitions are both
numbered from 1.  Names stand between quotes and know no escapes, so whatever a
label has that is not printable ASCII, and quotes, are written as ``\x22``,
``\u2603`` and so on, and a backslash as two.

A component that stays in its state gives a net transition two arcs, one that
takes the token and one that puts it back.  Cunf also knows read arcs (a block
``RA``).  The markings would be the same, but net transitions that read one
place could happen concurrently, so the unfolding would be another; the source
says nothing of them, and plain arcs need nothing that only Cunf may know.

What is lost: acceptance, and with it whether a run accepts.  A label that some
participant has no transition with gives no net transition: the others are
blocked as they should be, but the net does not say by whom.
"""

from __future__ import annotations

from io import StringIO
from itertools import accumulate, product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


MAX_ARCS = 10_000_000  # of a net: a file of up to 170 MB, made in 0.4 GiB

Move: TypeAlias = tuple[int, int, int]  # a component, the states it leaves and enters


def to_ll_net(network: Network) -> str:
    """Write `network` as one Petri net in PEP's low-level format.

    Parameters
    ----------
    network : Network
        Its acceptance is left out.

    Returns
    -------
    str
        The net, in ASCII.  State s of component i is the place ``P<i>:S<s>``;
        the net transitions are ``T<k>:<label>``, numbered from 1.

    Raises
    ------
    UnsupportedError
        The net would have more than `MAX_ARCS` arcs: a label has
        the product of its participants' numbers of transitions.
    """
    components = network.components
    # The place of state 0 of each component.
    first = list(accumulate((c.n_states for c in components), initial=1))
    blocks = {name: StringIO() for name in ("PL", "TR", "TP", "PT")}
    for i, component in enumerate(components):
        for state in range(component.n_states):
            marking = "M1" if state == component.initial else ""
            place = f'{first[i] + state}"P{i}:S{state}"0@0{marking}\n'
            blocks["PL"].write(place)
    for number, (name, moves) in enumerate(combinations(network), start=1):
        blocks["TR"].write(f'{number}"T{number}:{_escaped(name)}"0@0\n')
        for i, left, entered in moves:
            blocks["TP"].write(f"{number}<{first[i] + entered}\n")
            blocks["PT"].write(f"{first[i] + left}>{number}\n")
    written = (f"{name}\n{block.getvalue()}" for name, block in blocks.items())
    return "".join(["PEP\nPTNet\nFORMAT_N\n", *written])


def combinations(network: Network) -> Iterator[tuple[str, tuple[Move, ...]]]:
    """Yield the local transitions that can happen together, with the action's name.

    Raises
    ------
    UnsupportedError
        There are too many: a label has the product of its participants' numbers of
        transitions.
    """
    steps = [_steps(component, i) for i, component in enumerate(network.components)]
    choices = [
        [steps[i].get(action.name, []) for i in action.participants]
        for action in network.actions
    ]
    n_arcs = sum(2 * len(own) * prod(map(len, own)) for own in choices)
    if n_arcs > MAX_ARCS:  # before any combination is made
        raise UnsupportedError(
            f"a Petri net of {n_arcs} arcs, at most {MAX_ARCS} are written: use a"
            " network whose labels have fewer transitions, or another format"
        )
    for action, own in zip(network.actions, choices, strict=True):
        for moves in product(*own):
            yield action.name, moves


def _steps(component: LTS, number: int) -> dict[str, list[Move]]:
    """Return the steps of a component, by its number, with each label."""
    steps: dict[str, list[Move]] = {}
    for src, label, dst in dict.fromkeys(component.transitions()):
        steps.setdefault(label, []).append((number, src, dst))
    return steps


def _escaped(label: str) -> str:
    """Make a label printable ASCII without quotes; different ones stay different."""
    text = label.encode("unicode_escape").decode("ascii")
    return text.replace('"', "\\x22").replace("'", "\\x27")
