-- revision 3
/* Returns what the replies of an agent depend on, as it is now: all that a version holds. config: {agent, tools, named}, fields
   as the API names them; named: what the names in its approvals stand for. prompt: text of its prompt. names: {prompt,
   providers: {id: name}}, which make no version. No row when there is no such agent. */
create or replace function agent_snapshot(p_agent uuid) returns table (config json, prompt text, names jsonb)
language sql stable as $$
  select json_build_object(
           'agent', json_build_object(
             'providerId', a.provider_id, 'model', a.model, 'promptId', a.prompt_id, 'systemPrompt', a.system_prompt,
             'generationConfig', a.generation_config, 'responseFormat', a.response_format,
             'fallbacks', (select coalesce(json_agg(json_build_object('providerId', f.provider_id, 'model', f.model)
                                                    order by f.place), '[]')
                             from agent_fallbacks f where f.agent_id = a.id),
             'historyMaxTokens', a.history_max_tokens, 'callerInstructions', a.caller_instructions,
             'compaction', a.compaction, 'onLoss', a.on_loss,
             'onMissingTools', a.on_missing_tools),
           'tools', jsonb_build_object(
             'httpToolIds', (select coalesce(jsonb_agg(t.http_tool_id order by t.place), '[]')
                               from agent_http_tools t where t.agent_id = a.id),
             'mcpServers', (select coalesce(jsonb_agg(jsonb_build_object('mcpServerId', s.mcp_server_id,
                                     'toolNames', s.tool_names) order by s.place), '[]')
                              from agent_mcp_servers s where s.agent_id = a.id),
             'builtInToolIds', a.built_in_tool_ids, 'approvals', a.approvals)
             || case when a.approvals_expire_after_s is null then '{}' -- as in versions of before
                     else jsonb_build_object('approvalsExpireAfterS', a.approvals_expire_after_s) end
             || coalesce((select jsonb_build_object('agentTools', jsonb_agg(jsonb_build_object(
                                   'agentId', t.called_agent_id, 'name', t.name, 'description', t.description) order by t.place))
                            from agent_agent_tools t where t.agent_id = a.id having count(*) > 0), '{}'),
           'named', a.approval_names),
         (select p.content from prompts p where p.id = a.prompt_id),
         jsonb_build_object(
           'prompt', (select p.name from prompts p where p.id = a.prompt_id),
           'providers', (select jsonb_object_agg(p.id, p.name) from providers p
                          where p.id = a.provider_id
                             or p.id in (select f.provider_id from agent_fallbacks f where f.agent_id = a.id)))
    from agents a where a.id = p_agent
$$;
