"""Who is to be paid for what: one row for each time that somebody came.

The rows hold what recruiting sites call people, which nothing that is published reads. Being left
out of an analysis is no reason here: nobody is rejected but by a row that the researcher wrote.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Literal, NamedTuple

from hearteval.config.people.endings import Ending
from hearteval.domain import Rater
from hearteval.domain.quality import excluded_now
from hearteval.errors import SettingsError
from hearteval.store.people.persons import Person, Submission, WorkDone
from hearteval.study.people import Desk
from hearteval.study.people.checks import read_answers
from hearteval.study.people.kinds import RESEARCH
from hearteval.study.people.paying.ending import Part, ending_of, part_of
from hearteval.study.people.watch.states import Standing, State, state_of

Decision = Literal["", "approve", "reject"]
MOST_BONUS = Decimal(1000)
"""Of one row: a bonus in cents by mistake is refused and not paid."""
COLUMNS = (
    *("person", "platform", "participant", "submission", "project", "came_at", "minutes"),
    *("tasks", "state", "ending", "checks_failed", "paid_at", "decision", "bonus", "reason"),
)
"""Of the table of people; the last three are for the researcher to fill in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayRow:
    """One time that somebody came, what they did, and what the researcher decided.

    Attributes:
        minutes: From when each task was shown until it was answered, a lease at most for each.
        tasks: By kind.
        checks_failed: By the person, whenever they came; None where a study has no checks.
        decision: Empty until somebody decides; ``reject`` is the researcher's alone.
        bonus: In the currency of the site's study.
        reason: Of a rejection, or for a bonus.
    """

    person: Person
    came: Submission
    minutes: float
    tasks: Mapping[str, int]
    state: State
    ending: Ending
    checks_failed: int | None
    decision: Decision = ""
    bonus: Decimal | None = None
    reason: str = ""


class _Who(NamedTuple):
    """What holds of somebody whenever they came."""

    person: Person
    n_failed: int | None
    is_excluded: bool


def list_payments(desk: Desk) -> list[PayRow]:
    """Return a row for each time that somebody came; who is done is approved unless they decide."""
    people, study_id = desk.session.store.people, desk.study.id
    by_person: dict[str, list[Submission]] = {}
    for id_, came in people.submissions(study_id):
        by_person.setdefault(id_, []).append(came)
    done: dict[str, list[WorkDone]] = {}
    for one in people.done(study_id):
        done.setdefault(one.person_id, []).append(one)
    answers = read_answers(desk.session.store, desk.study) if desk.settings.quality else None
    left_out = excluded_now(people.exclusions(study_id))
    rows = []
    for person in people.people(study_id):
        if RESEARCH in person.kinds:
            continue
        rater_id = Rater(name=person.name, kind="human", family="human").id
        found = None if answers is None else answers.get(rater_id)
        n_failed = None if answers is None else found.n_failed if found else 0
        who = _Who(person, n_failed, is_excluded=person.name in left_out)
        times = by_person.get(person.id, [])
        for number, came in enumerate(times, 1):
            ends = None if number == len(times) else times[number].came_at
            mine = [
                one
                for one in done.get(person.id, [])
                if came.came_at <= one.answered_at and (ends is None or one.answered_at < ends)
            ]
            rows.append(_row(desk, who, came, mine, is_last=ends is None))
    return rows


def _row(
    desk: Desk, who: _Who, came: Submission, done: Sequence[WorkDone], *, is_last: bool
) -> PayRow:
    person, longest = who.person, desk.settings.lease_minutes * 60.0
    seconds = sum(min(longest, (one.answered_at - one.shown_at).total_seconds()) for one in done)
    now = Part(n_done=len(done), has_sent=bool(done), is_limited=False, has_left=True)
    part = part_of(desk, person) if is_last and person.withdrawn_at is None else now
    ending = ending_of(part, load=desk.settings.load)
    state = state_of(
        Standing(
            person=person,
            asks_first=bool(desk.settings.enrolment.questions),
            has_sent=part.has_sent,
            is_done=ending == "done",
            is_paid=came.paid_at is not None,
            is_excluded=who.is_excluded,
        )
    )
    is_earned = ending == "done" and person.withdrawn_at is None
    return PayRow(
        person=person,
        came=came,
        minutes=round(seconds / 60, 1),
        tasks=dict(sorted(Counter(one.kind for one in done).items())),
        state=state,
        ending=ending,
        checks_failed=who.n_failed,
        decision="approve" if is_earned and came.paid_at is None else "",
    )


