"""What a study holds and has found: read as one bundle or as plain columns, and analyzed."""

import json
import platform
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

import numpy as np
import scipy
import sqlalchemy

from hearteval.analysis.calls import CallSum, Spending, sum_spending
from hearteval.analysis.data import (
    ContinuedBoard,
    LabelRow,
    Provenance,
    ReasonRow,
    StudyData,
    TaxonomyLabels,
    withdrawn_pairs,
)
from hearteval.analysis.judges.same_model import warn_of_same_models
from hearteval.analysis.judgments import NO_JUDGMENTS, Judgments, judgment_columns
from hearteval.analysis.labels import RATIONALES
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.analysis.section import Section
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.domain import (
    AXES,
    Assignment,
    Attempt,
    Completion,
    Item,
    Judgment,
    LatencyProbe,
    Pair,
    Rater,
    Rating,
    Study,
    System,
    SystemKind,
    display_form,
)
from hearteval.domain.quality import excluded_now
from hearteval.exchange.covariates import read_covariates
from hearteval.items.esconv import CONSENT_BASIS
from hearteval.judgments.calibration import calibration_study_id, keyed_examples
from hearteval.judgments.drift import drift_study_id
from hearteval.judgments.form import rubric_of
from hearteval.judgments.halo import halo_study_id
from hearteval.judgments.plan.pairs import count_identical
from hearteval.judgments.plan.run import plan_ratings
from hearteval.judgments.stress_set.audit import audit_study_id
from hearteval.labels.safety import SAFETY
from hearteval.labels.taxonomy import TAXONOMIES, load_taxonomy
from hearteval.labels.texts import reasons_text
from hearteval.notices import Notice
from hearteval.sections import SECTIONS
from hearteval.store.sharing.panel import Panel
from hearteval.study.people.background import told_of
from hearteval.study.people.quality import read_quality
from hearteval.study.report.screened import read_screened
from hearteval.study.session import (
    Session,
    count_pilot,
    is_rated,
    stored_plan,
    uncollected,
)
from hearteval.version import __version__

STARTER_BASIS = "Written for hearteval by a language model; no real person"
WRITERS = {CONSENT_BASIS: "people", STARTER_BASIS: "model"}
"""Who wrote the replies that items hold, where their consent basis is one of ours."""

SHOWN: Mapping[SystemKind, str] = {
    "human": "by people",
    "model": "by models",
    "original": "recorded in the items",
    "baseline": "by baselines",
}
"""What is said of the replies of a kind of system."""


def analyze(
    session: Session, study: Study, *, sections: Sequence[type[Section[Any]]] = SECTIONS
) -> StudyResults:
    """Compute the results from what is stored."""
    fail_on_missing = session.settings.fail_on_missing
    with uncollected():
        return analyze_study(
            read_data(session, study),
            fail_on_missing=fail_on_missing,
            weights=session.settings.score_weights,
            ambiguity=session.settings.ambiguity,
            headline=session.settings.headline,
            assume_random=session.settings.assume_random,
            mine=session.settings.mine,
            against=session.settings.against,
            sections=sections,
        )


