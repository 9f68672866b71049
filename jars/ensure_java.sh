#!/bin/sh
# Makes sure that there is a Java 17 or newer, as Spark finds it: JAVA_HOME, else the PATH.
# On Debian and Ubuntu, as root, a missing one is installed; elsewhere the message says what to install.

if [ -n "$JAVA_HOME" ]; then java="$JAVA_HOME/bin/java"; else java=java; fi

version() { "$java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9][0-9]*\).*/\2/p' | head -n 1; }

found=$(version)
[ "${found:-0}" -ge 17 ] && exit 0

if [ -z "$JAVA_HOME" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing openjdk-17-jre-headless (Spark needs Java 17, found: ${found:-none})"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless >/dev/null
    found=$(version)
    [ "${found:-0}" -ge 17 ] && exit 0
fi

echo "Spark needs Java 17 or newer, found: ${found:-none}${JAVA_HOME:+ (JAVA_HOME is $JAVA_HOME)}." >&2
echo "Debian and Ubuntu:  apt-get install openjdk-17-jre-headless   (as root)" >&2
echo "macOS:              brew install openjdk@17" >&2
echo "others:             https://adoptium.net" >&2
exit 1
