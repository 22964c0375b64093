"""Pin what `heart` says, so that a change of structure can be shown to change nothing.

    python benchmarks/pinned_outputs.py make DIR [tables|demo|judged|rated|esconv ...]
    python benchmarks/pinned_outputs.py compare OLD NEW

`make` runs the demo, HEART's 280 items of ESConv with six systems, a study that two scripted judges
decide and audit, a study of ratings, and `heart rank` and `heart agree` on the reference data.
`compare` lists every difference, clocks, versions and the project's name apart. The judges are a
loopback server in this process: one prefers the longer reply, one a hash; now and then either
breaks off, so that missing judgments are pinned too.
"""

import csv
import gzip
import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
REFERENCE = DATA / "reference"
HEART = Path(sys.executable).with_name("heart")
STUDY = """
[study]
name = "{name}"
seed = 11
[items]
source = "starter"
regular = 24
adversarial = 8
[[system]]
preset = "original"
[[system]]
preset = "generic"
[[system]]
preset = "reflective"
[[system]]
preset = "advice"
[[system]]
name = "ours"
model = "openai-compatible/our-model"
base_url = "{url}"
family = "ours"
concurrency = 1
price = {{ input = 0.5, output = 2.0 }}
[[judge]]
name = "longer"
model = "openai-compatible/longer-judge"
base_url = "{url}"
family = "theirs"
concurrency = 1
price = {{ input = 1.0, output = 4.0 }}
[[judge]]
name = "inside"
model = "openai-compatible/hash-judge"
base_url = "{url}"
family = "ours"
concurrency = 1
price = {{ input = 1.0, output = 4.0 }}
[judging]
judges = ["longer", "inside"]
protocol = "{protocol}"
stress_items = 6
repeat_pairs = 10
"""
REPLIES = (
    "That sounds like a lot to carry. What would help you most tonight?",
    "It makes sense that you are tired. You have been holding this on your own.",
    "I hear how much that hurt. Would it help to talk about what happened next?",
    "Thank you for telling me. Which part of it weighs on you most?",
)
CLOCKS = re.compile(
    r"(created_at|_ms|seconds|version|software|path|url|spent_usd)$|^(report|results|out)$"
)
RANKED: Mapping[str, Sequence[str]] = {
    "plain": (),
    "cluster": ("--cluster", "prompt"),
    "two_way": ("--cluster", "prompt", "--rater", "worker"),
    "davidson": ("--cluster", "prompt", "--ties", "davidson"),
    "drop": ("--cluster", "prompt", "--ties", "drop", "--prior", "0.5"),
    "bootstrap": ("--cluster", "prompt", "--interval", "item-bootstrap", "--resamples", "200"),
    "published": ("--cluster", "prompt", "--interval", "published", "--level", "0.9"),
}
CONTROLLED = """
import json, sys
import PACKAGE as he
votes = sys.argv[1]
print(json.dumps(he.rank_controlled(votes, cluster="item",
    controls={"length": ("len1", "len2")}).to_dict()))
print(json.dumps(he.rank_judge_aware(votes, judge="judge", cluster="item").to_dict()))
"""


def reply_of(body: Mapping[str, Any]) -> str:
    """Return what a scripted model says; the same question has the same answer."""
    said = "\n".join(message["content"] for message in body["messages"])
    key = int.from_bytes(
        hashlib.sha256(re.sub(r"\b[0-9a-f]{16}\b", "", said).encode()).digest()[:6]
    )
    if "response_format" not in body:
        return REPLIES[key % len(REPLIES)]
    properties = body["response_format"]["json_schema"]["schema"]["properties"]
    if "colour" in properties:
        return json.dumps({"colour": properties["colour"]["enum"][0]})
    if key % 13 == 0:
        return '{"broken": '
    marks = {name: _mark(schema, name, said, key, body) for name, schema in properties.items()}
    return json.dumps(marks)


