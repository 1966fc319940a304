-- A database may be published whole (blue/green deployments, moves without downtime): the server then refuses to change or
-- delete rows of a table without an identity. Their rows have no key of their own, and an index would cost each write.
alter table key_changes replica identity full;
alter table login_failures replica identity full;
alter table limit_usage replica identity full;
