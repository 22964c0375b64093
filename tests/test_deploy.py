"""The files under ``deploy/``: what is published, who runs, and that no secret stands in them.

Neither Docker nor Slurm nor Kubernetes runs here, so what they would find is not found. Debian's
Caddy, hadolint, shellcheck, yamllint and the schema of compose files were asked once
(docs/decisions/0071, docs/decisions/0074).
"""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]
NETWORKS: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["networks"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
KUBERAY = (DEPLOY / "kuberay.yaml").read_text(encoding="utf-8")
CADDYFILE = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
PAGES = [name for name in SERVICES if name.startswith("pages-")]
ASKING = {"head", "workers"}


def test_only_the_proxy_is_published() -> None:
    assert [name for name, one in SERVICES.items() if "ports" in one] == ["proxy"]
    assert {name for name, one in SERVICES.items() if "outside" in one["networks"]} == {"proxy"}
    # Whoever asks models has a way out; nothing is published there, and no proxy passes on to it.
    outward = {name for name, one in NETWORKS.items() if not one.get("internal")}
    assert outward == {"outside", "providers"}
    assert {name for name, one in SERVICES.items() if "providers" in one["networks"]} == ASKING
    assert SERVICES["database"]["networks"] == ["data"]
    assert all(one.get("network_mode") is None for one in SERVICES.values())


def test_no_secret_stands_in_the_file_and_every_variable_is_explained() -> None:
    values = [
        value
        for one in SERVICES.values()
        for name, value in one["environment"].items()
        if re.search("PASSWORD|TOKEN|KEY|SECRET", name)
    ]
    assert len(values) == 1 + 2 * len(PAGES) + len(ASKING)
    assert all(re.fullmatch(r"\$\{\w+:[?-]\}", value) for value in values)
    asked = set(re.findall(r"\$\{(\w+)", COMPOSE))
    example = (DEPLOY / "env.example").read_text(encoding="utf-8")
    assert asked == set(re.findall(r"^(\w+)=", example, flags=re.MULTILINE))
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8")
    assert "/deploy/.env\n" in ignored
    files = [file["path"] for name in ASKING for file in SERVICES[name]["env_file"]]
    assert all(f"/deploy/{name}\n" in ignored for name in files)


def test_servers_are_alike_and_may_do_little() -> None:
    assert len(PAGES) == 2
    first, *others = (SERVICES[name] for name in PAGES)
    assert all(one == first for one in others)
    assert first["read_only"] is True
    assert first["cap_drop"] == ["ALL"]
    trusted = first["environment"]["FORWARDED_ALLOW_IPS"]
    assert NETWORKS["inside"]["ipam"]["config"] == [{"subnet": trusted}]
    assert first["command"][:2] == ["serve", "study.toml"]


def test_the_proxy_asks_every_server_whether_it_is_ready_and_shows_no_probe() -> None:
    assert all(f"{name}:8750" in CADDYFILE for name in PAGES)
    assert "health_uri /readyz" in CADDYFILE
    assert "@machines path /healthz /readyz /metrics /openapi.json" in CADDYFILE
    assert "respond @machines 404" in CADDYFILE


def test_the_image_runs_as_nobody_and_copies_what_there_is() -> None:
    users = re.findall(r"^USER (.+)$", DOCKERFILE, flags=re.MULTILINE)
    assert users == ["10001"]
    assert all(
        one.endswith("-slim") for one in re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    )
    assert "/healthz" in DOCKERFILE.partition("HEALTHCHECK")[2]
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    let_in = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {f"!{name}" for name in names} <= set(let_in)
    assert all((ROOT / name).exists() for name in names)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in (
        *re.findall(r"^ARG EXTRAS=(.+)$", DOCKERFILE, flags=re.MULTILINE),
        *re.findall(r"--build-arg EXTRAS=([\w,]+)", DOCKERFILE + KUBERAY),
    ):
        assert {"postgres"} < {*extras.split(",")} <= {*project["optional-dependencies"]}


def test_ray_on_kubernetes_wants_a_token_and_is_reached_by_its_own_pods_alone() -> None:
    job, policy = yaml.safe_load_all(KUBERAY)
    cluster = job["spec"]["rayClusterSpec"]
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert f"ray=={cluster['rayVersion']}" in constraints.split()
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["headGroupSpec"]["serviceType"] == "ClusterIP"
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    templates = [group["template"] for group in groups]
    for pod in (template["spec"] for template in templates):
        assert pod["securityContext"]["runAsUser"] == 10001
        (container,) = pod["containers"]
        assert "ports" not in container
        assert {one["name"] for one in container["env"]} == {
            "HEART_STORE",
            "RAY_USAGE_STATS_ENABLED",
        }
        assert container["envFrom"] == [{"secretRef": {"name": "heart"}}]
    assert policy["kind"] == "NetworkPolicy"
    of_job = {"matchLabels": {"app": "heart"}}
    assert policy["spec"]["podSelector"] == of_job
    labelled = [*templates, job["spec"]["submitterPodTemplate"]]
    assert all(one["metadata"]["labels"] == of_job["matchLabels"] for one in labelled)
    (rule,) = policy["spec"]["ingress"]
    assert rule["from"][0] == {"podSelector": of_job}


def test_docker_takes_the_file_where_there_is_one() -> None:
    if not shutil.which("docker"):
        pytest.skip("no docker here")
    if subprocess.run(
        ["docker", "compose", "version"], capture_output=True, check=False
    ).returncode:
        pytest.skip("no docker compose here")
    words = ["docker", "compose", "--env-file", str(DEPLOY / "env.example"), "config", "--quiet"]
    env = {"HEART_DATABASE_PASSWORD": "x", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    done = subprocess.run(words, cwd=DEPLOY, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