def read_data(session: Session, study: Study) -> StudyData:
    """Read all that an analysis may know of a study."""
    store = session.store
    items, completions = list(store.iter(Item, study)), list(store.iter(Completion, study))
    systems = list(store.iter(System, study))
    stress = {system.id for system in systems if system.kind == "stress"}
    ranked = [c for c in completions if c.system_id not in stress]
    targets = plan_ratings(store, study, stored_plan(study)).targets if is_rated(study) else None
    open_ones = list(store.unjudged(study, is_checked=True))
    pairs, ratings = pairs_of(store.iter(Pair, study)), list(store.iter(Rating, study))
    judgments = judgment_columns(store.judgment_table(study), pairs.ids)
    seconds = store.people.seconds(study.id)
    # Nobody is asked any more about what was withdrawn.
    gone = withdrawn_pairs(pairs, completions)
    open_ones = [a for a in open_ones if a.pair_id not in gone]
    labels = stored_labels(session, study)
    screened, screens = read_screened(store, study, ranked)
    # People who have written or reviewed only are no raters of this study.
    who = {*judgments.rater.present, *(rating.rater_id for rating in ratings)}
    return StudyData(
        items=items,
        systems=systems,
        raters=[r for r in store.iter(Rater, study) if r.kind == "llm" or r.id in who],
        completions=completions,
        attempts=list(store.iter(Attempt, study)),
        pairs=pairs,
        judgments=judgments,
        unjudged=_still_open(open_ones, judgments),
        audit=stored_audit(session, study),
        halo=stored_halo(session, study),
        board=stored_board(session, study, judgments),
        calibration=stored_calibration(session, study),
        labels=labels,
        reasons=_reasons(session, labels),
        screened=screened,
        screens=screens,
        exclude_own_family=study.design["exclude_own_family"],
        asks_people_axes=study.design.get("people", {}).get("axis_marks", False),
        targets=targets,
        ratings=ratings,
        seconds=seconds,
        display="raw" if study.is_simulated else study.display,
        n_identical=count_identical(ranked, display=study.display),
        funnel=study.design["items"]["funnel"],
        latency=list(store.iter(LatencyProbe, study)),
        covariates=read_covariates(session.settings.covariates),
        calls=read_calls(session, study),
        spent_usd=store.spent_usd(),
        in_flight=Panel(store).look_around().in_flight,
        provenance=_provenance(session, study, items, shown=_shown_words(study, systems, ranked)),
        **_told(session, study),
        people_per_pair=_people_per_pair(study),
        people_edges=_people_edges(study),
        pairs_of_people=store.people.targets(study.id, "judge"),
        quality=read_quality(session, study, judgments, pairs, seconds),
    )


def _told(session: Session, study: Study) -> dict[str, Any]:
    """Return what is known of people, by pseudonym, and of how many a number is shown at least."""
    people, asked = session.store.people.people(study.id), session.settings.people
    known = {
        "writer_groups": {one.name: one.group for one in people if one.group is not None},
        "background": {one.name: told for one in people if (told := told_of(one))},
    }
    return known if asked is None else {**known, "smallest_group": asked.smallest_group}


def _people_per_pair(study: Study) -> int | None:
    """Return how many people are to judge each pair; None where nobody is asked to."""
    if is_rated(study):
        return None
    asked = study.design.get("people", {}).get("raters_per_pair", 0)
    return asked or None


def _people_edges(study: Study) -> list[str] | None:
    """Return with which edges people are shown items; None where they are asked nothing."""
    asked = study.design.get("people")
    return None if not asked or study.is_simulated else list(asked.get("edge", ()))


def read_spending(session: Session, study: Study) -> Spending:
    """Read which models a study has asked, and at what cost."""
    store = session.store
    return sum_spending(
        [system for system in store.iter(System, study) if system.kind != "stress"],
        list(store.iter(Rater, study)),
        read_calls(session, study),
        total_usd=store.spent_usd(),
        made=session.now().isoformat(),
    )


def read_same_models(session: Session, study: Study) -> list[Notice]:
    """Read which models a study has asked under two names; see `warn_of_same_models`."""
    store = session.store
    systems = [system for system in store.iter(System, study) if system.kind != "stress"]
    judges = [rater for rater in store.iter(Rater, study) if rater.kind == "llm"]
    return warn_of_same_models(systems, judges, read_calls(session, study))


def read_calls(session: Session, study: Study) -> list[CallSum]:
    """Read the sums of a study's calls, and of the audit of its judges."""
    audit = session.store.latest_study(audit_study_id(study))
    sums = [CallSum(**row) for row in session.store.call_sums(study)]
    if audit is not None:
        found = (CallSum(**row) for row in session.store.call_sums(audit))
        sums += [one._replace(step="audit") for one in found if one.step == "judgments"]
    return sums


def stored_audit(session: Session, study: Study) -> StudyData | None:
    """Read what the audit of a study's judges has stored; None where there was none."""
    store = session.store
    audit = store.latest_study(audit_study_id(study))
    if audit is None:
        return None
    open_ones, judgments = (
        list(store.unjudged(audit, is_checked=True)),
        read_judgments(session, audit),
    )
    return StudyData(
        systems=list(store.iter(System, audit)),
        pairs=pairs_of(store.iter(Pair, audit)),
        attempts=list(store.iter(Attempt, audit)),
        judgments=judgments,
        unjudged=_still_open(open_ones, judgments),
    )