def format_payments(rows: Iterable[PayRow]) -> str:
    """Return the table of people as CSV."""
    return format_csv([COLUMNS, *map(payment_cells, rows)])


def format_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV, without a column that nobody named."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def payment_cells(row: PayRow) -> list[str]:
    """Return a row as its columns say it."""
    came = row.came
    said: tuple[object, ...] = (
        *(row.person.name, came.platform, came.participant, came.submission, came.project),
        *(came.came_at.isoformat(timespec="seconds"), f"{row.minutes:.1f}"),
        " ".join(f"{kind}={n}" for kind, n in row.tasks.items()),
        *(row.state, row.ending, row.checks_failed),
        came.paid_at and came.paid_at.isoformat(timespec="seconds"),
        *(row.decision, row.bonus, row.reason),
    )
    return ["" if one is None else str(one) for one in said]


def decide(rows: Sequence[PayRow], text: str, *, source: str) -> list[PayRow]:
    """Return the rows with what the researcher wrote into a table of them, as CSV.

    It has the columns ``decision``, ``bonus`` and ``reason``, and names each row by ``person`` and
    ``submission``. A row that it leaves out is not decided.

    Raises:
        SettingsError: A column is missing, a row is no row of the study or comes twice, or what was
            decided is not possible: a rejection without a reason, of somebody who was paid, a bonus
            that is no amount.
    """
    table = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    needed = {"person", "submission", "decision", "bonus", "reason"}
    if missing := sorted(needed - {*(table.fieldnames or ())}):
        raise SettingsError(
            f"{source}: has no column {missing[0]!r}; begin with `heart people list --csv`"
        )
    known = {(row.person.name, row.came.submission or ""): row for row in rows}
    decided: dict[tuple[str, str], PayRow] = {}
    for said in table:
        key, where = (said["person"], said["submission"] or ""), f"{source}, line {table.line_num}"
        if key not in known:
            raise SettingsError(f"{where}: nobody called {' '.join(key).strip()!r} came")
        if key in decided:
            raise SettingsError(f"{where}: {' '.join(key).strip()!r} stands there twice")
        decided[key] = _decided(known[key], said, where=where)
    return [decided.get(key, replace(row, decision="")) for key, row in known.items()]


def _decided(row: PayRow, said: Mapping[str, str | None], *, where: str) -> PayRow:
    decision, reason = (said["decision"] or "").strip().lower(), (said["reason"] or "").strip()
    if decision not in ("", "approve", "reject"):
        raise SettingsError(f"{where}: decision: expected approve, reject or nothing")
    if decision == "reject" and not reason:
        raise SettingsError(f"{where}: a rejection needs a reason, which the person will read")
    if decision and row.came.paid_at is not None:
        raise SettingsError(f"{where}: {row.person.name} was marked as paid; leave decision empty")
    bonus = read_bonus((said["bonus"] or "").strip(), where=where)
    chosen: Decision = "approve" if decision == "approve" else "reject" if decision else ""
    return replace(row, decision=chosen, bonus=bonus, reason=reason)


def read_bonus(text: str, *, where: str) -> Decimal | None:
    """Return an amount of money as a site takes it; None for nothing.

    Raises:
        SettingsError: It is no amount above 0 with two decimals at most, or too much.
    """
    if not text:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or not 0 < amount <= MOST_BONUS or round(amount, 2) != amount:
        raise SettingsError(
            f"{where}: bonus: expected an amount such as 1.50, up to {MOST_BONUS}, not {text!r}"
        )
    return amount.quantize(Decimal("0.01"))


