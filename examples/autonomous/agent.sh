#!/bin/sh
# Stands for an agent that works on a repository: it notes what it was asked to do, and says that it is done.
task=$(sed -n 's/.*"task":"\([^"]*\)".*/\1/p')
printf '%s: %s\n' "$1" "$task" >> "${AUTONOMOUS_LOG:-work.log}"
printf '{"type":"result","output":"done"}\n'
