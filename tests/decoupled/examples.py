"""The networks of the paper's figures; letters become numbers in their order.

The figures themselves were not at hand: the transitions are those that the text
gives or needs.
"""

from __future__ import annotations

from ltlpipe import LTS, Network


def idle(labels):
    """A component of one accepting state that takes part in everything."""
    return LTS.from_transitions([(0, a, 0) for a in labels], accepting=[0])


def figure_4_left(n, *, accepting=()):
    """Sec. 3.3: A_i and B_i, one internal step, pairwise synchronised labels.

    An even number of components in a ring: each meets one neighbour in A_i and
    the other in B_i, so that a successor of all B_i is all B_i again (Sec. 4.4).
    """
    components = []
    for i in range(n):
        a, b = f"a{i // 2}", f"b{(i + 1) % n // 2}"
        components.append(
            LTS.from_transitions(
                [(0, f"i{i}", 1), (0, a, 1), (1, b, 0)], accepting=accepting
            )
        )
    return Network(components)


def figure_4_right(n, *, accepting=(), back=False):
    """Sec. 3.3: all components choose between B_i and C_i at once."""
    return Network(
        [
            LTS.from_transitions(
                [(0, "g", 1), (0, "g", 2), *([(1, f"i{i}", 0)] if back else [])],
                n_states=3,
                accepting=accepting,
            )
            for i in range(n)
        ]
    )


def figure_5(*, cycle=True):
    """Sec. 4.1: the cycle 2, 3 that pruning without references misses.

    `l2` comes first, so that the state with 3 from 4 is met before the one
    with 3 from 2.  Without `cycle` state 2 has no way back to 3.
    """
    transitions = [(1, "i1", 2), (1, "i2", 3), (1, "i3", 4)]
    transitions += [(3, "l2", 2), (4, "l2", 3)]
    if cycle:
        transitions.append((2, "l1", 3))
    component = LTS.from_transitions(
        transitions, initial=1, n_states=5, accepting=[2, 4]
    )
    return Network([component, idle(["l2", "l1"] if cycle else ["l2"])])


A, B, C, D, E, F, G, H = range(8)


def figure_8():
    """Example 1."""
    one = LTS.from_transitions(
        [
            (A, "l1", B),
            (B, "l2", E),
            (F, "l3", D),
            (B, "l4", C),
            (C, "l5", F),
            (D, "l6", G),
            (G, "l7", H),
            (H, "l7", G),
            (B, "lI", D),
            (E, "lJ", F),
        ],
        accepting=[C, G],
    )
    return Network([one, idle([f"l{i}" for i in range(1, 8)])])
