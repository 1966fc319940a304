-- What the last state before the first release left (its migrations 1 to 10) becomes what 011.do.tables.sql makes.
-- Its functions go, all versions of them: what is needed stands in ../replies/sql and ../records/sql.
do $$
declare
  f regprocedure;
begin
  for f in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = current_schema()
       and p.proname in ('admit_message', 'clear_frames', 'delete_agent', 'delete_session', 'fold_reply', 'lose_reply',
                         'settle_reply')
  loop
    execute 'drop function ' || f;
  end loop;
end $$;

create table definitions (
  name     text primary key,
  revision integer not null,
  checksum text not null
);

update compatibility set oldest = 11;
