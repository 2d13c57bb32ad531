"""Questions and offers of the card, with the command that each answer means.

The card takes its buttons from here, and words are answered by the same commands (S214). Pure functions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum

from fateforger.calendar.conflicts import phrase_question as conflict_words
from fateforger.memory.applicability import Applicable
from fateforger.memory.contradiction import Kind
from fateforger.memory.versions import Version, select_newest
from fateforger.memory.violations import build_reminder
from fateforger.memory.vocabulary import Source
from fateforger.planning.timing import zone
from fateforger.quality.model import Fix
from fateforger.session.cards import Button, name_button
from fateforger.session.checks import MeetingViolation, named_violations, open_musts, rule_clashes, unconfirmed_rules
from fateforger.session.commands.day import BringAlong, SettleLength
from fateforger.session.commands.plan import ApplyFix, Replan, ResolveConflict
from fateforger.session.commands.rules import (
    AllowMeetings,
    ConfirmKept,
    ConstraintVerdict,
    JudgeConstraint,
    RuleChoice,
    SettleConstraints,
    format_rule_target,
)
from fateforger.session.commands.thread import AnswerProposal, LeaveAsIs, StageAction
from fateforger.session.conflicts import open_questions, question_target
from fateforger.session.draft import find_unfinished
from fateforger.session.gate import is_offered, move_token
from fateforger.session.memory import MemoryQuestion
from fateforger.session.model import HeldChange, OfferedInput, Question, Session, SessionStatus, Task
from fateforger.session.open_work import find_left_over, list_offered, open_work_of_missed
from fateforger.session.overview import clip_span, collisions, local_meeting
from fateforger.session.recall import constraints_for_draft
from fateforger.session.rulebook import known_versions
from fateforger.session.stages import Move, TimeboxingStage
from fateforger.session.tasks import find_short
from fateforger.tasks.durations import Estimate, format_ratio
from fateforger.text import format_length, join_words, label_text, mark_message, ngettext, quote_title, truncate
from fateforger.text import gettext as _
from fateforger.values import Value
from fateforger.workflow.day_rules import read_day_rule
from fateforger.workflow.day_words import describe_day_rule

Stage = TimeboxingStage

DO_IT_ANYWAY = mark_message("Do it anyway, for this day")
CHANGE_PLAN = mark_message("No, I change the plan")
LEAVE_PLAN = mark_message("Leave the plan as it is")
GO_AHEAD = mark_message("Yes, go ahead")
LEAVE_CALENDAR = mark_message("No, leave my calendar as it is")
COMMIT_ANYWAY = mark_message("Commit anyway")
HELD_LABELS = {None: DO_IT_ANYWAY, "commit": COMMIT_ANYWAY, "change": mark_message("Write it anyway")}
HELD_BACK = {
    None: mark_message(
        "I did not do that, because of a rule you want kept{rule}."
        " Do it anyway for this day, or leave the plan as it is?"
    ),
    "commit": mark_message(
        "I did not commit this plan, because it goes against what you want kept{rule}. Commit it anyway, or leave it?"
    ),
    "change": mark_message(
        "I did not write that to your calendar, because the plan goes against what you want kept{rule}."
        " Write it anyway, or leave it?"
    ),
}
"""Refusal by the effect of approval: make the change, commit the plan, or write it."""
MOST_UNSURE = 2
"""Most rules that the card asks to confirm at once."""
MOST_CLASHES = 2
MOST_MISSING = 3
"""Most findings that a commit asks about at once."""
MOST_MEETINGS = 3
"""Most meetings that a sentence names."""
MOST_LENGTHS = 2
"""Most tasks whose length the card asks about at once."""
_LONGEST_LABEL = 75


class WaitingProposal(Value):
    """Another agent's proposal for the plan, as its card in the thread words it; ``again`` if it can be retried."""

    id: str
    sentence: str
    again: bool = False


