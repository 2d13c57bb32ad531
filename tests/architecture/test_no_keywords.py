"""No code looks at what people write; only a model reads it (K4, S104).

Fixed formats may be parsed (S105). Each place that does so is listed here with its reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest
from tests.sources import modules

ROOMS = ("slack", "conversation", "workers", "session", "ui")
"""Those through which a person's words come."""

READERS = frozenset(
    {"re", "regex", "fnmatch", "difflib", "shlex", "glob", "textwrap", "rapidfuzz", "dateparser", "dateutil"}
)
MATCHING = frozenset(
    [
        "casefold",
        "count",
        "endswith",
        "find",
        "index",
        "lower",
        "partition",
        "removeprefix",
        "removesuffix",
        "replace",
        "rfind",
        "rindex",
        "rpartition",
        "rsplit",
        "search",
        "split",
        "splitlines",
        "startswith",
        "swapcase",
        "title",
        "translate",
        "upper",
        "match",
        "fullmatch",
        "findall",
    ]
)
"""Methods that look into a text. ``strip`` and its like are not among them: they decide nothing."""
TEXTS = frozenset({"text", "said", "reply_text", "message_text", "utterance", "transcript"})
"""Names under which a person's words travel."""

ALLOWED = {
    "conversation/queue/forms.py::name_step": "spells the name of a step, which a workflow declares",
    "conversation/language/message_commands.py::input_commands": "finds the tasks that another one comes after by title",
    "conversation/language/message_commands.py::_details": "looks up a field of an answer by its name",
    "conversation/language/message_commands.py::_id_of_title": "finds the task that another one comes after by title",
    "session/frame.py::city": "takes the name of a time zone apart",
    "ui/detail_forms.py::_split": "takes a list apart at its commas and lines",
    "slack/payloads.py": "checks timestamps and types of Slack's payloads",
    "slack/mrkdwn.py": "translates markup between CommonMark and Slack's and cuts long texts, whatever they say",
    "slack/blocks.py::missing_lines": "counts the lines of our own texts",
    "slack/blocks.py::_summary": "cuts our own long text at a blank",
    "slack/ids.py::action_of": "takes an action id of ours apart",
    "slack/ids.py::field_name": "takes the id of a form field of ours apart",
    "slack/client.py::scopes_in": "the header in which Slack names an app's scopes",
    "slack/listeners.py::": "imports what makes patterns of action ids of ours",
    "slack/listeners.py::_form_control": "prefixes in an action id of ours",
    "slack/listeners.py::_control": "prefixes in an action id of ours",
    "slack/listeners.py::_proposal": "a prefix in an action id of ours",
    "slack/ids.py": "takes ids of Slack apart, and finds their mark in mentions",
    "slack/listeners.py::_find_refusal": "a prefix in an action id of ours",
    "slack/payloads.py::parse_message": "a mention of us by id, as Slack writes it",
    "slack/home.py::_post": "finds a message in Slack by its mark",
    "slack/home.py::_say": "finds a message in Slack by its mark",
    "slack/access.py::parse_typed_code": "a command with a code, a fixed form (S105)",
    "slack/access.py::parse_sent_code": "a command with a code, a fixed form (S105)",
    "workers/people.py::is_code": "the form of a code that we made",
    "workers/people.py::_normalize_code": "a code that we made, in whatever case",
    "workers/people.py::_was_erased": "takes a hash of ours and its salt apart",
    "slack/access.py::is_private": "a channel's id, whose letter says what kind it is",
    "slack/delivery.py::_move_to_direct_messages": "finds a message in Slack by its mark",
    "slack/delivery.py::_place": "finds a message in Slack by its mark",
    "slack/delivery.py::_reply": "finds a message in Slack by its mark",
    "slack/notices.py::_show_proposal": "finds a message in Slack by its mark",
    "slack/notices.py::perform": "finds a message in Slack by its mark",
    "slack/handlers.py::start": "whether a command claims the calendar with a code, a fixed form (S105)",
    "slack/handlers.py::_pass_on": "a leading slash, which makes a command of a message (S152)",
    "slack/handlers.py::_handle_first_words": "a leading slash, which makes a command of a message (S152)",
    "conversation/queue/service.py::handle_typed": "a leading slash, which makes a command of a message (S152)",
    "slack/notices.py::deliver_notification": "finds a message in Slack by its mark",
    "session/commands/day.py": "takes the target of a button of ours apart",
    "session/queue_commands.py::_read_item": "takes the target of a button of ours apart",
    "session/queue_commands.py::_read_ratio": "takes the value of a choice of ours apart",
    "session/commands/plan.py": "takes the target of a button of ours apart",
    "session/commands/rules.py::parse_rule_target": "takes the target of a button of ours apart",
    "session/commands/rules.py::_read_allowed": "takes the target of a button of ours apart",
    "ui/task_forms.py::_list_typed": "a field with one thing a line",
    "conversation/queue/work.py::check_block": "takes the place that a task of ours goes on at apart",
    "conversation/queue/execution.py::_settle": "takes the place that a task of ours goes on at apart",
    "slack/client.py::without_slack_settings": "names of environment variables",
    "ui/form_values.py": "times of day and lengths in fields of their own, a fixed format",
    "ui/rule_forms.py": "searches the person's rules for the words in the search field",
    "session/rulebook.py::_labels": "cuts titles into labels, with which a condition is compared exactly (K5)",
    "ui/rule_limits.py::_read_label": "knows the kinds of blocks by name in a field of their own",
    "ui/rule_limits.py::_split": "takes a list apart at its commas",
    "ui/task_forms.py::read_goals_form": "a field with one thing a line",
    "ui/task_forms.py::read_catch_up_form": "ids that a form of ours carries in its target",
    "conversation/memory_service.py::_find_near": "has the index say which of many rules a model is shown first; decides nothing (K5)",
    "conversation/memory_service.py::_search": "asks the index for what a model was asked to look for (S95)",
    "workers/memory.py::search": "hands a search on to the index",
    "workers/contradictions.py::_search": "has the index say what a statement is compared with; the person decides",
    "conversation/evaluation.py::_split_words": "compares the words of a model's answer with the expected ones",
    "conversation/write_results.py::_count_writes": "counts ops",
    "conversation/redaction.py": "takes secrets out and replaces words, whatever a text says",
    "conversation/recordings.py::read_purpose": "takes the name of a prompt of ours apart",
    "conversation/redaction.py::_is_of_a_fixed_form": "leaves times, dates and zones in what a model answered",
    "session/overview.py::block_title": "a block's key that follows from a task's id",
    "session/cards.py::plain": "makes a title harmless, whatever it says",
    "conversation/language/model_calls.py": "finds the JSON in what a model answered, a fixed format",
    "conversation/language/answer_types.py::read_reference": "takes a reference of a JSON schema apart",
    "conversation/language/plan_ops.py": "takes apart the name of a block in a prompt, which has a fixed form",
    "conversation/language/plan_proposals.py::_propose": "the same title is the same block, whichever it is",
    "conversation/plan_nodes.py::_apply_change": "the same title is the same task, whichever it is",
    "ui/session_cards.py": "a text of ours without its marks",
    "session/stages.py::number": "the place of a stage in the table of stages",
    "ui/picture_words.py": "fits a text of any content into a picture",
    "ui/picture_layout.py": "fits a title of any content into a picture",
    "ui/card_parts.py::paragraphs": "splits a text of ours between lines",
}
"""``file`` or ``file::function``, with the reason. No words of a person decide anything there."""


