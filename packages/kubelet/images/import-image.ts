import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { abortReason } from '@skerry/base'

export interface ImportOptions {
  /** The socket of containerd. */
  socket: string
  /** The directory that is synced after the import: containerd 1.6 does not sync what it unpacks. */
  rootDirectory: string
  /** A prefix for the images of an OCI layout whose index gives only tags. */
  baseName?: string
  ctrBinary?: string
}

/**
 * Imports a Docker archive or an OCI layout, plain or compressed. Resolves with the full references of its
 * images, once they are durably on disk.
 */
export async function importImage(
  tarFile: string,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const args = ['--address', options.socket, '--namespace', 'k8s.io', 'images', 'import']
  if (options.baseName !== undefined) args.push('--base-name', options.baseName)
  const ctr = options.ctrBinary ?? 'ctr'
  if (await isSince2(ctr, signal)) args.push('--local')
  const output = await run(ctr, [...args, tarFile], signal)
  const references = [...output.matchAll(/^unpacking (\S+)/gm)].flatMap(([, name]) => name ?? [])
  if (references.length === 0) {
    throw new Error(`Cannot import ${tarFile}: it names no image for this machine's architecture`)
  }
  await syncFilesystem(options.rootDirectory, signal)
  return references
}

/** From containerd 2 on, ctr leaves the import to the daemon unless it is told, and prints other lines. */
async function isSince2(ctr: string, signal: AbortSignal): Promise<boolean> {
  const major = /(\d+)\.\d+\.\d+/.exec(await run(ctr, ['--version'], signal))?.[1]
  return Number(major ?? 0) >= 2
}

/** The same for an archive that is made here, such as the pause image. */
export async function importArchive(
  archive: AsyncIterable<Uint8Array>,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-image-'))
  try {
    const file = join(directory, 'image.tar')
    await writeFile(file, archive)
    return await importImage(file, options, signal)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Syncs a file system: after a power cut a pulled image must be complete or missing, never partial. */
export async function syncFilesystem(path: string, signal: AbortSignal): Promise<void> {
  await run('sync', ['-f', path], signal)
}

function run(command: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortReason(signal))
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], signal })
    const output: Buffer[] = []
    const errors: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
    child.once('error', (error) => reject(signal.aborted ? abortReason(signal) : error))
    child.once('close', (code) => {
      if (code === 0) return resolve(Buffer.concat(output).toString())
      const reason = Buffer.concat(errors).toString().trim()
      reject(new Error(`Cannot run ${command} ${args.join(' ')}: ${reason || `exit code ${code}`}`))
    })
  })
}
