"""docker-compose.yml and the images it builds: what can be held true of them without a container being run."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import AliasChoices

from fateforger.app.logins import NOTICES_PATH as CHANGES
from fateforger.app.oauth_login import PATH as CONNECT
from fateforger.app.resources import check_settings, list_unshared
from fateforger.config import Settings, read_settings
from fateforger.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "docker" / "google-calendar-mcp"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILES = {"bot": ROOT / "Dockerfile", "calendar": SERVER / "Dockerfile", "team": ROOT / "Dockerfile"}
PROFILES = {"one": {"bot", "calendar", "db"}, "team": {"team", "web", "db"}}
OF_OTHERS = {
    "db": {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"},
    "calendar": {"ENABLED_TOOLS", "NODE_ENV", "GOOGLE_OAUTH_CREDENTIALS", "GOOGLE_CALENDAR_MCP_TOKEN_PATH"},
    "bot": {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"},
    "team": {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"},
    "web": {"FATEFORGER_PUBLIC_URL"},
}


def settings() -> set[str]:
    """Return every variable that .env.example names; another test holds it against the settings themselves."""
    names = set()
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        names.add(str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"FATEFORGER_{name.upper()}")
    return names


def instructions(dockerfile: Path, word: str) -> list[str]:
    """Return the arguments of each such instruction in a Dockerfile, with continued lines joined."""
    text = dockerfile.read_text().replace("\\\n", " ")
    return [line.removeprefix(f"{word} ").strip() for line in text.splitlines() if line.startswith(f"{word} ")]


def checked_by(service: str) -> list[str]:
    """Return the command that says whether a service is well, from the compose file or from its image."""
    if "healthcheck" in SERVICES[service]:
        kind, *command = SERVICES[service]["healthcheck"]["test"]
    else:
        (line,) = instructions(DOCKERFILES[service], "HEALTHCHECK")
        kind, command = "CMD", json.loads(line.partition("CMD ")[2])
    assert kind == "CMD"
    return [str(word) for word in command]


def named_images() -> list[str]:
    """Return every third-party image that we build on, run or test in."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    return [
        *(i.split()[0] for path in DOCKERFILES.values() for i in instructions(path, "FROM")),
        *(service["image"] for service in SERVICES.values() if "build" not in service),
        *(job["container"] for job in workflow["jobs"].values()),
    ]


def test_every_image_is_pinned_to_a_version_and_its_digest() -> None:
    """S389: a tag can be moved, a digest cannot."""
    pinned = re.compile(r".+:\d+\.\d+(\.\d+)?(-pg\d+)?-[a-z-]+@sha256:[0-9a-f]{64}")
    assert [image for image in named_images() if not pinned.fullmatch(image)] == []


def test_an_image_has_the_same_pin_wherever_it_is_named() -> None:
    """S389: a digest that is renewed is renewed everywhere, not in the first place only."""
    images = set(named_images())
    assert len(images) == len({image.partition("@")[0] for image in images})


