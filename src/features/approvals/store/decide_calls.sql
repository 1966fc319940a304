-- revision 2
/* Decides all that is pending in a session whose newest reply is p_wait, for the reply p_reply that goes on from it. The
   caller holds the session's lock. False: nothing waits there (any more), or not exactly these calls.
   p_decisions: [{id, decision, arguments, output, reason}]. */
create or replace function decide_calls(p_session uuid, p_wait uuid, p_reply uuid, p_decisions jsonb, p_by text)
returns boolean language plpgsql as $$
declare
  v_pending text[];
begin
  -- What was left to the reply is kept until it ends: another instance may have to go on with it.
  with gone as (
    delete from waits w where w.session_id = p_session and w.reply_id = p_wait returning w.carried
  )
  insert into reply_turns (reply_id, n, body) select p_reply, 0, g.carried from gone g;
  if not found then return false; end if;
  select array_agg(p.call_id order by p.call_id) into v_pending from pending_calls(p_session) p;
  if v_pending is distinct from (select array_agg(d.id order by d.id) from jsonb_to_recordset(p_decisions) as d(id text))
  then
    raise exception 'decisions do not fit what is pending' using errcode = 'GR409';
  end if;
  update waiting_calls c
     set open = false, decision = d.decision, decided_at = clock_timestamp(), decided_by = p_by, decided_in = p_reply,
         decided_arguments = d.arguments, output = d.output, reason = d.reason
    from jsonb_to_recordset(p_decisions) as d(id text, decision text, arguments text, output text, reason text)
   where c.session_id = p_session and c.open and c.call_id = d.id;
  return true;
end $$;
