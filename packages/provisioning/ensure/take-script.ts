/**
 * Makes its standard input the plan of a machine that has none, whole and at once, and prints the plan that the machine
 * has then: `sh -c <this> sh <settings of roles> <plan>`. The settings come first, as for the preflight. It is constant.
 */
export const takeScript = `set -eu
settings=$1 plan=$2
if [ -s "$settings" ]; then exec cat -- "$settings"; fi
install -d -m 0755 -- "\${plan%/*}"
# A power cut may have left an empty one. A plan that another call has just made is never removed.
if [ -e "$plan" ] && [ ! -s "$plan" ]; then rm -f -- "$plan"; fi
umask 077
part=$plan.$$
trap 'rm -f -- "$part"' EXIT
# One that was left behind may be a link to the plan, which must not be written.
rm -f -- "$part"
cat >"$part"
ln -T -- "$part" "$plan" 2>/dev/null || [ -s "$plan" ]
cat -- "$plan"
`
