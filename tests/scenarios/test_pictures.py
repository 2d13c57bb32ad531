"""The picture of a day in its thread: in the card's own message, after the card, once, and never in the way."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.factories.pictures import before_and_after
from tests.scenarios.chat import APP_TOKEN, BOT_TOKEN, Chat, Person, chat_at, eventually, workspace_at

from fateforger.adapters.painter import render_in_thread
from fateforger.app.health import run_checks
from fateforger.config import Settings, read_settings
from fateforger.slack.manifest import app_manifest
from fateforger.slack.poster import NO_SCOPE
from fateforger.ui.picture_words import describe
from localslack import RATE_LIMITED, Fault, Workspace

Json = dict[str, Any]


class WaitingPainter:
    """Paints when it may, and counts."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.asked = 0

    async def render(self, svg: str) -> bytes:
        self.asked += 1
        await self.may.wait()
        return await render_in_thread(svg)


@pytest.fixture
def painter() -> WaitingPainter:
    return WaitingPainter()


@pytest.fixture
async def chat(workspace: Workspace, tmp_path: Path, painter: WaitingPainter) -> AsyncIterator[Chat]:
    async with chat_at(workspace, tmp_path, render=painter.render) as running:
        running.coordinator.day = before_and_after()
        yield running


def images(message: Json) -> list[Json]:
    return [block for block in message["blocks"] if block["type"] == "image"]


async def wait_for_picture(alex: Person, ts: str, text: str = "steps") -> Json:
    """Return the message that shows a text and a picture."""

    async def look() -> Json | None:
        return next((m for m in await alex.thread(ts) if text in str(m) and images(m)), None)

    return await eventually(look, f"a picture beside “{text}”")


async def test_the_card_goes_out_first_and_the_picture_is_put_into_it(
    chat: Chat, alex: Person, painter: WaitingPainter
) -> None:
    """S213: one message; the reply does not wait for the picture."""
    ts = await alex.start()
    (card,) = await alex.thread(ts)
    assert images(card) == []
    painter.may.set()
    shown = await wait_for_picture(alex, ts)
    assert (shown["ts"], len(await alex.thread(ts))) == (card["ts"], 1)
    (image,) = images(shown)
    assert image["alt_text"] == describe(before_and_after())
    png = await alex.http.get(f"{alex.workspace.config.public_url}/files/{image['slack_file']['id']}")
    assert png.content.startswith(b"\x89PNG")
    kept = [
        {k: v for k, v in block.items() if k != "block_id"} for block in shown["blocks"] if block["type"] != "image"
    ]
    assert kept == [{k: v for k, v in block.items() if k != "block_id"} for block in card["blocks"]]


async def test_the_same_day_is_uploaded_once(chat: Chat, alex: Person, painter: WaitingPainter) -> None:
    painter.may.set()
    ts = await alex.start()
    root = await wait_for_picture(alex, ts)
    await alex.use(root, "Count")
    shown = await wait_for_picture(alex, ts, "1 steps")
    assert images(shown)[0]["slack_file"] == images(root)[0]["slack_file"]
    assert painter.asked == 1


async def test_a_late_picture_never_brings_back_an_older_card(
    chat: Chat, alex: Person, painter: WaitingPainter
) -> None:
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "Count")
    card = await alex.sees(ts, "1 steps")
    assert chat.coordinator.day is not None
    chat.coordinator.day = chat.coordinator.day.model_copy(update={"before": None})
    await alex.use(card, "Count")
    await alex.sees(ts, "2 steps")
    painter.may.set()
    shown = await wait_for_picture(alex, ts, "2 steps")
    assert shown["ts"] == card["ts"]
    assert [images(m) for m in await alex.thread(ts) if m["ts"] != shown["ts"]] == [[]]
    assert images(shown)[0]["alt_text"] == describe(chat.coordinator.day)


