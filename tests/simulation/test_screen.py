"""The terminal application, driven by its own pilot."""

from __future__ import annotations

import asyncio

import pytest
from textual.widgets import DataTable, Input, OptionList, Static

import ltlpipe
from benchmarks.families.nets import token_ring
from ltlpipe import LTS, Network, Simulation, check
from ltlpipe.simulation.screen import SimulationScreen
from ltlpipe.simulation.session import Session
from tests.simulation.test_simulation import MANY, MUTEX, OFFICE, PETERSON, UNFAIR

HOSTILE = "[red]x[/red] [@click=quit]\x1b[31m\n<script>é☃"


class Driver:
    """Presses keys and reads what is shown."""

    def __init__(self, simulation):
        self.simulation = simulation
        self.app = SimulationScreen(Session(simulation))

    async def press(self, *keys):
        for key in keys:
            await self._pilot.press(key)
            await self.settle()

    async def type(self, line):
        """A command, with its colon."""
        await self._pilot.press("colon")
        self.app.query_one("#command", Input).value = line
        await self.press("enter")

    async def settle(self):
        await self.app.workers.wait_for_complete()
        await self._pilot.pause()

    def text(self, name):
        return self.app.query_one(f"#{name}", Static).render().plain

    def options(self, name):
        """The lines of a list."""
        listed = self.app.query_one(f"#{name}", OptionList)
        return [
            str(getattr(option.prompt, "plain", option.prompt))
            for option in map(listed.get_option_at_index, range(listed.option_count))
        ]

    @property
    def table(self):
        """The state that is shown."""
        table = self.app.query_one("#state", DataTable)
        rows = [table.get_row_at(k) for k in range(table.row_count)]
        return {str(name): str(value) for name, value in rows}

    @property
    def emphasised(self):
        """The names of values that stand out."""
        table = self.app.query_one("#state", DataTable)
        rows = [table.get_row_at(k) for k in range(table.row_count)]
        return {str(name) for name, value in rows if str(value.style)}


def driven(simulation, story, size=(120, 40)):
    """Run a story of presses and looks."""
    driver = Driver(simulation)

    async def run():
        async with driver.app.run_test(size=size) as pilot:
            driver._pilot = pilot
            await driver.settle()
            await story(driver)

    asyncio.run(run())
    return driver


def test_what_is_shown_in_the_beginning():
    """State, steps, formula, and the run, which is nothing yet."""

    async def story(screen):
        assert screen.table == {"client": "idle", "component 2": "0"}
        (ask,) = screen.options("enabled")
        assert ask.split() == [
            *("1", "*", "ask", "client:", "idle", "->", "waiting,"),
            *("component", "2:", "0", "->", "1"),
        ]
        assert "formula: G(ask -> X get)" in screen.text("about")
        assert screen.options("history") == ["     the initial state"]

    driven(Simulation(OFFICE, "G(ask -> X get)"), story)


def test_steps():
    """By enter, by a digit, by a typed name; what has changed stands out."""

    async def story(screen):
        await screen.press("enter")
        assert screen.simulation.n_steps == 1
        assert screen.table == {"client": "waiting", "component 2": "1"}
        assert screen.emphasised == {"client", "component 2"}
        assert "left:    get & G(ask -> Xget)" in screen.text("about")
        await screen.press("2")
        assert screen.emphasised == set()
        assert "violated by the first 2 steps" in screen.text("about")
        assert screen.options("history")[2].startswith("   2 ! nap")
        await screen.type("die")
        assert screen.table["component 2"] == "2"
        assert "deadlock" in screen.options("enabled")[0]
        await screen.press("u", "u")
        assert screen.simulation.n_steps == 1
        assert len(screen.options("history")) == 4
        await screen.press("r")
        assert screen.simulation.n_steps == 2

    driven(Simulation(OFFICE, "G(ask -> X get)"), story)


@pytest.mark.thorough("presses keys, as other tests of the screen do")
def test_along_a_lasso():
    """The next steps can be seen, left and come back to."""

    async def story(screen):
        assert "on the lasso; next is ask_l" in screen.text("about")
        assert "ask_l" in screen.options("history")[1]
        await screen.press("n", "n")
        assert [step.action for step in screen.simulation.history] == ["ask_l", "ask_r"]
        listed = screen.app.query_one("#enabled", OptionList)
        assert "enter_r" in screen.options("enabled")[listed.highlighted]
        await screen.press("1")
        assert "off the lasso since step 3" in screen.text("about")
        await screen.press("n")
        assert "the run has left the lasso" in screen.text("note")
        await screen.press("b", "n")
        assert screen.simulation.on_lasso
        assert screen.simulation.n_steps == 3

    driven(Simulation(MUTEX, lasso=check(MUTEX, UNFAIR)), story)


@pytest.mark.thorough("presses keys, as other tests of the screen do")
def test_the_bad_prefix_of_a_lasso():
    """It is marked before it is reached."""
    verdict = check(MUTEX, "G !enter_r")

    async def story(screen):
        lines = screen.options("history")
        assert [line[5] for line in lines[1:]].index(
            "!"
        ) == verdict.lasso.bad_prefix - 1

    driven(Simulation(MUTEX, lasso=verdict), story)


