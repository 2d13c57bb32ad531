"""The arguments of a Web API call, however they were encoded."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request

from localslack.errors import SlackError, bad_arguments
from localslack.wire import read_json


class Arguments:
    """Query string, form and JSON body merged into one mapping; JSON null and absence are the same."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = {key: value for key, value in given.items() if value is not None}

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def require(self, *names: str) -> None:
        """Refuse the call when one of these is missing or empty."""
        missing = [name for name in names if self._given.get(name, "") == ""]
        if missing:
            raise bad_arguments(*(f"missing required field: {name}" for name in missing))

    def text(self, name: str, default: str = "") -> str:
        value = self._given.get(name, default)
        if isinstance(value, (dict, list)):
            raise bad_arguments(f"must provide a string [json-pointer:/{name}]")
        return str(value)

    def optional_text(self, name: str) -> str | None:
        return self.text(name) or None

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Booleans come as JSON, as `0`/`1` and as `true`/`false`."""
        value = self._given.get(name, default)
        return value if isinstance(value, bool) else str(value).lower() in {"1", "true"}

    def integer(self, name: str, default: int) -> int:
        try:
            return int(float(self._given.get(name, default)))
        except (TypeError, ValueError, OverflowError):
            raise bad_arguments(f"must be an integer [json-pointer:/{name}]") from None

    def structure(self, name: str, error: SlackError | None = None) -> Any:
        """Return a nested value, given as JSON or as a string of JSON; None when absent."""
        value = self._given.get(name)
        if not isinstance(value, str):
            return value
        if value == "":
            return None
        try:
            return read_json(value)
        except ValueError:
            raise error or bad_arguments(f"must be valid json [json-pointer:/{name}]") from None


async def read_arguments(request: Request) -> Arguments:
    """Collect the arguments of a request; raises `SlackError` for a body that cannot be read."""
    given: dict[str, Any] = dict(request.query_params)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST":
        if kind == "application/json":
            given |= _json_object(await request.body())
        elif kind in {"application/x-www-form-urlencoded", "multipart/form-data"}:
            async with request.form() as form:
                given |= {key: value for key, value in form.items() if not isinstance(value, UploadFile)}
    return Arguments(given)


def _json_object(body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    try:
        document = read_json(body)
    except ValueError:
        raise SlackError("invalid_json") from None
    if not isinstance(document, dict):
        raise SlackError("json_not_object")
    return document
