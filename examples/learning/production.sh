#!/bin/sh
# Production, as far as this example needs it: a database that is one migration behind whenever something is deployed.
behind=yes
for step in "$@"; do
	echo "$step"
	case $step in
	migrate) behind=no ;;
	deploy)
		if [ $behind = yes ]; then
			echo "error: the database is behind the code: migrate before you deploy"
			exit 1
		fi
		;;
	esac
done
