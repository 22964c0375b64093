"""Links that a recruiting site signs: only its signature says who comes."""

import base64
import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import jwt.api_jwt
import pytest
from cryptography.hazmat.primitives import hmac
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm
from people_site import Visitor, World, people_world, plain

from hearteval.errors import SettingsError
from hearteval.study.people import ItemReading
from hearteval.study.people.paying.payment import list_payments
from hearteval.study.people.paying.platforms import NoIdError
from hearteval.study.people.paying.signed import FORM_SECONDS, SiteKeys, keys_of

HOST = "study.example.org"
PID, OTHER_PID = "a" * 24, "b" * 24
IDS = {"PROLIFIC_PID": PID, "STUDY_ID": "c" * 24, "SESSION_ID": "d" * 24}
PLAIN = "&".join(f"{name}={value}" for name, value in IDS.items())
AGAIN = "Please come by the site's link again"


@pytest.fixture(scope="module")
def private() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Signer:
    """A recruiting site: its key, the file of its public keys, and what it signs."""

    key: rsa.RSAPrivateKey
    path: Path
    now: float = 0.0

    def publish(self, *kids: str, **other: Any) -> None:
        public = RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        keys = [{**public, "kid": kid, "use": "sig", "alg": "RS256", **other} for kid in kids]
        self.path.write_text(json.dumps({"keys": keys}), encoding="utf-8")

    def claims(self, **changed: Any) -> dict[str, Any]:
        usual = {"iss": "https://www.prolific.com", "aud": HOST, "sub": IDS["SESSION_ID"]}
        return {**usual, "exp": int(time.time()) + 300, "prolific": IDS, **changed}

    def token(self, kid: str = "one", **changed: Any) -> str:
        return str(jwt.encode(self.claims(**changed), self.key, "RS256", headers={"kid": kid}))

    def keys(self) -> SiteKeys:
        return SiteKeys(self.path, host=HOST)


@pytest.fixture
def signer(private: rsa.RSAPrivateKey, tmp_path: Path) -> Signer:
    made = Signer(private, tmp_path / "prolific-keys.json")
    made.publish("one")
    return made


@pytest.fixture
def world(tmp_path: Path, signer: Signer) -> Iterator[World]:
    with people_world(tmp_path) as made:
        made.site = replace(made.site, keys=signer.keys(), clock=lambda: signer.now)
        yield made


def coded(part: bytes | dict[str, Any]) -> str:
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unsigned(signer: Signer) -> str:
    return f"{coded({'alg': 'none', 'typ': 'JWT', 'kid': 'one'})}.{coded(signer.claims())}."


def signed_by_the_public_key(signer: Signer) -> str:
    head = coded({"alg": "HS256", "typ": "JWT", "kid": "one"})
    said = f"{head}.{coded(signer.claims())}".encode()
    pem = signer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    code = hmac.HMAC(pem, SHA256())
    code.update(said)
    return f"{said.decode()}.{coded(code.finalize())}"


def tampered(signer: Signer) -> str:
    head, _, signature = signer.token().split(".")
    claims = signer.claims(prolific={**IDS, "PROLIFIC_PID": OTHER_PID})
    return f"{head}.{coded(claims)}.{signature}"


def by_another_key(signer: Signer) -> str:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return Signer(other, signer.path).token()


