"""What `mkdocs build` does beside rendering ``docs/`` (see ``mkdocs.yml``).

The page of the Python API lists the public names of the package, and pictures of
``results/`` are copied to the site.
"""

from __future__ import annotations

from inspect import isclass, isroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

import ltlpipe

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
API = "python.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pictures of the measurements."""
    for picture in sorted((ROOT / "results").glob("*.svg")):
        files.append(
            File.generated(config, f"results/{picture.name}", abs_src_path=str(picture))
        )
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Point to the copies of pictures; list the public names on their page."""
    markdown = markdown.replace("(../results/", "(results/")
    if page.file.src_uri == API:
        public = [getattr(ltlpipe, name) for name in ltlpipe.__all__]
        described = sorted(filter(is_described, public), key=isclass)  # functions first
        entries = [entry(each) for each in described]
        markdown += "\n\n".join(["", *entries, "::: ltlpipe.plots"]) + "\n"
    return markdown


def is_described(described: object) -> bool:
    """Return whether an object has a docstring of its own."""
    return isclass(described) or isroutine(described)


def entry(described: Any) -> str:
    """Return the directive that inserts a docstring, headed by its public name.

    The directive names the module that defines the object: mkdocstrings does not
    inspect what a package imports lazily.
    """
    name = described.__name__
    options = f"    options:\n      heading: ltlpipe.{name}\n      toc_label: {name}"
    return f"::: {described.__module__}.{name}\n{options}"
