"""What `mkdocs build` does beside rendering ``docs/`` (see ``mkdocs.yml``).

The page of the Python API lists the public names of the package, and pictures of
``results/`` are copied to the site.
"""

from __future__ import annotations

from inspect import isclass, isroutine
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

import ltlpipe

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
API = "api.md"


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
        described = filter(lambda o: isclass(o) or isroutine(o), public)
        places = [f"::: {o.__module__}.{o.__name__}" for o in described]
        markdown += "\n\n".join(["", *places, "::: ltlpipe.plots"]) + "\n"
    return markdown
