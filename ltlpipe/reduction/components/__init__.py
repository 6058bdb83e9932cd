"""Component reduction: compose some components, hide, reduce, and go on.

Read `ltlpipe.reduction.components.merger` first.
"""
