#!/bin/sh
# Makes sure that there is a Chromium, for a screenshot of a chart. On Debian, as root, a missing one is installed.

command -v chromium >/dev/null && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing chromium"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null
    command -v chromium >/dev/null && exit 0
fi

echo "make test-bi takes a screenshot with Chromium, and there is no 'chromium' on the PATH." >&2
echo "Debian:  apt-get install chromium   (as root)" >&2
exit 1
