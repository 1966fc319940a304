-- revision 1
/* What agents are configured with has changed: the version rises, once a transaction. Called by triggers. */
create or replace function raise_configuration() returns trigger language plpgsql as $$
begin
  update configuration set version = version + 1, xact = pg_current_xact_id()
   where xact is distinct from pg_current_xact_id();
  return null;
end $$;
