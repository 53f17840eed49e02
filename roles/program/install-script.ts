import { offlineAptScript } from '@skerry/provisioning'
import { version } from '../runtime/version.ts'
import type { SystemLibraries } from './line-libraries.ts'
import { programBounds } from './limits-table.ts'
import { packagePath } from './package-paths.ts'
import type { PackedFile } from './packed-files.ts'

/** The program for machines of one architecture, as the script installs it. */
export interface MachineProgram {
  /** The name that `uname -m` prints. */
  readonly architecture: string
  /** The directory on the machine that is there once the program is whole. */
  readonly directory: string
  /** Files with their path on the machine. */
  readonly files: readonly (PackedFile & { readonly to: string; readonly mode: number })[]
  /** A tar file that is unpacked in the directory. */
  readonly archive: PackedFile | undefined
  /** The text of /usr/local/bin/skerry. */
  readonly launcher: string
}

const { triesMax, pauseSecondsMax, spareMegabytes, infoBytesMax } = programBounds.installScript

/** The end of the text of a launcher, in the script. */
const launcherEnd = 'END_OF_LAUNCHER'

/** The part of an offline package by which a machine without mirrors starts the program. */
export interface ScriptPackage {
  /** sha256:<hex> */
  readonly digest: string
  readonly systems: readonly SystemLibraries[]
}

/**
 * Returns the script that makes a bare machine part of a site or a hub. It is the same for everybody who asks, so that
 * its SHA-256 in a copied line pins it, and with it every file that it fetches. POSIX sh; it needs nothing that a
 * minimal Debian lacks.
 */
export function installScript(
  programs: readonly MachineProgram[],
  offline?: ScriptPackage,
): string {
  const known = programs.map(({ architecture }) => architecture).join(' and ')
  return `${head}${offline === undefined ? fromMirrors : fromPackage(offline)}${programs.map(programFunction).join('')}
choose_program() {
  case $(uname -m) in
${programs.map(({ architecture }) => `    ${architecture}) program_${architecture} ;;\n`).join('')}    *) fail "this machine is $(uname -m), and $server has the program for ${known}: start it with --machine-program" ;;
  esac
}
${tail}`
}

function programFunction(program: MachineProgram): string {
  const { architecture, directory, files, archive, launcher } = program
  if (launcher.includes(launcherEnd))
    throw new RangeError('Cannot write the launcher: it has its own end in it')
  const bytes = [archive ?? [], files].flat().reduce((sum, file) => sum + file.bytes, 0)
  const lines = [
    `directory=${directory}`,
    `needs_megabytes ${Math.ceil((bytes * unpackedShare) / 1024 ** 2) + spareMegabytes}`,
    ...files.map(
      ({ sha256, bytes: size, to, mode }) =>
        `place_file ${sha256} ${size} ${to} ${mode.toString(8)}`,
    ),
    ...(archive ? [`place_archive ${archive.sha256} ${archive.bytes}`] : []),
  ]
  return `
program_${architecture}() {
${lines.map((line) => `  ${line}\n`).join('')}  place_launcher <<'${launcherEnd}'
${launcher}${launcherEnd}
}
`
}

/** The versions and the names of systems come from a manifest whose parser lets through nothing that a shell would read. */
function fromPackage({ digest, systems }: ScriptPackage): string {
  const known = systems.map(({ release, architecture }) => `${release} on ${architecture}`)
  const path = packagePath(digest, { type: 'library', sha256: '' })
  const cases = systems.map(
    ({ release, architecture, libraries }) => `    '${release} on ${architecture}')
${libraries.map(({ name, version: own, file }) => `      library '${name}' '${own}' ${file.sha256} ${file.bytes}\n`).join('')}      ;;
`,
  )
  return `
# library NAME VERSION SHA256 BYTES
library() {
  [ "$(dpkg-query -W -f='\${db:Status-Status} \${Version}' "$1" 2>/dev/null)" != "installed $2" ] || return 0
  # A site is in the network of its nodes, whose proxy leads elsewhere.
  (
    [ "\${role:-}" != node ] || unset https_proxy http_proxy
    download "$3" "$4" "${path}$3"
  ) || exit 1
  printf '%s\\n' "$3" >>"$work/libraries"
}

install_libraries() {
  system="$(. /etc/os-release && echo "$ID-$VERSION_ID") on $(uname -m)"
  : >"$work/libraries"
  case $system in
${cases.join('')}    *) fail "package ${digest} has nothing for $system, only for ${known.join(', ') || 'none'}: make another one with --release, or a line with --no-package" ;;
  esac
  mkdir -p -m 711 /var/lib/skerry
  sh -c '${offlineAptScript.replaceAll("'", `'\\''`)}' sh "$work" libatomic1 libstdc++6 <"$work/libraries" >"$work/output" 2>&1 ||
    fail "libatomic1 and libstdc++6 cannot be installed from package ${digest}: $(reason)"
}
`
}

/** The packed file and the unpacked one are on the disk at the same time. */
const unpackedShare = 4

const head = `#!/bin/sh
# Installs skerry ${version} on a machine with Debian or Ubuntu and systemd, and joins it to the site or the hub that
# served this file. Each file that it fetches is used only if it has the SHA-256 that is written here.
set -eu

