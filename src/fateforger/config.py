"""Settings, read once from the environment (and a ``.env`` file). Secrets never appear in a log or a repr."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from enum import Enum, auto
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from fateforger.errors import BadInput
from fateforger.masks import find_secrets, find_secrets_of_libraries, mask_address, protect, split_secret
from fateforger.planning.timing import zone
from fateforger.ports.people import OPERATOR_LOG_KEPT
from fateforger.text import COMMANDS, join_words, load_catalogue

_COMMAND = re.compile(r"/[a-z0-9_-]{1,31}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,256}")


def _assume_utc(value: datetime) -> datetime:
    return value if value.tzinfo else value.replace(tzinfo=UTC)


class Kind(Enum):
    """The kind of a text in the settings. A ``SecretStr`` needs none: all of it is secret."""

    NAME = auto()
    """No secret: a name, an id or a list of them."""
    ADDRESS = auto()
    """An address, or the command line of a server, of which parts may be secret (:mod:`fateforger.masks`)."""


def _check_zone(name: str) -> str:
    return zone(name).key


def _check_language(language: str) -> str:
    try:
        load_catalogue(language)
    except LookupError as error:
        raise ValueError(str(error)) from None
    return language


def _check_http_address(address: str) -> str:
    parts = urlsplit(address.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("it should be an address like http://127.0.0.1:3000/mcp")
    return address.strip()


def _check_without_login(address: str) -> str:
    if urlsplit(address).username is not None:
        raise ValueError("it should contain no user name and password: the bot token is the login")
    return _check_http_address(address)


def _check_token(token: SecretStr) -> SecretStr:
    if not _TOKEN.fullmatch(token.get_secret_value()):
        raise ValueError("it should be 16 or more letters, digits, - and _, so that it cannot be guessed")
    return token


def _parse_pairs(value: object) -> object:
    """Parse ``a=1,b=2`` into a mapping."""
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in value.split(",") if part.strip()]
    if not all(name.strip() and sign and what.strip() for name, sign, what in pairs):
        raise ValueError("it should read NAME=VALUE,NAME=VALUE")
    return {name.strip(): what.strip() for name, _, what in pairs}


def _check_commands(names: dict[str, str]) -> dict[str, str]:
    """Return what people type for commands, by command."""
    found = {f"/{command.removeprefix('/')}": name for command, name in names.items()}
    unknown = [command for command in found if command not in COMMANDS]
    if unknown:
        raise ValueError(f"{unknown[0]} is none of the commands {', '.join(COMMANDS)}")
    for name in found.values():
        if not _COMMAND.fullmatch(name):
            raise ValueError(f"{name} cannot be a command: Slack wants /, then up to 31 of a-z, 0-9, - and _")
    shown = [found.get(command, command) for command in COMMANDS]
    if len(set(shown)) < len(shown):
        raise ValueError("two commands would have the same name")
    return found


def default_data_dir() -> Path:
    """Return ``$XDG_DATA_HOME/fateforger``, by default in the home directory."""
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "fateforger"


Name = Annotated[str, Kind.NAME]
Address = Annotated[str, Kind.ADDRESS]
HttpAddress = Annotated[str, Kind.ADDRESS, AfterValidator(_check_http_address)]

LoginlessAddress = Annotated[str, Kind.ADDRESS, AfterValidator(_check_without_login)]


class Settings(BaseSettings):
    """All settings. Each field's description is its line in ``.env.example``."""

    model_config = SettingsConfigDict(
        env_file=".env", env_prefix="FATEFORGER_", env_ignore_empty=True, extra="ignore", frozen=True
    )

    data_dir: Path = Field(
        default_factory=default_data_dir,
        description="Where everything durable lives: sessions, journal, the embedded calendar.",
    )
    host: Name = Field("127.0.0.1", description="Address the local page listens on.")
    port: int = Field(8765, ge=0, le=65535, description="Port of the local page; 0 picks a free one.")
    page_token: Annotated[SecretStr, AfterValidator(_check_token)] | None = Field(
        None,
        description="Token in the address of the page: 16 or more letters, digits, - and _; left out, one is made and"
        " kept.",
    )
    ops_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port for /livez, /readyz and /metrics; it asks for no password, so keep it inside your network.",
    )
    log: Literal["text", "json"] = Field("text", description="Form of the log on stderr: text, or json lines.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning", description="Least severe lines to log; up --verbose means info."
    )
    public_url: HttpAddress | None = Field(
        None, description="Address at which people reach this program's pages, such as https://plan.example.org."
    )
    time_zone: Annotated[Name, AfterValidator(_check_zone)] = Field(
        "Europe/Amsterdam", description="Zone of the embedded calendar and of people whose zone is unknown."
    )
    language: Annotated[Name, AfterValidator(_check_language)] = Field(
        "en", description="Language of people whose own is unknown: en, de, es, fr or nl."
    )
    now: Annotated[datetime, AfterValidator(_assume_utc)] | None = Field(
        None, description="Start the clock at this instant (RFC 3339) instead of the real time; for demos and tests."
    )
    calendar_write: Literal["refine", "okay", "commit"] = Field(
        "refine",
        description="When blocks reach the calendar: at each change (refine), by themselves once a plan is Okay (okay) "
        "or only on Commit (commit).",
    )
    watch_seconds: float = Field(
        5, ge=0, le=600, description="Seconds between looks at the day of an open session, to see edits; 0 for none."
    )
    database_url: Address | None = Field(
        None, description="PostgreSQL URL for state; left out, an SQLite file in the data directory."
    )
    calendar_url: Address | None = Field(
        None, description="MCP endpoint of a google-calendar-mcp server; left out, the embedded calendar."
    )
    calendar_id: Name = Field("primary", description="Which of that server's calendars is written to.")
    calendars_read: Name = Field(
        "",
        description="Other calendars to plan around: names or ids with commas between, or selected (ticked), or all.",
    )
    calendar_account: Name | None = Field(None, description="Account name in that server, when it has several.")
    caldav_url: Address | None = Field(
        None, description="Your own CalDAV server or collection for the local calendar server; left out, Radicale."
    )
    caldav_port: int = Field(
        8766,
        ge=0,
        le=65535,
        description="Port at which CalDAV clients reach the embedded calendar; 0 picks a free one.",
    )
    caldav_username: Name | None = Field(None, description="User name for that CalDAV server.")
    caldav_password: SecretStr | None = Field(None, description="Password for that CalDAV server.")
    caldav_private: bool = Field(
        default=False,
        description="Let people connect CalDAV servers in this program's own network, also with a public address.",
    )
    slack_bot_token: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("SLACK_BOT_TOKEN", "FATEFORGER_SLACK_BOT_TOKEN"),
        description="Bot token (xoxb-...) of your Slack app; left out, the local page stands in for Slack.",
    )
    slack_app_token: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("SLACK_APP_TOKEN", "FATEFORGER_SLACK_APP_TOKEN"),
        description="App-level token (xapp-...) with connections:write, for Socket Mode.",
    )
    slack_mode: Literal["socket", "http"] = Field(
        "socket",
        description="How Slack reaches this program: socket (it connects to Slack) or http (at its public URL).",
    )
    slack_signing_secret: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("SLACK_SIGNING_SECRET", "FATEFORGER_SLACK_SIGNING_SECRET"),
        description="Signing secret of your Slack app, for HTTP mode.",
    )
    proxy: HttpAddress | None = Field(
        None, description="HTTP proxy for the way to Slack; left out, HTTPS_PROXY and NO_PROXY decide."
    )
    commands: Annotated[dict[str, str], NoDecode, BeforeValidator(_parse_pairs), AfterValidator(_check_commands)] = (
        Field(
            {},
            description="Other names for commands that another app has as well, like tasks=/my-tasks,pull=/my-pull.",
        )
    )
    slack_client_id: Name | None = Field(
        None,
        validation_alias=AliasChoices("SLACK_CLIENT_ID", "FATEFORGER_SLACK_CLIENT_ID"),
        description="Client id of your Slack app, so that several workspaces install it: docs/workspaces.md.",
    )
    slack_client_secret: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("SLACK_CLIENT_SECRET", "FATEFORGER_SLACK_CLIENT_SECRET"),
        description="Client secret of your Slack app.",
    )
    guests: Literal["none", "multi-channel", "all"] = Field(
        "multi-channel", description="Which guests of a workspace may plan: none, multi-channel or all."
    )
    calendar_owner: Name | None = Field(
        None, description="Slack id (U...) of the calendar's owner; left out, whoever claims it with up's code."
    )
    google_client_id: Name | None = Field(
        None, description="Client id of your Google OAuth client, so that people connect their own calendar."
    )
    google_client_secret: SecretStr | None = Field(None, description="Client secret of your Google OAuth client.")
    google_url: HttpAddress | None = Field(
        None, description="Another address that speaks Google's sign-in and Calendar API; left out, Google's own."
    )
    microsoft_client_id: Name | None = Field(
        None, description="Application id of your Microsoft Entra app, so that people connect their own calendar."
    )
    microsoft_client_secret: SecretStr | None = Field(None, description="Client secret of that app.")
    microsoft_tenant: Name = Field(
        "common",
        description="Directory whose accounts may connect: an id or domain, organizations, or common for all.",
    )
    microsoft_url: HttpAddress | None = Field(
        None, description="Another address that speaks Microsoft's sign-in and Graph; left out, Microsoft's own."
    )
    google_service_account: SecretStr | None = Field(
        None, description="Key of a Google service account for a whole Workspace domain: its JSON, or the file's path."
    )
    google_domains: Name = Field(
        "", description="Domains whose administrator let that service account in, with commas between."
    )
    microsoft_domains: Name = Field(
        "", description="Domains whose administrator let the app in for everybody, with commas between."
    )
    secret_keys: SecretStr | None = Field(
        None,
        description="Fernet keys that encrypt people's logins, newest first, with commas between: docs/connections.md.",
    )
    slack_api_base_url: LoginlessAddress | None = Field(
        None,
        validation_alias=AliasChoices("SLACK_API_BASE_URL", "FATEFORGER_SLACK_API_BASE_URL"),
        description="Another Slack-compatible server's Web API address, ending in /api/.",
    )
    picture: Literal["on", "off"] = Field(
        "on", description="Whether a day is also shown as a picture, in Slack and on the local page: on or off."
    )
    notion_token: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("NOTION_TOKEN", "FATEFORGER_NOTION_TOKEN"),
        description="Token of a Notion integration; only for moving constraints from there (docs/notion.md).",
    )
    notion_url: Address | None = Field(
        None, description="Another address that speaks Notion's API; left out, Notion's own."
    )
    ticktick_mcp_url: HttpAddress | None = Field(
        None,
        validation_alias=AliasChoices("TICKTICK_MCP_URL", "FATEFORGER_TICKTICK_MCP_URL"),
        description="Address of an MCP server for TickTick (streamable HTTP); Stage 2 offers what is open there.",
    )
    ticktick_mcp_token: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("TICKTICK_MCP_TOKEN", "FATEFORGER_TICKTICK_MCP_TOKEN"),
        description="Bearer token for that server, if it wants one.",
    )
    ticktick_mcp_tool: Name | None = Field(
        None,
        validation_alias=AliasChoices("TICKTICK_MCP_TOOL", "FATEFORGER_TICKTICK_MCP_TOOL"),
        description="Its tool that lists tasks as JSON; left out, the first one with a known name.",
    )
    model: Name | None = Field(
        None, description="Name of the language model, as its server calls it; left out, buttons and forms do it all."
    )
    model_provider: Literal["openai", "openrouter", "gemini", "ollama", "vllm"] | None = Field(
        None, description="Where that model is: openai, openrouter, gemini, ollama or vllm; or give its address below."
    )
    model_url: Address | None = Field(
        None, description="Address of any server with OpenAI's chat completions, ending in /v1."
    )
    model_key: SecretStr | None = Field(None, description="Key for that server; Ollama and vLLM need none.")
    model_roles: Annotated[dict[str, str], NoDecode, BeforeValidator(_parse_pairs)] = Field(
        {},
        description="Other models for some roles (decide, gate, draft, patch, extract), like patch=NAME,draft=NAME.",
    )
    model_answers: Literal["schema", "json", "text"] | None = Field(
        None,
        description="How that server is held to JSON: schema, json or text; left out, as suits the provider. "
        "doctor --model finds out.",
    )
    model_thinking: Literal["off", "low", "medium", "high"] | None = Field(
        None,
        description="How much it thinks before an answer: off, low, medium or high; left out, off for Ollama and vLLM.",
    )
    model_seconds: float | None = Field(
        None,
        ge=5,
        le=600,
        description="Seconds to understand a message; a change has three times that. Left out, 20, for Ollama 60.",
    )
    model_context: int | None = Field(
        None,
        ge=2_048,
        description="Tokens that it reads at once; a longer prompt is refused, not cut. Left out, 10240 for Ollama.",
    )
    model_prices: Annotated[dict[str, str], NoDecode, BeforeValidator(_parse_pairs)] = Field(
        {}, description="US dollars for a million tokens in and out, to count costs, like NAME=0.25/2.00."
    )
    memory_store: Literal["embedded", "pgvector", "qdrant"] = Field(
        "embedded",
        description="Where the index of constraints is: embedded, or pgvector or qdrant for several programs to share.",
    )
    memory_url: Address | None = Field(
        None, description="Address of that Qdrant server or PostgreSQL; for pgvector left out, the database for state."
    )
    memory_key: SecretStr | None = Field(None, description="Key for that Qdrant server.")
    memory_embedder: Literal["local", "spelling", "fastembed", "openai", "ollama"] = Field(
        "local",
        description="What finds rules: local (meaning, offline), spelling (less memory), fastembed, openai, ollama.",
    )
    memory_embedder_model: Name | None = Field(
        None, description="Name of its embedding model; left out, a small one that is usual there."
    )
    memory_embedder_url: Address | None = Field(
        None, description="Address of any server with OpenAI's embeddings, ending in /v1."
    )
    memory_embedder_key: SecretStr | None = Field(None, description="Key for that server; Ollama needs none.")

    mcp_token: SecretStr | None = Field(
        None,
        description="Token of another agent, for fateforger mcp over a pipe (docs/mcp.md); this program needs none.",
    )
    mcp_port: int = Field(8767, ge=0, le=65535, description="Port of fateforger mcp --http; 0 picks a free one.")

    facts: Path | None = Field(
        None,
        description="File that lets predicates look at files and run commands (docs/workflows.md); without it, none.",
    )
    workflows: Path | None = Field(
        None, description="Folder with workflows of your own, one .yaml file each (docs/workflows.md); left out, none."
    )
    record: Path | None = Field(
        None, description="Directory to record each turn in, with what models were asked and answered; left out, none."
    )
    keep_recordings: int | None = Field(
        None, ge=1, description="Days after which a recording is deleted; left out, recordings stay."
    )
    keep_sessions: int | None = Field(
        None,
        ge=30,
        description="Days after which a past day is deleted and can no longer be undone, at least 30; left out, days"
        " stay until the person is erased.",
    )
    keep_operator_log: int = Field(
        OPERATOR_LOG_KEPT.days,
        ge=30,
        description="Days after which a note of what the operator did with a person's data is deleted, at least 30.",
    )
    record_titles: Literal["keep", "redact"] = Field(
        "redact", description="Whether recordings keep people's words, or tell them in pseudonyms: keep or redact."
    )

    @model_validator(mode="after")
    def _install_flow(self) -> Self:
        if (self.slack_client_id is None) != (self.slack_client_secret is None):
            raise ValueError("SLACK_CLIENT_ID and SLACK_CLIENT_SECRET belong together; set both, or neither")
        if self.slack_client_id is not None and self.public_url is None:
            raise ValueError("FATEFORGER_PUBLIC_URL is missing; people who install the app come back there")
        if self.slack_client_id is not None and self.database_url is not None and self.secret_keys is None:
            raise ValueError("FATEFORGER_SECRET_KEYS is missing; it encrypts the tokens of workspaces")
        return self

    @model_validator(mode="after")
    def _one_directory(self) -> Self:
        if self.microsoft_domains and self.microsoft_tenant in {"common", "organizations", "consumers"}:
            raise ValueError("FATEFORGER_MICROSOFT_TENANT has to name the directory of FATEFORGER_MICROSOFT_DOMAINS")
        if self.microsoft_domains and self.microsoft_client_id is None:
            raise ValueError("FATEFORGER_MICROSOFT_CLIENT_ID is missing; FATEFORGER_MICROSOFT_DOMAINS needs it")
        return self

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """Return the settings for a ``repr``, without the secret parts of addresses."""
        addresses = list_addresses(type(self))
        for name, value in super().__repr_args__():
            yield name, mask_address(value) if name in addresses and isinstance(value, str) else value

    @property
    def secrets(self) -> tuple[str, ...]:
        """All values that must not appear in a log or file: tokens, keys, passwords, secret parts of addresses.

        The standard variables for proxies, traces and PostgreSQL are included.
        """
        given = [value for name in type(self).model_fields if isinstance(value := getattr(self, name), SecretStr)]
        addresses = [url for name in list_addresses(type(self)) if (url := getattr(self, name))]
        found = (
            *(split_secret(value.get_secret_value()) for value in given),
            *map(find_secrets, addresses),
            find_secrets_of_libraries(os.environ),
        )
        return tuple(dict.fromkeys(chain.from_iterable(found)))

    @property
    def real_slack(self) -> bool:
        """Check whether Slack is configured; otherwise the local page replaces it."""
        return self.slack_bot_token is not None or self.slack_client_id is not None


