#!/usr/bin/env bash
# Starts nginx, HAProxy and Caddy with the shipped files, only addresses replaced: first with no instance there, then with
# one that drains and one that serves. Fails where an error is not JSON in the endpoint's format, where a log holds a client
# secret, or where nginx or HAProxy lets a drain's 503 through. Needs the three, curl, and ports 18080 to 18084.
set -euo pipefail
cd "$(dirname "$0")/../../deploy"
export PATH="$PATH:/usr/sbin"

made=$(mktemp -d)
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$made"
}
trap finish EXIT
fail() { echo "$1" >&2; exit 1; }

deploy=/api/v1/agents/a/deploy/chat/completions
secret=client-secret-of-a-user
proxies='nginx:18080 haproxy:18081 caddy:18082'

# What stands for the instances: one that drains, which is alive and refuses all work, and one that serves.
cat >"$made/instances.conf" <<'EOF'
error_log /dev/null emerg;
events {}
http {
  access_log off;
  server {
    listen 127.0.0.1:18083;
    location = /livez { return 200 '{}'; }
    location / { default_type application/json; return 503 '{"error":"This instance is draining."}'; }
  }
  server {
    listen 127.0.0.1:18084;
    location / { default_type application/json; return 200 '{"served":true}'; }
  }
}
EOF

# Three addresses in the place of the three instances' names.
placed() { # FILE ADDRESS ADDRESS ADDRESS
  sed -E -e "s/greenroom-1:8080/$2/" -e "s/greenroom-2:8080/$3/" -e "s/greenroom-3:8080/$4/" \
    -e 's/listen 8080;/listen 127.0.0.1:18080;/' -e '/^pid /d' -e 's/worker_connections 16384/worker_connections 256/' \
    -e 's/bind :8080/bind 127.0.0.1:18081/' -e 's/maxconn 8192/maxconn 256/' \
    -e 's/^greenroom\.example\.com/http:\/\/127.0.0.1:18082/' -e 's/^\tlog default/\tadmin off\n\tlog default/' "$1" >"$made/$1"
}

started() { # ADDRESS ADDRESS ADDRESS
  for file in nginx.conf haproxy.cfg Caddyfile; do placed $file "$@"; done
  nginx -e stderr -c "$made/nginx.conf" -g "daemon off; pid $made/nginx.pid;" >"$made/nginx.log" 2>&1 & pids+=($!)
  haproxy -f "$made/haproxy.cfg" >"$made/haproxy.log" 2>&1 & pids+=($!)
  caddy run --adapter caddyfile --config "$made/Caddyfile" >"$made/caddy.log" 2>&1 & pids+=($!)
  for proxy in $proxies; do
    for ((tries = 0; ; tries += 1)); do
      curl --silent --output /dev/null "http://127.0.0.1:${proxy#*:}/livez" && break
      [ $tries -lt 100 ] || fail "${proxy%:*} does not listen: $(cat "$made/${proxy%:*}.log")"
      sleep 0.1
    done
  done
}

stopped() {
  for pid in "${pids[@]}"; do kill "$pid"; done
  wait
  pids=()
}

ask() { # PORT PATH [CURL'S OPTIONS]: status, type and body on one line
  curl --silent --max-time 60 --write-out '\n%{http_code} %{content_type}' "${@:3}" "http://127.0.0.1:$1$2" |
    { read -r body; read -r status; echo "$status $body"; }
}

unlogged() {
  for proxy in $proxies; do
    ! grep -q "$secret" "$made/${proxy%:*}.log" || fail "${proxy%:*} logs a client secret: $(grep -m1 "$secret" "$made/${proxy%:*}.log")"
  done
}

started 127.0.0.1:9 127.0.0.1:9 127.0.0.1:9
for proxy in $proxies; do
  for path in $deploy /api/v1/agents; do
    field=message
    [ $path = $deploy ] && field=error
    said=$(ask "${proxy#*:}" "$path?access_token=$secret")
    [[ $said =~ ^50[234]\ application/json\ \{\"$field\":\"[^\"]+\"\}$ ]] || fail "${proxy%:*}, no instance, $path: $said"
  done
  echo "${proxy%:*}: $said"
done
unlogged
stopped

nginx -e stderr -c "$made/instances.conf" -g "daemon off; pid $made/instances.pid;" & instances=$!
started 127.0.0.1:18083 127.0.0.1:18083 127.0.0.1:18084
pids+=("$instances")
for proxy in nginx:18080 haproxy:18081; do
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    for sent in "$deploy --data {}" "$deploy/stream?access_token=$secret"; do
      said=$(ask "${proxy#*:}" $sent)
      [ "$said" = '200 application/json {"served":true}' ] || fail "${proxy%:*}, while two instances drain: $said"
    done
  done
  echo "${proxy%:*}: a drain's 503 goes to the next instance"
done
unlogged
grep -q "Caddy cannot do that itself" Caddyfile
echo 'No log holds the client secret.'
