"""``heart rank`` and ``heart agree`` as typed: exit codes, JSON alone on stdout, messages."""

import shlex
from pathlib import Path

import pytest
from heart_command import Heart

HEADING = "model_a,model_b,winner,prompt,voter\n"
ROWS = "".join(
    f"{a},{b},{w},p{i % 9},v{i % 6}\n"
    for i, (a, b, w) in enumerate(
        [("ash", "elm", "model_a"), ("elm", "fir", "tie"), ("fir", "ash", "model_b")] * 9
        + [("elm", "ash", "model_a"), ("fir", "elm", "model_a"), ("ash", "fir", "model_b")] * 3
    )
)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(HEADING + ROWS)
    return path


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    rows = [f"t{i // 3},c{i % 3},{1 + (i // 3 + (i % 7 == 0)) % 4}" for i in range(30)]
    path.write_text("text,coder,label\n" + "\n".join(rows) + "\n")
    return path


def test_ranking_is_one_object_on_stdout(heart: Heart, votes: Path) -> None:
    done = heart("rank", votes, "--cluster", "prompt", "--rater", "voter", "--json")

    found = done.json
    assert done.code == 0
    assert found["schema"] == "heart.rank/1"
    assert found["settings"]["interval_used"] == "two-way"
    assert [row["system"] for row in found["systems"]] == ["ash", "fir", "elm"]


def test_ranking_is_a_table_for_people(heart: Heart, votes: Path) -> None:
    done = heart("rank", votes, "--cluster", "prompt")

    assert done.code == 0
    assert "3 systems: 36 votes, 9 ties, 9 items" in done.out
    assert "how far Elo would move with other items" in " ".join(done.out.split())


def test_votes_without_items_are_warned_of(heart: Heart, votes: Path) -> None:
    done = heart("rank", votes)

    assert "Every vote counts as an item of its own" in done.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--interval", "two-way"], "two-way needs"),
        (["--interval", "two-way", "--cluster", "prompt"], "two-way needs raters"),
        (["--interval", "item-bootstrap"], "item-bootstrap needs items"),
        (["--left", "modela"], "no column 'modela'"),
        (["--cluster", "promt"], "prompt"),
        (["--left-name", "model_a"], "right"),
        (["--ties", "maybe"], "--ties"),
        (["--prior", "-1"], "--prior"),
        (["--prior", "nan"], "prior"),
        (["--level", "1"], "--level"),
        (["--resamples", "3"], "--resamples"),
        (["--rater", "prompt", "--rater", "voter"], "--rater is given twice"),
        (["--cluster", "prompt", "--rater", "prompt"], "named both as cluster and as rater"),
    ],
)
def test_wrong_use_exits_with_2(heart: Heart, votes: Path, options: list[str], words: str) -> None:
    done = heart("rank", votes, *options, "--json")

    assert done.code == 2
    assert words in done.json["error"]["message"]


@pytest.mark.parametrize(
    ("rows", "kind", "words"),
    [
        ("ash,elm,model_x,p1,v1\n", "invalid_votes", "row 37"),
        ("ash,elm\n", "invalid_votes", "row 37"),
        ("oak,yew,model_a,p1,v1\nyew,oak,model_a,p2,v1\n", "not_identified", "oak, yew"),
        ("oak,ash,model_a,p1,v1\n", "not_identified", "oak"),
    ],
)
def test_votes_that_cannot_be_ranked_exit_with_1(
    heart: Heart, votes: Path, rows: str, kind: str, words: str
) -> None:
    votes.write_text(HEADING + ROWS + rows)

    done = heart("rank", votes, "--json")

    error = done.json["error"]
    assert done.code == 1
    assert error["kind"] == kind
    assert words in error["message"]


def test_missing_file_is_said_in_one_line(heart: Heart, tmp_path: Path) -> None:
    done = heart("rank", tmp_path / "none.csv")

    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "none.csv" in done.err


