-- The bits of an element are not what they were: all messages are made searchable anew.
truncate message_signatures, signature_slices;
update signature_progress set changed = null, backlog = null, given = 0, sliced = 0, open_bytes = 0;
