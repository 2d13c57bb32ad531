"""Reading JSON that comes from outside."""

import json
import math
from typing import Any, NoReturn


def read_json(given: str | bytes) -> Any:
    """Return the value of a JSON text; raises `ValueError` for what is none, or could not be stored or sent on.

    Half a surrogate pair and numbers that are not finite are such; Python's own parser lets both through.
    """
    text = given.encode() if isinstance(given, str) else given
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if b"\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
