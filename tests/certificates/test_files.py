"""Certificates as files: digests, damage, hostile contents."""

from __future__ import annotations

import json
import random
import re

import pytest

from ltlpipe import InputError, LtlpipeError, check, load, verify_certificate
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.certificates.checking import verification as checker
from ltlpipe.systems.programs.promela.model import PromelaModel
from tests.certificates.parts import parts_of
from tests.cli.command_line import RING


@pytest.fixture
def certified(tmp_path):
    """A certificate of the ring, beside its file."""
    system, path = tmp_path / "ring.aut", tmp_path / "ring.cert"
    system.write_text(RING)
    check(str(system), "G(a -> F b)", certificate=str(path))
    return system, path


def test_what_is_said(certified):
    """The claim, what it rests on, and the figures."""
    system, path = certified
    verification = verify_certificate(str(path))
    assert verification.result == "verified"
    assert verification.claim == f"no run of {system} violates G(a -> F b)"
    assert (verification.states, verification.transitions) == (3, 3)
    assert [t.partition(",")[0] for t in verification.trusted] == [
        "that the files of the system mean what ltlpipe reads in them",
        "Spot",
    ]


def test_a_system_that_has_changed(certified):
    """Even by a blank."""
    system, path = certified
    system.write_text(RING + "\n")
    verification = verify_certificate(str(path))
    assert verification.reason == f"{system} is not the file that was checked"


def test_a_digest_that_has_changed(certified):
    """One digit of it."""
    _, path = certified
    parts = parts_of(path)
    known = parts.header["system"]["files"][0]
    known["sha256"] = known["sha256"][:-1] + "x"
    parts.write(path)
    assert "is not the file" in verify_certificate(str(path)).reason


def test_files_elsewhere(certified, tmp_path):
    """In another folder, or under another name."""
    system, path = certified
    moved = tmp_path / "other"
    moved.mkdir()
    system.rename(moved / "ring.aut")
    with pytest.raises(InputError, match=r"ring\.aut"):
        verify_certificate(str(path))
    assert verify_certificate(str(path), system_root=str(moved)).result == "verified"
    moved = (moved / "ring.aut").rename(moved / "r.aut")
    assert verify_certificate(str(path), str(moved)).result == "verified"


def test_another_formula(certified):
    """Spot is asked whether the automaton is one of its violations."""
    _, path = certified
    parts = parts_of(path)
    parts.header["formula"] = "G(b -> X b)"
    parts.write(path)
    reason = verify_certificate(str(path)).reason
    assert reason == "the automaton misses words that violate the formula"


def test_an_automaton_that_accepts_less(certified):
    """One without transitions proves nothing."""
    _, path = certified
    parts = parts_of(path)
    text = parts.header["automaton"]
    parts.header["automaton"] = "\n".join(
        line for line in text.splitlines() if not line.startswith("[")
    )
    parts.write(path)
    assert "misses words" in verify_certificate(str(path)).reason


NOTHING = 'HOA: v1\nStates: 1\nStart: 0\nAP: 2 "a" "b"\nAcceptance: 1 Inf(0)\n'
NOTHING += "--BODY--\nState: 0\n--END--\n"


def forged(path, **fields):
    """A certificate of a claim that is false, whose automaton accepts nothing."""
    parts = parts_of(path)
    parts.states = [[0, 0, 0]]  # of the ring, of the automaton, and a rank
    parts.write(path, automaton=NOTHING, formula="G !a", states=1, **fields)


def test_a_forged_claim(certified):
    """Its containment is decided: it is refused."""
    _, path = certified
    forged(path)
    assert "misses words" in verify_certificate(str(path)).reason


def test_what_is_too_hard_to_decide_is_on_trust(certified, monkeypatch):
    """Neither a true claim nor a forged one is verified then."""
    _, path = certified
    monkeypatch.setattr(checker, "_JUDGING", 0)
    for forge in (lambda _: None, forged):
        forge(path)
        verification = verify_certificate(str(path))
        assert verification.result == "conditional"
        (condition,) = verification.conditions
        assert condition.startswith("that the automaton accepts all violations")