def list_addresses(settings: type[BaseModel]) -> tuple[str, ...]:
    """Return the names of the settings that hold an address."""
    return tuple(
        name
        for name, field in settings.model_fields.items()
        if Kind.ADDRESS in find_kinds(field.annotation, field.metadata)
    )


def find_kinds(annotation: Any, metadata: Iterable[Any] = ()) -> frozenset[Kind]:
    """Return the kinds that the annotation of a setting names."""
    inner = (find_kinds(part) for part in get_args(annotation) if not isinstance(part, str))
    own = (each for each in (annotation, *metadata) if isinstance(each, Kind))
    return frozenset(own).union(*inner)


def read_settings(**overrides: object) -> Settings:
    """Return the settings; ``overrides`` from the command line take precedence.

    Raises :class:`BadInput` for a setting that cannot be used, and for half a Slack login.
    """
    settings = read_unchecked_settings(**overrides)
    _refuse_half_login(settings)
    return settings


def read_unchecked_settings(**overrides: object) -> Settings:
    """Return the settings like :func:`read_settings`, also those of a program that has no Slack app yet."""
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        settings = Settings(**given)  # type: ignore[arg-type]  # validated by pydantic right here
    except ValidationError as error:
        finding = error.errors(include_url=False)[0]
        name = ".".join(str(p) for p in finding["loc"])
        message = finding["msg"].removeprefix("Value error, ").rstrip(".")
        if finding["type"].startswith("datetime"):
            message = "write an instant like 2026-03-02T10:20:00+01:00"
        sentence = f"The setting {name} cannot be used: {message}." if name else f"{message}."
        raise BadInput(sentence, where=name or "settings") from None
    protect(settings.secrets)
    return settings


