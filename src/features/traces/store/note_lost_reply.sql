-- revision 1
/* Notes the steps of a reply that was settled because its owner was declared lost: that it was, and how it began, where that is
   not stored. Its owner records steps in batches: the last ones may have died with it. p_by: the instance that has settled it;
   p_code: of its error. */
create or replace function note_lost_reply(p_reply uuid, p_by uuid, p_code text) returns void language plpgsql as $$
declare
  r record;
  v_before text; -- its newest state
  v_parent uuid;
begin
  select m.id, m.session_id, m.instance_id, m.created_at, m.position, m.parent,
         coalesce(m.asked_place ? 'regenerate', false) as is_regenerate,
         case when m.facts ? 'queued' then 'next' when m.continues is not null then 'decided' else 'message' end as began_by,
         m.continues is not null as is_decided into r
    from messages m where m.id = p_reply;
  select t.to_state into v_before from steps t
   where t.session_id = r.session_id and t.message_id = r.id order by t.seq desc limit 1;
  if v_before is null then
    select rest_state(m.finish_reason) into v_before from messages m
     where m.session_id = r.session_id and m.first_seq is not null and m.position < r.position
     order by m.position desc limit 1;
    select case when r.is_regenerate then a.id else (
             select b.id from messages b
              where b.session_id = a.session_id and b.position = coalesce(a.parent, a.position - 1)) end
      into v_parent from messages a
     where a.session_id = r.session_id and a.position = coalesce(r.parent, r.position - 1);
    insert into step_runs (session_id, at, message_id, instance_id, steps)
    values (r.session_id, r.created_at, r.id, r.instance_id, jsonb_build_array(jsonb_build_array(
              null, 'transition', coalesce(v_before, 'idle'), 'streaming.generating', r.began_by,
              case when r.is_decided then '{}' else jsonb_build_object('parentId', v_parent)
                   || case when r.is_regenerate then '{"regenerate": true}' else '{}' end::jsonb end)));
    v_before := 'streaming.generating';
  end if;
  if v_before like 'streaming%' then
    insert into step_runs (session_id, at, message_id, instance_id, steps)
    values (r.session_id, clock_timestamp(), r.id, p_by, jsonb_build_array(jsonb_build_array(
              null, 'transition', v_before, 'error', 'lost', jsonb_build_object('code', p_code))));
  end if;
end $$;
