#!/bin/sh
# Stands in for an agent: it reads a request and says that the task is done.
cat >/dev/null
echo '{"done": true}'
