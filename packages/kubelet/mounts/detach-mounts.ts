import { execFile } from 'node:child_process'
import { readFile, realpath, statfs } from 'node:fs/promises'
import { promisify } from 'node:util'
import { exists } from '../system-error.ts'
import { mountPointsIn } from './mount-points.ts'

const execute = promisify(execFile)

/** The type of the file system of namespaces in statfs (linux/magic.h). */
const nsfsMagic = 0x6e73_6673

/** A mount below another of the same place is listed before it; both have the same path. */
async function mountsBelow(path: string): Promise<string[]> {
  return mountPointsIn(await readFile('/proc/self/mountinfo', 'utf8')).filter((mount) =>
    isAtOrBelow(mount, path),
  )
}

function isAtOrBelow(mount: string, path: string): boolean {
  return mount === path || mount.startsWith(`${path}/`)
}

/**
 * Detaches mounts below a path, innermost first, including stacked ones, and at it unless that is a disk of its own.
 * Returns those that cannot be detached: mounts beneath another program's mount over a directory above.
 */
export async function detachMounts(
  path: string,
  { keepsOwn = false }: { readonly keepsOwn?: boolean } = {},
): Promise<string[]> {
  for (;;) {
    const all = await mountsBelow(path)
    const mounts = keepsOwn ? all.filter((mount) => mount !== path) : all
    let detachedCount = 0
    for (const mount of mounts.toReversed()) {
      // A mount beneath another one becomes reachable once that one is gone, in the next round.
      detachedCount += await execute('umount', ['--lazy', mount]).then(
        () => 1,
        () => 0,
      )
    }
    if (mounts.length === 0 || detachedCount === 0) return mounts
  }
}

/**
 * The script may unmount everything above the path, because its mount namespace is its own. Removing
 * the path there makes the kernel detach its mounts in every namespace (since Linux 3.18), and touches
 * no mount of other programs. Nothing is removed while a mount at or below the path is left: it may
 * hold somebody's data.
 */
const removalScript = `
escaped=$1 path=$2 rounds=0
while :; do
  mount=
  while read -r _ _ _ _ point _; do
    case $point in "$escaped" | "$escaped"/*) mount=$point ;; esac
  done < /proc/self/mountinfo
  [ -n "$mount" ] || break
  rounds=$((rounds + 1))
  [ "$rounds" -le 10000 ] || { echo "$mount stays mounted" >&2; exit 1; }
  mount=$(printf '%b' "$mount")
  until umount -l -- "$mount" 2> /dev/null; do
    mount=\${mount%/*}
    [ -n "$mount" ] || { echo "$path stays mounted" >&2; exit 1; }
  done
done
exec rm -rf --one-file-system -- "$path"
`

/** Removes a file or directory, and with it mounts on it and below it, also those beneath others. */
export async function removeWithMounts(path: string): Promise<void> {
  const escaped = path.replaceAll(/[\s\\]/g, (char) =>
    String.fromCharCode(92).concat(char.charCodeAt(0).toString(8).padStart(3, '0')),
  )
  const shell = ['sh', '-c', removalScript, 'sh', escaped, path]
  await execute('unshare', ['--mount', '--propagation', 'private', ...shell])
}

/**
 * Removes the file of a network namespace that its runtime can no longer remove: the namespace is
 * mounted there beneath a mount over the directory, as `ip netns add` makes it. False: it is not so.
 */
export async function releaseCoveredNamespace(file: string): Promise<boolean> {
  if (!(await exists(file))) return false
  // The path contains /var/run, which containerd writes; the kernel shows its target.
  const path = await realpath(file)
  const isListed = (await mountsBelow(path)).length > 0
  if (!isListed || (await statfs(path)).type === nsfsMagic) return false
  await removeWithMounts(path)
  return true
}
