"""Check each part of the configuration by itself for ``doctor``, with a fix for each problem."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping

from fateforger.bootstrap.calendars import SERVER_FIX, check_calendars
from fateforger.bootstrap.check import Check
from fateforger.bootstrap.lists import check_lists
from fateforger.bootstrap.memory_health import MEMORY_FIX, check_memory
from fateforger.bootstrap.owner import check_owner
from fateforger.config import Settings
from fateforger.errors import FateforgerError

_ENOUGH_BYTES = 200 * 1024 * 1024


async def run_checks(settings: Settings, *, ask_model: bool = False) -> tuple[Check, ...]:
    """Check every part, with ten seconds for each. Nothing is changed, except that missing tables are created.

    With ``ask_model`` the language models are sent a request, which may cost a fraction of a cent and takes longer.
    """
    parts: tuple[tuple[str, Callable[[Settings], Awaitable[Check]]], ...] = (
        ("python", _check_python),
        ("data", _check_data),
        ("state", _check_state),
        ("owner", check_owner),
        ("calendar", check_calendars),
        ("slack", _check_slack),
        ("memory", check_memory),
    )
    checks = [await _within_time(name, part, settings) for name, part in parts]
    return (*checks, *await check_lists(settings), *await _check_models(settings, ask=ask_model))


async def _within_time(name: str, part: Callable[[Settings], Awaitable[Check]], settings: Settings) -> Check:
    try:
        return await asyncio.wait_for(part(settings), 10)
    except TimeoutError:
        return Check(name, "broken", "It did not answer within ten seconds.", "Check its address and the network.")
    except FateforgerError as error:
        return Check(name, "broken", error.message, _FIXES[name])


_STATE_FIX = "Move the database away, or choose another directory with --data-dir."
_FIXES = {
    "python": "Install Python 3.11 or newer.",
    "data": "Choose another directory with --data-dir or FATEFORGER_DATA_DIR.",
    "state": _STATE_FIX,
    "owner": _STATE_FIX,
    "calendar": SERVER_FIX,
    "slack": "Check SLACK_BOT_TOKEN and SLACK_APP_TOKEN; leave both out for the local page.",
    "memory": MEMORY_FIX,
}


_SERVER_FIX = "Check that the server runs and that FATEFORGER_DATABASE_URL is right; leave it out for a SQLite file."


async def _check_python(_: Settings) -> Check:
    return Check("python", "real", f"Python {sys.version.split()[0]}.")


async def _check_data(settings: Settings) -> Check:
    folder = settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Check("data", "broken", f"I cannot use {folder}: {error.strerror}.", _FIXES["data"])
    if not os.access(folder, os.W_OK):
        return Check("data", "broken", f"I cannot write to {folder}.", _FIXES["data"])
    if free < _ENOUGH_BYTES:
        return Check("data", "broken", f"{folder} has only {free // 2**20} MiB left.", "Free some space on that disk.")
    return Check("data", "local", f"{folder}, {free / 2**30:.1f} GiB free.")


async def _check_state(settings: Settings) -> Check:
    from fateforger.adapters.store import open_store  # noqa: PLC0415  heavy

    where = settings.database_url or settings.data_dir / "fateforger.db"
    try:
        store = await asyncio.to_thread(open_store, where)
    except FateforgerError as error:
        return Check("state", "broken", error.message, _SERVER_FIX if settings.database_url else _FIXES["state"])
    await store.aclose()
    if settings.database_url:
        return Check("state", "real", f"{store.database.place} answers.")
    return Check("state", "local", f"SQLite at {where}.")


async def _check_slack(settings: Settings) -> Check:
    if settings.slack_bot_token is None or settings.slack_app_token is None:
        return Check(
            "slack",
            "local",
            f"The local page, at http://{settings.host}:{settings.port} once it is up.",
            "For your workspace create an app from manifest.yaml and set SLACK_BOT_TOKEN and SLACK_APP_TOKEN.",
        )
    from slack_sdk.errors import SlackApiError  # noqa: PLC0415  heavy
    from slack_sdk.web.async_client import AsyncWebClient  # noqa: PLC0415  heavy

    client = AsyncWebClient(token=settings.slack_bot_token.get_secret_value(), timeout=8)
    if settings.slack_api_base_url:
        client.base_url = settings.slack_api_base_url
    try:
        who = await client.auth_test()
        await client.apps_connections_open(app_token=settings.slack_app_token.get_secret_value())
    except SlackApiError as error:
        return Check("slack", "broken", f"Slack says {error.response['error']}.", _FIXES["slack"])
    except OSError as error:
        return Check("slack", "broken", f"Slack cannot be reached: {error}.", "Check the network.")
    return Check("slack", "real", f"Connected to {who['team']} as {who['user']}.", _picture_fix(settings, who.headers))


def _picture_fix(settings: Settings, headers: Mapping[str, str]) -> str:
    """Return the fix if days should be shown as pictures but Slack does not permit it; empty otherwise."""
    from fateforger.slack.connection import scopes_in  # noqa: PLC0415  heavy
    from fateforger.slack.files import SCOPE  # noqa: PLC0415  heavy
    from fateforger.slack.pictures import NO_SCOPE  # noqa: PLC0415  heavy

    scopes = scopes_in(headers)
    return NO_SCOPE if settings.picture == "on" and scopes is not None and SCOPE not in scopes else ""


async def _check_models(settings: Settings, *, ask: bool) -> tuple[Check, ...]:
    if settings.model is None:
        from fateforger.bootstrap.ollama import find_ollama_models  # noqa: PLC0415  heavy

        here = await find_ollama_models()
        fix = f"Ollama runs here: set FATEFORGER_MODEL_PROVIDER=ollama and FATEFORGER_MODEL={here[0]}." if here else ""
        return (Check("model", "missing", "None is needed: buttons and forms do the whole job.", fix),)
    from fateforger.bootstrap.model_health import check_models, check_settings  # noqa: PLC0415  heavy

    return await check_models(settings, settings.model) if ask else (check_settings(settings, settings.model),)
