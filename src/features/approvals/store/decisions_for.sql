-- revision 4
/* Returns the decisions that a reply carries out: [{id, decision, arguments, output, reason, again, joins}], in order. Null: it carries out
   none. */
create or replace function decisions_for(p_reply uuid) returns jsonb stable language sql as $$
  with recursive chain as ( -- the replies that it continues
    select m.continues as id from messages m where m.id = p_reply
    union all
    select b.continues from chain c join messages b on b.id = c.id
  )
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'id', w.call_id, 'decision', w.decision, 'arguments', w.decided_arguments, 'output', w.output,
           'reason', w.reason, 'joins', case when w.kind = 'child' then true end,
           'again', case when w.asked_of is not null and w.decision in ('answer', 'decline', 'cancel', 'signed_in')
                                          then answers_of(w.reply_id, w.place, w.asked_state, w.asked_of) end)) order by w.place)
    from chain c join waiting_calls w on w.reply_id = c.id and w.decided_in = p_reply
$$;
