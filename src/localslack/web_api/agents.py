"""agents.sessions.*, and the older assistant.threads.* bridged to them: status, title and suggested prompts."""

from collections.abc import Mapping
from typing import Any

from localslack.directory import BOT_USER_ID
from localslack.errors import SlackError, bad_arguments
from localslack.limits import MAX_LOADING_MESSAGES, MAX_PROMPTS, MAX_SESSION_TITLE
from localslack.store.channels import Channel
from localslack.web_api.method import Arguments, Method, channel_of
from localslack.workspace import Workspace

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

METHODS = {
    "agents.sessions.setStatus": Method(session_set_status, _WRITE, ("channel_id", "status")),
    "agents.sessions.rename": Method(session_rename, _WRITE, ("channel_id", "title")),
    "assistant.threads.setStatus": Method(thread_set_status, (*_ASSIST, *_WRITE), ("channel_id", "thread_ts")),
    "assistant.threads.setTitle": Method(thread_set_title, _ASSIST, ("channel_id", "thread_ts", "title")),
    "assistant.threads.setSuggestedPrompts": Method(thread_set_suggested_prompts, _ASSIST, ("channel_id", "prompts")),
}
