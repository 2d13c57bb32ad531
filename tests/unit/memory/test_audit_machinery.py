"""The audit's findings about cost and failure (S181-S190, S194): each impossible here, proved on a real store."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import pytest
from tests.contracts.stores import new_file
from tests.factories.constraints import context_of, version_of
from tests.factories.told_rules import build_extraction, rule
from tests.unit.conversation.sessions import session
from tests.unit.memory.conftest import StoredConstraints

from fateforger.adapters.store.store import open_store
from fateforger.config import read_settings
from fateforger.conversation.language.rule_extraction import ConstraintInterpretation, build_records
from fateforger.errors import StoreUnavailable, VersionConflict
from fateforger.memory.applicability import decide_applicability
from fateforger.memory.consolidation import find_consolidations
from fateforger.memory.contradiction import Kind, find_contradictions
from fateforger.memory.versions import Version

NOW = "2026-03-03T12:00:00Z"
HEAVY = ("mem0", "qdrant_client", "openai", "autogen_core", "numpy")


def calls(versions: list[Version]) -> int:
    """Count the function calls of one decision on applicability."""
    counted: Counter[str] = Counter()

    def count(_: FrameType, event: str, __: Any) -> None:
        counted[event] += 1

    context = context_of(event_types=["DW"], k=20)
    sys.setprofile(count)
    try:
        decide_applicability(versions, context)
    finally:
        sys.setprofile(None)
    return counted["call"]


def test_e_01_the_work_grows_with_the_number_of_constraints_and_not_with_its_square() -> None:
    """S181: each text was cut into words again for each other text. No text is compared; the fields that filters look
    at are made once for each version, and ranking is one sort."""
    rows = [version_of(f"c{n}", applies_event_types=["DW"]) for n in range(800)]
    decide_applicability(rows, context_of())
    assert calls(rows) < 9 * calls(rows[:100])
    assert rows[0].flat is rows[0].flat


@pytest.mark.process
def test_e_02_and_e_04_no_model_and_no_embedding_on_the_way(tmp_path: Path) -> None:
    """S177, S182, S184, S199: a query was embedded up to several times, and each cluster was a call of a model. Writing,
    asking and consolidating load neither a model's client nor an embedder."""
    script = f"""
import asyncio, json, sys
from fateforger.adapters.store.store import open_store
from fateforger.memory.violations import build_sections
from fateforger.memory.applicability import decide_applicability
from fateforger.memory.consolidation import find_consolidations
from fateforger.memory.contradiction import find_contradictions
from tests.factories.constraints import context_of, version_of

async def main():
    store = open_store(sys.argv[1])
    await store.constraints.write([version_of("a"), version_of("b")], cause="c")
    rows, context = await store.constraints.of("U1"), context_of(now={NOW!r})
    told = build_sections(decide_applicability(rows, context))
    more = [len(find_consolidations(rows, context)), len(find_contradictions(rows, "U1"))]
    print(json.dumps([len(told.consider), *more]))
    print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))

asyncio.run(main())
"""
    ran = subprocess.run(
        [sys.executable, "-c", script, str(new_file(tmp_path))],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [[2, 0, 0], []]


def test_tagging_costs_about_a_millisecond() -> None:
    """S199: what a write adds to a rule, measured as the fastest of many, so that a busy machine does not matter."""
    heard = ConstraintInterpretation.model_validate(
        build_extraction(rule("Calls", "No calls before ten", rule_kind="avoid_window"))
    )
    now, times = session(), []
    for _ in range(50):
        began = perf_counter()
        (record,) = build_records(heard, now)
        assert record.payload.windows == ()
        times.append(perf_counter() - began)
    assert min(times) < 0.0015


async def test_batch_cognitive_fact_query(kept: StoredConstraints) -> None:
    """S183, S189, S194 (E-03, L-05): each category, and each session, was a query of its own. A person's constraints are
    two statements the first time and one afterwards, and give the same as asking for one category after another."""
    kinds = ["prefer_window", "avoid_window", "fixed_bedtime", "min_sleep", "buffer", "sequencing", "capacity", "other"]
    for n in range(40):
        kind = kinds[n % 8]
        await kept.rule(f"c{n}", rule_kind=None if kind == "other" else kind, session=f"S{n}", scope="profile")
    kept.statements.clear()
    everything = await kept.uids(type_ids=kinds)
    assert len(reads(kept)) == 2
    one_by_one = [uid for kind in kinds for uid in await kept.uids(type_ids=[kind])]
    assert len(reads(kept)) == 2 + 8
    assert sorted(one_by_one) == sorted(everything)
    assert len(everything) == 40


def reads(kept: StoredConstraints) -> list[str]:
    return [statement for statement in kept.statements if statement.lstrip().startswith("SELECT")]


async def test_e_04_fifty_clusters_are_one_write(kept: StoredConstraints) -> None:
    """S184: each of 50 clusters was a round of its own. They are found in one look and written as one commit."""
    for n in range(50):
        await kept.say(*(version_of(f"c{n}-{copy}", name=f"Rule {n}", description=f"{n}") for copy in range(2)))
    kept.statements.clear()
    context = context_of(now=NOW)
    findings = find_consolidations(await kept.store.constraints.of("U1"), context)
    changes = [finding.follows for finding in findings if finding.follows is not None]
    await kept.say(*(change.at(change.version.updated_at) for change in changes))
    assert {finding.kind for finding in findings} == {Kind.DUPLICATE}
    assert len([s for s in kept.statements if s.startswith("BEGIN IMMEDIATE")]) <= 1
    assert len(await kept.uids()) == len(changes) == 50


async def test_l_01_nothing_remembered_outlives_what_it_was_remembered_of(
    kept: StoredConstraints, tmp_path: Path
) -> None:
    """S185: keys that were read once leaked into the next test. Settings are read when they are asked for; what was
    read of a person belongs to one open store, and is given up when somebody else changes it or the person is
    forgotten."""
    keys = [read_settings(model_key=key, data_dir=tmp_path).model_key for key in ("one", "two")]
    assert [key and key.get_secret_value() for key in keys] == ["one", "two"]
    await kept.rule("a")
    assert await kept.uids() == ["a"]
    (tmp_path / "other").mkdir()
    other, same = open_store(new_file(tmp_path / "other")), open_store(kept.path)
    assert await other.constraints.of("U1") == ()
    await same.constraints.write([version_of("b")], cause="elsewhere")
    assert await kept.uids() == ["a", "b"]
    await same.people.erase("U1", now=datetime.fromisoformat(NOW))
    assert await kept.uids() == []
    await other.aclose()
    await same.aclose()


async def test_l_02_two_concurrent_revisions_give_one_winner(kept: StoredConstraints) -> None:
    """S186: both read, both wrote, and one was lost silently. Now the second writer gets a conflict."""
    before = await kept.rule("a")
    other = open_store(kept.path)
    revisions = [
        store.constraints.write([version_of("a", at=NOW, description=words)], cause=words, expected={"a": before.seq})
        for store, words in ((kept.store, "one"), (other, "two"))
    ]
    outcomes = await asyncio.gather(*revisions, return_exceptions=True)
    winners = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
    assert [type(outcome) for outcome in outcomes if not isinstance(outcome, tuple)] == [VersionConflict]
    assert (await other.constraints.of("U1"))[1:] == winners[0]
    await other.aclose()


async def test_l_03_a_dead_store_is_no_empty_answer(kept: StoredConstraints) -> None:
    """S187: what failed was swallowed, and looked like a person without constraints."""
    await kept.rule("a")
    await kept.store.database.write(
        lambda connection: connection.exec_driver_sql("ALTER TABLE constraint_version RENAME TO gone")
    )
    for ask in (
        kept.store.constraints.of("U1"),
        kept.store.constraints.people(),
        kept.store.constraints.list_unindexed(),
    ):
        with pytest.raises(StoreUnavailable):
            await ask
    await kept.store.aclose()
    with pytest.raises(StoreUnavailable):
        await kept.store.constraints.of("U1")


async def test_constraint_scope_populated(kept: StoredConstraints) -> None:
    """S188, S194 (L-04): what an extractor found had no scope, so nothing ever superseded anything. What a message says
    becomes topics, event types, kind and windows of the record; on those, the contradiction is found."""
    first = rule(
        "Bed at 11", "in bed by eleven", rule_kind="fixed_bedtime", event_types=["R"], topics=["sleep", "health"]
    )
    second = rule("Bed at 10", "ten, actually", rule_kind="fixed_bedtime", event_types=["R"], topics=["sleep"])
    at = iter(("2026-02-01T09:00:00Z", "2026-02-02T09:00:00Z"))
    for answer, start in ((first, "23:00"), (second, "22:00")):
        spoken = build_extraction({**answer, "windows": [{"kind": "prefer", "start": start, "end": "07:00"}]})
        (record,) = build_records(ConstraintInterpretation.model_validate_json(json.dumps(spoken)), session())
        assert (record.topics, [str(kind) for kind in record.applies_event_types]) == (tuple(answer["topics"]), ["R"])
        version = version_of("x", at=next(at)).model_copy(update={"record": record})
        await kept.say(version)
    rows = await kept.store.constraints.of("U1")
    assert [finding.kind for finding in find_contradictions(rows, "U1")] == [Kind.REPLACED]


async def test_l_06_no_gate_drops_what_was_said(kept: StoredConstraints) -> None:
    """S190: “I take medication at 9am” scored below a threshold and was dropped. There is no score on the way in: how
    sure a model was decides the order, and whether the person is asked, never whether it is kept."""
    unsure = rule("Medication", "I take medication at 9am", confidence=0.01, topics=["health"])
    (record,) = build_records(
        ConstraintInterpretation.model_validate_json(json.dumps(build_extraction(unsure))), session()
    )
    await kept.say(version_of("x").model_copy(update={"record": record}))
    (recalled,) = (await kept.recall()).applicable
    assert (recalled.record.words, recalled.record.confidence) == ("I take medication at 9am", 0.01)
