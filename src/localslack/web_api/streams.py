"""chat.startStream, appendStream and stopStream: a message that grows while the app works."""

from collections.abc import Mapping, Sequence
from typing import Any

from localslack.blocks.surfaces import check_message_blocks
from localslack.directory import BOT_USER_ID, TEAM_ID
from localslack.errors import SlackError, bad_arguments
from localslack.limits import MAX_CHUNK_FIELD, MAX_MARKDOWN
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage
from localslack.web_api.agents import STATUSES
from localslack.web_api.chat import read_body
from localslack.web_api.method import Arguments, Method, joined_channel, message_of, thread_of
from localslack.workspace import STOPPED_BY_USER, STREAMING, Workspace

DISPLAY_MODES = frozenset({"timeline", "plan", "dense"})
TASK_STATUSES = frozenset({"pending", "in_progress", "complete", "error"})

Blocks = list[dict[str, Any]]


def start(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    _refuse_where_off(workspace)
    channel = joined_channel(workspace, arguments)
    if channel.is_im and "thread_ts" not in arguments:
        raise bad_arguments("missing required field: thread_ts")
    thread_ts = thread_of(workspace, channel, arguments)
    _check_recipient(workspace, channel, arguments)
    mode = arguments.text("task_display_mode", "timeline")
    if mode not in DISPLAY_MODES:
        raise bad_arguments("must be one of timeline, plan, dense [json-pointer:/task_display_mode]")
    blocks: Blocks = [{"type": "plan", "title": "Thinking…", "tasks": []}] if mode == "plan" else []
    content = _grow(workspace, blocks, _read_chunks(arguments))
    marks = workspace.directory.bot_marks()
    message = workspace.conversations.post(channel, {**content, **marks, "streaming_state": STREAMING}, thread_ts)
    if thread_ts is not None:
        workspace.set_session_status(channel, thread_ts, "processing")
    return {"channel": channel.id, "ts": message.ts}


def append(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel, message = _streaming(workspace, arguments)
    chunks = _read_chunks(arguments)
    if not chunks:
        raise SlackError("no_text")
    workspace.conversations.change(message, _grow(workspace, _blocks_of(message), chunks))
    return {"channel": channel.id, "ts": message.ts}


def stop(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel, message = _streaming(workspace, arguments)
    status = arguments.text("session_status", "active")
    if status not in STATUSES:
        raise SlackError("invalid_status")
    content = _grow(workspace, _blocks_of(message), _read_chunks(arguments))
    last = read_body(workspace, Arguments({name: arguments.structure(name) for name in ("blocks", "metadata")}))
    content["blocks"] = [*content["blocks"], *last.pop("blocks", [])]
    message = workspace.conversations.change(message, {**content, **last, "streaming_state": "completed"})
    if message.thread_ts is not None:
        workspace.set_session_status(channel, message.thread_ts, status)
    return {"channel": channel.id, "ts": message.ts, "message": message.body}


def _refuse_where_off(workspace: Workspace) -> None:
    if not workspace.config.agents:
        raise SlackError("feature_not_enabled")


def _check_recipient(workspace: Workspace, channel: Channel, arguments: Arguments) -> None:
    """Check for whom a message streams: in channels that has to be said."""
    for name in ("recipient_team_id", "recipient_user_id"):
        if not channel.is_im and name not in arguments:
            raise SlackError(f"missing_{name}")
    if arguments.text("recipient_team_id", TEAM_ID) != TEAM_ID:
        raise SlackError("team_not_found")
    user = arguments.optional_text("recipient_user_id")
    if user is not None and workspace.directory.person(user) is None:
        raise SlackError("user_not_found")


def _streaming(workspace: Workspace, arguments: Arguments) -> tuple[Channel, StoredMessage]:
    """Return the message that the call grows. Raises `SlackError` if it is not streaming any more."""
    _refuse_where_off(workspace)
    channel = joined_channel(workspace, arguments)
    message = message_of(workspace, channel, arguments.text("ts"))
    state = message.body.get("streaming_state")
    if state == STOPPED_BY_USER:
        raise SlackError("stopped_by_user")
    if state != STREAMING or message.body.get("user") != BOT_USER_ID:
        raise SlackError("message_not_in_streaming_state")
    return channel, message


def _blocks_of(message: StoredMessage) -> Blocks:
    return [dict(block) for block in message.body.get("blocks") or []]


def _read_chunks(arguments: Arguments) -> Sequence[Mapping[str, Any]]:
    """Return the chunks of a call, checked; plain `markdown_text` is one chunk."""
    given = arguments.structure("chunks")
    if "markdown_text" in arguments:
        if given:
            raise SlackError("markdown_text_conflict")
        given = [{"type": "markdown_text", "text": arguments.text("markdown_text")}]
    if not isinstance(given, list | None):
        raise bad_arguments("must be an array [json-pointer:/chunks]")
    for index, chunk in enumerate(given or []):
        _check_chunk(chunk, f"/chunks/{index}")
    return given or []


def _check_chunk(chunk: Any, at: str) -> None:
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    needed = {"markdown_text": ("text",), "task_update": ("id", "title", "status"), "plan_update": ("title",)}
    if kind == "blocks" and isinstance(chunk.get("blocks"), list):
        check_message_blocks(chunk["blocks"])
        return
    if kind not in needed:
        raise bad_arguments(f"unsupported type: {kind} [json-pointer:{at}/type]")
    for name in needed[kind]:
        if not isinstance(chunk.get(name), str):
            raise bad_arguments(f"missing required field: {name} [json-pointer:{at}]")
    if kind == "markdown_text" and len(chunk["text"]) > MAX_MARKDOWN:
        raise SlackError("msg_too_long")
    if kind == "task_update" and chunk["status"] not in TASK_STATUSES:
        raise bad_arguments(f"must be one of {', '.join(sorted(TASK_STATUSES))} [json-pointer:{at}/status]")
    if any(len(str(chunk.get(name, ""))) > MAX_CHUNK_FIELD for name in ("title", "details", "output")):
        raise SlackError("msg_too_long")


def _grow(workspace: Workspace, blocks: Blocks, chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the `text` and `blocks` of a message after these chunks."""
    plan = next((block for block in blocks if block["type"] == "plan"), None)
    for chunk in chunks:
        match chunk["type"]:
            case "markdown_text" if blocks and blocks[-1]["type"] == "markdown":
                blocks[-1]["text"] += chunk["text"]
            case "markdown_text":
                blocks.append({"type": "markdown", "text": chunk["text"]})
            case "task_update":
                _update_task(blocks if plan is None else plan["tasks"], chunk)
            case "plan_update" if plan is not None:
                plan["title"] = chunk["title"]
            case "blocks":
                blocks.extend(chunk["blocks"])
    made = read_body(workspace, Arguments({"blocks": blocks}))
    text = " ".join(block["text"] for block in blocks if block["type"] == "markdown")
    return {"text": text or "This message is being written.", "blocks": made["blocks"]}


def _update_task(tasks: Blocks, chunk: Mapping[str, Any]) -> None:
    """Add a task, or replace the title and status of the one with this id; further details are added to it."""
    task = next((task for task in tasks if task.get("task_id") == chunk["id"]), None)
    if task is None:
        task = {"type": "task_card", "task_id": chunk["id"]}
        tasks.append(task)
    task |= {"title": chunk["title"], "status": chunk["status"]}
    for name in ("details", "output"):
        if chunk.get(name):
            said = {"type": "rich_text_section", "elements": [{"type": "text", "text": chunk[name]}]}
            before = task.get(name, {"elements": []})["elements"] if name == "details" else []
            task[name] = {"type": "rich_text", "elements": [*before, said]}


METHODS = {
    "chat.startStream": Method(start, ("chat:write",), ("channel",)),
    "chat.appendStream": Method(append, ("chat:write",), ("channel", "ts")),
    "chat.stopStream": Method(stop, ("chat:write",), ("channel", "ts")),
}
