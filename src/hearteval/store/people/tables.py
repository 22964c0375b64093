"""The tables of people, tasks and the audit log.

A task is something that so many people are to do: write for an item, judge a pair. Its places are
rows of ``places``, and a row of ``dealings`` says what one person has to do with one task. So the
rules hold whoever writes to the database, and however many at once:

- ``(task, person)`` is the key of a dealing: nobody does a task twice, and a writer, who has a
  dealing of the state ``own`` with every pair that holds their text, can have no other with it;
- ``(task, place)`` is unique and refers to a place: no more people than places, no place twice;
- one ticket, one dealing; one dealing, one record.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from hearteval.store.schema import Id, Json, Utc, Words, metadata

people = Table(
    "people",
    metadata,
    Column("id", Id, primary_key=True),
    Column("study_id", Id, nullable=False),
    Column("name", Text, nullable=False, unique=True),
    Column("invite_id", Id, ForeignKey("invites.id"), nullable=False),
    Column("kinds", Json, nullable=False),
    Column("group", Text),
    Column("vetting", Text, nullable=False),
    Column("locale", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("consent_version", Text),
    Column("consented_at", Utc),
    Column("created_at", Utc, nullable=False),
    Column("stopped_at", Utc),
    Column("withdrawn_at", Utc),
    # What follows is deleted when a person withdraws or the time to keep it is over.
    Column("background", Json),
    Column("practice", Words),
    Column("salt", Text),
    Index("ix_people_invite", "invite_id"),
)
"""Who takes part; the name is a pseudonym, the only thing of this table that stands in records."""

submissions = Table(
    "submissions",
    metadata,
    Column("person_id", Id, ForeignKey("people.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("study_id", Id, nullable=False),
    Column("came_at", Utc, nullable=False),
    Column("paid_at", Utc),
    # As in ``people``, what follows is deleted.
    Column("platform", Text),
    Column("participant", Words),
    Column("submission", Words),
    Column("project", Words),
    UniqueConstraint("study_id", "participant", "submission"),
)
"""How often people came to be paid, with what recruiting sites call them; nothing of it stands in a
record, and only what pays people reads it. One id of a site's is one person of a study."""

