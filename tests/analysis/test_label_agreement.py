"""Agreement of people on labels, beside the same table of ratings."""

from datetime import UTC, datetime

import krippendorff
import pytest
from made_records import made_label

from hearteval.analysis.labels.people import agree_on_labels
from hearteval.domain import Label, record_id

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ANN, BEN, RULES = (record_id("rater", {"name": name}) for name in ("ann", "ben", "rules"))
VERDICTS = ("present", "absent")


def label(text: int, rater: str, verdict: str) -> Label:
    return made_label(completion_id=record_id("text", {"n": text}), verdict=verdict, rater_id=rater)


def test_agreement_is_that_of_the_table_of_verdicts() -> None:
    ann = [0, 1, 1, 0, 1, 1, 0, 0, 1, 1]
    ben = [0, 1, 0, 0, 1, 1, 0, 1, 1, 1]
    labels = [label(n, ANN, VERDICTS[v]) for n, v in enumerate(ann)]
    labels += [label(n, BEN, VERDICTS[v]) for n, v in enumerate(ben)]
    (found,) = agree_on_labels(labels, people={ANN, BEN})
    assert (found.n_texts, found.n_same) == (10, 8)
    expected = krippendorff.alpha([ann, ben], level_of_measurement="nominal")
    assert found.alpha == pytest.approx(expected)


def test_texts_of_one_person_and_labels_of_rules_do_not_count() -> None:
    labels = [label(1, ANN, "absent"), label(1, RULES, "absent"), label(2, BEN, "present")]
    assert agree_on_labels(labels, people={ANN, BEN}) == ()
