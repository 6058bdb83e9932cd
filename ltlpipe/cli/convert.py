"""``ltlpipe convert``, ``reduce``, ``compile``, ``translate``: one form to another."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.options import run_within
from ltlpipe.question.given_options import manner_of
from ltlpipe.question.options import CONVERT, REDUCE, TRANSLATE
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError
from ltlpipe.runtime.files import refuse_overwriting
from ltlpipe.runtime.names import counted
from ltlpipe.systems.formats import NETWORK_FILES, SYSTEM_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.systems.models import System
    from ltlpipe.systems.nets.net import PetriNet
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.programs.model import ProgramModel


@shared.takes(CONVERT)
def convert(
    paths: list[str] = typer.Argument(metavar="IN", help=SYSTEM_FILES),
    out: str = typer.Argument(metavar="OUT", help=shared.OUTPUT),
    to: shared.OutputFormat = None,
    internal: str | None = typer.Option(
        None,
        metavar="i|tau",
        help="What internal labels are called in an .aut file: i for CADP, tau for "
        "mCRL2. By default they keep these names, and others become i.",
    ),
    propositions: list[str] | None = typer.Option(
        None,
        metavar="TEXT",
        help="A comparison such as 'x==1'; may be given several times. The states "
        "of a model are written to .hoa as a Kripke structure that tells these.",
    ),
    max_states: int = typer.Option(
        100_000, metavar="N", min=1, help="States of that structure at most."
    ),
    **chosen: Any,
) -> None:
    """Convert a system between formats.

    What OUT could not hold is refused.  Several input files are the components of one
    network.  An .aut file holds one component: a network of several is written to
    numbered files.  Components and states keep their names where both formats have
    names.  A .pml file is a model for Spin, a .ll_net file a Petri net for the unfolder
    Cunf, without acceptance.
    """
    from ltlpipe.systems.reading import load_job
    from ltlpipe.systems.writing import save

    refuse_overwriting({"OUT": out}, paths)
    system = run_within(load_job(paths, **manner_of(chosen)))
    of_states: Any = {"propositions": propositions or (), "max_states": max_states}
    of_states["unlike"] = paths
    for written in save(system, out, format=to, internal=internal, **of_states):
        print(f"wrote {written}", file=sys.stderr)


@shared.takes(REDUCE)
def reduce(
    paths: list[str] = typer.Argument(metavar="FILE", help=NETWORK_FILES),
    out: str = typer.Option(..., "-o", "--out", metavar="OUT", help=shared.OUTPUT),
    visible: str | None = typer.Option(
        None, metavar="A,B", help="Actions that can be observed; all by default."
    ),
    equivalence: str = typer.Option(
        "trace", metavar="NAME", help="What is kept: trace, block, branching, strong."
    ),
    max_component_states: int | None = typer.Option(
        None, metavar="N", min=1, help="States of a deterministic form (trace, block)."
    ),
    formula: str | None = typer.Option(
        None, "-f", "--formula", metavar="LTL", help="Of a net: the property to keep."
    ),
    to: shared.OutputFormat = None,
    **chosen: Any,
) -> None:
    """Replace each component of a system, or a net, by a smaller, equivalent one.

    Actions that are not visible are hidden, unless several components share them.
    A net violates the formula iff the reduced net does; it is written as PNML, and the
    formula in the places of the reduced net is printed.
    """
    from ltlpipe.components import reduce as reduce_component
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.reading import load, load_network
    from ltlpipe.systems.writing import save

    refuse_overwriting({"--out": out}, paths)
    if formula is not None:
        of_networks = {
            "--visible": visible is not None,
            "--equivalence": equivalence != "trace",
            "--max-component-states": max_component_states is not None,
        }
        for flag in (flag for flag, is_given in of_networks.items() if is_given):
            raise typer.BadParameter(f"{flag} does not go with --formula")
        _reduce_net(load(paths, **manner_of(chosen)), formula, out, to)
        return
    network = load_network(paths, **manner_of(chosen))
    hidden = set() if visible is None else _hidden(network, visible)
    components = [
        reduce_component(c, hidden, equivalence, cap=max_component_states)
        for c in network.components
    ]
    reduced = Network(components, name=network.name)
    if sys.stderr.isatty():
        print(f"{_size(network)} -> {_size(reduced)}", file=sys.stderr)
    for written in save(reduced, out, format=to, unlike=paths):
        print(f"wrote {written}", file=sys.stderr)


def _reduce_net(system: System, text: str, out: str, to: str | None) -> None:
    """Write what structural reductions make of a net for a formula."""
    from ltlpipe.logic.folding import renamed
    from ltlpipe.logic.formulas import parse
    from ltlpipe.logic.propositions.syntax import spelled_out
    from ltlpipe.question.model import ModelQuestion
    from ltlpipe.question.options import Options
    from ltlpipe.question.property import Property
    from ltlpipe.strategies.substitutes import about_smaller_net
    from ltlpipe.systems.nets.net import PetriNet
    from ltlpipe.systems.writing import save

    if not isinstance(system, PetriNet):
        raise UnsupportedError(
            f"--formula={text}: expected a place/transition net, not {system.name}"
        )
    formula = parse(text)
    question = ModelQuestion(system, Property(formula), Options())
    found: Any = run_within(about_smaller_net(question))
    net = found.system
    ids = [[node.id for node in nodes] for nodes in (net.places, net.transitions)]
    asked = {
        name: str(spelled_out(own, *ids)) for name, own in found.propositions.items()
    }
    written = save(net, out, format=to)
    print(f"{_nodes(system)} -> {_nodes(net)}", file=sys.stderr)
    for file in written:
        print(f"wrote {file}", file=sys.stderr)
    place = sys.stdout if written else sys.stderr
    print(renamed(found.translated.spot, asked), file=place)


def _nodes(net: PetriNet) -> str:
    return f"{len(net.places):,} places, {len(net.transitions):,} transitions"


def _hidden(network: Network, visible: str) -> set[str]:
    """Return the actions of single components that are not in ``a,b,c``."""
    names = {name.strip() for name in visible.split(",")} - {""}
    unknown = sorted(names - network.action_index.keys())
    if unknown:
        listed = ", ".join(map(repr, unknown))
        raise LtlpipeError(f"--visible: no action of the system is called {listed}")
    return {
        action.name
        for action in network.actions
        if len(action.participants) == 1 and not action.internal
    } - names


def _size(network: Network) -> str:
    states = sum(c.n_states for c in network.components)
    transitions = sum(c.n_transitions for c in network.components)
    return f"{states:,} states, {transitions:,} transitions"


def _compiled_models(model: ProgramModel) -> Iterator[ProgramModel]:
    """Yield the model as questions explore it, without propositions of their own."""
    from ltlpipe.runtime.jobs import complete

    plain: Any = model.for_question(())
    for asked in (plain, model):
        forgetful: Any = complete(asked.forgetting([]))
        searched = asked if forgetful is None else forgetful[0]
        yield searched
        if searched.program.can_pass and not searched.program.has_control:
            # Another function has steps of several moves; which ones a table says.
            yield searched.passing(frozenset([(0, 0)]))
    yield plain


def compile_model(
    path: str = typer.Argument(
        metavar="MODEL", help="A DVE or Promela model; - is standard input."
    ),
    form: shared.Format = None,
    show: bool = typer.Option(
        False, "--show", help="Print the generated source instead."
    ),
) -> None:
    """Compile a DVE or Promela model, or print the generated source.

    A long search has the successor function of a model compiled, and the machine code
    is kept.  This command only compiles, and reports the time: the functions for
    formulas, assertions and `info --count`, with merged statements and without.  A
    formula that reads what these forget has one of its own.
    """
    from ltlpipe.systems.reading import load_program

    model = load_program(path, format=form)
    models = list(_compiled_models(model))
    if show:
        print(models[0].source, end="")
        return
    from ltlpipe.runtime.kernels.jit import expand_pointer

    started = time.perf_counter()
    for one in models:
        expand_pointer(one.pack([]).expand)
    seconds = time.perf_counter() - started
    print(
        f"{path}: {counted(len(model.variables), 'variable')} in "
        f"{counted(model.layout.n_words, 'word')}, "
        f"{counted(model.n_actions, 'action')}; compiled in {seconds:.2f} s"
    )


@shared.takes(TRANSLATE)
def translate(
    formula: str = typer.Argument(metavar="FORMULA", help="LTL formula."),
    acceptance: str = typer.Option(
        "ba", metavar="KIND", help="ba, tgba, tgra, tfla or tela."
    ),
    negate: bool = typer.Option(
        False,
        "--negate",
        help="Translate the negation: the violations, for check --automaton.",
    ),
    **chosen: Any,
) -> None:
    """Print an automaton of a formula in HOA."""
    from ltlpipe.automata.translation import automaton_text
    from ltlpipe.logic.formulas import parse
    from ltlpipe.runtime.jobs import StoppedError

    job = automaton_text(parse(formula), acceptance, negate=negate, **chosen)
    try:
        text = run_within(job)
    except StoppedError as stopped:
        raise UnsupportedError(f"no automaton: Spot ran out of {stopped}") from None
    print(text)
