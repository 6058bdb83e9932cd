"""Networks of labelled transition systems: their files, and their packed form.

Read `ltlpipe.systems.networks.lts` first, then `ltlpipe.systems.networks.packing`; each
file format has a module of its name.
"""
