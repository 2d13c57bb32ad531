"""Dashboards and alerts ask only for figures that the program gives, and each alert has its section in the runbook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import Counter, Gauge, Histogram

from fateforger import metrics
from fateforger.slack.manifest import BOT_SCOPES, OPTIONAL_SCOPES

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy" / "grafana" / "fateforger.json").read_text())
RULES: list[dict[str, Any]] = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text())["groups"][0][
    "rules"
]
ENDINGS = {Counter: ("_total",), Gauge: ("",), Histogram: ("_bucket", "_count", "_sum")}
FUNCTIONS = {"absent", "by", "histogram_quantile", "increase", "max", "rate", "sum"}
OF_PROMETHEUS = {"instance", "le"}
"""Labels that Prometheus adds."""


def figures() -> dict[str, tuple[str, ...]]:
    """Return the name of each series with the labels that it has."""
    found: dict[str, tuple[str, ...]] = {}
    for figure in vars(metrics).values():
        if isinstance(figure, Counter | Gauge | Histogram):
            name = figure._name
            found |= {f"{name}{ending}": figure._labelnames for ending in ENDINGS[type(figure)]}
    return found


def queries() -> Iterator[tuple[str, str]]:
    """Yield each query with the panel or alert that it belongs to."""
    for panel in DASHBOARD["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel["targets"])
    yield from ((rule["alert"], rule["expr"]) for rule in RULES)


def mistakes(query: str) -> set[str]:
    """Return the words of a query that are neither a figure, nor a label of its figures, nor a function that we use."""
    bare = re.sub(r'"[^"]*"', '""', query)
    words = set(re.findall(r"(?<![\w.\[])[a-z_]\w*", bare))
    asked = {word for word in words if word in figures()}
    labels = {label for name in asked for label in figures()[name]} | OF_PROMETHEUS
    wrong = {word for word in words if word not in asked | labels | FUNCTIONS}
    return wrong if asked else wrong | {"no figure"}


@pytest.mark.parametrize(("owner", "query"), list(queries()))
def test_a_query_asks_for_figures_and_labels_that_exist(owner: str, query: str) -> None:
    """S362: a renamed figure, or a label that is left out, would silently leave a panel empty."""
    assert mistakes(query) == set(), owner
    assert all(query.count(left) == query.count(right) for left, right in ("()", "[]", "{}")), owner


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("rate(fateforger_turns_total[5m])", {"fateforger_turns_total", "no figure"}),
        ("sum by (person) (rate(fateforger_ack_seconds_bucket[5m]))", {"person"}),
        ('fateforger_slack_calls_total{status="ok"}', {"status"}),
        ("fateforger_ack_seconds > 1", {"fateforger_ack_seconds", "no figure"}),
        ("avg_over_tyme(fateforger_outbox_messages[5m])", {"avg_over_tyme"}),
    ],
)
def test_a_mistake_is_noticed(query: str, wrong: set[str]) -> None:
    assert mistakes(query) == wrong


def test_every_figure_is_on_the_dashboard_and_explained() -> None:
    asked = " ".join(query for _, query in queries())
    page = (ROOT / "docs" / "operations.md").read_text()
    names = {figure._name for figure in vars(metrics).values() if isinstance(figure, Counter | Gauge | Histogram)}
    assert {name for name in names if name not in asked} == set()
    assert {name for name in names if name not in page} == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_has_its_section_in_the_runbook(rule: dict[str, Any]) -> None:
    """S362: it says what it means and what to do."""
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(), re.MULTILINE)
    assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"].endswith(".")


def test_the_admin_page_lists_every_scope() -> None:
    """Administrators read there why the app asks for each scope."""
    page = (ROOT / "docs" / "admin.md").read_text()
    assert dict(re.findall(r"^\| `([\w.:]+:[\w.]+|commands)` \| (.+) \|$", page, re.MULTILINE)) == {
        **BOT_SCOPES,
        **OPTIONAL_SCOPES,
    }
