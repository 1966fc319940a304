-- revision 2
/* The owner's way to fold_reply. Answers {outcome, settled_at}; outcome: settled, gone, or fenced when this instance was
   declared lost meanwhile. The owner has all that it stored in memory and says it here: reading and aggregating a
   hundred frames was a third of a settlement. */
create or replace function settle_reply(
  p_instance uuid, p_epoch bigint, p_reply uuid, p_outcome jsonb, p_content text, p_ends integer[], p_events jsonb
) returns jsonb language plpgsql as $$
declare
  v_outcome text;
begin
  perform 1 from instances i where i.id = p_instance and i.epoch = p_epoch for key share;
  if not found then return '{"outcome": "fenced"}'; end if;
  v_outcome := fold_reply(p_reply, p_outcome, p_content, p_ends, p_events);
  return jsonb_build_object('outcome', v_outcome,
                            'settled_at', (select m.settled_at from messages m where m.id = p_reply));
end $$;
