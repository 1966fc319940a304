-- revision 1
/* Returns the pending calls of a waiting session as every surface shows them, see PendingCall. A form is text: jsonb would lose
   its fields' order. */
create or replace function shown_pending(p_session uuid) returns json stable language plpgsql as $$
begin
  return coalesce(
    (select json_agg(case when p.path is null then e.entry
                          else (left(e.entry::text, -1) || ',"path":' || p.path || '}')::json end order by p.places, q.n)
       from pending_entries(p_session) p
       left join lateral (
         select x.* from waiting_questions x
          where p.kind = 'input' and x.reply_id = p.reply_id and x.place = p.place and x.decision is null) q on true
      cross join lateral (select case
        when q.n is null then json_strip_nulls(json_build_object(
          'call_id', p.call_id, 'name', p.name, 'arguments', p.arguments, 'kind', p.kind, 'expires_at',
          case when p.kind = 'approval' then (
            select to_char(w.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              from waits w where w.session_id = p.session_id) end))
        when q.sign_in then json_build_object(
          'call_id', p.call_id, 'name', p.name, 'arguments', p.arguments, 'kind', 'sign_in', 'server', q.server,
          'message', q.message, 'url', q.url)
        when q.schema is null then json_build_object(
          'call_id', p.call_id, 'name', p.name, 'arguments', p.arguments, 'kind', p.kind, 'server', q.server,
          'key', q.key, 'message', q.message, 'url', q.url)
        else json_build_object(
          'call_id', p.call_id, 'name', p.name, 'arguments', p.arguments, 'kind', p.kind, 'server', q.server,
          'key', q.key, 'message', q.message, 'schema', q.schema)
        end as entry) e), '[]');
end $$;
