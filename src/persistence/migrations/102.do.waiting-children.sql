-- Calls of agents that wait for their sessions: few of all that wait, and looked at once a second.
create index waiting_calls_children on waiting_calls (session_id) where open and kind = 'child';
