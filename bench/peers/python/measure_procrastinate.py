"""Procrastinate: every job fetched and finished by a call of its own."""

import asyncio

from procrastinate import App, PsycopgConnector

from shapes import Options, Peer, measure, options

WORKERS = 4
CONCURRENCY = 4
PAYLOAD = {"x": "x" * 92}


async def main(given: Options) -> None:
    connections = max(given.clients, WORKERS * (CONCURRENCY + 2))
    app = App(connector=PsycopgConnector(conninfo=given.url, min_size=given.clients, max_size=connections))

    @app.task(name="nothing")
    async def nothing(x: str) -> None:
        pass

    async def work(total: int) -> None:
        worker = {"wait": False, "concurrency": CONCURRENCY, "delete_jobs": "always", "install_signal_handlers": False}
        await asyncio.gather(*(app.run_worker_async(**worker) for _ in range(WORKERS)))

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        peer = Peer(
            name="procrastinate",
            settings=f"1 process, psycopg, {WORKERS} workers with {CONCURRENCY} jobs at once",
            note="fetches and finishes jobs one by one; keeps finished jobs by default, here they are deleted",
            left="SELECT count(*) FROM procrastinate_jobs",
            add=lambda: nothing.defer_async(**PAYLOAD),
            add_many=lambda count: nothing.batch_defer_async(*[PAYLOAD] * count),
            work=work,
        )
        await measure(peer, given)


if __name__ == "__main__":
    asyncio.run(main(options()))
