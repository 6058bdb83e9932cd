"""The errors that ltlpipe raises for its callers to catch.

* LtlpipeError
    * InputError        a file that cannot be read as what it should be
    * FormulaError      a formula that does not parse
    * UnsupportedError  a request that is understood but cannot be met

Nothing else escapes for bad input.
"""

from __future__ import annotations


class LtlpipeError(Exception):
    """Whatever goes wrong by the caller's input or request."""


class InputError(LtlpipeError):
    """A file does not hold what its format demands.

    Parameters
    ----------
    message : str
        What was found and what was expected.
    file : str
        Name of the file as the caller gave it.
    line : int, optional
        Line of the file, counted from 1; None where the whole file is meant.
    """

    def __init__(self, message: str, *, file: str, line: int | None = None) -> None:
        self.message = message
        self.file = file
        self.line = line
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")


class FormulaError(LtlpipeError):
    """A formula does not parse, or names what the system does not have.

    Parameters
    ----------
    message : str
        What is wrong and what was expected.
    formula : str
        The text of the formula.
    position : int, optional
        Where in `formula` the trouble begins, counted from 0.
    file, line : optional
        Where the formula comes from, if from a file.
    """

    def __init__(
        self,
        message: str,
        *,
        formula: str,
        position: int | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        self.message = message
        self.formula = formula
        self.position = position
        self.file = file
        self.line = line
        place = "formula" if file is None else f"{file}:{line}"
        text = f"{place}: {message}\n  {formula}"
        if position is not None:
            text += "\n  " + " " * position + "^"
        super().__init__(text)


class UnsupportedError(LtlpipeError):
    """The request is clear but cannot be met; says what to use instead."""


class LtlpipeWarning(UserWarning):
    """What is allowed but probably not meant."""
