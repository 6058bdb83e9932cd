"""Certificates for ``holds``: what a search has found out, in a form that is checked.

In comes a search that has ended without an accepting run, or a file; out goes a file,
or whether what it says has been proved.  `ltlpipe.certificates.writing` makes files of
searches.  `ltlpipe.certificates.checking` checks them, and imports neither that nor any
search; begin with its module `verification`.
"""
