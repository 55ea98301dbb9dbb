// Queues and locks with nothing but fetch: Node 18 or later, or a browser.
const endpoint = process.env.LEASEHOLD_ENDPOINT ?? "http://127.0.0.1:2319";
const queue_name = process.env.QUEUE ?? "mail";
const key = process.env.KEY ?? "billing";

async function post(operation, body) {
  const headers = { "Content-Type": "application/json" };
  if (process.env.LEASEHOLD_API_KEY) headers.Authorization = `Bearer ${process.env.LEASEHOLD_API_KEY}`;
  const answer = await fetch(`${endpoint}/v1/${operation}`, { method: "POST", headers, body: JSON.stringify(body) });
  const json = await answer.json();
  if (!answer.ok) throw new Error(`${operation}: ${answer.status} ${json.message} ${json.details?.error ?? ""}`);
  return json;
}

await post("queues.create", { queue_name, lease_timeout: "1m", expire_timeout: "24h", requested_partitions: 1 });
const items = ["one", "two", "three"].map((utf8) => ({ utf8 }));
await post("queue.produce", { queue_name, request_timeout: "5s", items });

// Two items are ours for a minute. What is not completed by then comes again.
const leased = await post("queue.lease", { queue_name, client_id: "me", batch_size: 2, request_timeout: "5s" });
for (const item of leased.items) console.log("leased", Buffer.from(item.bytes, "base64").toString());
const ids = leased.items.map((item) => item.id);
await post("queue.complete", { queue_name, partition: leased.partition ?? 0, request_timeout: "5s", ids });
console.log("completed", ids.length);

// A lock: carry its fence in every write that you make under it.
const held = await post("lock.acquire", { key, ttlMs: 60_000 });
console.log("acquired with fence", held.fence);
if (!(await post("lock.acquire", { key, ttlMs: 60_000 })).ok) console.log("refused while held");
if ((await post("lock.extend", { lockId: held.lockId, ttlMs: 60_000 })).ok) console.log("extended");
if ((await post("lock.release", { lockId: held.lockId })).ok) console.log("released");
