"""Component reduction: compose some components, hide, reduce, and go on.

Read `ltlpipe.reduction.components.merging` first.
"""
