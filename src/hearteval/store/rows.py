"""Records to table rows and back, and the SELECTs that find them: where a field is kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, AnyStr

from sqlalchemy import (
    Connection,
    Select,
    Table,
    bindparam,
    exists,
    func,
    or_,
    select,
    type_coerce,
)

from hearteval.domain import (
    Assignment,
    Attempt,
    Axis,
    AxisMark,
    Call,
    Choice,
    Completion,
    Item,
    Judgment,
    Label,
    LatencyProbe,
    Pair,
    Rater,
    Rating,
    Screening,
    Study,
    System,
    Turn,
    flat_fields,
    normalised,
    words_in,
)
from hearteval.errors import InvalidRecordError
from hearteval.store import schema
from hearteval.store.people.tables import people
from hearteval.store.records import Record, StoredReply

LOOKUP_IDS = 500
"""Ids that one query asks for at most: databases bound the number of its parameters."""
TABLES: Mapping[type[Any], Table[Any]] = {
    Item: schema.items,
    Screening: schema.screenings,
    System: schema.systems,
    Rater: schema.raters,
    Completion: schema.completions,
    Pair: schema.pairs,
    Study: schema.studies,
    Assignment: schema.assignments,
    Attempt: schema.attempts,
    Judgment: schema.judgments,
    Rating: schema.ratings,
    LatencyProbe: schema.latency_probes,
    Label: schema.labels,
}
"""Kinds in the order in which they may refer to each other: a batch is written in this order."""

MEMBER_FIELDS = {"item": "item_ids", "system": "system_ids", "rater": "rater_ids"}
"""Kind of member -> field of `Study`; kept in ``study_members``, not in the study's row."""

_CALL_FIELDS = tuple(field.name for field in fields(Call))
_CALLED = frozenset(k for k in TABLES if "call" in {field.name for field in fields(k)})


def kind_name(kind: type[Any]) -> str:
    """Return the name of a kind of record, as messages and hashes give it."""
    return kind.__name__.lower()


def to_row(record: Record) -> dict[str, Any]:
    """Return the column values of a record's own table."""
    row = flat_fields(record)
    match record:
        case Item():
            row["context"] = [[turn.role, turn.text] for turn in record.context]
        case Pair():
            row["low_completion_id"], row["high_completion_id"] = row.pop("completion_ids")
        case Study():
            for name in MEMBER_FIELDS.values():
                del row[name]
        case Judgment(raw=raw) if raw:
            if words_in(raw) == (normalised(record.reasons), record.rationale):
                row["reasons"] = row["rationale"] = None
    return row


def from_row(kind: type[Any], values: dict[str, Any]) -> Any:
    """Build the record of a kind from its column values, which this uses up."""
    values.pop("content", None)
    if kind in _CALLED:
        values["call"] = Call(**{name: values.pop(name) for name in _CALL_FIELDS})
    if kind is Item:
        values["context"] = tuple(Turn(role=role, text=words) for role, words in values["context"])
        for name in ("intensities", "edge"):
            if values[name] is not None:
                values[name] = tuple(values[name])
    elif kind is Pair:
        values["completion_ids"] = (
            values.pop("low_completion_id"),
            values.pop("high_completion_id"),
        )
        del values["low_system_id"], values["high_system_id"]
    elif kind is Judgment:
        values["axes"] = _marks_from_json(values["axes"])
        if values["reasons"] is None:
            values["reasons"], values["rationale"] = _words_of(values)
    return kind(**values)


_ASSIGNED = ("id", *(field.name for field in fields(Assignment) if field.name != "id"))
LIGHT: Mapping[type[Any], tuple[tuple[str, ...], Callable[..., Any]]] = {
    Assignment: (
        _ASSIGNED,
        lambda *values: Assignment(**dict(zip(_ASSIGNED, values, strict=True))),
    ),
    Pair: (
        ("id", "item_id", "low_completion_id", "high_completion_id"),
        lambda id_, item_id, *both: Pair(id=id_, item_id=item_id, completion_ids=both),
    ),
}
"""Kinds of ids and numbers alone, of which there are hundreds of thousands: the columns that one is
made of, the id first, and how."""


def to_reply(values: Mapping[str, Any]) -> StoredReply:
    """Build a kept reply from the columns of `reply_query`."""
    reply, text = values["reply"], values["text"]
    return StoredReply(
        id=values["id"],
        reply=reply if text is None else {**reply, "text": text},
        cost=values["cost"],
        created_at=values["created_at"],
    )


