-- revision 2
/* Takes the messages of these ids, their own or their replies', out of a session's queue. All are named: a call that arrives
   late takes out none that came since. Answers the ids of their replies; none has begun. What was to interrupt is refused by this, and what is refused counts nothing: its limits are given it back. */
create or replace function take_out_messages(p_session uuid, p_ids uuid[]) returns setof uuid language plpgsql as $$
declare
  v_ids uuid[];
  v_replies uuid[];
  v_contents bytea[];
  v_bytes bigint; -- what they held
  v_brought boolean; -- whether their requests brought texts besides
begin
  perform 1 from sessions s where s.id = p_session for no key update;
  perform lock_limits((
    select array_agg(x.subject)
      from queued_messages q
      join sessions s on s.id = q.session_id
     cross join lateral (values (q.message #>> '{limits,key,id}'),
                                (case when q.message -> 'limits' ? 'user' then s.agent_id || ' ' || s.end_user end)) as x (subject)
     where q.session_id = p_session and q.admission is null and q.rank = 0 and (q.id = any(p_ids) or q.reply_id = any(p_ids))));
  perform uncount_request(q.message -> 'limits', s.agent_id, s.end_user, q.created_at)
     from queued_messages q join sessions s on s.id = q.session_id
    where q.session_id = p_session and q.admission is null and q.rank = 0 and (q.id = any(p_ids) or q.reply_id = any(p_ids));
  with gone as (
    delete from queued_messages q
     where q.session_id = p_session and q.admission is null and q.rank >= 0 and (q.id = any(p_ids) or q.reply_id = any(p_ids))
    returning q.id, q.reply_id, octet_length(q.content) as size, q.message #> '{facts,kept}' is not null as brought)
  select array_agg(g.id), array_agg(g.reply_id), sum(g.size), bool_or(g.brought) into v_ids, v_replies, v_bytes, v_brought from gone g;
  if v_ids is null then return; end if;
  delete from idempotency_keys k where k.session_id = p_session and k.reply_id = any(v_replies);
  with gone as (delete from message_parts p where p.message_id = any(v_ids)
                returning coalesce(p.stored_as, p.sha256) as sha256, p.size)
  select array_agg(distinct g.sha256), v_bytes + coalesce(sum(g.size), 0) into v_contents, v_bytes from gone g;
  if v_contents is not null then perform forget_parts(v_contents); end if;
  if v_brought then
    select v_bytes + coalesce(sum(t.bytes), 0) into v_bytes from session_texts t where t.session_id = p_session;
    perform forget_texts(p_session);
    select v_bytes - coalesce(sum(t.bytes), 0) into v_bytes from session_texts t where t.session_id = p_session;
  end if;
  update sessions s set queued = greatest(s.queued - cardinality(v_ids), 0), bytes = s.bytes - v_bytes,
                        updated_at = clock_timestamp()
   where s.id = p_session;
  return query select unnest(v_replies);
end $$;
