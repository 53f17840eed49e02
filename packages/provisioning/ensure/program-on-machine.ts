import { posix } from 'node:path'
import {
  StepError,
  type JobOrder,
  type MachineContext,
  type ProgramFiles,
} from '../contract/step.ts'
import { ask, places } from './commands.ts'
import { packageFor } from './copy-package.ts'
import { readSmall } from './job-files.ts'

/** A version of the program that a job wants, and its place on the machine. */
export interface WantedProgram {
  readonly program: Pick<ProgramFiles, 'version' | 'launcher'>
  readonly directory: string
  /** Starts it before it is the machine's program. */
  readonly launcher: string
}

/** Returns the program that the job wants on a machine of this architecture. Rejects with a final StepError if none. */
export async function wantedProgram(
  { job }: JobOrder,
  context: MachineContext,
): Promise<WantedProgram> {
  const { version = '', package: offline } = job.spec.upgrade ?? {}
  const program =
    offline === undefined
      ? await heldProgram(version, context)
      : (await packageFor(offline, context)).program
  const directory = posix.join(places.programs, program.version)
  return { program, directory, launcher: posix.join(directory, 'launcher') }
}

/** Returns the version of the program than which this machine's may not be newer: that of a master that was there before. */
export function versionAbove({
  edge,
  machine,
  master,
}: Pick<MachineContext, 'edge' | 'machine' | 'master'>): string | undefined {
  const isFirst = machine.role === 'Master' && machine.address === master.address
  return isFirst ? undefined : edge.status?.programs?.[master.address]
}

/** Returns the program of this version that the hub holds for the machine. */
export async function heldProgram(version: string, context: MachineContext): Promise<ProgramFiles> {
  const architecture = (await ask(context, ['uname', '-m'])).trim()
  return context.hub.program(architecture, context.signal, { version })
}

/** Returns the version that the launcher of a machine starts; undefined if it is not ours. */
export function versionInLauncher(text: string): string | undefined {
  return /\/usr\/local\/lib\/skerry\/(\d+\.\d+\.\d+[\w.+-]*)\//.exec(text)?.[1]
}

/** Returns the version of the program that a machine has now. */
export async function presentVersion(
  context: Pick<MachineContext, 'shell' | 'print' | 'signal'>,
): Promise<string> {
  const version = versionInLauncher((await readSmall(context, places.program)) ?? '')
  if (version !== undefined) return version
  const text = `${places.program} on the machine is not a launcher that a hub wrote`
  throw new StepError(text, { isFinal: true })
}

/** The parts of a version that count for its skew. */
interface Numbers {
  readonly major: number
  readonly minor: number
  readonly patch: number
}

function numbersOf(version: string): Numbers {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
  return { major: Number(major), minor: Number(minor), patch: Number(patch) }
}

/** Compares by the three numbers; what follows them tells programs of one version apart. */
function compareVersions(a: string, b: string): number {
  const [one, other] = [numbersOf(a), numbersOf(b)]
  return one.major - other.major || one.minor - other.minor || one.patch - other.patch
}

/** Returns why a machine may not go from one version to another, as a clause; undefined if it may. */
export function whyNoStep(from: string, to: string): string | undefined {
  const [old, next] = [numbersOf(from), numbersOf(to)]
  if (old.major !== next.major || next.minor > old.minor + 1) {
    return `${from} cannot become ${to} at once: upgrade by one minor version at a time`
  }
  if (next.minor < old.minor)
    return `${from} cannot become ${to}: a minor version is never taken back`
  return undefined
}

/** Returns why a node of one version may not have a master of another, as a clause; undefined if it may. */
export function whyNoPair(node: string, master: string): string | undefined {
  if (compareVersions(node, master) > 0)
    return `a node of ${node} would be newer than its master of ${master}`
  const [below, above] = [numbersOf(node), numbersOf(master)]
  if (below.major === above.major && above.minor - below.minor <= 1) return undefined
  return `a node of ${node} would be more than one minor version older than its master of ${master}`
}
