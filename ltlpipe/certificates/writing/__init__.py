"""From a search that has found nothing to a certificate.

In comes the product that has been searched, with its store; out goes a file.  Begin
with `certificate`.
"""
