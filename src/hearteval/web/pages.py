"""Templates and what they may say: every text from `hearteval.protocol`, every value escaped."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from hearteval.protocol import ENGLISH, is_checked, language_of, load_protocol
from hearteval.store.people.persons import NOWHERE
from hearteval.study.people.kinds import KINDS, too_long
from hearteval.study.people.labelling import answers_to
from hearteval.study.people.languages import Reader
from hearteval.web.guard import TRIAL

STATIC: Mapping[str, str] = {
    "style.css": "text/css; charset=utf-8",
    "pages.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "htmx.LICENSE.txt": "text/plain; charset=utf-8",
}
"""Files that pages ask for, with their types."""
WORDS = ("consent", "writing", "judging", "review", "labelling", "background", "enrolment")
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
    made.globals["assets"] = {name: _version(name) for name in STATIC}
    made.globals |= {
        "door_of": door_of,
        "task_name": task_name,
        "name_of": name_of,
        "answers_to": answers_to,
    }
    made.filters |= {"paragraphs": _paragraphs, "bare": str}
    return made


def page(
    template: str,
    *,
    reader: Reader,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> Response:
    """Return a page in the language of its reader, with where to find help at its foot."""
    made = environment().get_template(f"{template}.html.j2")
    language = reader.language
    text = made.render(
        help=help_for(reader.locale, language),
        words=words_in(language),
        longest=longest(language),
        language=language,
        is_checked=is_checked(language),
        trial=TRIAL.get(),
        **values,
    )
    return HTMLResponse(text, status, headers=dict(headers or {}))


@cache
def words_in(language: str) -> Mapping[str, Any]:
    """Return what pages say in a language, by the names of the texts."""
    return {name: load_protocol(f"people_{name}", language) for name in WORDS}


@cache
def help_for(locale: str, language: str = ENGLISH) -> Mapping[str, Any]:
    """Return where somebody of a locale finds help; of an unknown one, what helps anywhere."""
    found = load_protocol("help", language)
    here = found["locales"].get(locale, found["locales"][NOWHERE])
    told = {"helpline": here["helpline"], "emergency": here["emergency"]}
    return {
        "footer": found["footer"].format(**told),
        "link": found["link"],
        "page": found["page"],
        "paragraphs": [text.format(**told) for text in found["page"]["paragraphs"]],
        "lines": here["lines"],
        "country": here["country"],
        "locales": {name: one["country"] for name, one in found["locales"].items()},
        "locale": locale if locale in found["locales"] else NOWHERE,
    }


def pick_locale(accepted: str) -> str:
    """Return the locale of ours that a browser asks for first, exactly; else the default."""
    known: dict[str, str] = {name.lower(): name for name in load_protocol("help")["locales"]}
    for part in accepted.split(","):
        name = part.split(";")[0].strip().lower()
        if name in known and name != NOWHERE:
            return known[name]
    return NOWHERE


def pick_language(accepted: str, offered: Sequence[str]) -> str:
    """Return the language that a browser asks for first, of those that are offered; else the first.

    The order of a browser's list counts: every browser sends it by preference.
    """
    asked = [language_of(part.split(";")[0].strip()) for part in accepted.split(",")]
    return next((one for one in asked if one in offered), offered[0])


@cache
def static_file(name: str) -> bytes:
    """Return a file that pages ask for."""
    return (files("hearteval.web") / "static" / name).read_bytes()


def longest(language: str) -> Mapping[str, Any]:
    """Return how long a reply may be, and what a page says of a longer one."""
    most, said = load_protocol("replies")["completion"], too_long(language)
    return {"words": most["max_words"], "characters": most["max_characters"], "said": said}


def door_of(name: str, language: str = ENGLISH) -> str:
    """Return what a kind of task is called where somebody chooses among kinds."""
    kind, words = KINDS[name], words_in(language)
    labelling = words["labelling"]["names"]
    if kind.subject:
        return labelling.get(name, f"{labelling[kind.template]} ({kind.subject})")  # type: ignore[no-any-return]
    names: Mapping[str, str] = {
        "write": words["writing"]["heading"],
        "judge": words["judging"]["door"],
        "rate": words["judging"]["rating"]["door"],
        "review": words["review"]["title"],
    }
    return names[name]


def name_of(language: str) -> str:
    """Return what a language calls itself."""
    return str(load_protocol("people_consent", language)["page"]["language"])


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
