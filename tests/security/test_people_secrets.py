"""One canary in each setting that may hold a secret; none of them is shown anywhere."""

from __future__ import annotations

import json
import logging
import sys
import tarfile
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import httpx
import pytest
from click.testing import CliRunner
from cryptography.fernet import Fernet
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import SecretStr

from fateforger.adapters.store.database import describe_database, parse_database_url
from fateforger.app.health import run_checks
from fateforger.app.ops import JsonLines, OtelRecorder, TextLines
from fateforger.app.program import open_app
from fateforger.cli.command_line import root_command
from fateforger.cli.documents import dump_json_line
from fateforger.config import Kind, Settings, find_kinds, list_addresses, read_settings, read_unchecked_settings
from fateforger.conversation.redaction import Redaction
from fateforger.masks import MASK, Scrubber, find_secrets, mask_address, protect, split_secret, strip_address

CLOSED = "127.0.0.1:9"
"""A port at which nothing answers."""
UNREAD = {bool, int, float, datetime, Path, type(None)}
"""Types that hold no secret."""


def is_secret(name: str) -> bool:
    return SecretStr in get_args(Settings.model_fields[name].annotation)


SECRETS = tuple(name for name in Settings.model_fields if is_secret(name))
ADDRESSES = list_addresses(Settings)
CANARIES = {name: f"cnry{number:02}zq{number:02}" for number, name in enumerate((*SECRETS, *ADDRESSES), 10)}
"""A word for each setting. Each of its secrets begins with it."""


def plant(name: str) -> str:
    """Return the value of a setting with a canary in each place that may be secret."""
    canary = CANARIES[name]
    match name:
        case "secret_keys":
            return Fernet.generate_key().decode()
        case "database_url":
            return f"postgresql://user:{canary}-pw@{CLOSED}/name?password={canary}-query&connect_timeout=1"
        case "slack_api_base_url":
            return f"http://{CLOSED}/{canary}a1b2c3d4e5f6g7/api/"
        case "caldav_url":  # its path is the name of a collection, which a login protects
            return f"http://user:{canary}-pw@{CLOSED}/dav/?key={canary}-query#{canary}-frag"
        case _ if is_secret(name):
            return f"{canary}-secret"
        case _:
            path = f"{canary}a1b2c3d4e5f6g7/mcp"
            return f"http://user:{canary}-pw@{CLOSED}/{path}?key={canary}-query&{canary}-bare#{canary}-frag"


COMMON = (
    *("slack_bot_token", "slack_app_token", "slack_signing_secret", "proxy", "slack_api_base_url", "public_url"),
    *("mcp_token", "notion_token", "notion_url", "ticktick_mcp_url", "ticktick_mcp_token", "model_url", "model_key"),
    *("google_client_secret", "google_url", "google_service_account", "microsoft_client_secret", "microsoft_url"),
)
PLANTED: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "with servers": (
        (*COMMON, "database_url", "calendar_url", "memory_url", "memory_key", "memory_embedder_url"),
        {"memory_store": "qdrant", "memory_embedder": "openai", "memory_embedder_model": "m"},
    ),
    "with CalDAV": (
        (*COMMON, "caldav_url", "caldav_password", "memory_embedder_key", "secret_keys", "slack_client_secret"),
        {"slack_client_id": "1.2", "memory_embedder": "openai", "memory_embedder_model": "m", "caldav_username": "u"},
    ),
}


@pytest.fixture(autouse=True)
def nothing_protected() -> Iterator[None]:
    yield
    protect(())


