-- revision 1
/* Deletes the steps of deleted sessions, and what their models were sent, in whichever form they are stored. The trigger of this
   name calls it once a statement. */
create or replace function forget_steps() returns trigger language plpgsql
-- How many sessions there are is not known when this is planned; the tables may be large, and are entered by their keys.
-- (What is off must not be compiled, see admit_messages.)
set enable_seqscan to off set enable_hashjoin to off set enable_mergejoin to off set jit to off as $$
begin
  delete from transitions t using gone g where t.session_id = g.id;
  delete from model_requests r using gone g where r.session_id = g.id;
  delete from step_runs r using gone g where r.session_id = g.id;
  return null;
end $$;