def stored_halo(session: Session, study: Study) -> StudyData | None:
    """Read what the halo ablation of a study's judges has stored; None where there was none."""
    store = session.store
    halo = store.latest_study(halo_study_id(study))
    if halo is None:
        return None
    open_ones, judgments = (
        list(store.unjudged(halo, is_checked=True)),
        read_judgments(session, halo),
    )
    return StudyData(
        raters=list(store.iter(Rater, halo)),
        attempts=list(store.iter(Attempt, halo)),
        judgments=judgments,
        unjudged=_still_open(open_ones, judgments),
    )


def stored_calibration(session: Session, study: Study) -> StudyData | None:
    """Read the scores of keyed examples beside a study; None where nobody gave any."""
    store = session.store
    calibration = store.latest_study(calibration_study_id(study))
    if calibration is None:
        return None
    examples = keyed_examples(session.now())
    # Judges are members of the one, people take part in the other.
    people = [rater for rater in store.iter(Rater, study) if rater.kind == "human"]
    return StudyData(
        items=examples.items,
        raters=[*store.iter(Rater, calibration), *people],
        completions=examples.completions,
        ratings=list(store.iter(Rating, calibration)),
        keys=examples.keys,
    )


def stored_board(session: Session, study: Study, judgments: Judgments) -> ContinuedBoard | None:
    """Read which verdicts of a continued board came when, and what judges were asked again."""
    if not study.pool:
        return None
    store = session.store
    days = {
        one.assignment_id: one.created_at.date().isoformat() for one in store.iter(Judgment, study)
    }
    came: defaultdict[str, list[str]] = defaultdict(list)
    for row in judgments:
        is_old = row.is_among(study.pool)
        for system_id in (row.first_system_id, row.second_system_id):
            if is_old or system_id not in study.pool:
                came[system_id].append(days[row.assignment_id])
    drift = store.latest_study(drift_study_id(study))
    again = read_judgments(session, drift) if drift else NO_JUDGMENTS
    return ContinuedBoard(
        release=study.design["pool"]["release"],
        pool=study.pool,
        measured={id_: (len(own), min(own), max(own)) for id_, own in came.items()},
        again=again.select(again.repeat == study.pool_version),
    )


def stored_labels(session: Session, study: Study) -> tuple[TaxonomyLabels, ...]:
    """Read what texts were labelled by: what people said, and labelers of this version."""
    labels: defaultdict[str, list[LabelRow]] = defaultdict(list)
    for batch in session.store.label_table(study):
        rows = map(LabelRow._make, zip(*(batch[name] for name in LabelRow._fields), strict=True))
        for taxonomy, row in zip(batch["taxonomy"], rows, strict=True):
            labels[taxonomy].append(row)
    # What screens say is no label of what a text does: see `hearteval.study.report.screened`.
    names = [name for name in TAXONOMIES if name != SAFETY]
    who = {row.rater_id for name in names for row in labels[name]}
    if not who:
        return ()
    raters = session.store.find(Rater, sorted(who))
    people = {rater.id for rater in raters if rater.kind == "human"}
    asked = session.settings.people_labels
    found = []
    for taxonomy in map(load_taxonomy, names):
        own = {rater.id: rater for rater in raters if taxonomy.is_of(rater)}
        read = {row.text_id for row in labels[taxonomy.name] if row.rater_id in people}
        version = taxonomy.label_version
        said = session.store.labels_by_people(taxonomy.name, sorted(read), version=version)
        found.append(
            TaxonomyLabels(
                taxonomy=taxonomy.name,
                version=taxonomy.version,
                label_version=version,
                title=taxonomy.title,
                categories={one.key: one.name for one in taxonomy.categories},
                labelers=list(own.values()),
                labels=[label for label in labels[taxonomy.name] if label.rater_id in own],
                axes={one.key: one.axis for one in taxonomy.categories if one.axis},
                people=[
                    LabelRow(one.text_id, one.category, one.verdict, one.rater_id, one.score)
                    for one in said
                ],
                per_text=1 if asked is None else asked.per_text,
            )
        )
    return tuple(found)


def _reasons(session: Session, labels: Sequence[TaxonomyLabels]) -> dict[str, ReasonRow]:
    """Read how long the reasons are that are labelled by their themes."""
    ids = {
        row.text_id
        for one in labels
        if one.taxonomy == RATIONALES
        for row in (*one.labels, *one.people)
    }
    return {
        one.id: ReasonRow(one.assignment_id, len(reasons_text(one).split()))
        for one in session.store.find(Judgment, sorted(ids))
    }