def _refuse_half_login(settings: Settings) -> None:
    """Refuse what cannot log in to Slack. In Socket Mode, no token at all means the local page.

    Where workspaces install the app, each brings its own bot token.
    """
    bot_token = settings.slack_bot_token or settings.slack_client_id
    if settings.slack_mode == "http":
        needed = {
            "SLACK_BOT_TOKEN": bot_token,
            "SLACK_SIGNING_SECRET": settings.slack_signing_secret,
            "FATEFORGER_PUBLIC_URL": settings.public_url,
        }
        reason = "HTTP mode needs the bot token, the signing secret and the address at which Slack reaches this program"
    elif bot_token or settings.slack_app_token or settings.slack_signing_secret:
        needed = {"SLACK_BOT_TOKEN": bot_token, "SLACK_APP_TOKEN": settings.slack_app_token}
        reason = "Socket Mode needs both tokens, and the local page neither"
        if settings.slack_signing_secret:
            reason += ". For HTTP mode, set FATEFORGER_SLACK_MODE=http"
    else:
        return
    missing = [name for name, value in needed.items() if not value]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise BadInput(f"{join_words(missing)} {verb} missing. {reason}.", where="settings")
    address = urlsplit(settings.public_url or "")
    if (
        settings.slack_mode == "http"
        and address.scheme == "http"
        and address.hostname not in {"127.0.0.1", "localhost"}
    ):
        shown = mask_address(str(settings.public_url))
        raise BadInput(
            f"FATEFORGER_PUBLIC_URL is {shown}, but in HTTP mode Slack wants an address that begins with https://.",
            where="settings",
        )