@pytest.fixture(params=PLANTED)
def environment(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    names, others = PLANTED[request.param]
    given = {"data_dir": tmp_path, "model": "m", **others, **{name: plant(name) for name in names}}
    variables = {f"FATEFORGER_{name.upper()}": str(value) for name, value in given.items()}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:cnry98zq98-proxy@{CLOSED}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20cnry99zq99-trace")
    return variables


def find_canaries(text: str) -> list[str]:
    found = [name for name, canary in CANARIES.items() if canary in text]
    return found + [each for each in ("cnry98zq98", "cnry99zq99") if each in text]


def check_clean(text: str) -> None:
    assert text
    assert find_canaries(text) == [], text


def test_each_setting_is_of_one_kind() -> None:
    """S383: a new setting is not left out: its type or its annotation says whether it may hold a secret."""
    for name, field in Settings.model_fields.items():
        kinds = find_kinds(field.annotation, field.metadata)
        texts = [part for part in iter_types(field.annotation) if part not in UNREAD]
        if texts == [str]:
            assert len(kinds) == 1, f"{name} is a text: annotate it as Name or Address, or make it a SecretStr"
        else:
            assert not kinds
            assert texts in ([], [SecretStr], [dict[str, str]]), f"{name} has a type that nobody has classified"


def iter_types(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Literal:
        return
    if origin is Annotated:
        yield from iter_types(get_args(annotation)[0])
    elif origin in {Union, UnionType}:
        for part in get_args(annotation):
            yield from iter_types(part)
    else:
        yield annotation


def test_each_setting_that_may_hold_a_secret_is_planted() -> None:
    planted = {name for names, _ in PLANTED.values() for name in names}
    assert planted == {*SECRETS, *ADDRESSES}
    for kind in Kind:
        assert any(kind in find_kinds(f.annotation, f.metadata) for f in Settings.model_fields.values())


@pytest.mark.attack("settings", "a secret in each setting, searched for in the findings of doctor", "7c", "mended")
async def test_the_checks_show_no_secret(environment: dict[str, str]) -> None:
    """S383: the masking itself, before anything is scrubbed: the settings are read without protecting their secrets."""
    settings = read_settings()
    protect(())
    checks = await run_checks(settings)
    assert {"state", "calendar", "slack", "memory", "model"} <= {check.name for check in checks}
    check_clean(repr(checks))
    check_clean(repr(settings))


@pytest.mark.attack("command line", "a secret in each setting, searched for in the output", "7c", "mended")
@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("command", ["doctor", "up", "admin people", "admin check", "admin backup", "sync log"])
def test_commands_print_no_secret(environment: dict[str, str], command: str, form: str, tmp_path: Path) -> None:
    from fateforger.cli import command_line

    words = command.split()
    words += [str(tmp_path / "backup.tar.gz")] if words[-1] == "backup" else []
    words += ["--json"] if form == "json" and command != "up" else []
    runner = CliRunner()
    said = runner.invoke(_as_command(command_line.main, words))
    check_clean(said.output)
    if command == "doctor":
        assert said.exit_code == 3


def _as_command(main: Any, words: list[str]) -> Any:
    import click

    @click.command()
    def run() -> None:
        main(words)

    return run


@pytest.fixture
async def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """Yield a program that starts, with every secret that a start without servers can have."""
    names = ("ticktick_mcp_url", "ticktick_mcp_token", "model_url", "model_key", "mcp_token", "notion_token")
    for name in names:
        monkeypatch.setenv(f"FATEFORGER_{name.upper()}", plant(name))
    monkeypatch.setenv("FATEFORGER_MODEL", "m")
    settings = read_settings(data_dir=tmp_path, port=0, caldav_port=0, ops_port=0)
    protect(())
    async with open_app(settings) as opened:
        yield opened


@pytest.mark.attack("up, /metrics, /health", "a secret in each setting, searched for in the answer", "7c", "mended")
async def test_a_program_that_runs_shows_no_secret(program: Any) -> None:
    check_clean(repr(program))
    assert any("Language model: m at http" in line for line in program.lines)
    operations = next(line for line in program.lines if line.startswith("Operations"))
    url = operations.split()[1].rstrip(",").removesuffix("/livez")
    async with httpx.AsyncClient(trust_env=False) as http:
        check_clean((await http.get(f"{url}/metrics")).text)
        check_clean((await http.get(f"{program.page_url.rstrip('/')}/health")).text)


@pytest.mark.attack("log", "a secret in the error of a library", "7c", "mended")
def test_log_lines_hold_no_secret(environment: dict[str, str]) -> None:
    quoted = " ".join(read_settings().secrets)
    assert len(set(find_canaries(quoted))) >= len(environment) - 10
    try:
        raise OSError(f"connecting failed: {quoted}")  # noqa: TRY301  the trouble of a library
    except OSError:
        trouble = sys.exc_info()
    record = logging.LogRecord("library", logging.ERROR, "", 1, "it said %s", (quoted,), trouble)
    for form in (TextLines("%(levelname)s %(message)s"), JsonLines()):
        line = form.format(record)
        check_clean(line)
        assert MASK in line


@pytest.mark.attack("recordings", "a secret in a model's answer", "7c", "mended")
def test_recordings_hold_no_secret(environment: dict[str, str]) -> None:
    settings = read_settings()
    document = json.dumps({"text": list(settings.secrets)})
    check_clean(Redaction(secrets=settings.secrets).redact_document(document))


@pytest.mark.attack("spans", "a secret in an attribute", "7c", "mended")
def test_spans_hold_no_secret(environment: dict[str, str]) -> None:
    quoted = " ".join(read_settings().secrets)
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    recorder = OtelRecorder(provider)
    with recorder.begin("intake", {"kind": quoted}) as span:
        span.set_attribute("outcome", quoted)
        with recorder.go_on("job", {"lane": quoted}, recorder.find_position()):
            pass
    provider.shutdown()
    check_clean("".join(span.to_json() for span in spans.get_finished_spans()))


@pytest.mark.attack("backup", "a secret of the settings in the archive", "-", "held")
def test_a_backup_holds_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("model_key", "ticktick_mcp_url", "slack_bot_token", "slack_app_token", "secret_keys"):
        monkeypatch.setenv(f"FATEFORGER_{name.upper()}", plant(name))
    monkeypatch.setenv("FATEFORGER_DATA_DIR", str(tmp_path / "data"))
    runner, target = CliRunner(), tmp_path / "backup.tar.gz"
    assert runner.invoke(root_command, ["admin", "people"]).exit_code == 0
    said = runner.invoke(root_command, ["admin", "backup", str(target), "--json"])
    assert said.exit_code == 0, said.output
    check_clean(said.output)
    with tarfile.open(target) as archive:
        files = [archive.extractfile(member) for member in archive if member.isfile()]
        content = b"".join(file.read() for file in files if file is not None).decode("latin-1")
    check_clean(content)
    assert read_unchecked_settings().secrets[-1] not in content


@pytest.mark.parametrize(
    ("address", "shown", "secrets"),
    [
        ("https://alex:pw@dav.example/c/", "https://alex:•••@dav.example/c/", {"pw"}),
        ("postgresql://h/db?user=u&password=P1&sslmode=require", "postgresql://h/db?user=u&password=•••&sslmode=require", {"P1"}),
        ("postgresql://u:p/a@s?s@h:5/db", "postgresql://u:•••@h:5/db", {"p/a@s?s"}),
        ("http://h:1/mcp?token=a%2Bb#f", "http://h:1/mcp?token=•••#•••", {"a%2Bb", "a+b", "f"}),
        ("http://h/x?bare", "http://h/x?•••", {"bare"}),
        ("https://h/s/a1b2c3d4e5f6a7b8c9d0e1f2/mcp", "https://h/s/•••/mcp", {"a1b2c3d4e5f6a7b8c9d0e1f2"}),
        ("https://t0k3n9abcD7ffgh12xz@h/", "https://t0k3n9abcD7ffgh12xz@h/", set()),
        ("https://t0k3n9abcD7ffgh12xz0@h/", "https://•••@h/", {"t0k3n9abcD7ffgh12xz0"}),
        ("http://h:3000/@me/team-calendar-2026-plans", "http://h:3000/@me/team-calendar-2026-plans", set()),
        ("/tmp/a1b2c3d4e5f6a7b8c9d0e1f2/state.db", "/tmp/a1b2c3d4e5f6a7b8c9d0e1f2/state.db", set()),
        ("npx -y server --api-key S3 TOKEN=t --port=3000", "npx -y server --api-key ••• TOKEN=••• --port=3000", {"S3", "t"}),
        ("openrouter", "openrouter", set()),
        ("", "", set()),
    ],
)  # fmt: skip
def test_what_of_an_address_is_secret(address: str, shown: str, secrets: set[str]) -> None:
    assert mask_address(address) == shown
    assert set(find_secrets(address)) == secrets


def test_an_address_names_its_server_without_secrets() -> None:
    assert strip_address("HTTP://u:p@h:1/mcp?key=k#f") == "http://h:1/mcp"
    assert strip_address("https://h/dav/") == "https://h/dav/", "as journals name it since the first version"
    url = parse_database_url("postgresql://u:pw@h/db?user=u&password=P1")
    assert describe_database(url) == "postgresql+psycopg://u:•••@h/db?password=•••&user=u"


@pytest.mark.parametrize("spelling", ["pa ss/wo+rd1", "pa%20ss/wo%2Brd1", "pa+ss%2Fwo%2Brd1", "pa%20ss%2Fwo%2Brd1"])
def test_a_secret_is_found_in_other_spellings(spelling: str) -> None:
    assert Scrubber(["pa ss/wo+rd1"]).scrub(f"failed: <{spelling}>") == f"failed: <{MASK}>"


def test_a_password_that_is_an_ordinary_word_changes_no_data() -> None:
    """S383: output of commands can be read again, even with a short password that is an ordinary word."""
    protect(["work", "a longer password"])
    try:
        assert dump_json_line({"name": "work on a longer password"}) == '{"name": "work on •••"}'
    finally:
        protect(())


def test_a_short_secret_is_hidden_as_a_word_only() -> None:
    assert Scrubber(["plan1"]).scrub("plan1 replan12 plan1!") == f"{MASK} replan12 {MASK}!"
    assert Scrubber(["abc"]).scrub("abc") == "abc", "too short to be told from an ordinary word"


def test_the_parts_of_a_key_are_secrets() -> None:
    account = {"type": "service_account", "private_key": "-----BEGIN\nabcdefgh", "token_uri": "https://h.example/token"}
    parts = list(split_secret(json.dumps(account)))
    assert parts[1:] == ["-----BEGIN\nabcdefgh"]
    assert list(split_secret("key1, key2"))[1:] == ["key1", "key2"]
