-- What a webhook is to be told, by whose it is: claims take one of each in turn.
create index concurrently webhook_deliveries_by_owner on webhook_deliveries (webhook_id, owner, next_attempt_at)
 where status = 'pending'