def _mark(
    schema: Mapping[str, Any], name: str, said: str, key: int, body: Mapping[str, Any]
) -> dict[str, Any]:
    own = int.from_bytes(hashlib.sha256(f"{key}{name}".encode()).digest()[:4])
    if "score" in schema["properties"]:
        return {"comment": "stays with the seeker", "score": 1 + own % 5}
    first, second = (_block(said, side) for side in "AB")
    winner = "AB"[own % 2]
    if body["model"] == "longer-judge" and own % 4:
        winner = "A" if len(first) >= len(second) else "B"
    return {"reason": "closer to what was said", "winner": winner, "strength": 1 + own % 5}


def _block(said: str, side: str) -> str:
    found = re.search(rf"\[reply {side} \w+\]\n(.*?)\n\[end of reply {side} ", said, re.DOTALL)
    return found[1] if found else ""


class Handler(BaseHTTPRequestHandler):
    """Answers chat completions in one piece, with usage."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = reply_of(body)
        usage = {"prompt_tokens": len(json.dumps(body["messages"])) // 4, "completion_tokens": 40}
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "delta": message, "finish_reason": "stop"}
        found = {"id": "c1", "model": body["model"], "choices": [choice], "usage": usage}
        sent = json.dumps(found).encode()
        kind = "application/json"
        if body.get("stream"):
            sent, kind = b"data: " + sent + b"\n\ndata: [DONE]\n\n", "text/event-stream"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


def run(folder: Path, name: str, *words: str | Path) -> None:
    """Run one command and keep what it prints."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    (folder / f"{name}.out").write_text(done.stdout, "utf-8")
    (folder / f"{name}.err").write_text(f"exit {done.returncode}\n{done.stderr}", "utf-8")
    print(f"{name}: exit {done.returncode}, {len(done.stdout):,} characters", flush=True)


def study(folder: Path, name: str, *verbs: Sequence[str | Path]) -> None:
    """Run verbs on a study file, and the reports of its results."""
    for index, (verb, *more) in enumerate(verbs):
        words = str(verb).split()
        run(folder, f"{name}.{index}.{'_'.join(words)}", HEART, *words, *more)