class PendingKind(StrEnum):
    """Kind of a question."""

    HELD = "held"
    """A change held back because of a rule."""
    BRAKE = "brake"
    """A write that needs approval."""
    PROPOSAL = "proposal"
    """Another agent's proposal for the plan."""
    PROPOSAL_AGAIN = "proposal again"
    """A proposal for the plan that could not be carried out."""
    RULE = "rule"
    """An extracted rule that needs confirmation."""
    WORDS = "words"
    """The bot's last question, in words."""
    SAID = "said"
    """The bot's last answer or refusal, which may ask something, too."""
    QUEUE = "queue"
    """The bot's last words on a card of the queue."""
    CALENDAR = "calendar"
    """A choice between the person's change and the plan's."""
    RULES = "rules"
    """A choice between rules."""
    REPLACES = "replaces"
    """A statement that may take the place of an earlier one."""
    MEETING = "meeting"
    """A meeting of the calendar that breaks a rule."""
    MISSED = "missed"
    """The open work of missed days."""
    LENGTH = "length"
    """A task whose kind has taken longer than planned."""
    RETRY = "retry"
    FIX = "fix"
    REFIT = "refit"
    BRING = "bring"


_OFFERS = frozenset(
    {
        PendingKind.SAID,
        PendingKind.QUEUE,
        PendingKind.PROPOSAL_AGAIN,
        PendingKind.REPLACES,
        PendingKind.MEETING,
        PendingKind.MISSED,
        PendingKind.LENGTH,
        PendingKind.RETRY,
        PendingKind.FIX,
        PendingKind.REFIT,
        PendingKind.BRING,
    }
)