def _words_of(judgment: Mapping[str, Any]) -> tuple[Mapping[Axis, str], str]:
    found = words_in(judgment["raw"])
    if found is None:
        raise InvalidRecordError(
            f"judgment {judgment['id']}: its reasons stand in its reply, and that is no verdict; "
            "the store was changed or damaged: `heart store verify` says where",
            ids=(judgment["id"],),
        )
    return found


def _marks_from_json(axes: Mapping[str, Any]) -> dict[str, AxisMark]:
    return {axis: _mark(*mark) for axis, mark in axes.items()}


@cache
def _mark(choice: Choice, strength: int | None) -> AxisMark:
    """Return an axis mark; there are eleven."""
    return AxisMark(choice, strength)


_PLANNED = (Assignment, Rating, LatencyProbe)
"""Kinds whose records name their study."""
_ABOUT = {Screening: ("item",), Completion: ("item", "system"), LatencyProbe: ("item", "system")}
"""Kinds whose records are about members of a study."""


HOLDERS: Mapping[type[Any], str] = {
    Completion: "text",
    Judgment: "raw",
    Rating: "raw",
    Attempt: "raw",
}
"""Kinds of records that hold what a model said, and in which column."""


def reply_query() -> Select[Any]:
    """Return the query for kept replies, each with its text, wherever that stands."""
    replies, waiting = schema.replies, schema.reply_texts
    joined = replies.outerjoin(waiting, waiting.c.id == replies.c.id)
    texts: list[Any] = [waiting.c.text]
    for kind, column in HOLDERS.items():
        held = TABLES[kind].alias()
        is_here = (held.c.id == replies.c.held_by) & (replies.c.held_in == kind_name(kind))
        joined = joined.outerjoin(held, is_here)
        texts.append(held.c[column])
    text = type_coerce(func.coalesce(*texts), schema.Words).label("text")
    return select(replies, text).select_from(joined)


def study_query(kind: type[Any], study: Study) -> Select[Any]:
    """Return the query for the records of a kind that belong to a study's version.

    Of pairs it finds a page each time, those that come next after `AFTER`.
    """
    if kind is Judgment:
        a, j = schema.assignments, schema.judgments
        return select(j).join(a, a.c.id == j.c.assignment_id).where(a.c.study_id == study.id)
    return select(TABLES[kind]).where(*_belongs(kind, TABLES[kind].c, study))


def _belongs(kind: type[Any], columns: Any, study: Study) -> tuple[Any, ...]:
    """Return what holds of the records of a kind that belong to a study's version."""
    if kind is Rater:
        # People come and go within a version: whoever takes part belongs to the study.
        takes_part = exists().where(people.c.name == columns.name, people.c.study_id == study.id)
        is_person = (columns.kind == "human") & takes_part
        return (or_(_is_member(columns.id, kind_name(kind), study), is_person),)
    if kind in (Item, System):
        return (_is_member(columns.id, kind_name(kind), study),)
    if kind is Pair:
        return (is_on_page(columns.id, study),)
    if kind is Attempt:
        return (_is_attempt_of(study),)
    if kind is Label:
        return (_is_label_of(study),)
    planned = (columns.study_id == study.id,) if kind in _PLANNED else ()
    about = (_is_member(columns[f"{m}_id"], m, study) for m in _ABOUT.get(kind, ()))
    return (*planned, *about)


PAGE_ROWS = 2_000
"""Read at once; the next page begins after the last id, so memory does not grow with a study."""
AFTER = bindparam("after", "0" * 32, type_=schema.Id)
"""The id after which a page begins, where a query has to say so in its midst."""


def is_on_page(pair_id: Any, study: Study) -> Any:
    """Return what holds of the pairs of a page that a study asks of.

    Its own assignments say which these are: a store may hold the pairs of many studies.
    """
    a = schema.assignments.c
    asked = select(a.pair_id).where(a.study_id == study.id, a.pair_id > AFTER)
    return pair_id.in_(asked.distinct().order_by(a.pair_id).limit(PAGE_ROWS))


def planned_query(study: Study) -> Select[Any]:
    """Return the query for pair, rater and repeat of a study's assignments."""
    a = schema.assignments.c
    return select(a.pair_id, a.rater_id, a.repeat).where(a.study_id == study.id)


def open_query(study: Study) -> Select[Any]:
    """Return the query for the same of those that have no judgment."""
    return planned_query(study).where(_is_open())


