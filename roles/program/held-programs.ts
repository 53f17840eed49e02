import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { ProgramWish } from '@skerry/provisioning'
import { version as ownVersion } from '../runtime/version.ts'
import { programBounds } from './limits-table.ts'

const execute = promisify(execFile)

/** A program for machines that the hub holds. */
export interface HeldProgram {
  readonly architecture: string
  /** The name of its directory on machines: its version and a digest of its content. */
  readonly version: string
  /** The path of an executable; undefined for what the hub itself runs from. */
  readonly path: string | undefined
}

const versionPattern = /^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z.+-]{1,60})?$/
/** The bundler writes it into every program, so that one for another architecture can be read. */
const markPattern = /skerry-version=([0-9A-Za-z.+-]{1,64});/

/** There is no program for such machines; the message says how to give one. */
export class NoProgramError extends ExpectedError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, exitCodes.missingDependency, options)
    this.name = 'NoProgramError'
  }
}

export const ownArchitecture: string = process.arch === 'arm64' ? 'aarch64' : 'x86_64'

/** The versions by path, size and time: a program has 150 MB, and every machine asks for its version. */
const known = new Map<string, Promise<string>>()

/** Returns the version and digest of an executable. Rejects with a StepError if it does not tell its version. */
export async function versionOf(path: string, architecture: string): Promise<string> {
  const { size, mtimeMs } = await stat(path)
  const key = `${architecture} ${path} ${size} ${mtimeMs}`
  const reading = known.get(key) ?? readVersion(path, architecture)
  if (known.size >= programBounds.heldPrograms.knownMax) known.clear()
  known.set(key, reading)
  reading.catch(() => known.delete(key))
  return reading
}

async function readVersion(path: string, architecture: string): Promise<string> {
  const { digest, mark } = await scan(path)
  // A program for other machines that has no mark is taken for one of this hub's own version.
  const version = architecture === ownArchitecture ? await askVersion(path) : (mark ?? ownVersion)
  if (!versionPattern.test(version)) {
    throw new NoProgramError(`${path} says no version that can be read`)
  }
  return `${version}-${digest}`
}

/** Reads a whole program once: its digest, and the mark of its version. */
async function scan(path: string): Promise<{ digest: string; mark: string | undefined }> {
  const hash = createHash('sha256')
  let mark: string | undefined
  let rest = ''
  for await (const chunk of createReadStream(path)) {
    const bytes = Buffer.from(chunk)
    hash.update(bytes)
    if (mark !== undefined) continue
    const text = rest + bytes.toString('latin1')
    mark = markPattern.exec(text)?.[1]
    rest = text.slice(-programBounds.heldPrograms.markCharsMax)
  }
  return { digest: hash.digest('hex').slice(0, 12), mark }
}

/** A program for this machine says its version; one that does not start is not offered to machines. */
async function askVersion(path: string): Promise<string> {
  const { askVersionMsMax: timeout } = programBounds.heldPrograms
  try {
    const { stdout } = await execute(path, ['--version'], { timeout })
    return stdout.trim()
  } catch (error) {
    const text = `${path} does not start: is it a program for ${ownArchitecture}?`
    throw new NoProgramError(text, { cause: error })
  }
}

/** Chooses a program. Rejects with a final StepError that lists the versions if none fits, or several do. */
export function chooseProgram(
  held: readonly HeldProgram[],
  {
    architecture,
    wish,
    role,
  }: {
    readonly architecture: string
    readonly wish: ProgramWish | undefined
    readonly role: 'hub' | 'site' | 'program'
  },
): HeldProgram {
  const own = held.filter((program) => program.architecture === architecture)
  const versions = own.map(({ version }) => version).join(', ')
  if (own.length === 0) {
    const text = `the ${role} has no program for ${architecture}: start it with --machine-program ${architecture}=<path>, which ./skerry build makes on such a machine`
    throw new NoProgramError(text)
  }
  if (wish === undefined) return newest(own)
  if ('fitsMaster' in wish) {
    const exact = own.find(({ version }) => version === wish.fitsMaster)
    const fitting = own.filter(({ version }) => fits(version, wish.fitsMaster))
    if (exact !== undefined) return exact
    if (fitting.length > 0) return newest(fitting)
    const text = `the ${role} holds ${versions} for ${architecture}, and none fits a master of ${wish.fitsMaster}: upgrade the cluster, or give the ${role} that version with --machine-program`
    throw new NoProgramError(text)
  }
  const named = own.filter(
    ({ version }) => version === wish.version || baseOf(version) === wish.version,
  )
  const [first, second] = named
  if (first !== undefined && second === undefined) return first
  const text =
    first === undefined
      ? `the ${role} has no program ${wish.version} for ${architecture}: it has ${versions}`
      : `the ${role} has several programs ${wish.version} for ${architecture}: name one of ${named.map(({ version }) => version).join(', ')}`
  throw new NoProgramError(text)
}

/** Removes the digest. */
function baseOf(version: string): string {
  return version.replace(/-[0-9a-f]{12}$/, '')
}

/** The last one counts of those with the same number: it was given last. */
function newest(programs: readonly HeldProgram[]): HeldProgram {
  const [first, ...others] = programs
  if (first === undefined) throw new Error('Cannot choose a program: there is none')
  return others.reduce(
    (best, next) => (compare(next.version, best.version) >= 0 ? next : best),
    first,
  )
}

function numbersOf(version: string): number[] {
  const [, ...numbers] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
  return numbers.map(Number)
}

function compare(a: string, b: string): number {
  const [one, other] = [numbersOf(a), numbersOf(b)]
  return (
    one.map((number, at) => number - (other[at] ?? 0)).find((difference) => difference !== 0) ?? 0
  )
}

/** A node is never newer than its master, and at most one minor version older. */
function fits(node: string, master: string): boolean {
  const [[nodeMajor, nodeMinor = 0], [masterMajor, masterMinor = 0]] = [
    numbersOf(node),
    numbersOf(master),
  ]
  return nodeMajor === masterMajor && compare(node, master) <= 0 && masterMinor - nodeMinor <= 1
}
