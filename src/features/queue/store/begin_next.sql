-- revision 12
/* Begins the next message of a session's queue, as admit_message begins one that never waited: the only place where a queued
   message begins. Every statement that settles a reply calls it in its transaction, and so does tend_queues for sessions in
   which nothing runs. The caller holds the session's lock. Returns the id of the reply that it opened; null when nothing is to
   begin, or not on this instance.
   The agent is the version that the message asked for, else that of the session's pin, else as it is now. A place that no longer exists is stored as fault, for the reply to end with it. */
create or replace function begin_next(p_instance uuid, p_epoch bigint, p_session uuid) returns uuid
language plpgsql as $$
declare
  s record;
  a record;
  q record;
  m record; -- of message_fields
  place record; -- of place_message
  judged record; -- of judge_message
  v_overrides jsonb;
  v_asked jsonb; -- the version that was asked for: its number, or "draft"; null: none
  v_depth jsonb; -- of the reply that it continues; null: none
  v_message jsonb;
  v_fault text;
  v_answer jsonb;
  v_parts jsonb; -- of the outputs that came with the message
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch and i.begins_queued for key share;
  if not found then return null; end if;
  select x.agent_id, x.status, x.agent_version into s from sessions x where x.id = p_session;
  select x.* into q from queued_messages x
   where x.session_id = p_session and x.admission is null order by x.rank, x.num limit 1;
  -- A reply that follows decisions (rank -1) goes before. Calls that wait are rejected by what steers or interrupts; what was only queued waits with them.
  if q.id is null or s.status = 'streaming' or (s.status = 'waiting' and q.rank = 2) then return null; end if;

  -- Absent: stored before there were versions, in the form of the first.
  if (q.message ->> 'version')::integer > 1 then
    raise exception 'a queued message has the version %, which is not known', q.message ->> 'version';
  end if;
  v_overrides := q.message -> 'facts' -> 'overrides';
  if jsonb_typeof(v_overrides) is distinct from 'object' then v_overrides := '{}'; end if;
  v_asked := nullif(q.message -> 'facts' -> 'askedVersion', 'null');
  if q.rank < 0 then -- it continues the reply that waits
    select asked.facts -> 'askedVersion', asked.facts -> 'depth' into v_asked, v_depth
      from waits w join messages asked on asked.id = w.reply_id where w.session_id = p_session;
  end if;
  select coalesce(v_overrides ->> 'model', x.fields ->> 'model') as model,
         coalesce(v_overrides ->> 'providerId', x.fields ->> 'providerId')::uuid as provider_id,
         case when v_overrides ->> 'systemPrompt' is null
              then coalesce(v_overrides ->> 'promptId', x.fields ->> 'promptId')::uuid end as prompt_id,
         x.version, x.names, x.prompt
    into a from version_fields(s.agent_id, coalesce(v_asked, to_jsonb(s.agent_version))) x;
  v_message := q.message || jsonb_build_object(
    'agent_id', s.agent_id, 'session_id', p_session, 'user_id', q.id, 'reply_id', q.reply_id, 'model', a.model,
    'may_start', true, 'is_queued', true, 'uses_values', true,
    'facts', coalesce(nullif(q.message -> 'facts', 'null'), '{}') || jsonb_build_object(
      'queued', true, 'providerId', a.provider_id,
      'prompt', (select jsonb_build_object('id', p.id, 'name', p.name,
                                           'sha256', encode(sha256(convert_to(p.content, 'UTF8')), 'hex'))
                   from (select a.prompt_id as id, a.names ->> 'prompt' as name, a.prompt as content
                          where a.prompt is not null and v_overrides ->> 'promptId' is null and a.prompt_id is not null
                         union all
                         select p.id, p.name, p.content from prompts p
                          where p.id = a.prompt_id and (a.prompt is null or v_overrides ->> 'promptId' is not null)) p))
      || jsonb_strip_nulls(jsonb_build_object('agentVersion', a.version, 'askedVersion', v_asked, 'depth', v_depth)));
  m := message_fields(v_message, q.content);
  s := lock_session(p_session, s.agent_id, null, q.reply_id);
  place := place_message(m, s);
  if place.fault is not null then
    v_fault := place.fault;
    m := message_fields(v_message - 'place', q.content);
    place := place_message(m, s);
  end if;
  judged := judge_message(m, s);
  if judged.refusal is not null then return null; end if;
  if m.limits is not null then perform judge_limits(m.limits, m.agent_id, s.end_user, q.reply_id, 'hold', null, null, null); end if;
  if q.rank < 0 then perform take_decided(p_session, q.reply_id); end if;
  if q.message ? 'answers' then -- they stand with the message in the queue, and belong to the calls
    with moved as (delete from message_parts p where p.message_id = q.id and p.call_id is not null returning p.*)
    select jsonb_agg(jsonb_build_object(
             'type', p.type, 'sha256', encode(p.sha256, 'hex'), 'media_type', p.media_type, 'filename', p.filename,
             'size', p.size, 'detail', p.detail, 'source_url', p.source_url, 'text_place', p.text_place,
             'stored_as', encode(p.stored_as, 'hex'), 'call_id', p.call_id) order by p.n)
      into v_parts from moved p;
    m.parts := v_parts;
  end if;
  v_answer := open_reply(p_instance, p_epoch, m, s, place, judged.bytes, null);
  update queued_messages x
     set instance_id = p_instance, epoch = p_epoch, admission = v_answer - 'has_parent' || jsonb_build_object('version', 1, 'fault', v_fault, 'is_child', s.parent is not null)
   where x.id = q.id;
  update sessions x set queued = greatest(x.queued - 1, 0) where x.id = p_session;
  return q.reply_id;
end $$;
