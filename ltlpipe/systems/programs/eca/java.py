r"""Java programs of the RERS challenge, rewritten as C programs of the challenge.

Each construct has its counterpart in C on the same line, so one parser and its grammar
(`ltlpipe.systems.programs.eca.syntax`) serve both.  A string has one letter, which
becomes its number: 1 to 26 for capitals, inputs and outputs; for small letters 28 and
so on, as in the C programs, where "e" is 32.  Numbers wrap round in Java as they do in
what is read of C, and a division by zero or an index out of range ends the run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.programs.eca.syntax import READING

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job

_CLASS = re.compile(r"\bclass\s+\w+[^{};]*\{")
_TEXT = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*+(\S+)", re.DOTALL)

_REWRITTEN = [
    (re.compile(pattern), c)
    for pattern, c in (
        (r"\b(?:import|package)\s[^;]*;", ""),
        (r"\bclass\s+Errors\s*\{[^{}]*\{[^{}]*\}[^{}]*\}", ""),
        (r"\bstatic\s+BufferedReader\s[^;]*;", ""),
        (r"\bpublic\s+static\s+void\s+main\s*\([^()]*\)", "int main()"),
        (r"\b(?:public|private|static|final)\s", " "),
        (r"\bthrows\s+Exception\b", ""),
        (r"\b(?:int|String)\s*\[\]\s*(\w+)\s*=\s*\{", r"int \1[] = {"),
        (r"\bint\s*\[\]\s*(\w+)\s*=\s*(\w+)\s*;", r"int *\1 = \2;"),
        (r"\b(?:boolean|String)\b", "int"),
        (r"\bcalculateOutput", "calculate_output"),
        (r'\b(\w+)\.equals\(\s*("\w"|\w+\[\d+\])\s*\)', r"(\1 == \2)"),
        (r"\bSystem\.out\.println\(", r'printf("%d\\n", '),
        (
            r'\bthrow\s+new\s+IllegalArgumentException\(\s*"[^"]*"\s*\)',
            'fprintf(stderr, "", input)',
        ),
        (r"\bthrow\s+new\s+IllegalStateException\([^;]*\)", "__VERIFIER_error(0)"),
        (r"\bErrors\.__VERIFIER_error\b", "__VERIFIER_error"),
        (r"\btrue\b", "1"),
        (r"\bfalse\b", "0"),
        (r"\bcf\b(?!\s*=[^=])", "(cf == 1)"),
    )
]


def as_c(text: str, file: str) -> Job[str]:
    """Return a program in C with the lines of one in Java.

    Raises
    ------
    InputError
        There is something else than one class; names file and line.
    """
    for pattern, c in _REWRITTEN:
        text = pattern.sub(lambda m, c=c: m.expand(c) + "\n" * m[0].count("\n"), text)  # type: ignore[misc]
        yield Progress(READING, len(text) / 50, 3 * len(text))
    text = re.sub(r'"([A-Za-z])"', _number, text)
    begin, end = _CLASS.search(text), text.rfind("}")
    if begin is None:
        raise InputError("expected 'public class NAME {'", file=file)
    for outside, place in ((text[: begin.start()], 0), (text[end + 1 :], end + 1)):
        if found := _TEXT.match(outside):
            line = 1 + text.count("\n", 0, place + found.start(1))
            message = f"expected one class and nothing else, found {found[1]!r}"
            raise InputError(message, file=file, line=line)
    functions = re.findall(r"\bvoid\s+(\w+)\s*\(", text)
    prototypes = "".join(f"void {name}(int);" for name in functions)
    lines = "\n" * text.count("\n", 0, begin.end())
    return prototypes + lines + text[begin.end() : end]


def _number(letter: re.Match[str]) -> str:
    return str(ord(letter[1]) - (64 if letter[1].isupper() else 69))
