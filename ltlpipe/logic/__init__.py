"""Formulas: from text to Spot's formula objects.

In come formulas as strings or as files of one formula per line; out go parsed
formulas with the place they came from, and the actions that they name.  Read
`ltlpipe.logic.formulas` first.
"""