invites = Table(
    "invites",
    metadata,
    Column("id", Id, primary_key=True),
    Column("study_id", Id, nullable=False),
    Column("label", Words, nullable=False),
    Column("kinds", Json, nullable=False),
    Column("group", Text),
    Column("vetting", Text, nullable=False),
    Column("most_people", Integer, nullable=False),
    Column("n_people", Integer, nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("expires_at", Utc, nullable=False),
    Column("revoked_at", Utc),
    CheckConstraint("n_people <= most_people"),
)
"""Links by which people come; the id is half of the SHA-256 of the token, which is not kept."""

sessions = Table(
    "sessions",
    metadata,
    Column("id", Id, primary_key=True),
    Column("person_id", Id, ForeignKey("people.id"), nullable=False),
    Column("expires_at", Utc, nullable=False),
    Index("ix_sessions_person", "person_id"),
)
"""Browsers that are known; the id is made of a cookie as that of an invite is of a link."""

tasks = Table(
    "tasks",
    metadata,
    Column("id", Id, primary_key=True),
    Column("study_id", Id, nullable=False),
    Column("kind", Text, nullable=False),
    Column("target_id", Id, nullable=False),
    Column("rank", BigInteger, nullable=False),
    Column("n_places", Integer, nullable=False),
    Column("n_taken", Integer, nullable=False),
    Column("turn", Integer, nullable=False, server_default="0"),
    Column("language", Text),
    Column("closed_at", Utc),
    CheckConstraint("0 <= n_taken AND n_taken <= n_places"),
    UniqueConstraint("study_id", "kind", "target_id"),
)
"""What people are to do; ``n_taken`` is the number of its dealings that have a place.

``turn`` is that and what the others of its kind had when it came: who comes next gets a task of the
lowest, so that a new one, which may show what a person has just written, comes among others.
"""
Index(
    "ix_tasks_open",
    *(tasks.c.study_id, tasks.c.kind, tasks.c.turn, tasks.c.rank),
    sqlite_where=text("n_taken < n_places AND closed_at IS NULL"),
    postgresql_where=text("n_taken < n_places AND closed_at IS NULL"),
)

places = Table(
    "places",
    metadata,
    Column("task_id", Id, ForeignKey("tasks.id"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("side", Integer, nullable=False),
    CheckConstraint("side IN (0, 1)"),
    sqlite_with_rowid=False,
)
"""How often a task is to be done; the side says which of a pair's completions stands first."""

dealings = Table(
    "dealings",
    metadata,
    Column("task_id", Id, ForeignKey("tasks.id"), primary_key=True),
    Column("person_id", Id, ForeignKey("people.id"), primary_key=True),
    Column("state", Text, nullable=False),
    Column("place", Integer),
    Column("side", Integer),
    Column("ticket", Id, unique=True),
    Column("shown_at", Utc),
    Column("leased_until", Utc),
    Column("answered_at", Utc),
    Column("record_id", Id, unique=True),
    Column("answer_hash", Id),
    Column("signs", Json),
    Column("draft", Words),
    ForeignKeyConstraint(["task_id", "place"], ["places.task_id", "places.place"]),
    UniqueConstraint("task_id", "place"),
    CheckConstraint("state IN ('own', 'skipped', 'lapsed', 'held', 'done')"),
    CheckConstraint("(place IS NOT NULL) = (state IN ('held', 'done'))"),
    CheckConstraint("(record_id IS NOT NULL) = (state = 'done')"),
)
"""What one person has to do with one task; see `hearteval.store.people.tasks` for the states."""
Index("ix_dealings_person", dealings.c.person_id, dealings.c.state)
Index(
    "ix_dealings_leases",
    dealings.c.leased_until,
    sqlite_where=text("state = 'held'"),
    postgresql_where=text("state = 'held'"),
)

pauses = Table(
    "pauses",
    metadata,
    Column("study_id", Id, primary_key=True),
    Column("paused_at", Utc, nullable=False),
    Column("closed_at", Utc),
)
"""Studies in which nothing new is given out; in those that are closed nobody new comes either."""

exclusions = Table(
    "exclusions",
    metadata,
    Column("study_id", Id, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("person", Text, nullable=False),
    Column("is_excluded", Boolean, nullable=False),
    Column("rules", Json, nullable=False),
    Column("why", Words, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Utc, nullable=False),
)
"""Who was left out of a study's numbers or let back in, 1, 2, … as it came; nothing is changed but
the words that are deleted when a person withdraws."""

quotas = Table(
    "quotas",
    metadata,
    Column("id", Id, primary_key=True),
    Column("study_id", Id, nullable=False),
    Column("answers", Json, nullable=False),
    Column("most", Integer, nullable=False),
    Column("n_people", Integer, nullable=False),
    CheckConstraint("0 <= n_people AND n_people <= most"),
)
"""Groups of people by what they answered, each with its places; see `enrolment`."""

quota_places = Table(
    "quota_places",
    metadata,
    Column("quota_id", Id, ForeignKey("quotas.id"), primary_key=True),
    Column("person_id", Id, ForeignKey("people.id"), primary_key=True),
    Column("taken_at", Utc, nullable=False),
    Column("given_back_at", Utc),
    Index("ix_quota_places_person", "person_id"),
    sqlite_with_rowid=False,
)
"""Who has a place of a quota. It says what they answered, so it goes with their details."""

turned_away = Table(
    "turned_away",
    metadata,
    Column("id", Id, primary_key=True),
    Column("study_id", Id, nullable=False),
    Column("what", Text, nullable=False),
    Column("mark", Id),
    Column("at", Utc, nullable=False),
    CheckConstraint("what IN ('screened_out', 'group_full')"),
    UniqueConstraint("study_id", "mark"),
)
"""Who agreed and was not let in: why, when, and a hash of the id by which they came, if any."""

consent_texts = Table(
    "consent_texts",
    metadata,
    Column("id", Id, primary_key=True),
    Column("text", Words, nullable=False),
)
"""What people agreed to, as they read it; the id is half of its SHA-256."""

consents = Table(
    "consents",
    metadata,
    Column("person_id", Id, ForeignKey("people.id"), primary_key=True),
    Column("at", Utc, primary_key=True),
    Column("version", Text, nullable=False),
    Column("text_id", Id, ForeignKey("consent_texts.id"), nullable=False),
    sqlite_with_rowid=False,
)
"""Who agreed to what, and when: every time, so that what came before stays known."""

events = Table(
    "events",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Utc, nullable=False),
    Column("what", Text, nullable=False),
    Column("about", Json, nullable=False),
    Column("hash", Text, nullable=False),
)
"""The audit log: ids and salted hashes, never text; each hash covers the one before it."""
PRIVATE = ("background", "practice", "salt")
"""Columns of ``people`` that are deleted when a person withdraws."""
IDS = ("platform", "participant", "submission", "project")
"""Columns of ``submissions`` that are deleted with them."""
