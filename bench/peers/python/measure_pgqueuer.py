"""PgQueuer: jobs dequeued in batches, their ends logged in batches."""

import asyncpg
import uvloop
from pgqueuer import QueueManager
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

from shapes import Options, Peer, measure, options

BATCH = 500
PAYLOAD = b"x" * 100


async def main(given: Options) -> None:
    async with asyncpg.create_pool(given.url, min_size=2, max_size=given.clients) as pool:
        queries = Queries(AsyncpgPoolDriver(pool))
        await queries.install()

        async def work(total: int) -> None:
            manager = QueueManager(queries)

            @manager.entrypoint("nothing")
            async def nothing(job: Job) -> None:
                pass

            await manager.run(batch_size=BATCH, mode=QueueExecutionMode.drain)

        peer = Peer(
            name="pgqueuer",
            settings=f"1 process, asyncpg and uvloop, batches of {BATCH}, drain mode",
            note="a finished job is moved to a log table, in batches up to 0.1 s after it has run",
            left="SELECT count(*) FROM pgqueuer",
            add=lambda: queries.enqueue("nothing", PAYLOAD),
            add_many=lambda count: queries.enqueue(["nothing"] * count, [PAYLOAD] * count, [0] * count),
            work=work,
        )
        await measure(peer, given)


if __name__ == "__main__":
    uvloop.run(main(options()))
