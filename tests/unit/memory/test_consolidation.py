"""Keeping the active rules few (S173, S180): duplicates, expired and unconfirmed rules; a must never fades."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.factories.constraints import context_of, random_history, version_of

from fateforger.memory.applicability import Context, decide_applicability
from fateforger.memory.consolidation import compute_retention, find_consolidations
from fateforger.memory.contradiction import Finding, Kind
from fateforger.memory.documents import read_version
from fateforger.memory.versions import Version, select_newest

NOW = "2026-03-03T12:00:00Z"


def list_findings(*versions: Version, **context: Any) -> list[tuple[Kind, tuple[str, ...]]]:
    return [(finding.kind, finding.uids) for finding in find_consolidations(versions, context_of(now=NOW, **context))]


def test_an_exact_duplicate_is_put_away_and_the_confirmed_one_stays() -> None:
    same: dict[str, Any] = {"name": "No calls early", "description": "no calls before 10"}
    first = version_of("a", **same, status="proposed")
    (finding,) = find_consolidations([first, version_of("b", **same)], context_of(now=NOW))
    assert (finding.kind, finding.uids) == (Kind.DUPLICATE, ("a", "b"))
    assert finding.sentence == "“No calls early” is written down twice; one is enough."
    assert finding.follows is not None
    assert finding.follows.event.reason == "duplicate of b"
    assert finding.follows.record.status == "declined"


def test_near_duplicates_are_offered_and_never_merged() -> None:
    """S180 (C-06): two gym slots stay two."""
    gym: dict[str, Any] = {
        "rule_kind": "prefer_window",
        "windows": [{"kind": "prefer", "start": "07:00", "end": "08:00"}],
    }
    one, other = version_of("a", **gym, name="Gym"), version_of("b", **gym, name="Sport", description="sport at seven")
    (finding,) = find_consolidations([one, other], context_of(now=NOW))
    assert (finding.kind, finding.follows) == (Kind.NEAR_DUPLICATE, None)
    assert finding.sentence == "“Gym” and “Sport” ask for the same. Do you want to keep both?"
    assert list_findings(one, version_of("b", **gym, name="Sport", days_of_week=["SU"])) == []


def test_what_is_over_is_put_away() -> None:
    """S235: by its end date or by its time to live; not what still takes the place of another one."""
    rows = [
        version_of("ended", end_date="2026-03-02"),
        version_of("today", end_date="2026-03-03"),
        version_of("expired", at="2026-02-01T09:00:00Z", ttl_days=10),
        version_of("replacing", at="2026-02-01T09:00:00Z", ttl_days=10, supersedes_uids=["today"]),
    ]
    assert list_findings(*rows) == [(Kind.EXPIRED, ("ended",)), (Kind.EXPIRED, ("expired",))]


def test_an_assumption_fades_and_a_must_never_does() -> None:
    """S173."""
    old: dict[str, Any] = {"at": "2025-06-01T09:00:00Z", "confidence": 0.6}
    rows = [
        version_of("assumed", **old, status="proposed"),
        version_of("must", **old, status="proposed", necessity="must"),
        version_of("confirmed", **old),
        version_of("sure", **{**old, "confidence": 1.0}, status="proposed"),
        version_of("recent", status="proposed", confidence=0.3, at="2026-02-20T09:00:00Z"),
    ]
    assert list_findings(*rows) == [(Kind.FADED, ("assumed",)), (Kind.FADED, ("sure",))]
    later = datetime(2026, 5, 2, 9, tzinfo=UTC)
    assert [
        compute_retention(version_of(status="proposed", confidence=0.8), later),
        compute_retention(rows[1], later),
    ] == [0.4, 1.0]


def test_two_that_replace_each_other_are_asked_about() -> None:
    """A4 lets neither apply."""
    rows = [version_of("a", supersedes_uids=["b"]), version_of("b", supersedes_uids=["a"])]
    assert list_findings(*rows) == [(Kind.CIRCLE, ("a", "b"))]


@given(st.integers(0, 2**32))
def test_tidying_up_loses_no_must_and_changes_nothing_else(seed: int) -> None:
    """Afterwards, what applies is what applied before without what was put away as a duplicate or an assumption."""
    lines = random_history(Random(seed), users=("U1",))
    versions = [read_version(line, seq=number) for number, line in enumerate(lines)]
    context = context_of(now="2026-05-01T12:00:00Z", day=None)
    findings = find_consolidations(versions, context)
    after = _apply_findings(versions, findings, context)
    gone = {finding.uids[0] for finding in findings if finding.follows}
    before = [item.uid for item in decide_applicability(versions, context).applicable]
    assert [item.uid for item in decide_applicability(after, context).applicable] == [
        uid for uid in before if uid not in gone
    ]
    faded = {finding.uids[0] for finding in findings if finding.kind is Kind.FADED}
    assert all(
        version.record.necessity != "must" for uid, version in select_newest(versions, "U1").items() if uid in faded
    )
    assert [finding for finding in find_consolidations(after, context) if finding.follows] == []


def _apply_findings(versions: list[Version], findings: tuple[Finding, ...], context: Context) -> list[Version]:
    assert context.now is not None
    changes = [finding.follows for finding in findings if finding.follows is not None]
    return [*versions, *(change.at(context.now, seq=1_000 + n) for n, change in enumerate(changes))]