@pytest.mark.thorough("presses keys, as other tests of the screen do")
def test_going_through_the_run():
    """A state of the run is chosen in its list."""

    async def story(screen):
        await screen.type("random 9 5")
        assert screen.simulation.n_steps == 9
        history = screen.app.query_one("#history", OptionList)
        history.focus()
        history.highlighted = 4
        await screen.press("enter")
        assert (screen.simulation.n_steps, screen.simulation.n_undone) == (4, 5)
        history.highlighted = 7
        await screen.press("enter")
        assert screen.simulation.n_steps == 7
        await screen.type("random 1000")
        assert len(screen.options("history")) < 300
        assert "... 807 steps" in screen.options("history")[0]

    driven(Simulation(MUTEX), story)


@pytest.mark.thorough("presses keys, as other tests of the screen do")
def test_filter_and_many_steps():
    """The list says that there are more; a filter finds others."""
    crowd = LTS.from_transitions([(0, f"go{k}", 1) for k in range(1000)])

    async def story(screen):
        assert "there are more" in screen.options("enabled")[-1]
        await screen._pilot.press("slash", *"go777", "enter")
        await screen.settle()
        (only,) = screen.options("enabled")
        assert "go777" in only
        await screen.type("filter zz")
        assert "no enabled step is like zz" in screen.options("enabled")[0]
        await screen.type("filter")
        assert len(screen.options("enabled")) == 301

    driven(Simulation(Network([crowd])), story)


@pytest.mark.thorough("presses keys, as other tests of the screen do")
def test_a_state_with_too_many_steps():
    """Nothing waits for all of them."""

    async def story(screen):
        await screen.press("x")
        assert screen.simulation.n_steps == 1

    driven(Simulation(MANY), story)


@pytest.mark.thorough("presses keys, as other tests of the screen do")
@pytest.mark.parametrize("system", [PETERSON, token_ring(30)])
def test_models(system):
    """Their variables; small terminals, too."""

    async def story(screen):
        before = dict(screen.table)
        assert {*before} == {*screen.simulation.state}
        await screen.press("1")
        changed = {n for n, value in screen.table.items() if before[n] != value}
        assert changed == screen.emphasised != set()

    driven(Simulation(system), story, size=(50, 16))


def test_hostile_names():
    """They are text: neither markup nor controls."""
    part = LTS.from_transitions([(0, HOSTILE, 0)], name=HOSTILE)
    shown = "[red]x[/red] [@click=quit]\\x1b[31m\\n<script>é☃"

    async def story(screen):
        assert shown in screen.options("enabled")[0]
        assert shown in screen.table
        await screen.press("1")
        assert shown in screen.options("history")[1]
        await screen.type(HOSTILE + "?")
        assert "[red]x[/red]" in screen.text("note")
        await screen.type("filter [/x]")
        await screen.press("question_mark")
        assert "rejoin" in screen.text("note")
        strips = screen.app.screen._compositor.render_strips()
        assert "\x1b" not in "".join(strip.text for strip in strips)

    driven(Simulation(Network([part], name=HOSTILE)), story)


def test_bad_commands_and_the_end():
    """A message; escape leaves a command; quit ends the application."""

    async def story(screen):
        await screen.type("nope")
        assert "nope is neither a command" in screen.text("note")
        await screen._pilot.press("colon", *"random")
        await screen.press("escape")
        assert screen.app.query_one("#command", Input).value == ""
        assert screen.simulation.n_steps == 0
        await screen.type("save /")
        assert "cannot be written" in screen.text("note")
        await screen.type("quit")

    assert driven(Simulation(MUTEX), story).app.return_code == 0


@pytest.mark.thorough("presses keys, as other tests of the screen do")
def test_what_takes_long_can_be_ended():
    """The application stays awake meanwhile, and refuses other commands."""

    async def story(screen):
        pilot = screen._pilot
        await pilot.press("colon")
        screen.app.query_one("#command", Input).value = "random 999999999"
        await pilot.press("enter")
        await pilot.press("x")
        assert "busy" in screen.text("note")
        await pilot.press("escape")
        await screen.settle()
        assert "ended: interrupted" in screen.text("note")
        n_steps = screen.simulation.n_steps
        assert 0 < n_steps < 999_999_999
        await screen.press("x")
        assert screen.simulation.n_steps == n_steps + 1

    driven(Simulation(MUTEX), story)


@pytest.mark.thorough("presses keys, as other tests of the screen do")
def test_saving(tmp_path):
    """What is written is a lasso again."""

    async def story(screen):
        await screen.press("x", "x")
        await screen._pilot.press("s", "s")
        command = screen.app.query_one("#command", Input)
        assert command.value == "save s"
        command.value = f"save {tmp_path / 'run.json'}"
        await screen.press("enter")
        assert "2 steps written" in screen.text("note")

    driven(Simulation(ltlpipe.load(MUTEX), seed=1), story)
    assert Simulation(MUTEX, lasso=tmp_path / "run.json").lasso_length == (2, 0)
