"""Steps of synchronous systems as Python source; not yet."""

from __future__ import annotations


def write_joint(*args):
    raise NotImplementedError
