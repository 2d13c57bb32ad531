"""Limits on input from people, agents, models, files and servers.

Each limit is checked where the input comes in. A name says what is limited and, unless things are counted, in which
unit. The contents of cards, the range of the solver and the patience with services are not input; those numbers are
next to the code that uses them. The stand-ins have their own modules, ``localslack.limits`` and ``caldav_mcp.limits``.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

# Texts

MAX_MESSAGE_CHARS: Final = 40_000
"""The longest message that Slack allows. A longer message is refused as a whole; of other texts, only this much is
kept."""
MAX_QUOTED_CHARS: Final = 200
"""Input that a refusal quotes, so that the refusal stays a sentence."""
MAX_REFUSAL_CHARS: Final = 4_000
"""A whole refusal, which may list several mistakes."""
MAX_PROMPT_MESSAGE_CHARS: Final = 6_000
"""The part of a message that a model reads: a page or two. The rest would cost as much as the whole prompt."""
MAX_TITLE_CHARS: Final = 300
"""Title of a task, a block or a rule: three lines of a card."""
MAX_NOTES_CHARS: Final = 3_000
"""Notes that are typed: as much as one field of a Slack form holds."""
MAX_DESCRIPTION_CHARS: Final = 8_000
"""Notes of a block or text of a rule, which may come from elsewhere: as much as Google accepts as a description."""
MAX_WORDS_CHARS: Final = 2_000
"""Part of a message that is read on its own, or the text of a rule: more than one wish or rule needs."""
MAX_REPLY_CHARS: Final = 1_200
"""A message of the program, also one that a model wrote. It is kept to understand the person's answer."""
MAX_EXCHANGE_CHARS: Final = 300
"""Each side of an earlier exchange: enough to know what it was about."""
MAX_CARRIED_CHARS: Final = 1_850
"""A message or a task that a button carries, as JSON: Slack allows 2,000 characters in its value, with the address."""
MAX_SEARCHED_CHARS: Final = 1_000
"""The part of a message that memory is searched with: its meaning is at the beginning, and encoding takes time."""
MAX_QUERY_CHARS: Final = 200
"""Search text, short answer in a form, or place: one line."""
MAX_LABEL_CHARS: Final = 100
"""A name that people give: a project, a person, a workflow."""
MAX_TAG_CHARS: Final = 60
"""A tag or a topic: a word or two."""
MAX_LABELS_CHARS: Final = 400
"""Several tags in one field of a form."""
MAX_ZONE_CHARS: Final = 60
"""Name of a time zone: the longest has 32 characters."""
MAX_RULE_NAME_CHARS: Final = 120
"""Short name of a rule: one line of a card."""
MAX_FILTER_CHARS: Final = 80
"""Text that filters a list of rules."""
MAX_REASON_CHARS: Final = 500
"""Reason that an agent gives for a proposal: the person reads it as a quotation on one card."""
MAX_MEMORY_REASON_CHARS: Final = 600
"""Reason for a change of a rule, in the words of its person."""
MAX_OUTCOME_CHARS: Final = 1_000
"""Goal or result of a task: a paragraph."""
MAX_REFERENCE_CHARS: Final = 1_000
"""Source of a task: a long link."""

# Ids

MAX_ID_CHARS: Final = 64
"""Id of a block, a task of a day, a plan or a proposal: the program's own have at most 40 characters."""
MAX_TASK_ID_CHARS: Final = 100
"""Id of a task in the queue, or the name that an agent gives to a call."""
MAX_UID_CHARS: Final = 400
"""Id of a rule, which may come from another store."""
MAX_CAUSE_CHARS: Final = 400
"""Name of the cause of a change to a rule: a message, a file or a call."""
MAX_RULE_TOPIC_CHARS: Final = 200
"""Topic or aspect of a rule, which may come from another store."""
MAX_PERSON_CHARS: Final = 200
"""Id of a person: an id from Slack has 11 characters, with the workspace 23."""
MAX_LANGUAGE_CHARS: Final = 20
"""Code of a language, such as ``nl`` or ``zh-Hant-TW``."""
MAX_CODE_CHARS: Final = 40
"""One word of a fixed vocabulary, or a time, in data from elsewhere."""

# Days, plans and tasks

