"""Search, where the site is read from the disk: the theme would load a script for that from elsewhere. This is ours."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

_LOADED = '<script src="https://unpkg.com/iframe-worker/shim"></script>'
_OWN = "site/worker.js"


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Name our script instead."""
    return output.replace(_LOADED, f'<script src="{get_relative_url(_OWN, page.url)}"></script>')


def on_post_template(output_content: str, **_: Any) -> str:
    """A page for a server that does not find one needs none."""
    return output_content.replace(_LOADED, "")
