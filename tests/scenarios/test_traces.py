"""One trace leads from a click to the calendar and back to Slack, through jobs and messages, to a receiver of OTLP."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.scenarios.day import STEPS, THREE_TASKS
from tests.scenarios.person import eventually
from tests.scenarios.program import Program
from tests.scenarios.test_whole_day import MONDAY

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra traces is not installed")
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

pytestmark = [pytest.mark.process, pytest.mark.extra]


@dataclass
class Receiver:
    """A receiver of OTLP over HTTP on this machine, which keeps all spans."""

    spans: dict[bytes, Span] = field(default_factory=dict)
    services: set[str] = field(default_factory=set)
    port: int = 0

    def take(self, content: bytes) -> None:
        for of_service in ExportTraceServiceRequest.FromString(content).resource_spans:
            about = {each.key: each.value.string_value for each in of_service.resource.attributes}
            self.services.add(about["service.name"])
            for scope in of_service.scope_spans:
                self.spans |= {span.span_id: span for span in scope.spans}

    def find(self, name: str, **wanted: str) -> list[Span]:
        return [s for s in list(self.spans.values()) if s.name == name and wanted.items() <= attributes(s).items()]

    def path(self, span: Span) -> list[str]:
        """Return the names of a span and of those above it, the first one last."""
        names = [span.name]
        while span.parent_span_id:
            span = self.spans[span.parent_span_id]
            names.append(span.name)
        return names


def attributes(span: Span) -> dict[str, str]:
    return {each.key: each.value.string_value for each in span.attributes}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            kept.take(gzip.decompress(content) if self.headers.get("Content-Encoding") == "gzip" else content)
            self.send_response(200 if self.path == "/v1/traces" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of its base
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield kept
        server.shutdown()
        thread.join()


def test_one_trace_from_a_click_to_the_calendar(tmp_path: Path, receiver: Receiver) -> None:
    """S363: the standard variables alone switch it on; spans name no words, no people and no addresses."""
    asked = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{receiver.port}", "OTEL_BSP_SCHEDULE_DELAY": "200"}
    asked["FATEFORGER_NOW"] = MONDAY  # in the afternoon, not all of the tasks would find a place
    program = Program(tmp_path / "data", asked).start()
    try:
        person = program.person()
        for _, step in STEPS:
            step(person)
        assert program.stop() == 0, "what was not sent yet is sent at the end"
    finally:
        if program.process is not None:
            program.kill()
    created = receiver.find("calendar", operation="create-event", provider="caldav", code="ok")
    assert len(created) == 5
    for span in created:
        assert receiver.path(span) == ["calendar", "effect", "turn", "job", "intake"]
    assert {span.trace_id for span in created} == {created[0].trace_id}
    answers = [s for s in receiver.find("slack", code="ok") if s.trace_id == created[0].trace_id]
    eventually(lambda: answers, "calls to Slack of the same trace")
    assert ["slack", "message"] in [receiver.path(span)[:2] for span in answers]
    assert {receiver.path(span)[-1] for span in answers} == {"intake"}
    assert receiver.services == {"fateforger"}
    said = "\n".join(str(span) for span in receiver.spans.values())
    titles = [str(value) for name, value in THREE_TASKS.items() if name.startswith("task_")]
    assert [words for words in (*titles, person.user, person.channel, "http://") if words in said] == []
