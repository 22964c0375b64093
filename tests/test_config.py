"""Study files: what they may say, and what is said of a faulty one."""

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from hearteval.config import StudySettings, keys_at_hand, load_study, read_key
from hearteval.errors import SettingsError
from hearteval.models.presets import find_family

GOOD = """
[study]
name = "small"
seed = 3
[items]
source = "starter"
[[system]]
preset = "original"
[[system]]
name = "stock"
preset = "generic"
[judging]
judges = ["cue"]
"""


@pytest.fixture(autouse=True)
def _no_store_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEART_STORE", raising=False)


def write(folder: Path, text: str) -> Path:
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_are_those_of_the_documentation(tmp_path: Path) -> None:
    settings = load_study(write(tmp_path, GOOD))
    assert settings.store == str(tmp_path / "small.db")
    assert settings.items[0].regular is None
    assert [system.name for system in settings.systems] == ["original", "stock"]
    assert settings.judging.plan.design == "full"
    assert settings.judging.plan.both_orders
    assert settings.judging.plan.exclude_own_family
    assert settings.judging.plan.stress_items == 100


def test_the_store_may_be_named_in_the_file_or_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, GOOD.replace("seed = 3", 'seed = 3\nstore = "deep/x.db"'))
    assert load_study(path).store == str(tmp_path / "deep/x.db")
    monkeypatch.setenv("HEART_STORE", "sqlite:///elsewhere.db")
    assert load_study(path).store == str(tmp_path / "elsewhere.db")


def test_the_settings_hash_ignores_where_files_lie(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "esconv").mkdir(parents=True)
    text = GOOD.replace('"starter"', '"esconv"\nfrom = "esconv"')
    one = load_study(write(tmp_path / "one", text))
    two = load_study(write(tmp_path / "two", text))
    assert one.settings_hash == two.settings_hash
    assert one.items[0].regular == 280
    other = load_study(write(tmp_path / "two", text.replace("seed = 3", "seed = 4")))
    assert other.settings_hash != one.settings_hash


def with_stock(lines: str) -> str:
    """The study with other lines for its second system."""
    return GOOD.replace('preset = "generic"', lines)


def with_judges(lines: str) -> str:
    """The study with other judges, and lines below them."""
    return GOOD.replace('["cue"]', lines)


