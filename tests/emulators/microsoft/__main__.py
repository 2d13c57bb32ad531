"""``python -m tests.emulators.microsoft --port 8765``: Microsoft Graph and its sign-in on this machine.

The program registered there is ``the-client`` with the secret ``the-secret``. Ann consents to everything.
"""

from __future__ import annotations

import argparse
import asyncio

from tests.emulators.microsoft.emulator import ANN, MicrosoftEmulator
from tests.fakes.asgi_server import serve_app


async def serve(emulator: MicrosoftEmulator, port: int) -> None:
    async with serve_app(emulator.app(), port=port) as address:
        token = emulator.sign_in.give_token(ANN)
        print(f"Graph at {address}/v1.0, a token of {ANN}: {token}", flush=True)  # noqa: T201  a command
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.emulators.microsoft", description=__doc__)
    parser.add_argument("--port", type=int, default=8765, help="0 for any")
    parser.add_argument("--redirect", action="append", default=[], help="an address that people may come back to")
    parser.add_argument("--quota", type=int, help="so many requests in ten minutes")
    given = parser.parse_args()
    emulator = MicrosoftEmulator(quota=given.quota)
    app = emulator.sign_in.apps["the-client"]
    app.redirects = (*app.redirects, *given.redirect)
    asyncio.run(serve(emulator, given.port))


if __name__ == "__main__":
    main()
