#!/bin/sh
# Stands in for the agents: what it does is its first word.
case $1 in
call) # is asked too often at first
	cat >/dev/null
	if [ ! -e .asked ]; then
		touch .asked
		echo '{"type":"error","kind":"rate_limited","message":"too many requests","retry_after":0.1}'
		exit
	fi
	rm .asked
	echo '{"orders": 3}' ;;
train) # never ends, and neither does what it has started
	cat >/dev/null
	sleep 600 &
	echo $! >.child
	wait ;;
terminate) echo "terminated after a $2" ;;
draft) # tells what it has, and goes on
	cat >/dev/null
	echo '{"type":"partial","output":{"text":"a draft","score":0.4}}'
	sleep 600 ;;
answer)
	cat >/dev/null
	echo '{"text":"done","score":0.9}' ;;
esac
