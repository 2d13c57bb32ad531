"""agents.sessions.*, the older assistant.threads.* bridged to them, and chat.*Stream.

Sessions have a status, a title and suggested prompts; streamed messages grow while the app works.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from localslack.blocks.surfaces import check_message_blocks
from localslack.directory import BOT_USER_ID, TEAM_ID
from localslack.errors import SlackError, bad_arguments
from localslack.limits import MAX_CHUNK_FIELD, MAX_LOADING_MESSAGES, MAX_MARKDOWN, MAX_PROMPTS, MAX_SESSION_TITLE
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage
from localslack.web_api.chat import read_body
from localslack.web_api.method import Arguments, Method, channel_of, joined_channel, message_of, thread_of
from localslack.workspace import STOPPED_BY_USER, STREAMING, Workspace

STATUSES = frozenset({"active", "processing", "suspended", "closed"})


def session_set_status(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    """Set a status, and a title if this creates the session."""
    _refuse_without_sessions(workspace)
    status = arguments.text("status")
    if status not in STATUSES:
        raise SlackError("invalid_status")
    channel, thread_ts = _own_session(workspace, arguments)
    starter = arguments.optional_text("initiator_user_id")
    if starter is not None and not workspace.store.channels.has_member(channel.id, starter):
        raise SlackError("user_not_found")
    title = _title(arguments, "invalid_name") if "title" in arguments else None
    before = workspace.store.sessions.get(channel.id, thread_ts)
    workspace.set_session_status(
        channel, thread_ts, status, **({"title": title} if title is not None and before is None else {})
    )
    now = workspace.store.sessions.get(channel.id, thread_ts) or {}
    answer = {"status": status, "agent_status": status, **({"title": now["title"]} if "title" in now else {})}
    if not workspace.directory.app.receives("agent_session_stopped"):
        warning = "missing_agent_session_stopped_event_subscription"
        answer |= {"warning": warning, "response_metadata": {"warnings": [warning]}}
    return answer


def session_rename(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    """Rename a session. In direct messages with the app every message begins one."""
    _refuse_without_sessions(workspace)
    channel, thread_ts = _own_session(workspace, arguments)
    if workspace.store.sessions.get(channel.id, thread_ts) is None:
        root = workspace.store.messages.get(channel.id, thread_ts)
        if root is None or not channel.is_im:
            raise SlackError("session_not_found")
    _put_title(workspace, channel, thread_ts, title := _title(arguments, "invalid_name"))
    return {"title": title}


def _refuse_without_sessions(workspace: Workspace) -> None:
    if not workspace.config.agents:
        raise SlackError("feature_disabled")
    if not workspace.directory.app.is_agent:
        raise SlackError("not_agent_app")


def _own_session(workspace: Workspace, arguments: Arguments) -> tuple[Channel, str]:
    channel, thread_ts = _session(workspace, arguments, missing="thread_ts_required")
    if not workspace.store.channels.has_member(channel.id, BOT_USER_ID):
        raise SlackError("not_authorized")
    return channel, thread_ts


def _put_title(workspace: Workspace, channel: Channel, thread_ts: str, title: str) -> None:
    with workspace.store.database.transaction():
        workspace.store.sessions.put(channel.id, thread_ts, title=title)
        workspace.tell_session(channel, thread_ts)


def thread_set_status(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel, thread_ts = _session(workspace, arguments, missing="invalid_thread_ts")
    shown = arguments.text("status")
    loading = arguments.structure("loading_messages") or []
    if not isinstance(loading, list) or len(loading) > MAX_LOADING_MESSAGES:
        raise bad_arguments(f"no more than {MAX_LOADING_MESSAGES} items allowed [json-pointer:/loading_messages]")
    workspace.set_status(channel, thread_ts, shown, loading, status="processing" if shown else "active")
    return {}


def thread_set_title(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel, thread_ts = _session(workspace, arguments, missing="invalid_thread_ts")
    _put_title(workspace, channel, thread_ts, _title(arguments, "invalid_arguments"))
    return {}


def thread_set_suggested_prompts(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    if not workspace.directory.app.is_agent:
        raise SlackError("not_agent_app")
    channel = channel_of(workspace, arguments, "channel_id")
    prompts = arguments.structure("prompts")
    if not isinstance(prompts, list) or len(prompts) > MAX_PROMPTS:
        raise bad_arguments(f"no more than {MAX_PROMPTS} items allowed [json-pointer:/prompts]")
    for index, prompt in enumerate(prompts):
        if not isinstance(prompt, dict) or not all(isinstance(prompt.get(key), str) for key in ("title", "message")):
            raise bad_arguments(f"must have a title and a message [json-pointer:/prompts/{index}]")
    workspace.suggest(channel, arguments.text("thread_ts"), prompts)
    return {}


def _session(workspace: Workspace, arguments: Arguments, missing: str) -> tuple[Channel, str]:
    channel = channel_of(workspace, arguments, "channel_id")
    thread_ts = arguments.text("thread_ts")
    if not thread_ts:
        raise SlackError(missing)
    return channel, thread_ts


def _title(arguments: Arguments, error: str) -> str:
    title = arguments.text("title")
    if not title or len(title) > MAX_SESSION_TITLE:
        raise SlackError(error)
    return title


_WRITE = ("chat:write",)
_ASSIST = ("assistant:write",)

# --- chat.startStream, appendStream and stopStream: a message that grows while the app works ---


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
    "agents.sessions.setStatus": Method(session_set_status, _WRITE, ("channel_id", "status")),
    "agents.sessions.rename": Method(session_rename, _WRITE, ("channel_id", "title")),
    "assistant.threads.setStatus": Method(thread_set_status, (*_ASSIST, *_WRITE), ("channel_id", "thread_ts")),
    "assistant.threads.setTitle": Method(thread_set_title, _ASSIST, ("channel_id", "thread_ts", "title")),
    "assistant.threads.setSuggestedPrompts": Method(thread_set_suggested_prompts, _ASSIST, ("channel_id", "prompts")),
    "chat.startStream": Method(start, _WRITE, ("channel",)),
    "chat.appendStream": Method(append, _WRITE, ("channel", "ts")),
    "chat.stopStream": Method(stop, _WRITE, ("channel", "ts")),
}
