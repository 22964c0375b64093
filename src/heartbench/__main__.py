"""``python -m heartbench`` is ``heart``."""

from heartbench.cli.main import run_command_line

run_command_line()
