"""Moving constraints here from another store, and taking that back (S38)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from tests.factories.constraints import version_of

from fateforger.memory.applicability import Context, decide_applicability
from fateforger.memory.migration import Migration, Outcome, StoredRow, plan_migration, undo_migration, was_moved
from fateforger.memory.versions import Event, Version
from fateforger.memory.vocabulary import Action, Status

AT, LATER = "2026-01-02T10:00:00+00:00", "2026-01-05T10:00:00+00:00"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def row(uid: str, **fields: Any) -> StoredRow:
    """Return a row of Alex, locked and for always."""
    about: dict[str, Any] = {
        name: fields.pop(name) for name in ("owner", "trouble", "extras", "rationale", "where") if name in fields
    }
    said = {
        "name": f"Rule {uid}",
        "uid": uid,
        "status": "locked",
        "scope": "profile",
        "created_at": AT,
        "updated_at": AT,
    }
    place: dict[str, Any] = {"where": f"row {uid}", "name": f"Rule {uid}", "fields": {**said, **fields}}
    return StoredRow(**{**place, **about})


def move(rows: Sequence[StoredRow], known: Sequence[Version] = ()) -> Migration:
    return plan_migration(rows, known, "U1", "SQLite")


def outcomes(told: Migration) -> dict[str, str]:
    return {moved.where.removeprefix("row "): moved.outcome.value for moved in told.rows}


def store_versions(versions: Sequence[Version], known: Sequence[Version] = ()) -> tuple[Version, ...]:
    """Return versions as a store gives them back."""
    first = len(known) + 1
    return (*known, *(version.model_copy(update={"seq": first + n}) for n, version in enumerate(versions)))


def in_force(known: Sequence[Version]) -> set[str]:
    answer = decide_applicability(known, Context(user_id="U1", as_of=date(2026, 3, 3)))
    return {item.uid for item in answer.applicable}


def test_a_second_run_finds_nothing_to_do() -> None:
    """S38: time stamps, words and extras kept; what was moved once is the same."""
    rows = [row("a", rationale="said so", extras={"hints": {"energy": "low"}}), row("b", updated_at=LATER)]
    told = move(rows)
    assert outcomes(told) == {"a": "new", "b": "new"}
    a, b = told.versions
    assert (a.event, a.created_at.isoformat()) == (Event(reason="moved from SQLite, row a: said so"), AT)
    assert a.record.payload.scalar_params.model_extra == {"hints": {"energy": "low"}}
    assert b.updated_at.isoformat() == LATER
    again = move(rows, store_versions(told.versions))
    assert (outcomes(again), again.versions) == ({"a": "same", "b": "same"}, ())


def test_what_changed_since() -> None:
    """An edit there is a newer version; a later edit here stays; at the same instant, the migrated version counts."""
    known = store_versions(move([row("a"), row("b"), row("c"), row("d")]).versions)
    edited = version_of("c", user="U1", at=LATER, name="Mine now")
    same_instant = version_of("d", user="U1", at=AT, name="Mine, too")
    known = store_versions([edited, same_instant], known)
    there = [
        row("a", name="Edited", updated_at=LATER),
        row("b", name="Edited at once"),
        row("c", name="Theirs"),
        row("d", name="x"),
    ]
    told = move(there, known)
    assert outcomes(told) == {"a": "changed", "b": "changed", "c": "newer_here", "d": "newer_here"}
    assert outcomes(move(there, store_versions(told.versions, known))) == {
        "a": "same",
        "b": "same",
        "c": "newer_here",
        "d": "newer_here",
    }


def test_several_rows_of_one_constraint_are_its_versions() -> None:
    """They follow the order of their instants, not of the rows; a second run finds all of them unchanged."""
    rows = [row("a", where="row 2", name="New", updated_at=LATER), row("a", where="row 1", name="Old")]
    told = move(rows)
    assert [version.record.name for version in told.versions] == ["Old", "New"]
    assert outcomes(move(rows, store_versions(told.versions))) == {"2": "same", "1": "same"}
    half = move(rows, store_versions(told.versions[:1]))
    assert (outcomes(half), [v.record.name for v in half.versions]) == ({"2": "changed", "1": "same"}, ["New"])


def test_links_lead_to_later_rows_and_to_missing_ones() -> None:
    """Supersession works at once; a link to what is nowhere stays as it was."""
    rows = [row("new", supersedes='["old", "nowhere"]'), row("old"), row("other")]
    told = move(rows)
    assert told.versions[0].record.lifecycle.supersedes_uids == ("old", "nowhere")
    assert in_force(store_versions(told.versions)) == {"new", "other"}


def test_what_was_declined_says_how() -> None:
    """One whose place another one took goes on replacing its own predecessor; one that the person did not want does not."""
    chain = [row("c", supersedes=["b"]), row("b", supersedes=["a"], status="declined"), row("a")]
    told = move(chain)
    events = {version.uid: version.event.action for version in told.versions}
    assert events == {"a": Action.UPSERT, "b": Action.ARCHIVE, "c": Action.UPSERT}
    assert in_force(store_versions(told.versions)) == {"c"}
    assert outcomes(move(chain, store_versions(told.versions))) == {"a": "same", "b": "same", "c": "same"}
    told = move([row("b", supersedes=["a"], status="declined"), row("a")])
    assert {version.uid: version.event.action for version in told.versions} == {"a": Action.UPSERT, "b": Action.DECLINE}
    assert in_force(store_versions(told.versions)) == {"a"}


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"status": "gone"}, "“status” cannot be used: input should be 'locked', 'proposed' or 'declined'. (constraint_record.status)"),
        ({"trouble": "A window of it has no end."}, "A window of it has no end."),
        ({"updated_at": "soon"}, "“soon” is not an instant. (updated_at)"),
        ({"session_id": "S\x00"}, "“session_id” holds a NUL character, which no database keeps. (session_id)"),
        ({"days_of_week": 5}, "“days_of_week” cannot be used: input should be a valid tuple. (constraint_record.applicability.days_of_week)"),
        ({"days_of_week": [["MO"]]}, "“days_of_week[0]” cannot be used: input should be 'MO', 'TU', 'WE', 'TH', 'FR', 'SA' or 'SU'. (constraint_record.applicability.days_of_week[0])"),
    ],
)  # fmt: skip
def test_a_bad_row_keeps_back_what_it_replaces(bad: dict[str, Any], why: str) -> None:
    """Without it, its predecessors and its own older version would be in force; what has nothing to do with it is moved."""
    rows = [
        row("b", where="row bad", supersedes=["a"], **{"updated_at": LATER, **bad}),
        row("b", where="row older", supersedes=["z"]),
        row("a", supersedes=["aa"]),
        row("aa"),
        row("z"),
        row("free"),
    ]
    told = move(rows)
    assert outcomes(told) == {
        "bad": "bad", "older": "waiting", "a": "waiting", "aa": "waiting", "z": "waiting", "free": "new",
    }  # fmt: skip
    assert told.rows[0].why == why
    assert told.rows[3].why == (
        "“Rule a” (row a) says something newer and cannot be moved yet; without it this would apply."
    )
    assert [version.uid for version in told.versions] == ["free"]


KEY = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize(
    "held",
    [
        {"description": f"the token is {KEY}"},
        {"name": KEY},
        {"rationale": f"so that {KEY} works"},
        {"extras": {"hints": {"login": KEY}}},
        {"applies_stages": [KEY]},
        {"trouble": f"“{KEY}” is no date."},
    ],
    ids=lambda held: next(iter(held)),
)
def test_a_row_with_a_secret_stays_where_it_is(held: dict[str, Any]) -> None:
    """This holds for a secret in any field; the replaced row waits for it, and the report does not repeat it."""
    bad = row("new", supersedes_uids=["old"], **held)
    told = move([row("old"), replace(bad, name=str(held.get("name", bad.name)), notes=(f"read {KEY}",)), row("other")])
    assert outcomes(told) == {"old": "waiting", "new": "bad", "other": "new"}
    assert KEY not in repr(told)
    assert told.rows[1].notes == ("read [withheld]",)


def test_what_is_here_already_does_not_wait() -> None:
    """A row that breaks later does not change the moved rules."""
    known = store_versions(move([row("b", supersedes=["a"]), row("a")]).versions)
    told = move([row("b", supersedes=["a"], trouble="Broken."), row("a")], known)
    assert outcomes(told) == {"b": "bad", "a": "same"}


def test_rows_of_others_are_left_alone() -> None:
    """They are only counted; even their errors are not reported."""
    told = move([row("a", owner="U1"), row("b", owner="U2"), row("c", owner="U2", trouble="Broken.")])
    assert (outcomes(told), told.others) == ({"a": "new"}, 2)
    assert {version.user_id for version in told.versions} == {"U1"}


def test_a_row_says_no_two_owners() -> None:
    told = move([row("a", user_id="U2")])
    assert (told.rows[0].outcome, told.rows[0].why) == (Outcome.BAD, "This row belongs to somebody else. (user_id)")


def test_taking_back() -> None:
    """New rules are put away, changed rules are restored, and later changes stay; a second time does nothing."""
    mine = version_of("was", user="U1", at="2026-01-01T00:00:00+00:00", name="As it was", status="locked")
    known = store_versions([mine])
    known = store_versions(move([row("new"), row("was", name="From there"), row("since")], known).versions, known)
    known = store_versions([version_of("since", user="U1", at=LATER, name="Since then")], known)
    back, stay = undo_migration(known, "U1", "SQLite", NOW)
    assert ({version.uid: version.record.status for version in back}, stay) == (
        {"new": Status.DECLINED, "was": Status.LOCKED},
        1,
    )
    known = store_versions(back, known)
    assert in_force(known) == {"was", "since"}
    assert {v.uid: v.record for v in back}["was"] == mine.record
    assert undo_migration(known, "U1", "SQLite", NOW + timedelta(days=1)) == ((), 1)
    assert undo_migration(known, "U1", "Notion", NOW) == ((), 0)
    assert undo_migration(known, "U2", "SQLite", NOW) == ((), 0)
    assert outcomes(move([row("new")], known)) == {"new": "newer_here"}


def test_taking_back_revives_nothing() -> None:
    """A rule that was replaced and put away here goes on replacing its predecessor."""
    old = version_of("old", user="U1", at="2025-01-01T00:00:00+00:00")
    before = version_of("was", user="U1", at="2025-06-01T00:00:00+00:00", supersedes_uids=["old"], status="declined")
    before = before.model_copy(update={"event": Event(action=Action.ARCHIVE, reason="superseded by tb_9")})
    known = store_versions([old, before])
    known = store_versions(move([row("was", supersedes=["old"])], known).versions, known)
    back, _ = undo_migration(known, "U1", "SQLite", NOW)
    known = store_versions(back, known)
    assert in_force(known) == set()
    assert not was_moved(back[0])
    assert undo_migration(known, "U1", "SQLite", NOW) == ((), 0)


def test_contact_details_stay_behind_and_that_is_noted() -> None:
    """S322: the rule is moved without them, and a second run finds it as it is."""
    words = "call Kim on +31 6 12345678"
    rows = [row("kim", name="Call Kim", description=words, rationale="kim@example.com said so")]
    told = move(rows)
    (moved,) = told.rows
    assert moved.version is not None
    assert (moved.outcome, moved.version.record.words) == (Outcome.NEW, "call Kim on [phone number]")
    assert "[e-mail address] said so" in (moved.version.event.reason or "")
    assert moved.notes == ("I left out contact or account details: rules do not keep them.",)
    assert outcomes(move(rows, store_versions(told.versions))) == {"kim": "same"}
