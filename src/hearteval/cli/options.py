"""Arguments and options that several verbs share."""

import math
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from hearteval.errors import HeartError, Remedy, SettingsError, first_few
from hearteval.exchange.options import Columns, Labels, Option, Tables, arguments_of, choices_of

MAX_NAMED, MAX_NAME = 5, 80
Command = Callable[..., None]
FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)


class FiniteNumber(click.types.FloatParamType):
    """Any number but NaN and infinity, which click lets pass."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{number!r} is no finite number.", param, ctx)
        return number


class FiniteFloat(FiniteNumber, click.FloatRange):
    """A finite number in a range."""


class NearChoice(click.Choice[str]):
    """One of several words, with a guess where another is given."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Say which words there are, and which may be meant."""
        from hearteval.config.model_settings import guess_meant

        guess = guess_meant(str(value), tuple(self.choices))
        return super().get_invalid_choice_message(value, ctx).removesuffix(".") + f"{guess}."


class OnceCommand(click.Command):
    """A command that refuses an option given twice, of which click would take the last."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(list(args))
            for option in given:
                if not isinstance(option, click.Option) or option.multiple or option.is_flag:
                    continue
                if given.count(option) > 1:
                    name = max(option.opts, key=len)
                    raise click.UsageError(f"{name} is given twice; give it once.", ctx)
        return super().parse_args(ctx, args)


class StudyPath(click.Path):
    """A study file, or the folder of one."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path of the study file; of a folder, the one it holds."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.is_dir():
            return path
        found = study_files_in(path)
        if not found:
            self.fail(f"{path} is a folder without a study file; make one: heart init DIR.")
        if len(found) > 1:
            self.fail(f"{path} holds several study files: {_named(found)}; name one.")
        return found[0]