def pairs_of_members_query(study: Study) -> Select[Any]:
    """Return the query for a study's pairs about items and systems of its version."""
    p, a = schema.pairs.c, schema.assignments.c
    about = ((p.item_id, "item"), (p.low_system_id, "system"), (p.high_system_id, "system"))
    asked = select(a.pair_id).where(a.study_id == study.id).distinct()
    return select(p.id).where(p.id.in_(asked), *(_is_member(*one, study) for one in about))


def n_pairs_query(study: Study) -> Select[Any]:
    """Return the query for how many pairs a study's assignments are about."""
    a = schema.assignments.c
    return select(func.count(a.pair_id.distinct())).where(a.study_id == study.id)


def timed_query() -> Select[Any]:
    """Return the query for assignment, seconds, time and id of people's judgments, no checks."""
    a, j = schema.assignments, schema.judgments
    return (
        select(a.c.id, j.c.seconds, j.c.created_at, j.c.id)
        .select_from(a)
        .join(j, j.c.assignment_id == a.c.id)
        .where(a.c.check.is_(None), is_of_people())
    )


def is_of_people() -> Any:
    """Return what holds of assignments to people."""
    raters = schema.raters.c
    people = select(raters.id).where(raters.kind == "human")
    return schema.assignments.c.rater_id.in_(people)


def call_queries(study: Study) -> dict[str, Select[Any]]:
    """Return the queries for sums of a study's calls, by step, but for those of judgments."""
    a, t = schema.assignments, schema.attempts
    tried_for = a.alias()
    tried = t.outerjoin(tried_for, tried_for.c.id == t.c.assignment_id)
    return {
        "completions": _summed(schema.completions, schema.completions.c.system_id).where(
            *_belongs(Completion, schema.completions.c, study)
        ),
        "ratings": _summed(schema.ratings, schema.ratings.c.rater_id).where(
            *_belongs(Rating, schema.ratings.c, study)
        ),
        "failed tries": _summed(
            t, func.coalesce(t.c.system_id, t.c.rater_id, tried_for.c.rater_id), among=tried
        ).where(*_belongs(Attempt, t.c, study)),
    }


def usage_queries(owner_id: str, n: int) -> list[Select[Any]]:
    """Return the queries for token counts of up to `n` replies, by what they became."""
    a, c, j, r = schema.assignments, schema.completions, schema.judgments, schema.ratings
    # In the order of the index by rater, which in a study is that of a hash: what one would draw.
    judged = select(j.c.usage).select_from(a.join(j, j.c.assignment_id == a.c.id))
    queries = [
        select(c.c.usage).where(c.c.system_id == owner_id).order_by(c.c.id),
        judged.where(a.c.rater_id == owner_id).order_by(a.c.study_id, a.c.id),
        select(r.c.usage).where(r.c.rater_id == owner_id).order_by(r.c.id),
    ]
    return [query.limit(n) for query in queries]


def _summed(table: Table[Any], owner: Any, *, among: Any = None) -> Select[Any]:
    owner_id = type_coerce(owner, schema.Id).label("owner_id")
    usd = func.coalesce(func.sum(table.c.cost), 0.0).label("usd")
    settings = (table.c.requested, table.c.effective)
    query = select(owner_id, *settings, func.count().label("n_calls"), usd)
    from_ = table if among is None else among
    # Ordered, so that what is said first of a model is the same each time.
    return query.select_from(from_).group_by(owner, *settings).order_by(owner, *settings)


def unjudged_query(study: Study) -> Select[Any]:
    """Return the query for assignments of a study that have no judgment."""
    return study_query(Assignment, study).where(_is_open())


def _is_open() -> Any:
    return ~exists().where(schema.judgments.c.assignment_id == schema.assignments.c.id)


def checks_query(study: Study) -> Select[Any]:
    """Return the query for judged attention checks, which `judgment_query` leaves out."""
    a, j = schema.assignments, schema.judgments
    judged = select(j.c.id).join(a, j.c.assignment_id == a.c.id)
    return judged.where(a.c.study_id == study.id, a.c.check.is_not(None))


def label_query(study: Study) -> Select[Any]:
    """Return the query for the labels of a study's texts, without what they rest on."""
    own = schema.labels.c
    texts = func.coalesce(own.completion_id, own.judgment_id, own.item_id)
    said = (own.taxonomy, own.category, own.verdict, own.score, own.rater_id)
    of = type_coerce(texts, schema.Id).label("text_id")
    return select(own.id, of, *said).where(_is_label_of(study))


