"""Programs of the challenge as systems: verdicts, runs, bounds, other commands."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace

import numpy as np
import pytest

import ltlpipe
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.generating import instances
from ltlpipe.runtime.errors import (
    FormulaError,
    InputError,
    LtlpipeWarning,
    ReplayError,
    SystemWarning,
    UnsupportedError,
)
from ltlpipe.runtime.jobs import complete
from ltlpipe.simulation.session import nothing_text
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.programs.eca import enumeration, reading
from ltlpipe.systems.programs.eca import system as eca_system
from ltlpipe.systems.programs.eca.enumeration import Machine
from ltlpipe.systems.programs.eca.program import RunEndedError, letter
from ltlpipe.verdict.description import description_job
from tests.example_counts import at_least, examples
from tests.systems.programs.eca.random_programs import Draw
from tests.systems.programs.eca.small_programs import (
    COUNTER,
    program,
    rule,
    rules_in,
    source_of,
    system_in,
)

RING = program(
    "\n".join(
        [
            rule("(input == 1) && a == 0", 24, "a = 1 ", "n = ((n + 1) % 7)"),
            rule("(input == 2) && a == 1", 25, "a = 0 "),
            rule("(input == 2) && a == 0", 26, "a = 2 "),
            rule("(input == 2) && a == 7", 23, "a = 2 "),
        ]
    ),
    declared="\t int a  = 0;\n\t int n = 0;",
)
"""A, X, B, Y again and again; B at first leads to Z, and to a deadlock behind it."""


@pytest.fixture
def ring(tmp_path):
    """Return the file of the ring."""
    file = tmp_path / "ring.c"
    file.write_text(RING)
    return file


def test_the_alphabet_is_all_inputs_and_outputs():
    """Outputs of rules that cannot fire are in it, too; inputs come first."""
    system = system_in(RING)
    (component,) = system.components
    assert component.labels == ("iA", "iB", "oW", "oX", "oY", "oZ")
    assert system.n_states == 3
    steps = [(s, a, d) for s, a, d in component.transitions() if s < 3 or d < 3]
    assert len(steps) == component.n_transitions == 6


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("iA", "holds"),  # the run that begins with B ends
        ("X oX", "holds"),
        ("G(iA -> X oX)", "holds"),
        ("G(oX -> X(iB & X oY))", "holds"),
        ("G !oZ", "holds"),  # only infinite runs count
        ("G !oW", "holds"),  # never printed
        ("GF iB", "holds"),
        ("F oZ", "violated"),
        ("F G oX", "violated"),
        ("G(iA -> F oW)", "violated"),
    ],
)
def test_verdicts(ring, formula: str, verdict: str):
    """The word is inputs and outputs in turn, the first is an input."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SystemWarning)
        found = ltlpipe.check(ring, formula)
    assert found.verdict == verdict
    if verdict == "violated":
        assert found.lasso.prefix + found.lasso.cycle * 2


def test_an_unknown_output_is_refused_unless_it_is_declared(ring, tmp_path):
    """What the list of constraints declares is never printed."""
    with pytest.raises(FormulaError, match="no action of the system is called 'oQ'"):
        ltlpipe.check(ring, "G !oQ")
    listed = tmp_path / "constraints-ring.txt"
    listed.write_text(
        "#inputs [A, B]\n#outputs [Q, X, Y]\n"
        "#0: output Q does not occur\n(false R ! oQ)\n\n#1: no title\n(false R ! oR)\n"
    )
    first, second = read_formulas(listed)
    assert (first.title, first.number) == ("output Q does not occur", 0)
    assert ltlpipe.check(ring, first).verdict == "holds"
    with pytest.raises(FormulaError, match="no action of the system is called 'oR'"):
        ltlpipe.check(ring, second)


def test_runs_go_back_to_the_program():
    """The state of the program comes back after seven rounds of the reduced cycle."""
    system = system_in(RING)
    word = ["iA", "oX", "iB", "oY"]
    assert complete(system.replayed(word, 0)) == 7
    shifted = ["iA", "oX", "iB", "oY", "iA"]
    assert complete(system.replayed(shifted, 1)) == 7  # the cycle begins at an output
    assert complete(system.replayed(word, 4)) is None  # it ends
    for wrong in (["iB", "oZ", "iB"], ["iA", "oY"], ["oX"], ["iA", "iB"], ["iC"]):
        with pytest.raises(RunEndedError):
            complete(system.replayed(wrong, len(wrong)))


