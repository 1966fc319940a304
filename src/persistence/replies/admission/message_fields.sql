-- revision 7
/* Reads a message as admit_message takes it. The columns are the table of its parameters: name, type, meaning, default. An
   absent field is null. Adds text, added (the bytes that the message brings), is_regenerate (a user's message is answered
   again) and has_question (a user's message is stored).
   These fields are read elsewhere:
     make_session   boolean  make a session that does not exist for end_user, with the message or not at all; absent: not_found
     external_id    text     external id of a session that is made; absent: none
     begins         jsonb    content of a session that is made, {title, metadata, messages, bytes, waits: {reply_id, carried}}; absent: nothing
     max_user_sessions bigint  most sessions of its user with the agent, if one is made; absent: any number
     secret_number  bigint   number of the client secret that makes the session; absent: none
     input          text     what is stored of a message that waits in the queue, see enqueue_message; absent: nothing */
create or replace function message_fields(p_message jsonb, p_text text) returns record stable language plpgsql as $$
declare
  m record;
begin
  select x.*, p_text as text, coalesce(x.place ? 'regenerate', false) as is_regenerate,
         x.decisions is null and not coalesce(x.place ? 'regenerate', false) as has_question,
         case when x.decisions is not null then coalesce(parts_bytes(x.parts), 0)
              when x.place ? 'regenerate' or x.is_queued then 0 -- from the queue: it is counted
              else octet_length(p_text) + coalesce(parts_bytes(x.parts), 0) end as added
    into m
    from jsonb_to_record(p_message) as x(
      agent_id          uuid,    -- agent of the session
      session_id        uuid,    -- session of the message
      end_user          text,    -- user whose session it must be; absent: anybody's
      user_id           uuid,    -- id of the user's message
      reply_id          uuid,    -- id of the reply; a repeated call is recognized by it
      model             text,    -- model of the reply
      include_usage     boolean, -- whether the client wants the usage
      key               text,    -- idempotency key; absent: none
      body_hash         text,    -- hash of the request of that key, in hex
      is_retry          boolean, -- whether the client says that it sends the message again; absent: no
      may_start         boolean, -- whether a reply may begin; false: the call only looks
      configuration     bigint,  -- version of the configuration that the request was made from; absent: any
      pin               bigint,  -- pin of the session that the request was made from, 0: none; absent: any
      derived_title     text,    -- title for a session without one whose first message this is; absent: none
      title_is_draft    boolean, -- whether a model's title is to replace it; absent: no
      place             jsonb,   -- place in the tree, see find_place; absent: after the head
      parts             jsonb,   -- [{type, sha256 (hex), media_type, filename, size, detail, source_url, text_place,
                                 -- stored_as (hex), call_id (of an output)}] in their order; a look needs sha256 or source_url; absent: none
      facts             jsonb,   -- what is known of the reply, as messages.facts; absent: nothing
      texts             jsonb,   -- texts that the facts name, see keep_texts; absent: none
      decisions         jsonb,   -- decisions instead of a user's message, see decide_calls; absent: a user's message
      wait_id           uuid,    -- reply that the decisions are about
      decisions_hash    text,    -- hash of the decisions, in hex
      in_part           boolean, -- whether they may decide a part of what is pending; absent: an older version decides
      decided_by        text,    -- who decides, or sends the message that rejects waiting calls
      answers           jsonb,   -- results of the caller's calls next to a user's message, see answer_calls; absent: none
      uses_values       boolean, -- whether the session's values are in the answer, and in facts until the reply ends; absent: no
      on_busy           text,    -- interrupt, enqueue or steer a running reply; absent: the message is refused
      may_queue         boolean, -- whether the message may wait in the queue here; absent: no
      is_queued         boolean, -- whether the message comes from the queue, see begin_next; absent: no
      max_session_bytes bigint,  -- most bytes of the session with the message; absent: any number
      max_user_bytes    bigint,  -- most bytes of all sessions of its user with the agent; absent: any number
      limits            jsonb,   -- limits that count the request, see judge_limits; absent: none
      history           jsonb);  -- {within, max_bytes, max_tool_text}: the answer has the history (path_history) of a session
                                 -- that holds `within` bytes at most before the message; absent: never
  return m;
end $$;
