import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { isSea } from 'node:sea'
import { pipeline } from 'node:stream/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { ProgramFiles } from '@skerry/provisioning'
import { version } from '../runtime/version.ts'

export interface MachinePrograms {
  /** The program for machines: the path of an executable by architecture, x86_64 or aarch64. */
  readonly programs?: Readonly<Record<string, string>>
  /** The directory of a bundle for machines of this one's own architecture. If omitted, what the role runs from. */
  readonly bundleDirectory?: string
}

export interface ProgramOptions extends MachinePrograms {
  /** Where archives for machines are kept. */
  readonly archiveDirectory: string
  /** The role that gives the program away, for messages. */
  readonly role: 'hub' | 'site'
}

/** There is no program for such machines; the message says how to give one. */
export class NoProgramError extends ExpectedError {
  constructor(message: string) {
    super(message, exitCodes.missingDependency)
    this.name = 'NoProgramError'
  }
}

export const machineArchitectures = Object.freeze(['x86_64', 'aarch64'] as const)

export const ownArchitecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

/**
 * Returns the program for machines of an architecture: a given executable, or what the role itself runs from. The
 * directory on the machine is named after the content, so that an old program stays until the new one is whole.
 * Rejects with a NoProgramError if there is none.
 */
export async function programForMachines(
  architecture: string,
  { programs = {}, bundleDirectory, archiveDirectory, role }: ProgramOptions,
  signal: AbortSignal,
): Promise<ProgramFiles> {
  // The machine says which it is: anything, if it is hostile.
  const given = Object.hasOwn(programs, architecture) ? programs[architecture] : undefined
  if (given !== undefined) return executable(given, signal)
  if (architecture !== ownArchitecture) {
    const text = `the ${role} has no program for ${architecture}: start it with --machine-program ${architecture}=<path>, which ./skerry build makes on such a machine`
    throw new NoProgramError(text)
  }
  if (isSea()) return executable(process.execPath, signal)
  const script = process.argv[1] ?? ''
  const directory = bundleDirectory ?? dirname(script)
  if (bundleDirectory === undefined && basename(script) !== 'skerry.mjs') {
    const text = `the ${role} runs from its sources, which machines cannot: start it with ./skerry, or give --machine-program`
    throw new NoProgramError(text)
  }
  return bundle(directory, archiveDirectory, signal)
}

async function executable(from: string, signal: AbortSignal): Promise<ProgramFiles> {
  const digest = await digestOf(from, signal)
  return {
    version: `${version}-${digest}`,
    files: [{ from, to: 'skerry', mode: 0o755 }],
    launcher: (directory) => `${launcherHead}exec ${directory}/skerry "$@"\n`,
  }
}

/** The engine and the bundle, started as the launcher of a repository starts them. */
async function bundle(
  directory: string,
  archiveDirectory: string,
  signal: AbortSignal,
): Promise<ProgramFiles> {
  const flags = await readdir(join(directory, 'engine-flags'))
  const scripts = [
    ...(await chunksOf(directory)),
    ...flags.filter((name) => !name.startsWith('.')).map((name) => join('engine-flags', name)),
  ]
  // The entry names the chunks that it needs, by their content.
  const digest = await digestOf(join(directory, 'skerry.mjs'), signal)
  const archive = join(archiveDirectory, `bundle-${digest}.tar`)
  await packOnce(archive, { directory, names: scripts.toSorted() })
  // It has a name of its own, so that an upgrade with the same engine copies only the rest.
  const engine = `node-${process.versions.node}-${await engineDigest()}`
  return {
    version: `${version}-${digest}`,
    files: [{ from: process.execPath, to: `../${engine}`, mode: 0o755 }],
    archive,
    launcher: (at) => `${launcherHead}flags=
case "\${1:-}" in hub | site | node | agent) flags=$(cat "${at}/engine-flags/$1") ;; esac
# shellcheck disable=SC2086
exec ${posix.join(at, '..', engine)} --disable-warning=ExperimentalWarning $flags ${at}/skerry.mjs "$@"
`,
  }
}

/** Returns the entry and every chunk that it needs. The directory may hold chunks of earlier bundles as well. */
async function chunksOf(directory: string): Promise<string[]> {
  const present = new Set(await readdir(join(directory, 'chunks')))
  const found = new Set(['skerry.mjs'])
  for (const name of found) {
    const text = await readFile(join(directory, name), 'utf8')
    for (const [chunk] of text.matchAll(/[\w.-]+-[A-Z0-9]{8}\.mjs/g)) {
      if (present.has(chunk)) found.add(join('chunks', chunk))
    }
  }
  return [...found]
}

/** Packs the files into an archive, unless it exists: it is named after its content. */
async function packOnce(
  archive: string,
  { directory, names }: { readonly directory: string; readonly names: readonly string[] },
): Promise<void> {
  const isThere = await stat(archive).then(
    () => true,
    () => false,
  )
  if (isThere) return
  const { default: tar } = await import('tar-stream')
  await mkdir(dirname(archive), { recursive: true, mode: 0o700 })
  const pack = tar.pack()
  for (const name of names) {
    const content = await readFile(join(directory, name))
    pack.entry({ name, mode: 0o644, mtime: new Date(0) }, content)
  }
  pack.finalize()
  // Several machines may ask for it at the same time.
  const part = `${archive}.${randomBytes(6).toString('hex')}`
  try {
    await pipeline(pack, createWriteStream(part))
    await rename(part, archive)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

const launcherHead = `#!/bin/sh
# Starts skerry. It was written when this machine was prepared.
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX:-2}" MALLOC_MMAP_THRESHOLD_="\${MALLOC_MMAP_THRESHOLD_:-65536}"
`

let knownEngine: Promise<string> | undefined

/** The engine has 150 MB and does not change while it runs, so all machines share one digest of it. */
function engineDigest(): Promise<string> {
  knownEngine ??= digestOf(process.execPath, new AbortController().signal).catch(
    (error: unknown) => {
      knownEngine = undefined
      throw error
    },
  )
  return knownEngine
}

/** Returns the first twelve hexadecimal digits of the file's digest. */
async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash, { signal })
  return hash.digest('hex').slice(0, 12)
}
