"""The planned contrasts of a study as one family of tests (SPEC section 13).

Planned are: the models' score against parity and between subsets and kinds of rater, whether people
and judges agree otherwise on adversarial items, the effects of length, formatting and position, and
each judge's preference for its own family. Words and marks assert one of them only where its q is
at most 1 - level, q by Benjamini and Hochberg (1995) over all of them; p stays beside it.

Left out on purpose: the ranking, whose places hold at one level for all pairs; the checks of a
judge on texts whose right answer is known, a family of each judge (`judges.faults`); clear less
ambiguous pairs, which differ by their making; and all that is exploratory, each family by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hearteval.analysis.judges.audit import JudgeAudit, JudgeAudits
from hearteval.analysis.judges.faults import OWN_FAMILY, PREFERS_ITS_FAMILY
from hearteval.analysis.section import Section, Sections
from hearteval.stats.means import false_discovery_q


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedContrast:
    """The test of one planned contrast."""

    name: str
    """What is compared, in words."""
    p: float
    """Two-sided."""
    q: float
    """Adjusted over all planned contrasts of the study."""
    is_asserted: bool
    """Whether q is at most 1 - level."""


class Planned(NamedTuple):
    """Results that know the q of their planned contrasts, and the whole family."""

    judge_audits: JudgeAudits | None
    sections: dict[type[Section[Any]], Section[Any] | None]
    contrasts: tuple[PlannedContrast, ...]


def adjust_planned(
    judge_audits: JudgeAudits | None,
    sections: Sections,
    *,
    level: float,
) -> Planned:
    """Adjust the tests of all planned contrasts of a study together."""
    p: dict[str, float | None] = {}
    for section in sections.values():
        p |= section.tests() if section is not None else {}
    p |= {
        _own_family(audit): audit.own_family.p_value
        for audit in (judge_audits.judges if judge_audits else ())
    }
    tested = {name: value for name, value in p.items() if value is not None}
    q = dict(zip(tested, false_discovery_q([*tested.values()]).tolist(), strict=True))
    return Planned(
        judge_audits=_audits_with(judge_audits, q, level=level) if judge_audits else None,
        sections={
            kind: section if section is None else section.with_q(q, level=level)
            for kind, section in sections.items()
        },
        contrasts=tuple(
            PlannedContrast(name=name, p=tested[name], q=at, is_asserted=at <= 1 - level)
            for name, at in q.items()
        ),
    )


def _own_family(audit: JudgeAudit) -> str:
    return f"own family of {audit.judge}"


def _audits_with(audits: JudgeAudits, q: Mapping[str, float], *, level: float) -> JudgeAudits:
    return replace(
        audits,
        judges=tuple(
            _audit_with(audit, q.get(_own_family(audit)), level=level) for audit in audits.judges
        ),
    )


def _audit_with(audit: JudgeAudit, q: float | None, *, level: float) -> JudgeAudit:
    """Return an audit that finds fault with a preference for its family only by the study's q."""
    audit = replace(audit, own_family=replace(audit.own_family, q=q))
    if q is None or q <= 1 - level:
        return audit
    return replace(
        audit,
        faults=tuple(one for one in audit.faults if not one.startswith(PREFERS_ITS_FAMILY)),
        fault_checks=tuple(check for check in audit.fault_checks if check != OWN_FAMILY),
    )
