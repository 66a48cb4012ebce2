#!/usr/bin/env bash
# bare_debian.sh ROOT: a bare Debian 12 in the folder ROOT, to be entered by chroot. Ends with status 77 where none can be made
# (which takes root, mmdebstrap and a mirror).
set -euo pipefail
root=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
mmdebstrap --quiet --variant=apt --include=ca-certificates bookworm "$root" >"$log" 2>&1 ||
  { tail -n 5 "$log"; echo "SKIPPED: no bare Debian can be made here"; exit 77; }
# The network as it is here: names, and who vouches for servers.
cp /etc/resolv.conf "$root/etc/resolv.conf"
[ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
chroot "$root" apt-get update -qq || { echo "SKIPPED: the bare Debian reaches no mirror"; exit 77; }
