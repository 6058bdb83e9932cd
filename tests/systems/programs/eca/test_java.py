"""Programs in Java: the same as those in C."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import ltlpipe
from ltlpipe.batch.task_sources import find_tasks
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.eca.syntax import as_c
from tests.example_counts import examples
from tests.systems.programs.eca.random_programs import Draw
from tests.systems.programs.eca.small_programs import machine_in

RING = """import java.io.BufferedReader;
import java.io.InputStreamReader;

class Errors {
    public static void __VERIFIER_error(int i) {
        throw new IllegalStateException( "error_" + i );
    }
}

public class Ring {
    static BufferedReader stdin = new BufferedReader(new InputStreamReader(System.in));

    private String[] inputs = {"B","A"};

    public int a = 0;
    public boolean cf = true;
    public String mode = "e";
    private int[] one = {3,-4};
    private int[] two = {4,5};
    private int[] p = one;

    private void errorCheck() {
        if((a == 2 && p[1] == 5)){
            cf = false;
            Errors.__VERIFIER_error(3);
        }
    }private  void calculateOutputm1(String input) {
    if(((((mode.equals("e")) && cf) && (input.equals("A"))) && (3 == p[0]))) {
        cf = false;
        mode = "g";
        a = ((a - -1) % 3);
        System.out.println("X");
    }
    if(((mode.equals("g")) && (cf && input.equals(inputs[0])))) {
        cf = false;
        mode = "e";
        if(a == 2) {
        p = two;
        } else {
        p = one;
        }
        System.out.println("Y");
    }
}
public  void calculateOutput(String input) throws Exception {
     cf = true;
    if((cf && a <= 5)) {
        calculateOutputm1(input);
    }

    errorCheck();
    if(cf)
        throw new IllegalArgumentException("Current state has no transition!");
}

public static void main(String[] args) throws Exception {
    Ring eca = new Ring();
    while(true) {
        String input = stdin.readLine();
        try {
            eca.calculateOutput(input);
        } catch(IllegalArgumentException e) {
            System.err.println("Invalid input: " + e.getMessage());
        }
    }
}
}
"""


def test_a_program_in_java(tmp_path):
    """Strings, arrays, an error behind the last output."""
    file = tmp_path / "Ring.java"
    file.write_text(RING)
    found = ltlpipe.check(ltlpipe.load(file), "true", deadlock="error")
    assert found.finite_run.prefix == ["iA", "oX", "iB", "oY"] * 2
    walk = ltlpipe.Simulation(file)
    assert list(walk.state.values()) == ["a=0 mode=32 p=one"]
    assert complete(as_c(RING, "Ring.java")).count("\n") == RING.count("\n") - 1


def _in_java(text: str) -> str:
    """Rewrite a drawn program; strings are there for inputs and outputs alone."""
    for pattern, java in [
        (r"#include.*|extern.*|void \w+\((?:int)?\);", ""),
        (r"int inputs\[\] = \{(.*)\}", _letters),
        (r"int (\w+)\[\] =", r"private int[] \1 ="),
        (r"int \*(\w+) =", r"private int[] \1 ="),
        (r"\binput == (\d+)", _letters),
        (r"\binput == (inputs\[\d+\])", r"input.equals(\1)"),
        (r'printf\("%d\\n", (\d+)\);', _letters),
        (r"fflush\(stdout\);", ""),
        (r"fprintf\(stderr.*", 'throw new IllegalArgumentException("none");'),
        (r"int main(?s:.*)", "public static void main(String[] args) { }"),
        (r"calculate_output", "calculateOutput"),
        (r"int input\b", "String input"),
        (r"\bint cf = 1", "public boolean cf = true"),
        (r"\bcf *== *1", "cf"),
        (r"\bcf = 1", "cf = true"),
        (r"\bcf = 0", "cf = false"),
        (r"__VERIFIER_error\(", "Errors.__VERIFIER_error("),
    ]:
        text = re.sub(pattern, java, text)
    return f"public class P {{\n{text}\n}}\n"


def _letters(found: re.Match[str]) -> str:
    names = [f'"{chr(64 + int(number))}"' for number in found[1].split(",")]
    if found[0].startswith("printf"):
        return f"System.out.println({names[0]});"
    if found[0].startswith("input"):
        return f"input.equals({names[0]})"
    return f"private String[] inputs = {{{','.join(names)}}}"


def test_programs_are_the_same_in_both_languages():
    """The same tables for random programs."""
    n_machines = 0
    for seed in range(examples(60)):
        text = Draw(random.Random(seed), errors=seed % 3 == 0).text
        java = _in_java(text)
        assert not re.search(r"printf|cf *==|input ==|int input", java)
        try:
            expected = machine_in(text, 200)
        except InputError:
            continue
        found = machine_in(complete(as_c(java, "P.java")), 200)
        n_machines += 1
        assert (found.inputs, found.outputs) == (expected.inputs, expected.outputs)
        for name in ("first", "label", "target", "rows"):
            assert np.array_equal(getattr(found, name), getattr(expected, name)), seed
    assert n_machines > 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("public class Ring {", "@Other public class Ring {", r":10: .*found '@Other'"),
        ("public class Ring {", "public {", "expected 'public class NAME {'"),
        ('println("X")', 'println("ready")', r":32: expected a number, found '\"ready"),
        ('mode = "g"', "mode += 1", r":30: expected '\('"),
        ('= "e"', "= new String()", r":17: expected a number, found 'new'"),
        ("a == 2 &&", "a.equals(b) &&", r":23: expected '\)', found '.'"),
        (RING[RING.index("a == 2 &&") :], "", ": expected the class to end with '}', "),
    ],
)
def test_what_is_outside_of_the_syntax_is_refused(tmp_path, old, new, message):
    """With its line."""
    assert old in RING
    file = tmp_path / "Ring.java"
    file.write_text(RING.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        ltlpipe.load(file)


def test_folders_take_c_where_there_are_both(tmp_path):
    """Both are published; they are one problem."""
    (tmp_path / "constraints-Ring.txt").write_text("#0: never\n(false R ! oY)\n")
    (tmp_path / "Ring.java").write_text(RING)
    (task,) = find_tasks([tmp_path])
    assert task.system == (str(tmp_path / "Ring.java"),)
    (tmp_path / "Ring.c").write_text("#include <stdio.h>\n")
    (task,) = find_tasks([tmp_path])
    assert task.system == (str(tmp_path / "Ring.c"),)
