-- revision 2
/* Counts the sessions of a user with an agent; with p_metadata and p_q, neither of them where they are null.
   An index-only scan asks the heap about each row on a page that was changed since the last vacuum, in the order of the
   index: 300,000 of 1,000,000 sessions took 1.6 s so. Unless nearly all pages are known to be unchanged, the heap is read
   page by page instead, which takes no longer than counting everybody's sessions, whatever the planner believes. */
create or replace function count_sessions(p_agent uuid, p_user text, p_metadata jsonb, p_q text)
returns integer language plpgsql stable
set enable_indexscan to off as $$ -- index-only ones too
declare
  v_count integer;
  v_unknown bigint;
  v_pages bigint;
begin
  -- Each row that was written since the last vacuum has changed two pages at most.
  select c.relpages, c.relpages - c.relallvisible + 2 * pg_stat_get_dead_tuples(c.oid) + pg_stat_get_ins_since_vacuum(c.oid)
    into v_pages, v_unknown from pg_class c where c.oid = 'sessions'::regclass;
  if v_unknown < v_pages / 10 then perform set_config('enable_indexscan', 'on', true); end if; -- ends with the function
  execute $q$
    select count(*)::integer from sessions s
     where s.agent_id = $1 and s.end_user = $2
       and ($3 is null or s.metadata @> $3) and ($4 is null or strpos(lower(coalesce(s.title, '')), lower($4)) > 0)
  $q$ into v_count using p_agent, p_user, p_metadata, p_q;
  return v_count;
end $$;