def with_id_bytes(query: Select[Any]) -> Select[Any]:
    """Return the query with its ids as the database holds them."""
    return query.with_only_columns(
        *(
            type_coerce(column, schema.IdBytes).label(name) if is_id(column) else column
            for name, column in query.selected_columns.items()
        )
    )


def is_id(column: Any) -> bool:
    """Say whether a column holds ids."""
    return isinstance(column.type, schema.Id)


def _is_member(column: Any, kind: str, study: Study) -> Any:
    members = schema.study_members
    return exists().where(
        members.c.study_id == study.id,
        members.c.version == study.version,
        members.c.kind == kind,
        members.c.member_id == column,
    )


def _is_attempt_of(study: Study) -> Any:
    attempts, assignments = schema.attempts.c, schema.assignments.c
    return or_(
        _is_member(attempts.item_id, "item", study)
        & _is_member(attempts.system_id, "system", study),
        exists().where(assignments.id == attempts.assignment_id, assignments.study_id == study.id),
        attempts.study_id == study.id,
    )


def _is_label_of(study: Study) -> Any:
    labels, completions = schema.labels.c, schema.completions.c
    judgments, assignments = schema.judgments.c, schema.assignments.c
    return or_(
        exists().where(
            completions.id == labels.completion_id,
            *_belongs(Completion, completions, study),
        ),
        exists().where(
            judgments.id == labels.judgment_id,
            assignments.id == judgments.assignment_id,
            assignments.study_id == study.id,
        ),
        _is_member(labels.item_id, "item", study),
    )


def read_studies(connection: Connection) -> list[tuple[Study, str | None]]:
    """Return every version of every study, with its members, and the hash that its row holds."""
    studies, members = schema.studies, schema.study_members
    # First: what another process adds between the two reads then has members and no study.
    query = select(studies).order_by(studies.c.id, studies.c.version)
    rows = connection.execute(query).mappings().all()
    lists: dict[tuple[str, int, str], list[str]] = {}
    for member in connection.execute(select(members).order_by(members.c.member_id)):
        key = (member.study_id, member.version, member.kind)
        lists.setdefault(key, []).append(member.member_id)
    found = []
    for row in rows:
        values: dict[str, Any] = dict(row)
        for kind, name in MEMBER_FIELDS.items():
            values[name] = tuple(lists.get((row["id"], row["version"], kind), ()))
        found.append((from_row(Study, values), row["content"]))
    return found


def in_groups(ids: Sequence[AnyStr]) -> Iterator[Sequence[AnyStr]]:
    """Yield ids in groups of as many as one query asks for."""
    for start in range(0, len(ids), LOOKUP_IDS):
        yield ids[start : start + LOOKUP_IDS]


def rows_of(
    query: Select[Any], connection: Connection, values: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Return what a query finds, each row by the names of its columns."""
    found = connection.execute(query, values)
    names = tuple(found.keys())
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def rows_by_id(
    connection: Connection, query: Select[Any], ids: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query whose first column is an id, for some ids."""
    column = query.selected_columns[0]
    for some in in_groups(ids):
        yield from rows_of(query.where(column.in_(some)), connection)


def rows_of_kind(
    connection: Connection, kind: type[Any], ids: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a kind of record, for some ids."""
    for some in in_groups(ids):
        yield from rows_of(_BY_ID[kind], connection, {"ids": some})


def rows_by_people(
    connection: Connection, taxonomy: str, version: str | None, text_ids: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the rows of labels of some texts by people, by one version of a taxonomy."""
    own = schema.labels.c
    raters, texts = schema.raters.c, ("completion_id", "judgment_id", "item_id")
    ids: Any = bindparam("ids", expanding=True)
    of_text = (
        select(schema.labels)
        .join(schema.raters, raters.id == own.rater_id)
        .where(raters.kind == "human", own.taxonomy == taxonomy)
        .where(own.taxonomy_version.is_not_distinct_from(version))
        .where(or_(*(own[name].in_(ids) for name in texts)))
    )
    return [
        row for some in in_groups(text_ids) for row in rows_of(of_text, connection, {"ids": some})
    ]


_BY_ID: Mapping[type[Any], Select[Any]] = {
    kind: select(table).where(table.c.id.in_(bindparam("ids", expanding=True)))
    for kind, table in TABLES.items()
}
"""Built once: that takes longer than running one."""
