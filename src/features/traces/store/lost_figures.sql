-- revision 4
/* Returns the figures of a reply whose owner was lost, as far as its notes tell: each attempt has one span, whose newest note
   has the time of its first token. */
create or replace function lost_figures(p_reply uuid, p_session uuid, p_created_at timestamptz) returns jsonb
language sql as $$
  select jsonb_build_object(
    'firstTokenMs', min((t.detail ->> 'firstTokenMs')::integer),
    -- All instances may have been away for months.
    'durationMs', least(greatest(0, extract(epoch from clock_timestamp() - p_created_at) * 1000), 2147483647)::integer,
    'attempts', count(distinct t.detail ->> 'span'))
    from steps t
   where t.session_id = p_session and t.message_id = p_reply and t.kind = 'note' and t.event = 'attempt'
$$;