MAX_MINUTES: Final = 24 * 60
"""Length of anything in a day."""
MAX_DURATION: Final = timedelta(minutes=MAX_MINUTES)
"""Length of a block, however it is written."""
MAX_LUNCH_MINUTES: Final = 240
"""A lunch that is typed: half a working day."""
MAX_LATE_MINUTES: Final = 12 * 60
"""Delay of a day: later than that, it is another day."""
MAX_FRAME: Final = timedelta(hours=36)
"""Time that one day's plan covers, including the night after it."""
MIN_DAY: Final = date(1970, 1, 1)
"""First day that can be planned: before it, time zones are uncertain."""
MAX_DAY: Final = date(2999, 12, 31)
"""Last day that can be planned: far from the end of Python's calendar, because planning looks beyond the day."""
MAX_AHEAD: Final = timedelta(days=366)
"""Distance to a day that is planned: a date further ahead is probably a wrong year."""
MAX_PLAN_EVENTS: Final = 400
"""Blocks of a plan: one for every four minutes."""
MAX_DAY_TASKS: Final = 60
"""Tasks of a day, so that cards and forms stay readable."""
MAX_FORM_TASKS: Final = 20
"""Rows of the form of tasks: Slack shows 100 blocks, and a row takes up to four."""
MAX_CRITERIA: Final = 3
"""Criteria for the success of a day's task: a task with more is several tasks."""
MAX_CRITERION_CHARS: Final = 200
"""One such criterion: a line."""
MAX_GOALS: Final = 5
"""Goals of a day: a longer list sets no priorities."""
MAX_GOAL_CHARS: Final = 200
"""One such goal: a line."""
MAX_BOX_ITEMS: Final = 20
"""Small tasks in one box: more do not fit into a block."""
MAX_TASK_PEOPLE: Final = 10
"""People with whom a task is done."""
MAX_TASK_PREDECESSORS: Final = 20
"""Tasks of a day that come before another task: the order is searched for cycles."""
MAX_TASK_TAGS: Final = 20
"""Tags of a task in the queue."""
MAX_TASK_LINKS: Final = 50
"""Files, criteria or blocking tasks of a task in the queue: a long checklist."""
MAX_FORM_CRITERIA: Final = 20
"""Criteria of a task in the queue that are typed into a form."""
MAX_PARTS: Final = 20
"""Parts of a goal, or assumptions about it: as many as a person can review."""
MAX_PROBES: Final = 5
"""Ways to find out whether an assumption is right."""
MAX_STEP_ACTIONS: Final = 50
"""Actions or states in one reported step of a workflow."""
MAX_STEPS: Final = 500
"""Steps in one report: a long day of an agent, with one step a minute."""
MAX_INSTANCE_TASKS: Final = 300
"""Tasks of a day to draft: the solver's time grows with them."""
MAX_INSTANCE_EVENTS: Final = 1_000
"""Meetings of the days to draft."""
MAX_INSTANCE_RULES: Final = 10_000
"""Rules of the days to draft: more than a person can have stated, because a day's rules are never truncated."""
MAX_PATCH_OPS: Final = 2_000
"""Changes of one patch: five for each block of a plan."""
MAX_PINS: Final = 200
"""Blocks that do not move."""

# Rules, workflows and what is remembered

MAX_RULE_CHARS: Final = 4_000
"""A rule of a workflow: checking it takes time in proportion to its length."""
MAX_RULE_DEPTH: Final = 60
"""Nested parentheses and NOTs: each takes frames of Python's stack, which holds a thousand."""
MAX_NAME_CHARS: Final = 80
"""A name in the rule language."""
MAX_DAY_RULE_CHARS: Final = 1_000
"""A rule about the order of a day."""
MAX_RECURRENCE_CHARS: Final = 400
"""An RRULE of a rule: enough for all parts with all their values, except the days of a year."""
MAX_RECURRENCE_COUNT: Final = 10_000
"""COUNT of an RRULE of a rule: a lifetime of days. Each of them is counted."""
MAX_WINDOWS: Final = 50
"""Times of day in one rule."""
MAX_TYPED_WINDOWS: Final = 20
"""Times of day that are typed into a form."""
MAX_READ_WINDOWS: Final = 10
"""Times of day that a model finds in one message."""
MAX_TOPICS: Final = 6
"""Topics, conditions or stages of a rule that a model finds."""
MAX_KEPT_DAYS: Final = 3_650
"""Days for which a rule is kept: ten years are as good as forever."""
MAX_WORKFLOW_CHARS: Final = 1024 * 1024
"""A file of workflows."""
MAX_WORKFLOW_ANCESTORS: Final = 10
"""Workflows that extend each other."""
MAX_WORKFLOW_RULES: Final = 2_000
"""Rules of a workflow, including those that it inherits."""
MAX_COMMAND_WORDS: Final = 100
"""Words of a command that a workflow check runs."""
MAX_CHECKED_FILES: Final = 2_000
"""Files that one workflow check opens."""
MAX_CHECKED_ENTRIES: Final = 50_000
"""Directory entries that one workflow check visits."""
MAX_CHECKED_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one file that a workflow check reads; a longer file is skipped."""
MAX_CHECK_SECONDS: Final = 30.0
"""Time for one search through files."""

# Models

MAX_ANSWER_CHARS: Final = 200_000
"""A model's answer: expected ones are far shorter, and a model may repeat itself endlessly."""
MAX_WISHES: Final = 8
"""Things that one message asks for."""
MAX_READ_RULES: Final = 12
"""Rules that one message states."""
MAX_READ_OPS: Final = 60
"""Changes of a plan in one answer."""
MAX_READ_BLOCKS: Final = 120
"""Blocks of a day in one answer."""
MAX_OWN_BLOCKS: Final = 24
"""Blocks that a model adds to a day for none of its tasks."""
MAX_NUMBERS: Final = 20
"""Rows of a list that one message refers to."""
MAX_QUERIES: Final = 8
"""Searches for one message: each is encoded and looked up."""
MAX_COMPARED_RULES: Final = 8
"""Rules that one rule is compared with by meaning."""

