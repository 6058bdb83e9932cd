"""``python -m ltlpipe`` is ``ltlpipe``."""

from ltlpipe.cli import main

if __name__ == "__main__":
    main()
