-- revision 5
/* Rejects what is undecided in a session, because a new message came instead of decisions. What was approved before is never
   made. The caller holds the session's lock. */
create or replace function reject_calls(p_session uuid, p_by text) returns void language sql as $$
  select drop_children(p_session, p_by)
   where exists (select from waiting_calls c where c.session_id = p_session and c.open and c.kind = 'child');
  update waiting_calls c
     set open = false, decision = 'reject', decided_at = clock_timestamp(), decided_by = p_by,
         reason = case when c.kind = 'input' then 'What its server asked was not answered: the user sent a new message instead.'
                       else 'The user sent a new message instead.' end
   where c.session_id = p_session and c.open and c.decision is null;
  update waiting_calls c set open = false where c.session_id = p_session and c.open;
  delete from waits w where w.session_id = p_session;
$$;