# Agents

MAX_CALL_CHARS: Final = 100_000
"""Arguments of a call as JSON: the largest valid call is a task with all its texts."""
MAX_CALLS_PER_MINUTE: Final = 60
"""Calls of one client, over all transports together: one a second."""
MAX_CALL_BODY_BYTES: Final = 1_000_000
"""A request over HTTP: the arguments of a call, in which each character may be escaped."""
MAX_REQUESTS_PER_MINUTE: Final = 180
"""Requests of one client over HTTP, of any kind: calls, and the requests that an agent makes around them."""
MAX_REFUSED_LOGINS_PER_MINUTE: Final = 60
"""Requests with unknown tokens, of all callers together: each costs a database query. Above the limit, further ones are
refused unread; clients that were let in within the last minute go on."""
MAX_PENDING_PROPOSALS: Final = 5
"""Proposals of a client that wait for an answer, so that no agent can flood a person with messages."""
MAX_PROPOSAL_LINES: Final = 24
"""Changes in one proposal: as many as one card can show."""

# Requests over HTTP

MAX_BODY_BYTES: Final = 2_000_000
"""A request: the longest are Slack forms of 250 kB, which encoding may triple. Uploads to the local Slack may be
longer; each is compared with the size that was announced."""
MAX_HEAD_BYTES: Final = 16_384
"""Address and headers of a request: a browser sends up to 4 kB, with a cookie for each port."""
MAX_LENGTH_DIGITS: Final = 12
"""Digits of an announced length."""
MAX_FRAME_BYTES: Final = 1_000_000
"""A WebSocket message: the longest are answers to Slack forms, up to 250 kB."""
MAX_REQUEST_SECONDS: Final = 20
"""Time for a request to arrive completely: on the same machine, 50 MB take less than a second."""
MAX_UNFINISHED: Final = 250
"""Connections whose request has not arrived yet: a browser opens six, and a system lets a program open 1,024 files or
more. Above the limit, the oldest one of the machine with the most of them is closed, so that half-sent requests
keep no person out."""

# Answers of services

MAX_CALENDAR_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""An unpacked answer of a calendar: 2,500 events of 6 kB each. Parsing it stops the program for a moment."""
MAX_LOGIN_ANSWER_BYTES: Final = 256 * 1024
"""Tokens, or another short answer about an account or a server."""
MAX_MODEL_ANSWER_BYTES: Final = 4 * 1024 * 1024
"""An answer of a language model and its reasoning, in which each character may be escaped."""
MAX_VECTORS_BYTES: Final = 32 * 1024 * 1024
"""Vectors of an embedding model: 500 texts of 60 kB each."""
MAX_NOTION_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""A page of a hundred rows from Notion: rows have up to 25 values of 2,000 characters in each column."""
MAX_SLACK_ANSWER_BYTES: Final = 8 * 1024 * 1024
"""An answer of Slack: lists come in pages, and a message with its blocks has up to 250 kB."""

# Files and other servers

MAX_DOCUMENT_BYTES: Final = 16 * 1024 * 1024
"""A file on the command line: several copies of it are held in memory."""
MAX_SLACK_BODY_BYTES: Final = 2_000_000
"""A request from Slack: forms of 250 kB are the longest, and encoding may triple them."""
MAX_CONNECT_BODY_BYTES: Final = 50_000
"""A form on the page that connects a calendar: a login and addresses."""
MAX_NOTICE_BODY_BYTES: Final = 100_000
"""Notices of changed calendars: a hundred in one request."""
MAX_NOTICE_TOKEN_CHARS: Final = 2_000
"""Validation token that Microsoft expects back."""
MAX_NOTICES: Final = 200
"""Notices in one request: each costs a database query."""
MAX_TASK_LIST_BYTES: Final = 4 * 1024 * 1024
"""An answer of an external task list."""
MAX_TASK_LIST_DEPTH: Final = 4
"""Levels of objects, and of texts that are JSON, around the tasks in that answer."""
MAX_LISTED_TASKS: Final = 300
"""Tasks that are read from that answer: more than a day's form can offer."""
MAX_LISTED_NOTES_CHARS: Final = 500
"""Notes of one such task: searching long texts for secrets takes time, and there are many tasks."""
