content.queue = item.queue AND content.partition = item.partition AND content.id = item.content_id