async def test_a_late_picture_never_brings_back_the_buttons_of_a_card(
    chat: Chat, alex: Person, painter: WaitingPainter
) -> None:
    """S217: the next card, which has no picture, has taken them away meanwhile."""
    ts = await alex.start()
    chat.coordinator.day = None
    await alex.use((await alex.thread(ts))[0], "Count")
    await alex.sees(ts, "1 steps")
    session = await chat.store.sessions.in_thread(alex.channel, ts)
    assert session is not None
    session_id = session.id

    async def is_sent() -> bool:
        return not await chat.store.outbox.owes(session_id)

    await eventually(is_sent, "the next card")
    retired = (await alex.thread(ts))[0]
    painter.may.set()
    delivery = chat.room._presence.lines.delivery
    await asyncio.gather(*delivery._adding.values())
    assert painter.asked == 1
    assert (await alex.thread(ts))[0] == retired


@pytest.mark.parametrize(
    ("method", "fault"),
    [
        ("files.getUploadURLExternal", RATE_LIMITED),
        ("files.completeUploadExternal", Fault(status=500)),
        ("chat.update", Fault(error="invalid_blocks")),
    ],
)
async def test_what_fails_for_a_moment_is_tried_again(
    chat: Chat, alex: Person, painter: WaitingPainter, method: str, fault: Fault
) -> None:
    """Slack says ``invalid_blocks`` while it still looks through a new file; the card is not made smaller for that."""
    ts = await alex.start()
    chat.workspace.faults.plan(method, fault)
    painter.may.set()
    shown = await wait_for_picture(alex, ts)
    assert len(shown["blocks"]) == len((await alex.thread(ts))[0]["blocks"])
    assert len(await alex.thread(ts)) == 1


async def test_what_slack_refuses_is_left_out_with_a_line(
    chat: Chat, alex: Person, painter: WaitingPainter, caplog: pytest.LogCaptureFixture
) -> None:
    chat.workspace.faults.plan("files.getUploadURLExternal", Fault(error="file_uploads_disabled"))
    painter.may.set()
    with caplog.at_level(logging.WARNING, "fateforger.slack"):
        ts = await alex.start()

        async def is_logged() -> bool:
            return "stays without its picture: file_uploads_disabled" in caplog.text

        await eventually(is_logged, "the line in the log")
        await alex.use((await alex.thread(ts))[0], "Count")
        card = await alex.sees(ts, "1 steps")
    assert (images(card), painter.asked) == ([], 1)


async def test_without_the_scope_there_are_no_pictures_and_one_line_says_so(
    tmp_path: Path, painter: WaitingPainter, caplog: pytest.LogCaptureFixture
) -> None:
    """An app that was installed before the scope was in the manifest."""
    manifest = copy.deepcopy(app_manifest())
    manifest["oauth_config"]["scopes"]["bot_optional"].remove("files:write")
    async with (
        workspace_at(tmp_path, manifest) as workspace,
        chat_at(workspace, tmp_path, render=painter.render) as chat,
    ):
        chat.coordinator.day = before_and_after()
        alex = Person(workspace)
        ts = await alex.start()
        await alex.use((await alex.thread(ts))[0], "Count")
        assert images(await alex.sees(ts, "1 steps")) == []
        await alex.http.aclose()
        settings = read_settings(
            data_dir=tmp_path / "data",
            slack_bot_token=BOT_TOKEN,
            slack_app_token=APP_TOKEN,
            slack_api_base_url=f"{workspace.config.public_url}/api/",
        )
        fixes = {
            picture: await run_doctor(settings.model_copy(update={"picture": picture})) for picture in ("on", "off")
        }
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == [NO_SCOPE]
    assert fixes == {"on": NO_SCOPE, "off": ""}
    assert painter.asked == 0


async def run_doctor(settings: Settings) -> str:
    """Return the advice of doctor about Slack."""
    return next(check.fix for check in await run_checks(settings) if check.name == "slack")
