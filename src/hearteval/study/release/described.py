"""A release in words and in metadata: datasheet, licences, citation, Croissant."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hearteval.analysis.study import StudyResults
from hearteval.domain import Completion, Item, Judgment, Rater, Rating, Study, System
from hearteval.exchange.release import KINDS, sha256
from hearteval.report.answers.headline import sentence
from hearteval.report.text import listed, plural
from hearteval.study.records.leaving import tables_of
from hearteval.study.records.permitted import CORPORA, may_be_passed_on
from hearteval.study.release.computed import PARQUET
from hearteval.study.session import Session
from hearteval.version import __version__

LEFT_OUT_WORDS = {
    "item": "dialogues without their texts",
    "screening": "reasons for choosing such a dialogue",
    "completion": "replies without their text",
    "judgment": "judgments without the reasons given for them",
    "rating": "ratings without the comments given with them",
    "attempt": "failed calls without what came back",
    "label": "labels without what they quote",
    "rater": "people without their group",
}
WHY = """- people wrote them and nobody has read and released them, or they were withdrawn;
- they are texts of a corpus that is not ours to pass on, or quote such a text. Whoever has the \
corpus can put them back: `esconv/README.txt` says how;
- they are what an endpoint said when a call failed."""
CROISSANT = "http://mlcommons.org/croissant/1.0"
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The JSON-LD context that the specification of Croissant 1.0 gives."""
TYPES = {
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".csv": "text/csv",
    ".parquet": "application/x-parquet",
    ".svg": "image/svg+xml",
    ".md": "text/markdown",
}
DATASHEET, LICENCES, CITATION, METADATA = (
    "datasheet.md",
    "LICENCES.md",
    "CITATION.cff",
    "croissant.json",
)


def describing_files(
    session: Session,
    study: Study,
    results: StudyResults,
    files: Mapping[str, bytes],
    n_left_out: Counter[str],
) -> dict[str, bytes]:
    """Return what describes a release, by path.

    Args:
        session: The release as it was loaded.
        study: Its study.
        results: What was computed of it.
        files: The rest of it.
        n_left_out: Records without their words, by kind.
    """
    items = list(session.store.iter(Item, study))
    texts = {
        DATASHEET: _datasheet(session, study, results, items, n_left_out),
        LICENCES: _licences(items),
        CITATION: _citation(session, study),
    }
    named = {name: text.encode() for name, text in texts.items()}
    types = {kind: _types(of) for kind, of in tables_of(session, study).items()}
    metadata = _metadata(session, study, {**files, **named}, types)
    text = json.dumps(metadata, ensure_ascii=False, indent=1)
    return named | {METADATA: f"{text}\n".encode()}


def _datasheet(
    session: Session,
    study: Study,
    results: StudyResults,
    items: Sequence[Item],
    n_left_out: Counter[str],
) -> str:
    store = session.store
    systems = [one for one in store.iter(System, study) if one.kind != "stress"]
    raters = list(store.iter(Rater, study))
    people = sum(one.kind == "human" for one in raters)
    judges = [one.name for one in raters if one.kind == "llm"]
    n_replies = sum(1 for _ in store.iter(Completion, study))
    n_given = sum(1 for kind in (Judgment, Rating) for _ in store.iter(kind, study))
    languages = sorted({one.language for one in items})
    sources = Counter(one.source for one in items)
    left = [f"- {n:,} {LEFT_OUT_WORDS.get(kind, kind)}" for kind, n in sorted(n_left_out.items())]
    bases = "\n".join(f"- {one}" for one in sorted({one.consent_basis for one in items}))
    verdict = " ".join(filter(None, (str(sentence(results)), results.judge_notice)))
    return f"""# {study.name}: what is in this release

{verdict}

This folder holds a study of emotional support in text: each of \
{plural(len(items), "dialogue")} ends with somebody who asks for support, and is answered by \
{plural(len(systems), "system")}. Raters who did not know who wrote what said which answer \
supports better, or how well.

Check it before you use a number of it: `heart verify FOLDER` holds every file and record against \
its hash and computes every table again. `heart init NEW --from FOLDER` continues it.

## What it holds
- {plural(len(items), "dialogue")}: \
{listed([f"{n:,} from {source}" for source, n in sorted(sources.items())])}; \
language {listed(languages)}
{bases}
- {n_replies:,} replies of {listed([one.name for one in systems])}, and of the stress set of judges
- {n_given:,} judgments by {plural(len(judges), "judge")}{_named(judges)} and \
{plural(people, "person", "people")}
- the study file, all prompts and rubrics, results as JSON and CSV, figures as SVG

`records/` is what everything else is computed from, one line a record. `tables/` has the same for \
reading: one Parquet table a kind.

## What was left out
{chr(10).join(left) if left else "Nothing."}

{f"Such words are left out for one of these reasons:{chr(10)}{WHY}" if left else ""}

Choices and scores are all here. Results are computed from what is here, so tables that measure \
texts may differ from the study's own.

## People
Raters and writers appear under pseudonyms. What is said of them is so coarse that at least five \
are alike in it, or is left out. Copies of a release that others have made cannot be called back: \
whoever takes part on hearteval's pages is told so before they agree.

## What it cannot show
Scores say how support was perceived by these raters, not what it did for anybody. They hold for \
these languages and these dialogues. It is no measure of safety in a crisis.

Made by hearteval {__version__}, study version {study.version}, seed {study.seed}.
"""


