"""Convert the settings of the language model to the form that its adapter takes."""

from __future__ import annotations

from fateforger.adapters.model import PROVIDERS, Answers, Endpoint, Price
from fateforger.config import Settings
from fateforger.errors import BadInput
from fateforger.ports import Role


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
