#!/bin/sh
# One page: counts visits in Redis and says which version, pod and greeting served it.
visits=$(redis-cli -h "${REDIS_HOST:-redis}" -a "$REDIS_PASSWORD" --no-auth-warning INCR visits 2>&1)
printf 'Content-Type: text/html; charset=utf-8\r\n\r\n'
cat <<PAGE
<!doctype html>
<title>${GREETING:-Guestbook}</title>
<h1>${GREETING:-Guestbook}</h1>
<p>Version @VERSION@, served by $(hostname)
<p>Visits: $visits
PAGE
