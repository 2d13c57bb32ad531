"""The log of the program: lines for people, or JSON for a log store."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Literal

from fateforger.masks import hide_secrets
from fateforger.ports.traces import find_cause
from fateforger.text import clean_text

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def configure_logging(form: Literal["text", "json"], level: str) -> None:
    """Log to stderr in ``form``, from ``level`` (a name of :mod:`logging`, such as ``warning``) upwards.

    Libraries name addresses, and with them people's accounts, in their lines of level ``info``: those are left out.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if form == "json" else TextLines(_TEXT))
    logging.basicConfig(level="WARNING" if level == "info" else level.upper(), handlers=[handler], force=True)
    logging.getLogger("fateforger").setLevel(level.upper())


class TextLines(logging.Formatter):
    """Lines for people, without secrets. Further lines of a record are indented, so that no title can forge a line."""

    def format(self, record: logging.LogRecord) -> str:
        return clean_text(hide_secrets(super().format(record))).replace("\n", "\n    ")


class JsonLines(logging.Formatter):
    """One JSON object a line: ``time`` (UTC), ``level``, ``logger``, ``message``, and ``cause`` where one is known.

    ``cause`` is the id of the command or the job that a line belongs to: the same from a click to the calendar.
    """

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        cause = find_cause()
        if cause:
            line["cause"] = cause
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        line = {name: clean_text(hide_secrets(value)) for name, value in line.items()}
        return json.dumps(line, ensure_ascii=False)
