"""Which steps of DVE models are groups: one known answer for each condition."""

from __future__ import annotations

import pytest

from ltlpipe import check
from ltlpipe.por.groups import find_groups
from ltlpipe.runtime.jobs import run
from ltlpipe.systems.networks.packing import BLOCKED, LEADS, Entry
from ltlpipe.systems.programs.model import read_dve_model


def model_of(*processes, declarations="byte a;", system="async"):
    """A model; a process is what stands between its braces."""
    text = [declarations]
    text += [f"process P{i} {{ {body} }}" for i, body in enumerate(processes)]
    return read_dve_model("\n".join([*text, f"system {system};"]), "small.dve")


def leading(model, *texts):
    """The actions that lead a group and are not blocked."""
    meanings = [model.meaning(text) for text in texts]
    codes = run(find_groups(model, meanings)).codes
    if codes is None:
        return set()
    free = [i for i, kind in enumerate(codes[:, Entry.KIND]) if kind == LEADS]
    return {model.actions[i] for i in free}


def moves(*transitions, states="s, t, u", own="byte x; byte v[2];", commit=""):
    listed = ", ".join(transitions)
    return f"{own} state {states}; init s; {commit} trans {listed};"


# It writes to a, and may fail, so that it leads nothing itself.
OTHER = moves("s -> t { effect a = 1 / a; }", "t -> s { effect a = 2 / a; }")


@pytest.mark.parametrize(
    ("step", "is_own"),
    [
        ("s -> t {}", True),
        ("s -> t { guard x == 0; effect x = x + 1, v[0] = x; }", True),
        ("s -> t { effect v[x & 1] = 1; }", True),
        ("s -> t { guard a == 0; }", False),
        ("s -> t { effect x = a; }", False),
        ("s -> t { effect a = 1; }", False),
        ("s -> t { guard v[a & 1] == 0; }", False),
        ("s -> t { effect v[a & 1] = 0; }", False),
        ("s -> t { guard P1.s; }", False),
        ("s -> t { guard not P1.s; }", False),
        ("s -> t { guard P1.u; }", True),  # nobody ever moves there
        ("s -> t { guard P1->x == 0; }", True),  # nobody writes to it
        ("s -> t { guard b == 0; }", True),
        ("s -> t { guard 1 / x == 1; }", False),
        ("s -> t { effect v[x] = 1; }, t -> s { effect x = 2; }", False),
        ("s -> t { effect x = v[2 * x]; }, t -> u { effect x = 2; }, u -> s {}", False),
        ("s -> s { guard x == 0; }", False),  # a cycle of its own
        ("s -> t {}, s -> u { guard a == 1; }", False),
    ],
)
def test_one_process(step, is_own):
    model = model_of(moves(step), OTHER, declarations="byte a, b;")

    found = {name for name in leading(model) if name.startswith("P0: s")}
    assert bool(found) == is_own


def test_what_others_read():
    """Its state, or a variable: but only the states that they ask for."""
    reader = moves(
        "s -> t { guard P0.t && P0->x == 1; }", "t -> s { effect x = 1 / x; }"
    )
    writer = moves("s -> t {}", "t -> u {}", "u -> v {}", "v -> w { effect x = 1; }",
                   states="s, t, u, v, w")  # fmt: skip

    assert leading(model_of(writer, reader)) - {"P1: s -> t"} == {"P0: u -> v"}


def test_what_propositions_read():
    model = model_of(moves("s -> t { effect x = 1; }", "t -> u {}", "u -> s {}"), OTHER)

    assert leading(model) == {"P0: s -> t", "P0: t -> u"}  # the third closes the cycle
    assert leading(model, "P0 == 's'") == {"P0: t -> u"}
    assert leading(model, "P0.u") == {"P0: s -> t"}
    assert leading(model, "P0.x == 0") == {"P0: t -> u", "P0: u -> s"}
    assert leading(model, "P0 < 2") == set()
    assert leading(model, "P0.v[a] == 1") == {"P0: s -> t", "P0: t -> u"}
    assert leading(model, "deadlock") == set()
    assert leading(model, "action == 'P1: s -> t'") == set()


