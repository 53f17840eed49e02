/**
 * The script that runs every command on a machine. It is constant, and so are the words with which SSH's shell
 * starts it: what a command consists of travels in a file, each word ended by a NUL, and no shell reads it. Files
 * are named by number and lie in a directory that only root and its maker can read.
 */
export const runScript = `#!/bin/sh
# run <number> <directory>: runs the command in args-<number>; its exit code is left in code-<number>.
umask 077
cd "$2" || exit 125
number=$1
xargs -0 -x -n 10000 sh -c 'number=$1; shift; cd /; "$@" <&3; echo $? >"$OLDPWD/code-$number"' sh "$number" \\
  3<&0 <"args-$number"
read -r code <"code-$number" || code=125
rm -f "args-$number" "code-$number"
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
