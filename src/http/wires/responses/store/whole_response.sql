-- revision 1
/* Returns the request of a response as it was sent, from the facts of its reply (null: another API sent it), with the texts
   that its session holds once. */
create or replace function whole_response(p_session uuid, p_facts jsonb) returns jsonb stable language sql as $$
  select case
           when p_facts -> 'response' is null or not p_facts ? 'kept' then p_facts -> 'response'
           else (p_facts -> 'response') || coalesce((
             select jsonb_object_agg(k.key, t.content)
               from jsonb_each_text(p_facts -> 'kept') k
               join session_texts t on t.session_id = p_session and t.hash = decode(k.value, 'hex')), '{}') end
$$;
