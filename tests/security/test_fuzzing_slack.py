"""Slack payloads with any value in any place, at the app's real entry point: each is answered, and none has an effect."""

from __future__ import annotations

import json
import logging
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from tests.security.test_fuzzing import places
from tests.security.test_people_payloads import ALEX, KINDS, WorkspaceApp, build_event, build_submission, room

from fateforger.session.cards import Button, Card, Controls, Heading, Note, Prose
from fateforger.session.forms import FormErrors, FormSubmission
from fateforger.slack.blocks import render
from fateforger.slack.client import SlackLogin, new_socket
from fateforger.slack.limits import LimitedClient
from localslack.blocks.surfaces import check_message_blocks

__all__ = ["room"]

Json = dict[str, Any]
TEXTS = {"type": "plain_text_input", "value": "Report"}
NUMBER = {"type": "number_input", "value": "90"}
CHOICE = {"type": "static_select", "selected_option": {"value": "deep", "text": {"type": "plain_text", "text": "Deep"}}}
TIME = {"type": "timepicker", "selected_time": "09:00"}
STATE = {
    "field_task_1": {"value": TEXTS},
    "field_minutes_1": {"value": NUMBER},
    "field_kind_1": {"value": CHOICE},
    "field_at_1": {"value": TIME},
}


def build_profile() -> Json:
    """Return the event that a person moved to another time zone."""
    body = build_event(ALEX, type="user_change")
    return body | {"event": body["event"] | {"user": {"id": ALEX, "tz": "Europe/Berlin"}}}


SAMPLES: dict[str, Json] = {
    **{kind: build(ALEX) for kind, build in KINDS.items()},
    "filled form": build_submission(ALEX)
    | {"view": build_submission(ALEX)["view"] | {"state": {"values": STATE}, "blocks": []}},
    "changed profile": build_profile(),
    "stopped": build_event(ALEX, type="agent_session_stopped", event_ts="4.0"),
    "title": build_event(ALEX, type="agent_session_title_changed", event_ts="5.0", title="Mine"),
}
DEEP = json.loads("[" * 200 + "]" * 200)
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=40),
    st.sampled_from(["", "x" * 100_000, "s1", "\x00", "\u202e", DEEP, [], {}, [None], [[]], {"": None}, {"type": 1}]),
)
GONE = object()


@st.composite
def draw_spoiled(draw: st.DrawFn) -> Json:
    """Return a payload with up to three of its parts replaced by anything, or left out."""
    payload = deepcopy(SAMPLES[draw(st.sampled_from(sorted(SAMPLES)))])
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(list(places(payload)) or [("type",)]))
        part: Any = payload
        for step in way:
            part = part[step]
        value = draw(st.one_of(st.just(GONE), ANYTHING))
        if value is not GONE:
            part[last] = deepcopy(value)
        else:
            del part[last]
    return payload


@dataclass
class Socket:
    """Slack's end of a socket; ``acknowledged`` lists the envelopes that were answered."""

    acknowledged: list[str] = field(default_factory=list)
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("socket"))

    async def send_socket_mode_response(self, response: SocketModeResponse) -> None:
        self.acknowledged.append(response.envelope_id)


async def send(room: WorkspaceApp, payload: Json) -> list[str]:
    """Deliver a payload over a socket, and return what was acknowledged."""
    socket, handler = Socket(), new_socket(room.app, SlackLogin(None, "xapp-1", "http://127.0.0.1:9/api/"))
    await handler.handle(socket, SocketModeRequest("events_api", "e1", deepcopy(payload)))  # type: ignore[arg-type]  # as much of a client as is used
    await handler.close_async()  # type: ignore[no-untyped-call]  # Bolt has no annotation here
    await room.background.close(seconds=5)
    return socket.acknowledged


@pytest.fixture(autouse=True)
def no_network(room: WorkspaceApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer the clients of all workspaces as that of the first, and each form with its mistakes."""
    answer = room.people._client.api_call

    async def call(_client: LimitedClient, method: str, **details: Any) -> Any:
        return await answer(method, **details)

    async def refuse(_submission: FormSubmission) -> FormErrors:
        return FormErrors(errors={"title0": "That is not something to do."})

    monkeypatch.setattr(LimitedClient, "api_call", call)
    monkeypatch.setattr(room.coordinator, "read_form", refuse)


@pytest.mark.attack("Slack payloads", "fuzzing: wrong types, missing keys, deep and huge values", "-", "mended")
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(payload=draw_spoiled())
async def test_a_spoiled_payload_is_answered_and_leaves_no_trace(
    room: WorkspaceApp, caplog: pytest.LogCaptureFixture, payload: Json
) -> None:
    """S401: 200, no traceback, and at most one line in the log; what is recorded can be read."""
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        acknowledged = await send(room, payload)
    assert acknowledged == ["e1"], payload
    assert not [record for record in caplog.records if record.exc_info], (payload, caplog.text)
    assert len([record for record in caplog.records if record.name.startswith("fateforger")]) <= 1, caplog.text
    for job in await room.list_jobs():
        assert json.loads(job.partition(" ")[2])


WORDS = st.text(min_size=1, max_size=400).filter(str.strip)


@pytest.mark.attack("cards", "fuzzing: random titles, texts and buttons", "-", "held")
@settings(max_examples=150, deadline=None)
@given(words=st.lists(WORDS, min_size=1, max_size=60), labels=st.lists(WORDS, min_size=1, max_size=30))
def test_a_card_of_any_words_is_one_that_slack_takes(words: list[str], labels: list[str]) -> None:
    """S401."""
    buttons = tuple(Button(label=label, action="count", target=label[:60]) for label in labels)
    parts = (Heading(text=words[0]), *(Prose(text=each) for each in words), Note(text=words[-1]))
    card = Card(text=words[0], parts=(*parts, Controls(items=buttons)))
    check_message_blocks(render(card, session="s1", v="v1").blocks)
