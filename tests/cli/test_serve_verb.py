"""``heart serve``: what it refuses, and in which words."""

import socket
from pathlib import Path

import pytest
from heart_command import Heart
from people_site import people_world


@pytest.fixture
def served(tmp_path: Path) -> str:
    with people_world(tmp_path) as world:
        return str(world.desk.session.settings.file)


def test_a_port_that_is_taken_is_said_once(
    heart: Heart, served: str, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = heart("serve", served, "--port", str(port))
    assert done.code == 2
    assert "add --port with another number" in " ".join(done.err.split())
    assert "Errno" not in done.err + caplog.text


def test_an_address_that_others_reach_is_refused(heart: Heart, served: str) -> None:
    done = heart("serve", served, "--host", "0.0.0.0", "--port", "0")
    assert done.code == 2
    assert "travels in the clear" in " ".join(done.err.split())


def test_a_study_without_people_is_not_served(heart: Heart, study: Path) -> None:
    done = heart("serve", study)
    assert done.code == 2
    assert "has no [people]" in done.err


def test_signed_links_need_the_address_that_they_are_for_and_keys(
    heart: Heart, tmp_path: Path
) -> None:
    people = 'raters_per_pair = 3\nsigned_by = "keys.json"\n'
    with people_world(tmp_path, people=people) as world:
        file = str(world.desk.session.settings.file)
    done = heart("serve", file, "--port", "0")
    assert (done.code, "add --public-url https://HOST" in " ".join(done.err.split())) == (2, True)
    done = heart("serve", file, "--port", "0", "--public-url", "https://study.example.org")
    said = " ".join(done.err.split())
    assert (done.code, "keys.json: cannot be read: No such file" in said) == (2, True)
