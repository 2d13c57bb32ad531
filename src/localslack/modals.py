"""Modals and Home tabs: the triggers that open them, the stack of three, and the answers that change it."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from localslack.blocks.elements import Replaced, with_ids
from localslack.conversations import Timestamps
from localslack.directory import APP_ID, BOT_ID, TEAM_ID
from localslack.errors import SlackError
from localslack.form_state import state_values
from localslack.live_pages import LivePages
from localslack.store.store import Store

LIFETIME = timedelta(seconds=3)
_REMEMBERED = 1_000


@dataclass(frozen=True)
class Trigger:
    user: str
    issued: datetime
    used: bool = False


class Triggers:
    """Short-lived and for one use; not stored, because none outlives a restart."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._triggers: dict[str, Trigger] = {}

    def issue(self, user: str) -> str:
        trigger_id = f"{len(self._triggers)}.{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        self._triggers[trigger_id] = Trigger(user, self._now())
        if len(self._triggers) > _REMEMBERED:
            del self._triggers[next(iter(self._triggers))]
        return trigger_id

    def redeem(self, trigger_id: str) -> str:
        """Spend the trigger and return whose it is; raises `SlackError` with the code Slack would give."""
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._now() - trigger.issued > LIFETIME:
            raise SlackError("expired_trigger_id")
        self._triggers[trigger_id] = Trigger(trigger.user, trigger.issued, used=True)
        return trigger.user


STACK_DEPTH = 3

View = dict[str, Any]


class Modals:
    """Each change of a view is stored and then shown; `given` is always a view payload that passed validation."""

    def __init__(self, clock: Timestamps, store: Store, pages: LivePages, replaced: Replaced) -> None:
        self._clock = clock
        self._store = store
        self._pages = pages
        self._replaced = replaced

    def stack(self, user: str) -> list[View]:
        return self._store.views.stack(user)

    def open(self, user: str, given: Mapping[str, Any]) -> View:
        """Show a new modal; one that was open gives way to it."""
        return self._place(user, 1, given)

    def push(self, user: str, given: Mapping[str, Any]) -> View:
        """Show a modal above the one that is open."""
        depth = len(self.stack(user))
        if depth == 0:
            raise SlackError("not_found")
        if depth >= STACK_DEPTH:
            raise SlackError("push_limit_reached")
        return self._place(user, depth + 1, given)

    def update(self, view_id: str, given: Mapping[str, Any], expected_hash: str | None) -> View:
        """Give an open view new content; what was typed stays where block_id and action_id stay."""
        found = self._store.views.get(view_id)
        if found is None:
            raise SlackError("not_found")
        user, before = found
        if expected_hash is not None and expected_hash != before["hash"]:
            raise SlackError("hash_conflict")
        self._refuse_taken_external_id(given, view_id)
        kept = {key: before[key] for key in ("id", "root_view_id", "previous_view_id")}
        view = self._view(given) | kept
        view["state"] = {"values": state_values(view["blocks"], before["state"]["values"])}
        with self._store.database.transaction():
            self._store.views.replace(view)
            self._replaced.keep((before["id"],), before["blocks"])
            self._show(user, view)
        return view

    def publish_home(self, user: str, given: Mapping[str, Any], expected_hash: str | None) -> View:
        before = self._store.views.home(user)
        if expected_hash is not None and before is not None and expected_hash != before["hash"]:
            raise SlackError("hash_conflict")
        view = self._view(given)
        if before is not None:
            view |= {"id": before["id"], "root_view_id": before["id"]}
        self._refuse_taken_external_id(given, view["id"])
        with self._store.database.transaction():
            self._store.views.put_home(user, view)
            if before is not None:
                self._replaced.keep((before["id"],), before["blocks"])
            self._show(user, view)
        return view

    def remember(self, view: View, entered: Mapping[str, Any]) -> View:
        """Keep what the person has entered so far with the view, and return the view with it."""
        remembered = view | {"state": {"values": state_values(view["blocks"], entered)}}
        if remembered != view:
            self._store.views.replace(remembered)
        return remembered

    def close_top(self, user: str) -> None:
        self._cut(user, len(self.stack(user)) - 1)

    def close_all(self, user: str) -> None:
        self._cut(user, 0)

    def _place(self, user: str, depth: int, given: Mapping[str, Any]) -> View:
        below = self.stack(user)[: depth - 1]
        view = self._view(given)
        if below:
            view |= {"root_view_id": below[0]["id"], "previous_view_id": below[-1]["id"]}
        with self._store.database.transaction():
            self._store.views.cut(user, depth - 1)
            self._refuse_taken_external_id(given, view["id"])
            self._store.views.put_modal(user, depth, view)
            self._show(user, view)
        return view

    def _cut(self, user: str, depth: int) -> None:
        with self._store.database.transaction():
            self._store.views.cut(user, depth)
            self._pages.tell([user], {"type": "modals", "stack": self.stack(user)})

    def _show(self, user: str, view: View) -> None:
        if view["type"] == "home":
            self._pages.tell([user], {"type": "home", "view": view})
        else:
            self._pages.tell([user], {"type": "modals", "stack": self.stack(user)})

    def _refuse_taken_external_id(self, given: Mapping[str, Any], view_id: str) -> None:
        external_id = given.get("external_id")
        if external_id:
            holder = self._store.views.by_external_id(external_id)
            if holder is not None and holder[1]["id"] != view_id:
                raise SlackError("duplicate_external_id")

    def _view(self, given: Mapping[str, Any]) -> View:
        view_id = f"V{secrets.token_hex(5).upper()}"
        blocks = with_ids(given["blocks"])
        return {
            "id": view_id,
            "team_id": TEAM_ID,
            "type": given["type"],
            "blocks": blocks,
            "private_metadata": given.get("private_metadata") or "",
            "callback_id": given.get("callback_id") or "",
            "external_id": given.get("external_id") or "",
            "state": {"values": state_values(blocks, {})},
            "hash": f"{self._clock.next()}.{secrets.token_urlsafe(6)}",
            "title": given.get("title"),
            "submit": given.get("submit"),
            "close": given.get("close"),
            "clear_on_close": bool(given.get("clear_on_close", False)),
            "notify_on_close": bool(given.get("notify_on_close", False)),
            "submit_disabled": bool(given.get("submit_disabled", False)),
            "previous_view_id": None,
            "root_view_id": view_id,
            "app_id": APP_ID,
            "app_installed_team_id": TEAM_ID,
            "bot_id": BOT_ID,
        }
