"""``python -m hearteval`` is ``heart``."""

from hearteval.cli.main import run_command_line

run_command_line()
