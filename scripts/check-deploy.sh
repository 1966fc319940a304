#!/usr/bin/env bash
# Checks deploy/ with the programs that read it. Missing ones are installed through apt, by root; elsewhere they are named.
set -euo pipefail
cd "$(dirname "$0")/../deploy"
export PATH="$PATH:/usr/sbin"

need() { # PROGRAM PACKAGE
  command -v "$1" >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # Debian starts no service of a package where the policy forbids it.
    if [ ! -e /usr/sbin/policy-rc.d ]; then
      trap 'rm -f /usr/sbin/policy-rc.d' EXIT
      printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
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
caddy validate --adapter caddyfile --config Caddyfile 2>/dev/null

need haproxy haproxy
haproxy -c -f haproxy.cfg 2>/dev/null
