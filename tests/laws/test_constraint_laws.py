"""Laws for every history of constraints and every context (A1 to A12, S17, S19, S20, S174, S178, S234, S235)."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.factories.constraints import context_of, line_of, random_context, random_history
from tests.laws.constraint_oracle import find_applicable

from fateforger.memory.applicability import Why, decide_applicability
from fateforger.memory.documents import read_context, read_version, write_version
from fateforger.memory.versions import Version

HISTORIES = 2_000
HOSTILE = (
    "*",
    "",
    " ",
    " U1",
    "U1 ",
    "u1",
    "Ｕ1",
    "U1\u200b",
    "U1'; DROP TABLE versions; --",
    "%",
    "U_",
    "U1\x00",
    "null",
)


def read(lines: list[dict[str, Any]]) -> list[Version]:
    return [read_version(line, seq=number) for number, line in enumerate(lines)]


def list_applicable(versions: list[Version], context: dict[str, Any]) -> list[str]:
    return [item.uid for item in decide_applicability(versions, read_context(context)).applicable]


def test_the_oracle_agrees_on_thousands_of_histories() -> None:
    """A1-A11 against a table of days worked out from the raw rows; and the draw really reaches each reason."""
    seen: dict[Why, int] = {}
    applied = 0
    for seed in range(HISTORIES):
        random = Random(seed)
        lines = random_history(random)
        versions = read(lines)
        for _ in range(3):
            context = random_context(random)
            answer = decide_applicability(versions, read_context(context))
            assert {item.uid for item in answer.applicable} == find_applicable(lines, context), (seed, context)
            applied += len(answer.applicable)
            for item in answer.excluded:
                seen[item.why] = seen.get(item.why, 0) + 1
    assert applied > HISTORIES
    unreachable = {Why.SET_ASIDE, Why.CONDITION, Why.RULED_OUT, Why.CUT}
    assert {why for why in Why if seen.get(why, 0) < 30} == unreachable


histories = st.integers(0, 2**32).map(lambda seed: random_history(Random(seed)))
contexts = st.integers(0, 2**32).map(lambda seed: random_context(Random(seed)))


@given(histories, contexts, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_never_matters(
    lines: list[dict[str, Any]], context: dict[str, Any], random: Random
) -> None:
    """A1, S20: the same answer, in the same order, with the same reasons."""
    versions = read(lines)
    shuffled = versions.copy()
    random.shuffle(shuffled)
    question = read_context(context)
    assert decide_applicability(shuffled, question) == decide_applicability(versions, question)


@given(histories, contexts, st.sampled_from(HOSTILE), st.sampled_from(HOSTILE))
def test_nobody_sees_the_rows_of_another(
    lines: list[dict[str, Any]], context: dict[str, Any], asking: str, other: str
) -> None:
    """A2: rows of other people, even with the same ids, change neither the applicable rules nor the explanations."""
    mine = [{**line, "user_id": asking} for line in lines]
    theirs = [{**line, "user_id": other} for line in lines if other != asking]
    usual = [line_of("c1", user="U1", supersedes_uids=["c0", "c2"])]
    question = read_context({**context, "user_id": asking})
    answer = decide_applicability(read(mine + theirs + usual), question)
    assert answer == decide_applicability(read(mine), question)
    assert {item.version.user_id for item in answer.applicable} | {out.version.user_id for out in answer.excluded} <= {
        asking
    }


@given(histories, contexts)
def test_each_constraint_is_answered_for_once(lines: list[dict[str, Any]], context: dict[str, Any]) -> None:
    """S20: by uid, either applicable or excluded with a reason, never both, never twice."""
    answer = decide_applicability(read(lines), read_context(context))
    uids = [item.uid for item in answer.applicable] + [out.uid for out in answer.excluded]
    assert len(uids) == len(set(uids))
    assert all(item.reason for item in answer.excluded)
    assert all(item.reasons for item in answer.applicable)


@given(histories, contexts, st.integers(0, 6))
def test_a_budget_never_cuts_a_must(lines: list[dict[str, Any]], context: dict[str, Any], k: int) -> None:
    """A12, S174: the answer is the head of the whole one, long enough for each must; what is cut is named."""
    versions = read(lines)
    whole = list_applicable(versions, context)
    answer = decide_applicability(versions, read_context({**context, "k": k}))
    musts = [item for item in answer.applicable if item.record.necessity == "must"]
    kept = [item.uid for item in answer.applicable]
    assert kept == whole[: max(k, len(musts))]
    assert {item.uid for item in answer.cut} == set(whole) - set(kept)
    assert all(item.version.record.necessity != "must" for item in answer.cut)


@given(histories, contexts)
def test_recency_only_breaks_ties(lines: list[dict[str, Any]], context: dict[str, Any]) -> None:
    """A12, S178 (C-04): an older constraint never ranks below a newer one that is not at least as good."""
    question = read_context(context)

    def merit(version: Version) -> tuple[int, bool, bool, float]:
        record = version.record
        named = bool(set(record.applies_event_types) & set(question.event_types))
        necessity = ("must", "should", "prefer").index(record.necessity)
        return (necessity, not named, record.status != "locked", -(record.confidence or 0))

    versions = [item.version for item in decide_applicability(read(lines), question).applicable]
    for better, worse in pairwise(versions):
        assert merit(better) <= merit(worse)
        if merit(better) == merit(worse):
            assert better.updated_at >= worse.updated_at


@given(histories, contexts)
def test_what_does_not_exist_yet_changes_nothing(lines: list[dict[str, Any]], context: dict[str, Any]) -> None:
    """A11: with a clock, later versions might as well not be there."""
    now = context["now"] or "2026-03-01T00:00:00+00:00"
    question = read_context({**context, "now": now})
    known = [version for version in read(lines) if version.updated_at <= question.now]  # type: ignore[operator]
    assert decide_applicability(read(lines), question) == decide_applicability(known, question)


@given(histories)
def test_a_version_survives_json(lines: list[dict[str, Any]]) -> None:
    """S13: as a line and back it is the same value, and the record is the same document."""
    for number, line in enumerate(lines):
        version = read_version(line, seq=number)
        again = write_version(version)
        assert read_version(again, seq=number) == version
        assert again["constraint_record"] == line["constraint_record"]


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 80))
def test_a_replacement_holds_exactly_inside_its_dates(begin: int, length: int, ask: int) -> None:
    """A4: the old one is in force before and after, and on no day are there both or none."""
    first = date(2026, 3, 1)
    start, end = first + timedelta(days=begin), first + timedelta(days=begin + length)
    lines = [
        line_of("old"),
        line_of("new", supersedes_uids=["old"], start_date=start.isoformat(), end_date=end.isoformat()),
    ]
    day = first + timedelta(days=ask)
    answer = decide_applicability(read(lines), context_of(day=day))
    assert [item.uid for item in answer.applicable] == (["new"] if start <= day <= end else ["old"])
