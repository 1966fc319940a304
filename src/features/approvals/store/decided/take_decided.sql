-- revision 4
/* Leaves what was decided in a session to the reply p_reply, which follows and makes what was approved. The caller holds the
   session's lock. Returns [{id, decision, arguments, output, reason, again, joins}], in order. joins: a session answers the call already. */
create or replace function take_decided(p_session uuid, p_reply uuid) returns jsonb language sql as $$
  -- Kept until that reply ends: another instance may have to go on with it.
  with gone as (delete from waits w where w.session_id = p_session returning w.carried)
  insert into reply_turns (reply_id, n, body) select p_reply, 0, g.carried from gone g;
  -- A call that a session answers is made once more, which joins that session.
  update waiting_calls c set decision = 'approve', decided_at = clock_timestamp()
   where c.session_id = p_session and c.open and c.kind = 'child' and c.decision is null;
  with taken as (
    update waiting_calls c set open = false, decided_in = p_reply
     where c.session_id = p_session and c.open and c.decision is not null
    returning c.*)
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'id', t.call_id, 'decision', t.decision, 'arguments', t.decided_arguments, 'output', t.output,
           'reason', t.reason, 'joins', case when t.kind = 'child' then true end,
           'again', case when t.asked_of is not null and t.decision in ('answer', 'decline', 'cancel', 'signed_in')
                                          then answers_of(t.reply_id, t.place, t.asked_state, t.asked_of) end)) order by t.place)
    from taken t;
$$;
