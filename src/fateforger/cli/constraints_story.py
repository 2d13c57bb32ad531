"""``fateforger constraints story``: the history of each constraint in one conversation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.constraints_store import add_store_options
from fateforger.cli.documents import write_json
from fateforger.cli.options import load_settings
from fateforger.errors import BadInput

if TYPE_CHECKING:
    from fateforger.config import Settings
    from fateforger.session.story import ConstraintHistory

_WORDS = {
    "extracted": "said here",
    "stored": "stored",
    "waiting": "waits to be stored",
    "selected": "selected for the day",
    "set_aside": "set aside here",
    "applied": "applied",
}


@click.command("story")
@click.argument("session", metavar="SESSION")
@add_store_options
def story_command(ctx: click.Context, session: str, as_json: bool, **where: str | None) -> None:
    """List what was selected, extracted, stored and applied in the conversation SESSION, constraint by constraint. Its
    id is in each line of the log about it."""
    chapters = asyncio.run(_read_story(load_settings(ctx, **where), session))
    if as_json:
        write_json({"session": session, "constraints": [_to_document(chapter) for chapter in chapters]})
        return
    if not chapters:
        click.echo("No constraint had a part in that conversation.")
    for chapter in chapters:
        click.echo(f"{chapter.name or 'no longer known'}  [{chapter.uid}]")
        click.echo(f"       {', '.join(_WORDS[event] for event in chapter.events)}")


def _to_document(chapter: ConstraintHistory) -> dict[str, Any]:
    return {"uid": chapter.uid, "name": chapter.name, "events": list(chapter.events)}


async def _read_story(settings: Settings, session_id: str) -> tuple[ConstraintHistory, ...]:
    """Return the history of a session. Raises ``BadInput`` if it does not exist."""
    from fateforger.bootstrap.ground import open_state  # noqa: PLC0415  heavy
    from fateforger.session.story import constraint_histories  # noqa: PLC0415  heavy

    store = await open_state(settings)
    try:
        session = await store.sessions.load(session_id)
        if session is None:
            raise BadInput("There is no conversation with that id here.", where="session")
        return constraint_histories(session, await store.constraints.of(session.user_id))
    finally:
        await store.aclose()
