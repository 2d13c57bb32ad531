"""Run a workspace alone: `python -m localslack --port 8080 --data DIR`."""

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

import uvicorn

from localslack.config import WorkspaceConfig
from localslack.server import create_workspace, listening_socket

_SAMPLE = Path(__file__).parent / "sample_manifest.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m localslack", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
    parser.add_argument("--data", type=Path, required=True, help="directory of the database file")
    parser.add_argument("--manifest", type=Path, default=_SAMPLE, help="Slack app manifest as JSON")
    parser.add_argument("--without-agents", action="store_true", help="refuse agent sessions and streamed messages")
    parser.add_argument("--bot-token", default="xoxb-local")
    parser.add_argument("--app-token", default="xapp-local")
    parser.add_argument("--signing-secret", default="local", help="for manifests that switch Socket Mode off")
    given = parser.parse_args()
    listening = listening_socket(given.port)
    config = WorkspaceConfig(
        database=given.data / "workspace.sqlite",
        public_url=f"http://127.0.0.1:{listening.getsockname()[1]}",
        bot_token=given.bot_token,
        app_token=given.app_token,
        signing_secret=given.signing_secret,
        manifest=json.loads(given.manifest.read_text(encoding="utf-8")),
        agents=not given.without_agents,
    )
    workspace = create_workspace(config, now=lambda: datetime.now(UTC))
    print(config.public_url, flush=True)  # noqa: T201 - where to look, for the person who started it
    try:
        server = uvicorn.Server(uvicorn.Config(workspace.app, log_level="warning"))
        server.run(sockets=[listening])
    finally:
        workspace.close()


if __name__ == "__main__":
    main()
