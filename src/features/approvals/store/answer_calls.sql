-- revision 3
/* Stores the results that a new message brings for the caller's pending calls in the session. reject_calls ends the
   other calls. The caller holds the session's lock. p_answers: [{id, output}]; null: none. */
create or replace function answer_calls(p_session uuid, p_by text, p_answers jsonb) returns void language sql as $$
  update waiting_calls c
     set open = false, decision = 'respond', decided_at = clock_timestamp(), decided_by = p_by, output = a.output
    from jsonb_to_recordset(p_answers) as a(id text, output text)
   where c.session_id = p_session and c.open and c.decision is null and c.kind = 'caller' and c.call_id = a.id;
$$;
