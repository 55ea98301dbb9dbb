item.queue = $1 AND item.partition = $2
