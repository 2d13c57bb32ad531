"""A person at the page, without the page: uses the same HTTP API as the browser does, and waits like a person does.

Waiting is always for a condition, with a deadline.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

DEADLINE = float(os.environ.get("SCENARIO_DEADLINE", "90"))
"""Seconds until what was waited for counts as missing: long, because the machine may be busy."""

Json = dict[str, Any]
T = TypeVar("T")


class NotSeen(AssertionError):
    """An expected text or control that never appeared."""


def eventually(look: Callable[[], T | None], what: str, deadline: float = DEADLINE) -> T:
    """Return the first result of ``look`` that is true."""
    ends = time.monotonic() + deadline
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > ends:
            raise NotSeen(what)
        time.sleep(0.02)  # between two looks at the condition


def texts(value: Any) -> Iterator[str]:
    """Yield every text a person reads in blocks, in order."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for name, inner in value.items():
            if name != "text" or not isinstance(inner, str):
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def controls(blocks: list[Json]) -> Iterator[tuple[str, Json]]:
    """Yield every interactive element with its block id."""
    for block in blocks:
        for element in [*block.get("elements", []), block.get("accessory"), block.get("element")]:
            if isinstance(element, dict) and "action_id" in element:
                yield block.get("block_id", ""), element


def label(element: Json) -> str:
    """Return the text on a control."""
    return str(next(texts({k: v for k, v in element.items() if k in {"text", "placeholder"}}), ""))


def _client(seconds: float) -> httpx.Client:
    """Return a client that keeps no connection open, since a person is never closed."""
    return httpx.Client(timeout=seconds, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))


