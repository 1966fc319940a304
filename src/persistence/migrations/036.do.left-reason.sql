-- Why a part of the history was not sent with a model's request (contract section 19). Null: all was, or nobody knows.
alter table model_requests add column left_reason text
  constraint model_requests_left_reason check (left_reason in ('budget', 'provider_limit', 'compacted'));