def test_visible_steps_block_only_where_they_are_enabled():
    text = moves("s -> t { guard x == 0; }", "s -> u { guard x == 1; }")
    model = model_of(text, OTHER)
    meaning = model.meaning("P0.u")
    kinds = run(find_groups(model, [meaning])).codes[:2, Entry.KIND].tolist()

    assert kinds == [LEADS, LEADS | BLOCKED]


def test_committed_states():
    """Into one: others could not move any more.  Out of one: they can."""
    into = moves("s -> t {}", "t -> u {}", commit="commit t;")
    assert leading(model_of(into, OTHER)) == {"P0: t -> u"}
    inside = moves("s -> t {}", "t -> u {}", commit="commit s, t;")
    assert leading(model_of(inside, OTHER)) == {"P0: s -> t", "P0: t -> u"}


def test_synchronous_systems():
    step = moves("s -> t {}")
    assert leading(model_of(step, step, system="sync")) == set()


SENDER = moves("s -> t { sync c!; }", "t -> u { effect x = 1; }")
RECEIVER = moves("s -> t { sync c?; effect x = 2; }")


def test_two_processes_that_meet():
    """The step leads if nobody else uses the channel, and both keep to themselves."""
    declarations = "byte a; channel c;"
    both = "P0: s -> t c! | P1: s -> t c?"

    def led(*processes):
        return leading(model_of(*processes, declarations=declarations))

    assert led(SENDER, RECEIVER, OTHER) == {both, "P0: t -> u"}
    assert led(SENDER, RECEIVER, RECEIVER) == {"P0: t -> u"}
    assert led(SENDER, RECEIVER, SENDER) == {"P0: t -> u", "P2: t -> u"}
    busy = moves("s -> t { sync c?; }", "s -> u { guard a == 0; }")
    assert led(SENDER, busy, OTHER) == {"P0: t -> u"}


def test_channels_with_a_buffer():
    """Their contents are variables that both ends share."""
    declarations = "byte a; channel {byte} c[1];"
    sender, own = (
        moves("s -> t { sync c!1; }"),
        moves("s -> t { sync c!1; }, t -> u {}"),
    )
    receiver = moves("s -> t { sync c?x; }")
    model = model_of(sender, receiver, declarations=declarations)
    assert leading(model) == set()
    assert leading(model_of(own, OTHER, declarations=declarations)) == {
        "P0: s -> t c!",
        "P0: t -> u",
    }


def test_every_cycle_has_a_blocked_step():
    """Two processes that only go round reach all states, in some order."""
    ring = moves("s -> t {}", "t -> u {}", "u -> s {}")
    model = model_of(ring, ring)

    assert leading(model) == {
        f"P{p}: {m}" for p in (0, 1) for m in ("s -> t", "t -> u")
    }


def test_verdicts_of_two_rings():
    """P0 can go round alone for ever: without C3, P1 would never move, or always."""
    ring = moves("s -> t {}", "t -> u {}", "u -> s {}")
    model = model_of(ring, ring)
    for formula, expected in [
        ("G !P1.t", "violated"),
        ("F P1.t", "violated"),
        ("GF P0.t | GF P1.t", "holds"),
    ]:
        assert check(model, formula, reduce="ample").verdict == expected


def test_a_first_letter_that_names_a_step():
    """An invisible step may not come before the one that the property names.

    ``!action == ...`` is stutter-invariant: it speaks of the first letter alone.
    """
    model = model_of(moves("s -> t {}"), moves("s -> t {}"))
    formula = "!\"action == 'P1: s -> t'\""

    verdict = check(model, formula)

    assert verdict.verdict == "violated"
    assert verdict.plan.reductions == ()
