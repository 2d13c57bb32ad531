"""Upload a file to Slack, in its three steps."""

from __future__ import annotations

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from fateforger.slack.calling import CallRefused, SlackLoginError, TransientSlackError, call_slack

SCOPE = "files:write"
UPLOAD_SECONDS = 20.0


async def upload(
    client: AsyncWebClient,
    session: aiohttp.ClientSession,
    name: str,
    content: bytes,
    *,
    channel: str | None = None,
    words: str | None = None,
) -> str:
    """Upload a file and return its id.

    With a ``channel`` it is shown there with ``words``; otherwise it is invisible until a message shows it. Raises
    :class:`~fateforger.slack.calling.SlackCallError`.
    """
    place = await call_slack(client.files_getUploadURLExternal(filename=name, length=len(content)))
    file_id = str(place["file_id"])
    await _post_content(session, str(place["upload_url"]), content, client.proxy)
    whole: list[dict[str, str | None]] = [{"id": file_id, "title": name}]
    await call_slack(client.files_completeUploadExternal(files=whole, channel_id=channel, initial_comment=words))
    return file_id


def lacks_scope(trouble: SlackLoginError) -> bool:
    """Check whether Slack rejects files because the app lacks the scope for them."""
    return trouble.code == "missing_scope"


async def _post_content(session: aiohttp.ClientSession, url: str, content: bytes, proxy: str | None) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    timeout = aiohttp.ClientTimeout(total=UPLOAD_SECONDS)
    try:
        async with session.post(url, data=content, headers=headers, proxy=proxy, timeout=timeout) as answer:
            status = answer.status
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise TransientSlackError(f"{type(error).__name__}: {error}", unsure=True) from error
    if status >= 500 or status == 429:
        raise TransientSlackError(f"http_{status}")
    if status != 200:
        raise CallRefused(f"http_{status}")
