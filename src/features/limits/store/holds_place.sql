-- revision 2
/* Returns whether a place among the concurrent replies still counts. A reply's place counts while its message is
   `streaming`, whoever owns it by now. A stateless reply's place counts until its instance is declared lost. */
create or replace function holds_place(p limit_places) returns boolean stable language plpgsql as $$
begin
  if p.instance_id is null then
    return exists (select 1 from messages m where m.id = p.reply_id and m.status = 'streaming');
  end if;
  return exists (select 1 from instances i where i.id = p.instance_id and i.epoch = p.epoch);
end $$;