def test_an_automaton_is_on_trust(certified, tmp_path):
    """Nobody can tell whether it is the one that was asked about."""
    system, path = certified
    (never,) = parse_automata(NOTHING.replace("--B", "/* */ --B"), "never.hoa")
    check(str(system), automaton=never, certificate=str(path))
    verification = verify_certificate(str(path))
    assert verification.result == "conditional"
    assert "is the one that was asked about" in verification.conditions[0]


ONLY_B = NOTHING.replace("State: 0\n", "State: 0\n[!0&1] 0 {0}\n")


@pytest.mark.parametrize("asked", ["G !a", "F b"])
def test_a_constraint_is_judged_and_claimed(certified, asked):
    """It is in the certificate: another one, or none, is another claim."""
    system, path = certified
    (constraint,) = parse_automata(ONLY_B, "b.hoa")
    options = {"constraint": constraint, "certificate": str(path)}
    assert check(str(system), asked, **options).holds
    verification = verify_certificate(str(path))
    assert (verification.result, verification.conditions) == ("verified", ())
    assert f"that the constraint allows violates {asked} (" in verification.claim
    assert "constraint: HOA: v1" in verification.claim
    allowing_all = ONLY_B.replace("[!0&1]", "[t]")
    for other in (None, allowing_all):
        parts_of(path).write(path, constraint=other)
        verification = verify_certificate(str(path))
        if asked == "G !a":
            assert "misses words" in verification.reason
        else:
            assert verification.result in ("verified", "refused")


def test_certificates_of_the_first_format(certified):
    """They have no checksums, and no constraint that could be judged."""
    _, path = certified
    parts = parts_of(path)
    parts.write(path)
    data = path.read_bytes()
    head, _, rest = data.partition(b"\n")[2].partition(b"\n")
    header = json.loads(head)
    del header["constraint"]
    for constrained, result in ((False, "verified"), (True, "refused")):
        told = json.dumps(header | {"constrained": constrained}).encode()
        first = b"ltlpipe certificate 1\n" + told + b"\n"
        path.write_bytes(first + rest[65:-32])
        assert verify_certificate(str(path)).result == result


def test_properties_that_nobody_has_checked(certified):
    """Spot would believe them, and complement another automaton."""
    _, path = certified
    parts = parts_of(path)
    text = parts.header["automaton"]
    for line in ("properties: weak\n", "properties: deterministic\n", "Start: 0\n"):
        parts.write(path, automaton=text.replace("Start:", line + "Start:", 1))
        assert verify_certificate(str(path)).result == "refused"


@pytest.mark.parametrize("name", ["all Start: 1", "all\rStart: 1", "Start: 1 Buchi"])
def test_spot_judges_what_was_read(certified, name):
    """Not what its parser makes of the same text: a second initial state here."""
    _, path = certified
    parts = parts_of(path)
    parts.states = [[0, 0, 0]]
    text = NOTHING.replace("States: 1", "States: 2").replace("1 Inf(0)", "0 t")
    text = text.replace("AP:", f"acc-name: {name}\nAP:")
    text = text.replace("--END--", "State: 1\n[t] 1\n--END--")
    clauses = [{"fin": [], "inf": [], "lacks": []}]
    parts.write(path, automaton=text, formula="G !a", states=1, clauses=clauses)
    assert "misses words" in verify_certificate(str(path)).reason


def test_a_constraint_that_claims_to_be_weak(certified):
    """Spot would believe it, and find that it allows too little."""
    _, path = certified
    constraint = 'HOA: v1\nStates: 2\nStart: 0\nAP: 1 "b"\nAcceptance: 1 Inf(0)\n'
    constraint += "{}--BODY--\nState: 0\n[!0] 0\n[0] 1\n"
    constraint += "State: 1\n[t] 0 {{0}}\n--END--\n"
    for claims in ("", "properties: weak\n"):
        forged(path, constraint=constraint.format(claims))
        assert "misses words" in verify_certificate(str(path)).reason


