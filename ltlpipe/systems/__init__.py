"""Systems: networks of LTSs, their files, their families, their packed form.

In come files or family names; out come `Network` objects and, for the searches,
packed networks with a successor function.  Read `ltlpipe.systems.networks.lts` first,
then `ltlpipe.systems.networks.packing`; each file format has a module of its name.
"""
