"""Questions in which one phase takes minutes, for `benchmarks.limits`.

Each maker writes its files into a folder and returns the arguments of ``check``.
"""

from __future__ import annotations

import gzip
from functools import partial
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks import cases
from benchmarks.families.client_server import client_server
from benchmarks.families.nets import kanban
from ltlpipe.families.networks import philosophers, random_network
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.logic.generating import instances
from ltlpipe.question.conditions import REDUCTION_NAMES
from ltlpipe.search.catalogue import DECOUPLED, POWERSET, SEARCHES
from ltlpipe.systems.nets.writing import save_pnml
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.writing import save

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SAFETY = "G(eat0 -> X(!eat0 W think0))"
"""Holds of philosophers; the automaton of its violations is terminal."""

FACTORS = 6
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)


MANY = (100, 250)
"""Components of networks like those of RERS, of dense labels."""


class Phase(NamedTuple):
    """A phase, and a maker of a question in which it takes minutes."""

    name: str
    make: Callable[[Path], list[str]]
    cold: bool = False  # with an empty cache of kernels


def phases(scale: float = 1.0) -> Iterator[Phase]:
    """Yield the phases.

    Parameters
    ----------
    scale : float
        What sizes are multiplied by; less than one for tests.
    """

    def sized(n: float) -> int:
        return max(int(n * scale), 3)

    for name, write, size in (
        ("dot", _dot, 2e6),
        ("aut", _aut, 1.5e7),
        ("hoa label", _hoa_label, 26),
        ("hoa", _hoa, 2e6),
        ("dve", _dve, 6e5),
        ("pnml", _pnml, 1e6),
        ("gz", _bomb, 400),
    ):
        yield Phase(f"read {name}", partial(write, sized(size)))
    yield Phase("translate", partial(_hard_formula, sized(10), []))
    decided = ["--reduce", "ample"]
    yield Phase("interruptibility", partial(_hard_formula, sized(10), decided))
    yield Phase(
        "compile",
        partial(philosophers_question, 3, ["--emptiness", "gmz04"]),
        cold=True,
    )
    yield Phase("reduce components", partial(_composed, sized(400)))
    yield Phase("reduce symmetry", partial(_alike, sized(250)))
    yield Phase("reduce decoupled", partial(_linear, sized(1e5)))
    yield Phase("reduce ample", partial(_static, sized(1500)))
    for n in MANY:
        make = partial(_many, sized(n))
        yield Phase(f"{n} components", partial(make, []))
        for name in REDUCTION_NAMES[1:]:
            yield Phase(f"{n} components {name}", partial(make, ["--reduce", name]))
        yield Phase(f"{n} products factoring", partial(_products, sized(n)))
    for name in dict.fromkeys([*SEARCHES, *DECOUPLED, *POWERSET]):
        chosen = ["--emptiness", name]
        if name in DECOUPLED:
            make = partial(_random, max(sized(8), 3), chosen)
        elif name in POWERSET:
            make = partial(_clients, sized(24), chosen)
        else:
            make = partial(philosophers_question, sized(20), chosen)
        yield Phase(f"search {name}", make)
    for name in POWERSET:
        make = partial(_meeting, sized(26), ["--emptiness", name])
        yield Phase(f"search many successors {name}", make)
    n_rings = max(round(len(PRIMES) * scale), 2)
    for name, reduce in (("decoupled", "decoupled"), ("explicit", "none")):
        yield Phase(f"lasso {name}", partial(_coprime, n_rings, ["--reduce", reduce]))
    chosen = ["--emptiness", "reach-terminal"]
    yield Phase("lasso reach-terminal", partial(_far, sized(3e5), chosen))
    yield Phase("replay", partial(_coprime, n_rings - 1, ["--emptiness", "se05"]))


# --- reading -----------------------------------------------------------------


def _pieces(n: int) -> Iterator[range]:
    """Yield the numbers below `n` in pieces, so that a text need not be held whole."""
    for first in range(0, n, 100_000):
        yield range(first, min(first + 100_000, n))


def _dot(n: int, folder: Path) -> list[str]:
    path = folder / "large.dot"
    with path.open("w", encoding="utf-8") as stream:
        stream.write('digraph g {\n  start -> 0 [label=""];\n')
        for piece in _pieces(n):
            stream.writelines(
                f'  {k} -> {(k * 7 + 1) % n} [label="a{k % 5}"];\n' for k in piece
            )
        stream.write("}\n")
    return [str(path), "-f", "G(a0 -> F a1)"]


def _aut(n: int, folder: Path) -> list[str]:
    path = folder / "large.aut"
    with path.open("w", encoding="utf-8") as stream:
        stream.write(f"des (0, {n}, {n})\n")
        for piece in _pieces(n):
            stream.writelines(f"({k}, a{k % 5}, {(k * 7 + 1) % n})\n" for k in piece)
    return [str(path), "-f", "G(a0 -> F a1)"]


