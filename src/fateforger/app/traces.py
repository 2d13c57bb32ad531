"""Export of traces by OpenTelemetry, for a program whose ``OTEL_*`` variables ask for it.

The provider is not made the global one: libraries that trace what they do, such as AutoGen, would add people's words.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from fateforger import __version__
from fateforger.errors import BadInput
from fateforger.masks import hide_secrets
from fateforger.ports.traces import NO_SPAN, Span, record_with

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span as OtelSpan

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
_EXPORTER = "OTEL_TRACES_EXPORTER"
_MISSING = "Traces need packages that are not installed here; run: pip install 'fateforger[traces]'."


def wants_traces(environment: Mapping[str, str]) -> bool:
    """Check whether the standard variables ask for traces. Raises ``BadInput`` for a kind that there is not."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environment.get(_EXPORTER, "").strip()
    if exporter not in {"", "none", "otlp"}:
        raise BadInput(f"{_EXPORTER} can be otlp or none, not {exporter}.", where=_EXPORTER)
    if exporter == "none" or not (exporter or any(environment.get(name) for name in _ENDPOINTS)):
        return False
    for name in _PROTOCOLS:
        if environment.get(name, _PROTOCOL) != _PROTOCOL:
            raise BadInput(f"{name} has to be {_PROTOCOL}; I speak no other protocol.", where=name)
    return True


@asynccontextmanager
async def export_traces() -> AsyncIterator[None]:
    """Export traces until the block ends, if that is wanted; otherwise load nothing. Raises ``BadInput``."""
    if not wants_traces(os.environ):
        yield
        return
    provider = _open_provider()
    try:
        with record_with(OtelRecorder(provider)):
            yield
    finally:
        await asyncio.to_thread(provider.shutdown)  # sends what is left


def _open_provider() -> TracerProvider:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415  optional
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  optional
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415  optional
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415  optional
    except ModuleNotFoundError:
        raise BadInput(_MISSING, where=_EXPORTER) from None
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    about = {"service.version": __version__, **({} if named else {"service.name": "fateforger"})}
    # Nothing of the process or of the machine is read, unless OTEL_EXPERIMENTAL_RESOURCE_DETECTORS asks for it.
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class OtelRecorder:
    """Implements :class:`fateforger.ports.traces.Recorder` by OpenTelemetry."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry import trace  # noqa: PLC0415  only for those who trace
        from opentelemetry.context import Context  # noqa: PLC0415  only for those who trace
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415  only for those who trace
            TraceContextTextMapPropagator,
        )

        self._tracer = provider.get_tracer("fateforger", __version__)
        self._api = trace
        self._outside = Context
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def begin(self, name: str, attributes: Mapping[str, str]) -> Iterator[Span]:
        with self._tracer.start_as_current_span(
            name,
            context=self._outside(),
            attributes=_hide(attributes),
            record_exception=False,  # its text may quote a person
            set_status_on_exception=False,
        ) as span:
            yield _Attributes(span)

    @contextmanager
    def go_on(self, name: str, attributes: Mapping[str, str], position: str) -> Iterator[Span]:
        context = self._propagator.extract({"traceparent": position}, context=self._outside()) if position else None
        if not self._api.get_current_span(context).get_span_context().is_valid:
            yield NO_SPAN
            return
        with self._tracer.start_as_current_span(
            name, context=context, attributes=_hide(attributes), record_exception=False, set_status_on_exception=False
        ) as span:
            yield _Attributes(span)

    def find_position(self) -> str:
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier.get("traceparent", "")


def _hide(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name: hide_secrets(value) for name, value in attributes.items()}


class _Attributes:
    """A span of OpenTelemetry as a :class:`~fateforger.ports.traces.Span`."""

    def __init__(self, span: OtelSpan) -> None:
        self._span = span

    def set_attribute(self, key: str, value: str) -> None:
        self._span.set_attribute(key, hide_secrets(value))