FAULTS = [
    (GOOD[:60] + '"', "is not valid TOML"),
    (
        GOOD.replace('judges = ["cue"]', 'judges = ["cue"]\ndesgin = "full"'),
        "judging.desgin: unknown setting (did you mean 'design'?)",
    ),
    (
        GOOD.replace("[[system]]", "[[systems]]"),
        "systems: unknown setting (did you mean 'system'?)",
    ),
    (GOOD + "\n[judgign]\n", "judgign: unknown setting (did you mean 'judging'"),
    (
        GOOD + '\n[people]\n[[people.screening]]\nqestion = "age"\npass = ["18-24"]\n',
        "people.screening.1.qestion: unknown setting (did you mean 'question'?); known: question,",
    ),
    (GOOD.replace("seed = 3", ""), "study.seed: is missing"),
    (GOOD.replace("seed = 3", 'seed = "x"'), "study.seed: expected a whole number, not 'x'"),
    (GOOD.replace('"small"', '"../small"'), "study.name"),
    (
        with_judges('["cue"]\ndesign = "half"'),
        "judging.design: input should be 'full', 'balanced' or 'newcomers', not 'half'",
    ),
    (GOOD.replace('[[system]]\nname = "stock"\npreset = "generic"', ""), "at least two systems"),
    (
        GOOD.replace('"generic"', '"genric"'),
        "there is no preset 'genric' (did you mean 'generic'?)",
    ),
    (with_stock('model = "openai-compatible/x"'), "family: name the developer's line"),
    (
        with_stock('model = "openai-compatible/gpt-4o"\nbase_url = "http://x/v1"\nfamily = "ours"'),
        "openai-compatible/gpt-4o is of the family 'gpt', not 'ours'",
    ),
    (with_stock('model = "openai-compatible/x"\nfamily = "ours"'), "base_url is missing"),
    (with_stock('model = "local:no.gguf"\nfamily = "ours"'), "there is no file"),
    (with_stock('preset = "gpt-5"\nreuse_prompts = false'), "only a local model can be told"),
    (with_stock('model = "openai-compatible/x"\nfamily = "human"'), "none of human"),
    (with_stock('preset = "gpt-5"\nkey_name = "sk-abcdef0123"'), "never a key itself"),
    (with_stock('preset = "gpt-5"\nrefuses = ["warmth"]'), "refuses: warmth"),
    (with_stock('preset = "gpt-5"\nprovider = "google"'), "is served by openrouter, openai"),
    (with_stock('preset = "polaris-4.0"'), "base_url is missing"),
    (with_stock('preset = "best_human"'), "no people yet"),
    (
        with_stock('preset = "gpt-5"\nprompt = "mathced"'),
        "(did you mean 'matched'?); expected 'paper' or 'matched', or a text file",
    ),
    (
        with_stock('preset = "generic"\nprompt = "matched"'),
        "prompt: the preset 'generic' needs nothing more",
    ),
    (
        GOOD + '\n[[judge]]\nname = "mine"\npreset = "gpt-5"\nprompt = "matched"\n',
        "judge.1.prompt (of mine): unknown setting",
    ),
    (
        with_judges('["gpt"]\nprotocol = "five-point"\naxis_marks = "optional"'),
        "with the protocol 'five-point' it is 'all' or 'off', not 'optional'",
    ),
    (with_judges('["cue"]\nprotocol = "five-point"'), "forces a winner and knows no five points"),
    (
        with_judges('["cue"]\naxis_marks = "off"'),
        "has cues for the five axes and marks all of them",
    ),
    (
        with_judges('["mine"]')
        + '\n[[judge]]\nname = "mine"\nmodel = "imported/cue"\nfamily = "theirs"\n',
        "is the offline baseline and has a family of its own",
    ),
    (with_judges('["cue"]\naxes = ["H", "H"]'), "an axis stands twice"),
    (with_judges('["cue"]\naxes = ["X"]'), "judging.axes.1"),
    (
        with_judges('["gpt"]\nprotocol = "rating"\naxes = ["C"]'),
        "a rating's overall score is over those of the five axes",
    ),
    (with_judges('["gpt"]\nrubric = "mine.toml"'), "mine.toml: there is no such file"),
    (
        GOOD + "\n[analysis]\nconsensus = 0.5\n",
        "analysis.consensus: input should be greater than 0.5",
    ),
    (
        with_judges('["gpt"]\nprotocol = "rating"\naxes = ["H"]')
        + "\n[analysis]\nweights = { H = 0 }\n",
        "not all of those that are asked about 0",
    ),
    (
        GOOD + "\n[analysis]\nweights = { H = 0, E = 0, A = 0, R = 0, T = 0 }\n",
        "not all of those that are asked about 0",
    ),
    (GOOD + "\n[analysis]\nweights = { C = 1 }\n", "C is never mixed into the five"),
    (GOOD + '\n[[judge]]\nname = "mine"\npreset = "gpt-5"\n', "does not name the judge 'mine'"),
    (with_stock(""), "system 2: preset is missing"),
    (with_stock('preset = "gpt-5"\nfamily = "gpt"'), "brings its own family"),
    (
        with_stock('preset = "generic"\nbase_url = "http://x/v1"'),
        "base_url: the preset 'generic' needs nothing more",
    ),
    (GOOD.replace('"stock"', '"original"'), "two systems have the name"),
    (GOOD.replace('"generic"', '"original"'), "two systems have the preset"),
    (with_judges('["gtp"]'), "there is no judge 'gtp'"),
    (with_judges('["cue", "cue"]'), "listed twice"),
    (with_judges("[]"), "judging.judges"),
    (with_judges('["cue"]\ndesign = "balanced"'), "needs the number of pairs"),
    (with_judges('["cue"]\ncomparisons = 5'), "a full design compares every pair"),
    (GOOD + "\n[people]\nraters_per_pair = 0\nwriters_per_item = 0\n", "asks anybody anything"),
    (GOOD + '\n[people]\nprotocol = "rating"\n', "both rate or both compare"),
    (GOOD + "\n[people]\naxis_marks = true\n", "only the protocol forced-strength has axis marks"),
    (
        GOOD + '\n[people]\nscreening = [{ question = "age", pass = ["17"] }]\n',
        "people.screening: age: '17' is none of its answers: 18-24",
    ),
    (
        GOOD + '\n[people]\nscreening = [{ question = "shoe", pass = ["9"] }]\n',
        "people.screening: shoe: there is no such question; known: age",
    ),
    (
        GOOD + '\n[people]\nscreening = [{ question = "scale", text = "Where?", answers = ["Here",'
        ' "There"], pass = ["Here"] }]\n',
        "people.screening: scale: is a question that hearteval has; give yours another name",
    ),
    (
        GOOD + '\n[people]\nquotas = [{ most = 3, answers = { age = "all" } }]\n',
        'of age: expected "each", or a list of its answers',
    ),
    (
        GOOD + '\n[people]\nquotas = [{ most = 3, answers = { age = ["17"] } }]\n',
        "people.quotas: age: '17' is none of its answers",
    ),
    (GOOD + '\n[people]\nabout_you = ["shoe size"]\n', "there is no question 'shoe size'"),
    (GOOD + '\n[people]\nname = "original"\n', "a system is named 'original' too"),
    (
        GOOD + "\n[people]\noverlap = 0\n",
        'people.overlap: expected "all", or a share above 0 and up to 1, not 0',
    ),
    (GOOD + "\n[people]\nsample = 0\n", "people.sample: input should be greater than or equal"),
    (GOOD + "\n[people]\nsample = 9\n", "people.sample: it is drawn from all pairs"),
    (
        GOOD + "\n[people]\nwriters_per_item = 0\nsample = 9\noverlap = 0.5\n",
        "people.sample: people.overlap says already",
    ),
    (
        with_judges('["gpt"]\nprotocol = "rating"')
        + '\n[people]\nprotocol = "rating"\nwriters_per_item = 0\nsample = 9\n',
        "people.sample: it is of comparisons, and people rate",
    ),
    (
        GOOD + "\n[[people]]\nraters_per_pair = 1\n",
        "people: expected one section, its name in single brackets",
    ),
    (GOOD + '\n[people]\nscale = "none.toml"\n', "people.scale: none.toml: cannot be read"),
    (GOOD.replace('"starter"', '"starter"\nfrom = "x"'), "need no folder"),
    (GOOD.replace('"starter"', '"mine.jsonl"'), "there is no file"),
    (GOOD.replace('"starter"', '"esconv"'), "items.from: give the folder"),
    (GOOD.replace('"starter"', '"esconv"\nfrom = "absent"'), "there is no folder"),
    (
        GOOD.replace('"starter"', '"esconv"\nfrom = "."\nadversarial = 20'),
        "have some made (heart items adversarial)",
    ),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_a_fault_is_one_line_that_says_what_and_where(
    text: str, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load_study(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


SCALE = """
name = "A made-up scale"
source = "Nobody (2026)."
licence = "public domain"
range = [0, 2]
labels = ["Never", "Sometimes", "Always"]
items = [{ text = "I notice how others feel." }, { text = "I get bored.", reverse = true }]
"""


def test_a_scale_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "scale.toml").write_text(SCALE, encoding="utf-8")
    path = tmp_path / "study.toml"
    path.write_text(GOOD + '\n[people]\nscale = "scale.toml"\n', encoding="utf-8")
    people = load_study(path).people
    assert people is not None
    assert people.scale is not None
    assert (people.scale.range, people.scale.items[1].reverse) == ((0, 2), True)


def test_all_faults_of_a_study_file_stand_in_one_list(tmp_path: Path) -> None:
    text = GOOD.replace("seed = 3", 'sed = 3\nstor = "x"').replace('["cue"]', '"cue"')
    path = write(tmp_path, text + "\n[analysis]\nweight = 1\n")

    with pytest.raises(SettingsError) as caught:
        load_study(path)

    assert str(caught.value).splitlines() == [
        f"{path}: 4 faults",
        "  study.sed: unknown setting (did you mean 'seed'?); known: name, seed, store, "
        "fail_on_missing, stop_wait_s, simulated",
        "  study.stor: unknown setting (did you mean 'store'?); known: name, seed, store, "
        "fail_on_missing, stop_wait_s, simulated",
        "  judging.judges: expected a list in brackets, not 'cue'",
        "  analysis.weight: unknown setting (did you mean 'weights'?); known: weights, "
        "consensus, split_axes, covariates, headline, assume_random, against",
    ]
    places = {"study.sed", "study.stor", "judging.judges", "analysis.weight"}
    assert set(caught.value.ids) == places


def test_faults_of_several_sections_stand_in_one_list(tmp_path: Path) -> None:
    text = GOOD.replace('"starter"', '"absent.jsonl"').replace('"original"', '"orginal"')
    path = write(tmp_path, text.replace('"generic"', '"genric"').replace('["cue"]', '["gtp"]'))

    with pytest.raises(SettingsError) as caught:
        load_study(path)

    first, *others = str(caught.value).splitlines()
    assert first == f"{path}: 4 faults"
    starts = ("  items.source: ", "  system 1: ", "  system 2: ", "  judging.judges: ")
    assert all(line.startswith(start) for line, start in zip(others, starts, strict=True))


def test_a_missing_file_says_where_to_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no such study file"):
        load_study(tmp_path / "absent.toml")


def test_a_folder_is_no_study_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is a folder; name the study file in it"):
        load_study(tmp_path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load_study(path)


def test_a_password_in_a_database_address_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "postgresql://someone:hunter2@localhost/x"
    monkeypatch.setenv("HEART_STORE", address)
    settings = load_study(write(tmp_path, GOOD))
    assert settings.store == address
    assert "hunter2" not in repr(settings)


@pytest.mark.parametrize(
    "place",
    [
        "host=h password=hunter2 dbname=x",
        "postgres:/u:hunter2@h/db",
        "postgresql:u:hunter2@h",
        "sqlite://u:hunter2@h/db",
    ],
)
def test_what_is_neither_path_nor_address_is_refused_unseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("HEART_STORE", place)
    with pytest.raises(SettingsError) as caught:
        load_study(write(tmp_path, GOOD))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("value", ['["postgresql://u:hunter2@h/db"]', '{ url = "x:hunter2@h" }'])
def test_a_store_of_the_wrong_type_is_not_repeated(tmp_path: Path, value: str) -> None:
    path = write(tmp_path, GOOD.replace("seed = 3", f"seed = 3\nstore = {value}"))
    with pytest.raises(SettingsError, match=r"study\.store") as caught:
        load_study(path)
    assert "hunter2" not in str(caught.value)


MODELS = """
[[system]]
preset = "gpt-5"
[[system]]
name = "ours"
model = "openai-compatible/our-model"
base_url = "http://user:secret-word@127.0.0.1:8000/v1"
family = "ours"
key_name = "OUR_KEY"
price = { input = 0.5, output = 1.5 }
[[judge]]
name = "sharp"
preset = "claude-4.5-sonnet"
provider = "anthropic"
"""
WITH_MODELS = with_judges('["cue", "sharp", "gemini"]') + MODELS


def test_models_come_as_presets_as_own_endpoints_and_as_judges(tmp_path: Path) -> None:
    settings = load_study(write(tmp_path, WITH_MODELS))

    gpt, ours = (system.model for system in settings.systems[2:])
    assert gpt is not None
    assert (gpt.provider, gpt.family, gpt.key_name) == ("openrouter", "gpt", "OPENROUTER_API_KEY")
    assert gpt.refuses == {"temperature", "top_p"}
    assert settings.systems[2].name == "GPT-5"
    assert ours is not None
    assert (ours.provider, ours.model, ours.key_name) == (
        "openai-compatible",
        "our-model",
        "OUR_KEY",
    )
    assert ours.price is not None
    assert (ours.price.input_usd, ours.price.output_usd) == (0.5, 1.5)
    cue, sharp, gemini = settings.judging.judges
    assert cue.model is None
    assert sharp.model is not None
    assert (sharp.name, sharp.model.provider, sharp.model.family) == (
        "sharp",
        "anthropic",
        "claude",
    )
    assert gemini.model is not None
    assert gemini.model.family == "gemini"


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini", "gpt"),
        ("o3-pro", "gpt"),
        ("anthropic/claude-3-opus:beta", "claude"),
        ("us.anthropic.claude-3-7-sonnet-v1:0", "claude"),
        ("Gemini-9-pro", "gemini"),
        ("meta-llama/llama-4-maverick", "llama"),
        ("olmo-2", None),
        ("my-gpt-like", None),
        ("opus", None),
    ],
)
def test_family_of_a_known_model_follows_from_its_id(
    tmp_path: Path, model: str, family: str | None
) -> None:
    assert find_family(model) == family
    lines = f'model = "openai-compatible/{model}"\nbase_url = "http://127.0.0.1:1/v1"'
    path = write(tmp_path, with_stock(lines))
    if family is None:
        with pytest.raises(SettingsError, match="family: name the developer's line"):
            load_study(path)
    else:
        named = [s.model for s in load_study(path).systems if s.model is not None]
        assert [one.family for one in named] == [family]


LIMITS = "rpm = 60\ntpm = 30_000\ntimeout_s = 90\ntries = 2\nmax_wait_s = 0\nstop_after = 3\n"


def test_limits_of_a_model_are_read_and_make_no_other_study(tmp_path: Path) -> None:
    plain = load_study(write(tmp_path, WITH_MODELS))
    limited = load_study(write(tmp_path, WITH_MODELS + LIMITS))

    judge = limited.judging.judges[1].model
    assert judge is not None
    assert asdict(judge.limits) == {
        "rpm": 60,
        "tpm": 30_000,
        "timeout_s": 90,
        "tries": 2,
        "max_wait_s": 0,
        "stop_after": 3,
    }
    assert limited.settings_hash == plain.settings_hash


def test_judges_are_asked_whole_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    plain = load_study(write(tmp_path, WITH_MODELS))
    streamed = load_study(write(tmp_path, f"{WITH_MODELS}stream = true\n"))

    def of_judge(study: StudySettings) -> bool:
        judge = study.judging.judges[1].model
        assert judge is not None
        return judge.is_streamed

    assert (of_judge(plain), of_judge(streamed)) == (False, True)
    assert all(one.model.is_streamed for one in plain.systems if one.model is not None)
    assert streamed.settings_hash == plain.settings_hash


@pytest.mark.parametrize(
    "setting", ["rpm = 0", "tpm = -1", "timeout_s = 0", "tries = 0", "max_wait_s = -1", "rpm = inf"]
)
def test_limit_that_is_none_is_refused_by_its_name(tmp_path: Path, setting: str) -> None:
    with pytest.raises(SettingsError, match=setting.split(maxsplit=1)[0]):
        load_study(write(tmp_path, f"{WITH_MODELS}{setting}\n"))


def test_addresses_and_keys_are_no_part_of_what_is_shown_or_hashed(tmp_path: Path) -> None:
    one = load_study(write(tmp_path, WITH_MODELS))
    two = load_study(write(tmp_path, WITH_MODELS.replace("127.0.0.1:8000", "10.0.0.1")))

    assert one.settings_hash == two.settings_hash
    assert "secret-word" not in repr(one)


def test_key_comes_from_the_environment_and_is_missed_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OUR_KEY", " canary \n")
    assert read_key("OUR_KEY", who="system ours") == "canary"
    assert read_key(None, who="system ours") is None

    monkeypatch.delenv("OUR_KEY")
    with pytest.raises(SettingsError, match=r"system ours needs a key: set .* OUR_KEY"):
        read_key("OUR_KEY", who="system ours")


def test_names_in_a_file_of_dialogues_are_part_of_the_study(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Bob: hello", encoding="utf-8")
    plain = GOOD.replace("[items]", "[[items]]").replace('"starter"', '"mine.txt"')
    named = plain.replace('"mine.txt"', '"mine.txt"\nseeker = ["Bob"]\nrole_column = "who"')
    one, other = (load_study(write(tmp_path, text)) for text in (plain, named))
    assert one.items[0].names is None
    assert other.items[0].names is not None
    assert (other.items[0].names.seeker, other.items[0].names.role) == (("Bob",), "who")
    assert one.settings_hash != other.settings_hash


def test_what_makes_the_items_of_a_file_is_what_is_said_but_for_its_encoding(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.txt").write_text("K: hello", encoding="utf-8")
    plain = GOOD.replace("[items]", "[[items]]").replace('"starter"', '"mine.txt"\nseeker = ["K"]')
    more = ['encoding = "cp1252"', 'last_reply = "drop"', 'problem_column = "Thema"']
    texts = (plain, *(plain.replace('["K"]', f'["K"]\n{line}') for line in more))
    first, *others = (load_study(write(tmp_path, text)) for text in texts)

    names = {"dialogue": None, "role": None, "text": None, "seeker": ("K",), "supporter": ()}
    assert first.items[0].identity["names"] == names
    assert [one.settings_hash == first.settings_hash for one in others] == [True, False, False]


def test_names_are_refused_for_items_that_have_none(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace('"starter"', '"starter"\nseeker = ["Bob"]'))
    with pytest.raises(SettingsError, match="for a file of your own only"):
        load_study(path)


TWO_TABLES = GOOD.replace(
    '[items]\nsource = "starter"',
    '[[items]]\nsource = "esconv"\nfrom = "esconv"\n'
    '[[items]]\nsource = "starter"\nregular = 0\nadversarial = 20',
)


def test_items_come_from_several_tables_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "esconv").mkdir()
    settings = load_study(write(tmp_path, TWO_TABLES))
    assert [(t.source, t.regular, t.adversarial) for t in settings.items] == [
        ("esconv", 280, 0),
        ("starter", 0, 20),
    ]
    one = load_study(write(tmp_path, GOOD))
    assert settings.settings_hash != one.settings_hash


def test_one_table_is_the_same_in_single_and_double_brackets(tmp_path: Path) -> None:
    one = load_study(write(tmp_path, GOOD))
    other = load_study(write(tmp_path, GOOD.replace("[items]", "[[items]]")))
    assert one.items == other.items
    assert one.settings_hash == other.settings_hash


@pytest.mark.parametrize(
    ("faulty", "message"),
    [
        (("adversarial = 20", "adversarial = -1"), "items.2.adversarial: "),
        (("adversarial = 20", "adversaria = 20"), "items.2.adversaria: unknown setting"),
        (('"starter"', '"absent.txt"'), "items.2.source: expected 'starter'"),
        (('from = "esconv"', 'from = "absent"'), "items.1.from: there is no folder"),
        (("regular = 0", 'topics = "paper"'), "items.2.topics: says what is left out"),
        (('from = "esconv"', 'from = "esconv"\ntopics = "all"'), "items.1.topics: "),
    ],
)
def test_a_fault_in_a_table_of_items_names_the_table(
    tmp_path: Path, faulty: tuple[str, str], message: str
) -> None:
    (tmp_path / "esconv").mkdir()
    with pytest.raises(SettingsError) as caught:
        load_study(write(tmp_path, TWO_TABLES.replace(*faulty)))
    assert message in str(caught.value)


def test_a_fault_in_a_list_of_the_one_table_has_its_place_in_the_list(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"items\.seeker\.1: "):
        load_study(write(tmp_path, GOOD.replace('"starter"', '"mine.txt"\nseeker = [3]')))


def test_faults_of_all_tables_are_listed(tmp_path: Path) -> None:
    text = TWO_TABLES.replace('"starter"', '"absent.txt"')
    with pytest.raises(SettingsError) as caught:
        load_study(write(tmp_path, text))
    assert "items.1.from" in str(caught.value)
    assert "items.2.source" in str(caught.value)


def test_a_study_without_a_table_of_items_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="items: is missing"):
        load_study(write(tmp_path, GOOD.replace('[items]\nsource = "starter"', "")))


def test_topics_are_part_of_a_study_once_they_are_said(tmp_path: Path) -> None:
    (tmp_path / "esconv").mkdir()
    text = GOOD.replace('"starter"', '"esconv"\nfrom = "esconv"')
    unsaid, paper, cautious = (
        load_study(write(tmp_path, text.replace('from = "esconv"', f'from = "esconv"{more}')))
        for more in ("", '\ntopics = "paper"', '\ntopics = "cautious"')
    )
    assert [one.items[0].topics for one in (unsaid, paper, cautious)] == [None, "paper", "cautious"]
    assert len({one.settings_hash for one in (unsaid, paper, cautious)}) == 3


OF_ONE_FAMILY = """
[study]
name = "small"
seed = 3
[items]
source = "starter"
[[system]]
preset = "generic"
[[system]]
name = "ours"
model = "m"
base_url = "http://127.0.0.1:1/v1"
family = "us"
price = 0
[[judge]]
name = "our judge"
model = "j"
base_url = "http://127.0.0.1:1/v1"
family = "us"
price = 0
[judging]
judges = ["our judge"]
"""


def test_system_that_no_judge_may_judge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no judge may judge ours: our judge and it are of one"):
        load_study(write(tmp_path, OF_ONE_FAMILY))
    for allowed in (
        OF_ONE_FAMILY + "exclude_own_family = false\n",
        OF_ONE_FAMILY.replace('["our judge"]', '["our judge", "cue"]'),
        OF_ONE_FAMILY.replace('"us"', '"them"', 1),
    ):
        assert load_study(write(tmp_path, allowed)).systems[1].name == "ours"


def test_two_briefs_of_one_preset_are_two_systems(tmp_path: Path) -> None:
    (tmp_path / "warm.txt").write_text("Be warm.\n", encoding="utf-8")
    briefs = ("", 'prompt = "matched"', 'prompt = "warm.txt"')
    entries = "".join(f'[[system]]\npreset = "gpt-5"\n{brief}\n' for brief in briefs)
    read = load_study(write(tmp_path, GOOD.replace("[judging]", f"{entries}[judging]")))
    models = [one for one in read.systems if one.model is not None]
    assert [one.name for one in models] == ["GPT-5", "GPT-5 (matched)", "GPT-5 (warm)"]
    assert [one.brief.name for one in models if one.brief] == ["paper", "matched", "own"]
    (tmp_path / "warm.txt").write_text("Be warmer.\n", encoding="utf-8")
    changed = load_study(read.file)
    assert changed.settings_hash != read.settings_hash


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"x" * 20_001])
def test_a_brief_that_no_model_could_be_told_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine.txt").write_bytes(content)
    text = with_stock('preset = "gpt-5"\nprompt = "mine.txt"')
    with pytest.raises(SettingsError, match=r"system 2: prompt: .*mine\.txt"):
        load_study(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("= broken", "cannot be read as TOML"),
        ('[H]\nanchor = "Kind?"\n', "H.criteria: field required"),
        ("", "lacks the axis H"),
    ],
)
def test_an_own_rubric_is_checked_before_a_judge_sees_it(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    study = with_judges('["gpt"]\nrubric = "mine.toml"')
    with pytest.raises(SettingsError, match=re.escape(said)):
        load_study(write(tmp_path, study))


def test_the_rubric_of_the_paper_is_known_by_its_name(tmp_path: Path) -> None:
    form = load_study(write(tmp_path, with_judges('["gpt"]\nrubric = "paper"'))).judging.form
    assert form.settings["rubric"] == "paper"
    assert all(axis in form.texts for axis in form.axes)
    assert "C" not in form.texts


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('axes = ["H", "C"]', "the paper's has no axis C"),
        ('protocol = "rating"', "the paper's says nothing of scores"),
    ],
)
def test_the_rubric_of_the_paper_has_its_axes_and_no_levels(
    tmp_path: Path, lines: str, said: str
) -> None:
    study = with_judges(f'["gpt"]\nrubric = "paper"\n{lines}')
    with pytest.raises(SettingsError, match=re.escape(said)) as refused:
        load_study(write(tmp_path, study))
    assert refused.value.ids == ("judging.rubric",)


