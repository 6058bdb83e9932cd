"""Propositions of a system: from names to variables, to values, to tables for kernels.

In come expressions (`ltlpipe.logic.propositions`) and what a system calls its
variables; out go expressions over numbered variables, which are evaluated on
valuations by plain Python and on packed rows by a kernel.  Read
`ltlpipe.systems.propositions.binding` first, then
`ltlpipe.systems.propositions.kernels`.
"""