def test_all_of_the_question_is_claimed(certified):
    """Fewer runs, fewer violations: whoever forges them has to say so."""
    system, path = certified
    options = {"deadlock": "stutter", "fairness": "weak", "fair_sets": ("a,b",)}
    check(str(system), "G F a", certificate=str(path), **options)
    claim = verify_certificate(str(path)).claim
    assert claim.startswith(f"no weakly fair run of {system} violates G F a (")
    assert claim.endswith("(--deadlock=stutter; --fair-sets=a,b)")


def test_every_prefix_is_refused(certified):
    """A file that ends early, wherever."""
    _, path = certified
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        if length < len(b"ltlpipe certificate ") and not length:
            with pytest.raises(InputError):
                verify_certificate(str(path))
            continue
        assert verify_certificate(str(path)).result == "refused", length
    path.write_bytes(data + b"x")
    assert "goes on" in verify_certificate(str(path)).reason


def test_every_byte_matters_or_does_not(certified):
    """Whatever byte is changed: it is refused, or says exactly the same."""
    _, path = certified
    data, same = path.read_bytes(), parts_of(path)
    rng = random.Random(7)
    outside, harmless = [], 0
    for at in range(len(data)):
        flipped = bytes([data[at] ^ rng.randrange(1, 256)])
        path.write_bytes(data[:at] + flipped + data[at + 1 :])
        try:
            verification = verify_certificate(str(path))
        except InputError:
            outside.append(at)  # it is no certificate any more
            continue
        if verification.result != "refused":
            assert parts_of(path) == same
            harmless += 1
    assert outside == [*range(1 + data.index(b"\n"))]
    assert harmless < len(data) // 100  # in the frames of zstd


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("states", 1 << 40),
        ("states", -1),
        ("states", True),
        ("block", 1 << 40),
        ("block", 0),
        ("columns", ["automaton"]),
        ("columns", [1, 2, 3]),
        ("clauses", [{"fin": [99], "inf": [], "lacks": []}]),
        ("clauses", [{"fin": [], "inf": [], "lacks": [0]}]),
        ("clauses", []),
        ("clauses", [7]),
        ("letters", "states"),
        ("deadlock", None),
        ("fairness", "strict"),
        ("fair_sets", "a"),
        ("automaton", ""),
        ("automaton", "HOA: v1\nStates: 99999999999\n--BODY--\n--END--\n"),
        ("formula", "G("),
        ("formula", None),
        ("asked", "empty"),
        ("system", {"files": [{"path": "/etc/passwd"}]}),
        ("never", ["a"]),
        ("constraint", True),
        ("constraint", "HOA: v1"),
        ("unheard", 1),
        ("system", {"files": [{"path": "a", "sha256": "b", "unheard": 1}]}),
        ("system", {"files": [], "unheard": 1}),
        ("clauses", [{"fin": [], "inf": [0], "lacks": [0], "unheard": []}]),
        ("reduction", {"keeps": "words", "trimmed": False, "forms": [], "unheard": 1}),
    ],
)
def test_headers_that_make_no_sense(certified, field, value):
    """Each is refused, and quickly."""
    _, path = certified
    parts_of(path).write(path, **{field: value})
    if value == 1 << 40 and field == "states":
        with pytest.raises(LtlpipeError, match="memory limit"):
            verify_certificate(str(path), memory=1000)
        return
    assert verify_certificate(str(path)).result == "refused"