def test_a_cycle_is_replayed_twice_at_least(monkeypatch):
    """However large a program is; it is not told then when its state comes back."""
    system = system_in(RING)
    assert system.source.n_conditions == 5  # four rules, and the refusal
    monkeypatch.setattr(eca_system, "MOST_LOOKS", 1)
    assert complete(system.replayed(["iA", "oX", "iB", "oY"], 0)) is None
    with pytest.raises(RunEndedError, match="symbol 6: oZ, not oY"):
        complete(system.replayed(["iA", "oX", "iB", "oY"], 2))


def test_a_run_that_is_none_of_the_program_is_a_bug(monkeypatch):
    """A component that does something else does not pass the replay."""
    system = system_in(RING)
    (component,) = system.components
    label = np.where(component.label == 3, 5, component.label)  # Z in place of X
    wrong = replace(component, label=label.astype(np.int32))
    object.__setattr__(system, "components", (wrong,))
    with pytest.raises(ReplayError, match="symbol 2: oX, not oZ"):
        ltlpipe.check(system, "F oW")


def test_a_bound_leaves_what_holds_unknown(ring, monkeypatch):
    """Violations before the bound are found; without one the verdict is unknown."""
    text = program(
        "\n".join(
            [
                rule("(input == 1) && b < 1000000", 24, "b = (b + 1)"),
                rule("(input == 2) && b == 500", 25),
                rule("(input == 1) && b == 1000000", 26),
            ]
        ),
        declared="\t int b = 0;",
    )
    ring.write_text(text)
    monkeypatch.setattr(reading, "MOST_STATES", 1_000)
    system = ltlpipe.load(ring)
    assert system.n_states == 1_000
    assert "999 states of the program, reduced" in system.lacks
    assert "all runs of 999 inputs" in system.lacks
    found = ltlpipe.check(system, "G !oY")
    assert found.verdict == "violated"
    assert (found.lasso.prefix + found.lasso.cycle).index("oY") == 1_001
    with pytest.warns(LtlpipeWarning, match="no violation was found, but 999 states"):
        found = ltlpipe.check(system, "G !oZ")
    assert (found.verdict, found.reason) == ("unknown", "max-states")
    with pytest.warns(LtlpipeWarning, match="no violation was found"):
        assert ltlpipe.check(system, "G !oZ", reduce="none").verdict == "unknown"
    with pytest.raises(UnsupportedError, match="runs that end are not told from"):
        ltlpipe.deadlocks(system)
    for deadlock in ("stutter", "error"):
        with pytest.raises(UnsupportedError, match="runs that end are not told from"):
            ltlpipe.check(system, "G !oZ", deadlock=deadlock)
    with pytest.raises(UnsupportedError, match="999 states of the program"):
        ltlpipe.load([ring, ring])
    with pytest.raises(UnsupportedError, match="a graph would be read as the whole"):
        system.to_spot()
    with pytest.raises(UnsupportedError, match="a product would be read as the whole"):
        ltlpipe.product(system, "G !oZ")
    told = complete(description_job(system))
    assert (told.is_complete, told.deadlock) == (False, None)
    assert "999 states of the program" in told.about[-1]


def test_many_states_times_many_outputs():
    """Places of outputs are beyond 32 bits, their number is not."""
    n, last = reading.MOST_STATES, 600
    first = np.ones(n + 1, dtype=np.int64)
    first[0] = 0
    label = np.array([[0, last - 1]], dtype=np.int16)
    steps = label, np.array([n - 1], dtype=np.int32)
    tables = np.zeros((n, 0), np.uint64), np.zeros((0, 4), np.int64)
    machine = Machine((1,), tuple(range(1, last + 1)), first, *steps, n, 1, *tables)
    source = source_of(COUNTER)
    component = complete(
        reading.component_of(machine, machine.outputs, "large", source)
    )
    names = [component.labels[k] for k in component.label]
    assert names == ["iA", f"o{last}"]
    assert (component.src.tolist(), component.dst.tolist()) == ([0, n], [n, n - 1])


