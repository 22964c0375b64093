"""Releases -> the public board: a static site of one or several studies.

Every release is held against itself first, and only read. Of several releases of one study the
newest is shown, and the others are its history.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from hearteval.analysis.examples import Example, choose_examples
from hearteval.analysis.study import StudyResults, without_words
from hearteval.domain import LEFT_OUT, WITHDRAWN, Rater, Study, System
from hearteval.errors import SettingsError, StoreError
from hearteval.exchange.release import MANIFEST, Manifest, read_manifest
from hearteval.models.presets import ModelPreset, find_preset, load_model_presets
from hearteval.models.prices import price_per_million
from hearteval.report.board.board import (
    MODEL,
    Board,
    Competitor,
    Edition,
    Fate,
    Judged,
    LeftOut,
    has_people,
    placed,
)
from hearteval.report.board.pages import n_files, site_pages
from hearteval.report.page.links import INDEX, system_page
from hearteval.report.page.replies import Reading
from hearteval.report.text import plural
from hearteval.sections import SECTIONS
from hearteval.sections.axes.weighed import Weighed
from hearteval.sections.judges import Judges
from hearteval.sections.judges.words import audit_words
from hearteval.study import Tell
from hearteval.study.asking.models import tariff_of
from hearteval.study.grow import system_models
from hearteval.study.release.verify import Verified, verify_release
from hearteval.study.report.folders import SITE, require_own_folder, write_folder
from hearteval.study.report.reading import read_examples
from hearteval.study.report.write import whose_texts
from hearteval.study.results import analyze, read_votes
from hearteval.study.session import Session, opened_release

MOST_READ = 4
"""Dialogues that a page shows of those which its system won, and of those which it lost."""
MOST_NAMED = 3


def make_site(
    folders: Sequence[Path], out: Path, tell: Tell, *, allows_no_people: bool = False
) -> list[Board]:
    """Write the boards of releases into a folder of their own, as pages that need no server.

    Args:
        folders: Releases, of one study or of several.
        out: A new or empty folder, or an earlier site, which is replaced.
        tell: Is told how far it is.
        allows_no_people: Whether a board may do without people's replies, which it says first.

    Raises:
        SettingsError: A folder holds no release, or `out` something else; or a board has no people.
        StoreError: A release is not as it was made, or the site cannot be written.
    """
    _require_apart(folders, out)
    require_own_folder(out, SITE)
    there = {read_manifest(one).id: one for one in folders}  # before any is checked, at length
    of_all = _by_board([_held(one, tell, there) for one in folders])
    if not allows_no_people:
        for releases in of_all:
            _require_people(releases[0])
    names = Counter(releases[0].manifest.name.lower() for releases in of_all)
    boards = []
    for releases in of_all:
        made = releases[0].manifest
        key = made.name if names[made.name.lower()] == 1 else f"{made.name}-{made.study_id[:6]}"
        page = f"{key}-board.html" if len(of_all) > 1 else INDEX
        boards.append(_board(releases, tell, key=key, page=page))
    files = ((name, text.encode()) for name, text in site_pages(boards))
    write_folder(tell, SITE, out, files, label="pages", n_files=n_files(boards), is_private=False)
    return boards


def _require_apart(folders: Iterable[Path], out: Path) -> None:
    """Let a site stand in no release, which would not be as it was made any more."""
    where = out.resolve()
    for folder in folders:
        if where.is_relative_to(folder.resolve()) and (folder / MANIFEST).is_file():
            raise SettingsError(
                f"{out}: lies in the release {folder}, which is only read; name another folder"
            )


def _held(folder: Path, tell: Tell, there: Mapping[str, Path]) -> Verified:
    """Check a release, and that it keeps what it continues, where that is there too.

    Tables of an older version may be computed otherwise by this one: the page then says so.
    """
    before = there.get(read_manifest(folder).previous or "")
    found = verify_release(folder, tell, before=before)
    faults = [one for one in found.faults if one not in found.otherwise]
    if faults or found.results is None:
        first = "; ".join(f"{one.where} {one.words}" for one in faults[:MOST_NAMED])
        raise StoreError(
            f"{folder}: is not as it was released, so no board is made of it: {first}; see heart"
            f" verify {folder}"
        )
    if found.manifest.simulated:
        raise StoreError(f"{folder}: is simulated, and no board is made of it")
    return found


def _require_people(found: Verified) -> None:
    if found.results is None or not has_people(found.results):
        raise SettingsError(
            f"{found.folder}: no person's replies are on this board, so nothing on it says how good"
            " an answer people give; have people write (docs/how-to/people.md), or say --no-people,"
            " which the board then says first"
        )


def _by_board(found: Sequence[Verified]) -> list[list[Verified]]:
    """Return the releases of each board, the newest first; boards in the order they were named.

    Releases of one study are one board, and so is one that continues another.
    """
    known = {one.manifest.id: one for one in found}
    boards: list[list[Verified]] = []
    for one in known.values():
        is_same = [
            any(_is_kin(one.manifest, other.manifest) for other in board) for board in boards
        ]
        joined = [
            each for board, is_of in zip(boards, is_same, strict=True) if is_of for each in board
        ]
        place = is_same.index(True) if joined else len(boards)
        boards = [board for board, is_of in zip(boards, is_same, strict=True) if not is_of]
        boards.insert(place, [*joined, one])
    return [sorted(board, key=_age, reverse=True) for board in boards]


def _is_kin(one: Manifest, other: Manifest) -> bool:
    return one.study_id == other.study_id or one.previous == other.id or other.previous == one.id


def _age(one: Verified) -> tuple[datetime, int]:
    return datetime.fromisoformat(one.manifest.created_at), one.manifest.study_version


def _board(releases: Sequence[Verified], tell: Tell, *, key: str, page: str) -> Board:
    """Compute a board from its newest release, the others beside."""
    newest = releases[0]
    with opened_release(newest.folder, tell) as (session, study):
        with tell.progress("weighing the axes"):
            results = without_words(analyze(session, study, sections=(*SECTIONS, Weighed)))
        if not placed(results):
            raise StoreError(
                f"{newest.folder}: there is no ranking to show: {results.leaderboard_problem}"
            )
        known = _competitors(session, study, results, newest.manifest, key)
        won, lost = _fates(session, study, known)
        weighed = results.found(Weighed)
        return Board(
            results=results,
            page=page,
            report_page=f"{key}-report.html",
            competitors=known,
            editions=[_edition(one) for one in releases],
            weighed=weighed,
            reaches=weighed.reaches(seed=study.seed) if weighed else {},
            judges=_judges(results),
            own_family=not study.design["exclude_own_family"],
            won=won,
            lost=lost,
            notice=whose_texts(results.provenance),
        )


def _edition(found: Verified) -> Edition:
    made, results = found.manifest, found.results
    assert results is not None
    return Edition(
        id=made.id,
        version=made.study_version,
        heart_version=made.heart_version,
        made=made.created_at[:10],
        previous=made.previous,
        placed={one.system: one for one in placed(results)},
        n_files=len(made.files),
        n_records=sum(made.n_records.values()),
        n_tables=found.n_tables,
        n_otherwise=len(found.otherwise),
    )


def _competitors(
    session: Session, study: Study, results: StudyResults, made: Manifest, key: str
) -> dict[str, Competitor]:
    """Return what is known of every system with a place."""
    names = {one.system for one in placed(results)}
    models, when = system_models(session.settings), datetime.fromisoformat(made.created_at)
    found = {}
    for one in session.store.iter(System, study):
        if one.name not in names:
            continue
        preset, model = _preset(one), models.get(one.id)
        price = price_per_million(tariff_of(model), when=when) if model else None
        page = f"{key}-{system_page(one.name)}"
        found[one.name] = Competitor(
            system=one.name,
            kind=one.kind,
            family=one.family,
            page=page,
            badge=page.replace(".html", ".svg"),
            has_open_weights=preset.open_weights if preset else None,
            price=(price.input_usd, price.output_usd) if price else None,
        )
    return found


def _preset(system: System) -> ModelPreset | None:
    """Return what is known of the model of a system, by its preset or its id."""
    known = load_model_presets()
    if system.kind != MODEL:
        return None
    name = system.settings.get("preset") or system.settings.get("model", "")
    return known.get(name) or find_preset(name)


def _judges(results: StudyResults) -> list[Judged]:
    """Return what the audits say of each judge, and how many people judged."""
    section = results.sections.get(Judges)
    assert isinstance(section, Judges)
    half = section.found.half_tested if section.found else ()
    audits = {one.judge: one for one in section.audits}
    found = [
        Judged(
            one.judge,
            one.family,
            audit_words(one, is_half_tested=one.judge in half),
        )
        for one in audits.values()
    ]
    found += [
        Judged(one.rater, "", "Not tested.") for one in section.panel if one.rater not in audits
    ]
    n_people = sum(one.kind == "human" and one.n_judged > 0 for one in section.raters)
    if n_people:
        said = "They did not know who wrote what."
        found.append(Judged(plural(n_people, "person", "people"), "", said))
    return found


def _fates(
    session: Session, study: Study, known: Mapping[str, Competitor]
) -> tuple[dict[str, Fate], dict[str, Fate]]:
    """Return what every system won most clearly, and what it lost, each dialogue once."""
    systems, raters = session.store.iter(System, study), session.store.iter(Rater, study)
    examples = choose_examples(  # those too whose texts are left out, which a report does not show
        read_votes(session, study),
        [one for one in systems if one.name in known],
        seed=study.seed,
        people=frozenset(one.id for one in raters if one.kind == "human"),
    )
    chosen = {
        (name, is_won): _clearest(examples, name, is_won=is_won)
        for name in known
        for is_won in (True, False)
    }
    wanted = list({one.pair_id: one for of in chosen.values() for one in of}.values())
    readings = {one.example.pair_id: one for one in read_examples(session, study, wanted)}
    fates = {
        key: _fate(key[0], [readings[one.pair_id] for one in of]) for key, of in chosen.items()
    }
    won, lost = ({name: fates[name, is_won] for name in known} for is_won in (True, False))
    return won, lost


def _clearest(examples: Iterable[Example], name: str, *, is_won: bool) -> list[Example]:
    found: dict[str, Example] = {}
    own = (
        one
        for one in examples
        if one.ahead is not None and name in (one.left, one.right) and (one.ahead == name) == is_won
    )
    for one in sorted(own, key=lambda one: (-one.lead, one.contest, one.pair_id)):
        found.setdefault(one.item_id, one)
    return list(found.values())[:MOST_READ]


def _fate(name: str, readings: Sequence[Reading]) -> Fate:
    """Part what may be read from what may not be passed on."""
    left_out = [
        one
        for one in readings
        if one.item.is_left_out or not {LEFT_OUT, WITHDRAWN}.isdisjoint(one.texts)
    ]
    return Fate(
        [one for one in readings if one not in left_out],
        [
            LeftOut(
                one.item.id,
                one.item.source,
                one.example.right if one.example.left == name else one.example.left,
                one.outcome,
            )
            for one in left_out
        ],
    )
