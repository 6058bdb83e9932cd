"""Linear programs over the state equation of a net: proofs that need no states.

In come the arrays of a net and what the propositions of a property say of its markings;
out come letters that no marking has, facts about what runs do in the end, and proofs of
both in integers.  `constraints` says what propositions mean in linear inequalities,
`equation` refutes conjunctions of them, `cycles` refutes components of the property's
automaton, and `proof` puts these together in a worker process.
"""
