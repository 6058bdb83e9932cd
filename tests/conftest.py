"""Settings of the whole test run."""

from __future__ import annotations

from hypothesis import settings

# Kernels compile on their first call: no deadline for single examples.
settings.register_profile("default", deadline=None, print_blob=True)
settings.load_profile("default")
