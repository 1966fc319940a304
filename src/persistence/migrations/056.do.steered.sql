-- A reply that ended at a boundary because a steering message followed it.
alter table messages drop constraint messages_finish_reason_check;
alter table messages add constraint messages_finish_reason_check
  check (finish_reason in ('stop', 'length', 'content_filter', 'cancelled', 'tool_calls', 'steered', 'error')) not valid;
