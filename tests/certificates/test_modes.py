"""The check of certificates with interpreted kernels answers as with compiled ones."""

from __future__ import annotations

import pytest

from tests.kernel_modes import INTERPRETED, compiled, output

PROGRAM = """
import tempfile, warnings
from pathlib import Path
import ltlpipe
from ltlpipe.families.networks import philosophers

warnings.simplefilter("ignore")
network = philosophers(3)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "a.cert"
    ltlpipe.check(network, empty=True, certificate=str(path))
    data = path.read_bytes()
    for text in (b'"lacks": [0]', b'"lacks": [ ]'):
        path.write_bytes(data.replace(b'"lacks": [0]', text))
        found = ltlpipe.verify_certificate(str(path), network)
        print(found.result, found.reason, found.states, found.transitions)
"""


@pytest.mark.thorough("interprets kernels, or compiles them once more")
def test_interpreted():
    """Also where it is refused: a rank that lacks nothing would have to fall."""
    told = compiled(PROGRAM)
    assert told.startswith("verified None")
    assert "refused" in told
    assert output(PROGRAM, **INTERPRETED) == told
