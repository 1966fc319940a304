-- The deliveries that a webhook waits for, by their owners: claims take one of each in turn.
create index concurrently webhook_deliveries_by_owner on webhook_deliveries (webhook_id, owner, next_attempt_at)
 where status = 'pending'
