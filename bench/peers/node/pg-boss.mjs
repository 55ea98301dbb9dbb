// pg-boss: batches to one handler, the next one fetched at once while they come back full.
import { PgBoss } from "pg-boss";
import { measure, options, payload } from "./shapes.mjs";

const WORKERS = 4;
const BATCH = 100;
const QUEUE = "nothing";

const boss = new PgBoss({ connectionString: options.url, max: options.clients, supervise: false, schedule: false });
boss.on("error", (error) => {
  throw error;
});
await boss.start();
await boss.createQueue(QUEUE);

await measure({
  name: "pg-boss",
  settings: `1 process, ${WORKERS} workers, batches of ${BATCH}, burst while full`,
  note: "a completed job stays as a row until maintenance deletes it; a batch is completed in one statement",
  left: "SELECT count(*) FROM pgboss.job WHERE state < 'completed'",
  add: () => boss.send(QUEUE, payload),
  addMany: (count) => boss.insert(QUEUE, Array.from({ length: count }, () => ({ data: payload }))),
  work: async (total) => {
    let done = 0;
    const all = Promise.withResolvers();
    const work = { batchSize: BATCH, localConcurrency: WORKERS, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
    await boss.work(QUEUE, work, async (jobs) => {
      done += jobs.length;
      if (done === total) all.resolve();
    });
    await all.promise;
    await boss.offWork(QUEUE, { wait: true });
  },
});
await boss.stop();
