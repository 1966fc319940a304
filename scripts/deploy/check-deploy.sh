#!/usr/bin/env bash
# Checks deploy/ with the programs that read it. Missing ones are installed through apt, by root; elsewhere they are named.
set -euo pipefail
cd "$(dirname "$0")/../../deploy"
export PATH="$PATH:/usr/sbin"

made=$(mktemp -d)
policy=
trap 'rm -rf "$made" $policy' EXIT

need() { # PROGRAM PACKAGE
  command -v "$1" >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # Debian starts no service of a package where the policy forbids it.
    if [ ! -e /usr/sbin/policy-rc.d ]; then
      policy=/usr/sbin/policy-rc.d
      printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$2" >/dev/null ||
      { apt-get update >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$2" >/dev/null; }
  fi
  command -v "$1" >/dev/null || { echo "$1 not found. To be installed by: apt-get install $2" >&2; exit 1; }
}

need promtool prometheus
promtool check rules prometheus-alarms.yaml
promtool test rules prometheus-alarms.test.yaml

need systemd-analyze systemd
systemd-analyze verify systemd/greenroom.service

need caddy caddy
caddy validate --adapter caddyfile --config Caddyfile >"$made/caddy.log" 2>&1 || { cat "$made/caddy.log" >&2; exit 1; }

# These resolve the instances' names, which nobody has here.
here() { sed -E 's/greenroom-[0-9]:8080/127.0.0.1:8080/' "$1" >"$made/$1"; }

need haproxy haproxy
here haproxy.cfg
haproxy -c -f "$made/haproxy.cfg"

need nginx nginx-light
here nginx.conf
nginx -t -e stderr -c "$made/nginx.conf"

# Debian's kubectl is older than the fields of these files: another one is used where there is one.
for folder in kubernetes overlays/*; do
  if command -v kubectl >/dev/null; then
    kubectl kustomize "$folder" >/dev/null
    echo "$folder: valid"
  else
    echo "$folder: not checked, there is no kubectl"
  fi
done

../scripts/deploy/try-proxies.sh
