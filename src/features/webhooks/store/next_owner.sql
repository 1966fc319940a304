-- revision 1
/* Returns the next owner behind p_after that a webhook has deliveries of to be made, from the first one again behind the last.
   Null when there is none. */
create or replace function next_owner(p_webhook uuid, p_after bytea) returns bytea stable language sql as $$
  select coalesce(
    (select d.owner from webhook_deliveries d
      where d.webhook_id = p_webhook and d.status = 'pending' and d.owner > p_after order by d.owner limit 1),
    (select d.owner from webhook_deliveries d
      where d.webhook_id = p_webhook and d.status = 'pending' and d.owner is not null order by d.owner limit 1))
$$;