@dataclass
class Person:
    """``base`` is the address to open, as the program prints it. ``user`` is one of the workspace's people. Counts clicks and submits as a person would."""

    base: str
    user: str = ""
    clicks: int = 0
    opened: str = ""
    """The thread that is open; else the latest one."""
    http: httpx.Client = field(default_factory=lambda: _client(60))

    def __post_init__(self) -> None:
        self.open(self.base)
        if not self.user:
            people = self.get("/ui/state", user="")["users"]
            self.user = next(p["id"] for p in people if not p["is_bot"])
        self.channel = next(c["id"] for c in self.state()["channels"] if c["is_im"])

    def open(self, address: str) -> None:
        """Open an address with a token, which becomes a cookie, as in a browser."""
        self.base, with_token, _ = address.partition("/?")
        if with_token:
            assert self.http.get(address, follow_redirects=True).status_code == 200

    # --- looking

    def get(self, path: str, **query: str) -> Json:
        answer = self.http.get(self.base + path, params=query)
        answer.raise_for_status()
        found: Json = answer.json()
        return found

    def post(self, path: str, **body: Any) -> Json:
        answer = self.http.post(self.base + path, json={"user": self.user, **body})
        answer.raise_for_status()
        found: Json = answer.json()
        return found

    def state(self) -> Json:
        return self.get("/ui/state", user=self.user)

    def wait_connected(self) -> None:
        eventually(lambda: self.state()["connected"], "the app is connected")

    def roots(self) -> list[Json]:
        found: list[Json] = self.get("/ui/messages", user=self.user, channel=self.channel)["messages"]
        return found

    def thread(self) -> list[Json]:
        """Return the open thread: its first message and the replies."""
        roots = self.roots()
        if not roots:
            return []
        ts = self.opened or roots[-1]["ts"]
        found: list[Json] = self.get("/ui/messages", user=self.user, channel=self.channel, thread_ts=ts)["messages"]
        return found

    def open_thread(self, words: str) -> None:
        """Open the newest thread whose first message holds these words, once it is there."""

        def look() -> str | None:
            found = [
                m["ts"] for m in self.roots() if words in "\n".join(texts(m.get("blocks") or [{"text": m["text"]}]))
            ]
            return str(found[-1]) if found else None

        self.opened = eventually(look, f"a thread that begins with {words!r}")

    def says(self) -> str:
        """Return all that can be read in the latest thread."""
        return "\n".join(t for m in self.thread() for t in texts(m.get("blocks") or [{"text": m["text"]}]))

    def card(self) -> list[Json]:
        """Return the blocks of the newest message with controls in the latest thread."""
        for message in reversed(self.thread()):
            if any(controls(message.get("blocks") or [])):
                found: list[Json] = message["blocks"]
                return found
        return []

    def reads(self, *expected: str) -> str:
        """Wait until each text can be read in the latest thread."""
        missing = list(expected)

        def look() -> str | None:
            said = self.says()
            missing[:] = [e for e in expected if e not in said]
            return said if not missing else None

        try:
            return eventually(look, "")
        except NotSeen:
            raise NotSeen(f"never read {missing} in:\n{self.says()}") from None

    def card_reads(self, *expected: str) -> str:
        """Wait until each text can be read on the newest card.

        The title of a thread may say it first, while the buttons below are still those of before.
        """

        def look() -> str | None:
            said = "\n".join(texts(self.card()))
            return said if all(each in said for each in expected) else None

        return eventually(look, f"{expected} on the card:\n{self.says()}")

    # --- acting

    def slash(self, command: str, text: str = "") -> Json:
        self.clicks += 1
        return self.post("/ui/slash", channel=self.channel, command=command, text=text)

    def write(self, text: str, *, thread: bool = True) -> Json:
        thread_ts = self.roots()[-1]["ts"] if thread else None
        return self.post("/ui/message", channel=self.channel, text=text, thread_ts=thread_ts)

    def find(self, wanted: str) -> tuple[Json, str, Json]:
        """Return the newest message that has a control with that label: message, block id, element."""
        for message in reversed(self.thread()):
            for block_id, element in controls(message.get("blocks") or []):
                if label(element).startswith(wanted):
                    return message, block_id, element
        raise NotSeen(f"no control “{wanted}” among {[label(e) for _, e in controls(self.card())]}")

    def has(self, wanted: str) -> bool:
        try:
            self.find(wanted)
        except NotSeen:
            return False
        return True

    def press(self, wanted: str) -> Json:
        """Click the newest button with that label, waiting for it to be there."""
        eventually(
            lambda: self.has(wanted),
            f"a control “{wanted}”; there are {[label(e) for _, e in controls(self.card())]}\n{self.says()}",
        )
        self.clicks += 1
        return self.use(*self.find(wanted))

    def use(self, message: Json, block_id: str, element: Json, **chosen: Any) -> Json:
        action = {"type": element["type"], "action_id": element["action_id"], "block_id": block_id, **chosen}
        if "value" in element and not chosen:
            action["value"] = element["value"]
        surface = {"type": "message", "channel": self.channel, "ts": message["ts"]}
        return self.post("/ui/action", surface=surface, action=action, state={})

    def choose(self, row: str, entry: str) -> Json:
        """Open the menu of the row that holds a text, and choose an entry."""

        def look() -> tuple[Json, str, Json, Json] | None:
            for message in reversed(self.thread()):
                for block in message.get("blocks") or []:
                    menu = block.get("accessory") or {}
                    if menu.get("type") == "overflow" and any(row in t for t in texts(block.get("text"))):
                        for option in menu["options"]:
                            if next(texts(option["text"])).startswith(entry):
                                return message, block["block_id"], menu, option
            return None

        message, block_id, menu, option = eventually(look, f"a menu entry “{entry}” beside “{row}” in:\n{self.says()}")
        self.clicks += 1
        return self.use(message, block_id, menu, selected_option=option)

    # --- forms

    def modal(self) -> Json | None:
        stack: list[Json] = self.get("/ui/modals", user=self.user)["stack"]
        return stack[-1] if stack else None

    def form(self) -> Json:
        return eventually(self.modal, "a form")

    def unfold(self) -> None:
        """Press the button that shows the fields of the form that are folded away."""
        view = self.form()
        folded = field_names(view)
        found = ((where, each) for where, each in controls(view["blocks"]) if label(each).startswith("More"))
        block_id, element = next(found)
        action = {"type": element["type"], "action_id": element["action_id"], "block_id": block_id}
        self.clicks += 1
        self.post("/ui/action", surface={"type": "view", "view_id": view["id"]}, action=action, state={})
        eventually(lambda: field_names(self.form()) != folded, "the fields that were folded away")

    def submit(self, **values: Any) -> Json:
        """Fill fields by label (spaces as underscores, case ignored; `title_2` is the second field of that label) and
        send the form. Fields that are folded away are folded out first."""
        if not {re.sub(r"_\d+$", "", name) for name in values} <= field_names(self.form()):
            self.unfold()
        self.clicks += 1
        view = self.form()
        state: dict[str, dict[str, Json]] = {}
        seen: dict[str, int] = {}
        for block in view["blocks"]:
            if block["type"] != "input":
                continue
            element = block["element"]
            name = next(texts(block["label"])).lower().replace(" ", "_")
            seen[name] = seen.get(name, 0) + 1
            given = values.pop(f"{name}_{seen[name]}", None)
            if given is None and seen[name] == 1:
                given = values.pop(name, None)
            shown = view["state"]["values"][block["block_id"]][element["action_id"]]
            state[block["block_id"]] = {element["action_id"]: shown if given is None else fill_element(element, given)}
        assert not values, f"no field for {sorted(values)}; fields are {sorted(seen)}"
        return self.post("/ui/view_submit", view_id=view["id"], state=state)


def field_names(view: Json) -> set[str]:
    """Return the fields of a form as :meth:`Person.submit` names them."""
    labels = (next(texts(block["label"])) for block in view["blocks"] if block["type"] == "input")
    return {text.lower().replace(" ", "_") for text in labels}


def fill_element(element: Json, given: Any) -> Json:
    """Return the state of a form element with a value."""
    kind = element["type"]
    match kind:
        case "plain_text_input" | "number_input":
            return {"type": kind, "value": str(given)}
        case "datepicker":
            return {"type": kind, "selected_date": given}
        case "timepicker":
            return {"type": kind, "selected_time": given}
        case "static_select" | "radio_buttons":
            options = element["options"]
            chosen = [each for each in options if next(texts(each["text"])).lower().startswith(str(given).lower())]
            assert chosen, f"no option {given} among {[next(texts(each['text'])) for each in options]}"
            return {"type": kind, "selected_option": chosen[0]}
        case "checkboxes":
            return {"type": kind, "selected_options": element["options"] if given else []}
        case _:
            raise AssertionError(f"no way to fill {kind}")
