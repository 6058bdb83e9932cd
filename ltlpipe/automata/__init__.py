"""Property automata: from formulas to tables of integers.

In come parsed formulas, or HOA text; out come `PropertyAutomaton` tables over
letters, which kernels read.  Spot does the translation, here and nowhere else.
Read `ltlpipe.automata.letters` first, then `ltlpipe.automata.translation`; what
accepts is in `ltlpipe.automata.conditions`.
"""
