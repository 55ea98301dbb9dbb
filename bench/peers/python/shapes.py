"""The three shapes that are measured, over whatever a peer calls adding and working; the answer is one line of JSON."""

import asyncio
import json
import math
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import Awaitable, Callable

import asyncpg


@dataclass(frozen=True)
class Options:
    url: str
    jobs: int
    batch: int
    clients: int


def options() -> Options:
    url, *numbers = sys.argv[1:]
    return Options(url, *map(int, numbers))


@dataclass(frozen=True)
class Peer:
    """`add` and `add_many` return when the jobs are stored, `work` when so many were worked off and acknowledged; `left`
    is a query for how many were not."""

    name: str
    settings: str
    note: str
    left: str
    add: Callable[[], Awaitable[object]]
    add_many: Callable[[int], Awaitable[object]]
    work: Callable[[int], Awaitable[object]]


async def measure(peer: Peer, given: Options) -> None:
    beside = await asyncpg.connect(given.url)
    calls = math.ceil(given.jobs / given.batch)
    one = await seconds(in_turns(given.jobs, given.clients, peer.add))
    many = await seconds(in_turns(calls, given.clients, lambda: peer.add_many(given.batch)))
    stored = given.jobs + calls * given.batch
    await expect_left(beside, peer.left, stored)
    await beside.execute("ANALYZE")
    worked = await seconds(peer.work(stored))
    await expect_left(beside, peer.left, 0)
    await beside.close()
    rates = {"add": given.jobs / one, "add_batch": calls * given.batch / many, "work": stored / worked}
    said = {"version": version(peer.name), "settings": peer.settings, "note": peer.note}
    print(json.dumps(said | rates), flush=True)


async def seconds(body: Awaitable[object]) -> float:
    started = time.perf_counter()
    await body
    return time.perf_counter() - started


async def in_turns(calls: int, clients: int, call: Callable[[], Awaitable[object]]) -> None:
    """Every client waits for its answer before it asks again."""
    left = iter(range(calls))

    async def client() -> None:
        for _ in left:
            await call()

    await asyncio.gather(*(client() for _ in range(clients)))


async def expect_left(beside: asyncpg.Connection, left: str, wanted: int) -> None:
    """A rate of jobs that were not done would be worth nothing."""
    found = await beside.fetchval(left)
    if found != wanted:
        raise RuntimeError(f"{found} jobs are left, not {wanted}")
