"""Check the language models for ``doctor``."""

from __future__ import annotations

from fateforger.adapters.model import Answers, Endpoint, EndpointReport, probe_model
from fateforger.bootstrap.check import Check
from fateforger.bootstrap.endpoint import build_endpoint
from fateforger.config import Settings
from fateforger.errors import ModelAuthFailed, ModelError, UserError
from fateforger.ports import Role

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
    """Ask each model once: does it answer, how strictly does it follow a JSON schema, and how fast is it?"""
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
