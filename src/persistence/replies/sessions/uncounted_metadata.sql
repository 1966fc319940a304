-- revision 1
/* Returns the names of metadata that a client secret sets (sessions.uncounted): those whose value it does not repeat as it
   counts by now. p_given: the metadata that it gives. p_counted: what counts of the metadata before. */
create or replace function uncounted_metadata(p_given jsonb, p_counted jsonb) returns text[] immutable language sql as $$
  select array(select g.key from jsonb_each(p_given) g where g.value is distinct from p_counted -> g.key);
$$;
