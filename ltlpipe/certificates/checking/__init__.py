"""From a certificate to whether it proves what it claims.

In comes a file; out goes "verified" or "refused", with the first reason.  Nothing here
imports a search, a packed system or a reduction: a system is read by its reader, and
its tables, its automaton, its acceptance and its steps are made anew.  Begin with
`verification`.
"""
