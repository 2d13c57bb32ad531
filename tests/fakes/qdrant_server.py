"""Qdrant's HTTP, as far as the index uses it, over the client library's own in-memory engine.

It is no fake of a port: the unmodified client talks to it. What it cannot tell: limits, clusters and strict mode of a
real server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qdrant_client import QdrantClient
from qdrant_client.http import models
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

KEY = "qdrant-key"


class QdrantServer:
    """``app`` is to be served; every request needs the key."""

    def __init__(self) -> None:
        self._engine = QdrantClient(":memory:")
        self.mark_indexed: list[str] = []
        routes: list[tuple[str, str, Callable[[str, Any], Any]]] = [
            ("GET", "", self._names),
            ("GET", "/{name}", lambda name, _: self._engine.get_collection(name)),
            ("PUT", "/{name}", self._create),
            ("DELETE", "/{name}", lambda name, _: self._engine.delete_collection(name)),
            ("PUT", "/{name}/index", self._index),
            ("PUT", "/{name}/points", self._upsert),
            ("POST", "/{name}/points", self._retrieve),
            ("POST", "/{name}/points/query", self._query),
            ("POST", "/{name}/points/scroll", self._scroll),
            ("POST", "/{name}/points/count", self._count),
            ("POST", "/{name}/points/delete", self._delete),
        ]
        self.app = Starlette(
            routes=[Route(f"/collections{path}", self._answering(work), methods=[verb]) for verb, path, work in routes]
        )

    def _answering(self, work: Callable[[str, Any], Any]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            if request.headers.get("api-key") != KEY:
                return JSONResponse({"status": {"error": "Invalid api-key"}}, status_code=403)
            body = await request.json() if await request.body() else None
            result = work(request.path_params.get("name", ""), body)
            plain = result.model_dump(mode="json") if hasattr(result, "model_dump") else result
            return JSONResponse({"result": plain, "status": "ok", "time": 0.0})

        return answer

    def _names(self, _: str, __: Any) -> Any:
        return self._engine.get_collections()

    def _create(self, name: str, body: Any) -> Any:
        asked = models.CreateCollection.model_validate(body)
        return self._engine.create_collection(
            name, vectors_config=asked.vectors, sparse_vectors_config=asked.sparse_vectors
        )

    def _index(self, _: str, body: Any) -> Any:
        self.mark_indexed.append(body["field_name"])
        return _DONE

    def _upsert(self, name: str, body: Any) -> Any:
        self._engine.upsert(name, points=models.PointsList.model_validate(body).points)
        return _DONE

    def _retrieve(self, name: str, body: Any) -> Any:
        return [_plain(point) for point in self._engine.retrieve(name, ids=body["ids"], with_payload=True)]

    def _query(self, name: str, body: Any) -> Any:
        asked = models.QueryRequest.model_validate(body)
        found = self._engine.query_points(
            name, query=body["query"]["nearest"], query_filter=asked.filter, limit=asked.limit or 10, using=asked.using
        )
        return {"points": [_plain(point) for point in found.points]}

    def _scroll(self, name: str, body: Any) -> Any:
        asked = models.ScrollRequest.model_validate(body)
        points, after = self._engine.scroll(name, scroll_filter=asked.filter, limit=asked.limit or 10)
        return {"points": [_plain(point) for point in points], "next_page_offset": after}

    def _count(self, name: str, body: Any) -> Any:
        return self._engine.count(name, count_filter=models.CountRequest.model_validate(body).filter)

    def _delete(self, name: str, body: Any) -> Any:
        selector: Any = (
            models.PointIdsList.model_validate(body) if "points" in body else models.FilterSelector.model_validate(body)
        )
        self._engine.delete(name, points_selector=selector)
        return _DONE

    def close(self) -> None:
        self._engine.close()


_DONE = {"operation_id": 0, "status": "completed"}


def _plain(point: Any) -> dict[str, Any]:
    document: dict[str, Any] = point.model_dump(mode="json")
    return {"version": 0, **document}
