#!/usr/bin/env bash
# Builds the image, brings deploy/compose.yaml up, asks for a reply through nginx, and stops the instance that gives it, which
# finishes it first. Needs Docker and port 8080. Leaves nothing behind but the image.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
url=http://127.0.0.1:8080
json='content-type: application/json'

key=$(openssl rand -hex 32)
cat >"$work/env" <<EOF
SECRET_KEY=$(openssl rand -hex 32)
POSTGRES_PASSWORD=$(openssl rand -hex 24)
PUBLIC_API_KEY=$key
AUTH_CREDENTIALS=admin:$key
EOF
compose() { docker compose --project-name greenroom-try --env-file "$work/env" --file deploy/compose.yaml "$@"; }
finish() {
  status=$?
  [ $status = 0 ] || compose logs --tail 30 >&2 || true
  compose down --volumes --timeout 5 >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT

fail() { echo "$1" >&2; exit 1; }
call() { curl --silent --show-error --fail --no-buffer --cookie "$work/login" --header "$json" "$@"; }
made() { call "$@" | sed 's/.*"id":"\([^"]*\)".*/\1/'; }

compose up --build --detach --wait --wait-timeout 300
[ "$(call $url/readyz)" = '{"status":"ready","checks":{"database":"ok","cache":"ok"}}' ] || fail "Not ready: $(call $url/readyz)"

call --cookie-jar "$work/login" --data "{\"username\":\"admin\",\"password\":\"$key\"}" $url/api/auth/login
provider=$(made --data '{"name":"Demo","providerType":"demo"}' $url/api/v1/settings/providers)
agent=$(made --data "{\"name\":\"Demo\",\"providerId\":\"$provider\",\"model\":\"demo\"}" $url/api/v1/agents)
sessions=$url/api/v1/agents/$agent/deploy/sessions
session=$(made --header "authorization: Bearer $key" --request POST $sessions)

call --header "authorization: Bearer $key" --data '{"stream":true,"messages":[{"role":"user","content":"/slow 12"}]}' \
  "$sessions/$session/chat/completions" >"$work/reply" &
reply=$!
for _ in $(seq 100); do grep -q '"content":"[^"]' "$work/reply" && break; sleep 0.1; done
compose stop greenroom-1 greenroom-2 greenroom-3
wait $reply || fail "The stream broke off: $(tail -c 300 "$work/reply")"
tail -2 "$work/reply" | grep -q '^data: \[DONE\]$' || fail "The reply ended so: $(tail -c 300 "$work/reply")"
for instance in 1 2 3; do
  code=$(docker inspect --format '{{.State.ExitCode}}' "greenroom-try-greenroom-$instance-1")
  [ "$code" = 0 ] || fail "Instance $instance ended with $code."
done
image=$(compose images --quiet greenroom-1 | head -1)
echo "Ready, streamed, drained. The image: $(($(docker inspect --format '{{.Size}}' "$image") / 1000000)) MB."