def test_other_files(tmp_path):
    """What is no certificate is bad input."""
    path = tmp_path / "a.cert"
    for text in ("", "something else\n", "ltlpipe certificate 4\n{}\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="expected a certificate"):
            verify_certificate(str(path))
    with pytest.raises(InputError, match="No such file"):
        verify_certificate(str(tmp_path / "none.cert"))


def test_a_file_that_cannot_be_written(tmp_path):
    """An error, and nothing is left behind."""
    system = tmp_path / "ring.aut"
    system.write_text(RING)
    path = tmp_path / "none" / "ring.cert"
    with pytest.raises(InputError, match="cannot be written"):
        check(str(system), "G(a -> F b)", certificate=str(path))


def test_a_limit_leaves_the_verdict(tmp_path, monkeypatch):
    """What was found holds; there is no certificate, and a warning says it."""
    from ltlpipe.runtime.jobs import StoppedError

    def stopped(*_):
        yield from ()
        raise StoppedError("memory")

    monkeypatch.setattr("ltlpipe.certificates.writing._ranks", stopped)
    system, path = tmp_path / "ring.aut", tmp_path / "ring.cert"
    system.write_text(RING)
    with pytest.warns(match="no certificate is written: memory"):
        verdict = check(str(system), "G(a -> F b)", certificate=str(path))
    assert (verdict.verdict, verdict.certificate) == ("holds", None)
    assert list(tmp_path.iterdir()) == [system]


def test_what_the_system_has_may_hold(certified, tmp_path):
    """The claim would say of it that it never holds."""
    _, path = certified
    parts_of(path).write(path, never=["a"])
    found = verify_certificate(str(path))
    assert found.reason == "'a' is said never to hold, and the system has it"
    (model := tmp_path / "m.pml").write_text("byte x;\nactive proctype P() { x = 1 }\n")
    check(str(model), "G(x<=1)", certificate=str(path))
    parts_of(path).write(path, never=["x==1"])
    assert "'x==1' is said never" in verify_certificate(str(path)).reason


def test_a_name_cannot_claim_something_else(certified):
    """A line break, or what terminals obey, would be a second verdict."""
    _, path = certified
    parts_of(path).write(path, never=["x\nverified: no run violates G a\x1b[2J"])
    assert verify_certificate(str(path)).claim.endswith(
        r"(x\nverified: no run violates G a\x1b[2J never holds)"
    )


def test_clauses_that_would_take_long_to_compare(certified):
    _, path = certified
    parts = parts_of(path)
    pairs = "&".join(f"(Inf({k})|Fin({k + 13}))" for k in range(13))
    lines = parts.header["automaton"].splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("acc-name"))
    text = re.sub("Acceptance: .*", f"Acceptance: 26 {pairs}", text)
    clause = {"fin": [], "inf": [], "lacks": []}
    clauses = [clause | {"fin": [k % 32, 31, k // 32]} for k in range(9, 1024)]
    clauses = [one | {"inf": [k % 32]} for one in clauses for k in range(9)]
    columns = [*parts.header["columns"][:2], *["r"] * len(clauses)]
    parts.write(path, automaton=text, clauses=clauses, columns=columns, block=1)
    assert verify_certificate(str(path)).reason == "there are too many clauses"


def test_how_a_model_was_read(tmp_path):
    """Macros, folders of included files, and the most processes."""
    model, path = tmp_path / "m.pml", str(tmp_path / "a.cert")
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "f.h").write_text("#define STEP 1\n")
    model.write_text(
        '#include "f.h"\nbyte x;\n'
        "active proctype P() { do :: x < N -> x = x + STEP :: else -> x = 0 od }\n"
    )
    read = {"define": ["N=2"], "include": [str(tmp_path / "far")], "processes": 3}
    asked = {"formula": "G(x <= 2)", "certificate": path}
    assert check(str(model), **asked, **read).verdict == "holds"
    found = verify_certificate(path)
    assert (found.result, found.reason) == ("verified", None)
    assert "--define=N=2; --include=" in found.claim
    assert "--processes=3" in found.claim
    (tmp_path / "far" / "f.h").write_text("#define STEP 3\n")
    assert verify_certificate(path).result == "refused"


FAILING = "byte x;\nactive proctype P() { x = 1; assert(x == 0); do :: x = 2 od }\n"


def test_the_model_is_that_of_the_question(tmp_path, monkeypatch):
    """Where nothing is asked about failures an assertion is a step like others."""
    model, path = tmp_path / "m.pml", str(tmp_path / "a.cert")
    model.write_text(FAILING)
    assert check(str(model), "G(x <= 2)", certificate=path).verdict == "holds"
    assert verify_certificate(path).result == "verified"
    asked = "G(x == 2 -> _fault)"
    assert check(str(model), asked, certificate=path).verdict == "holds"
    assert verify_certificate(path).result == "verified"
    # A forged one stops where an assertion fails.
    assert check(str(model), "G(x <= 1)").verdict == "violated"
    monkeypatch.setattr(PromelaModel, "for_question", lambda self, _: self)
    assert check(str(model), "G(x <= 1)", certificate=path).verdict == "holds"
    monkeypatch.undo()
    assert verify_certificate(path).result == "refused"


def test_a_model_that_has_grown(tmp_path):
    """Its states have room for more processes than a first look found."""
    model, path = tmp_path / "m.pml", str(tmp_path / "a.cert")
    model.write_text(
        "byte n;\nproctype A() { (0) }\n"
        "active proctype M() { do :: n < 100 -> n++; run A() :: else -> break od }\n"
    )
    found = check(str(model), "G(n <= 100)", certificate=path)
    assert (found.verdict, load(str(model)).grown) == ("holds", None)
    verified = verify_certificate(path)
    assert (verified.result, verified.reason) == ("verified", None)
    assert "--processes=" in verified.claim


PROCESSES = """byte x = 0;
process P { state p, q; init p; trans p -> q { effect x = 1; }, q -> p { effect x = 0; }; }
process Q { state r; init r; trans r -> r {}; }
system async;
"""  # noqa: E501


@pytest.mark.parametrize("fairness", ["weak", "strong"])
@pytest.mark.parametrize("named", [(), ("P",), ("P*",), ("P: *", "Q")])
def test_fairness_of_models(tmp_path, fairness, named):
    """To each process, to one of them, and to whatever a pattern fits."""
    model, path = tmp_path / "m.dve", str(tmp_path / "a.cert")
    model.write_text(PROCESSES)
    options = {"fairness": fairness, "fair_sets": named}
    found = check(str(model), "GF(x == 1)", certificate=path, **options)
    assert found.verdict == "holds"
    verified = verify_certificate(path)
    assert (verified.result, verified.reason) == ("verified", None)


@pytest.mark.parametrize("named", ["component 1", "c*", "a,*", "component 2,a"])
def test_fairness_by_names_of_components(tmp_path, named):
    """As ``--fair-sets`` reads them."""
    from ltlpipe import LTS, Network

    loop = LTS.from_transitions([(0, "c1", 0), (0, "a", 0)])
    network = Network([loop, LTS.from_transitions([(0, "b", 0)])])
    path, options = str(tmp_path / "a.cert"), {"fairness": "weak", "fair_sets": [named]}
    asked = {"formula": "GF(a | c1 | b)", "certificate": path}
    assert check(network, **asked, **options).verdict == "holds"
    verified = verify_certificate(path, network)
    assert (verified.result, verified.reason) == ("verified", None)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_names_that_no_file_can_have(certified, name):
    """They are bad input, like those of files that are not there."""
    _, path = certified
    parts = parts_of(path)
    parts.header["system"]["files"][0]["path"] = name
    parts.write(path)
    with pytest.raises(InputError):
        verify_certificate(str(path))
    with pytest.raises(InputError):
        verify_certificate(name)


@pytest.mark.parametrize("reduce", ["components", "none"])
def test_memory_is_announced_before_it_is_taken(certified, reduce):
    """Whatever numbers of states are declared, of a form or of a component."""
    system, path = certified
    if reduce == "none":
        system.write_text(RING.replace("2, 2)", f"2, {1 << 30})"))
    check(str(system), "G(a -> F b)", certificate=str(path), reduce=reduce)
    parts = parts_of(path)
    for form in parts.header["reduction"]["forms"] if reduce == "components" else ():
        form["states"] = 1 << 26
        parts.write(path)
    with pytest.raises(LtlpipeError, match="memory limit"):
        verify_certificate(str(path), memory=1000)
