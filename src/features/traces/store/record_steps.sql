-- revision 1
/* Stores rows of step_runs, in their order, with the texts that their requests refer to (p_hashes, hexadecimal, in their order).
   Skips steps of sessions that were deleted meanwhile, and a row that an earlier try has stored. A try whose answer was lost is
   repeated with the same rows, and may be carried out after its repetition, or beside it: the writes of an instance come one
   after the other, and each sees what those before it have stored. */
create or replace function record_steps(
  p_instance uuid, p_hashes text[], p_contents text[], p_sessions uuid[], p_messages uuid[], p_at timestamptz[], p_told text[],
  p_requests jsonb[]
) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('steps ' || p_instance, 0));
  -- Sessions are locked in the same order as in delete_agent, texts in that of their hashes: any other order could deadlock.
  with alive as materialized (
    select s.id from sessions s where s.id = any(p_sessions) order by s.num for key share
  ), texts as (
    insert into request_texts (hash, content)
    select decode(t.hash, 'hex'), t.content from unnest(p_hashes, p_contents) as t (hash, content)
    on conflict (hash) do update set used_at = excluded.used_at
     where request_texts.used_at < excluded.used_at - interval '1 day'
  )
  insert into step_runs (session_id, message_id, instance_id, at, told, requests)
  select r.session_id, r.message_id, p_instance, r.at, r.told, r.requests
    from unnest(p_sessions, p_messages, p_at, p_told, p_requests) with ordinality
           as r (session_id, message_id, at, told, requests, n)
   where r.session_id in (select id from alive)
     -- Offset: looked up by its time.
     and not exists (select 1 from step_runs o
                      where o.at = r.at and o.session_id = r.session_id and o.message_id is not distinct from r.message_id
                        and o.told = r.told offset 0)
   order by r.n;
end $$;
