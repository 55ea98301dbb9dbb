// The three shapes that are measured, over whatever a peer calls adding and working; the answer is one line of JSON.
import { readFileSync } from "node:fs";
import pg from "pg";

const [url, jobs, batch, clients] = process.argv.slice(2).map((word, at) => (at === 0 ? word : Number(word)));

export const options = { url, jobs, batch, clients };

/** What is added: 100 bytes of JSON. */
export const payload = { x: "x".repeat(92) };

/**
 * `add` and `addMany` resolve when the jobs are stored, `work` when so many jobs were worked off and acknowledged; `left`
 * is a query for how many were not.
 */
export async function measure({ name, settings, note, add, addMany, work, left }) {
  const beside = new pg.Client(url);
  await beside.connect();
  const one = await seconds(() => inTurns(jobs, () => add()));
  const many = await seconds(() => inTurns(Math.ceil(jobs / batch), () => addMany(batch)));
  const stored = jobs + Math.ceil(jobs / batch) * batch;
  await expectLeft(beside, left, stored);
  await beside.query("ANALYZE");
  const worked = await seconds(() => work(stored));
  await expectLeft(beside, left, 0);
  await beside.end();
  const { version } = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8"));
  const rates = { add: jobs / one, add_batch: (stored - jobs) / many, work: stored / worked };
  console.log(JSON.stringify({ version, settings, note, ...rates }));
}

async function seconds(body) {
  const started = performance.now();
  await body();
  return (performance.now() - started) / 1000;
}

/** Every client waits for its answer before it asks again. */
async function inTurns(calls, call) {
  let begun = 0;
  const client = async () => {
    while (begun < calls) {
      begun += 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** A rate of jobs that were not done would be worth nothing. */
async function expectLeft(beside, left, wanted) {
  const { rows } = await beside.query(left);
  const found = Number(rows[0].count);
  if (found !== wanted) throw new Error(`${found} jobs are left, not ${wanted}`);
}