def test_thresholds_of_ambiguity_are_part_of_what_makes_the_results(tmp_path: Path) -> None:
    usual = load_study(write(tmp_path, GOOD))
    assert (usual.ambiguity.consensus, usual.ambiguity.split_axes) == (0.8, 1)
    said = load_study(write(tmp_path, GOOD + "\n[analysis]\nconsensus = 0.8\n"))
    other = load_study(write(tmp_path, GOOD + "\n[analysis]\nsplit_axes = 2\n"))
    assert said.settings_hash == usual.settings_hash != other.settings_hash
    assert other.ambiguity.split_axes == 2


def test_whose_votes_count_is_part_of_what_makes_the_results(tmp_path: Path) -> None:
    usual = load_study(write(tmp_path, GOOD))
    other = load_study(write(tmp_path, GOOD + '\n[analysis]\nheadline = "both"\n'))
    assert (usual.headline, other.headline) == (None, "both")
    assert usual.settings_hash != other.settings_hash
    drawn = load_study(write(tmp_path, GOOD + "\n[analysis]\nassume_random = true\n"))
    assert drawn.assume_random
    assert usual.settings_hash != drawn.settings_hash
    with pytest.raises(SettingsError, match=r"analysis\.headline"):
        load_study(write(tmp_path, GOOD + '\n[analysis]\nheadline = "raters"\n'))


