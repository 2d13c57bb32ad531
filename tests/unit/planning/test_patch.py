"""Patches: each op, its inverse, and every bad position (S68, K8)."""

from __future__ import annotations

from typing import Any

import pytest

from fateforger.errors import FateforgerError, PatchInvalid, PlanInvalid
from fateforger.planning.plan import TBPlan
from fateforger.planning.wire import apply_tb_ops, read_patch, read_plan, to_wire, write_patch


def event(name: str, timing: dict[str, Any], kind: str = "DW") -> dict[str, Any]:
    return {"n": name, "t": kind, "p": timing, "key": name.lower()}


@pytest.fixture
def plan() -> TBPlan:
    return read_plan(
        {
            "date": "2026-03-02",
            "tz": "Europe/Amsterdam",
            "events": [
                event("Write", {"a": "fs", "st": "09:00", "dur": "PT1H"}),
                event("Read", {"a": "ap", "dur": "PT30M"}),
                event("Call", {"a": "fw", "st": "11:00", "et": "11:30"}, "M"),
            ],
        }
    )


def names(plan: TBPlan) -> list[str]:
    return [e.name for e in plan.events]


WALK = {"n": "Walk", "t": "H", "p": {"a": "ap", "dur": "PT10M"}}


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        ([{"op": "ae", "events": [WALK]}], ["Write", "Read", "Call", "Walk"]),
        ([{"op": "ae", "events": [WALK], "after": 0}], ["Write", "Walk", "Read", "Call"]),
        (
            [{"op": "ae", "events": [{**WALK, "p": {"a": "fs", "st": "08:00", "dur": "PT10M"}}], "after": -1}],
            ["Walk", "Write", "Read", "Call"],
        ),
        ([{"op": "re", "i": 1}], ["Write", "Call"]),
        ([{"op": "ue", "i": 0, "n": "Draft"}], ["Draft", "Read", "Call"]),
        ([{"op": "me", "fr": 2, "to": 1}], ["Write", "Call", "Read"]),
        ([{"op": "me", "fr": 1, "to": 2}], ["Write", "Call", "Read"]),
        ([{"op": "me", "fr": 1, "to": 1}], ["Write", "Read", "Call"]),
        ([{"op": "ra", "events": [{**WALK, "p": {"a": "fs", "st": "08:00", "dur": "PT10M"}}]}], ["Walk"]),
        ([{"op": "re", "i": 0}, {"op": "re", "i": 0}, {"op": "re", "i": 0}], []),
        ([], ["Write", "Read", "Call"]),
    ],
)
def test_each_op_and_the_way_back(plan: TBPlan, ops: list[dict[str, Any]], expected: list[str]) -> None:
    """S68: positions mean the list as it is at that op; the inverse restores the plan exactly, keys included."""
    applied = apply_tb_ops(plan, read_patch({"ops": ops}))
    assert names(applied.plan) == expected
    inverse = read_patch(write_patch(to_wire(applied.plan, applied.inverse)))
    assert apply_tb_ops(applied.plan, inverse).plan == plan


def test_an_update_keeps_the_key_and_what_was_not_named(plan: TBPlan) -> None:
    """S68, K8"""
    patch = read_patch({"ops": [{"op": "ue", "i": 1, "t": "SW", "d": "two papers", "p": {"a": "ap", "dur": "PT45M"}}]})
    before, after = plan.events[1], apply_tb_ops(plan, patch).plan.events[1]
    assert (after.key, after.name) == (before.key, before.name)
    assert (after.type.value, after.description, after.timing.model_dump(mode="json", by_alias=True)) == (
        "SW",
        "two papers",
        {"a": "ap", "dur": "PT45M"},
    )


def test_a_block_can_be_emptied_of_its_notes(plan: TBPlan) -> None:
    noted = apply_tb_ops(plan, read_patch({"ops": [{"op": "ue", "i": 0, "d": "notes"}]})).plan
    assert apply_tb_ops(noted, read_patch({"ops": [{"op": "ue", "i": 0, "d": ""}]})).plan == plan


@pytest.mark.parametrize(
    ("op", "error", "sentence"),
    [
        ({"op": "re", "i": 3}, PatchInvalid, "There is no block at position 3; positions here are 0 to 2."),
        ({"op": "re", "i": -1}, PatchInvalid, "There is no block at position -1; positions here are 0 to 2."),
        ({"op": "ue", "i": 9, "n": "x"}, PatchInvalid, "There is no block at position 9; positions here are 0 to 2."),
        ({"op": "me", "fr": 0, "to": 3}, PatchInvalid, "There is no block at position 3; positions here are 0 to 2."),
        ({"op": "me", "fr": -1, "to": 0}, PatchInvalid, "There is no block at position -1; positions here are 0 to 2."),
        (
            {"op": "ae", "events": [WALK], "after": 3},
            PatchInvalid,
            "There is no block at position 3; positions here are 0 to 2.",
        ),
        (
            {"op": "ae", "events": [], "after": 0},
            PatchInvalid,
            "“events” cannot be used: tuple should have at least 1 item after validation, not 0.",
        ),
        ({"op": "re", "i": "1"}, PatchInvalid, "“i” cannot be used: input should be a valid integer."),
        ({"op": "re", "i": True}, PatchInvalid, "“i” cannot be used: input should be a valid integer."),
        ({"op": "re"}, PatchInvalid, "“i” is missing."),
        ({"op": "re", "i": 0, "n": "x"}, PatchInvalid, "“n” is not a field I know here."),
        ({"op": "re", "i": 0}, PlanInvalid, "“Read” follows the previous block, but it is the first one."),
        (
            {"op": "ue", "i": 1, "p": {"a": "ap", "dur": "PT2H"}},
            PlanInvalid,
            "“Call” starts at 11:00, but “Read” runs until 12:00.",
        ),
        (
            {"op": "ae", "events": [{**WALK, "key": "write"}]},
            PatchInvalid,
            "There is a block with the key “write” already.",
        ),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_whole(
    plan: TBPlan, op: dict[str, Any], error: type[FateforgerError], sentence: str
) -> None:
    """S68: bad index is an error, the plan is untouched."""
    untouched = plan.model_copy(deep=True)
    with pytest.raises(error) as caught:
        apply_tb_ops(plan, read_patch({"ops": [{"op": "ue", "i": 0, "n": "Renamed"}, op]}))
    assert caught.value.message == sentence
    assert plan == untouched


def test_a_malformed_patch_is_one_sentence() -> None:
    with pytest.raises(PatchInvalid, match="A patch is a JSON object with a list of ops"):
        read_patch("re 1")
    with pytest.raises(PatchInvalid, match="does not say which kind"):
        read_patch({"ops": [{"op": "zz"}]})
