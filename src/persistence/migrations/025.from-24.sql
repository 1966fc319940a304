-- Tables as commit d7428bd left them (version 24) become what 025.do.tables.sql makes of an empty database.
do $$
declare
  m record;
begin
  if not exists (
    select from schema_migrations where version = 24 and md5 = 'd5afe019e1e12532128c694654311cf6'
  ) then
    raise exception 'The database was written by a version before 0.1 that cannot be opened: start commit d7428bd on it once, stop it, and start this version again.';
  end if;

  -- Versions before 20 stored none.
  for m in
    select b.session_id, b.position, b.parent, a.line
      from messages b join messages a on a.session_id = b.session_id and a.position = b.parent
     where b.line = b.position and b.lines_before is null order by b.session_id, b.position
  loop
    update messages b set lines_before = lines_before(m.session_id, m.parent, m.line)
     where b.session_id = m.session_id and b.position = m.position;
  end loop;

  -- A backup names a column's sequence as this version does; a table that was renamed has another one.
  for m in
    select s.oid::regclass as sequence, format('%s_%s_seq', t.relname, a.attname) as own
      from pg_depend d
      join pg_class s on s.oid = d.objid and s.relkind = 'S'
      join pg_class t on t.oid = d.refobjid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
     where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.deptype = 'i'
       and s.relnamespace = current_schema()::regnamespace and s.relname <> format('%s_%s_seq', t.relname, a.attname)
  loop
    execute format('alter sequence %s rename to %I', m.sequence, m.own);
  end loop;
end $$;

-- Versions before 17 stored none, and a background job may not have come to all sessions.
update sessions s
   set status = coalesce(rest_state(n.finish_reason), n.status, 'idle'), error_code = n.error_code
  from sessions o
  left join lateral (select m.status, m.finish_reason, m.error_code from messages m
                      where m.session_id = o.id and m.role = 'assistant' and m.first_seq is not null
                      order by m.position desc limit 1) n on true
 where o.id = s.id and s.status is null;
alter table sessions alter column status set not null;
drop index if exists sessions_without_status;

-- What a waiting session carries has a version since the baseline (stored-carried.ts).
update waits set carried = '{"version":1,' || substr(carried, 2) where carried not like '{"version":%';

alter table messages validate constraint messages_finish_reason_check;
alter table transitions validate constraint transitions_kind;

-- Functions of triggers stand in the migrations now.
delete from definitions where name in ('forget_steps', 'raise_configuration');

update compatibility set oldest = 25;
