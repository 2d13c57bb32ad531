"""The patcher: what it is given, and where it works (S71, S114)."""

from __future__ import annotations

import pytest
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.rules import CALLS, knowing
from tests.unit.conversation.sessions import MORNING, event, plan_session, task

from fateforger.conversation.language.plan_proposals import TimeboxPatcher
from fateforger.errors import InternalError, ModelUnreachable
from fateforger.session.stages import TimeboxingStage

STANDUP = event("Standup", "11:00", "11:30")
MESSAGE = "Bitte den Bericht um zehn"


@pytest.mark.parametrize("stage", [stage for stage in TimeboxingStage if stage is not TimeboxingStage.REFINE])
async def test_s71_it_refuses_any_stage_but_refine(stage: TimeboxingStage) -> None:
    """The model is not called either."""
    model = ScriptedModel()
    with pytest.raises(InternalError, match="Patches are made in Refine"):
        await TimeboxPatcher(model).patch(plan_session(stage, task("Report")), MESSAGE, cause="c1", now=MORNING)
    assert model.prompts == []


async def test_s114_it_takes_the_plan_the_message_and_the_constraints() -> None:
    model = ScriptedModel(ModelUnreachable("Down."))
    session = knowing(plan_session(TimeboxingStage.REFINE, task("Report"), events=(STANDUP,)), CALLS)
    with pytest.raises(ModelUnreachable):
        await TimeboxPatcher(model).patch(session, MESSAGE, cause="c1", now=MORNING)
    (prompt,) = model.prompts
    assert prompt.name.startswith("patch/")
    for given in ("Report", MESSAGE, CALLS.record.description):
        assert given in prompt.user
