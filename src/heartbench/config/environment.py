"""What comes from the environment: keys, and where the store is."""

import os

from heartbench.errors import SettingsError


def read_key(name: str | None, *, who: str) -> str | None:
    """Return the key in an environment variable; None where none is named.

    Raises:
        SettingsError: The variable is named and not set.
    """
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise SettingsError(
            f"{who} needs a key: set the environment variable {name} to it (never write it into a"
            " study file)",
            ids=(name,),
        )
    return key


def has_key(name: str) -> bool:
    """Say whether a key is set."""
    return bool(os.environ.get(name, "").strip())


def store_override() -> str | None:
    """Return HEART_STORE, which goes before what the study file says."""
    return os.environ.get("HEART_STORE") or None