def findings(code: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Yield each place where some code looks into texts: the function, the line and the operation."""
    yield from _in(code, "", frozenset(TEXTS))


def _in(node: ast.AST, function: str, texts: frozenset[str]) -> Iterator[tuple[str, int, str]]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _in(inner, inner.name, texts | _aliases(inner, texts))
            continue
        line = getattr(inner, "lineno", 0)
        what = _looking(inner, texts)
        if what is not None:
            yield function, line, what
        yield from _in(inner, function, texts)


def _looking(node: ast.AST, texts: frozenset[str]) -> str | None:
    match node:
        case ast.Import(names=names) if any(n.name.split(".")[0] in READERS for n in names):
            return "imports a reader of texts"
        case ast.ImportFrom(module=str(module)) if module.split(".")[0] in READERS:
            return "imports a reader of texts"
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in MATCHING and not _of_ours(node):
            return f"looks into a text with .{attr}()"
        case ast.Compare() if any(_is_text(side, texts) for side in (node.left, *node.comparators)):
            return "compares what somebody wrote"
        case ast.Match() if _is_text(node.subject, texts):
            return "decides by what somebody wrote"
        case ast.Subscript() if _is_text(node.slice, texts):
            return "looks up what somebody wrote"
        case ast.Call(func=ast.Attribute(attr="get"), args=[first, *_]) if _is_text(first, texts):
            return "looks up what somebody wrote"
        case _:
            return None


def _of_ours(call: ast.Call) -> bool:
    """Check for calls on a constant text, and for the ``replace`` of a plan or a time."""
    assert isinstance(call.func, ast.Attribute)
    whole = call.func.attr == "replace" and len(call.args) < 2
    return isinstance(call.func.value, ast.Constant) or whole


def _is_text(node: ast.expr, texts: frozenset[str]) -> bool:
    """Check whether an expression is a person's text, or a piece of one."""
    match node:
        case ast.Name(id=name):
            return name in texts
        case ast.Attribute(attr=attr):
            return attr in texts
        case ast.Call(func=ast.Name(id="len" | "bool" | "count_units")):
            return False
        case ast.Call(func=ast.Attribute(value=value)) | ast.Subscript(value=value):
            return _is_text(value, texts)
        case ast.Call(args=args):
            return any(_is_text(arg, texts) for arg in args)
        case _:
            return False


def _aliases(function: ast.AST, texts: frozenset[str]) -> frozenset[str]:
    """Return other names that a text gets in a function: by assignment, or piece by piece in a loop."""
    known = texts
    kinds = ast.Assign | ast.NamedExpr | ast.For | ast.comprehension
    naming = [node for node in ast.walk(function) if isinstance(node, kinds)]
    for _ in range(3):
        for node in naming:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_text(value, known):
                    known |= {name}
                case ast.NamedExpr(target=ast.Name(id=name), value=value) if _is_text(value, known):
                    known |= {name}
                case ast.For(target=ast.Name(id=name), iter=value) if _is_text(value, known):
                    known |= {name}
                case ast.comprehension(target=ast.Name(id=name), iter=value) if _is_text(value, known):
                    known |= {name}
                case _:
                    pass
    return known


def _is_allowed(file: str, function: str) -> bool:
    return file in ALLOWED or f"{file}::{function}" in ALLOWED


@cache
def in_the_rooms() -> tuple[tuple[str, str, int, str], ...]:
    """Return the file with each finding of :func:`findings` in it."""
    return tuple(
        (name, *found)
        for name, module in modules().items()
        if name.partition("/")[0] in ROOMS
        for found in findings(module.tree)
    )


@pytest.mark.core
def test_no_code_reads_what_people_write() -> None:
    """S104: who adds a keyword or a pattern has to say here why it is none."""
    found = [
        f"{file}:{line} in {function or 'the module'} {what}"
        for file, function, line, what in in_the_rooms()
        if not _is_allowed(file, function)
    ]
    assert found == []


BAD = {
    "a keyword": "def f(reply):\n    return 'undo' in reply.text",
    "a keyword in lower case": "def f(reply):\n    return 'undo' in reply.text.lower()",
    "the whole text": "def f(said):\n    return said.text == 'yes'",
    "a list of words": "def f(reply):\n    return any(word in reply.text for word in WORDS)",
    "words one by one": "def f(reply):\n    return [w for w in reply.text.split() if w in STOP]",
    "under another name": "def f(reply):\n    t = reply.text\n    return t in COMMANDS",
    "under a third name": "def f(reply):\n    a = reply.text\n    b = a.strip()\n    return b == 'ok'",
    "a pattern": "import re\ndef f(reply):\n    return re.search('un.?do', reply.text)",
    "a pattern from elsewhere": "from re import compile\nYES = compile('ja|yes|oui')",
    "a compiled pattern": "def f(reply):\n    return PATTERN.fullmatch(reply.text)",
    "its beginning": "def f(reply):\n    return reply.text.startswith('/')",
    "a match": "def f(reply):\n    match reply.text:\n        case 'go':\n            return 1",
    "a table": "def f(reply):\n    return INTENTS[reply.text]",
    "a table with a default": "def f(reply):\n    return INTENTS.get(reply.text.strip(), None)",
    "a likeness": "import difflib\ndef f(reply):\n    return difflib.get_close_matches(reply.text, WORDS)",
    "a walrus": "def f(reply):\n    return (t := reply.text) and t != 'no'",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_code_is_caught(name: str) -> None:
    """Each way in which keyword reading usually begins."""
    assert list(findings(ast.parse(BAD[name]))) != []


def test_good_code_is_not() -> None:
    good = (
        "def f(reply, model):\n    if not reply.text:\n        return None\n"
        "    prompt = prompt_for(reply.text[:100])\n    return model.complete(prompt)\n"
    )
    assert list(findings(ast.parse(good))) == []


def test_nothing_is_allowed_in_vain() -> None:
    used = {
        entry for file, function, _, _ in in_the_rooms() for entry in (file, f"{file}::{function}") if entry in ALLOWED
    }
    assert set(ALLOWED) - used == set()
