r"""Networks written as Petri nets in PEP's low-level format, for unfolders.

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
    from collections.abc import Iterator

    from ltlpipe.systems.networks.lts import LTS, Network

MAX_ARCS = 10_000_000  # of a net: a file of up to 170 MB, made in 0.4 GiB

Step: TypeAlias = tuple[int, int]  # places that a component leaves and enters
Choices: TypeAlias = list[list[Step]]  # of the participants of one action


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
    choices = _choices(network)
    _refuse_many_arcs(choices)
    transitions, puts, takes = StringIO(), StringIO(), StringIO()
    number = 0
    for action, steps in zip(network.actions, choices, strict=True):
        name = _escaped(action.name)
        for combination in product(*steps):
            number += 1
            transitions.write(f'{number}"T{number}:{name}"0@0\n')
            for left, entered in combination:
                puts.write(f"{number}<{entered}\n")
                takes.write(f"{left}>{number}\n")
    blocks = ["PEP\nPTNet\nFORMAT_N\nPL\n", *_places(network)]
    for name, block in (("TR", transitions), ("TP", puts), ("PT", takes)):
        blocks += [f"{name}\n", block.getvalue()]
    return "".join(blocks)


def _places(network: Network) -> Iterator[str]:
    """Yield the lines of the places, component by component."""
    number = 0
    for i, component in enumerate(network.components):
        for state in range(component.n_states):
            number += 1
            marking = "M1" if state == component.initial else ""
            yield f'{number}"P{i}:S{state}"0@0{marking}\n'


def _choices(network: Network) -> list[Choices]:
    """Return the steps of each participant of each action, each step once."""
    sizes = [component.n_states for component in network.components]
    first = list(accumulate(sizes, initial=1))  # place of state 0 of each component
    steps = [_steps(c, first[i]) for i, c in enumerate(network.components)]
    return [
        [steps[i].get(action.name, []) for i in action.participants]
        for action in network.actions
    ]


def _steps(component: LTS, first: int) -> dict[str, list[Step]]:
    """Return the steps of a component with each label, its places from `first`."""
    steps: dict[str, list[Step]] = {}
    for src, label, dst in dict.fromkeys(component.transitions()):
        steps.setdefault(label, []).append((first + src, first + dst))
    return steps


def _refuse_many_arcs(choices: list[Choices]) -> None:
    """Count the arcs before any combination is made."""
    n_arcs = sum(2 * len(steps) * prod(map(len, steps)) for steps in choices)
    if n_arcs > MAX_ARCS:
        raise UnsupportedError(
            f"a Petri net of {n_arcs} arcs, at most {MAX_ARCS} are written: use a"
            " network whose labels have fewer transitions, or another format"
        )


def _escaped(label: str) -> str:
    """Make a label printable ASCII without quotes; different ones stay different."""
    text = label.encode("unicode_escape").decode("ascii")
    return text.replace('"', "\\x22").replace("'", "\\x27")