def _hoa_header(n_states: int, n_propositions: int) -> str:
    names = " ".join(f'"p{i}"' for i in range(n_propositions))
    return (
        f"HOA: v1\nStates: {n_states}\nStart: 0\nAP: {n_propositions} {names}\n"
        "acc-name: Buchi\nAcceptance: 1 Inf(0)\n--BODY--\n"
    )


def _hoa_label(n: int, folder: Path) -> list[str]:
    """Return a label whose diagram has 2^n nodes in the order of the propositions."""
    path = folder / "label.hoa"
    label = "|".join(["0", *(f"({i}&{i + n})" for i in range(n))])
    body = f"State: 0 {{0}}\n[{label}] 0\n--END--\n"
    path.write_text(_hoa_header(1, 2 * n) + body, encoding="utf-8")
    return [str(path), "--empty"]


def _hoa(n: int, folder: Path) -> list[str]:
    path = folder / "large.hoa"
    with path.open("w", encoding="utf-8") as stream:
        stream.write(_hoa_header(n, 2))
        for piece in _pieces(n):
            stream.writelines(
                f"State: {k}\n[{k % 2}&!{1 - k % 2}] {(k * 7 + 1) % n}\n" for k in piece
            )
        stream.write("--END--\n")
    return [str(path), "--empty"]


def _dve(n: int, folder: Path) -> list[str]:
    path = folder / "large.dve"
    states = ", ".join(f"s{k}" for k in range(n))
    steps = ",\n".join(f"s{k} -> s{(k * 7 + 1) % n} {{}}" for k in range(n))
    path.write_text(
        f"process P {{ state {states}; init s0; trans\n{steps}; }}\nsystem async;\n",
        encoding="utf-8",
    )
    return [str(path), "-f", 'GF(P=="s1")']


def _pnml(n: int, folder: Path) -> list[str]:
    path = folder / "large.pnml"
    with path.open("w", encoding="utf-8") as stream:
        stream.write(
            '<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" '
            'type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">\n'
            '<place id="p0"><initialMarking><text>1</text></initialMarking></place>\n'
        )
        for piece in _pieces(n):
            for k in piece:
                stream.write(
                    f'<place id="p{k + 1}"/><transition id="t{k}"/>'
                    f'<arc id="i{k}" source="p{k}" target="t{k}"/>'
                    f'<arc id="o{k}" source="t{k}" target="p{k + 1}"/>\n'
                )
        stream.write("</page></net></pnml>\n")
    return [str(path), "-f", "G(p0<=1)"]


def _bomb(n: int, folder: Path) -> list[str]:
    """Return a file of `n` times 16 MiB of blank lines, compressed."""
    path = folder / "bomb.aut.gz"
    member = gzip.compress(b"\n" * (1 << 24))
    with path.open("wb") as stream:
        stream.write(gzip.compress(b"des (0, 1, 1)\n"))
        for _ in range(n):
            stream.write(member)
        stream.write(gzip.compress(b"(0, a, 0)\n"))
    return [str(path), "-f", "GF a"]


# --- translating and reducing ------------------------------------------------


def _saved(network: Network, folder: Path, ending: str = ".dot") -> list[str]:
    """Write a network; return its files."""
    return [str(path) for path in save(network, folder / f"{network.name}{ending}")]


def _hard_formula(n: int, options: list[str], folder: Path) -> list[str]:
    """Return a formula whose violations are fair in `n` ways."""
    rings = [
        LTS.from_transitions([(k, f"{name}{k}", (k + 1) % n) for k in range(n)])
        for name in ("a", "b")
    ]
    fair = " & ".join(f"(GF a{k} -> GF b{k})" for k in range(n))
    formula = f"!({fair} & G(a0 -> X(!a0 W a1)))"
    return [*_saved(Network(rings, "hard"), folder), "-f", formula, *options]


def _composed(n: int, folder: Path) -> list[str]:
    """Return three components of `n` states that are composed to be reduced."""
    parts = random_network(
        3, seed=1, n_states=(n, n), local_ratio=0.8, out_degree=3.0
    ).components
    files = _saved(Network([plain(lts) for lts in parts], "composed"), folder)
    shared = set(parts[0].labels) & set(parts[1].labels)
    formula = f"GF {min(shared)}"
    return [
        *files,
        "-f",
        formula,
        "--reduce",
        "components",
        "--max-component-states",
        "1000000000",
    ]


def _alike(n: int, folder: Path) -> list[str]:
    """Return many components that can be interchanged, beside a clock."""
    components = [
        LTS.from_transitions([(0, f"x{i}", 1), (1, f"y{i}", 2), (2, "tick", 0)])
        for i in range(n)
    ]
    files = _saved(Network(components, "alike"), folder)
    return [*files, "-f", "G(tick -> X(!tick W y0))", "--reduce", "symmetry"]


def _many(n: int, options: list[str], folder: Path) -> list[str]:
    """Return a network of the style random-dense, and a formula about its actions."""
    network = rers_network(n, style="random-dense", seed=n).network
    names = [action.name for action in network.actions]
    formula = next(instances(names, seed=n))
    return [*_saved(network, folder), "-f", formula, *options]


