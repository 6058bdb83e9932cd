"""The mutants: a line of the package, what it becomes, and the tests that notice.

The sample is of conditions that are easily written wrong: a comparison, a mark that is
forgotten, a case that is left out.  `explained` says of a mutant that changes no
verdict why it does not.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """A change of one line, or of an expression, that stands once in a module."""

    name: str
    module: str  # below ltlpipe/
    old: str
    new: str
    tests: tuple[str, ...]  # files, or parts of files, below tests/
    explained: str | None = None


STORE = ("search/test_store.py",)
NESTED = ("search/test_se05.py", "search/test_nested.py")
SCC = ("search/test_couvreur99.py", "search/test_battery.py")
SWEEPING = ("search/test_sweeping.py",)
AMPLE = ("por/test_component_sets.py", "cross/test_ample.py")
STUBBORN = ("por/test_stubborn_sets.py", "cross/test_ample.py")
MODELS = ("por/models", "cross/test_models_por.py")
PACKING = ("systems/networks/test_packing.py",)
SPECIAL = ("cross/test_special_nets.py",)
NETS = ("systems/nets/test_packing.py", "systems/nets/test_overflow.py")
BOXES = ("decoupled",)
SETS = ("symmetry/sets",)
COMPONENTS = ("components/test_equivalence.py", "components/test_block_form.py")
FACTORS = ("components/factoring",)
ALPHABET = ("components/test_alphabet.py",)
AUTOMATA = ("automata",)
LOGIC = ("logic/test_interruptible.py",)
WORKERS = ("search/shared/test_workers.py",)
MACHINES = ("certificates/test_machines.py",)

MUTANTS = [
    Mutant(
        "rows are told apart by their first word",
        "runtime/kernels/rows.py",
        "for w in range(rows.shape[1]):  # noqa: SIM110 (a kernel has no `all`)",
        "for w in range(1):",
        STORE,
    ),
    Mutant(
        "a slot at the end is followed by none",
        "search/store.py",
        "        if at == n_slots:\n            at = 0\n\n\ndef with_room",
        "        if at > n_slots:\n            at = 0\n\n\ndef with_room",
        STORE,
    ),
    Mutant(
        "steps to accepting states close no cycles",
        "search/nested/ndfs.py",
        "closes = closes or is_accepting(",
        "closes = closes and is_accepting(",
        NESTED,
    ),
    Mutant(
        "the red search enters no state",
        "search/nested/ndfs.py",
        "return colour & Colour.CYAN == 0\n    return colour == Colour.BLUE",
        "return colour & Colour.CYAN == 0\n    return colour == Colour.RED",
        NESTED,
    ),
    Mutant(
        "the marks that lead to a root are lost",
        "search/scc/couvreur99.py",
        "marks |= arrays.root_marks[top] | arrays.entry_marks[top]",
        "marks |= arrays.root_marks[top]",
        SCC,
    ),
    Mutant(
        "one mark is enough",
        "search/scc/couvreur99.py",
        "return marks & full == full",
        "return marks & full != 0",
        SCC,
    ),
    Mutant(
        "a state alone is no SCC with a cycle",
        "search/scc/tarjan72.py",
        "if last == place and kinds[place - 1] & SELF_LOOP == 0:",
        "if last == place:",
        SCC,
    ),
    Mutant(
        "marks of transitions to states on the stack are forgotten",
        "search/stacks.py",
        "if number < 0 or (known and not counts):",
        "if number < 0 or known:",
        SWEEPING,
    ),
    Mutant(
        "gaps are closed without the marks",
        "search/stacks.py",
        "write_marks(marks, bits, to, read_marks(marks, bits, at))",
        "write_marks(marks, bits, at, read_marks(marks, bits, at))",
        SWEEPING,
    ),
    Mutant(
        "visible steps may be in an ample set",
        "por/component_sets.py",
        "visible[action]\n            or meets",
        "False\n            or meets",
        AMPLE,
        explained="sets that meet the participants of visible steps are refused, too",
    ),
    Mutant(
        "closures that need a visible step are taken",
        "por/component_sets.py",
        "if meets(closures, at, closures, forbidden):\n            return False",
        "if meets(closures, at, closures, forbidden):\n            return True",
        AMPLE,
    ),
    Mutant(
        "closures are not gone back to",
        "por/component_sets.py",
        "                if w < word:",
        "                if w < 0:",
        AMPLE,
    ),
    Mutant(
        "a disabled action brings in nothing",
        "por/stubborn_sets.py",
        "            insert_enablers(tables, stubborn, stubborn.disabled[",
        "            insert_rivals(stubborn, stubborn.disabled[",
        STUBBORN,
    ),
    Mutant(
        "rivals that stay are left out",
        "por/stubborn_sets.py",
        "if moves[pair] or not stays:",
        "if moves[pair] and not stays:",
        STUBBORN,
    ),
    Mutant(
        "the cycle proviso is left out",
        "search/reduced.py",
        "again = taken >= 0 and not free",
        "again = taken < 0 and not free",
        AMPLE,
    ),
    Mutant(
        "the last participant of a label need not take part",
        "systems/networks/packing_kernels.py",
        "if row[w] & words[at + 3 * w] != words[at + 3 * w + 1]:",
        "if row[w] & words[at + 3 * w + 1] != words[at + 3 * w + 1]:",
        PACKING,
    ),
    Mutant(
        "one component accepts for all",
        "systems/networks/packing_kernels.py",
        "accepting &= ints[entry + 1]",
        "accepting |= ints[entry + 1]",
        PACKING,
    ),
    Mutant(
        "the first choice of a wide action is left out",
        "systems/networks/packing_kernels.py",
        "for choice in range(n_choices - 1, -1, -1):",
        "for choice in range(n_choices - 1, 0, -1):",
        PACKING,
    ),
    Mutant(
        "a limit is the least that a place may hold",
        "systems/nets/kernels.py",
        "lacks(words[limit + 1], row[word], words[tops + word])",
        "lacks(row[word], words[limit + 1], words[tops + word])",
        SPECIAL,
    ),
    Mutant(
        "reset places keep their tokens",
        "systems/nets/kernels.py",
        "out_rows[count, np.int64(words[clear])] &= words[clear + 1]",
        "out_rows[count, np.int64(words[clear])] &= row[np.int64(words[clear])]",
        SPECIAL,
    ),
    Mutant(
        "ample sets know no limits and resets",
        "por/groups.py",
        "if special.isdisjoint(touched | transition.limits.keys()):",
        "if special is not None:",
        SPECIAL,
    ),
    Mutant(
        "symmetry sees no limits",
        "symmetry/groups/models.py",
        'graph.add(("limit", most), taken, places[place])',
        "pass",
        SPECIAL,
    ),
    Mutant(
        "what a limit bounds has no bound without a limit",
        "systems/nets/invariants.py",
        "added = None if limit is None else added + limit",
        "added = added + (limit or 0)",
        SPECIAL,
    ),
    Mutant(
        "borrows between fields",
        "systems/nets/kernels.py",
        "rest = (held | tops) - (needed & ~tops)",
        "rest = held - (needed & ~tops)",
        NETS,
    ),
    Mutant(
        "full fields overflow unnoticed",
        "systems/nets/kernels.py",
        "return ((held & put) | ((held ^ put) & rest)) & tops",
        "return ((held & put) | (held & put & rest)) & tops",
        NETS,
    ),
    Mutant(
        "a box is included in any with a member of each word",
        "decoupled/dominance.py",
        "if rows[i, w] & ~known[row, w] != 0:",
        "if rows[i, w] & known[row, w] == 0:",
        BOXES,
    ),
    Mutant(
        "marks are counted past the one that is due",
        "decoupled/mark_counts.py",
        "if (marks >> np.uint32(seen % n_marks)) & np.uint32(1) == 0:",
        "if marks == 0:",
        BOXES,
    ),
    Mutant(
        "sets are included whatever the property's state",
        "symmetry/sets/inclusion.py",
        "if read(ints, watching, row) != read(ints, watching, other):\n        return",
        "if read(ints, watching, row) != read(ints, watching, other):\n        bool",
        SETS,
    ),
    Mutant(
        "a set is removed without its SCC",
        "symmetry/sets/inclusion_checks.py",
        "for place in range(number - 1, registers[Reg.COUNT]):",
        "for place in range(number, registers[Reg.COUNT]):",
        SETS,
    ),
    Mutant(
        "barred actions happen",
        "components/alphabet.py",
        "missing[list(barred)] += 1",
        "missing[list(barred)] += 0",
        ALPHABET,
    ),
    Mutant(
        "silent steps within a block are told apart",
        "components/refinement.py",
        "if step < graph.silent[state] or block[target] != b:",
        "if step < graph.silent[state] or block[target] == b:",
        COMPONENTS,
    ),
    Mutant(
        "acceptance is not looked for in condition 2",
        "automata/interrupts.py",
        "if not exempt and there & ~accepting:",
        "if exempt and there & ~accepting:",
        AUTOMATA,
    ),
    Mutant(
        "W waits as U does where nothing happens",
        "logic/interruptible.py",
        '"W": first or last,',
        '"W": last,',
        LOGIC,
    ),
    Mutant(
        "Fin of marks that cannot be seen is false",
        "automata/conditions.py",
        "return TRUE if op == Op.FIN else FALSE\n\n        return self.mapped(leaf)",
        "return FALSE\n\n        return self.mapped(leaf)",
        AUTOMATA,
    ),
    Mutant(
        "marks carried to a root that has moved are lost",
        "search/union_find.py",
        "        if above == root:\n            return before\n        root = above",
        "        if True:\n            return before\n        root = above",
        WORKERS,
        explained="another worker has to move the root within a few instructions: that"
        " is luck, which thousands of products in the slow suite try",
    ),
    Mutant(
        "computations that fail are no matter to machines",
        "certificates/checking/machine.py",
        "if path.output is None or path.failed:",
        "if path.failed:\n            return\n        if path.output is None:",
        MACHINES,
    ),
    Mutant(
        "a machine may take an input that its program refuses",
        "certificates/checking/machine.py",
        "            if expected is not None:\n",
        "            if False:\n",
        MACHINES,
    ),
    Mutant(
        "a machine may print something else",
        "certificates/checking/machine.py",
        "if expected is None or expected[0] != output:",
        "if expected is None:",
        MACHINES,
    ),
    Mutant(
        "a machine goes on behind an error",
        "certificates/checking/machine.py",
        "elif self._moves[expected[1]]:",
        "elif self._moves[expected[1]] is None:",
        MACHINES,
    ),
    Mutant(
        "boxes need not hold the first state",
        "certificates/checking/machine.py",
        '    check.arrive(first, 0, "the first state", None)\n',
        "",
        MACHINES,
    ),
    Mutant(
        "a state is in a cell by one of its variables",
        "certificates/checking/machine.py",
        "return all(\n        a is b or on.within(a, b)",
        "return any(\n        a is b or on.within(a, b)",
        MACHINES,
    ),
    Mutant(
        "what fails the first half of a conjunction is forgotten",
        "certificates/checking/machine.py",
        "no, fails = _either(no, other), fails or failed",
        "no, fails = other, fails or failed",
        MACHINES,
    ),
    Mutant(
        "divisors that are zero divide",
        "certificates/checking/machine.py",
        "right, other = divisors, other or divisors != right",
        "right = divisors",
        MACHINES,
    ),
    Mutant(
        "sums of ranges do not wrap round",
        "certificates/checking/values.py",
        "    if part[-1] - shift > MAX:\n        return ALL\n",
        "",
        MACHINES,
    ),
    Mutant(
        "remainders of negative numbers are positive",
        "certificates/checking/values.py",
        "low, high = (-most if a[0] < 0 else 0), (most if a[-1] > 0 else 0)",
        "low, high = 0, most",
        MACHINES,
    ),
]
