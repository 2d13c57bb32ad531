"""The language models of the settings: their endpoints, and their checks for ``doctor``.

Importing this module imports the client libraries, which is slow.
"""

from __future__ import annotations

from fateforger.adapters.model import PROVIDERS, Answers, Endpoint, EndpointReport, Price, probe_model
from fateforger.app.resources import Check
from fateforger.config import Settings
from fateforger.errors import BadInput, ModelAuthFailed, ModelError, UserError
from fateforger.ports.model import Role


def build_endpoint(settings: Settings, model: str) -> Endpoint:
    """Return the address, model and options of the language model. Raises ``BadInput`` with the setting to fix."""
    return Endpoint(
        url=_read_url(settings),
        model=model,
        key=_read_key(settings),
        roles=_read_roles(settings),
        answers=Answers(settings.model_answers),
        prices={name: _parse_price(name, price) for name, price in settings.model_prices.items()},
    )


def _read_roles(settings: Settings) -> dict[Role, str]:
    """Return the models of single roles. Raises ``BadInput`` for a role that does not exist."""
    known = {role.value: role for role in Role}
    for name in settings.model_roles:
        if name not in known:
            raise BadInput(
                f"FATEFORGER_MODEL_ROLES names “{name}”; the roles are {', '.join(known)}.", where="model_roles"
            )
    return {known[name]: model for name, model in settings.model_roles.items()}


def _read_url(settings: Settings) -> str:
    if settings.model_url is not None:
        if not settings.model_url.startswith(("http://", "https://")):
            raise BadInput("FATEFORGER_MODEL_URL should begin with http:// or https://.", where="model_url")
        return settings.model_url.rstrip("/")
    if settings.model_provider is None:
        raise BadInput(
            f"FATEFORGER_MODEL is set; say where it is with FATEFORGER_MODEL_PROVIDER ({', '.join(PROVIDERS)}) or"
            " FATEFORGER_MODEL_URL.",
            where="model_provider",
        )
    return PROVIDERS[settings.model_provider].url


def _read_key(settings: Settings) -> str:
    if settings.model_key is not None:
        return settings.model_key.get_secret_value()
    if settings.model_url is None and PROVIDERS[settings.model_provider or ""].needs_key:
        raise BadInput(f"{settings.model_provider} needs a key; set FATEFORGER_MODEL_KEY.", where="model_key")
    return ""


def _parse_price(name: str, price: str) -> Price:
    prompt, sign, completion = price.partition("/")
    try:
        if sign:
            return Price(float(prompt), float(completion))
    except ValueError:
        pass
    raise BadInput(f"The price of {name} should read like 0.25/2.00.", where="model_prices")


SLOW = 10.0
"""Seconds for a short answer above which a model is too slow for a conversation."""


def check_settings(settings: Settings, model: str) -> Check:
    """Report the settings without sending a request."""
    try:
        endpoint = build_endpoint(settings, model)
    except UserError as error:
        return Check("model", "broken", error.message, "Mend that setting, or leave FATEFORGER_MODEL out.")
    return Check("model", "real", f"{model} at {endpoint.url}; `fateforger doctor --model` asks it.")


async def check_models(settings: Settings, model: str) -> tuple[Check, ...]:
    """Ask each model once; check its answer, its adherence to a JSON schema, and its speed."""
    try:
        endpoint = build_endpoint(settings, model)
    except UserError:
        return (check_settings(settings, model),)
    by_model: dict[str, list[Role]] = {}
    for role in Role:
        by_model.setdefault(endpoint.model_for(role), []).append(role)
    return tuple([await _check_model(endpoint, roles) for roles in by_model.values()])


async def _check_model(endpoint: Endpoint, roles: list[Role]) -> Check:
    name = endpoint.model_for(roles[0])
    try:
        report = await probe_model(endpoint, roles[0])
    except ModelError as error:
        fix = (
            "Check FATEFORGER_MODEL_KEY."
            if isinstance(error, ModelAuthFailed)
            else "Check the FATEFORGER_MODEL settings."
        )
        return Check("model", "broken", f"{name}: {error.message}", fix)
    return _report_check(endpoint, report, f"{name} ({', '.join(roles)})")


def _report_check(endpoint: Endpoint, report: EndpointReport, name: str) -> Check:
    if report.answers is None:
        fix = "Choose a model that can answer in JSON."
        return Check("model", "broken", f"{name} answers, but not with the JSON it was asked for.", fix)
    spoken = f"{name} answers in {report.seconds:.1f} s and keeps to {_WORDS[report.answers]}."
    if report.seconds > SLOW:
        return Check(
            "model", "real", spoken, "It is slow for a conversation; a smaller model may serve decide and gate."
        )
    if report.answers is not endpoint.answers:
        return Check("model", "real", spoken, f"Set FATEFORGER_MODEL_ANSWERS={report.answers.value}.")
    return Check("model", "real", spoken)


_WORDS = {
    Answers.SCHEMA: "a JSON schema",
    Answers.JSON: "JSON",
    Answers.TEXT: "JSON when asked to, without being held to it",
}