def test_components_are_their_machines(monkeypatch):
    """Each step is two, with one state between for a target and an output."""
    n_joined = 0
    for seed in range(examples(40)):
        try:
            rules = rules_in(Draw(random.Random(seed)).text)
        except InputError:
            continue
        machine = complete(reading.machine_of(rules, 500))
        with monkeypatch.context() as small:
            small.setattr(enumeration, "_BLOCK", 1 + seed % 7)
            small.setattr(enumeration, "_ROOM", 64)
            small.setattr(reading, "_BLOCK", 1 + seed % 5)
            again = complete(reading.machine_of(rules, 500))
            whole = reading.component_of(again, machine.outputs, "", rules.source)
            component = complete(whole)
        behind: dict[int, list[tuple[int, str]]] = {}
        for src, label, dst in component.transitions():
            behind.setdefault(src, []).append((dst, label))
        expected = [
            (src, f"i{letter(machine.inputs[given])}", output_name, int(target))
            for src in range(machine.n_states)
            for (given, output), target in zip(
                machine.label[machine.first[src] : machine.first[src + 1]].tolist(),
                machine.target[machine.first[src] : machine.first[src + 1]],
                strict=True,
            )
            for output_name in [f"o{letter(machine.outputs[output])}"]
        ]
        steps = [
            (src, label, shown, target)
            for src in range(machine.n_states)
            for half, label in behind.get(src, [])
            for target, shown in behind[half]
        ]
        halves = {(shown, target) for *_, shown, target in expected}
        assert steps == expected
        assert component.n_states == machine.n_states + len(halves)
        n_joined += len(expected) > len(halves)
    assert n_joined > at_least(1)


def test_states_are_called_by_values(ring, tmp_path):
    """In the simulator and in descriptions; an output's state by what comes behind."""
    walk = ltlpipe.Simulation(ring)
    assert list(walk.state.values()) == ["a=0"]
    walk.step("iA")
    assert list(walk.state.values()) == ["oX, then a=1"]
    walk.step("oX")
    assert list(walk.state.values()) == ["a=1"]
    pointing = tmp_path / "pointing.c"
    pointing.write_text(
        program(
            rule("(input == 1) && (b > -9)", 24, "p = two", "b = (b - 1)")
            + rule("(input == 2) && 4 == p[0]", 25, "p = one"),
            declared="int one[] = {3};\nint two[] = {4};\nint *p = one;\nint b = -7;",
        )
    )
    walk = ltlpipe.Simulation(pointing)
    walk.step("iA")
    walk.step("oX")
    assert list(walk.state.values()) == ["p=two b=-8"]


def test_behind_a_bound_nothing_is_told(tmp_path):
    """Neither a file, which would be read as all, nor a deadlock in the simulator."""
    system = system_in(
        program(
            rule("(input == 1)", 24, "b = (b + 1)"), declared="\t int b = 0;"
        ).replace("(input == 1) &&", "(input == 1) && b < 100 &&"),
        limit=3,
    )
    with pytest.raises(UnsupportedError, match="read as the whole system, but 2 state"):
        ltlpipe.save(system, tmp_path / "part.aut")
    assert not list(tmp_path.iterdir())
    with pytest.raises(UnsupportedError, match="runs that end are not told from"):
        ltlpipe.Simulation(system, deadlock="stutter")
    walk = ltlpipe.Simulation(system)
    assert nothing_text(walk) is None
    walk.random(4)
    assert nothing_text(walk).startswith("no successors are known: 2 states")


def test_a_program_is_a_part_of_networks(ring, tmp_path):
    """Its component stands beside those of other files, and can be converted."""
    other = tmp_path / "other.aut"
    other.write_text('des (0, 2, 2)\n(0, "iA", 1)\n(1, "stop", 0)\n')
    both = ltlpipe.load([ring, other])
    assert isinstance(both, Network)
    assert len(both.components) == 2
    assert ltlpipe.check(both, "G(iA -> F stop)").verdict == "holds"
    ltlpipe.save(ltlpipe.load(ring), tmp_path / "ring.aut")
    again = ltlpipe.load(tmp_path / "ring.aut")
    assert again.components[0].n_transitions == 6 + 1  # W, where nobody comes


