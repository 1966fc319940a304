-- revision 1
/* Deletes the steps and requests of sessions that were deleted: called by a trigger, for all that one statement deletes. A
   foreign key would look at the session once more for each row that is stored. */
create or replace function forget_steps() returns trigger language plpgsql
-- How many sessions there are is not known when this is planned; both tables may be large, and are entered by their keys.
-- (What is off must not be compiled, see admit_messages.)
set enable_seqscan to off set enable_hashjoin to off set enable_mergejoin to off set jit to off as $$
begin
  delete from transitions t using gone g where t.session_id = g.id;
  delete from model_requests r using gone g where r.session_id = g.id;
  return null;
end $$;
