/**
 * The script that runs every command on a machine. It is constant, and so are the words with which SSH's shell
 * starts it: what a command consists of travels in a file, each word ended by a NUL, and no shell reads it. Files
 * are named by number and lie in a directory that only root and its maker can read.
 *
 * A command does not learn over SSH that its channel or connection has ended, so the machine itself bounds its time, and a second
 * call ends it at once. Whichever comes second, the note or the start, sees the other. A third call stays for as long
 * as the login, and cleans up even if the hub was killed: a step that is repeated never meets its former attempt.
 */
export const runScript = `#!/bin/sh
# run <number> <directory> <seconds>: runs the command in args-<number>; its exit code is left in code-<number>.
# run <number> <directory> end: ends that command with all that it has started in its group.
# run <number> <directory> stay: waits for the end of the login, then ends its commands and removes the directory. First
# it removes the directories of logins that ended with the power of the machine.
umask 077
cd "$2" || exit 125
number=$1
if [ "$3" = end ]; then
  : >"ended-$number"
  read -r group <"pid-$number" && kill -s KILL -- "-$group"
  exit 0
fi
if [ "$3" = stay ]; then
  trap '' HUP
  read -r boot </proc/sys/kernel/random/boot_id
  : >"boot-$boot"
  for other in "\${2%/*}"/.skerry-*; do
    [ -d "$other" ] && [ ! -L "$other" ] && [ ! -e "$other/boot-$boot" ] || continue
    # A login that has just begun has no mark yet.
    marks=$(find "$other" -maxdepth 1 \\( -name 'boot-*' -o -path "$other" -mmin +1440 \\) | head -n 1)
    [ -z "$marks" ] || rm -rf -- "$other"
  done
  cat >/dev/null
  for file in pid-*; do
    read -r group 2>/dev/null <"$file" && kill -s KILL -- "-$group"
  done
  cd / && rm -rf -- "$2"
  exit 0
fi
xargs -0 -x -n 10000 sh -c '
  number=$1; seconds=$2; shift 2; home=$PWD; cd /
  timeout -k 5 "$seconds" "$@" <&3 &
  echo $! >"$home/pid-$number"
  [ ! -e "$home/ended-$number" ] || kill -s KILL $!
  wait $!
  echo $? >"$home/code-$number"
' sh "$number" "$3" 3<&0 <"args-$number"
read -r code <"code-$number" || code=125
rm -f "args-$number" "code-$number" "pid-$number"
exit "$code"
`

/** Returns the words of a command as the script reads them. Throws a RangeError if one contains a NUL. */
export function wordsOf(command: readonly string[], bytesMax: number): Buffer {
  for (const word of command) {
    if (word.includes('\0')) throw new RangeError('Cannot run a command: a word contains a NUL')
  }
  const words = Buffer.from(command.map((word) => `${word}\0`).join(''))
  if (words.length > bytesMax) {
    throw new RangeError(`Cannot run a command: its words are longer than ${bytesMax} bytes`)
  }
  return words
}
