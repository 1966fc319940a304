-- The API by which providers of the types openai and openai-compatible are called. Null: chat completions, as all that were
-- made before this, and as those that an older version makes beside it.
alter table providers add column wire_api text
  constraint providers_wire_api check (wire_api in ('chat_completions', 'responses'));
