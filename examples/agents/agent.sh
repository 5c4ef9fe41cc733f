#!/bin/sh
# Counts the words of its task. It reads plain text (input = "text") and answers in lines of JSON.
set -eu
task=$(cat)
if [ -z "$task" ]; then
	echo '{"type":"error","kind":"blocking","message":"the task is empty"}'
	exit 1
fi
echo '{"type":"heartbeat"}'

# The key is the same however often the same work is tried: what was done under it is not done again.
done="${TMPDIR:-/tmp}/words-sh-$FLOWRUN_IDEMPOTENCY_KEY"
if [ ! -e "$done" ]; then
	echo '{"type":"progress","percent":50,"message":"counting"}'
	printf '%s\n' "$task" | wc -w | tr -d ' ' >"$done.part"
	mv "$done.part" "$done"
fi
echo "{\"type\":\"result\",\"output\":{\"words\":$(cat "$done")}}"
