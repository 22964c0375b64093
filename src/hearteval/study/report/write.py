"""What a study writes of its results: typed JSON, the page, tables, figures, folders to read."""

import json
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from hearteval.analysis.data import Provenance
from hearteval.analysis.examples import by_interest
from hearteval.analysis.study import StudyResults, results_dict, without_words
from hearteval.domain import Study
from hearteval.errors import StoreError
from hearteval.items.dialogues.spoken import NO_CONSENT, NOT_STATED
from hearteval.report.answers.headline import first_line
from hearteval.report.latex import latex
from hearteval.report.leaderboard import leaderboard_csv
from hearteval.report.page import render_page
from hearteval.report.page.replies import MOST_READ, Shown
from hearteval.report.plots.files import (
    FILES_A_FIGURE,
    captions,
    figure_files,
    figures_of,
    require_matplotlib,
)
from hearteval.report.scores import rating_csv
from hearteval.report.tables import TABLES, all_tables, paper_tables
from hearteval.study import quoted, write_whole
from hearteval.study.records.permitted import NOT_PUBLIC
from hearteval.study.report.folders import link_to, require_own_folder, write_folder
from hearteval.study.report.left_behind import remember
from hearteval.study.report.reading import read_examples, write_replies
from hearteval.study.results import STARTER_BASIS
from hearteval.study.session import Session
from hearteval.study.simulation.apart import said_simulated

RESULTS_SCHEMA = "heart.analyze/1"


def write_results(session: Session, results: StudyResults) -> str:
    """Write the results as JSON beside the study file; return the path."""
    path = _path(session, "results.json")
    document = {"schema": RESULTS_SCHEMA, **results_object(results)}
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    write_whole(path, text, is_private=True)  # its warnings and examples may quote people
    return str(path)


def results_object(results: StudyResults) -> dict[str, Any]:
    """Return the results as what JSON can write; what is simulated says so first."""
    return {**said_simulated(is_simulated=results.provenance.simulated), **results_dict(results)}


def write_report(
    session: Session,
    study: Study,
    results: StudyResults,
    *,
    full: Path | None = None,
    figures: Path | None = None,
    is_public: bool = False,
) -> dict[str, Any]:
    """Write the report page and every table of it as CSV beside the study file; return the paths.

    The leaderboard or the scores stand beside the page, the others in the folder NAME.tables, and
    in the result under ``tables``, by name. `full` names a folder for every comparison that was
    chosen to be read, `figures` one for pictures and tables of a paper; a public page has another
    name and holds no text of the study.

    Raises:
        SettingsError: The folder holds something else.
        StoreError: A file cannot be written.
    """
    for folder in (full, figures):
        if folder is not None:
            require_own_folder(folder, study.id)
    if figures is not None:
        require_matplotlib()
    suffix = "public.html" if is_public else "report.html"
    page, table = _path(session, suffix), _path(session, "leaderboard.csv")
    paths: dict[str, Any] = {"report": str(page), "leaderboard_csv": str(table)}
    write_whole(table, leaderboard_csv(results), is_private=not is_public)
    if results.ratings is not None:
        scores = _path(session, "ratings.csv")
        text = rating_csv(results.ratings, is_simulated=results.provenance.simulated)
        write_whole(scores, text, is_private=not is_public)
        paths["ratings_csv"] = str(scores)
    shown = Shown(is_public=True)
    if not is_public:
        examples = by_interest(results.examples, mine=results.mine)
        chosen = examples if full else examples[:MOST_READ]
        file = quoted(session.settings.file)
        shown = Shown(
            readings=read_examples(session, study, chosen),
            notice=whose_texts(results.provenance) + _kept_private(results.provenance, file),
            study_file=file,
            folder=None if full is None else link_to(full, page.parent),
            is_simulated=results.provenance.simulated,
        )
    if full is not None:
        paths["full"] = write_replies(session, study, results, shown, full)
        remember(session, study, [full])
    if figures is not None:
        paths["figures"] = write_figures(session, study, results, figures)
    text = render_page(without_words(results) if is_public else results, shown)
    write_whole(page, text, is_private=not is_public)
    folder = _path(session, "tables")
    return paths | {"tables": _write_tables(folder, results, is_private=not is_public)}


def write_figures(session: Session, study: Study, results: StudyResults, folder: Path) -> str:
    """Write every figure and the tables of a paper into a folder; return its path.

    Raises:
        SettingsError: matplotlib is not installed, or the folder holds something else.
        StoreError: It cannot be written.
    """
    drawn = (file for figure in figures_of(results) for file in figure_files(results, figure))
    first = first_line(results)
    said = (*first, *((results.judge_notice,) if results.judge_notice else ()))
    comment = "".join(f"% {line}\n" for line in first)
    texts = {
        f"{name}.tex": comment + latex(replace(table, notes=(*table.notes, *said)), name)
        for name, table in paper_tables(results).items()
    }
    texts |= {"captions.txt": captions(results)}
    files = chain(drawn, ((name, text.encode()) for name, text in texts.items()))
    n_files = FILES_A_FIGURE * len(figures_of(results)) + len(texts)
    write_folder(session.tell, study.id, folder, files, label="figures", n_files=n_files)
    return str(folder)


def whose_texts(made: Provenance) -> str:
    """Say whose the dialogues of a study are."""
    if set(made.consent_bases) <= {STARTER_BASIS}:
        return (
            "The dialogues were written by a language model for this project; no real person is in"
            " them."
        )
    bases = [basis.rstrip(".") for basis in made.consent_bases if basis != NO_CONSENT]
    if NO_CONSENT in made.consent_bases:
        bases.append("nobody stated who wrote the dialogues, nor why they may be used")
    known = [one for one in made.licences if one.lower() not in {NOT_STATED, NOT_PUBLIC}]
    licences = f" ({'; '.join(known)})" if known else ""
    return f"Texts of {made.item_source}{licences}: {'; '.join(bases)}."


def _kept_private(made: Provenance, study_file: str) -> str:
    """Say that the dialogues of others are not to be published, and how to do without them."""
    if set(made.consent_bases) <= {STARTER_BASIS}:
        return ""
    return f" They are {NOT_PUBLIC}; a page without them: heart report {study_file} --public."


def _write_tables(folder: Path, results: StudyResults, *, is_private: bool) -> dict[str, str]:
    """Write the tables that have changed, and take away those that are no more."""
    texts = {f"{name}.csv": table.csv() for name, table in all_tables(results).items()}
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be made ({error.strerror})") from error
    present = {path.name: path for path in folder.glob("*.csv")}
    for name, text in texts.items():
        is_as_was = name in present and present[name].read_bytes() == text.encode()
        if not is_as_was or (is_private and present[name].stat().st_mode & 0o077):
            write_whole(folder / name, text, outlasts_power=False, is_private=is_private)
    for name in (*TABLES, *(name for section in results.sections for name in section.TABLES)):
        if f"{name}.csv" in present and f"{name}.csv" not in texts:
            present[f"{name}.csv"].unlink()
    return {name.removesuffix(".csv"): str(folder / name) for name in texts}


def _path(session: Session, suffix: str) -> Path:
    return session.settings.file.parent / f"{session.settings.name}.{suffix}"
