"""Interpret replies in the background for rules to remember, with a model client of their own (S1, S116)."""

from __future__ import annotations

import asyncio
import logging

from fateforger.background.extracting import Interpret, format_understood_id
from fateforger.background.lane import TryLater
from fateforger.constraints.credentials import REFUSED
from fateforger.errors import ModelAuthFailed, ModelBusy, ModelError, ModelRejected, UserError
from fateforger.ports import Model
from fateforger.session.commands import AddExtracted, TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.turn.constants import UNDERSTAND_LIMIT
from fateforger.turn.interpreting import build_records, interpret

log = logging.getLogger(__name__)


def build_interpreter(model: Model, *, seconds: float = UNDERSTAND_LIMIT) -> Interpret:
    """Return a function that interprets a reply with the model, within the time limit in ``seconds``."""

    async def understand(reply: TimeboxingUserReply, session: Session) -> AddExtracted | None:
        try:
            async with asyncio.timeout(seconds):
                interpretation = await interpret(reply, session, model)
        except TimeoutError:
            raise TryLater("The language model took too long.") from None
        except (ModelAuthFailed, ModelRejected) as error:
            # The message may quote the model, and thereby the person's own words.
            raise UserError(f"The language model refuses ({type(error).__name__}).") from None
        except ModelError as error:
            wait = error.retry_after if isinstance(error, ModelBusy) else None
            raise TryLater(f"The language model gave no answer ({type(error).__name__}).", wait) from None
        found = build_records(interpretation, session)
        trouble = REFUSED if interpretation.holds_secret else None
        # The question may contain the secret, too.
        question = None if trouble else interpretation.question
        log.info("constraints extracted session=%s command=%s count=%d", session.id, reply.command_id, len(found))
        if not (found or question or trouble):
            return None
        return AddExtracted(
            command_id=format_understood_id(reply.command_id),
            session_id=session.id,
            of=reply.command_id,
            at=reply.at,
            records=found,
            question=question,
            trouble=trouble,
        )

    return understand