ABOUT_RULES = frozenset({PendingKind.RULE, PendingKind.RULES, PendingKind.REPLACES, PendingKind.MEETING})
"""Kinds of questions that a message about a rule may answer."""


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A question that waits for an answer.

    ``yes`` and ``no`` are the buttons of agreeing and refusing; without ``no``, refusing changes nothing. With
    ``which``, one of several options has to be named, and a yes names none. ``change`` opens the form of the rule that
    it is about, which words change like any rule.
    """

    kind: PendingKind
    sentence: str
    yes: Button | None = None
    no: Button | None = None
    which: tuple[Button, ...] = ()
    change: Button | None = None

    @property
    def answers(self) -> tuple[Button, ...]:
        return tuple(button for button in (self.yes, self.no, *self.which) if button is not None)

    @property
    def is_offer(self) -> bool:
        """True when the card only offers this and asks nothing."""
        return self.kind in _OFFERS

    @property
    def awaits_yes(self) -> bool:
        """True when the card asks for a yes or a no.

        Words that agree may then be the answer, and never mean to proceed.
        """
        return self.yes is not None and not self.is_offer


def pending_questions(session: Session, proposals: Sequence[WaitingProposal] = ()) -> tuple[PendingQuestion, ...]:
    """Return all open questions: yes-or-no questions first, then choices, then offers.

    ``proposals`` are those whose cards are in the thread.
    """
    if session.status is SessionStatus.CANCELLED:
        return ()
    found = (*_all_questions(session), *(_proposal_question(each) for each in proposals))
    return (
        *(each for each in found if each.awaits_yes),
        *(each for each in found if not (each.awaits_yes or each.is_offer)),
        *(each for each in found if each.is_offer),
    )


def sole_question(waiting: Sequence[PendingQuestion]) -> PendingQuestion | None:
    """Return the question that an unspecific answer refers to, or ``None`` if that is unclear.

    It is the only question, or the only offer where nothing is asked.
    """
    asked = [each for each in waiting if not each.is_offer] or list(waiting)
    return asked[0] if len(asked) == 1 else None


def held_question(session: Session) -> PendingQuestion | None:
    """Return the question about a change held back because of a rule or a meeting."""
    held = session.sync.held
    if held is None or session.stage is not Stage.REFINE:
        return None
    if held.asks:
        return _kept_question(session, held)
    if held.unfinished:
        return _unfinished_question(session)
    version = select_newest(known_versions(session), session.user_id).get(held.uid)
    rule = "" if version is None else label_text("", quote_title(version.record.words))
    return PendingQuestion(
        kind=PendingKind.HELD,
        sentence=_(HELD_BACK[held.writes], rule=rule),
        yes=judge_button("set_aside", held.uid, held.seq, label=_(HELD_LABELS[held.writes])),
        no=LeaveAsIs.action.button("held", label=_(LEAVE_PLAN)),
    )


def _kept_question(session: Session, held: HeldChange) -> PendingQuestion:
    """Return the question whether the plan keeps rules that only the person can judge."""
    asked = [each for each in open_musts(session) if each.key in held.asks]
    told = " ".join(build_reminder(each.item).sentence for each in asked)
    return PendingQuestion(
        kind=PendingKind.HELD,
        sentence=_("{rules} Does the plan keep that?", rules=told),
        yes=ConfirmKept.action.button(kept_token(held)),
        no=LeaveAsIs.action.button("held", label=_(CHANGE_PLAN)),
    )


def _unfinished_question(session: Session) -> PendingQuestion:
    """Return the question whether to commit a plan as it is, though something of a good day is missing (S208)."""
    missing = " ".join(each.text for each in find_unfinished(session)[:MOST_MISSING])
    return PendingQuestion(
        kind=PendingKind.HELD,
        sentence=_("The day would be better with this: {missing} Commit it as it is?", missing=missing),
        yes=StageAction.moves[Move.PROCEED].button(move_token(session, Move.PROCEED), label=_(COMMIT_ANYWAY)),
        no=LeaveAsIs.action.button("held", label=_(CHANGE_PLAN)),
    )


def kept_token(held: HeldChange) -> str:
    """Return the token of a question about rules to judge; another question has another one."""
    return hashlib.sha256("|".join(held.asks).encode()).hexdigest()[:12]


def write_question(session: Session) -> PendingQuestion | None:
    """Return the question about a stopped write, or only the offer to try it again."""
    if not is_offered(session, Move.RETRY):
        return None
    report = session.sync.last_sync
    trouble = session.sync.problem or " ".join(() if report is None else report.sentences)
    again, token = StageAction.moves[Move.RETRY], move_token(session, Move.RETRY)
    if not session.sync.brakes:
        return PendingQuestion(kind=PendingKind.RETRY, sentence=trouble, yes=again.button(token))
    return PendingQuestion(
        kind=PendingKind.BRAKE,
        sentence=trouble,
        yes=again.button(token, label=_(GO_AHEAD)),
        no=LeaveAsIs.action.button("brakes", label=_(LEAVE_CALENDAR)),
    )


def unsure_questions(session: Session) -> tuple[PendingQuestion, ...]:
    """Return the questions about extracted rules that the person has to confirm."""
    return tuple(_confirm_question(item) for item in unconfirmed_rules(session)[:MOST_UNSURE])


def refit_question(session: Session) -> PendingQuestion | None:
    """Return the offer to make room, where future blocks run into meetings."""
    at = session.touched_at.astimezone(UTC)
    ahead = [(b, m) for b, m in collisions(session) if b.start.astimezone(UTC) >= at]
    if not ahead:
        return None
    block, meeting = ahead[0]
    sentence = _(
        "“{name}” runs into “{title}”. Shall I refit the rest of the day?", name=block.event.name, title=meeting.title
    )
    return PendingQuestion(kind=PendingKind.REFIT, sentence=sentence, yes=Replan.refit.button())


def length_questions(session: Session) -> tuple[PendingQuestion, ...]:
    """Return the questions about tasks whose minutes are probably too few."""
    return tuple(_length_question(*each) for each in find_short(session)[:MOST_LENGTHS])


def _length_question(task: Task, found: Estimate, minutes: int) -> PendingQuestion:
    longer, now = format_length(minutes), format_length(task.minutes or 0)
    how_often = _("{short} of the last {count} times", short=found.short, count=found.count)
    sentence = _(
        "“{name}” takes you {ratio} times as long as planned ({known}). Plan {longer} for “{title}”?",
        name=found.name,
        ratio=format_ratio(found.ratio),
        known=_("as you told me") if found.corrected else _("it ran over {how_often}", how_often=how_often),
        longer=longer,
        title=task.title,
    )
    return PendingQuestion(
        kind=PendingKind.LENGTH,
        sentence=sentence,
        yes=SettleLength.more.button(f"{minutes} {task.id}", label=_("Plan {length}", length=longer)),
        no=SettleLength.keep.button(f"{task.minutes} {task.id}", label=_("Keep {length}", length=now)),
    )


def clash_questions(session: Session) -> tuple[PendingQuestion, ...]:
    """Return the questions about conflicting rules that are not asked already."""
    asked = {frozenset(question.uids) for question in session.rules.memory_questions}
    return tuple(
        PendingQuestion(
            kind=PendingKind.RULES, sentence=each.sentence, which=settle_buttons(each.uids, each.names, both=None)
        )
        for each in rule_clashes(session)[:MOST_CLASHES]
        if asked.isdisjoint({frozenset(each.uids)})
    )


def meeting_questions(session: Session) -> tuple[PendingQuestion, ...]:
    """Return an offer for each rule that the card names with meetings: to allow them for this day."""
    return tuple(_meeting_question(session, breach) for breach in named_violations(session))


def _meeting_question(session: Session, breach: MeetingViolation) -> PendingQuestion:
    local = [local_meeting(session, meeting) for meeting in breach.meetings]
    named = [
        _("{title} at {span}", title=quote_title(meeting.title), span=clip_span(meeting, session.date))
        for meeting in local
    ]
    meetings, rule = join_words(named, MOST_MEETINGS), quote_title(build_reminder(breach.item).words, 200)
    if breach.item.record.source in {Source.USER, Source.FEEDBACK}:
        sentence = _("You have {meetings}, and you said: {rule}.", meetings=meetings, rule=rule)
    else:
        sentence = _("You have {meetings}, and a rule of yours says: {rule}.", meetings=meetings, rule=rule)
    spoken = label_text(_(AllowMeetings.action.label), meetings)
    allow = AllowMeetings.action.button(f"{breach.token} {breach.item.uid}", spoken=spoken)
    change = _change_button(breach.item.version, _("Change the rule"), sentence)
    return PendingQuestion(kind=PendingKind.MEETING, sentence=sentence, yes=allow, change=change)


def _change_button(version: Version, label: str, sentence: str) -> Button:
    """Return the button that opens the form of the rule that a question is about."""
    target = format_rule_target(version.seq, version.uid)
    return Button(label=label, action="form.rule", target=target, spoken=label_text(label, sentence))


def memory_questions(session: Session) -> tuple[PendingQuestion, ...]:
    """Return the questions about two constraints of which the newer one may count instead of the older one."""
    return tuple(map(settle_question, session.rules.memory_questions))


def settle_question(question: MemoryQuestion) -> PendingQuestion:
    """Return the question about two constraints with its answers."""
    if not question.replaces:
        which = settle_buttons(question.uids, question.names, both=_("Keep both"))
        return PendingQuestion(kind=PendingKind.RULES, sentence=question.sentence, which=which)
    newer, _older = question.uids
    return PendingQuestion(
        kind=PendingKind.REPLACES,
        sentence=question.sentence,
        yes=settle_button(question.uids, newer, _("Yes, replace it"))
        if question.keep is None
        else settle_button(question.uids, question.keep, _("Yes, one is enough")),
        no=settle_button(question.uids, None, _("Keep both")),
    )


def offer_questions(session: Session) -> tuple[PendingQuestion, ...]:
    """Return the offers of the open memory card: rules that ask for the same, or replace each other."""
    offers = () if session.thread.memory is None else session.thread.memory.offers
    return tuple(
        PendingQuestion(
            kind=PendingKind.RULES,
            sentence=offer.sentence,
            which=settle_buttons(offer.uids, offer.names, both=None if offer.kind is Kind.CIRCLE else _("Leave both")),
        )
        for offer in offers
    )


def conflict_buttons(question: Question, target: str) -> tuple[Button, Button]:
    """Return the two answers to a difference that the person and the plan both changed."""
    deleted = question.conflict.calendar is None
    labels = (_("Leave it off"), _("Add it again")) if deleted else (None, None)
    return (
        ResolveConflict.keep_calendar.button(target, label=labels[0]),
        ResolveConflict.keep_plan.button(target, label=labels[1]),
    )


def settle_buttons(uids: tuple[str, str], names: tuple[str, str], *, both: str | None) -> tuple[Button, ...]:
    """Return an answer for each of two rules, and one for both if that has a label."""
    labels = [(_("Keep “{name}”", name=name), uid) for uid, name in zip(uids, names, strict=True)]
    answers: list[tuple[str, str | None]] = [*labels, *(((both, None),) if both else ())]
    return tuple(settle_button(uids, keep, label) for label, keep in answers)


def settle_button(uids: tuple[str, str], keep: str | None, label: str) -> Button:
    """Return the button that answers which of two rules counts; without ``keep`` both do."""
    return SettleConstraints.action.button(RuleChoice(uids=uids, keep=keep).model_dump_json(), label=label)


def judge_button(
    verdict: ConstraintVerdict, uid: str, seq: int, *, label: str | None = None, about: str = ""
) -> Button:
    """Return an answer that judges one rule, in the version that was shown. Screen readers say what it is ``about``."""
    action = JudgeConstraint.verdicts[verdict]
    spoken = name_button(label or _(action.label), about) if about else ""
    return action.button(format_rule_target(seq, uid), label=label, spoken=spoken)


def set_aside_button(version: Version) -> Button:
    """Return the answer that relaxes a rule for the day."""
    before = len(_("Today without {rule}", rule=""))
    label = _("Today without {rule}", rule=quote_title(version.record.name, _LONGEST_LABEL - before - 2))
    return judge_button("set_aside", version.uid, version.seq, label=label)


def bring_options(session: Session) -> tuple[PendingQuestion, ...]:
    """Return the offers of further work: leftovers and the queue as one each, TickTick by task."""
    left, queued = find_left_over(session), list_offered(session, "queue")
    return (
        *((_bring_question(_("Left over from earlier days"), left, bring_left_over(session, left)),) if left else ()),
        *((_bring_question(_("In your queue"), queued, bring_queued(queued)),) if queued else ()),
        *(_bring_question(_("In TickTick"), [each], bring_row(each)) for each in list_offered(session, "ticktick")),
    )


def bring_left_over(session: Session, left: Sequence[OfferedInput]) -> Button:
    """Return the answer that brings all leftovers along."""
    label = ngettext("Bring it along", "Bring them along", len(left))
    ids = () if len(left) == len(session.open_work.offered) else tuple(each.task.id for each in left)
    return BringAlong.action.button(" ".join(ids), label=label)


def bring_queued(queued: Sequence[OfferedInput]) -> Button:
    """Return the answer that takes on all of the queue."""
    if len(queued) == 1:
        return bring_row(queued[0])
    ids = " ".join(each.task.id for each in queued)
    return BringAlong.action.button(ids, label=_("Add all {count} from the queue", count=len(queued)))


def bring_row(each: OfferedInput) -> Button:
    """Return the answer that takes on one task."""
    spoken = name_button(_(BringAlong.action.label), each.task.title)
    return BringAlong.action.button(each.task.id, spoken=spoken)


def fix_button(fix: Fix) -> Button:
    """Return the answer that applies an offered fix."""
    return ApplyFix.action.button(fix.id, label=truncate(fix.label, _LONGEST_LABEL))


def _all_questions(session: Session) -> Iterator[PendingQuestion]:
    stage = session.stage
    last = session.thread.last_words
    if last is not None:
        kind = PendingKind.WORDS if last.asks else PendingKind.QUEUE if last.of_queue else PendingKind.SAID
        yield PendingQuestion(kind=kind, sentence=last.bot)
    if stage is not Stage.DATE:
        yield from unsure_questions(session)
        yield from clash_questions(session)
        yield from meeting_questions(session)
        yield from memory_questions(session)
    if stage in {Stage.CAPTURE_INPUTS, Stage.SKELETON}:
        yield from length_questions(session)
    if stage is Stage.CAPTURE_INPUTS:
        yield from _open_work_questions(session)
    if stage is Stage.SKELETON:
        yield from _clash(session)
    if stage in {Stage.REFINE, Stage.REVIEW_COMMIT}:
        yield from _single(held_question(session), write_question(session))
        for question in open_questions(session):
            sentence = conflict_words(question.conflict, session.date, zone(session.tz))
            # A question that no card has shown must be asked first, so its token never matches.
            target = question_target(question, None if question.shown else "")
            yield PendingQuestion(
                kind=PendingKind.CALENDAR, sentence=sentence, which=conflict_buttons(question, target)
            )
        yield from _single(refit_question(session))
    yield from offer_questions(session)
    for fix in session.planning.fixes:
        yield PendingQuestion(
            kind=PendingKind.FIX,
            sentence=fix.label,
            yes=fix_button(fix),
        )


def _proposal_question(proposal: WaitingProposal) -> PendingQuestion:
    yes, no = AnswerProposal.apply.button(proposal.id), AnswerProposal.deny.button(proposal.id)
    if proposal.again:
        return PendingQuestion(kind=PendingKind.PROPOSAL_AGAIN, sentence=proposal.sentence, yes=yes)
    return PendingQuestion(kind=PendingKind.PROPOSAL, sentence=proposal.sentence, yes=yes, no=no)


def _single(*questions: PendingQuestion | None) -> Iterator[PendingQuestion]:
    yield from (question for question in questions if question is not None)


def _confirm_question(item: Applicable) -> PendingQuestion:
    version, words = item.version, build_reminder(item).words
    rule = describe_day_rule(read_day_rule(version.record.payload.day_rule or ""))
    sentence = _("You said “{words}”. Did I read that right? {day_rule}", words=words, day_rule=rule)
    return PendingQuestion(
        kind=PendingKind.RULE,
        sentence=sentence,
        yes=judge_button("accept", version.uid, version.seq, label=_("Yes"), about=rule),
        no=judge_button("decline", version.uid, version.seq, label=_("No such rule"), about=rule),
        change=_change_button(version, _("Change it"), sentence),
    )


def _clash(session: Session) -> Iterator[PendingQuestion]:
    if session.planning.clash is None:
        return
    items = {item.uid: item for item in constraints_for_draft(session).applicable}
    members = [items[uid] for uid in session.planning.clash.uids if uid in items]
    if not members:
        return
    told_each = " ".join(build_reminder(item).sentence for item in members)
    yield PendingQuestion(
        kind=PendingKind.RULES,
        sentence=_("{rules} Which one shall not count today?", rules=told_each),
        which=tuple(set_aside_button(item.version) for item in members),
    )


def _open_work_questions(session: Session) -> Iterator[PendingQuestion]:
    things = open_work_of_missed(session)
    if things:
        named = ", ".join(each.task.title for each in things)
        yield PendingQuestion(kind=PendingKind.MISSED, sentence=_("Still open from missed days: {named}.", named=named))
    yield from bring_options(session)


def _bring_question(where: str, things: Sequence[OfferedInput], button: Button) -> PendingQuestion:
    named = ", ".join(each.task.title for each in things)
    return PendingQuestion(kind=PendingKind.BRING, sentence=label_text(where, f"{named}."), yes=button)
