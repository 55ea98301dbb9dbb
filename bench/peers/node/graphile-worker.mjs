// graphile-worker: jobs taken in batches into the worker's own line, completions written together.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { measure, options, payload } from "./shapes.mjs";

const CONCURRENT_JOBS = 24;
const LOCAL_QUEUE = 500;

const logger = new Logger(() => () => {});
const utils = await makeWorkerUtils({ connectionString: options.url, maxPoolSize: options.clients, logger });
await utils.migrate();

await measure({
  name: "graphile-worker",
  settings: `1 process, ${CONCURRENT_JOBS} jobs at once, local queue of ${LOCAL_QUEUE}, completions batched (delay 0 ms)`,
  note: "deletes a job when it is completed; with a completion delay, in batches after the task has returned",
  left: "SELECT count(*) FROM graphile_worker._private_jobs",
  add: () => utils.addJob("nothing", payload),
  addMany: (count) => utils.addJobs(Array.from({ length: count }, () => ({ identifier: "nothing", payload }))),
  work: async (total) => {
    let done = 0;
    const all = Promise.withResolvers();
    const nothing = async () => {
      done += 1;
      if (done === total) all.resolve();
    };
    const runner = await run({
      preset: {
        worker: {
          connectionString: options.url,
          concurrentJobs: CONCURRENT_JOBS,
          maxPoolSize: 10,
          localQueue: { size: LOCAL_QUEUE },
          completeJobBatchDelay: 0,
          logger,
        },
      },
      noHandleSignals: true,
      taskList: { nothing },
    });
    await all.promise;
    await runner.stop();
  },
});
await utils.release();
