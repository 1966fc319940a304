-- revision 1
/* Returns the sessions that are below these, at any depth, without these. */
create or replace function sessions_below(p_sessions uuid[]) returns uuid[] stable language sql as $$
  with recursive below as (
    select c.session_id from children c where c.parent_session = any(p_sessions)
    union
    select c.session_id from below b join children c on c.parent_session = b.session_id
  )
  select coalesce(array_agg(b.session_id) filter (where b.session_id <> all(p_sessions)), '{}') from below b
$$;
