-- revision 2
/* Decides calls that wait in sessions below a waiting one, and has those sessions go on in which nothing is left to decide. The
   caller holds the lock of p_session. Returns how many decisions it took: those with session. Raises GR409 as decide_pending. */
create or replace function decide_below(p_session uuid, p_decisions jsonb, p_by text) returns integer language plpgsql as $$
declare
  v_taken integer := 0;
  v_wait uuid;
  d record;
begin
  for d in
    select (x.value ->> 'session')::uuid as session_id, jsonb_agg(x.value - 'session' order by x.n) as decisions
      from jsonb_array_elements(p_decisions) with ordinality as x (value, n) where x.value ? 'session' group by 1 order by 1
  loop
    perform 1 from pending_entries(p_session) p where p.session_id = d.session_id;
    if not found then raise exception 'nothing waits there' using errcode = 'GR409'; end if;
    perform 1 from sessions s where s.id = d.session_id and s.status = 'waiting' for no key update;
    if not found then raise exception 'nothing waits there' using errcode = 'GR409'; end if;
    select w.reply_id into v_wait from waits w where w.session_id = d.session_id;
    if decide_pending(d.session_id, v_wait, d.decisions, p_by) = 0 then
      perform queue_decided(d.session_id, p_by);
      perform follow_above(d.session_id, p_session, p_by);
    end if;
    perform mark_above(d.session_id);
    v_taken := v_taken + jsonb_array_length(d.decisions);
  end loop;
  return v_taken;
end $$;
