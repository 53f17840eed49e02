import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { isSea } from 'node:sea'
import { pipeline } from 'node:stream/promises'
import type { ProgramFiles, ProgramWish } from '@skerry/provisioning'
import { version } from '../runtime/version.ts'
import {
  NoProgramError,
  chooseProgram,
  ownArchitecture,
  versionOf,
  type HeldProgram,
} from './held-programs.ts'

export interface MachinePrograms {
  /** Programs for machines: the paths of executables by architecture, x86_64 or aarch64. */
  readonly programs?: Readonly<Record<string, readonly string[]>>
  /** The directory of a bundle for machines of this one's own architecture. If omitted, what the role runs from. */
  readonly bundleDirectory?: string
  /** Directories that are offline packages, or have them. */
  readonly packages?: readonly string[]
}

/** Where a machine keeps the packages of which it was made. */
export interface OwnPackages {
  /** The directory with the packages, their files, and the note which one is in use. */
  readonly directory: string
  /** The operator's public key. If omitted, it is where all machines have it. */
  readonly keyFile?: string
}

export interface ProgramOptions extends MachinePrograms {
  /** The packages of the machine itself. If omitted, the role has those that it was given. */
  readonly ownPackages?: OwnPackages
  /** Where archives for machines are kept. */
  readonly archiveDirectory: string
  /** The role that gives the program away, for messages. */
  readonly role: 'hub' | 'site' | 'program'
}

export const machineArchitectures = Object.freeze(['x86_64', 'aarch64'] as const)

/**
 * Returns the program for machines of an architecture: a given executable, or what the role itself runs from. The
 * directory on the machine is named after the content, so that an old program stays until the new one is whole.
 * Rejects with a NoProgramError if there is none.
 */
export async function programForMachines(
  architecture: string,
  options: ProgramOptions,
  signal: AbortSignal,
  wish?: ProgramWish,
): Promise<ProgramFiles> {
  const given = await givenPrograms(architecture, options)
  const isOwn = architecture === ownArchitecture
  // Without a wish, a program that was given is meant.
  if (isOwn && wish === undefined && given.length === 0) return ownProgram(options, signal)
  const own =
    isOwn && wish !== undefined && hasOwn(options) ? await ownVersion(options, signal) : []
  const { path, version: chosen } = chooseProgram([...own, ...given], {
    architecture,
    wish,
    role: options.role,
  })
  return path === undefined ? ownProgram(options, signal) : executable(path, chosen)
}

/** Returns every program that the hub holds. */
export async function heldPrograms(
  options: ProgramOptions,
  signal: AbortSignal,
): Promise<HeldProgram[]> {
  const own = hasOwn(options) ? await ownVersion(options, signal) : []
  const lists = Object.keys(options.programs ?? {}).map((name) => givenPrograms(name, options))
  return [...own, ...(await Promise.all(lists)).flat()]
}

/** The machine says which architecture it has: anything, if it is hostile. */
async function givenPrograms(
  architecture: string,
  { programs = {} }: ProgramOptions,
): Promise<HeldProgram[]> {
  const paths = Object.hasOwn(programs, architecture) ? (programs[architecture] ?? []) : []
  return Promise.all(
    paths.map(async (path) => ({
      architecture,
      version: await versionOf(path, architecture),
      path,
    })),
  )
}

/** A hub that runs from its sources has no program that machines could run. */
function hasOwn({ bundleDirectory }: ProgramOptions): boolean {
  return (
    isSea() || bundleDirectory !== undefined || basename(process.argv[1] ?? '') === 'skerry.mjs'
  )
}

/** The digest of the entry is enough: it names the chunks that it needs, by their content. */
async function ownVersion(
  { bundleDirectory }: ProgramOptions,
  signal: AbortSignal,
): Promise<HeldProgram[]> {
  const directory = bundleDirectory ?? dirname(process.argv[1] ?? '')
  const named = isSea()
    ? await versionOf(process.execPath, ownArchitecture)
    : await bundleVersion(directory, signal)
  return [{ architecture: ownArchitecture, version: named, path: undefined }]
}

async function bundleVersion(directory: string, signal: AbortSignal): Promise<string> {
  return `${version}-${await digestOf(join(directory, 'skerry.mjs'), signal)}`
}

async function ownProgram(options: ProgramOptions, signal: AbortSignal): Promise<ProgramFiles> {
  const { bundleDirectory, archiveDirectory, role } = options
  if (isSea()) {
    return executable(process.execPath, await versionOf(process.execPath, ownArchitecture))
  }
  if (!hasOwn(options)) {
    const text = `the ${role} runs from its sources, which machines cannot: start it with ./skerry, or give --machine-program`
    throw new NoProgramError(text)
  }
  return bundle(bundleDirectory ?? dirname(process.argv[1] ?? ''), archiveDirectory, signal)
}

function executable(from: string, named: string): ProgramFiles {
  return {
    version: named,
    files: [{ from, to: 'skerry', mode: 0o755 }],
    launcher: executableLauncher,
  }
}

/** The text that starts a program which is one file. */
export function executableLauncher(directory: string): string {
  return `${launcherHead(directory)}exec ${directory}/skerry "$@"\n`
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
  const named = await bundleVersion(directory, signal)
  const archive = join(archiveDirectory, `bundle-${named}.tar`)
  await packOnce(archive, { directory, names: scripts.toSorted() })
  // It has a name of its own, so that an upgrade with the same engine copies only the rest.
  const engine = `node-${process.versions.node}-${await engineDigest()}`
  return {
    version: named,
    files: [{ from: process.execPath, to: `../${engine}`, mode: 0o755 }],
    archive,
    launcher: bundleLauncher(engine),
  }
}

/** Returns the text that starts a bundle with an engine of this name next to its directory. */
export function bundleLauncher(engine: string): (directory: string) => string {
  return (at) => `${launcherHead(at)}flags=
case "\${1:-}" in hub | site | node | agent | etcd) flags=$(cat "${at}/engine-flags/$1") ;; esac
# shellcheck disable=SC2086
exec ${posix.join(at, '..', engine)} --disable-warning=ExperimentalWarning $flags ${at}/skerry.mjs "$@"
`
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

/** Processes keep the version with which they were started: a restart after an upgrade is seen by it. */
function launcherHead(directory: string): string {
  return `#!/bin/sh
# Starts skerry. The hub of this machine's cluster wrote this file.
export SKERRY_PROGRAM=${posix.basename(directory)}
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX:-2}" MALLOC_MMAP_THRESHOLD_="\${MALLOC_MMAP_THRESHOLD_:-65536}"
`
}

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
