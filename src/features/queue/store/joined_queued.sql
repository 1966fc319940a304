-- revision 2
/* Returns how a request joins the reply that an earlier one has requested: in the queue while it waits there. */
create or replace function joined_queued(p_queued integer, p_reply uuid) returns jsonb stable language plpgsql as $$
declare
  v_position integer;
begin
  if p_queued > 0 then v_position := queue_position(p_reply); end if;
  if v_position is null then return '{"outcome": "joined"}'; end if;
  return jsonb_build_object('outcome', 'queued', 'position', v_position);
end $$;
