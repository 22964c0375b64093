"""Twelve counselling dialogues in German, and the shapes in which a researcher may have them.

A language model wrote all of them for this project, both sides; nobody in them is real. K is who
seeks support, B the counsellor, and the last turn is the counsellor's.
"""

import csv
import json
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

DIALOGUES: Sequence[tuple[str, Sequence[str]]] = (
    (
        "Arbeit",
        (
            "Seit der Umstellung sitze ich allein im Büro; keiner grüßt mich mehr.",
            "Das klingt still. Wann ist es Ihnen zuerst aufgefallen?",
            "Nach der Besprechung im März. Ich hatte „zu viel gefragt“, hieß es.",
            "Und seitdem fragen Sie weniger. Was würden Sie gern noch wissen?",
        ),
    ),
    (
        "Trauer",
        (
            "Mein Vater ist im Herbst gestorben. Ich räume seine Küche nicht aus.",
            "Was steht dort noch so, wie er es gelassen hat?",
            "Die Brille, auf dem Kühlschrank. Ich kann sie nicht wegtun.",
            "Sie muss heute nirgendwohin. Mögen Sie mir von ihm erzählen?",
        ),
    ),
    (
        "Einsamkeit",
        (
            "Ich bin vor zwei Jahren hergezogen und kenne nur die Kassiererin.",
            "Sie klingen müde, wenn Sie das sagen.",
            "Am Wochenende rede ich mit niemandem. Manchmal übe ich laut „Hallo“.",
            "Dass Sie üben, zeigt, wie sehr Sie es wollen. Wem gälte das Hallo?",
        ),
    ),
    (
        "Partnerschaft",
        (
            "Wir streiten nur noch über den Müll.",
            "Worum geht es, wenn es um den Müll geht?",
            "Darum, dass ich nie gefragt werde; er entscheidet alles.",
            "Nie gefragt zu werden, das tut weh. Wann wurden Sie zuletzt gefragt?",
        ),
    ),
    (
        "Familie",
        (
            "Meine Schwester ruft nicht mehr an.",
            "Wie lange geht das schon?",
            "Seit dem Streit um das Haus. Ich weiß nicht, was ich falsch gemacht habe.",
            "Das Nichtwissen ist vielleicht das Schwerste. Was vermuten Sie?",
            "Dass sie denkt, mir ging es ums Geld. 300 € hätten mir gereicht.",
            "Ihnen ging es um etwas anderes. Um was?",
        ),
    ),
    (
        "Studium",
        (
            "Ich sitze seit Wochen vor der leeren Seite.",
            "Was passiert, wenn Sie sie öffnen?",
            "Mir wird heiß, dann spüle ich Geschirr. Sauber ist es bei mir immer.",
            "Ein Satz fürs Papier, der schlecht sein darf: Wie ginge der?",
        ),
    ),
    (
        "Arbeit",
        (
            "Die Probezeit wurde verlängert. Alle anderen sind durch.",
            "Wie haben Sie es erfahren?",
            "Per E-Mail, eine Zeile. Ich schäme mich so, dass ich es keinem sage.",
            "Jetzt haben Sie es gesagt. Wie ist das?",
        ),
    ),
    (
        "Pflege",
        (
            "Ich pflege meine Mutter und schlafe kaum.",
            "Wer weckt Sie?",
            "Sie ruft; dann ist nichts. Und dann bin ich böse auf sie.",
            "Böse sein und trotzdem aufstehen, beides zugleich. Wer löst Sie ab?",
        ),
    ),
    (
        "Freundschaft",
        (
            "Meine beste Freundin heiratet und hat mich nicht gefragt.",
            "Was hatten Sie sich vorgestellt?",
            "Neben ihr zu stehen. So hatten wir es mit zwölf ausgemacht.",
            "Ein Versprechen von damals. Weiß sie, dass Sie noch daran denken?",
        ),
    ),
    (
        "Umzug",
        (
            "Die neue Wohnung ist schön, aber ich komme nicht an.",
            "Woran merken Sie das?",
            "Ich fahre nach der Arbeit aus Versehen in die alte Straße.",
            "Ihre Füße wissen es noch nicht. Was fehlt Ihnen von dort?",
        ),
    ),
    (
        "Trauer",
        (
            "Der Hund fehlt mir mehr, als ich zugebe.",
            "Vor wem geben Sie es nicht zu?",
            "Vor den Kollegen. „Nur ein Hund“, sagen die.",
            "Vor mir dürfen Sie es. Wie hieß er?",
        ),
    ),
    (
        "Schule",
        (
            "Mein Sohn geht seit drei Wochen nicht in die Schule.",
            "Was sagt er selbst dazu?",
            "Bauchweh. Ich glaube ihm, und ich muss trotzdem zur Arbeit.",
            "Sie stehen zwischen beidem. Was wäre heute Abend das Leichteste?",
        ),
    ),
)
SPEAKERS = ("K", "B")


def said(number: int) -> list[tuple[str, str]]:
    """Return who says what in a dialogue."""
    return [(SPEAKERS[n % 2], text) for n, text in enumerate(DIALOGUES[number][1])]


def as_table(folder: Path) -> Path:
    """Write a row a turn, as a spreadsheet program of Western Europe does."""
    rows = [
        (f"F{number + 1:02}", at, who, text, DIALOGUES[number][0])
        for number in range(len(DIALOGUES))
        for at, (who, text) in enumerate(said(number), start=1)
    ]
    return _write_csv(folder / "turns.csv", [("Fall", "Nr", "Wer", "Text", "Thema"), *rows])


def as_cells(folder: Path) -> Path:
    """Write a row a dialogue, its transcript in one cell on one line."""
    rows = [
        (f"F{number + 1:02}", topic, " ".join(f"{who}: {text}" for who, text in said(number)))
        for number, (topic, _) in enumerate(DIALOGUES)
    ]
    return _write_csv(folder / "cells.csv", [("Fall", "Thema", "Protokoll"), *rows])


def as_objects(folder: Path) -> Path:
    """Write an object a line, its turns under a key of the program's own."""
    path = folder / "log.jsonl"
    objects = [
        {
            "fall": f"F{number + 1:02}",
            "thema": topic,
            "log": [{"wer": who, "was": text} for who, text in said(number)],
        }
        for number, (topic, _) in enumerate(DIALOGUES)
    ]
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in objects)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def as_folder(folder: Path) -> Path:
    """Write a text file for each dialogue, with a blank line between turns."""
    path = folder / "transcripts"
    path.mkdir()
    for number in range(len(DIALOGUES)):
        text = "\n\n".join(f"{who}: {text}" for who, text in said(number))
        (path / f"F{number + 1:02}.txt").write_bytes(f"{text}\n".encode("cp1252"))
    return path


SHAPES: Sequence[Callable[[Path], Path]] = (as_table, as_cells, as_objects, as_folder)


def _write_csv(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    text = StringIO()
    csv.writer(text, delimiter=";").writerows(rows)
    path.write_bytes(text.getvalue().encode("cp1252"))
    return path
