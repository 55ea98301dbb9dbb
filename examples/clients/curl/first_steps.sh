#!/usr/bin/env bash
# Queues and locks with nothing but curl. Every operation is a POST of JSON.
set -euo pipefail
endpoint="${LEASEHOLD_ENDPOINT:-http://127.0.0.1:2319}"
queue="${QUEUE:-mail}"
key="${KEY:-billing}"

post() { # OPERATION JSON; a refusal ends the script, with what the server said about it
    curl --silent --show-error --fail-with-body "$endpoint/v1/$1" -H 'Content-Type: application/json' \
        ${LEASEHOLD_API_KEY:+-H "Authorization: Bearer $LEASEHOLD_API_KEY"} -d "$2"
}
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; } # of an answer that has it once

post queues.create "{\"queue_name\":\"$queue\",\"lease_timeout\":\"1m\",\"expire_timeout\":\"24h\",\"requested_partitions\":1}" >/dev/null
post queue.produce "{\"queue_name\":\"$queue\",\"request_timeout\":\"5s\",\"items\":[{\"utf8\":\"one\"},{\"utf8\":\"two\"},{\"utf8\":\"three\"}]}" >/dev/null

# Two items are ours for a minute. Payloads are bytes, so JSON has them in base64.
leased=$(post queue.lease "{\"queue_name\":\"$queue\",\"client_id\":\"me\",\"batch_size\":2,\"request_timeout\":\"5s\"}")
for payload in $(grep -o '"bytes":"[^"]*"' <<<"$leased" | cut -d'"' -f4); do
    echo "leased $(base64 --decode <<<"$payload")"
done
ids=$(grep -o '"id":"[^"]*"' <<<"$leased" | cut -d'"' -f4 | sed 's/.*/"&"/' | paste -sd,)
post queue.complete "{\"queue_name\":\"$queue\",\"partition\":0,\"request_timeout\":\"5s\",\"ids\":[$ids]}" >/dev/null
echo "completed 2"

# A lock: carry its fence in every write that you make under it.
held=$(post lock.acquire "{\"key\":\"$key\",\"ttlMs\":60000}")
lock_id=$(field lockId <<<"$held")
echo "acquired with fence $(field fence <<<"$held")"
grep -q '"reason":"locked"' <<<"$(post lock.acquire "{\"key\":\"$key\",\"ttlMs\":60000}")" && echo "refused while held"
grep -q '"ok":true' <<<"$(post lock.extend "{\"lockId\":\"$lock_id\",\"ttlMs\":60000}")" && echo "extended"
grep -q '"ok":true' <<<"$(post lock.release "{\"lockId\":\"$lock_id\"}")" && echo "released"
