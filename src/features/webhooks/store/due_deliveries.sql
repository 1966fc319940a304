-- revision 1
/* Returns deliveries of a webhook that are due, in the order in which they are to be made: one of each owner (agent and user)
   in turn, beginning behind the owner p_after, and at last those that are due longest, whosever they are. Looks at 32 owners
   at most. p_most: how many are wanted. */
create or replace function due_deliveries(p_webhook uuid, p_after bytea, p_most integer)
returns table (id uuid, owner bytea, place bigint) stable language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with recursive owners (owner, n) as (
    select next_owner(p_webhook, p_after), 1
    union all
    select x.owner, o.n + 1
      from owners o
     cross join lateral (select next_owner(p_webhook, o.owner) as owner) x
     where o.n < 32 and o.owner is not null
  ), turns as (
    select d.id, o.owner, row_number() over (partition by o.owner order by d.next_attempt_at) as turn, o.n
      from (select o.owner, min(o.n) as n from owners o group by o.owner) o
     cross join lateral (
       select x.id, x.next_attempt_at from webhook_deliveries x
        where x.webhook_id = p_webhook and x.owner = o.owner and x.status = 'pending'
          and x.next_attempt_at <= statement_timestamp()
        order by x.next_attempt_at limit p_most) d
    union all
    select d.id, d.owner, null, null
      from (select x.id, x.owner from webhook_deliveries x
             where x.webhook_id = p_webhook and x.status = 'pending' and x.next_attempt_at <= statement_timestamp()
             order by x.next_attempt_at limit p_most) d
  ), chosen as (
    select distinct on (t.id) t.* from turns t order by t.id, t.turn
  )
  select c.id, c.owner, row_number() over (order by c.turn, c.n) as place from chosen c order by place limit p_most;
end $$;
