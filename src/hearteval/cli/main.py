"""The command ``heart``: its verbs, its exit codes, and the outermost frame that catches errors.

Verbs are imported only when used, so that ``heart --help`` stays quick.
"""

import codecs
import gc
import importlib
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from typing import Any

import click

from hearteval.cli.console import emit_json, say, without_keys
from hearteval.errors import HeartError, SettingsError, StoppedError
from hearteval.version import __version__

EXIT_ERROR, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130
PLAINER = {
    "\N{BOX DRAWINGS LIGHT HORIZONTAL}": "-",
    "\N{BLACK CIRCLE}": "o",
    "\N{BOX DRAWINGS LIGHT QUADRUPLE DASH VERTICAL}": ":",
    "\N{EN DASH}": "-",
    "\N{MINUS SIGN}": "-",
    "\N{HORIZONTAL ELLIPSIS}": "~",
    "\N{RIGHTWARDS ARROW}": ">",
}
"""What stands for a character that an encoding lacks, in one column (Latin-1, Windows)."""

VERBS: Mapping[str, str] = {
    "run": "All steps, from items to the report.",
    "init": "Make a commented study file to start from.",
    "plan": "Say what a study could tell, and the cheapest designs.",
    "simulate": "Make a study of planted truth, to test designs and to learn.",
    "doctor": "Say what is missing, and how to get it.",
    "items": "Write, check and build items.",
    "complete": "Have the systems answer the items.",
    "judge": "Plan the pairs and have the judges compare them.",
    "label": "Have models say what the replies do: strategies and skills.",
    "latency": "Time to first token, as a pass of its own.",
    "work": "Answer what is open, beside any number of others.",
    "serve": "Serve the pages on which people write and judge.",
    "people": "See who takes part, pay them, or delete what one wrote.",
    "import": "Bring in replies, judgments and raters made elsewhere.",
    "analyze": "Compute the results and write them as JSON.",
    "report": "Write the report page.",
    "export": "Write a study as tables, or as Inspect logs.",
    "release": "Write a study as a folder that strangers can check and continue.",
    "verify": "Check a release: every file, record and table.",
    "site": "Make the public board of releases as a static site.",
    "gate": "Say whether a candidate may take a baseline's place.",
    "compare": "Say what moved between two studies or panels, and why.",
    "rank": "Rank systems by any file of pairwise votes.",
    "agree": "Measure how far raters agree, from any file of ratings.",
    "paper": "Show which of the paper's numbers can be computed again.",
    "check": "Check a printed table of Elo and win rates against itself.",
    "systems": "List the systems that a study can name.",
    "judges": "List the judges, and stress-test those of a study.",
    "store": "Move studies between databases.",
}
FIRST: Mapping[str, Sequence[str]] = {
    "Do a study": ("init", "plan", "doctor", "run", "serve"),
    "Have data": ("rank", "agree", "import"),
    "Look inside": ("gate", "simulate"),
}
"""What `heart --help` lists: the verbs that most people need, and no more than ten."""

FOLDERS: Mapping[str, Sequence[str]] = {
    "study": (
        *("run", "simulate", "complete", "judge", "label", "latency", "analyze", "report"),
        *("gate", "compare", "judges", "plan"),
    ),
    "tables": ("import", "export", "rank", "agree", "check"),
    "items": ("items",),
    "board": ("release", "verify", "site", "paper"),
}
"""Of verbs whose module is not beside this one."""
_PLACES = {verb: f"{folder}.{verb}" for folder, verbs in FOLDERS.items() for verb in verbs}
ALL = "hearteval.all_verbs"
_PLACES["import"] = "tables.import_verb"  # no name for a module


