#!/usr/bin/env bash
# check-release.sh TAG: everything that names a version names this one, the pictures of README and docs show these pages, and
# CHANGELOG.md has its notes, which it writes to release-notes.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1#v}

named() { # WHAT VALUE
  [ "$2" = "$version" ] || { echo "$1 names version $2, the tag $version." >&2; exit 1; }
}
for manifest in package.json packages/client/package.json packages/conformance/package.json; do
  named "$manifest" "$(node -p "JSON.parse(require('node:fs').readFileSync('$manifest', 'utf8')).version")"
done
named deploy/Dockerfile "$(sed -n 's/^ARG VERSION=//p' deploy/Dockerfile)"
named deploy/compose.yaml "$(sed -n 's/^  image: greenroom://p' deploy/compose.yaml)"
named deploy/kubernetes/kustomization.yaml "$(sed -n 's/^    newTag: //p' deploy/kubernetes/kustomization.yaml)"

# In a shallow clone there is no history to see it by.
for picture in docs/pictures/*; do
  taken=$(git log -1 --format=%H -- "$picture")
  git diff --quiet "$taken" HEAD -- ui/src ||
    { echo "$picture shows the pages as they were before ui/src changed: see docs/operating/releasing.md." >&2; exit 1; }
done

grep -Eq "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md ||
  { echo "CHANGELOG.md has no section \"## $version (YYYY-MM-DD)\"." >&2; exit 1; }
awk -v version="$version" '/^## / { inside = ($2 == version); next } inside' CHANGELOG.md >release-notes.md
