"""Background work on constraints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from fateforger.adapters.store import Store
from fateforger.background.extracting import build_extract_workers
from fateforger.background.memory import build_memory_workers
from fateforger.background.tidying import TidyScheduler
from fateforger.bootstrap.beside import run_in_background
from fateforger.bootstrap.mind import build_model, count_usage
from fateforger.config import Settings
from fateforger.coordinator.understanding import build_interpreter
from fateforger.ports import Clock


@asynccontextmanager
async def run_memory_workers(
    settings: Settings, store: Store, clock: Clock, *, owner: str, wake: Callable[[], None]
) -> AsyncIterator[None]:
    """Run the workers of memory while the block is open.

    They read replies for rules to remember, if a model is configured, with a model client of their own, so that no turn
    waits; they retry delayed writes; and they tidy up once a day. ``wake`` is called when a message may be due.
    """
    async with AsyncExitStack() as stack:
        writers = build_memory_workers(
            store.jobs, store.constraints, store.sessions, owner=owner, clock=clock, after=wake
        )
        writers.start()
        stack.push_async_callback(writers.stop)
        tidying = TidyScheduler(store.constraints, store.sessions, store.jobs, clock, tz=settings.time_zone)
        run_in_background(stack, tidying.run(asyncio.sleep), name="tidying")
        model = count_usage(build_model(settings), store, clock, settings)
        if model is not None:
            stack.push_async_callback(model.aclose)
            readers = build_extract_workers(
                store.jobs, store.sessions, build_interpreter(model), owner=owner, clock=clock
            )
            readers.start()
            # A reply that still waits for a model's answer is read again by the next program.
            stack.push_async_callback(readers.stop, grace_seconds=1.0)
        yield
