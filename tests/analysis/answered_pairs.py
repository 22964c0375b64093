"""Invented answers of people and judges to one pair of each item, written as they are read."""

from people_study import BEACON, EMBER, PeopleStudy, human_raters

from hearteval.analysis.agreement.pair_votes import PairVotes, merge_votes
from hearteval.analysis.columns import to_columns
from hearteval.analysis.data import StudyData
from hearteval.domain import AXES, Axis, AxisMark, Choice, Rater

JUDGES = tuple(
    Rater(name=name, kind="llm", family=name, settings={"model": name})
    for name in ("alder", "birch", "cedar")
)
OTHER_WAY: dict[Choice, Choice] = {"first": "second", "second": "first", "tie": "tie"}
Answers = dict[str, str]
"""By rater: 1 or 2 for a side, = for a tie, / for a flip; after a colon, marks on the five axes."""
CHOICES: dict[str, Choice] = {"1": "first", "2": "second", "=": "tie"}


def study(*pairs: Answers, n_people: int = 5, n_adversarial: int = 0) -> PeopleStudy:
    """Have people and judges answer one pair of each item; judges see both orders."""
    people = human_raters(n_people)
    made = PeopleStudy(len(pairs), [*people, *JUDGES], n_adversarial=n_adversarial)
    raters = {rater.name: rater for rater in made.raters}
    for item, answers in zip(made.items, pairs, strict=True):
        one, other = made.completion(item, BEACON), made.completion(item, EMBER)
        for name, said in answers.items():
            choice, _, marks = said.partition(":")
            orders = 1 if raters[name].kind == "human" else 2
            for order in range(orders):
                shown = (one, other) if order == 0 else (other, one)
                given = CHOICES["1" if choice == "/" and order else choice.replace("/", "1")]
                back = order == 1 and choice != "/"
                made.judge(raters[name], *shown, OTHER_WAY[given] if back else given)
                axes: dict[Axis, AxisMark] = {
                    axis: _mark(CHOICES[mark], back=order == 1)
                    for axis, mark in zip(AXES, marks, strict=False)
                    if mark != "."
                }
                made.rows[-1] = made.rows[-1]._replace(axes=axes)
    return made


def _mark(choice: Choice, *, back: bool) -> AxisMark:
    choice = OTHER_WAY[choice] if back else choice
    return AxisMark(choice, None if choice == "tie" else 2)


def votes_of(made: PeopleStudy | StudyData) -> PairVotes:
    data = made.data() if isinstance(made, PeopleStudy) else made
    return merge_votes(to_columns(data.judgments, data))


def people(said: str) -> Answers:
    return {f"r{k}": answer for k, answer in enumerate(said, 1)}
