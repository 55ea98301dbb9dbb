// Queues and locks with nothing but net/http.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

var (
	endpoint = env("LEASEHOLD_ENDPOINT", "http://127.0.0.1:2319")
	queue    = env("QUEUE", "mail")
	key      = env("KEY", "billing")
	// Longer than a request itself may wait: it says so in request_timeout.
	client = http.Client{Timeout: 30 * time.Second}
)

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

type object map[string]any

// post runs one operation and reads what it answers into answer.
func post(operation string, body object, answer any) {
	sent, err := json.Marshal(body)
	check(err)
	request, err := http.NewRequest(http.MethodPost, endpoint+"/v1/"+operation, bytes.NewReader(sent))
	check(err)
	request.Header.Set("Content-Type", "application/json")
	if apiKey := os.Getenv("LEASEHOLD_API_KEY"); apiKey != "" {
		request.Header.Set("Authorization", "Bearer "+apiKey)
	}
	response, err := client.Do(request)
	check(err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var refusal struct{ Message string }
		check(json.NewDecoder(response.Body).Decode(&refusal))
		log.Fatalf("%s: %s: %s", operation, response.Status, refusal.Message)
	}
	check(json.NewDecoder(response.Body).Decode(answer))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	var done object
	post("queues.create", object{"queue_name": queue, "lease_timeout": "1m", "expire_timeout": "24h", "requested_partitions": 1}, &done)
	items := []object{{"utf8": "one"}, {"utf8": "two"}, {"utf8": "three"}}
	post("queue.produce", object{"queue_name": queue, "request_timeout": "5s", "items": items}, &done)

	// Two items are ours for a minute. What is not completed by then comes again.
	var leased struct {
		Partition int
		Items     []struct {
			ID    string
			Bytes []byte // JSON has bytes in base64, and so does Go
		}
	}
	post("queue.lease", object{"queue_name": queue, "client_id": "me", "batch_size": 2, "request_timeout": "5s"}, &leased)
	var ids []string
	for _, item := range leased.Items {
		fmt.Println("leased", string(item.Bytes))
		ids = append(ids, item.ID)
	}
	post("queue.complete", object{"queue_name": queue, "partition": leased.Partition, "request_timeout": "5s", "ids": ids}, &done)
	fmt.Println("completed", len(ids))

	// A lock: carry its fence in every write that you make under it.
	var held, refused, extended, released struct {
		OK            bool
		LockID, Fence string
	}
	post("lock.acquire", object{"key": key, "ttlMs": 60_000}, &held)
	fmt.Println("acquired with fence", held.Fence)
	if post("lock.acquire", object{"key": key, "ttlMs": 60_000}, &refused); !refused.OK {
		fmt.Println("refused while held")
	}
	if post("lock.extend", object{"lockId": held.LockID, "ttlMs": 60_000}, &extended); extended.OK {
		fmt.Println("extended")
	}
	if post("lock.release", object{"lockId": held.LockID}, &released); released.OK {
		fmt.Println("released")
	}
}
