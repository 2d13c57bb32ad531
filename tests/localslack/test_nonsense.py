"""Nonsense is answered, never a crash: arbitrary JSON in place of any part of a payload."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.localslack.test_block_rules import BLOCKS, ELEMENTS, NOT_AN_INPUT
from tests.localslack.workspaces import (
    APP_TOKEN,
    BOT_TOKEN,
    DM,
    Api,
    actions,
    button,
    modal,
    option,
    section,
    text_input,
)

from localslack.blocks.surfaces import check_message_blocks, check_view
from localslack.errors import SlackError
from localslack.form_state import field_errors, state_values
from localslack.server import _DEEDS
from localslack.web_api.dispatch import METHODS

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
FORM = [text_input(name, element={"action_id": "a", **e}) for name, e in ELEMENTS.items() if name not in NOT_AN_INPUT]


FIELDS = [
    "user",
    "channel",
    "ts",
    "thread_ts",
    "text",
    "blocks",
    "view",
    "view_id",
    "surface",
    "action",
    "state",
    "command",
    "metadata",
    "limit",
    "cursor",
    "post_at",
    "files",
    "prompts",
    "title",
    "name",
    "timestamp",
    "tab",
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every part of a JSON value."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


@st.composite
def draw_spoiled(draw: st.DrawFn, payloads: list[Any]) -> Any:
    """Return one of the payloads with one part replaced by anything."""
    payload = copy.deepcopy(draw(st.sampled_from(payloads)))
    *way, last = draw(st.sampled_from(list(places(payload))))
    part = payload
    for step in way:
        part = part[step]
    part[last] = draw(ANYTHING)
    return payload


@given(draw_spoiled([[block] for block in BLOCKS.values()] + [[actions(e)] for e in ELEMENTS.values()]))
def test_blocks_of_a_message_are_accepted_or_refused(blocks: Any) -> None:
    with contextlib.suppress(SlackError):
        check_message_blocks(blocks)


@given(draw_spoiled([modal(*FORM), modal(BLOCKS["alert"]), modal(BLOCKS["section"], private_metadata="x")]))
def test_forms_are_accepted_or_refused(view: Any) -> None:
    with contextlib.suppress(SlackError):
        check_view(view, "modal")


@given(draw_spoiled([{name: {"a": {"type": name, "value": "x"}} for name in ELEMENTS}]) | ANYTHING)
def test_what_a_page_says_was_entered_becomes_a_state(entered: Any) -> None:
    values = state_values(FORM, entered)
    assert values.keys() == {block["block_id"] for block in FORM}
    assert field_errors(FORM, values).keys() <= values.keys()


def requests(names: list[str]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    fields = st.sampled_from(FIELDS)
    likely = st.sampled_from([DM, "U0000ALEX", "1.0", {"type": "home"}, [section()], modal(), option("x"), button()])
    return st.tuples(st.sampled_from(names), st.dictionaries(fields, likely | ANYTHING, max_size=6))


@pytest.mark.parametrize("surface", ["api", "ui"])
async def test_every_command_answers(tmp_path: Path, surface: str) -> None:
    api = Api(tmp_path)
    asked: list[tuple[str, dict[str, Any]]] = []

    @settings(examples(150), database=None)
    @given(requests(sorted(METHODS) if surface == "api" else sorted(_DEEDS)))
    def collect(example: tuple[str, dict[str, Any]]) -> None:
        asked.append(example)

    collect()
    for name, body in asked:
        token = APP_TOKEN if name == "apps.connections.open" else BOT_TOKEN
        answer = await api.http.post(f"/{surface}/{name}", json=body, headers={"authorization": f"Bearer {token}"})
        assert (answer.status_code, type(answer.json()["ok"])) == (200, bool), (name, body)
    await api.close()


@pytest.mark.parametrize(
    "body",
    [
        b'{"channel": "\\ud800"}',
        b'{"text": "\\uD83D", "channel": "D0000ALEX"}',
        b"[" * 100_000,
        b'{"limit": 1e999}',
        b'{"limit": NaN}',
    ],
)
async def test_text_that_cannot_be_stored_is_refused_where_it_came_in(api: Api, body: bytes) -> None:
    kind = {"content-type": "application/json"}
    said = await api.http.post("/ui/message", content=body, headers=kind)
    assert (said.status_code, said.json()["ok"]) == (200, False)
    called = await api.http.post(
        "/api/chat.postMessage", content=body, headers={**kind, "authorization": f"Bearer {BOT_TOKEN}"}
    )
    assert called.json() == {"ok": False, "error": "invalid_json"}


async def test_an_emoji_in_two_escapes_is_stored(api: Api) -> None:
    body = json.dumps({"user": "U0000ALEX", "channel": DM, "text": "🎉"}).encode()
    assert b"\\ud83c" in body
    said = await api.http.post("/ui/message", content=body, headers={"content-type": "application/json"})
    assert said.json()["message"]["text"] == "🎉"