def test_weights_and_form_are_part_of_what_makes_the_results(tmp_path: Path) -> None:
    judged = with_judges('["gpt"]')
    usual = load_study(write(tmp_path, judged))
    assert set(usual.weights.values()) == {1.0}
    hashes = {usual.settings_hash}
    for change in (
        judged.replace('["gpt"]', '["gpt"]\nprotocol = "five-point"'),
        judged.replace('["gpt"]', '["gpt"]\naxis_marks = "off"'),
        judged.replace('["gpt"]', '["gpt"]\naxes = ["H", "E", "A", "R", "T", "C"]'),
        judged + "\n[analysis]\nweights = { A = 2, R = 0.5 }\n",
    ):
        usual = load_study(write(tmp_path, change))
        hashes.add(usual.settings_hash)
    assert len(hashes) == 5
    assert dict(usual.weights) == {"H": 1.0, "E": 1.0, "A": 2.0, "R": 0.5, "T": 1.0}


def test_what_is_kept_secret_is_no_path_and_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "PLANTED_KEY": " sk-0123456789abcdef ",
        "PLANTED_TOKEN": "postgres",
        "PLANTED_SECRET": "/home/anna/keys/private.pem",
        "PLANTED_WORDS": "sk-words-of-no-secret-at-all",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    found = keys_at_hand()
    assert "sk-0123456789abcdef" in found
    assert {value.strip() for value in given.values()} & {*found} == {"sk-0123456789abcdef"}
