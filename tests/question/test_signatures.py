"""Options are declared once: flags, parameters, columns and pages say the same."""

import inspect
from pathlib import Path

import pytest
import typer

import ltlpipe
from ltlpipe.batch.tasks import setting_name
from ltlpipe.cli.application import application
from ltlpipe.question.conditions import flag_of
from ltlpipe.question.given_options import described, options_of
from ltlpipe.question.options import COMPARE, EVERYWHERE, OPTIONS, SOLVE

ROOT = Path(__file__).parent.parent.parent
STEPS = [(0, "a", 1), (1, "b", 0)]
RING = ltlpipe.Network([ltlpipe.LTS.from_transitions(STEPS)])


def flags_of(command):
    """The flags of a command by the names of their parameters."""
    found = typer.main.get_command(application()).commands[command]
    return {parameter.name: parameter for parameter in found.params}


@pytest.mark.parametrize("command", sorted(EVERYWHERE))
def test_flags_and_parameters(command):
    """Each option has both, with the declared default and help."""
    flags = flags_of(command)
    function = getattr(ltlpipe, command)
    parameters = inspect.signature(function).parameters
    documented = " ".join(function.__doc__.split())
    for name, option in options_of(command).items():
        own = command == COMPARE and name in ("emptiness", "acceptance")
        flag, default = flags[name], parameters[name].default
        spelled = [*flag.opts, *flag.secondary_opts]
        assert f"--{'no-' * (option.default is True)}{flag_of(name)}" in spelled
        if not own:
            assert default == option.default
            assert flag.help == option.help
            assert " ".join(described(option).split()) in documented
            if option.kind is not tuple:
                assert flag.default == option.default
    others = set(OPTIONS) - set(options_of(command))
    assert not others & (set(flags) | set(parameters))


def test_no_function_takes_what_it_does_not_say():
    """Neither unknown names nor options of other commands; the nearest is offered."""
    with pytest.raises(TypeError, match=r"check\(\) has no parameter 'emptines'.*empt"):
        ltlpipe.check(RING, "F a", emptines="se05")
    with pytest.raises(TypeError, match=r"deadlocks\(\) has no parameter 'fairness'"):
        ltlpipe.deadlocks(RING, fairness="weak")


def test_columns_of_task_tables():
    """They are the options of `solve`, also as flags are written."""
    for name in options_of(SOLVE):
        assert setting_name(name) == setting_name(flag_of(name)) == name


def test_an_automaton_is_a_file_too(tmp_path):
    """Of the negated property, and of a constraint; or the text of one."""
    negated = ltlpipe.automaton("!G a", acceptance="ba")
    file = tmp_path / "negated.hoa"
    file.write_text(negated.to_str("hoa"))
    for given in (negated, str(file), file, negated.to_str("hoa")):
        assert ltlpipe.check(RING, automaton=given).verdict == "violated"
        assert ltlpipe.check(RING, "!GF a", constraint=given).verdict == "violated"
    with pytest.raises(ltlpipe.InputError, match="found 2"):
        ltlpipe.check(RING, automaton=2 * negated.to_str("hoa"))
