-- revision 1
/* Returns the agent's fields as a version has them, without reading what most replies do not need. p_version: its number,
   "draft", or null for the live version; what there is none of is the live one. version: the number, or "draft". fields: model,
   providerId and promptId at least. prompt, names: of an older version, see agent_snapshot; else null. */
create or replace function version_fields(
  p_agent uuid, p_version jsonb, out version jsonb, out fields jsonb, out prompt text, out names jsonb
) language plpgsql stable as $$
begin
  if jsonb_typeof(p_version) = 'number' then
    select to_jsonb(v.number), (v.config -> 'agent')::jsonb, v.prompt, v.names into version, fields, prompt, names
      from agent_versions v where v.agent_id = p_agent and v.number = p_version::integer;
    if found then return; end if;
  end if;
  select to_jsonb((select max(v.number) from agent_versions v where v.agent_id = a.id)),
         jsonb_build_object('model', a.model, 'providerId', a.provider_id, 'promptId', a.prompt_id)
    into version, fields from agents a where a.id = p_agent;
  if p_version = '"draft"' then
    version := coalesce((select '"draft"'::jsonb from agent_drafts d where d.agent_id = p_agent), version);
    fields := fields || coalesce((select (d.changes -> 'agent')::jsonb from agent_drafts d where d.agent_id = p_agent), '{}');
  end if;
end $$;