def _products(n: int, folder: Path) -> list[str]:
    """Return components that are products of `FACTORS` switches, two of them shared."""
    components = []
    for k in range(n):
        names = [f"on{k}x{i}" for i in range(FACTORS - 1)]
        switches = [*names, f"on{(k + 1) % n}x0"]  # the last is its neighbour's first
        components.append(_product(switches))
    network = Network(components, "products")
    formula = "G(on0x1 -> F off0x1)"
    return [*_saved(network, folder), "-f", formula, "--reduce", "factoring"]


def _product(switches: list[str]) -> LTS:
    """Return the states of some switches as one component."""
    steps = []
    for state in range(1 << len(switches)):
        for i, name in enumerate(switches):
            on = state >> i & 1
            label = name.replace("on", "off") if on else name
            steps.append((state, label, state ^ (1 << i)))
    return LTS.from_transitions(steps)


def _linear(n: int, folder: Path) -> list[str]:
    case = cases.linear(n, backwards=True)
    files = _saved(case.system, folder, ".aut")
    return [*files, "-f", str(case.formula), "--reduce", "decoupled"]


def _static(n: int, folder: Path) -> list[str]:
    """Return a net of many transitions, of which tables say what depends on what."""
    path = folder / "kanban.pnml"
    save_pnml(kanban(n, 2), path)
    return [str(path), "-f", "G(free0<=2)", "--reduce", "ample"]


# --- searching, lassos, replay -----------------------------------------------


def plain(lts: LTS) -> LTS:
    """Return a component without its acceptance."""
    return LTS(
        n_states=lts.n_states,
        initial=lts.initial,
        labels=lts.labels,
        src=lts.src,
        label=lts.label,
        dst=lts.dst,
    )


def philosophers_question(n: int, options: list[str], folder: Path) -> list[str]:
    """Return a question about philosophers that holds, state by state.

    There are a million states for nine of them.
    """
    parts = [plain(lts) for lts in philosophers(n).components]
    files = _saved(Network(parts, f"philosophers-{n}"), folder)
    return [*files, "-f", SAFETY, "--reduce", "none", *options]


def _clients(n: int, options: list[str], folder: Path) -> list[str]:
    served = "G(grant1 -> (!grant2 W (release1|commit1|abort1)))"
    return [*_saved(client_server(n), folder), "-f", served, *options]


def _meeting(n: int, options: list[str], folder: Path) -> list[str]:
    """Return n components that choose among 7 actions each, and meet once.

    The property tells some of the actions apart, so that a set has millions of
    successors.
    """
    places = range(1, min(n, 8))
    choose = [[(0, f"s{i}_{k}", k) for k in places] for i in range(n)]
    act = [[(k, f"t{i}_{k}", k) for k in places] for i in range(n)]
    meet = [(k, "meet", k) for k in places]
    people = [LTS.from_transitions([*choose[i], *act[i], *meet]) for i in range(n)]
    once = LTS.from_transitions([(0, "meet", 1)])
    network = Network([*people, once], "meeting")
    some = " | ".join(f"t{k - 1}_{k}" for k in places)
    asked = f"G !(meet & X(!({some}) U meet))"
    return [*_saved(network, folder, ".hoa"), "-f", asked, *options]


def _random(n: int, options: list[str], folder: Path) -> list[str]:
    network = random_network(n, seed=4, local_ratio=0.0, out_degree=4.0)
    if "decoupled-scc" in options:  # takes no components that accept
        network = Network([plain(lts) for lts in network.components], "random")
        label = min(network.components[0].labels)
        return [*_saved(network, folder), "-f", f"F {label}", *options]
    return [*_saved(network, folder, ".hoa"), "--empty", *options]


def _coprime(n: int, options: list[str], folder: Path) -> list[str]:
    """Return rings that turn together and accept together once in all their product.

    The cycle has as many steps as the periods multiplied: 223 million for nine.
    """
    rings = [
        LTS.from_transitions(
            [(k, "tick", (k + 1) % p) for k in range(p)], accepting=[p - 1]
        )
        for p in PRIMES[:n]
    ]
    network = Network(rings, f"coprime-{prod(PRIMES[:n])}")
    return [*_saved(network, folder, ".hoa"), "--empty", *options]


def _far(n: int, options: list[str], folder: Path) -> list[str]:
    """Return a violation that is `n` steps away, beside others that go on for ever."""
    numbers = np.arange(n, dtype=np.int32)
    long = LTS(
        n_states=n + 1,
        initial=0,
        labels=("a", "b"),
        src=np.append(numbers, np.int32(n)),
        label=np.append(np.zeros(n, dtype=np.int32), np.int32(1)),
        dst=np.append(numbers + 1, np.int32(n)).astype(np.int32),
    )
    files = _saved(Network([long], "far"), folder, ".aut")
    return [*files, "-f", "G !b", "--reduce", "none", *options]