def _named(names: Sequence[str]) -> str:
    return f" ({listed(names)})" if names else ""


def _licences(items: Sequence[Item]) -> str:
    of_items = sorted({(one.source, one.licence, one.consent_basis) for one in items})
    rows = "\n".join(
        f"| dialogues from {source} | {licence} | {basis} |"
        + (" texts left out |" if not _is_passed(items, source) else " texts included |")
        for source, licence, basis in of_items
    )
    return f"""# Licences, part by part

| part | licence | why it may be used | |
| --- | --- | --- | --- |
{rows}
| replies of models | terms of each model's maker | made for this study | included |
| replies, choices and reasons of people | the consent of the study | they agreed to a release | \
those that were released |
| prompts, rubrics, taxonomies (`protocol/`) | Apache-2.0 | part of hearteval | included |

Who uses replies of models to train another keeps to the terms of the makers of both.
"""


def _is_passed(items: Sequence[Item], source: str) -> bool:
    return source not in CORPORA and all(may_be_passed_on(i) for i in items if i.source == source)


def _citation(session: Session, study: Study) -> str:
    year = session.now().year
    return f"""cff-version: 1.2.0
message: "Name the release and its id (manifest.json) where you use a number of it."
title: {json.dumps(f"{study.name}: a release of a HEART study", ensure_ascii=False)}
type: dataset
authors:
  - name: "The authors of {study.name}"
date-released: {session.now().date().isoformat()}
version: "{study.version}"
references:
  - type: article
    title: "HEART: A Unified Benchmark for Assessing Humans and LLMs in Emotional Support Dialogue"
    authors:
      - family-names: Iyer
        given-names: Laya
    year: {min(year, 2026)}
    identifiers:
      - type: other
        value: "arXiv:2601.19922"
"""


def _types(columns: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Return Croissant's type of each column."""
    found = {}
    for name, cells in columns.items():
        kinds = {type(cell) for cell in cells} - {type(None)}
        if kinds == {bool}:
            found[name] = "sc:Boolean"
        elif kinds == {int}:
            found[name] = "sc:Integer"
        else:
            found[name] = "sc:Float" if kinds and kinds <= {int, float} else "sc:Text"
    return found


def _metadata(
    session: Session,
    study: Study,
    files: Mapping[str, bytes],
    types: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CROISSANT,
        "name": study.name,
        "description": (
            "Replies of people and models to somebody who seeks support, and who judged which"
            " supports better: a study by the protocol of HEART (arXiv:2601.19922)."
        ),
        "license": "; ".join(sorted({one.licence for one in session.store.iter(Item)})),
        "url": "https://arxiv.org/abs/2601.19922",
        "version": f"{study.version}.0.0",
        "datePublished": session.now().date().isoformat(),
        "citeAs": "See CITATION.cff",
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": TYPES.get(f".{name.rpartition('.')[2]}", "text/plain"),
                "sha256": sha256(content),
            }
            for name, content in sorted(files.items())
            if name in KINDS or name.startswith("tables/")
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": kind,
                "name": kind,
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{kind}/{name}",
                        "name": name,
                        "dataType": type_,
                        "source": {
                            "fileObject": {"@id": PARQUET.format(kind)},
                            "extract": {"column": name},
                        },
                    }
                    for name, type_ in of.items()
                ],
            }
            for kind, of in types.items()
        ],
    }
