-- The bulk of the data, in one transaction: 38 providers, 60 prompts, 50 HTTP tools, 10 MCP servers, 300 agents, 20,000 sessions of
-- which 3,200 have a reply, and the usage of 90 days. What is to be genuine in every row (approvals, failures, traces) comes
-- through the API: see main.ts.
insert into providers (name, provider_type, base_url)
select (array['OpenAI', 'Anthropic', 'Gemini', 'vLLM', 'Ollama', 'Azure'])[1 + i % 6] || ' ' ||
       (array['production', 'staging', 'EU', 'on premises', 'research', 'fallback', 'fine-tuned models of the legal team'])[1 + i % 7]
         || ' ' || i,
       'openai-compatible', 'http://127.0.0.1:9/v' || i
  from generate_series(1, 38) i;

insert into prompts (name, content)
select (array['Support', 'Legal', 'HR', 'Release notes', 'SQL reviewer', 'دعم العملاء', 'カスタマーサポート'])[1 + i % 7] || ' prompt ' || i,
       repeat('You are an assistant of Lantern, a shop for reading lamps. Answer in two sentences, and name the page that you have it from. ', 1 + i % 30)
  from generate_series(1, 60) i;

insert into http_tools (name, description, method, url, input_schema)
select (array['orders', 'weather', 'tickets', 'stock', 'invoice'])[1 + i % 5] || '_' || (array['find', 'list', 'create', 'cancel'])[1 + i % 4] || '_' || i,
       repeat('Looks up what the caller asks for and answers with JSON. ', 1 + i % 6),
       (array['GET', 'POST', 'PUT'])[1 + i % 3], 'https://api.example.com/v1/things/{{id}}',
       '{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}'
  from generate_series(1, 50) i;

insert into mcp_servers (name, transport, url)
select 'mcp-' || (array['files', 'calendar', 'crm', 'search', 'mail'])[1 + i % 5] || '-' || i, 'streamable_http', 'https://mcp.example.com/' || i
  from generate_series(1, 10) i;

insert into agents (name, provider_id, model, prompt_id, approvals, built_in_tool_ids)
select (array['Support', 'HR assistant', 'Legal', 'Release notes', 'SQL reviewer', 'المساعد القانوني', '社内ヘルプデスク', 'Onboarding'])[1 + i % 8] || ' ' || i,
       (select id from providers where base_url = 'http://127.0.0.1:9/v' || (1 + i % 38)),
       (array['gpt-large', 'gpt-small', 'llama-70b', 'claude-opus', 'claude-haiku', 'gemini-pro', 'mixtral', 'qwen-72b', 'phi'])[1 + i % 9] || '-' || (i % 4),
       (select id from prompts order by num offset i % 60 limit 1), '[]', case when i % 3 = 0 then '{current_time}'::text[] else '{}' end
  from generate_series(1, 300) i;

insert into agent_http_tools (agent_id, http_tool_id, place)
select a.id, t.id, t.num
  from (select id from agents order by num desc limit 1) a, http_tools t;

create temporary table filled on commit drop as
select gen_random_uuid() as session_id, gen_random_uuid() as user_id, gen_random_uuid() as reply_id, i,
       a.id as agent_id, a.provider_id, a.model,
       case
         when i % 29 = 0 then 'لماذا لم تصل رسالة التأكيد بعد ' || i
         when i % 31 = 0 then '返品の手続きについて教えてください ' || i
         when i % 97 = 0 then repeat('Donaudampfschifffahrtsgesellschaft', 4)
         else (array['How do I reset my password? The mail does not arrive, and I have looked in the spam folder too',
                     'Where is my order 48213', 'Summarise the release notes of 4.2 for people who never read release notes',
                     'Which clause covers early termination', 'Why is this query slow', 'Change my address',
                     'Refund for the lamp that arrived broken'])[1 + i % 7] || ', ' || i
       end as title,
       case when i % 4 = 0 then 'user-' || i % 400 end as end_user,
       clock_timestamp() - case when i <= 3200 then interval '1 s' * (26 * i) else interval '1 min' * i end as at,
       i <= 3200 as has_reply,
       case when i > 3200 then null
            when i % 27 = 0 then 'error'
            when i % 19 = 0 then 'cancelled'
            else 'stop' end as reason,
       (array['provider_error', 'provider_timeout', 'provider_rate_limited', 'provider_auth', 'context_length_exceeded', 'instance_lost', 'shutdown', 'internal'])[1 + (i / 27) % 8] as code,
       (array[503, null, 429, 401, 400, null, null, null])[1 + (i / 27) % 8] as status,
       repeat('The answer is in the help centre, under “Account”. Open it, choose “Security”, and ask for a new mail. ', 1 + i % 9) as answer
  from generate_series(1, 20000) i
  join lateral (select id, provider_id, model from agents order by num offset i % 300 limit 1) a on true;

insert into sessions (id, agent_id, title, end_user, status, error_code, next_seq, created_at, updated_at)
select session_id, agent_id, left(title, 200), end_user,
       case when not has_reply then 'idle' when reason = 'error' then 'error' when reason = 'cancelled' then 'cancelled' else 'complete' end,
       case when reason = 'error' then code end, case when has_reply then 5 else 1 end, at - interval '20 s', at
  from filled;

insert into messages (id, session_id, position, role, status, content, created_at)
select user_id, session_id, 0, 'user', 'complete', title || '?', at - interval '15 s' from filled where has_reply;

insert into messages (id, session_id, position, role, status, content, finish_reason, created_at, session_num, model, first_seq, frame_ends,
                      include_usage, error_code, error_message, error_detail, prompt_tokens, completion_tokens, usage_estimated, ended_at, settled_at, facts)
select f.reply_id, f.session_id, 1, 'assistant', case when reason = 'error' then 'error' else 'complete' end, answer, reason, at - interval '14 s',
       s.num, f.model, 1, array[octet_length(answer)], false, case when reason = 'error' then code end,
       case when reason = 'error' then coalesce('The provider answered ' || f.status || '.', 'The reply could not be finished.') end,
       case when reason = 'error' then coalesce('POST http://127.0.0.1:9/v1/chat/completions answered ' || f.status || ': {"error": {"message": "No."}}', 'The reply could not be finished.') end,
       100 + i % 900, 20 + i % 300, i % 11 = 0, at, at,
       jsonb_strip_nulls(jsonb_build_object('providerId', f.provider_id, 'firstTokenMs', 200 + i % 700, 'durationMs', 900 + i % 14000, 'attempts', 1,
                                            'providerStatus', case when reason = 'error' then f.status end))
  from filled f join sessions s on s.id = f.session_id
 where has_reply;

insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated, first_token_ms, duration_ms, failures)
select reply_id, at, agent_id, model, 1, 100 + i % 900, 20 + i % 300, i % 11 = 0, 200 + i % 700, 900 + i % 14000, case when reason = 'error' then 1 else 0 end
  from filled where has_reply
union all
select gen_random_uuid(), clock_timestamp() - interval '1 h' * (i * 2160 / 6000), agent_id, model, 3, 900 + i % 5000, 90 + i % 900, false, null, null, i % 40 / 39
  from filled where i <= 6000;
