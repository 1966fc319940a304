-- revision 7
/* Copies the outcomes of pending calls on a path into the session p_to. Readers of the copy see the same outcomes, also
   while the reply that carries the decisions out still runs. Undecided calls are rejected: the copy waits for no
   decision. p_end: the path's last position. */
create or replace function copy_waiting_calls(p_from uuid, p_end integer, p_to uuid) returns void language plpgsql as $$
begin
  update messages m set continues = b.copy
    from copied_messages(p_from, p_end, p_to) r, copied_messages(p_from, p_end, p_to) b
   where m.id = r.copy and m.session_id = p_to and m.continues = b.original;
  insert into waiting_calls (reply_id, place, session_id, call_id, name, arguments, kind, asked_at, open, decision, decided_at,
                             decided_by, decided_in, decided_arguments, output, reason, begun, ok, content, duration_ms)
  select r.copy, w.place, p_to, w.call_id, w.name, w.arguments, w.kind, w.asked_at, false,
         case when w.open and w.decision is null then 'reject' else w.decision end,
         case when w.open and w.decision is null then clock_timestamp() else w.decided_at end,
         w.decided_by, d.copy, w.decided_arguments, w.output,
         case when w.open and w.decision is null then 'The conversation was copied while it waited.' else w.reason end,
         w.begun or b.call_id is not null, coalesce(w.ok, b.ok), coalesce(w.content, b.content),
         coalesce(w.duration_ms, b.duration_ms)
    from copied_messages(p_from, p_end, p_to) r
    join waiting_calls w on w.reply_id = r.original
    left join copied_messages(p_from, p_end, p_to) d on d.original = w.decided_in
    left join lateral begun_calls(w.decided_in) b on w.decision in ('approve', 'answer', 'decline', 'cancel', 'signed_in') and b.call_id = w.call_id;
end $$;
