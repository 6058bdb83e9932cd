"""Formulas: from text to Spot's formula objects.

In come formulas as strings or as files of one formula per line; out go parsed
formulas with the place they came from, the actions that they name, and whether only
these matter (interruptible formulas).  Read `ltlpipe.logic.formulas` first, then
`ltlpipe.logic.interruptible`.
"""