programs=/usr/local/lib/skerry
work=$programs/download
launcher=/usr/local/bin/skerry
credentials=/etc/skerry/proxy-credentials
server=
token=
directory=
proxy=
has_login=
direct=

say() {
  printf 'skerry: %s\\n' "$*"
}

fail() {
  printf 'skerry: Cannot join: %s\\n' "$*" >&2
  exit 1
}

check_machine() {
  [ "$(id -u)" -eq 0 ] || fail 'only root may: install sudo, or paste the line as root'
  [ -d /run/systemd/system ] || fail 'systemd does not run: use a system that it starts'
  command -v apt-get >/dev/null || fail 'this system has no apt: use Debian or Ubuntu'
}

# The token comes on standard input: arguments of processes can be seen by everybody on the machine.
read_token() {
  if [ -t 0 ]; then printf 'token: ' >&2; fi
  IFS= read -r token || [ -n "$token" ] || fail 'the token is missing: it comes on standard input'
  case $token in
    *[!a-z0-9.]* | *.*.* | .* | *.) fail 'standard input has no token' ;;
    *.*) ;;
    *) fail 'standard input has no token' ;;
  esac
}

needs_megabytes() {
  free=$(df -Pk "$programs" | sed -n '2s/  */ /gp' | cut -d ' ' -f 4)
  [ "$((free / 1024))" -ge "$1" ] || fail "$programs has $((free / 1024)) MB free: $1 MB are needed"
}

# Fetches the rest of a file, at most $3 bytes in all, whatever the server sends. Nothing is trusted yet.
fetch() (
  ulimit -f "$(($3 / 512 + 1))"
  if command -v curl >/dev/null; then
    exec curl -fsSk -C - --connect-timeout 20 --speed-limit 20 --speed-time 30 -o "$2" "$1"
  fi
  exec /usr/lib/apt/apt-helper -qq -o APT::Sandbox::User=root -o Acquire::Retries=0 -o Acquire::https::Timeout=30 \\
    -o Acquire::http::SendAccept=false -o Acquire::https::Verify-Peer=false -o Acquire::https::Verify-Host=false download-file "$1" "$2"
)

# Sets the proxy for everything that this script starts. Each byte of a login is encoded; no argument has it.
use_proxy() {
  [ -n "$proxy" ] || return 0
  login=
  if [ -n "$has_login" ]; then
    [ -f "$credentials" ] || fail "write user:password of the proxy into $credentials first, readable for root alone"
    IFS= read -r line <"$credentials" || [ -n "$line" ] || fail "$credentials is empty: write user:password into it"
    line=\${line%"$(printf '\\r')"}
    login="$(encoded "\${line%%:*}"):$(encoded "\${line#*:}")@"
  fi
  https_proxy=http://$login\${proxy#http://}
  http_proxy=$https_proxy
  no_proxy=$direct
  export https_proxy http_proxy no_proxy
  unset HTTPS_PROXY HTTP_PROXY NO_PROXY ALL_PROXY all_proxy
}

encoded() {
  printf '%s' "$1" | od -An -v -tx1 | tr -d ' \\n' | sed 's/../%&/g'
}

# Prints why the last one failed; apt tells that first, and ends with a line that says nothing.
reason() {
  sed '/^E: Download Failed/d' "$work/output" | tail -n 1
}

size_of() {
  if [ -f "$1" ]; then stat -c %s "$1"; else echo 0; fi
}

# Asks for what every new machine may read, before anything large is fetched: a signature for each valid token.
check_token() {
  rm -f "$work/cluster-info"
  fetch "$server/api/v1/namespaces/kube-public/configmaps/cluster-info" "$work/cluster-info" ${infoBytesMax} >"$work/output" 2>&1 ||
    fail "$server does not answer: $(reason)"
  grep -q "\\"jws-kubeconfig-\${token%%.*}\\"" "$work/cluster-info" ||
    fail "token \${token%%.*} is unknown at $server or expired: make a new line there"
  rm -f "$work/cluster-info"
}

# Leaves the file $1, its SHA-256, of $2 bytes in the work directory, whole. A download that broke off continues. The path
# is $3, or that of a file of the program.
download() {
  file=$work/$1
  had=$(size_of "$file")
  began=$had
  tries=0
  [ "$had" -eq "$2" ] || say "fetching $((($2 - had) / 1048576 + 1)) MB from $server"
  until [ "$had" -ge "$2" ]; do
    fetch "$server\${3:-/skerry/program/sha256-$1}" "$file" "$2" >"$work/output" 2>&1 || :
    have=$(size_of "$file")
    if [ "$have" -gt "$had" ]; then tries=0; else tries=$((tries + 1)); fi
    had=$have
    [ "$had" -lt "$2" ] || break
    case \${3:+$(reason)} in
      *' 404'*) fail "$server has not kept a file of its package ($(reason)): start it with --package and the directory of the whole package" ;;
    esac
    [ "$tries" -lt ${triesMax} ] || fail "$server gave $had of $2 bytes, and no more: $(reason); try again, or make a new line there"
    say "the download ended after $had of $2 bytes; it continues ($(reason))"
    if [ "$tries" -lt ${pauseSecondsMax} ]; then sleep "$tries"; else sleep ${pauseSecondsMax}; fi
  done
  echo "$1  $file" | sha256sum -c --status && return
  rm -f "$file"
  # A power cut leaves a part whose end has other content than what was fetched.
  if [ "$began" -gt 0 ]; then
    download "$@"
    return
  fi
  fail "a file of $server is another one than when the line was made, and was not used: make a new line there; if that does not help, somebody changes the files on their way"
}