class _StudyArgument(click.Argument):
    """Says, where it is missing, which study files there are to name."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter:
            here = Path()
            folders = (path for path in sorted(here.iterdir()) if path.is_dir())
            found = [*study_files_in(here), *(f for each in folders for f in study_files_in(each))]
            names = f"there are {_named(found)}" if found else "make one: heart init DIR"
            raise click.UsageError(f"Name a study file; {names}.", ctx) from None


def study_files_in(folder: Path) -> list[Path]:
    """Return the TOML files of a folder that describe a study; none of one that is not readable."""
    try:
        paths = sorted(folder.glob("*.toml"))
        return [path for path in paths if "[study]" in path.read_text(errors="replace")]
    except OSError:
        return []


def _named(paths: Sequence[Path]) -> str:
    return first_few([*map(str, paths)], MAX_NAMED)


study_argument = click.argument(
    "study_file", metavar="STUDY.toml", type=StudyPath(), cls=_StudyArgument
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one versioned JSON object and nothing else."
)
yes_option = click.option(
    "--yes", is_flag=True, help="Spend money without asking; what is free never asks."
)
verbose_option = click.option(
    "--verbose", "-v", "is_verbose", is_flag=True, help="Say every step, and all of the results."
)
open_option = click.option(
    "--open", "is_opened", is_flag=True, help="Open the report in the browser."
)


def engine_options(
    *, asks: bool, ends_early: Callable[..., bool] | None = None
) -> Callable[[Command], Command]:
    """Give a command the options that say where its long work is done, and do it there.

    What none of them says stands in the study file, where there is one. One that `asks` models has
    workers of the engine ask them too, and is told the `settings` of the file, which is read once.
    Where no option is given and `ends_early` says that all is done, no engine is opened, nor what
    it needs loaded.
    """

    def decorate(function: Command) -> Command:
        @click.option(
            "--engine", type=NearChoice(["local", "ray"]), help="Where long work is done."
        )
        @click.option("--address", metavar="HOST:PORT", help="The head of a Ray cluster, or auto.")
        @click.option(
            "--workers",
            type=click.IntRange(0 if asks else 1, 1024),
            help="Processes at once." + asks * " 0: leave all questions to `heart work`.",
        )
        @wraps(function)
        def command_with_engine(
            *, engine: str | None, address: str | None, workers: int | None, **given: Any
        ) -> None:
            said = {"kind": engine, "address": address, "workers": workers}
            settings, work = None, None
            if given.get("study_file") is not None:
                from hearteval.config import load_study

                settings = load_study(given["study_file"])
            if asks:
                given["settings"] = settings
            if ends_early and not any(v is not None for v in said.values()) and ends_early(**given):
                return
            from hearteval.study.engine import opened_engine

            if asks:
                from hearteval.study.working import work_beside

                work = work_beside
            with opened_engine(settings, work=work, **said):
                function(**given)

        return command_with_engine

    return decorate


def count_option(
    *names: str, default: int, words: str, least: int = 1, most: int | None = None
) -> Callable[[FC], FC]:
    """Return an option for a whole number, whose default the help shows."""
    number = click.IntRange(min=least, max=most)
    return click.option(*names, type=number, default=default, show_default=True, help=words)


def options_of(record: type, *, by_after: str) -> Callable[[Command], Command]:
    """Give a command the options that a record describes, in its order, and `--by`.

    Where there is one for each choice, the command is told a list of those that are given.
    """
    arguments = arguments_of(record)

    def decorate(function: Command) -> Command:
        @wraps(function)
        def told(**given: Any) -> None:
            for name, (hint, options) in arguments.items():
                if len(options) > 1:
                    given[name] = [flag for flag in choices_of(hint) if given.pop(flag)]
                elif given[name] == ():
                    given[name] = options[0].default
            function(**given)

        command: Command = told
        for name, (hint, options) in reversed(arguments.items()):
            if name == by_after:
                words = "One result for each value of a column."
                command = click.option("--by", metavar="COL", help=words)(command)
            flags = choices_of(hint) if len(options) > 1 else ()
            for flag, option in reversed([*zip(flags or (name,), options, strict=True)]):
                command = _option(flag, bool if flags else hint, option)(command)
        return command

    return decorate


def _option(name: str, hint: Any, option: Option) -> Callable[[FC], FC]:
    is_many = hint in (Columns, Labels, Tables, Sequence[str]) or option.n_words > 1
    default = None if is_many or option.default is ... else option.default
    return click.option(
        *(option.spelled or (f"--{name.replace('_', '-')}",)),
        name,
        type=_kind(hint, option),
        is_flag=hint is bool,
        multiple=is_many,
        nargs=option.n_words,
        default=False if hint is bool else default,
        show_default=hint is not bool and default is not None,
        metavar=option.metavar,
        help=option.words,
    )


def _kind(hint: Any, option: Option) -> Any:
    """Return what click makes of the words of an option; None for the words themselves."""
    low, high = option.within
    if choices_of(hint):
        return click.Choice(choices_of(hint))
    if hint is int:
        return click.IntRange(low, high)
    if hint is float:
        return FiniteFloat(low, high, min_open=option.is_above)
    return FiniteNumber() if hint == float | None else None


def write_commands(error: HeartError) -> None:
    """Write the remedies of an error as commands: the one that was typed, with what was lacking.

    They are quoted for a shell, and work where they are pasted.
    """
    error.ways = tuple(
        f"  {remedy.words}\n    {_ready_command(remedy)}" for remedy in error.remedies
    )


def _ready_command(remedy: Remedy) -> str:
    context = click.get_current_context()
    words: list[str] = []
    first: list[str] = []
    for option in context.command.params:
        name = str(option.name)
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        value = remedy.arguments.get(name, context.params.get(name) if is_typed else None)
        if isinstance(option, click.Argument):
            given = [] if value is None else [str(value)]
            first += [f"./{text}" if text.startswith("-") else text for text in given]
        elif isinstance(option, click.Option):
            words += _spelled(option, value)
    return shlex.join([*context.command_path.split(), *first, *words])


def _spelled(option: click.Option, value: object) -> Iterator[str]:
    spelling = max(option.opts, key=len)
    if option.is_flag:
        yield from [spelling] if value else []
        return
    for each in value if isinstance(value, tuple | list) else () if value is None else (value,):
        yield from (spelling, str(each))


def names_options(function: Command) -> Command:
    """Give a command an option for what a study file would say of a file of dialogues.

    Where the file lacks something, the command is written out with it.
    """

    @click.option(
        "--set",
        "said",
        multiple=True,
        metavar="KEY=VALUE",
        help="How dialogues are read, as under [[items]]: role_column=Who (repeatable).",
    )
    @wraps(function)
    def command_with_names(*, said: tuple[str, ...], **given: Any) -> None:
        from hearteval.config.items import read_names

        try:
            function(**given, names=read_names(said))
        except SettingsError as error:
            if error.remedies:
                (remedy,) = error.remedies
                lacking = remedy.arguments["said"]
                keys = {word.partition("=")[0] for word in lacking}
                kept = [word for word in said if word.partition("=")[0] not in keys]
                more = remedy._replace(arguments={"said": (*kept, *lacking)})
                error.ways = (f"{remedy.words}\n  {_ready_command(more)}",)
            raise

    return command_with_names


def study_name(folder: Path) -> str:
    """Return what a study in a new folder is called: like the folder, as a file may be."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).lstrip("._-")
    return name[:MAX_NAME] or "study"