def test_actions_are_pinned_to_a_commit() -> None:
    """S389: the tag of an action can be moved as well."""
    used = re.findall(r"uses: (\S+)", (ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


def test_everything_that_is_installed_is_pinned_by_hash() -> None:
    """Python by requirements.lock, Node by package-lock.json, which name no host."""
    commands = " ".join(i for path in DOCKERFILES.values() for i in instructions(path, "RUN"))
    assert "--require-hashes -r requirements.lock" in commands
    assert "npm ci --omit=dev --ignore-scripts" in commands
    locks = [SERVER / "package-lock.json", *SERVER.parents[1].glob("requirements*.lock")]
    assert [lock.name for lock in locks if "://" in lock.read_text()] == []
    lock = json.loads((SERVER / "package-lock.json").read_text())["packages"]
    packages = {name: package for name, package in lock.items() if name}
    assert [name for name, package in packages.items() if not package["integrity"].startswith("sha512-")] == []
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert packages["node_modules/@cocal/google-calendar-mcp"]["version"] == "2.6.3"
    assert json.loads((SERVER / "package.json").read_text())["dependencies"] == {"@cocal/google-calendar-mcp": "2.6.3"}


@pytest.mark.parametrize("service", SERVICES)
def test_every_variable_that_is_set_is_known(service: str) -> None:
    """A misspelt variable would be ignored silently."""
    given = set(SERVICES[service].get("environment", {}))
    if service in DOCKERFILES:
        words = [w for i in instructions(DOCKERFILES[service], "ENV") for w in shlex.split(i)]
        given |= {word.partition("=")[0] for word in words}
    known = OF_OTHERS[service] | (settings() if service in {"bot", "team"} else set())
    assert given - known == set()


def test_no_secret_is_written_down() -> None:
    """They come from .env or from a mounted file, and every word that is asked for is explained in the file's head."""
    text = (ROOT / "docker-compose.yml").read_text()
    head, body = text.split("\nname: ", 1)
    asked = set(re.findall(r"\$\{(\w+)", body))
    assert asked == {"POSTGRES_PASSWORD", "GOOGLE_OAUTH_KEYS", "FATEFORGER_PUBLIC_URL"}
    assert [name for name in asked if name not in head] == []
    values = [(name, str(v)) for s in SERVICES.values() for name, v in s.get("environment", {}).items()]
    secret = [(name, v) for name, v in values if re.search("TOKEN|PASSWORD|SECRET|KEY", name)]
    assert [(name, v) for name, v in secret if not v.startswith("${")] == []
    assert re.findall(r"://[^/\s:]+:[^$@\s][^@\s]*@", text) == []
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[0] == "*"
    assert [line for line in ignored[1:] if line.startswith("!") and "env" in line] == []


def test_only_the_page_can_be_reached_and_only_from_here() -> None:
    ports = {name: s["ports"] for name, s in SERVICES.items() if "ports" in s}
    assert ports == {"bot": ["127.0.0.1:8765:8765"], "web": ["80:80", "443:443"]}
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert SERVICES["db"]["networks"] == ["inside"]


def test_what_is_kept_is_in_a_volume_and_nothing_runs_as_root() -> None:
    kept = {v.partition(":")[0] for s in SERVICES.values() for v in s.get("volumes", ()) if not v.startswith("./")}
    assert kept == set(COMPOSE["volumes"])
    for path in DOCKERFILES.values():
        (user,) = instructions(path, "USER")
        assert user != "root"
        paths = instructions(path, "VOLUME")
        assert [v for s in SERVICES.values() for v in s.get("volumes", ()) if v.partition(":")[2] in paths] != []


def test_every_health_check_is_a_command_that_exists() -> None:
    assert {service: checked_by(service)[0] for service in SERVICES if service != "web"} == {
        "bot": "fateforger",
        "calendar": "node",
        "db": "pg_isready",
        "team": "fateforger",
    }
    assert checked_by("bot") == checked_by("team") == ["fateforger", "health"]
    help_ = subprocess.run(
        [sys.executable, "-m", "fateforger", "health", "--help"], check=True, capture_output=True, text=True
    )
    assert "is well" in help_.stdout
    waits = SERVICES["bot"]["depends_on"]
    assert {name: wait["condition"] for name, wait in waits.items()} == dict.fromkeys(
        ("calendar", "db"), "service_healthy"
    )


KEYS = {
    "build", "cap_add", "cap_drop", "depends_on", "deploy", "env_file", "environment", "healthcheck", "image", "init", "networks",
    "ports", "profiles", "read_only", "restart", "stop_grace_period", "secrets", "security_opt", "tmpfs", "volumes",
}  # fmt: skip


def test_each_profile_is_whole() -> None:
    """S364: what a service waits for, and each network, volume and file that it names, is in every profile of it."""
    for profile, services in PROFILES.items():
        assert {name for name, s in SERVICES.items() if profile in s["profiles"]} == services
        assert {needed for name in services for needed in SERVICES[name].get("depends_on", ())} <= services
    for service in SERVICES.values():
        assert set(service) <= KEYS
        assert set(service["networks" if "networks" in service else "profiles"]) <= {*COMPOSE["networks"], *PROFILES}
        mounted = [v.split(":")[0] for v in service.get("volumes", ()) if v.startswith("./")]
        assert [path for path in mounted if not (ROOT / path).is_file()] == []


def test_a_team_has_two_programs_that_keep_nothing() -> None:
    """S364: all that lasts is in the database, so that any of them can go."""
    team = SERVICES["team"]
    assert team["deploy"]["replicas"] == 2
    assert "volumes" not in team
    assert any(mount.startswith("/data:") for mount in team["tmpfs"])
    assert {"FATEFORGER_DATABASE_URL", "FATEFORGER_MEMORY_STORE", "FATEFORGER_OPS_PORT"} <= set(team["environment"])
    assert "pgvector" in SERVICES["db"]["image"]


SAMPLES = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "FATEFORGER_DATABASE_URL": "postgresql://db/plan",
    "FATEFORGER_SECRET_KEYS": "k",
    "FATEFORGER_PUBLIC_URL": "https://plan.example.org",
}
"""Settings that an administrator gives to a team's programs."""


def start_with(given: dict[str, str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> Settings:
    """Return the settings of a program with these variables. Raises ``BadInput`` as its start does."""
    monkeypatch.chdir(folder)
    for name in settings():
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    found = read_settings(data_dir=folder)
    check_settings(found)
    return found


def test_programs_of_a_team_share_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """S350: with what the file sets and what its head and docs/admin.md ask for; without the key, none starts."""
    head = (ROOT / "docker-compose.yml").read_text().split("\nname: ", 1)[0]
    page = (ROOT / "docs" / "admin.md").read_text()
    assert [name for name in SAMPLES if f"| `{name}`" not in page and f", `{name}` |" not in page] == []
    assert {"FATEFORGER_PUBLIC_URL", "FATEFORGER_SECRET_KEYS"} <= set(re.findall(r"\w+", head))
    env = {name: re.sub(r"\$\{.+?\}", "word", value) for name, value in SERVICES["team"]["environment"].items()}
    given = {**SAMPLES, **env}
    assert list(list_unshared(start_with(given, monkeypatch, tmp_path))) == []
    del given["FATEFORGER_SECRET_KEYS"]
    with pytest.raises(BadInput, match=r"docs/connections\.md"):
        start_with(given, monkeypatch, tmp_path)


def test_programs_have_time_to_end() -> None:
    """S491: Docker's ten seconds would cut off a write to a calendar."""
    for name in ("bot", "team"):
        assert SERVICES[name]["stop_grace_period"] == "60s"


def test_the_web_server_passes_what_people_and_providers_need() -> None:
    caddy = (ROOT / "deploy" / "compose" / "Caddyfile").read_text()
    assert f"path {CONNECT}/* {CHANGES}/* /slack/*" in caddy
    assert f"dynamic a team {SERVICES['team']['environment']['FATEFORGER_PORT']}" in caddy
    assert "respond 404" in caddy
