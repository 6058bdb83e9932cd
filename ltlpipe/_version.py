"""The version, in one place: the build and `ltlpipe --version` read it here."""

__version__ = "0.3.0"
