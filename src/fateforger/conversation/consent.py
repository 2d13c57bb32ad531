"""Questions that a commit or a write asks first: about musts, meetings, and what a good day still lacks (K9, S208)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Literal

from fateforger.conversation.turn_values import StageInput
from fateforger.errors import PlanInvalid
from fateforger.memory.violations import ConstraintViolation, build_reminder
from fateforger.planning.plan import Resolved, TBPlan
from fateforger.session.checks import OpenMust, broken_musts, double_bookings, open_musts, overrun_key
from fateforger.session.day import Meeting
from fateforger.session.draft import find_unfinished
from fateforger.session.frame import local_time
from fateforger.session.model import MEETINGS, HeldChange, RefineUpdate, Session
from fateforger.session.pending import MOST_MISSING
from fateforger.session.placement import by_time, local_span, span
from fateforger.session.stages import Move
from fateforger.text import count_rest, join_words, mark_message, ngettext, quote_title
from fateforger.text import gettext as _

Write = Literal["commit", "change"]
Violations = tuple[tuple[ConstraintViolation, ...], tuple[tuple[Resolved, Meeting], ...]]
"""Musts that a plan breaks, and its double bookings."""

NOT_COMMITTED = mark_message("I did not commit this plan, because it goes against what you want kept.")
NOT_WRITTEN = mark_message(
    "It is in your plan, but not on your calendar yet, because the plan goes against what you want kept."
)
NOT_COMMITTED_YET = mark_message(
    "I have not committed this plan yet: only you can tell whether it keeps what you want kept."
)
NOT_WRITTEN_YET = mark_message(
    "It is in your plan, but not on your calendar yet: only you can tell whether the plan keeps what you want kept."
)
IN_ITS_TIME = mark_message("{sentence} At that time: {blocks}.")
MOST_ASKED = 5
"""Most musts that a question quotes."""
NOT_YET = mark_message("I have not committed this plan yet.")
BETTER_WITH = mark_message("The day would be better with this:")
COMMIT_AS_IT_IS = mark_message("Commit it as it is, or change it first? I ask this only once.")
AGAINST = mark_message("{sentence} These break it: {blocks}.")
BOOKED = mark_message("“{title}” ({times}) is new on your calendar. In its way: {block}.")
COMMIT_ANYWAY = mark_message("Change the plan, or commit it anyway; then the rule does not count for this day.")
WRITE_ANYWAY = mark_message("Change the plan, or write it anyway; then the rule does not count for this day.")


def ask_first(stage: StageInput, session: Session, writes: Write) -> Session | None:
    """Return the session with a question if its plan needs the person's consent; ``None`` otherwise.

    Consent is needed if the plan breaks an active must, or overlaps a meeting that arrived later. Musts that only the
    person can judge are asked about once (K9). The same question names what the plan still lacks to be done (S208).
    """
    plan, found = session.planning.plan, find_violations(session)
    if plan is None:
        return None
    missing = _describe_missing(stage, session, writes)
    session = session.with_sync(asked_to_finish=session.sync.asked_to_finish or bool(missing))
    if not found:
        return _ask_whether_kept(stage, session, plan, writes, missing)
    broken, booked = found
    versions = [breach.item.version for breach in broken]
    first = versions[0] if versions else None
    held = HeldChange(
        asked=stage.cause,
        uid=MEETINGS if first is None else first.uid,
        seq=0 if first is None else first.seq,
        step=RefineUpdate(plan_before=plan, sentence=""),
        plan_after=plan,
        writes=writes,
        also=tuple(version.uid for version in versions[1:]),
        meetings=tuple(overrun_key(block, meeting) for block, meeting in booked),
    )
    reasons = (
        *(_why_against(session, breach) for breach in broken),
        *(
            _(
                BOOKED,
                title=m.title,
                times=span(local_time(session, m.start), local_time(session, m.end)),
                block=join_blocks(session, {block.key}),
            )
            for block, m in booked
        ),
    )
    session = session.with_sync(held=held)
    if writes == "change":
        return session.say(_(NOT_WRITTEN), *reasons, _(WRITE_ANYWAY))
    return session.refuse(_(NOT_COMMITTED), *reasons, *missing, _(COMMIT_ANYWAY))


def _describe_missing(stage: StageInput, session: Session, writes: Write) -> tuple[str, ...]:
    """Return what the person is asked about before their commit, once a day; nothing if the plan is done (S208)."""
    if writes != "commit" or stage.asked is not Move.PROCEED or session.sync.asked_to_finish:
        return ()
    lacks = [each.text for each in find_unfinished(session)]
    more = (count_rest(len(lacks) - MOST_MISSING),) if len(lacks) > MOST_MISSING else ()
    return (_(BETTER_WITH), *lacks[:MOST_MISSING], *more) if lacks else ()


def _ask_to_finish(stage: StageInput, session: Session, plan: TBPlan, missing: tuple[str, ...]) -> Session:
    """Return the session with the question whether to commit its plan as it is (S208)."""
    step = RefineUpdate(plan_before=plan, sentence="")
    held = HeldChange(asked=stage.cause, uid="", seq=0, step=step, plan_after=plan, writes="commit", unfinished=True)
    return session.with_sync(held=held).refuse(_(NOT_YET), *missing, _(COMMIT_AS_IT_IS))


def _ask_whether_kept(
    stage: StageInput,
    session: Session,
    plan: TBPlan,
    writes: Write,
    missing: tuple[str, ...],
) -> Session | None:
    """Return the session with the question whether its plan keeps the musts that only the person can judge."""
    asked = find_open_musts(session)
    if not asked:
        return _ask_to_finish(stage, session, plan, missing) if missing else None
    held = HeldChange(
        asked=stage.cause,
        uid=asked[0].item.uid,
        seq=asked[0].item.version.seq,
        step=RefineUpdate(plan_before=plan, sentence=""),
        plan_after=plan,
        writes=writes,
        asks=tuple(each.key for each in asked),
    )
    reasons = [_describe_open_must(session, each) for each in asked[:MOST_ASKED]]
    if len(asked) > MOST_ASKED:
        reasons.append(count_rest(len(asked) - MOST_ASKED))
    session = session.with_sync(held=held)
    question = ngettext("Does the plan keep that?", "Does the plan keep all of that?", len(asked))
    if writes == "change":
        return session.say(_(NOT_WRITTEN_YET), *reasons, question)
    return session.refuse(_(NOT_COMMITTED_YET), *reasons, *missing, question)


def find_open_musts(session: Session) -> tuple[OpenMust, ...]:
    try:
        return open_musts(session)
    except PlanInvalid:
        return ()  # The gates do not let a plan without times be written.


def _describe_open_must(session: Session, each: OpenMust) -> str:
    sentence = build_reminder(each.item).sentence
    if not each.blocks:
        return sentence
    return _(IN_ITS_TIME, sentence=sentence, blocks=join_blocks(session, {block.key for block in each.blocks}))


def find_violations(session: Session) -> Violations | None:
    """Return the musts and meetings that the plan violates without consent; ``None`` if there are none."""
    try:
        broken, booked = broken_musts(session), double_bookings(session)
    except PlanInvalid:
        return None  # The gates do not let a plan without times be written.
    return (broken, booked) if broken or booked else None


def _why_against(session: Session, breach: ConstraintViolation) -> str:
    if breach.rule:
        return breach.sentence
    return _(AGAINST, sentence=breach.sentence, blocks=join_blocks(session, set(breach.keys)))


def join_blocks(session: Session, keys: AbstractSet[str]) -> str:
    """List blocks of the plan, such as ``“Report” (09:00–10:30) and “Mail” (10:30–11:00)``."""
    blocks = () if session.planning.plan is None else by_time(session.planning.plan)
    return join_words([f"{quote_title(b.event.name)} ({local_span(session, b)})" for b in blocks if b.key in keys])
