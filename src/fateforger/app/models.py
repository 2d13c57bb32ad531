"""The language models of the settings: their endpoints, and their checks for ``doctor``.

Importing this module imports the client libraries, which is slow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from fateforger.adapters.model.client import SUM, EndpointReport, LengthReport, probe_length, probe_model
from fateforger.adapters.model.endpoint import (
    OLLAMA_CONTEXT,
    OTHER,
    PROVIDERS,
    Answers,
    Endpoint,
    Price,
    Thinking,
)
from fateforger.app.resources import Check, State
from fateforger.config import Settings
from fateforger.conversation.language.answers import PatchWords
from fateforger.conversation.language.model_calls import system_text
from fateforger.errors import BadInput, ModelAuthFailed, ModelError, ModelRejected, ModelTimedOut, UserError
from fateforger.masks import mask_address
from fateforger.ports.model import Role, estimate_tokens
from fateforger.session.stages import DECISION_LIMIT, PATCH_LIMIT


def build_endpoint(settings: Settings, model: str) -> Endpoint:
    """Return the address, model and options of the language model. Raises ``BadInput`` with the setting to fix."""
    url, key = _read_url(settings), _read_key(settings)
    provider = OTHER if settings.model_provider is None else PROVIDERS[settings.model_provider]
    return Endpoint(
        url=url,
        model=model,
        key=key,
        provider=provider,
        roles=_read_roles(settings),
        answers=provider.answers if settings.model_answers is None else Answers(settings.model_answers),
        thinking=provider.thinking if settings.model_thinking is None else Thinking(settings.model_thinking),
        seconds=settings.model_seconds or provider.seconds,
        context=settings.model_context or provider.context,
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
    return Check("model", "real", f"{model} at {mask_address(endpoint.url)}; `fateforger doctor --model` asks it.")


async def check_models(settings: Settings, model: str) -> tuple[Check, ...]:
    """Ask each model a short and a long question; check the form of its answer, its speed, and what it really reads."""
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
    named = f"{name} ({', '.join(roles)})"
    if report.wrong is not None:
        fix = "Choose a larger model: this one would misread what it is told."
        return Check("model", "broken", f"{named} answers in JSON, but says that {SUM} is {report.wrong}.", fix)
    if report.answers is None:
        fix = "Choose a model that can answer in JSON."
        return Check("model", "broken", f"{named} answers, but not with the JSON it was asked for.", fix)
    spoken = f"{named} answers in {report.seconds:.1f} s and keeps to {_WORDS[report.answers]}."
    state, measured, fix = await _check_full_day(endpoint, roles[-1])
    advice = (*_advise(endpoint, report, report.answers), fix)
    return Check("model", state, f"{spoken} {measured}", " ".join(filter(None, advice)))


FULL_DAY = 7_500
"""Tokens of the longest prompts: a change of a day with thirty blocks and many rules, after a long message."""


def _build_long_text() -> str:
    """Return a text of the length and the kind of the longest prompts."""
    rows = (f"  b{number},Report for the board of the club,DW,09:00,10:30,90,null" for number in range(1_000))
    text = system_text("patch", PatchWords)
    while estimate_tokens(text) < FULL_DAY:
        text = f"{text}\n{next(rows)}"
    return text


async def _check_full_day(endpoint: Endpoint, role: Role) -> tuple[State, str, str]:
    """Return a state, a sentence and a fix after a prompt that is as long as the longest ones."""
    size, limit = f"a full day (about {FULL_DAY:,} tokens)", PATCH_LIMIT * endpoint.seconds / DECISION_LIMIT
    try:
        length = await probe_length(endpoint, role, _build_long_text())
    except ModelTimedOut:
        return "broken", f"For {size} it takes too long; a change has {limit:.0f} s.", _QUICKER
    except ModelRejected:
        return "broken", f"It refuses {size}.", _advise_context(endpoint)
    except ModelError as error:
        return "broken", f"Asked about {size}, it fails: {error.message}", "Look into the log of the server."
    if not length.complete:
        lost = f"Of {size} it does not see the beginning, so it would miss its instructions."
        return "broken", lost, _advise_context(endpoint)
    rate = "" if length.rate is None else f", {length.rate:.0f} tokens a second"
    taken = f"For {size} it takes {length.seconds:.1f} s{rate}."
    if length.seconds > limit:
        return "broken", f"{taken} A change has only {limit:.0f} s.", _advise_time(length)
    return "real", taken, ""


def _advise(endpoint: Endpoint, report: EndpointReport, answers: Answers) -> Iterator[str]:
    """Yield what to set after the short question."""
    ladder = list(Answers)
    if ladder.index(answers) > ladder.index(endpoint.answers):
        yield f"Set FATEFORGER_MODEL_ANSWERS={answers}."
    elif answers is not endpoint.answers:
        yield f"FATEFORGER_MODEL_ANSWERS={answers} would hold it to the exact form, for more tokens."
    if report.thinks and endpoint.thinking is Thinking.OFF:
        yield "It thinks before each answer, and cannot be told not to; a model that need not is quicker."
    elif report.thinks:
        yield "It thinks before each answer; FATEFORGER_MODEL_THINKING=off is quicker."
    if report.seconds > SLOW:
        yield "It is slow for a conversation; a smaller model may serve decide and gate."


def _advise_context(endpoint: Endpoint) -> str:
    if endpoint.context is not None and endpoint.context < OLLAMA_CONTEXT:
        return f"Set FATEFORGER_MODEL_CONTEXT={OLLAMA_CONTEXT}."
    if endpoint.provider.native:
        return "Choose a model with a longer context, or more memory for this one; `ollama ps` shows what it has."
    return (
        f"Give the server a context of {OLLAMA_CONTEXT} tokens, or more (vLLM: --max-model-len). If it is Ollama, set"
        " FATEFORGER_MODEL_PROVIDER=ollama, and it is asked for that."
    )


def _advise_time(length: LengthReport) -> str:
    enough = math.ceil(1.5 * length.seconds * DECISION_LIMIT / PATCH_LIMIT / 10) * 10
    return f"Set FATEFORGER_MODEL_SECONDS={enough}, or choose a smaller model."


_QUICKER = "Choose a smaller model, or a quicker machine."
_WORDS = {
    Answers.SCHEMA: "a JSON schema",
    Answers.JSON: "JSON",
    Answers.TEXT: "JSON when asked to, without being held to it",
}
