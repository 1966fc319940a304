-- revision 1
/* Decides questions of calls that are pending in a session. A call is decided with the last of its questions. The caller holds
   the session's lock. Returns how many questions were decided. p_decisions: [{id, key, decision, content}], among others. */
create or replace function answer_questions(p_session uuid, p_decisions jsonb, p_by text) returns integer
language plpgsql as $$
declare
  v_answered integer;
begin
  update waiting_questions q
     set decision = d.decision, content = d.content, decided_at = clock_timestamp(), decided_by = p_by
    from jsonb_to_recordset(p_decisions) as d(id text, key text, decision text, content text)
    join pending_calls(p_session) p on p.kind = 'input' and p.call_id = d.id
   where q.reply_id = p.reply_id and q.place = p.place and q.key = d.key and q.decision is null;
  get diagnostics v_answered = row_count;
  if v_answered = 0 then return 0; end if;
  update waiting_calls c
     set decision = (select q.decision from waiting_questions q where q.reply_id = c.reply_id and q.place = c.place
                      order by q.n desc limit 1),
         decided_at = clock_timestamp(), decided_by = p_by
   where c.session_id = p_session and c.open and c.decision is null and c.kind = 'input'
     and (c.reply_id, c.place) in (select p.reply_id, p.place from pending_calls(p_session) p)
     and not exists (select from waiting_questions q
                      where q.reply_id = c.reply_id and q.place = c.place and q.decision is null);
  return v_answered;
end $$;
