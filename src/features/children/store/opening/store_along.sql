-- revision 1
/* Makes the sessions that answer calls which the same transaction stores. It waits for nobody and never fails, since the frames
   of other replies are stored with it: what cannot be made now is made when the answer is waited for.
   p_rows: [{call, text, input}], the arguments of open_child. Returns how many are there. */
create or replace function store_along(p_rows jsonb) returns integer language plpgsql as $$
declare
  v_row jsonb;
  v_there integer := 0;
begin
  for v_row in select x.value from jsonb_array_elements(p_rows) x loop
    begin
      if open_child(v_row -> 'call' || '{"along": true}', v_row ->> 'text', v_row ->> 'input') = 'open' then
        v_there := v_there + 1;
      end if;
    exception when others then null;
    end;
  end loop;
  return v_there;
end $$;
