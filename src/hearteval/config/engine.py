"""``[engine]`` of a study file, and what Ray reads from the environment."""

import os
import secrets
from typing import Annotated, Literal

from pydantic import Field

from hearteval.config.model_settings import Section
from hearteval.engine import is_here


class Engine(Section):
    """One ``[engine]``: where long work is done. It makes no result another, and no hash."""

    kind: Literal["local", "ray"] = "local"
    address: Annotated[str, Field(min_length=1)] | None = None
    workers: Annotated[int, Field(ge=0, le=1024)] = 1


def set_ray_environment(address: str | None) -> bool:
    """Set how Ray is spoken to, before it is imported; return whether it is with a token.

    Nothing is told of its use. A cluster of this process's own has a token of its own. On Linux Ray
    takes 127.0.0.1 for the machine's address in its network, and listens there, unless it is told
    that there are no clusters, as on other systems.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_DEDUP_LOGS_SKIP_REGEX"] = "."  # else it prints on stdout, which is ours
    os.environ["RAY_IGNORE_UNHANDLED_ERRORS"] = "1"  # the first is raised, and said once
    if address is None:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # Ray reads it once
    if address is None or is_here(address):
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    return os.environ.get("RAY_AUTH_MODE", "").lower() == "token"
