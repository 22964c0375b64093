"""Links that a recruiting site signs, so that an id in one is its own and nobody else's.

Prolific puts a JSON Web Token (RS256) into the links of a study whose external URL is secure. Its
"Retrieve JSON Web Key Set" (docs.prolific.com/api-reference/well-known-endpoints/get-study-jwks)
says what to hold it to: the key that it names, its end, this host, and the ids as they were asked
for. The keys are a file that the researcher downloads; nothing here asks any server.
"""

import hashlib
import json
import logging
import threading
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hearteval.errors import SettingsError
from hearteval.study.people import Desk
from hearteval.study.people.paying.platforms import SiteIds, read_ids

logger = logging.getLogger(__name__)

TOKEN = "prolific_token"  # noqa: S105 - the name of a parameter
"""The parameter of a link that holds the token. Prolific's pages do not name it; the public code of
studies that read it does."""
CLAIMS = ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID")
"""Of the claim ``prolific``, by the names that the external URL gives them."""
MOST_LETTERS = 4096
LEEWAY_SECONDS = 30
"""By which the clocks of the site and of this server may differ."""
FORM_SECONDS = 3600.0
"""For which a token that was good goes on to be, so that its end does not meet who reads."""


def keys_of(desk: Desk, public_url: str) -> "SiteKeys | None":
    """Return the keys that a study has links signed by; None where they need not be.

    A preview and a screen of items are for people whom no site sends.

    Raises:
        SettingsError: It is not said where people find the pages, the keys cannot be read, or what
            reads them is not installed.
    """
    name = desk.settings.signed_by
    if name is None or desk.trial == "preview" or desk.reading is not None:
        return None
    file = desk.session.settings.file
    host = urlsplit(public_url).hostname
    if not host:
        raise SettingsError(
            f"{file}: people.signed_by: a signed link names the host that it is for; add"
            " --public-url https://HOST, where people find the pages",
            ids=("people.signed_by",),
        )
    return SiteKeys(file.parent / name, host=host)


class SiteKeys:
    """The public keys of a site, from a file that is read again whenever it has changed.

    Args:
        path: A JSON Web Key Set.
        host: For which tokens have to be, without a port.

    Raises:
        SettingsError: The file cannot be read or holds no RSA key, or PyJWT is not installed.
    """

    def __init__(self, path: Path, *, host: str) -> None:
        self._path, self._host = path, host
        try:
            import_module("cryptography")
            self._jwt: Any = import_module("jwt")
        except ImportError:
            advice = "pip install 'hearteval[signed]'"
            raise SettingsError(f"{path}: reading signed links needs PyJWT; {advice}") from None
        self._lock = threading.Lock()
        self._used: dict[bytes, float] = {}
        self._stamp = self._stamp_now()
        self._keys = self._load()

    def read(self, token: str, *, now: float) -> SiteIds | None:
        """Return whom a token names; None where the site has not signed it, for here and for now.

        A token may end while somebody reads what they consent to: one that was good counts for
        `FORM_SECONDS` from then. `now` is in seconds that only grow.

        Raises:
            NoIdError: It is good, and holds a placeholder or what is no id of the site.
        """
        if not token or not token.isascii() or len(token) > MOST_LETTERS:
            return None
        mark = hashlib.sha256(token.encode()).digest()
        with self._lock:
            keys = self._keys_now()
            self._used = {one: at for one, at in self._used.items() if now - at < FORM_SECONDS}
            is_used = mark in self._used
        try:
            key = keys.get(self._jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims = self._jwt.decode(
                token,
                key,
                algorithms=["RS256"],
                leeway=LEEWAY_SECONDS,
                options={
                    "require": ["exp", "aud"],
                    "verify_exp": not is_used,
                    "verify_aud": False,  # an address or a host: it is compared below
                },
            )
        except (self._jwt.InvalidTokenError, RecursionError):
            return None
        said = claims.get("prolific")
        if not _is_for(claims["aud"], self._host) or not isinstance(said, dict):
            return None
        found = read_ids({name: said[name] for name in CLAIMS if isinstance(said.get(name), str)})
        if found is not None:
            with self._lock:
                self._used.setdefault(mark, now)
        return found

    def _keys_now(self) -> Mapping[str, Any]:
        """Return the keys of the file as it is; those from before where it is none now."""
        stamp = self._stamp_now()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._keys = self._load()
            except SettingsError as error:
                logger.warning("%s; the keys from before stay", error)
        return self._keys

    def _stamp_now(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _load(self) -> dict[str, Any]:
        """Return the RSA keys of the file that sign, by their names."""
        try:
            said = json.loads(self._path.read_text(encoding="utf-8"))
            listed = said["keys"] if isinstance(said, dict) else None
            keys = [self._jwt.PyJWK(one, "RS256") for one in listed or () if _is_ours(one)]
        except OSError as error:
            raise SettingsError(f"{self._path}: cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, self._jwt.PyJWTError) as error:
            raise SettingsError(f"{self._path}: is no JSON Web Key Set: {error}") from error
        if not keys:
            raise SettingsError(f"{self._path}: holds no RSA key for signatures")
        return {one.key_id: one.key for one in keys}


def _is_ours(key: object) -> bool:
    return (
        isinstance(key, dict)
        and key.get("kty") == "RSA"
        and "d" not in key  # with it, the key is no public one
        and isinstance(key.get("kid"), str)
        and key.get("use", "sig") == "sig"
        and key.get("alg", "RS256") == "RS256"
    )


def _is_for(audience: object, host: str) -> bool:
    """Say whether a token is for a host; it names it alone, or an address of it, or several."""
    named = audience if isinstance(audience, list) else [audience]
    return any(_host_of(one) == host for one in named if isinstance(one, str))


def _host_of(text: str) -> str | None:
    try:
        return urlsplit(text if "://" in text else f"//{text}").hostname
    except ValueError:
        return None
