"""The parts of a Slack app manifest that a workspace acts on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

EVENT_SCOPES: Mapping[str, frozenset[str]] = {
    "message.im": frozenset({"im:history"}),
    "message.channels": frozenset({"channels:history"}),
    "message.groups": frozenset({"groups:history"}),
    "app_mention": frozenset({"app_mentions:read"}),
    "app_home_opened": frozenset(),
    "user_change": frozenset({"users:read"}),
    "reaction_added": frozenset({"reactions:read"}),
    "reaction_removed": frozenset({"reactions:read"}),
    "member_joined_channel": frozenset({"channels:read", "groups:read"}),
    "app_context_changed": frozenset({"assistant:write"}),
    "agent_session_stopped": frozenset({"chat:write"}),
    "agent_session_title_changed": frozenset({"chat:write"}),
    "app_uninstalled": frozenset(),
    "tokens_revoked": frozenset(),
}
"""Event subscriptions and the scopes of which one at least must be granted (none: no scope is needed)."""


@dataclass(frozen=True)
class SlashCommand:
    command: str
    description: str
    usage_hint: str


@dataclass(frozen=True)
class Shortcut:
    type: Literal["global", "message"]
    name: str
    callback_id: str
    description: str


@dataclass(frozen=True)
class SuggestedPrompt:
    title: str
    message: str


@dataclass(frozen=True)
class RequestUrls:
    """Addresses of an app in HTTP mode; `commands` has that of each command by its name."""

    events: str
    interactivity: str
    options: str
    commands: Mapping[str, str]


@dataclass(frozen=True)
class AppManifest:
    """An app as its manifest describes it. In Socket Mode it has no `request_urls`."""

    name: str
    bot_name: str
    home_tab_enabled: bool
    is_agent: bool
    commands: tuple[SlashCommand, ...]
    shortcuts: tuple[Shortcut, ...]
    suggested_prompts: tuple[SuggestedPrompt, ...]
    bot_events: frozenset[str]
    scopes: tuple[str, ...]
    request_urls: RequestUrls | None = None

    def receives(self, subscription: str) -> bool:
        """Check whether the app gets this event: it must be subscribed to and hold a scope for it."""
        wanted = EVENT_SCOPES.get(subscription)
        if wanted is None or subscription not in self.bot_events:
            return False
        return not wanted or not wanted.isdisjoint(self.scopes)


def read_manifest(document: Mapping[str, Any]) -> AppManifest:
    """Read a Slack app manifest (the dict form of its YAML or JSON); parts that are left out are simply absent."""
    features = _section(document, "features")
    agent = features.get("agent_view") or features.get("assistant_view")
    bot_scopes = _section(document, "oauth_config", "scopes")
    name = str(_section(document, "display_information").get("name") or "app")
    return AppManifest(
        name=name,
        bot_name=str(_section(features, "bot_user").get("display_name") or name),
        home_tab_enabled=bool(_section(features, "app_home").get("home_tab_enabled", False)),
        is_agent=agent is not None,
        commands=tuple(
            SlashCommand(str(c["command"]), str(c.get("description", "")), str(c.get("usage_hint", "")))
            for c in _items(features, "slash_commands")
        ),
        shortcuts=tuple(
            Shortcut(
                "message" if s["type"] == "message" else "global",
                str(s["name"]),
                str(s["callback_id"]),
                str(s.get("description", "")),
            )
            for s in _items(features, "shortcuts")
        ),
        suggested_prompts=tuple(
            SuggestedPrompt(str(p["title"]), str(p["message"])) for p in _items(agent or {}, "suggested_prompts")
        ),
        bot_events=frozenset(_section(document, "settings", "event_subscriptions").get("bot_events") or ()),
        scopes=(*bot_scopes.get("bot", ()), *bot_scopes.get("bot_optional", ())),
        request_urls=_read_urls(document),
    )


def _read_urls(document: Mapping[str, Any]) -> RequestUrls | None:
    """Return the addresses of an app that has Socket Mode switched off, and says where its events go."""
    settings = _section(document, "settings")
    events = _section(settings, "event_subscriptions").get("request_url")
    if settings.get("socket_mode_enabled", False) or not events:
        return None
    interactivity = _section(settings, "interactivity")
    return RequestUrls(
        events=str(events),
        interactivity=str(interactivity.get("request_url", "")),
        options=str(interactivity.get("message_menu_options_url", "")),
        commands={
            str(c["command"]): str(c.get("url", "")) for c in _items(_section(document, "features"), "slash_commands")
        },
    )


def _section(document: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        document = document.get(key) or {}
    return document


def _items(document: Mapping[str, Any], key: str) -> Iterable[Mapping[str, Any]]:
    return document.get(key) or ()
