"""Queues and locks with nothing but Python's own library."""

import base64
import json
import os
import urllib.request

ENDPOINT = os.environ.get("LEASEHOLD_ENDPOINT", "http://127.0.0.1:2319")
QUEUE = os.environ.get("QUEUE", "mail")
KEY = os.environ.get("KEY", "billing")


def post(operation, **body):
    """One operation. A refusal is an HTTPError; its body says why, in `message` and `details`."""
    headers = {"Content-Type": "application/json"}
    if "LEASEHOLD_API_KEY" in os.environ:
        headers["Authorization"] = "Bearer " + os.environ["LEASEHOLD_API_KEY"]
    request = urllib.request.Request(f"{ENDPOINT}/v1/{operation}", json.dumps(body).encode(), headers)
    # Longer than the request itself may wait: it says so in request_timeout.
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


post("queues.create", queue_name=QUEUE, lease_timeout="1m", expire_timeout="24h", requested_partitions=1)
items = [{"utf8": text} for text in ("one", "two", "three")]
post("queue.produce", queue_name=QUEUE, request_timeout="5s", items=items)

# Two items are ours for a minute. What is not completed by then comes again.
leased = post("queue.lease", queue_name=QUEUE, client_id="me", batch_size=2, request_timeout="5s")
for item in leased["items"]:
    print("leased", base64.b64decode(item["bytes"]).decode())
ids = [item["id"] for item in leased["items"]]
post("queue.complete", queue_name=QUEUE, partition=leased.get("partition", 0), request_timeout="5s", ids=ids)
print("completed", len(ids))

# A lock: carry its fence in every write that you make under it.
held = post("lock.acquire", key=KEY, ttlMs=60_000)
print("acquired with fence", held["fence"])
if not post("lock.acquire", key=KEY, ttlMs=60_000)["ok"]:
    print("refused while held")
if post("lock.extend", lockId=held["lockId"], ttlMs=60_000)["ok"]:
    print("extended")
if post("lock.release", lockId=held["lockId"])["ok"]:
    print("released")
