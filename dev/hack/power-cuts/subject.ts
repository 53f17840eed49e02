import type { QuickMachine } from '../virtual-machines/quick-machine.ts'
import type { TlsIdentity } from './program-files.ts'

/** Something that must survive power cuts. One subject has one disk through all of its lives. */
export interface Subject extends AsyncDisposable {
  /** The number of writes that were acknowledged so far. */
  readonly acknowledged: number
  /** Starts what is on the disk of a machine that has just booted, and keeps it busy until the power is cut. */
  live(plan: LifePlan): Promise<Life>
}

export interface LifePlan {
  readonly seed: number
  /** Counts from 0. */
  readonly boot: number
  /** Aborts when the power has been cut. */
  readonly signal: AbortSignal
}

export interface Life {
  /** Each thing that the cut before has damaged or lost. */
  readonly problems: readonly string[]
  /** Observations during the start, such as times. */
  readonly notes: string
  /** The work under way. Each part ends when the power is cut; one that ends earlier is a fault. */
  readonly parts: readonly Promise<unknown>[]
}

export interface SubjectDeps {
  readonly machine: QuickMachine
  readonly identity: TlsIdentity
  /** A directory of the host for logs and the like. */
  readonly directory: string
}

export interface SubjectKind {
  /** In a few words. */
  readonly title: string
  readonly ports: readonly number[]
  readonly memoryMegabytes: number
  /** The program, if it is started ahead of the disk. */
  readonly held?: string
  /** The power is cut after one to this many acknowledged writes of a life, or after the time, whichever comes first. */
  readonly writesMax: number
  readonly lifeMsMax: number
  open(deps: SubjectDeps): Promise<Subject>
}
