/**
 * Installs Debian packages from files, with what every Debian has: `sh -c <this> sh <directory of files> <package>…`. The
 * standard input lists the SHA-256 of each file that may be used, which is also its name. apt sees these files as its
 * only source, so that neither the machine's sources nor its lists are read or changed, and nothing is removed. apt
 * compares every file with its digest again.
 */
export const offlineAptScript = `set -eu
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 LC_ALL=C
files=$1; shift
work=$(mktemp -d -p /var/lib/skerry)
trap 'rm -rf -- "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
: >"$work/Packages"
while read -r sum; do
  [ -e "$files/$sum" ] || continue
  ln -s -- "$files/$sum" "$work/$sum.deb"
  dpkg-deb --field "$work/$sum.deb" | sed -E '/^(Filename|Size|MD5sum|SHA[0-9]+):/Id' >>"$work/Packages"
  size=$(stat -L -c %s -- "$work/$sum.deb")
  printf 'Filename: ./%s.deb\\nSize: %s\\nSHA256: %s\\n\\n' "$sum" "$size" "$sum" >>"$work/Packages"
done
echo "deb [trusted=yes] file:$work ./" >"$work/sources.list"
offline() {
  apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \\
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \\
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root \\
    -o Acquire::Languages=none -o DPkg::Lock::Timeout=120 \\
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}
# dpkg refuses everything after a power cut until its unfinished packages are configured.
if ls /var/lib/dpkg/updates/[0-9]* >/dev/null 2>&1; then
  dpkg --force-confdef --force-confold --configure -a
fi
offline update
offline install -y --no-install-recommends --no-remove -- "$@"
`
