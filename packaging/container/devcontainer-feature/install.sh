#!/bin/sh
# Installs the static programs that lie beside this file (scripts/release static puts them there).
set -eu
cd "$(dirname "$0")"
install -m 755 agent-sh agent-shctl /usr/bin/
install -d /usr/lib/agent-sh/bin /usr/lib/agent-sh/real
for name in bash sh dash zsh; do
    ln -sf ../../../bin/agent-sh "/usr/lib/agent-sh/bin/$name"
done
if [ "${DIVERTSH:-true}" = true ]; then
    agent-shctl install --divert-sh
fi