def test_winners_with_two_readings_exit_with_2(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "ab.csv"
    path.write_text("left,right,winner\nB,A,A\nA,B,B\nA,B,A\n")

    done = heart("rank", path, "--json")

    assert done.code == 2
    assert "--left-name" in done.json["error"]["message"]


@pytest.mark.parametrize("codes", ["0 1", "1 0", "-1 1", "yes no", "home away", "$x `y`"])
def test_every_meaning_of_the_winners_comes_with_a_command_that_works(
    heart: Heart, tmp_path: Path, codes: str
) -> None:
    """Pasted, one of two commands puts the systems in the one order, the other in reverse."""
    left, right = codes.split()
    path = tmp_path / "it's 0 or 1.csv"
    pairs = [("ash", "elm"), ("elm", "fir"), ("ash", "fir")] * 8
    rows = [f"{a},{b},{left if i % 4 else right},p {i % 6}" for i, (a, b) in enumerate(pairs)]
    path.write_text("model_a,model_b,who won,the prompt\n" + "\n".join(rows) + "\n")

    done = heart("rank", path, "--winner", "who won", "--cluster", "the prompt", "--ties", "drop")

    assert done.code == 2
    commands = [line.strip() for line in done.err.splitlines() if line.startswith("    heart ")]
    orders = []
    for command in commands:
        again = heart(*shlex.split(command)[1:], "--json")
        assert again.code == 0, again.err
        assert again.json["fit"]["n_ties"] == 0
        assert again.json["settings"]["columns"]["cluster"] == "the prompt"
        assert again.json["settings"]["ties"] == "drop"
        orders.append([row["system"] for row in again.json["systems"]])
    assert sorted(orders) == [["ash", "elm", "fir"], ["fir", "elm", "ash"]]


@pytest.mark.parametrize("names", ["Model A,model b,Verdict", "shown_first,shown_second,choice"])
def test_columns_of_other_names_come_with_a_command_that_works(
    heart: Heart, votes: Path, names: str
) -> None:
    votes.write_text(f"{names},prompt,voter\n{ROWS}")

    done = heart("rank", votes, "--cluster", "prompt")

    assert done.code == 2
    assert "there are 'shown_first'" in done.err or "there are 'Model A'" in done.err
    (command,) = [line for line in done.err.splitlines() if line.startswith("    heart ")]
    again = heart(*shlex.split(command)[1:], "--json")
    assert again.json["settings"]["columns"] == {
        **dict(zip(("left", "right", "winner"), names.split(","), strict=True)),
        "cluster": "prompt",
    }


def test_columns_of_no_known_word_are_listed(heart: Heart, votes: Path) -> None:
    votes.write_text(f"x,y,z,prompt,voter\n{ROWS}")

    done = heart("rank", votes)

    assert done.code == 2
    assert "there are 'x', 'y', 'z', 'prompt', 'voter'" in done.err
    assert len(done.err.splitlines()) == 1


def test_systems_called_0_and_1_can_be_said_to_be_the_winners_names(
    heart: Heart, tmp_path: Path
) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner\n" + "1,0,1\n0,1,1\n1,0,0\n" * 3)

    done = heart("rank", path)

    assert done.code == 2
    command = next(line for line in done.err.splitlines() if "--own-name" in line)
    found = heart(*shlex.split(command)[1:], "--json").json
    assert [(row["system"], row["win_rate"]) for row in found["systems"]] == [
        ("1", pytest.approx(2 / 3)),
        ("0", pytest.approx(1 / 3)),
    ]


def test_agreement_is_one_object_on_stdout(heart: Heart, ratings: Path) -> None:
    words = ("--unit", "text", "--rater", "coder", "--value", "label", "--level", "ordinal")

    done = heart("agree", ratings, *words, "--min", "1", "--max", "3", "--json")

    found = done.json
    assert done.code == 0
    assert found["schema"] == "heart.agree/1"
    assert found["n_raters"] == 3
    assert found["excluded"]["out of range"] > 0
    assert found["cohen_kappa"]["value"] is None
    assert found["cohen_kappa"]["reason"]


def test_agreement_is_a_table_for_people(heart: Heart, ratings: Path) -> None:
    words = ("--unit", "text", "--rater", "coder", "--value", "label", "--level", "nominal")

    done = heart("agree", ratings, *words)

    assert done.code == 0
    assert "10 units, 3 raters, 30 values at nominal level" in done.out
    assert "Krippendorff's \N{GREEK SMALL LETTER ALPHA}" in done.out


def test_agreement_says_first_what_it_means_and_what_is_doubtful(
    heart: Heart, ratings: Path
) -> None:
    words = ("--unit", "text", "--rater", "coder", "--value", "label", "--level", "nominal")

    said = heart("agree", ratings, *words).out

    assert said.startswith("Two raters give the same unit the same value in")
    assert said.index("Warning: Only 10 units") < said.index("10 units, 3 raters")
    assert "the same 3 raters" in " ".join(said.split())
    assert said.count("needs exactly two raters") == 1
    assert "substantial" not in said
    other = heart("agree", ratings, *words, "--interval", "percentile", "--json").json
    assert other["settings"]["interval"] == "percentile"
    assert other["warnings"][0].startswith("Only 10 units have two values")


def test_agreement_without_its_columns_exits_with_2(heart: Heart, ratings: Path) -> None:
    done = heart("agree", ratings, "--unit", "text", "--json")

    assert done.code == 2
    assert done.json["error"]["kind"] == "usage"


def test_a_name_of_an_outcome_may_be_given_twice(heart: Heart, votes: Path) -> None:
    done = heart("rank", votes, "--tie-name", "tie", "--tie-name", "even", "--cluster", "prompt")

    assert done.code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--min", "nan"], "no finite number"),
        (["--min", "1", "--min", "2"], "--min is given twice"),
        (["--min", "3", "--max", "1"], "in that order"),
        (["--rater", "text"], "those of a wide table"),
    ],
)
def test_wrong_use_of_agreement_exits_with_2(
    heart: Heart, ratings: Path, options: list[str], words: str
) -> None:
    usual = ("--unit", "text", "--rater", "coder", "--value", "label", "--level", "ordinal")

    done = heart("agree", ratings, *usual, *options, "--json")

    assert done.code == 2
    assert words in done.json["error"]["message"]


def test_help_shows_no_range_where_there_is_none(heart: Heart) -> None:
    assert "None" not in heart("agree", "--help").out


def test_warnings_are_part_of_the_result_and_not_printed_twice(heart: Heart, votes: Path) -> None:
    votes.write_text(HEADING + ROWS.rstrip("\n"))

    done = heart("rank", votes, "--cluster", "prompt")

    assert " ".join(done.out.split()).count("does not end") == 1  # wrapped where the path says
    assert done.err == ""


def test_standard_input_is_said_not_to_be_read(heart: Heart) -> None:
    done = heart("rank", "-")

    assert done.code == 2
    assert "only files are read" in done.err


def test_agree_asks_at_once_for_all_it_needs_and_names_the_columns(
    heart: Heart, tmp_path: Path
) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("item,Anna,Ben\n1,2,3\n2,4,4\n", encoding="utf-8")
    done = heart("agree", path)
    assert done.code == 2
    assert "--unit, --rater, --value and --level are missing" in done.err
    assert "item, Anna, Ben" in done.err
    wide = heart(
        "agree", path, "--unit", "item", "--rater", "Anna", "--value", "Ben", "--level", "ordinal"
    )
    assert "is read with --wide" in " ".join(wide.out.split())
