-- revision 2
/* Returns the cost of a call by the prices that are set now, in their currency. A model without a price costs nothing.
   */
create or replace function cost_of(
  p_model text, p_prompt bigint, p_completion bigint, p_cached bigint, p_written bigint
) returns numeric stable language plpgsql as $$
declare
  v_cost numeric;
begin
  select ((p_prompt - p_cached - p_written) * p.prompt + p_cached * coalesce(p."cachedPrompt", p.prompt)
          + p_written * coalesce(p."cacheWrite", p.prompt) + p_completion * p.completion) / 1e6
    into v_cost
    from ui_settings s,
         jsonb_to_recordset(s.value -> 'prices')
           as p (model text, prompt numeric, completion numeric, "cachedPrompt" numeric, "cacheWrite" numeric)
   where s.name = 'prices' and p.model = p_model;
  return coalesce(v_cost, 0);
end $$;
