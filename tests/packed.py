"""Networks packed at once, without a job."""

from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.networks.packing import pack_network


def pack(network, letters, **options):
    """Return the packed network; see `pack_network`."""
    return complete(pack_network(network, letters, **options))