def make(folder: Path, parts: Sequence[str]) -> None:
    """Write the outputs of some parts, or of all, below a new folder."""
    folder.mkdir(parents=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    for part in parts or PARTS:
        PARTS[part](folder, url)
    server.shutdown()


def demo(folder: Path, _url: str) -> None:
    """Run the starter study, twice."""
    run(folder, "demo.init", HEART, "init", "demo")
    study(folder, "demo", ("run", "demo/demo.toml", "--json"), ("run", "demo/demo.toml"))
    run(folder, "systems", HEART, "systems", "--json")


def esconv(folder: Path, _url: str) -> None:
    """Run HEART's 280 items of ESConv with six systems, twice."""
    file = folder / "esconv.toml"
    text = (ROOT / "benchmarks" / "esconv.toml").read_text("utf-8")
    file.write_text(text.replace("../../shared/data/esconv", str(DATA / "esconv")), "utf-8")
    study(folder, "esconv", ("run", file, "--json"), ("run", file))


def judged(folder: Path, url: str) -> None:
    """Run and audit a study that two scripted judges decide."""
    file = folder / "judged.toml"
    file.write_text(STUDY.format(name="judged", protocol="forced-strength", url=url), "utf-8")
    audit = ("judges audit", file, "--items", "5", "--yes")
    again = ("judge", file, "--again", "--yes", "--json")
    first, more = ("run", file, "--yes", "--json"), ("run", file)
    study(folder, "judged", (*audit, "--json"), first, more, audit, again, (*more, "--json"))


def rated(folder: Path, url: str) -> None:
    """Run a study of ratings."""
    file = folder / "rated.toml"
    file.write_text(STUDY.format(name="rated", protocol="rating", url=url), "utf-8")
    again = ("judge", file, "--again", "--yes", "--json")
    run_again = ("run", file, "--json")
    study(folder, "rated", ("run", file, "--yes", "--json"), ("run", file), again, run_again)


def tables(folder: Path, _url: str) -> None:
    """Rank and measure agreement on all reference data that fits."""
    votes = REFERENCE / "llmfao" / "crowd-comparisons.csv"
    for name, options in RANKED.items():
        run(folder, f"rank.llmfao.{name}", HEART, "rank", votes, *options, "--json")
        run(folder, f"rank.llmfao.{name}.text", HEART, "rank", votes, *options)
    alpaca = folder / "alpaca.csv"
    with gzip.open(REFERENCE / "alpaca_eval" / "annotations_compact.csv.gz", "rt") as source:
        _write_alpaca(alpaca, csv.DictReader(source))
    columns = ("--left", "gen1", "--right", "gen2", "--winner", "preference", "--cluster", "item")
    run(folder, "rank.alpaca", HEART, "rank", alpaca, *columns, "--prior", "1", "--json")
    package = "hearteval" if (ROOT / "src" / "hearteval").is_dir() else "heartbench"
    code = CONTROLLED.replace("PACKAGE", package)
    votes_of = vote_tables()
    three_judges = folder / "three_judges.csv"
    head = ("left", "right", "winner", "item", "judge", "len1", "len2")
    votes_of_three = [
        [*vote, f"j{i % 3}", 1 + i % 7, 1 + i % 5] for i, vote in enumerate(votes_of["football"])
    ]
    _write(three_judges, head, votes_of_three)
    run(folder, "controlled", sys.executable, "-c", code, three_judges)
    for name, rows in votes_of.items():
        file = folder / f"{name}.votes.csv"
        _write(file, ("left", "right", "winner", "item"), rows)
        run(folder, f"rank.{name}", HEART, "rank", file, "--cluster", "item", "--json")
        run(folder, f"rank.{name}.text", HEART, "rank", file)
    for name, (rows, level) in rating_tables().items():
        file = folder / f"{name}.ratings.csv"
        _write(file, ("unit", "rater", "value"), rows)
        words = ("--unit", "unit", "--rater", "rater", "--value", "value", "--level", level)
        run(folder, f"agree.{name}", HEART, "agree", file, *words, "--json")
        run(folder, f"agree.{name}.text", HEART, "agree", file, *words)


def _write_alpaca(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    more = ("item", "annotator", "len1", "len2")
    kept = [
        [row["gen1"], row["gen2"], int(float(row["preference"])), *(row[k] for k in more)]
        for row in rows
        if row["preference"] in ("1.0", "2.0") and row["annotator"] == "alpaca_eval_gpt4_turbo_fn"
    ]
    outcomes = {(row[1], row[2]) for row in kept}
    kept = [row for row in kept if {(row[1], 1), (row[1], 2)} <= outcomes]
    _write(path, ("gen1", "gen2", "preference", *more), kept)


def vote_tables() -> dict[str, list[list[object]]]:
    """Return the classic tables of comparisons as votes, one row each."""
    tables: dict[str, list[list[object]]] = {}

    def expand(name: str, file: str, read: Callable[[Mapping[str, str]], list[Any]]) -> None:
        votes: list[list[object]] = []
        for row in _rows(file):
            left, right, *counts = read(row)
            for winner, n in zip((left, right, "tie"), counts, strict=False):
                votes += [[left, right, winner] for _ in range(round(float(n)))]
        tables[name] = [[*vote, f"item{index // 5}"] for index, vote in enumerate(votes)]

    teams = ("home.team", "away.team", "home.wins", "away.wins")
    expand("baseball", "agresti_baseball", lambda row: [row[name] for name in teams])
    pudding = ("i", "j", "w_ij", "w_ji", "t_ij")
    expand(
        "pudding",
        "davidson1970_pudding",
        lambda row: [f"p{row[n]}" if n in "ij" else row[n] for n in pudding],
    )
    schools = ("school1", "school2", "win1", "win2", "tied")
    expand(
        "cems", "cems_preferences", lambda row: [row[n] if row[n] != "NA" else 0 for n in schools]
    )
    spring = ("row", "col", "win", "loss", "tie")
    expand(
        "springall",
        "springall1973",
        lambda row: [f"s{row[n]}" if n in ("row", "col") else row[n] for n in spring],
    )
    hockey = {"1": (1, 0, 0), "0": (0, 1, 0), "0.5": (0, 0, 1)}
    expand(
        "hockey",
        "icehockey2009",
        lambda row: [row["visitor"], row["opponent"], *hockey[row["result"]]],
    )
    goals = {"1": (1, 0, 0), "-1": (0, 1, 0), "0": (0, 0, 1)}
    expand(
        "football",
        "football_epl_2008_2013",
        lambda row: [row["home"], row["away"], *goals[row["result"]]],
    )
    return tables


def rating_tables() -> dict[str, tuple[list[list[object]], str]]:
    """Return the tables of ratings in long form, with their level."""
    tables: dict[str, tuple[list[list[object]], str]] = {}
    wide = {
        "fleiss1971_diagnoses": "nominal",
        "krippendorff_C": "ordinal",
        "irr_anxiety": "interval",
    }
    for name, level in {**wide, "irr_video": "ratio"}.items():
        cells = [(unit, *cell) for unit, row in enumerate(_rows(name)) for cell in row.items()]
        tables[name] = (
            [[f"u{unit}", rater, value] for unit, rater, value in cells if value],
            level,
        )
    wine: list[list[object]] = [
        [row["Wine"], row["Judge"], row["Scores"]] for row in _rows("pingouin_icc_wine")
    ]
    tables["wine"] = (wine, "interval")
    with (REFERENCE / "kumar2025" / "tidy_ratings.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["rater"].startswith("expert"):
                rows, _ = tables.setdefault(f"kumar_{row['dimension']}", ([], "interval"))
                rows.append([row["item"], row["rater"], row["rating"]])
    return tables


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (REFERENCE / "classic" / f"{name}.csv").open(encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _write(path: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def compare(old: Path, new: Path) -> int:
    """Print every difference between two folders; return how many files differ."""
    names = sorted(
        {_name(path, old) for path in _outputs(old)} | {_name(p, new) for p in _outputs(new)}
    )
    n_different = 0
    for name in names:
        sides = [_said(side / name, side) for side in (old, new)]
        found = list(differences(*sides, where=""))
        n_different += bool(found)
        for line in found[:12]:
            print(f"{name}: {line}")
        if len(found) > 12:
            print(f"{name}: … {len(found) - 12} more")
    print(f"{len(names)} outputs, {n_different} differ")
    return n_different


def _outputs(folder: Path) -> list[Path]:
    kept = (".out", ".err", ".results.json", ".report.html", ".leaderboard.csv", ".ratings.csv")
    return [
        path
        for path in folder.rglob("*")
        if (path.name.endswith(kept) and not re.search(r"(ratings|votes)\.csv$", path.name))
        or path.name in ("rated.ratings.csv",)
    ]


def _name(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder))


def _said(path: Path, folder: Path) -> Any:
    if not path.is_file():
        return None
    text = path.read_text("utf-8").replace(str(folder.resolve()), "DIR").replace(str(folder), "DIR")
    text = text.replace("heartbench", "hearteval").replace("hearteval.", "heart.")
    text = re.sub(r"127\.0\.0\.1:\d+", "SERVER", text)
    text = re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?", "TIME", text)
    text = re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", "TIME", text)
    lines = text.strip().splitlines()
    if lines and all(line.startswith("{") for line in lines):
        return [json.loads(line) for line in lines]
    if path.suffix == ".json":
        return json.loads(text)
    return [line for line in lines if not re.search(r"\d[\d.]* ?(/s|s left|ms)|\(at \d", line)]


def differences(old: Any, new: Any, *, where: str) -> Iterator[str]:
    """Name every place where two documents differ, clocks apart."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if CLOCKS.search(key):
                continue
            if key not in new or key not in old:
                yield f"{where}.{key}: only in the {'old' if key in old else 'new'}"
            else:
                yield from differences(old[key], new[key], where=f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{where}: {len(old)} entries, now {len(new)}"
        for index, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from differences(one, other, where=f"{where}[{index}]")
    elif old != new:
        yield f"{where}: {str(old)[:300]!r} → {str(new)[:300]!r}"


PARTS: Mapping[str, Callable[[Path, str], None]] = {
    "tables": tables,
    "demo": demo,
    "judged": judged,
    "rated": rated,
    "esconv": esconv,
}


if __name__ == "__main__":
    order, first, *more = sys.argv[1:]
    if order == "make":
        make(Path(first).resolve(), more)
    else:
        raise SystemExit(1 if compare(Path(first).resolve(), Path(more[0]).resolve()) else 0)