WRONG: dict[str, Callable[[Signer], str]] = {
    "none": lambda _: "",
    "no token": lambda _: "no.token.atall",
    "not ASCII": lambda _: "prüfung",
    "nested": lambda _: f"{coded(b'[' * 3000)}.e30.",
    "long": lambda it: it.token(more="x" * 4096),
    "expired": lambda it: it.token(exp=int(time.time()) - 3600),
    "no end": lambda it: it.token(exp=None),
    "an end that is a word": lambda it: it.token(exp="tomorrow"),
    "for another host": lambda it: it.token(aud="other.example.org"),
    "for a host below": lambda it: it.token(aud=f"https://{HOST}.other.org/"),
    "for this host as a name": lambda it: it.token(aud=f"https://{HOST}@other.org/"),
    "for nobody": lambda it: it.token(aud=None),
    "for no address": lambda it: it.token(aud=["https://[", 7]),
    "an unknown key": lambda it: it.token("two"),
    "no name of a key": lambda it: jwt.encode(it.claims(), it.key, "RS256"),
    "another key of that name": by_another_key,
    "alg none": unsigned,
    "HS256 with the public key": signed_by_the_public_key,
    "RS512": lambda it: jwt.encode(it.claims(), it.key, "RS512", headers={"kid": "one"}),
    "tampered": tampered,
    "no ids": lambda it: it.token(prolific=None),
    "ids that are no names": lambda it: it.token(prolific=[PID]),
    "an id that is a number": lambda it: it.token(prolific={"PROLIFIC_PID": 7}),
    "ids beside the claim": lambda it: it.token(prolific={}, **IDS),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_the_site_has_not_signed_for_here_and_now_names_nobody(
    signer: Signer, what: str
) -> None:
    assert signer.keys().read(WRONG[what](signer), now=0.0) is None


@pytest.mark.parametrize(
    "audience",
    [HOST, HOST.upper(), f"https://{HOST}", f"https://{HOST}:443/join/x?a=b", ["x", HOST]],
)
def test_a_token_for_this_host_names_who_comes(signer: Signer, audience: Any) -> None:
    found = signer.keys().read(signer.token(aud=audience), now=0.0)
    assert found == ("prolific", PID, IDS["SESSION_ID"], IDS["STUDY_ID"])


def test_a_placeholder_is_no_id_though_it_is_signed(signer: Signer) -> None:
    token = signer.token(prolific={**IDS, "PROLIFIC_PID": "{{%PROLIFIC_PID%}}"})
    with pytest.raises(NoIdError):
        signer.keys().read(token, now=0.0)


def test_keys_are_read_again_when_the_file_changes_and_kept_while_it_is_none(
    signer: Signer, caplog: pytest.LogCaptureFixture
) -> None:
    keys = signer.keys()
    assert keys.read(signer.token("second"), now=0.0) is None
    signer.publish("second", "third")
    assert keys.read(signer.token("second"), now=0.0) is not None
    assert keys.read(signer.token("one"), now=0.0) is None
    for broken in ("{", "[]", '{"keys": []}', '{"keys": [7]}', '{"keys": [{"kty": "RSA"}]}'):
        signer.path.write_text(broken, encoding="utf-8")
        assert keys.read(signer.token("third"), now=0.0) is not None
    signer.path.unlink()
    assert keys.read(signer.token("third"), now=0.0) is not None
    assert caplog.text.count("the keys from before stay") == 6


@pytest.mark.parametrize(
    "other",
    [{"kty": "oct", "k": "AAAA"}, {"use": "enc"}, {"alg": "RS512"}, {"kid": 1}, {"d": "AQ"}],
)
def test_keys_of_another_use_are_no_keys(signer: Signer, other: dict[str, Any]) -> None:
    signer.publish("one", **other)
    with pytest.raises(SettingsError, match="holds no RSA key for signatures"):
        signer.keys()


def test_a_file_that_is_missing_or_no_set_of_keys_is_refused(signer: Signer) -> None:
    signer.path.write_text("<html>", encoding="utf-8")
    with pytest.raises(SettingsError, match="is no JSON Web Key Set"):
        signer.keys()
    signer.path.unlink()
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        signer.keys()


def test_a_link_lets_in_only_by_what_is_signed(world: World, signer: Signer) -> None:
    link = f"/join/{world.invite('judge')}"
    client = world.client()
    for query in (
        "",
        f"?{PLAIN}",
        f"?pid=me&{PLAIN}",
        f"?prolific_token={tampered(signer)}&{PLAIN}",
    ):
        refused = client.get(f"{link}{query}")
        assert (refused.status_code, AGAIN in plain(refused.text)) == (403, True)
        assert client.get(f"{link}/consent{query}").status_code == 403
        form = {"adult": "yes", "agree": "yes"}
        assert client.post(f"{link}{query}", data={**form, **IDS}).status_code == 403
        form |= {"prolific_token": tampered(signer)}
        assert client.post(f"{link}{query}", data=form).status_code == 403
    assert world.store.people.people(world.desk.study.id) == []


def test_ids_come_from_the_token_and_not_from_beside_it(world: World, signer: Signer) -> None:
    token, invite = signer.token(), world.invite("judge")
    client = world.client()
    beside = f"PROLIFIC_PID={OTHER_PID}&prolific_token={token}"
    warned = client.get(f"/join/{invite}?{beside}")
    assert "Before you start" in plain(warned.text)
    assert OTHER_PID not in warned.text
    asked = client.get(f"/join/{invite}/consent?{beside}")
    assert f'name="prolific_token" value="{token}"' in asked.text
    assert OTHER_PID not in asked.text
    Visitor(world, client, invite).join(prolific_token=token, PROLIFIC_PID=OTHER_PID)
    (row,) = list_payments(world.desk)
    assert (row.came.participant, row.came.submission) == (PID, IDS["SESSION_ID"])


def test_a_reload_and_coming_back_keep_working_when_the_token_has_ended(
    world: World, signer: Signer
) -> None:
    token, invite = signer.token(), world.invite("judge")
    rater = Visitor(world, world.client(), invite).join(prolific_token=token)
    old = signer.token(exp=int(time.time()) - 3600)
    for query in ("", f"?prolific_token={token}", f"?prolific_token={old}", f"?{PLAIN}"):
        page = rater.client.get(f"/join/{invite}{query}")
        assert "Welcome back" in plain(page.text), query
    assert rater.judge().status_code == 303
    refused = rater.client.get(f"/join/{invite}?prolific_token={old}&new=1")
    assert refused.status_code == 403
    assert world.client().get(f"/join/{invite}?prolific_token={old}").status_code == 403
    other = Visitor(world, world.client(), invite)
    assert "Welcome back" in plain(
        other.client.get(f"/join/{invite}?prolific_token={signer.token()}").text
    )
    assert other.join(prolific_token=signer.token()).name == rater.name


def test_who_reads_for_long_may_still_agree_and_for_an_hour_only(
    world: World, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, invite = signer.token(), world.invite("judge")
    client = world.client()
    assert client.get(f"/join/{invite}?prolific_token={token}").status_code == 200
    signer.now = FORM_SECONDS - 1
    with monkeypatch.context() as later:
        put_forward(later, seconds=FORM_SECONDS)
        assert client.get(f"/join/{invite}/consent?prolific_token={token}").status_code == 200
        signer.now = FORM_SECONDS
        refused = client.get(f"/join/{invite}/consent?prolific_token={token}")
    assert refused.status_code == 403


def put_forward(patch: pytest.MonkeyPatch, *, seconds: float) -> None:
    """Have PyJWT believe that it is later."""

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=seconds)

    patch.setattr(jwt.api_jwt, "datetime", Later)


def test_a_link_of_ones_own_needs_no_token_but_takes_no_id_without_one(
    world: World, signer: Signer
) -> None:
    mine = world.invite("judge", most_people=1)
    assert world.client().get(f"/join/{mine}?{PLAIN}").status_code == 403
    Visitor(world, world.client(), mine).join()
    researcher = world.invite("research", most_people=1)
    page = world.client().get(f"/join/{researcher}?{PLAIN}")
    assert "The researcher's page" in plain(page.text)
    assert (
        "/researcher"
        in Visitor(world, world.client(), researcher)
        .join(**IDS)
        .client.get("/work")
        .headers["location"]
    )


def test_a_token_is_neither_logged_nor_stored(
    world: World, signer: Signer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token, bad, invite = signer.token(), tampered(signer), world.invite("judge")
    world.client().get(f"/join/{invite}?prolific_token={bad}")
    rater = Visitor(world, world.client(), invite).join(prolific_token=token)
    assert rater.judge().status_code == 303
    stored = b"".join(one.read_bytes() for one in tmp_path.rglob("*.db*"))
    assert PID.encode() in stored
    ours = [one for one in caplog.records if not one.name.startswith("httpx")]  # the browser's
    said = "".join(one.getMessage() for one in ours)
    for secret in (token, bad):
        parts = [part for part in secret.split(".") if part]
        assert [part for part in parts if part.encode() in stored or part in said] == []


def test_links_have_to_be_signed_where_the_study_says_so(tmp_path: Path, signer: Signer) -> None:
    people, other = f'raters_per_pair = 3\nsigned_by = "{signer.path.name}"\n', tmp_path / "other"
    other.mkdir()
    with people_world(tmp_path, people=people) as made:
        desk = made.desk
        assert keys_of(desk, f"https://{HOST}") is not None
        with pytest.raises(SettingsError, match="add --public-url https://HOST"):
            keys_of(desk, "")
        reading = ItemReading(questions={}, n_people=2)
        assert keys_of(replace(desk, trial="preview"), "") is None
        assert keys_of(replace(desk, reading=reading), "") is None
        assert keys_of(replace(desk, trial="pilot"), f"https://{HOST}") is not None
        signer.path.unlink()
        with pytest.raises(SettingsError, match="cannot be read"):
            keys_of(desk, f"https://{HOST}")
    with people_world(other) as made:
        assert keys_of(made.desk, "") is None
