-- The call whose output holds a part: pictures and files that a caller's output brought (contract section 32). Null: the part is
-- of the message itself.
alter table message_parts add column call_id text;