def _still_open(open_ones: Sequence[Assignment], judgments: Judgments) -> list[Assignment]:
    """Return what was open before judgments were read, and is not among them."""
    ids = [one.id for one in open_ones]
    answered = {*judgments.select(judgments.is_of(ids)).assignment}
    return [one for one in open_ones if one.id not in answered]


def read_judgments(session: Session, *studies: Study) -> Judgments:
    """Read the judgments of some studies."""
    return judgment_columns(
        batch for study in studies for batch in session.store.judgment_table(study)
    )


def read_votes(session: Session, study: Study) -> Judgments:
    """Read the judgments of a study that count: without those of people who are left out."""
    judgments = read_judgments(session, study)
    return judgments.select(~judgments.rater.is_in(left_out(session, study)))


def left_out(session: Session, study: Study) -> frozenset[str]:
    """Return the ids of the raters who are left out of a study's numbers."""
    names = excluded_now(session.store.people.exclusions(study.id))
    people = session.store.iter(Rater, study) if names else ()
    return frozenset(one.id for one in people if one.kind == "human" and one.name in names)


def _shown_words(study: Study, systems: Sequence[System], texts: Sequence[Completion]) -> str:
    """Say in which form replies were shown, and how many it changed, by kind of system."""
    if study.display == "raw" or study.is_simulated:
        return ""
    kinds = {system.id: system.kind for system in systems}
    there = [text for text in texts if not text.is_withdrawn]
    n = Counter(kinds[text.system_id] for text in there)
    n_changed = Counter(
        kinds[text.system_id]
        for text in there
        if display_form(text.text, study.display) != text.text
    )
    of_kinds = (
        f"{n_changed[kind]} of {n[kind]} {words}" for kind, words in SHOWN.items() if n[kind]
    )
    return f"; replies shown in one plain form, which changed {', '.join(of_kinds)}"


def _provenance(session: Session, study: Study, items: Sequence[Item], *, shown: str) -> Provenance:
    design = study.design
    pairs = {
        "full": "every pair",
        "balanced": f"{design['comparisons']} balanced pairs",
        "newcomers": f"of newcomers {design.get('opponents')} opponents a reply",
    }[design["design"]]
    orders = "both orders" if design["both_orders"] else "one order each"
    asked = "every reply by itself" if is_rated(study) else f"{pairs}, {orders}"
    own = "left out" if design["exclude_own_family"] else "allowed"
    rubrics = {rubric_of(one.settings) for one in session.store.iter(Rater, study)}
    return Provenance(
        study=study.name,
        study_id=study.id,
        version=study.version,
        seed=study.seed,
        items_hash=study.items_hash,
        settings_hash=study.settings_hash,
        simulated=study.is_simulated,
        data_hash=session.store.data_hash(),
        item_source=design["items"]["source"],
        licences=tuple(sorted({item.licence for item in items})),
        consent_bases=tuple(sorted({item.consent_basis for item in items})),
        design=f"{asked}, judges of a system's own family {own}{shown}",
        protocols=dict(study.protocols),
        protocol_version=study.protocol_version,
        software={
            "hearteval": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "sqlalchemy": sqlalchemy.__version__,
        },
        created_at=session.now().isoformat(timespec="seconds"),
        recorded_by=recorded_by(items),
        rubrics=tuple(sorted(filter(None, rubrics))),
        n_pilot=count_pilot(session.settings),
    )


def recorded_by(items: Sequence[Item]) -> str | None:
    """Return who wrote the replies that the items hold, where it is known of all of them."""
    writers = {WRITERS.get(item.consent_basis) for item in items if item.reference is not None}
    return writers.pop() if len(writers) == 1 else None


Columns = dict[str, list[Any]]
"""Values by column, all of one length."""
Frame = Item | Completion | Judgment | Rating | Attempt
PLAIN = (str, int, float, datetime, type(None))
OF_A_CALL = ("finish_reason", "cost", "cached")


