import { spawn } from 'node:child_process'
import { readFile, readdir, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { abortReason } from '@skerry/base'
import { mountPointsIn } from '../mounts/mount-points.ts'
import { hasCode } from '../system-error.ts'

export interface TmpfsOptions {
  sizeBytes?: number
  mode: number
}

export async function mountTmpfs(
  path: string,
  { sizeBytes, mode }: TmpfsOptions,
  signal: AbortSignal,
): Promise<void> {
  const options = [
    ...(sizeBytes === undefined ? [] : [`size=${sizeBytes}`]),
    `mode=${mode.toString(8)}`,
    'nosuid',
    'nodev',
  ].join(',')
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], signal)
}

/** Mounts `source` as it is: resolving it again could follow a link that a pod has put there. */
export async function bindMount(
  source: string,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  await run('mount', ['--no-canonicalize', '--bind', source, target], signal)
}

export async function isMountPoint(path: string): Promise<boolean> {
  return (await mountPoints()).includes(path)
}

/** Unmounts everything at and below the path, the innermost first. */
export async function unmountTree(path: string, signal: AbortSignal): Promise<void> {
  const below = (await mountPoints()).filter(
    (point) => point === path || point.startsWith(`${path}/`),
  )
  // Mounts are listed in the order in which they were made: the last one covers those before it.
  for (const point of below.toReversed()) await run('umount', ['-l', point], signal)
}

/**
 * Unmounts, then removes the tree. It never descends into a mount that could not be undone, which may be a
 * volume with data.
 */
export async function removeTree(path: string, signal: AbortSignal): Promise<void> {
  await unmountTree(path, signal)
  const left = (await mountPoints()).filter((point) => point.startsWith(`${path}/`))
  if (left.length > 0) {
    throw new Error(`Cannot remove ${path}: ${left.join(', ')} is still mounted`)
  }
  await removeEntries(path)
}

/** Follows no symbolic link. */
async function removeEntries(path: string): Promise<void> {
  let entries
  try {
    entries = await readdir(path, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  for (const entry of entries) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await removeEntries(child)
    else await unlink(child)
  }
  await rmdir(path)
}

async function mountPoints(): Promise<string[]> {
  return mountPointsIn(await readFile('/proc/self/mountinfo', 'utf8'))
}

function run(command: string, args: readonly string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortReason(signal))
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    const errors: Buffer[] = []
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) return resolve()
      const reason = Buffer.concat(errors).toString().trim() || `exit code ${code}`
      reject(new Error(`Cannot run ${command} ${args.join(' ')}: ${reason}`))
    })
  })
}
