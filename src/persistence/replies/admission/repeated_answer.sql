-- revision 2
/* Returns the answer to a message that an earlier request has sent under the same idempotency key or, as a retry, without one.
   Null: it repeats nothing. p_message: see admit_message. m: see message_fields. s: see lock_session. */
create or replace function repeated_answer(p_message jsonb, m record, s record) returns jsonb language plpgsql as $$
declare
  seen record;
begin
  if m.key is not null then
    select k.body_hash, k.reply_id into seen from idempotency_keys k
     where k.session_id = m.session_id and k.key = m.key and k.created_at > clock_timestamp() - interval '24 hours';
    if found then
      if seen.body_hash <> decode(m.body_hash, 'hex') then return '{"outcome": "key_reused"}'; end if;
      if m.decisions is not null and repeats_partial_decision(m.session_id, seen.reply_id, null) then
        return '{"outcome": "decided_in_part", "repeated": true}';
      end if;
      return joined_queued(s.queued, seen.reply_id)
             || jsonb_build_object('reply_id', seen.reply_id, 'by_key', true);
    end if;
  end if;
  if m.is_retry and m.decisions is not null
     and repeats_partial_decision(m.session_id, null, decode(m.decisions_hash, 'hex')) then
    return '{"outcome": "decided_in_part", "repeated": true}';
  end if;
  if m.is_retry then return repeated_message(p_message, m.text, s.queued, s.last_id); end if;
  return null;
end $$;
