-- One instance asks the issuer about a session at a time, and holds no connection while it waits for the answer.
alter table oidc_logins add column look uuid; -- of the one that asks
alter table oidc_logins add column look_ends timestamptz; -- another one may ask then
