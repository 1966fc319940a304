-- revision 6
/* Stores a message in its session's queue, for admit_message, which holds the session's lock and has seen that there is room. p_message as there;
   p_rank: see queued_messages; p_bytes: what the session holds with it. The form of what is stored is stored-rows.ts's. Answers as admit_message: queued with its position. */
create or replace function enqueue_message(p_message jsonb, p_text text, p_rank integer, p_bytes bigint) returns jsonb
language plpgsql as $$
declare
  v_session uuid := (p_message ->> 'session_id')::uuid;
  v_id uuid := (p_message ->> 'user_id')::uuid;
  v_reply uuid := (p_message ->> 'reply_id')::uuid;
begin
  insert into queued_messages (id, session_id, rank, reply_id, content, message, input)
  values (v_id, v_session, p_rank, v_reply, p_text,
          p_message - '{key,body_hash,is_retry,may_start,may_queue,configuration,make_session,external_id,secret_number,parts,texts,derived_title,title_is_draft,model,end_user,on_busy,input,max_session_bytes,max_user_bytes,max_user_sessions,history,begins}'::text[] || '{"version": 1}',
          p_message ->> 'input');
  if p_message ? 'parts' then perform add_parts(v_session, v_id, p_message -> 'parts'); end if;
  if p_message ? 'key' then
    insert into idempotency_keys (session_id, key, body_hash, reply_id)
    values (v_session, p_message ->> 'key', decode(p_message ->> 'body_hash', 'hex'), v_reply)
    on conflict (session_id, key) do update
      set body_hash = excluded.body_hash, reply_id = excluded.reply_id, created_at = clock_timestamp();
  end if;
  update sessions s set queued = s.queued + 1, bytes = p_bytes, updated_at = clock_timestamp() where s.id = v_session;
  return jsonb_build_object('outcome', 'queued', 'reply_id', v_reply, 'position', queue_position(v_reply));
end $$;
