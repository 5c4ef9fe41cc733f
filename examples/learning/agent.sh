#!/bin/sh
# An agent that stands in for a model: it knows how to deploy, and some things that can be done before. Which of them it does
# it decides from what it was told that was learned, and from nothing else.
set -eu
lessons=$(sed -n '/^<memory/,/^<\/memory>/p')

plan=""
for measure in backup drain migrate; do
	case $lessons in *"$measure"*) plan="$plan$measure ";; esac
done
plan="${plan}deploy"

sh production.sh $plan >&2
echo "{\"type\":\"result\",\"output\":{\"plan\":\"$plan\"}}"
