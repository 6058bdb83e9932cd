"""``python -m ltlpipe`` is ``ltlpipe``."""

from ltlpipe.cli import program

if __name__ == "__main__":
    program()
