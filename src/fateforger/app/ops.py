"""Probes and figures for operators, the log of the program, and traces where ``OTEL_*`` variables ask for them.

The provider of traces is not made the global one: libraries that trace what they do, such as AutoGen, would add
people's words.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Protocol

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from fateforger import __version__
from fateforger.adapters.store.store import Store
from fateforger.adapters.store.upkeep import measure_backlog
from fateforger.app.web import WebServer
from fateforger.config import Settings
from fateforger.conversation.memory_service import MemoryService
from fateforger.errors import BadInput, StoreError
from fateforger.masks import hide_secrets
from fateforger.metrics import LANE_AGE_SECONDS, LANE_JOBS, OUTBOX_MESSAGES
from fateforger.ports.clock import Clock
from fateforger.ports.traces import NO_SPAN, Span, find_cause, record_with
from fateforger.text import clean_text
from fateforger.workers.memory import Indexer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span as OtelSpan


_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def configure_logging(form: Literal["text", "json"], level: str) -> None:
    """Log to stderr in ``form``, from ``level`` (a name of :mod:`logging`, such as ``warning``) upwards.

    Libraries name addresses, and with them people's accounts, in their lines of level ``info``: those are left out.
    """
    handler = logging.StreamHandler()
    handler.addFilter(_is_worth_a_line)
    handler.setFormatter(JsonLines() if form == "json" else TextLines(_TEXT))
    logging.basicConfig(level="WARNING" if level == "info" else level.upper(), handlers=[handler], force=True)
    logging.getLogger("fateforger").setLevel(level.upper())


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Check that a record is more than canceled work, which AutoGen logs as an error with a hundred lines."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


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


PATH = "/health"
_PATIENCE = 3.0
"""Seconds to wait for the database: fewer than a caller waits, so that no check outlives its request."""


class SlackConnection(Protocol):
    """The connection to Slack, as far as probes report it."""

    @property
    def mode(self) -> Literal["socket", "http"]:
        """The way in which payloads arrive."""
        ...

    async def is_connected(self) -> bool:
        """Check whether payloads can arrive."""
        ...


class Operations:
    """Answers about the running program.

    ``/livez`` says that it runs, and never depends on anything else, so that no outage of Slack or of the database
    restarts it. ``/readyz`` and ``/health`` answer 200 while the database answers and Slack is connected, otherwise
    503; JSON says which one failed, and reports the constraint store and its index, which do not affect the status.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.slack: SlackConnection | None = None
        self.indexing: Indexer | None = None
        self.memory: MemoryService | None = None

    @property
    def route(self) -> Route:
        """The route of the local page, for ``fateforger health``."""
        return Route(PATH, self._check)

    async def serve(self, stack: AsyncExitStack, settings: Settings) -> str | None:
        """Serve on the port that the settings give and return its address; ``None`` without one.

        Any name of this host is answered, because probes use its address. Raises ``BadInput`` if the port is taken.
        """
        if settings.ops_port is None:
            return None
        server = WebServer(settings.host, settings.ops_port, any_host=True, named="FATEFORGER_OPS_PORT")
        stack.callback(server.close)
        stack.push_async_callback(server.stop)
        routes = [
            Route("/livez", self._live),
            Route("/readyz", self._check),
            Route("/metrics", self._measure),
        ]
        await server.start(Starlette(routes=routes))
        return server.url

    async def _live(self, _request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def _check(self, _request: Request) -> Response:
        well = {
            "database": await self._check_database(),
            "slack": self.slack is not None and await self.slack.is_connected(),
        }
        mode = None if self.slack is None else self.slack.mode
        memory = None if self.indexing is None else self.indexing.trouble or self.indexing.loss
        rules = None if self.memory is None else self.memory.trouble
        said = {
            "ok": all(well.values()),
            **well,
            "slack_mode": mode,
            "memory": memory is None,
            "memory_trouble": memory,
            "constraints": rules is None,
            "constraints_trouble": rules,
        }
        return JSONResponse(said, status_code=200 if said["ok"] else 503)

    async def _check_database(self) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._store.sessions.check()
        except (StoreError, TimeoutError):
            return False
        return True

    async def _measure(self, _request: Request) -> Response:
        """Answer with all figures; what waits in the database is left out while it does not answer."""
        for figure in (LANE_JOBS, LANE_AGE_SECONDS):
            figure.clear()
        try:
            async with asyncio.timeout(_PATIENCE):
                backlog = await measure_backlog(self._store.database, self._clock.now())
        except (StoreError, TimeoutError):
            OUTBOX_MESSAGES.set(float("nan"))
        else:
            OUTBOX_MESSAGES.set(backlog.messages)
            for lane, count in backlog.jobs.items():
                LANE_JOBS.labels(lane).set(count)
                LANE_AGE_SECONDS.labels(lane).set(backlog.seconds[lane])
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
