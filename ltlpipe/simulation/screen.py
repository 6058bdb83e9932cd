"""The terminal application of ``ltlpipe simulate``.

It shows a simulation and performs commands of `ltlpipe.simulation.session`, typed or
by keys.  Whatever files name is shown as plain text, never as markup.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import App
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.coordinate import Coordinate
from textual.widgets import DataTable, Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.runtime.jobs import INTERRUPTED, Limits, StoppedError, run
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.runtime.names import counted, visible, visible_lines
from ltlpipe.simulation import session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import ComposeResult

    from ltlpipe.runtime.jobs import Progress
    from ltlpipe.simulation.session import Reply, Session
    from ltlpipe.verdict.lasso import LassoStep

_SHOWN_STEPS = 200  # of the history
_SHOWN_AHEAD = 50  # of the lasso, or of undone steps
_NEW, _BAD, _AHEAD = "bold", "bold red", "dim"
_FAILED = 1  # exit code after an internal error


class SimulationScreen(App[None]):
    """A simulation on a terminal.

    Parameters
    ----------
    session : Session
        Whose simulation it is.
    """

    TITLE = "ltlpipe simulate"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #about { height: auto; max-height: 8; padding: 0 1; }
    #middle { height: 1fr; }
    #left, #right { width: 1fr; }
    #enabled, #state, #history { height: 1fr; border: round $primary; }
    #enabled:focus, #state:focus, #history:focus { border: round $accent; }
    #note { height: auto; max-height: 16; padding: 0 1; }
    #command { border: none; height: 1; padding: 0 1; }
    """
    BINDINGS: ClassVar = [
        Binding("n", "perform('next')", "Next on lasso"),
        Binding("b", "perform('rejoin')", "Back to lasso"),
        Binding("u", "perform('undo')", "Undo"),
        Binding("r", "perform('redo')", "Redo"),
        Binding("x", "perform('random')", "Random"),
        # At once, so that fast keys after them reach the command.
        Binding("slash", "type('filter ')", "Filter", key_display="/", priority=True),
        Binding("s", "type('save ')", "Save", priority=True),
        Binding("colon", "type('')", "Command", key_display=":", priority=True),
        Binding("question_mark", "perform('help')", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
        Binding("escape", "leave", show=False),
        *(
            Binding(str(digit), f"perform('{digit}')", show=False)
            for digit in range(1, 10)
        ),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._told: dict[str, Any] = {}  # the state that the table shows
        self._changed: set[str] = set()  # the highlighted rows
        self._first = 0  # the first state of the list of steps
        self._is_busy = False
        self._is_stopped = False  # whether the running command is to end

    def compose(self) -> ComposeResult:
        """Return the parts of the screen."""
        yield Static(id="about", markup=False)
        with Horizontal(id="middle"):
            with Vertical(id="left"):
                yield OptionList(id="enabled", markup=False)
            with Vertical(id="right"):
                table: DataTable[Text] = DataTable(id="state", cursor_type="none")
                yield table
                yield OptionList(id="history", markup=False)
        yield Static(id="note", markup=False)
        yield Input(
            id="command", placeholder="command (? lists them)", select_on_focus=False
        )
        yield Footer()

    def on_mount(self) -> None:
        """Show the first state."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(number, self.exit)
        names = {"#enabled": "enabled steps", "#state": "state", "#history": "run"}
        for part, title in names.items():
            self.query_one(part).border_title = title
        self._table.add_columns("name", "value")
        self._show()
        self.screen.set_focus(self.query_one("#enabled"))

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one("#state", DataTable)

    # What keys and commands do

    def action_perform(self, line: str) -> None:
        """Perform a command."""
        if self._is_busy:
            self._say("busy: escape ends the running command", is_error=True)
            return
        self._is_busy, self._is_stopped = True, False
        self.run_worker(self._performed(line))

    def action_type(self, text: str) -> None:
        """Open the command line with a text."""
        command = self.query_one("#command", Input)
        command.value = text
        self.screen.set_focus(command)  # at once: the next key is for the command
        command.cursor_position = len(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active: none starts a command while one is typed."""
        del parameters
        return action != "type" or not isinstance(self.focused, Input)

    def action_leave(self) -> None:
        """End the running command, or leave the command line."""
        self._is_stopped = True
        self.query_one("#command", Input).value = ""
        self.screen.set_focus(self.query_one("#enabled"))

    async def action_quit(self) -> None:
        """End the application."""
        self._is_stopped = True
        self.exit()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Perform the typed command."""
        line = event.value
        self.action_leave()
        self.action_perform(line)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take an enabled step, or go to a state of the run."""
        if event.option_list.id == "enabled":
            self.action_perform(str(event.option_index + 1))
        elif event.option_id is not None:
            self.action_perform(event.option_id)

    async def _performed(self, line: str) -> None:
        """Perform a command in a thread; the screen can end it."""
        limits = Limits(memory_mib=default_memory_mib())
        job = self._session.perform(line)
        try:
            reply: Reply = await asyncio.to_thread(
                run, job, limits, observer=self._watch
            )
        except LtlpipeError as error:
            self._say(str(error), is_error=True)
        except StoppedError as stopped:
            self._say(f"ended: {stopped.reason}", is_error=True)
        else:
            if reply.ends:
                self.exit()
                return
            self._say(reply.note)
        finally:
            self._is_busy = False
        self._show()

    def _watch(self, progress: Progress) -> None:
        """End the running command on request; called in its thread."""
        del progress
        if self._is_stopped:
            raise StoppedError(INTERRUPTED)

    # Display

    def _say(self, text: str, *, is_error: bool = False) -> None:
        shown = Text(visible_lines(text), _BAD if is_error else "")
        self.query_one("#note", Static).update(shown)

    def _show(self) -> None:
        """Show the state and everything that depends on it."""
        self.query_one("#about", Static).update(self._about())
        self._show_enabled()
        self._show_state()
        self._show_run()

    def _about(self) -> Text:
        simulation = self._session.simulation
        text = Text(f"{visible(simulation.system.name)}, ")
        text.append(f"after {counted(simulation.n_steps, 'step')}")
        if simulation.formula is not None:
            text.append(f"\nformula: {visible(simulation.formula)}")
            text.append(f"\nleft:    {session.residual_text(simulation)}")
        violated = session.violation_text(simulation)
        if violated is not None:
            text.append(f"\n{violated}", _BAD)
        lasso = session.lasso_text(simulation)
        return text if lasso is None else text.append(f"\n{lasso}")

    def _show_enabled(self) -> None:
        simulation = self._session.simulation
        steps, expected = simulation.enabled, simulation.next_on_lasso
        listed = self.query_one("#enabled", OptionList)
        listed.clear_options()
        for number, step in enumerate(steps, start=1):
            mark = session.mark_of(step, expected)
            style = _NEW if step == expected else ""
            listed.add_option(Option(_step_text(f"{number:4} {mark}", step, style)))
        about = session.nothing_text(simulation)
        if simulation.has_more:
            about = "there are more: / lists those with some text in their names"
        if about is not None:
            listed.add_option(Option(Text(about, _BAD), disabled=True))
        if steps:
            listed.highlighted = steps.index(expected) if expected in steps else 0
        name = simulation.name_filter
        listed.border_subtitle = Text(visible(name)) if name else ""

    def _show_state(self) -> None:
        """Show the state; the changes of the last step are highlighted."""
        simulation, table = self._session.simulation, self._table
        state, accepting = simulation.state, {*simulation.accepting}
        if [*state] != [*self._told]:
            table.clear()
            for name in state:
                table.add_row(Text(visible(name)), Text(""))
            self._told, self._changed = {}, set()
        changed = {n for n, value in state.items() if self._told.get(n, n) != value}
        if not self._told:
            stale, changed = {*state}, set()
        else:
            stale = changed | self._changed
        for row, (name, value) in enumerate(state.items()):
            if name in stale or accepting:
                style = _NEW if name in changed else ""
                mark = " (accepting)" if name in accepting else ""
                text = Text(f"{visible(str(value))}{mark}", style)
                table.update_cell_at(Coordinate(row, 1), text, update_width=True)
        self._told, self._changed = state, changed

    def _show_run(self) -> None:
        """Show the steps up to here, and those that may follow."""
        listed = self.query_one("#history", OptionList)
        listed.clear_options()
        listed.add_options(self._run_options())
        here = self._session.simulation.n_steps - self._first
        listed.highlighted = min(here, listed.option_count - 1)

    def _run_options(self) -> Iterator[Option]:
        """Yield the states of the run; the id is the command of each."""
        simulation = self._session.simulation
        n_steps, bad = simulation.n_steps, simulation.bad_prefix
        self._first = max(n_steps - _SHOWN_STEPS, 0)
        begin = "the initial state" if not self._first else f"... {self._first:,} steps"
        yield Option(Text(f"     {begin}"), id=f"goto {self._first}")
        for k in range(self._first, n_steps):
            style = _BAD if k + 1 == bad else ""
            mark = f"{k + 1:4} {'!' if k + 1 == bad else ' '}"
            text = _step_text(mark, simulation.history_step(k), style)
            yield Option(text, id=f"goto {k + 1}")
        ahead, command = simulation.undone(_SHOWN_AHEAD), "redo"
        if not ahead:
            ahead, command = simulation.lasso_ahead(_SHOWN_AHEAD), "next"
            bad = simulation.lasso_bad_prefix
        for k, step in enumerate(ahead, start=1):
            is_bad = n_steps + k == bad
            mark = f"{n_steps + k:4} {'!' if is_bad else ' '}"
            style = f"{_AHEAD} red" if is_bad else _AHEAD
            yield Option(_step_text(mark, step, style), id=f"{command} {k}")


def _step_text(mark: str, step: LassoStep, style: str) -> Text:
    """Return a step in a line."""
    text = Text(f"{mark} {visible(step.action)}", style, no_wrap=True)
    return text.append(f"  {session.moves_text(step)}", _AHEAD)


def show(session: Session) -> bool:
    """Show a simulation until its user ends it; return whether all went well."""
    screen = SimulationScreen(session)
    screen.run()
    return screen.return_code != _FAILED
