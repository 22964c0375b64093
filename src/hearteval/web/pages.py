"""Templates and what they may say: every text from `hearteval.protocol`, every value escaped."""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from hearteval.protocol import load_protocol
from hearteval.study.people.kinds import KINDS, too_long
from hearteval.study.people.labelling import answers_to

STATIC: Mapping[str, str] = {
    "style.css": "text/css; charset=utf-8",
    "pages.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "htmx.LICENSE.txt": "text/plain; charset=utf-8",
}
"""Files that pages ask for, with their types."""
WORDS = ("consent", "writing", "judging", "review", "labelling", "background")
TASK_NAMES: Mapping[str, str] = {
    "write": "Write",
    "judge": "Compare",
    "rate": "Rate",
    "review": "Review",
    "label": "Label",
    "settle": "Settle",
    "research": "Watch",
}
"""Of kinds of tasks, or of their templates, as researchers read them."""
DEFAULT_LOCALE = "default"


@cache
def environment() -> Environment:
    """Return the templates."""
    made = Environment(
        loader=PackageLoader("hearteval.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["words"] = {name: load_protocol(f"people_{name}") for name in WORDS}
    made.globals["longest"] = longest()
    made.globals["assets"] = {name: _version(name) for name in STATIC}
    made.globals |= {"door_of": door_of, "task_name": task_name, "answers_to": answers_to}
    made.filters["paragraphs"] = _paragraphs
    return made


def page(
    template: str,
    *,
    locale: str = DEFAULT_LOCALE,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> Response:
    """Return a page, with where to find help in a locale at its foot."""
    made = environment().get_template(f"{template}.html.j2")
    text = made.render(help=help_for(locale), **values)
    return HTMLResponse(text, status, headers=dict(headers or {}))


@cache
def help_for(locale: str) -> Mapping[str, Any]:
    """Return where somebody of a locale finds help; of an unknown one, what helps anywhere."""
    found = load_protocol("help")
    here = found["locales"].get(locale, found["locales"][DEFAULT_LOCALE])
    told = {"helpline": here["helpline"], "emergency": here["emergency"]}
    return {
        "footer": found["footer"].format(**told),
        "link": found["link"],
        "page": found["page"],
        "paragraphs": [text.format(**told) for text in found["page"]["paragraphs"]],
        "lines": here["lines"],
        "country": here["country"],
        "locales": {name: one["country"] for name, one in found["locales"].items()},
        "locale": locale if locale in found["locales"] else DEFAULT_LOCALE,
    }


def pick_locale(accepted: str) -> str:
    """Return the locale of ours that a browser asks for first, exactly; else the default."""
    known: dict[str, str] = {name.lower(): name for name in load_protocol("help")["locales"]}
    for part in accepted.split(","):
        name = part.split(";")[0].strip().lower()
        if name in known and name != DEFAULT_LOCALE:
            return known[name]
    return DEFAULT_LOCALE


@cache
def static_file(name: str) -> bytes:
    """Return a file that pages ask for."""
    return (files("hearteval.web") / "static" / name).read_bytes()


def longest() -> Mapping[str, Any]:
    """Return how long a reply may be, and what a page says of a longer one."""
    most = load_protocol("replies")["completion"]
    return {"words": most["max_words"], "characters": most["max_characters"], "said": too_long()}


def door_of(name: str) -> str:
    """Return what a kind of task is called where somebody chooses among kinds."""
    kind, labelling = KINDS[name], load_protocol("people_labelling")["names"]
    if kind.subject:
        return str(labelling.get(name, f"{labelling[kind.template]} ({kind.subject})"))
    names: Mapping[str, str] = {
        "write": load_protocol("people_writing")["heading"],
        "judge": "Compare two replies",
        "rate": "Rate one reply",
        "review": load_protocol("people_review")["title"],
    }
    return names[name]


def task_name(name: str) -> str:
    """Return what the researcher's page calls a kind of task."""
    if name not in KINDS or not KINDS[name].subject:
        return TASK_NAMES[name]
    usual = f"{TASK_NAMES[KINDS[name].template]} {KINDS[name].subject}"
    return str(load_protocol("people_labelling")["names"].get(name, usual))


def _version(name: str) -> str:
    return hashlib.sha256(static_file(name)).hexdigest()[:12]


def _paragraphs(text: str) -> list[Mapping[str, Any]]:
    """Part a protocol text into paragraphs and lists of points, as its Markdown says."""
    found: list[Mapping[str, Any]] = []
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        if all(line.startswith("- ") for line in lines):
            found.append({"points": [line.removeprefix("- ") for line in lines], "text": ""})
        else:
            found.append({"points": [], "text": " ".join(lines)})
    return found