class _LazyGroup(click.Group):
    """A group whose verbs are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "help":
            return show_help
        if cmd_name not in VERBS:
            return None
        module = f"hearteval.cli.{_PLACES.get(cmd_name, cmd_name)}"
        command = importlib.import_module(module).command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, VERBS))
        groups = {"Commands": tuple(VERBS)} if ctx.meta.get(ALL) else FIRST
        for heading, verbs in groups.items():
            with formatter.section(heading):
                formatter.write_dl([(verb.ljust(width), VERBS[verb]) for verb in verbs])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in {*VERBS, "help"} and not ctx.resilient_parsing:
            close = get_close_matches(args[0], VERBS, n=1)
            meant = f"run {args[0]}" if args[0].lower().endswith(".toml") else "".join(close)
            hint = f"did you mean `heart {meant}`? " if meant else ""
            first = ", ".join(verb for verbs in FIRST.values() for verb in verbs)
            known = f"there are {first}, and more: `heart help all`."
            ctx.fail(f"No such command {args[0]!r}; {hint}{known.capitalize() if hint else known}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nEvery command:  heart help all\n\n"
    "\b\nThe Tab key completes verbs, options and files once bash has read\n"
    '  eval "$(_HEART_COMPLETE=bash_source heart)"',
)
@click.version_option(__version__, prog_name="heart")
def main() -> None:
    """Compare people and language models as emotional supporters (HEART, arXiv 2601.19922).

    Start with:  heart init my-study
    """


@click.command("help")
@click.argument("verbs", nargs=-1, metavar="[all | VERB...]")
@click.pass_context
def show_help(context: click.Context, verbs: tuple[str, ...]) -> None:
    """Say what a verb does; `all` lists every verb."""
    assert context.parent is not None
    if verbs in ((), ("all",)):
        context.parent.meta[ALL] = bool(verbs)
        click.echo(context.parent.get_help())
        return
    main.main(args=[*verbs, "--help"], prog_name="heart", standalone_mode=False)


def run_command_line(arguments: list[str] | None = None) -> None:
    """Run ``heart`` and exit: 0 ok, 1 error, 2 usage."""
    words = sys.argv[1:] if arguments is None else arguments
    open_what_is_closed()
    write_what_can_be_written()
    said: dict[str, Any] = {}
    fail = partial(_fail, said, wants_json="--json" in words)
    end_like_ctrl_c()
    # A run keeps most of what it makes: to look for garbage as often as is usual takes an eighth.
    gc.set_threshold(50_000)
    try:
        exit_code = main.main(args=words, prog_name="heart", standalone_mode=False, obj=said)
        sys.stdout.flush()
        if exit_code:
            sys.exit(exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        with suppress(OSError):
            click.echo(error.format_message(), err=True)
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        fail("usage", _usage_words(error))
        sys.exit(EXIT_USAGE)
    except (click.Abort, KeyboardInterrupt):
        fail("interrupted", "stopped; what was stored is kept. Run the same command again.")
        sys.exit(EXIT_INTERRUPTED)
    except StoppedError as error:
        fail(error.kind, str(error))
        sys.exit(EXIT_INTERRUPTED)
    except HeartError as error:
        faults = error.faults if isinstance(error, SettingsError) else ()
        fail(error.kind, str(error), ids=error.ids, faults=faults, is_list=bool(error.ways))
        sys.exit(EXIT_USAGE if isinstance(error, SettingsError) else EXIT_ERROR)
    except BrokenPipeError:
        # Whoever read the output has gone; nobody is left to tell.
        sys.exit(EXIT_ERROR)
    except OSError as error:
        fail("system", f"the system refused: {error}; nothing stored is lost")
        sys.exit(EXIT_ERROR)
    except Exception as error:  # noqa: BLE001 - the outermost frame: it sets the exit status
        with suppress(OSError):
            click.echo(without_keys(traceback.format_exc()), err=True)
        fail(
            "internal",
            f"this is a fault of hearteval ({type(error).__name__}); what was acknowledged is "
            "stored. Please report the lines above",
        )
        sys.exit(EXIT_ERROR)
    finally:
        _silence_what_is_gone()


def _usage_words(error: click.ClickException) -> str:
    """Say what is wrong with a command, in one line, and where to read on."""
    where = getattr(error, "ctx", None)
    hint = f" See `{where.command_path} --help`." if where else ""
    words = error.format_message()
    if isinstance(error, click.NoSuchOption) and where:
        key = _key_for(error.option_name, where.command)
        words = f"{error.message}{key}" if key else words  # without those spelled alike
    return " ".join(f"{words}{hint}".split())


def _key_for(option: str, command: click.Command) -> str:
    """Name the key that says what an option would that a command does not have; empty without."""
    from hearteval.config.simulation import SimulationPlan
    from hearteval.config.study_file import SECTIONS

    key, arguments = option.lstrip("-").replace("-", "_"), {one.name for one in command.params}
    if "study_file" in arguments:
        places = [name for name, section in SECTIONS.items() if key in section.model_fields]
        keys = " or ".join(f"{name}.{key}" for name in places)
        return f" The study file says it: {keys}." if keys else ""
    known = SimulationPlan if "plan_file" in arguments else SECTIONS["items"]
    is_set = "said" in arguments and key in known.model_fields
    return f" Say it with --set {key}=VALUE." if is_set else ""


def end_like_ctrl_c() -> None:
    """Let TERM and HUP end a run as Ctrl-C does, where they are not ignored."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        is_main = threading.current_thread() is threading.main_thread()
        if number is not None and is_main and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def open_what_is_closed() -> None:
    """Let a stream that is closed (``>&-``) be as /dev/null: no file of ours takes its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def write_what_can_be_written() -> None:
    """Let streams of a narrow encoding draw what they lack with plain characters, and go on."""
    codecs.register_error("heart", _plainer)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="heart")


def _plainer(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(PLAINER.get(character, "?") for character in lacking), error.end


def _silence_what_is_gone() -> None:
    """Let nothing more be written where it cannot be, so that Python ends without a complaint."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(
    said: Mapping[str, Any],
    kind: str,
    message: str,
    *,
    ids: tuple[str, ...] = (),
    faults: tuple[str, ...] = (),
    is_list: bool = False,
    wants_json: bool,
) -> None:
    from hearteval.report.text import printable

    message, ids = without_keys(message), tuple(map(without_keys, ids))
    faults = tuple(map(without_keys, faults))
    lines = message.split("\n") if faults or is_list else [message]
    with suppress(OSError):  # whoever reads may have gone: the exit status still says what failed
        say("heart: " + "\n".join(map(printable, lines)), err=True)
    if wants_json:
        error: dict[str, Any] = {"kind": kind, "message": message, "ids": list(ids)}
        if faults:
            error["faults"] = list(faults)
        with suppress(OSError):
            emit_json("error", {**said, "error": error})
