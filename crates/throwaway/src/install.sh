# Installs the Debian package $1 without starting its service: `policy-rc.d` answering 101 is Debian's documented
# way to say "no service may start now". One that is there already (container images bring it) is left alone.
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' INT TERM HUP
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
get() { apt-get -qq -o DPkg::Lock::Timeout=120 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@"; }
# The package lists may be absent (fresh images) or older than the mirror.
get install -y --no-install-recommends "$1" || { get update && get install -y --no-install-recommends "$1"; }
