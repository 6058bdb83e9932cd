"""Component reduction: compose some components, hide, reduce, and go on.

Read `ltlpipe.components.composition.merger` first.
"""