def find_paid(rows: Sequence[PayRow], text: str, *, source: str) -> list[PayRow]:
    """Return the rows that a file names: one that pays people, or a list of ids, one a line.

    Of a table of people those that it approves.

    Raises:
        SettingsError: A line names nobody, or somebody who came several times.
    """
    index: dict[str, list[PayRow]] = {}
    for row in rows:
        for name in filter(None, (row.came.submission, row.came.participant, row.person.name)):
            index.setdefault(name, []).append(row)
    found = []
    for number, names in _named_in(text, source=source):
        meant = min((index[name] for name in names if name in index), key=len, default=[])
        if len(meant) != 1:
            why = "came several times; name the submission" if meant else "is nobody of the study"
            raise SettingsError(f"{source}, line {number}: {' '.join(names)!r} {why}")
        found += meant
    return found


def _named_in(text: str, *, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield what each line may call somebody, with its number."""
    read = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    head: list[str] = next(read, [])
    if "decision" in head:
        for cells in read:
            one = dict(zip(head, cells, strict=False))
            if one.get("decision", "").strip().lower() == "approve":
                yield read.line_num, [one.get("submission") or one.get("person", "")]
        return
    if "reason" in head:
        raise SettingsError(f"{source}: these are rejections; nobody was marked as paid")
    for number, cells in enumerate([head, *read], 1):
        names = [cell.strip() for cell in cells[:2] if cell.strip()]
        if names and names != [*CONNECT]:
            yield number, names


CONNECT = ("participantId", "assignmentId")
"""What Connect calls people in its links, and so in the files for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentFiles:
    """Files for a recruiting site, and whom they cannot name.

    Attributes:
        files: By name.
        nameless: Pseudonyms of those who were decided about and whom this site did not send.
    """

    files: Mapping[str, str]
    nameless: tuple[str, ...]


def payment_files(rows: Sequence[PayRow], platform: str) -> PaymentFiles:
    """Return what a site takes: whom to approve, to reject, and to pay a bonus."""
    decided = [row for row in rows if row.decision or row.bonus is not None]
    of_site = [row for row in decided if row.came.platform == platform and row.came.participant]
    parts = {
        "approve": [row for row in of_site if row.decision == "approve"],
        "reject": [row for row in of_site if row.decision == "reject"],
        "bonus": [row for row in of_site if row.bonus is not None],
    }
    made = _for_prolific(**parts) if platform == "prolific" else _for_connect(**parts)
    nameless = tuple(row.person.name for row in decided if row not in of_site)
    return PaymentFiles(
        files={name: text for name, text in made.items() if text}, nameless=nameless
    )


Rows = Sequence[PayRow]


def _for_prolific(*, approve: Rows, reject: Rows, bonus: Rows) -> dict[str, str]:
    """Return ids a line, and ``id,amount`` a line.

    Sources: docs.prolific.com, "Bulk approve submissions" (all submission ids, or all participant
    ids) and "Set up bonuses". Rejections go one by one, with a reason.
    """
    by_time = all(row.came.submission for row in (*approve, *bonus))

    def name(row: PayRow) -> str | None:
        return row.came.submission if by_time else row.came.participant

    return {
        "approve.txt": "".join(f"{name(row)}\n" for row in approve),
        "bonus.csv": format_csv((name(row), row.bonus) for row in bonus),
        "reject.csv": format_csv(
            [("id", "reason"), *((name(row), row.reason) for row in reject)] if reject else []
        ),
    }


def _for_connect(*, approve: Rows, reject: Rows, bonus: Rows) -> dict[str, str]:
    """Return tables for the upload on its page "Manage Participants".

    Source: connect-researcher-help.cloudresearch.com, "Manage Participants", which says that there
    are such uploads, each with a message. Their columns stand in a template there.
    """
    made = {}
    for what, rows in (("approve", approve), ("reject", reject), ("bonus", bonus)):
        more = {"approve": ("message",), "reject": ("reason",), "bonus": ("bonus", "message")}
        head = (*CONNECT, *more[what])
        lines = [
            (
                *(row.came.participant, row.came.submission),
                *((row.bonus,) if what == "bonus" else ()),
                "" if what == "approve" else row.reason,
            )
            for row in rows
        ]
        made[f"{what}.csv"] = format_csv([head, *lines]) if lines else ""
    return made