def test_deadlocks_and_finite_runs(ring):
    """The nearest deadlock is behind Z, where a run ends."""
    found = ltlpipe.deadlocks(ring)
    assert found.lasso.prefix == ["iB", "oZ"]
    found = ltlpipe.check(ring, "G !oZ", deadlock="stutter")
    assert found.verdict == "violated"


def test_a_formula_that_no_word_satisfies_is_noted(ring, tmp_path):
    """Its title may promise something else: the formula counts."""
    listed = tmp_path / "constraints-ring.txt"
    listed.write_text(
        "#inputs [A, B]\n#outputs [X, Y, Z]\n"
        "#0: output X occurs after output Y until output Z\n(false R (oY & ! oZ))\n\n"
        "#1: output X does not occur\n(false R ! oX)\n"
    )
    first, second = read_formulas(listed)
    with pytest.warns(LtlpipeWarning, match="false on every word of inputs and out"):
        assert ltlpipe.check(ring, first).verdict == "violated"
    with warnings.catch_warnings():
        warnings.simplefilter("error", LtlpipeWarning)
        assert ltlpipe.check(ring, second).verdict == "violated"


def test_what_networks_have_works_on_programs(ring):
    """Vacuity, simulation, charts, and all strategies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SystemWarning)
        vacuous = ltlpipe.check(ring, "G(oW -> F oZ)", vacuity=True)
    assert vacuous.vacuity.vacuous
    walk = ltlpipe.Simulation(ring)
    assert [step.action for step in walk.enabled] == ["iA", "iB"]
    assert [step.action for step in walk.step("iB").enabled] == ["oZ"]
    for how in ("none", "ample", "components"):
        assert ltlpipe.check(ring, "F oZ", reduce=how).verdict == "violated"


@pytest.mark.parametrize("begin", range(0, 40, 20))
def test_verdicts_are_those_of_the_unreduced_program(begin: int):
    """Random formulas about random programs, whose states are those of brute force."""
    n_asked = 0
    for seed in range(begin, begin + examples(20)):
        try:
            source = rules_in(Draw(random.Random(seed)).text).source
        except InputError:
            continue
        raw = _unreduced(source, 400)
        if raw is None:
            continue
        system = system_in(Draw(random.Random(seed)).text)
        names = [a.name for a in system.actions]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _, text in zip(range(4), instances(names, seed=seed), strict=False):
                expected = ltlpipe.check(raw, text, unknown="never", lasso=False)
                found = ltlpipe.check(system, text)
                assert found.verdict == expected.verdict, (seed, text)
                n_asked += 1
    assert n_asked


def _unreduced(source, most: int) -> Network | None:
    """Return the network of a program by brute force; None if it is too large."""
    states = {tuple(source.initial): 0}
    steps, waiting = [], list(states)
    for values in waiting:
        if len(waiting) > most:
            return None
        for given in source.inputs:
            own = [*values]
            try:
                printed = source.step(own, given)
            except RunEndedError:
                continue
            if printed is None:
                continue
            own[:2] = values[0], 1 if own[1] == 0 else own[1]
            key = tuple(own)
            if key not in states:
                states[key] = len(states)
                waiting.append(key)
            way = f"i{chr(64 + given)}", f"o{chr(64 + printed)}"
            steps.append((states[values], *way, states[key]))
    triples, half = [], len(states)
    for k, (src, first, second, dst) in enumerate(steps):
        triples += [(src, first, half + k), (half + k, second, dst)]
    return Network([LTS.from_transitions(triples, n_states=half + len(steps) or 1)])


def test_programs_from_standard_input_and_by_format(ring, monkeypatch):
    """A program is known by how it begins."""
    with ring.open("rb") as stream:
        assert ltlpipe.load(stream).n_states == 3
    renamed = ring.with_suffix(".txt")
    renamed.write_text(RING)
    assert ltlpipe.load(renamed, format="c").n_states == 3
    assert source_of(COUNTER).name == "P"
