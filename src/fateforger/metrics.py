"""Figures of the running program, for Prometheus. Labels are names from the code, never ids, texts or titles (S221)."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each figure, of no use here

ACK_SECONDS = Histogram(
    "fateforger_ack_seconds",
    "Seconds from a payload of Slack to its acknowledgement; Slack waits for three.",
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3),
)
TURN_SECONDS = Histogram(
    "fateforger_turn_seconds",
    "Seconds that a turn took, without its wait in the inbox. The outcome is done, or the kind of error.",
    ["stage", "outcome"],
    buckets=(0.03, 0.1, 0.3, 1, 3, 10, 30),
)
EFFECT_SECONDS = Histogram(
    "fateforger_effect_seconds",
    "Seconds of what a turn does outside of the plan, such as a write to the calendar, and its outcome.",
    ["kind", "outcome"],
    buckets=(0.03, 0.1, 0.3, 1, 3, 10, 30),
)
SLACK_CALLS = Counter(
    "fateforger_slack_calls_total", "Calls of Slack's Web API. The code is ok, or Slack's error.", ["method", "code"]
)
SLACK_WAIT_SECONDS = Counter(
    "fateforger_slack_wait_seconds_total", "Seconds that calls waited for their turn within Slack's limits.", ["method"]
)
CALENDAR_CALLS = Counter(
    "fateforger_calendar_calls_total",
    "Requests to calendars. The code is ok, the status of a refusal, or why there is no answer.",
    ["provider", "operation", "code"],
)
LEASE_WAIT_SECONDS = Histogram(
    "fateforger_lease_wait_seconds",
    "Seconds that a write waited for its turn on a calendar. The outcome is taken, or busy if it gave up.",
    ["outcome"],
    buckets=(0.01, 0.1, 0.5, 1, 2, 5),
)
DRAFT_SECONDS = Histogram(
    "fateforger_draft_seconds",
    "Seconds to draft a day, by the engine or a model. The outcome is found, left_out (some tasks), no_solution, "
    "or with a model failed or stopped.",
    ["by", "outcome"],
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30),
)
SLACK_REQUESTS = Counter(
    "fateforger_slack_requests_total", "Requests of Slack in HTTP mode, by the status of the answer.", ["status"]
)
MODEL_CALLS = Counter("fateforger_model_calls_total", "Requests to language models.", ["prompt", "outcome"])
MODEL_TOKENS = Counter("fateforger_model_tokens_total", "Tokens of language models: sent or received.", ["direction"])
LANE_JOBS = Gauge("fateforger_lane_jobs", "Jobs in the database that are not done, of all programs.", ["lane"])
LANE_AGE_SECONDS = Gauge("fateforger_lane_age_seconds", "Seconds that the job which waits longest is due.", ["lane"])
JOBS_GIVEN_UP = Counter("fateforger_jobs_given_up_total", "Jobs that this program gave up.", ["lane"])
OUTBOX_MESSAGES = Gauge("fateforger_outbox_messages", "Messages that wait to be sent, of all programs.")
MESSAGES_GIVEN_UP = Counter("fateforger_messages_given_up_total", "Messages that this program gave up.")
