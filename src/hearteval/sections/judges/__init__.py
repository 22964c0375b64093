"""What judges are like: tested on texts whose right answer is known, together, asked again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from hearteval.analysis.coverage.study import JudgeCoverage
from hearteval.analysis.data import StudyData
from hearteval.analysis.judges import (
    Consistency,
    StressResult,
    consistency_results,
    stress_results,
    stress_wins,
)
from hearteval.analysis.judges.faults import LONGER, OWN_FAMILY, PREFERS_ITS_FAMILY
from hearteval.analysis.judges.majorities import JudgeMajorities, count_judges_together
from hearteval.analysis.judges.own_family import warn_of_own_family
from hearteval.analysis.judges.same_model import warn_of_same_models
from hearteval.analysis.ranking.comparisons import people_among
from hearteval.analysis.scores.checks import sure_stress_faults
from hearteval.analysis.scores.study import RatingResults
from hearteval.analysis.section import Basis, Chapter, Chip, Records, Section
from hearteval.labels.safety import is_english
from hearteval.notices import Kind, Notice
from hearteval.report import scores
from hearteval.report.table import Table
from hearteval.report.text import count, fine_interval, listed, plural
from hearteval.sections.agreement import Agreement
from hearteval.sections.judges import words
from hearteval.sections.judges.audit import JudgeAudit, JudgeAudits, collect_audits
from hearteval.sections.judges.stability import RankStability, rank_stability
from hearteval.sections.people import People

AUDIT_COMMAND = "heart judges audit STUDY.toml"
NEEDS_REFERENCES = (
    "The texts of the test are made from the items' reference replies (and `judging.stress_items`"
    " says of how many)."
)
MAX_NAMED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges(Section[JudgeAudits | None]):
    """What is known of the judges; what the audits say of each is None where none has judged."""

    NAME: ClassVar = "judges"
    TITLE: ClassVar = "Judges"
    CHAPTER: ClassVar = Chapter.JUDGES
    IS_OPEN: ClassVar = True
    KEYS: ClassVar = ("judge_audits", "stress", "consistency", "majorities", "rank_stability")
    TABLES: ClassVar = {
        "judge-audit": "judges on texts whose right answer is known",
        "stress-set": "reference put first, by judge",
        "consistency": "same winner twice, by judge",
        "asked-again": "rankings of repeats",
        "judges-together": "votes by judge",
        "judges-by-pair": "judges of every two systems",
        "judges-agreement": "same answer, by judges",
    }
    PATHS: ClassVar = {
        "judge-audit": "audit_rows",
        "stress-set": "stress",
        "consistency": "consistency",
        "asked-again": "again",
        "judges-together": "majorities.judges",
        "judges-by-pair": "majorities.system_pairs",
        "judges-agreement": "majorities.agreement",
    }
    AUDIT_COMMAND: ClassVar = AUDIT_COMMAND
    NEEDS_REFERENCES: ClassVar = NEEDS_REFERENCES
    audit_groups = staticmethod(words.audit_groups)
    shared_notes = staticmethod(words.shared_notes)
    behind_rows = staticmethod(words.behind_rows)
    panels_of = staticmethod(words.panels_of)
    agreement_of_all = staticmethod(words.agreement_of_all)
    judges_words = staticmethod(words.judges_words)
    stress_cells = staticmethod(scores.stress_cells)
    stress_states = staticmethod(scores.stress_states)
    stress_name = staticmethod(scores.stress_name)
    repeatability_table = staticmethod(scores.repeatability_table)
    fine_interval = staticmethod(fine_interval)

    stress: tuple[StressResult, ...]
    """How often each put the reference above texts made to be worse."""
    consistency: tuple[Consistency, ...]
    """How often each says the same twice, of ranked pairs."""
    majorities: JudgeMajorities | None
    """What they say together; None without a judgment by one."""
    again: tuple[RankStability, ...]
    """Rankings by whole repeats beside the first; empty where there are none."""
    raters: tuple[JudgeCoverage, ...]
    """Whoever judges or rates, people too."""
    ratings: RatingResults | None
    """What judges who rate say; None where they compare."""
    shared: tuple[Notice, ...]
    """Who judges its own family, is the same model as another, or knows no word of an item."""
    has_people: bool
    has_agreement: bool
    """Whether other sections say more of people, and of agreement."""

    @classmethod
    def find(cls, basis: Basis) -> Self:
        """Ask of each judge what is known."""
        data, level = basis.data, basis.level
        agreement = basis.earlier.get(Agreement)
        return cls(
            found=collect_audits(data, level=level),
            stress=basis.stress if basis.ratings else _stress(data, level=level),
            consistency=consistency_results(basis.again, raters=data.rater_names, level=level),
            majorities=count_judges_together(basis.columns, basis.pair_votes),
            again=rank_stability(
                basis.again, data.ranked, people=people_among(data.raters), level=level
            ),
            raters=tuple(basis.coverage.judges),
            ratings=basis.ratings,
            shared=(
                *warn_of_own_family(data),
                *warn_of_same_models(data.ranked, data.judges, data.calls),
                *_warn_of_language(data, basis.coverage.judges),
            ),
            has_people=basis.earlier.get(People) is not None,
            has_agreement=agreement is not None and agreement.is_shown,
        )

    @property
    def results(self) -> Mapping[str, Any]:
        """All that is computed, by name."""
        found = (self.found, self.stress, self.consistency, self.majorities, self.again)
        return dict(zip(self.KEYS, found, strict=True))

    @property
    def audits(self) -> Sequence[JudgeAudit]:
        """What the audits say of each judge; empty where none has judged."""
        return self.found.judges if self.found else ()

    @property
    def panel(self) -> list[JudgeCoverage]:
        """The judges that are models."""
        return [judge for judge in self.raters if judge.kind != "human"]

    @property
    def unmoved_by_length(self) -> list[str]:
        """The judges whose test shows no preference for the same reply, padded."""
        return [
            audit.judge
            for audit in self.audits
            if audit.longer is not None
            and (audit.longer.high < 0.5 or audit.lean_q.get(LONGER, 1.0) > words.MAX_Q)
        ]

    @property
    def are_together(self) -> bool:
        """Whether several judged."""
        return self.majorities is not None and len(self.majorities.judges) > 1

    @property
    def has_tests(self) -> bool:
        """Whether anything tests them."""
        return bool(self.found or self.stress or self.again or self.are_together)

    @property
    def audit_rows(self) -> Records:
        """What the audits found, check by check."""
        return [
            {
                "judge": audit.judge,
                "check": row.name.strip(),
                "share": row.value,
                "interval": row.ends,
                "n_items": row.n_items,
                "reading": row.verdict,
            }
            for audit in self.audits
            for row in words.audit_rows(audit)
        ]

    def tests(self) -> Mapping[str, float | None]:
        """Return the p of each judge's preference for its own family."""
        return {_contrast(audit): audit.own_family.p_value for audit in self.audits}

    def with_q(self, q: Mapping[str, float], *, level: float) -> Self:
        """Return it with that q, by which alone such a preference is a fault."""
        if self.found is None:
            return self
        audits = tuple(_audit_with(one, q.get(_contrast(one)), level=level) for one in self.audits)
        return replace(self, found=replace(self.found, judges=audits))

    @property
    def turned(self) -> list[JudgeCoverage]:
        """The judges that often change their mind with the order."""
        return [one for one in self.raters if one.n_flips > words.MANY_FLIPS * one.n_both_orders]

    def notices(self) -> Sequence[Notice]:
        """Name judges who change their mind, are at fault, or are not their own."""
        turned = (
            f"{judge.rater} changed its mind in {100 * judge.n_flips / judge.n_both_orders:.0f} %"
            " of the pairs when the replies were shown the other way round."
            for judge in self.turned
        )
        faults = (
            f"Tests find fault with {audit.judge}: it {'; it '.join(audit.faults)}."
            for audit in self.audits
            if audit.faults
        )
        return (
            *(Notice(Kind.JUDGE_ORDER, said) for said in turned),
            *(Notice(Kind.JUDGE_FAULT, said) for said in faults),
            *self.shared,
        )

    def shown_notices(self) -> Iterable[Notice]:
        """Name judges who were not tested, or on the stress set only."""
        if self.found and self.found.untested:
            text = f"Not tested: {listed(self.found.untested)}. {NEEDS_REFERENCES}"
            yield Notice(Kind.NOT_AUDITED, text)
        if self.found and self.found.half_tested:
            names = listed(self.found.half_tested)
            text = f"Tested on the stress set only: {names}. Run `{AUDIT_COMMAND}`."
            yield Notice(Kind.NOT_AUDITED, text)

    def next_step(self, study_file: str) -> str:
        """Say what to do about judges at fault, or that judges wait for their test."""
        if at_fault := self._at_fault():
            return f"name other judges than {_named(at_fault)} in {study_file}, and run it again"
        is_open = self.found is not None and self.found.half_tested
        return f"test the judges: heart judges audit {study_file}" if is_open else ""

    def chip(self) -> Chip:
        """Say the worst that is known of them."""
        panel, words_of, is_bad = self.panel, self._news(), True
        if not panel:
            said = f"{plural(len(self.raters), 'person', 'people')}, no model judges"
            return Chip("Judges", said, "people" if self.has_people else "judges")
        if words_of is None:
            words_of, is_bad = self._tested()
        return Chip("Judges", words_of, "judges", is_bad)

    def _news(self) -> str | None:
        if at_fault := self._at_fault():
            return f"Tests find fault with {_named(at_fault)}"
        rated = self.ratings.warnings if self.ratings else ()
        if any(warning.kind is Kind.JUDGE_FAULT for warning in rated):
            return "A judge scores all replies alike"
        turned = [judge.rater for judge in self.turned if judge.kind != "human"]
        if turned:
            verb = "changes its" if len(turned) == 1 else "change their"
            return f"{_named(turned)} often {verb} mind with the order"
        return None

    def _at_fault(self) -> list[str]:
        """Return the judges with whom tests find fault."""
        if self.ratings is None:
            return [audit.judge for audit in self.audits if audit.faults]
        sure = {name for name, _ in sure_stress_faults(self.stress, level=self.ratings.level)}
        return [judge.rater for judge in self.panel if judge.rater in sure]

    def _tested(self) -> tuple[str, bool]:
        """Say by how much they were tested, and whether that is bad news."""
        is_baseline = bool(self.audits) and all(audit.is_baseline for audit in self.audits)
        judges = "Offline baseline only" if is_baseline else plural(len(self.panel), "judge")
        n = sum(map(words.n_checks, self.audits)) or len(self.stress)
        if not n:
            return f"{judges}, not tested", True
        rest = "; not fully audited" if self.found and self.found.not_audited else ""
        return f"{judges}, no fault in {plural(n, 'check')}{rest}", False

    def stands_on(self) -> str:
        """Say how many judges are behind each pair."""
        return f"{words.majority_words(self.majorities)}." if self.majorities else ""

    def cards(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Return how many judges are behind each pair, and how many pairs lack a majority."""
        return words.majority_cards(self.majorities) if self.majorities else ()

    def shown_tables(self) -> Sequence[Table]:
        """Return the scores of the stress set, where judges rate."""
        if self.ratings is None or not self.ratings.systems:
            return ()
        return [*filter(None, [scores.stress_table(self.ratings, self.stress)])]

    def lines(self) -> Sequence[str]:
        """Say how rankings stand when all is asked again, and which judges passed the audit."""
        passed = [
            f"{audit.judge} ({plural(audit.injection.overall.n_items, 'item')})"
            for audit in self.audits
            if audit.injection is not None and not audit.faults
        ]
        said = [f"The judges' audit finds no fault with {listed(passed)}."] if passed else []
        return [*map(words.again_words, self.again), *said]


def _warn_of_language(data: StudyData, raters: Iterable[JudgeCoverage]) -> list[Notice]:
    """Say of a judge that counts English words on how many items there are none to count."""
    baselines = [rater.rater for rater in raters if rater.is_baseline and rater.n_judged]
    n_others = sum(not is_english(item) for item in data.items)
    if not baselines or not n_others:
        return []
    text = (
        f"The judge {listed(baselines)} knows English words only. Dialogues in another language,"
        f" where its choices are noise: {count(n_others)} of {count(len(data.items))}."
    )
    return [Notice(Kind.BASELINE_JUDGE, text)]


def _stress(data: StudyData, *, level: float) -> tuple[StressResult, ...]:
    kinds = {system.id: str(system.settings["stress"]) for system in data.stress}
    return stress_results(
        stress_wins(data.judgments.among(kinds), kinds, data.rater_names), level=level
    )


def _named(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= MAX_NAMED else f"{count(len(names))} judges"


def _contrast(audit: JudgeAudit) -> str:
    return f"own family of {audit.judge}"


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
