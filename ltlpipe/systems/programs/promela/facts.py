"""Names of propositions that every Promela model has, beside those of Spin.

No variable of a model is called so: names that begin with ``_`` are predefined.
"""

FAULT = "_fault"
"""An assertion has failed, an index was out of range, a ``d_step`` was blocked, ..."""
VALID_END = "_valid_end"
"""Every process has ended, is at its end, or at a label ``end``; or there is a fault,
which is told by `FAULT` alone."""
ACCEPT = "_accept"
"""Some process is at a label ``accept``."""
FACTS = (FAULT, VALID_END, ACCEPT)
