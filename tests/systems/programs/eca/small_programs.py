"""Small programs in the syntax of the challenge."""

from __future__ import annotations

from typing import Any

from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.eca.reading import machine_of, system_of
from ltlpipe.systems.programs.eca.rules import rules_of
from ltlpipe.systems.programs.eca.syntax import read_source

FILE = "P.c"


def program(
    rules: str,
    *,
    declared: str = "",
    inputs: str = "1,2",
    functions: str = "",
    check: str = "",
    before: str = "",
) -> str:
    """Return the text of a program with some rules in its main function."""
    return f"""#include <stdio.h>
    extern void __VERIFIER_error(int);

\t// inputs
\tint inputs[] = {{{inputs}}};

\tvoid errorCheck();
\tvoid calculate_output(int);
\tvoid calculate_outputm1(int);

\t int cf = 1;
{declared}

\tvoid errorCheck() {{
{check}
\t}}
{functions}
 void calculate_output(int input) {{
        cf = 1;
{before}
{rules}
    errorCheck();

    if( cf==1 )
    \tfprintf(stderr, "Invalid input: %d\\n", input);
}}

int main()
{{
    // main i/o-loop
    while(1)
    {{
        int input;
        scanf("%d", &input);
        if((input != 1) && (input != 2))
          return -2;
        calculate_output(input);
    }}
}}
"""


def rule(guard: str, output: int, *statements: str) -> str:
    """Return a rule; the guard lacks only the flag."""
    body = "\n".join(f"    \t{each};" for each in statements)
    return (
        f"    if(({guard} &&  cf==1 )) {{\n    \tcf = 0;\n{body}\n"
        f'    \t printf("%d\\n", {output}); fflush(stdout); \n    }} '
    )


COUNTER = program(
    "\n".join(
        [
            rule("(input == 1) && a == 4", 24, "a = 5 ", "junk = ((junk + 3) % 1000)"),
            rule("(input == 2) && a == 5", 25, "a = 4 ", "junk = ((junk * 7) % 999)"),
            rule("(input == 2) && ((93 < b) && (170 >= b))", 26, "b = (b - 1)"),
        ]
    ),
    declared="\t int a  = 4;\n\t int junk = 1;\n\t int b = 96;\n\t int unused = -3;",
)
"""Two states that alternate, a variable that no guard reads, and one that counts down
through a range: its values from 94 to 96 are told apart, 93 has the last rule rest."""


def source_of(text: str) -> Any:
    """Return a program as it is read."""
    return complete(read_source(text, FILE))


def rules_in(text: str) -> Any:
    """Return the rules of a program."""
    return complete(rules_of(source_of(text), FILE))


def machine_in(text: str, limit: int = 10_000) -> Any:
    """Return what a program does."""
    return complete(machine_of(rules_in(text), limit))


def system_in(text: str, limit: int = 10_000) -> Any:
    """Return the system of a program."""
    return complete(system_of(source_of(text), FILE, limit))
