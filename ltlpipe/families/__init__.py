"""Systems that are generated: scaling families, random networks, problems like RERS's.

Sizes and seeds come in, networks and nets go out.  Nothing imports this room but the
commands that generate.  Begin with `networks.philosophers`, the smallest.
"""
