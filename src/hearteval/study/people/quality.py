"""Rules over what people answered, and who is left out of a study's numbers by them or by hand."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from hearteval.analysis.data import PeopleQuality, StudyData
from hearteval.analysis.judgments import TIE, Judgments, judgment_columns
from hearteval.analysis.packed.pairs import Pairs, pairs_of
from hearteval.analysis.quality.answers import answers_of_people
from hearteval.analysis.quality.panel import to_panel
from hearteval.analysis.quality.rules import Finding, apply_rules, found_of
from hearteval.domain import (
    Completion,
    Item,
    Pair,
    Rater,
    Rating,
    Study,
    System,
    content_hash,
    shows_text,
)
from hearteval.domain.quality import Counted, Exclusion
from hearteval.errors import SettingsError, StoreError
from hearteval.sections.quality.words import LATE, finding_words
from hearteval.study.people.checks import stored_checks
from hearteval.study.release.loading import is_release
from hearteval.study.session import Session, is_rated

NO_RULES = (
    "has no [people.quality], so no rule was fixed beforehand by which anybody is left out; add"
    " the section before people answer, or decide by hand: heart people exclude"
)


def read_quality(
    session: Session,
    study: Study,
    rows: Judgments,
    pairs: Pairs,
    seconds: Mapping[str, float | None],
) -> PeopleQuality:
    """Read what rules over people's answers need beside their judgments, and who is left out.

    `rows` are all judgments of the study, `pairs` hold what they are of, and `seconds` say how long
    people took.
    """
    store, asked = session.store, session.settings.people
    found = PeopleQuality(exclusions=tuple(store.people.exclusions(study.id)))
    if asked is not None and asked.quality is not None:
        found = replace(
            found,
            rules=asked.quality.rules,
            excludes=tuple(asked.quality.excludes),
            # A release passes on no checks of one's own, and so their hash alone.
            preregistered=_quality_of(study)
            if is_release(session.settings.file)
            else asked.quality_hash,
        )
    people = {one.id: one.name for one in store.iter(Rater, study) if one.kind == "human"}
    if not people:
        return found
    beside = answers_of_people(rows.by(people), pairs, stored_checks(store, study), seconds)
    known = {people[id_]: one for id_, one in beside.items() if id_ in people}
    words = store.people.reasons(study.id)
    return replace(
        found,
        checks={k: Counted(one.n_failed, one.n_failed + one.n_passed) for k, one in known.items()},
        repeats={k: _counted(each.is_same for each in one.repeats) for k, one in known.items()},
        triads={
            k: _counted(each.is_circular for each in one.triads if TIE not in each.winners)
            for k, one in known.items()
        },
        reasons={id_: _hash_of(one) for id_, one in words.items() if shows_text(one)},
    )


def _counted(answers: Iterable[bool | None]) -> Counted:
    known = [one for one in answers if one is not None]
    return Counted(sum(known), len(known))


def _hash_of(words: str) -> str:
    """Return a hash of the words alone, whatever stands between them."""
    return content_hash(re.findall(r"\w+", words.casefold()))[:32]


class Seen(NamedTuple):
    """What rules see of people's answers, and who is left out."""

    findings: tuple[Finding, ...]
    """Of everybody, by every rule."""
    quality: PeopleQuality

    @property
    def found(self) -> Mapping[str, tuple[Finding, ...]]:
        """What was found, by pseudonym; of most people that is nothing."""
        return found_of(self.findings)

    @property
    def to_leave_out(self) -> Mapping[str, tuple[Finding, ...]]:
        """Whom the study's own rules leave out who is neither out nor was let back in."""
        known = {one.person for one in self.quality.exclusions}
        by_rules = {
            name: tuple(one for one in own if one.rule in self.quality.excludes)
            for name, own in self.found.items()
            if name not in known
        }
        return {name: own for name, own in by_rules.items() if own}


def look_at_answers(session: Session, study: Study) -> Seen:
    """Set everybody's answers against the rules; it reads no more than they need."""
    store = session.store
    raters = [one for one in store.iter(Rater, study) if one.kind == "human"]
    people = {one.id for one in raters}
    rows = judgment_columns(store.judgment_table(study, of_people=True))
    pairs = pairs_of(store.find(Pair, sorted(rows.pair.present)))
    seconds = store.people.seconds(study.id)
    data = StudyData(
        items=list(store.iter(Item, study)),
        systems=list(store.iter(System, study)),
        raters=raters,
        completions=list(store.iter(Completion, study)),
        pairs=pairs,
        judgments=rows,
        ratings=[one for one in store.iter(Rating, study) if one.rater_id in people],
        targets=[] if is_rated(study) else None,
        seconds=seconds,
        quality=read_quality(session, study, rows, pairs, seconds),
    ).of_members()
    return Seen(apply_rules(to_panel(data), data.quality.rules), data.quality)


def leave_out_by_rules(session: Session, study: Study, seen: Seen, *, by: str) -> list[Exclusion]:
    """Leave out whom the study's own rules find; return the records that were made.

    Whoever was let back in stays in: that was decided after the rule had spoken.

    Raises:
        SettingsError: The study file has no rules of its own.
    """
    if seen.quality.preregistered is None:
        raise SettingsError(f"{session.settings.file}: {NO_RULES}", ids=("people.quality",))
    made = []
    late = [] if _were_fixed_before(session, study, seen.quality.preregistered) else [LATE]
    for name, own in seen.to_leave_out.items():
        record = Exclusion(
            person=name,
            is_excluded=True,
            rules=tuple(one.rule for one in own),
            why="; ".join([*(f"{one.rule}: {finding_words(one)}" for one in own), *late]),
            by=by,
            at=session.now(),
        )
        if session.store.people.exclude(study.id, record):
            made.append(record)
    return made


def _were_fixed_before(session: Session, study: Study, hash_: str) -> bool:
    """Say whether a version of the study had these rules before anybody judged."""
    first = session.store.people.first_answer(study.id)
    versions = session.store.iter(Study, study)
    fixed = [one.created_at for one in versions if _quality_of(one) == hash_]
    return first is None or any(at <= first for at in fixed)


def _quality_of(version: Study) -> str | None:
    found: str | None = version.design.get("people", {}).get("quality")
    return found


def decide_by_hand(
    session: Session, study: Study, name: str, *, is_excluded: bool, why: str, by: str
) -> bool:
    """Leave somebody out of a study's numbers, or let them back in; say whether that is new.

    Raises:
        SettingsError: There is no reason in words.
        StoreError: Nobody in the study is called so.
    """
    if not shows_text(why):
        raise SettingsError("say why in words (--why): it is kept with who decided it, and when")
    store = session.store
    people = {one.name for one in store.people.people(study.id)}
    people |= {one.name for one in store.iter(Rater, study) if one.kind == "human"}
    if name not in people:
        raise StoreError(
            f"nobody in the study {study.name!r} is called {name!r}; `heart people quality` lists"
            " who answered"
        )
    record = Exclusion(
        person=name, is_excluded=is_excluded, why=why.strip(), by=by, at=session.now()
    )
    return store.people.exclude(study.id, record)