def read_columns(session: Session, study: Study, kind: type[Frame]) -> Columns:
    """Read the records of one kind about what a version names, a row each, in their order."""
    records = _of_version(session, study, kind)
    columns: Columns = {f"{kind.__name__.lower()}_id": [record.id for record in records]}
    for each in fields(kind):
        if each.name != "id":
            columns |= _spread(each.name, [getattr(record, each.name) for record in records])
    if kind is Item:
        return columns
    completions = {one.id: one for one in session.store.iter(Completion, study)}
    if kind is Judgment:
        columns |= _assigned(session, study, columns)
    elif kind is Rating:
        rated = [completions[id_] for id_ in columns["completion_id"]]
        columns |= {"item_id": [one.item_id for one in rated]}
        columns |= {"system_id": [one.system_id for one in rated]}
    columns |= _named(session, study, columns)
    if "rater_id" in columns:
        out = left_out(session, study)
        columns["is_left_out"] = [id_ in out for id_ in columns["rater_id"]]
    if kind is Judgment:
        systems = {one.id: one for one in session.store.iter(System, study)}
        by_completion = {id_: systems[one.system_id] for id_, one in completions.items()}
        columns |= _compared(columns, by_completion)
    return columns


def _of_version(session: Session, study: Study, kind: type[Frame]) -> list[Any]:
    """Return a study's records; judgments and ratings without those of what other versions name."""
    store = session.store
    records: list[Any] = list(store.iter(kind, study))
    if kind not in (Judgment, Rating):
        return records
    raters = {rater.id for rater in store.iter(Rater, study)}
    texts = {completion.id for completion in store.iter(Completion, study)}
    if kind is Rating:
        return [one for one in records if one.rater_id in raters and one.completion_id in texts]
    pairs = {pair.id for pair in store.iter(Pair, study) if texts.issuperset(pair.completion_ids)}
    asked = {
        assignment.id
        for assignment in store.iter(Assignment, study)
        if assignment.rater_id in raters and assignment.pair_id in pairs
    }
    return [one for one in records if one.assignment_id in asked]


def _spread(name: str, values: Sequence[Any]) -> Columns:
    if name == "raw":
        return {}
    if name == "call":
        return {part: [getattr(call, part) for call in values] for part in OF_A_CALL}
    if name == "axes":
        marks = {axis: [axes.get(axis) for axes in values] for axis in AXES}
        return {axis: [getattr(at, "choice", at) for at in marks[axis]] for axis in AXES}
    return {name: [v if isinstance(v, PLAIN) else _as_json(v) for v in values]}


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_as_dict)


def _as_dict(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else asdict(value)


def _assigned(session: Session, study: Study, columns: Columns) -> Columns:
    """Return what the assignments of judgments say: who was shown what, and what first."""
    by_id = {one.id: one for one in session.store.iter(Assignment, study)}
    pairs = {pair.id: pair for pair in session.store.iter(Pair, study)}
    assignments = [by_id[id_] for id_ in columns["assignment_id"]]
    shown = [(one.first_completion_id, pairs[one.pair_id].completion_ids) for one in assignments]
    return {
        "item_id": [pairs[one.pair_id].item_id for one in assignments],
        "rater_id": [one.rater_id for one in assignments],
        "repeat": [one.repeat for one in assignments],
        "first_completion_id": [first for first, _ in shown],
        "second_completion_id": [b if first == a else a for first, (a, b) in shown],
    }


def _named(session: Session, study: Study, columns: Columns) -> Columns:
    """Return the names of systems and raters, and the kind of systems: ``stress`` is not ranked."""
    systems = {system.id: system for system in session.store.iter(System, study)}
    raters = {rater.id: rater for rater in session.store.iter(Rater, study)}
    named: Columns = {}
    if "system_id" in columns:
        found = [systems.get(id_) for id_ in columns["system_id"]]
        named["system"] = [None if system is None else system.name for system in found]
        named["kind"] = [None if system is None else system.kind for system in found]
    if "rater_id" in columns:
        who = [raters.get(id_) for id_ in columns["rater_id"]]
        named["rater"] = [None if rater is None else rater.name for rater in who]
        named["rater_kind"] = [None if rater is None else rater.kind for rater in who]
    return named


def _compared(columns: Columns, by_completion: Mapping[str, System]) -> Columns:
    """Return the two systems that each judgment compares and the winner, by name, or ``tie``."""
    first = [by_completion[id_] for id_ in columns["first_completion_id"]]
    second = [by_completion[id_] for id_ in columns["second_completion_id"]]
    pairs = list(zip(first, second, strict=True))
    names = [{"first": a.name, "second": b.name, "tie": "tie"} for a, b in pairs]
    return {
        "first": [a.name for a in first],
        "second": [b.name for b in second],
        "winner": [each[choice] for each, choice in zip(names, columns["choice"], strict=True)],
        "is_stress": ["stress" in (a.kind, b.kind) for a, b in pairs],
    }
