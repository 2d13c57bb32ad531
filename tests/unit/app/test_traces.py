"""Traces are exported only if the standard variables ask for it; without them, no module for it is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fateforger.app.ops import wants_traces
from fateforger.errors import BadInput
from fateforger.ports.traces import NO_SPAN, begin_trace, find_position, trace

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "true"}, False),
        ({**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, True),
    ],
)
def test_the_standard_variables_decide(environment: dict[str, str], wanted: bool) -> None:  # noqa: FBT001  a case
    assert wants_traces(environment) is wanted


@pytest.mark.parametrize(
    ("name", "value"), [("OTEL_TRACES_EXPORTER", "zipkin"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]
)
def test_another_kind_is_refused_at_the_start(name: str, value: str) -> None:
    with pytest.raises(BadInput, match=name):
        wants_traces({**ENDPOINT, name: value})


def test_without_a_recorder_nothing_is_recorded() -> None:
    with begin_trace("intake") as span, trace("job", position="00-1-2-01") as below:
        assert (span, below, find_position()) == (NO_SPAN, NO_SPAN, "")


def test_nothing_of_it_is_loaded_unless_it_is_asked_for() -> None:
    """S363: the program starts as fast as before, also where the packages are not installed."""
    code = (
        "import asyncio, sys, fateforger.app.program\n"
        "from fateforger.app.ops import export_traces\n"
        "async def run():\n"
        "    async with export_traces(): pass\n"
        "asyncio.run(run())\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