# place_file SHA256 BYTES PATH MODE
place_file() {
  [ ! -f "$3" ] || return 0
  download "$1" "$2"
  mkdir -p "$directory.part"
  part=$directory.part/file
  gzip -dc <"$file" >"$part"
  chmod "$4" "$part"
  sync "$part"
  mkdir -p "$(dirname "$3")"
  mv -f "$part" "$3"
  rm -rf "$file" "$directory.part"
}

# place_archive SHA256 BYTES
place_archive() {
  [ ! -d "$directory" ] || return 0
  download "$1" "$2"
  rm -rf "$directory.part"
  mkdir -p "$directory.part"
  gzip -dc <"$file" | tar -x -f - -C "$directory.part" --no-same-owner
  sync
  mv "$directory.part" "$directory"
  rm -f "$file"
}

place_launcher() {
  rm -rf "$directory.part"
  cat >"$launcher.part"
  chmod 755 "$launcher.part"
  sync
  mv -f "$launcher.part" "$launcher"
}
`

const fromMirrors = `
install_libraries() {
  # dpkg refuses everything after a power cut until its unfinished packages are configured.
  if ls /var/lib/dpkg/updates/[0-9]* >/dev/null 2>&1; then
    DEBIAN_FRONTEND=noninteractive dpkg --force-confdef --force-confold --configure -a </dev/null >/dev/null
  fi
  DEBIAN_FRONTEND=noninteractive apt-get -qq update </dev/null
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends libatomic1 libstdc++6 </dev/null >/dev/null
}
`

const tail = `
# A minimal Debian lacks two libraries of the engine; the program itself installs everything else.
check_program() {
  "$launcher" --version >/dev/null 2>&1 && return
  say 'installing libatomic1 and libstdc++6'
  install_libraries
  "$launcher" --version >/dev/null || fail "the program in $directory does not start: remove $programs and try again"
}

main() {
  role=\${1:-}
  case $role in
    node | site) shift ;;
    *) fail 'run it as "sh <file> node --server <url> --ca-hash <hash>" or "sh <file> site …", as a site or a hub prints it' ;;
  esac
  previous=
  for word; do
    [ "$word" != -- ] || break
    case $previous in
      --server) server=\${word%/} ;;
      --proxy) proxy=\${word%/} ;;
      --direct) direct=$direct,$word ;;
    esac
    [ "$word" != --proxy-credentials ] || has_login=yes
    previous=$word
  done
  case $server in
    https://*) ;;
    *) fail '--server https://… is missing' ;;
  esac
  case $proxy in
    '' | http://*) ;;
    *) fail '--proxy is http://<host>:<port>' ;;
  esac
  check_machine
  read_token
  mkdir -p "$programs"
  mkdir -p "$work"
  chmod 700 "$work"
  exec 9>"$work/lock"
  flock -n 9 || fail 'another one runs on this machine: wait for it'
  # A hub is behind the proxy; a site is in the network of its nodes, which need the proxy for packages alone.
  [ "$role" = node ] || use_proxy
  check_token
  choose_program
  use_proxy
  check_program
  rm -rf "$work"
  say "$("$launcher" --version) is installed"
  printf '%s\\n' "$token" | "$launcher" machine "join-$role" "$@" 9>&-
}

main "$@"
`
