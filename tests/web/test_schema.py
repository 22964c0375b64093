"""The routes as their own description tells them, asked with whatever fits it."""

from pathlib import Path
from typing import Any, cast

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from people_site import ADDRESS, people_world
from schemathesis.checks import not_a_server_error

from hearteval.web.app import create_app
from hearteval.web.guard import Tries
from hearteval.web.site import COOKIE

ENDS = ("/withdraw", "/leave-browser")
"""After these the rest would be asked by nobody."""
MANY = settings(
    max_examples=6,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_no_request_that_the_description_allows_makes_an_error_of_ours(tmp_path: Path) -> None:
    with people_world(tmp_path) as world:
        object.__setattr__(world.site, "tries", Tries(most=100_000))
        comers = [world.come(kind) for kind in ("judge", "write", "review", "research")]
        comers[0].get("judge")
        cookies = [{"cookie": f"{COOKIE}={one.client.cookies[COOKIE]}"} for one in comers]
        described = schemathesis.openapi.from_asgi("/openapi.json", create_app(world.site))
        n_asked = 0
        for result in described.get_all_operations():
            operation = cast("Any", result).ok()

            @seed(13)
            @MANY
            @given(case=operation.as_strategy())
            def ask(case: Any) -> None:
                for sent in ({}, *cookies):
                    headers = {"origin": ADDRESS, "host": "testserver", **sent}
                    response = case.call(headers=headers)
                    case.validate_response(response, checks=[not_a_server_error])

            if operation.path not in ENDS:
                ask()
                n_asked += 1
    assert n_asked > 20
