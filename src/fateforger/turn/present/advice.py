"""Suggestions that improve the plan, with buttons."""

from __future__ import annotations

from fateforger.session.cards import Controls, Note, Part, plain
from fateforger.session.model import Session
from fateforger.session.pending import fix_option

MOST_FINDINGS = 3
"""Findings listed after the next step; the others are only counted."""


def list_suggestions(session: Session) -> tuple[Part, ...]:
    """Return the findings after the first, which is the next step, and buttons for the fixes that were tried."""
    return (*_findings(session), *_buttons(session))


def _findings(session: Session) -> tuple[Part, ...]:
    if session.quality is None:
        return ()
    others = [found.text for found in session.quality.findings[1:]]
    if not others:
        return ()
    lines = [f"- {plain(text, 300)}" for text in others[:MOST_FINDINGS]]
    if len(others) > MOST_FINDINGS:
        lines.append(f"- … and {len(others) - MOST_FINDINGS} more.")
    return (Note(text="\n".join(("What would make it better still:", *lines))),)


def _buttons(session: Session) -> tuple[Part, ...]:
    buttons = tuple(fix_option(fix).button() for fix in session.fixes)
    return (Controls(items=buttons),) if buttons else ()
