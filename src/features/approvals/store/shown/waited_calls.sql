-- revision 1
/* Returns the calls of a reply that were pending, and what became of them, see WaitedCall. Null: none was. What a running reply
   has made is in its frames. */
create or replace function waited_calls(p_reply uuid) returns jsonb stable language plpgsql as $$
begin
  return (
    select jsonb_agg(jsonb_build_object(
             'id', w.call_id, 'open', w.open and w.decision is null, 'decision', w.decision, 'kind', w.kind,
             'decidedAt', to_char(w.decided_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
             'decidedBy', w.decided_by, 'arguments', w.decided_arguments, 'output', w.output, 'reason', w.reason,
             'begun', w.begun or b.call_id is not null, 'ok', coalesce(w.ok, b.ok), 'content', coalesce(w.content, b.content),
             'durationMs', coalesce(w.duration_ms, b.duration_ms),
             'answers', case when w.asked_of is not null then (
               select jsonb_agg(jsonb_build_object(
                        'key', q.key, 'decision', q.decision, 'content', q.content,
                        'decidedAt', to_char(q.decided_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                        'decidedBy', q.decided_by) order by q.n)
                 from waiting_questions q
                where q.reply_id = w.reply_id and q.place = w.place and q.decision is not null and not q.sign_in) end)
             order by w.place)
      from waiting_calls w
      left join lateral begun_calls(w.decided_in) b
        on w.decision in ('approve', 'answer', 'decline', 'cancel', 'signed_in') and b.call_id = w.call_id
     where w.reply_id = p_reply);
end $$;
