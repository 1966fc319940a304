-- What providers count besides (contract section 19): read from a cache, written to one, spent on reasoning. The first two are
-- part of prompt_tokens, the third of completion_tokens.
alter table token_usage
  add column cached_tokens      bigint not null default 0,
  add column cache_write_tokens bigint not null default 0,
  add column reasoning_tokens   bigint not null default 0;

-- Most tokens of an agent's history, prompt and tools included. Null: the installation's HISTORY_MAX_TOKENS.
alter table agents add column history_max_tokens integer
  constraint agents_history_max_tokens check (history_max_tokens >= 1000);
