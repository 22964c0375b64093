"""The documentation site: `make docs` builds it from these pages with Sphinx into `build/docs`.

The pages are plain Markdown that a code host shows as well, so what only the site needs is added
while they are read. The contents are the links of `docs/README.md`, in their order. Nothing is
loaded from a network when the site is read. The source folder is the repository, so that links to
the first page, measurements and files of the package hold.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

project = "hearteval"
html_title = project
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["README.md", "docs/**.md", "benchmarks/RESULTS.md"]
exclude_patterns = [".*", "build", "dist", "demo", "src", "tests", "docs/package-page.md"]
myst_heading_anchors = 6
suppress_warnings = ["misc.highlighting_failure"]  # of JSON that is cut short by an ellipsis

html_theme = "furo"
html_static_path = ["site.css", "site.js"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {
        "color-background-primary": "#fbfaf7",
        "color-background-secondary": "#f3f1ec",
        "color-foreground-primary": "#1c1e22",
        "color-foreground-muted": "#5a5f69",
        "color-brand-primary": "#1d5a9c",
        "color-brand-content": "#1d5a9c",
        "color-brand-visited": "#1d5a9c",
    },
    "dark_css_variables": {
        "color-background-primary": "#141619",
        "color-background-secondary": "#1a1d21",
        "color-foreground-primary": "#e9e7e2",
        "color-brand-primary": "#9cc8f5",
        "color-brand-content": "#9cc8f5",
        "color-brand-visited": "#9cc8f5",
    },
}


def find_contents(root: Path = ROOT) -> dict[str, list[str]]:
    """Return the pages by heading: those that `docs/README.md` links, each where it comes first.

    Links to a part of a page do not count.
    """
    parts = re.split(r"^## ", (root / "docs/README.md").read_text("utf-8"), flags=re.MULTILINE)
    contents = {"Start here": ["docs/README"]}
    seen = {root_doc, "docs/README"}
    for number, part in enumerate(parts):
        pages = contents.setdefault(part.partition("\n")[0] if number else "Start here", [])
        for link in re.findall(r"\]\(([^):#]+)\.md\)", part):
            page = posixpath.normpath(f"docs/{link}")
            if page not in seen:
                pages.append(page)
                seen.add(page)
    return contents


def add_contents(name: str, text: str) -> str:
    """Return a page with those below it, which the sidebar shows: of the first page, all others."""
    if name == root_doc:
        trees = [[":hidden:", f":caption: {k}", "", *pages] for k, pages in find_contents().items()]
    elif name == "docs/decisions/README":
        trees = [[":glob:", ":titlesonly:", "", "0*"]]
    else:
        trees = []
    return "\n\n".join([text, *("\n".join(["```{toctree}", *tree, "```"]) for tree in trees)])


def prepare(_app: Any, name: str, source: list[str]) -> None:
    """Give anchors and pictures for two schemes the site's own form of them."""
    text = re.sub(r'<a id="([\w-]+)"></a>', r"(\1)=", source[0])
    picture = (
        r'<picture>\s*<source[^>]*srcset="(.+?)">\s*<img alt="(.+?)" src="(.+?)">\s*</picture>'
    )
    image = "```{image} %s\n:alt: \\2\n:class: only-%s\n```"
    text = re.sub(picture, "\n\n".join([image % (r"\3", "light"), image % (r"\1", "dark")]), text)
    source[0] = add_contents(name, text)


def setup(app: Any) -> None:
    """Have Sphinx call `prepare` for every page that it reads."""
    app.connect("source-read", prepare)
