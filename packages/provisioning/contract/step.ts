import type { Clock, Logger } from '@skerry/base'
import type { EdgeCluster, MachineStatus } from '../kind/edge-cluster.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import type { Shell } from './shell.ts'

/**
 * Where a step is done: once for the cluster, on its hub or its master; once on each machine; or once for each machine
 * without it, so that it need not answer.
 */
export type StepPlace = 'hub' | 'master' | 'machines' | 'for-machines'

/** The context of every step. */
export interface StepContext {
  readonly edge: EdgeCluster
  readonly machines: readonly PlannedMachine[]
  readonly master: PlannedMachine
  readonly hub: HubSide
  /** Opens a machine, or returns it if this round has opened it already. */
  readonly shellOf: (machine: PlannedMachine) => Promise<Shell>
  /** Adds a line to the log of the step. Secrets are removed from it. */
  readonly print: (text: string) => void
  /** Registers texts that may appear nowhere, such as a token that was made. */
  readonly conceal: (secrets: readonly string[]) => void
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/** The context of a step that is done for a machine, which may be out of reach. */
export interface TargetContext extends StepContext {
  readonly machine: PlannedMachine
  /** Returns what is known at the moment about every machine of the cluster, and about those that leave it. */
  readonly known: () => readonly MachineStatus[]
  /** Keeps facts about this machine in the status. */
  readonly record: (facts: MachineFacts) => void
}

export interface MachineContext extends TargetContext {
  readonly shell: Shell
}

export type MachineFacts = Pick<MachineStatus, 'node' | 'machineIdDigest' | 'isCordoned'>

interface StepText {
  /** The name in the status, in UpperCamelCase. */
  readonly name: string
  /** Its work, as a clause for people that begins with a verb. */
  readonly does: string
  /** The names of the steps without whose result it cannot be done. */
  readonly needs: readonly string[]
  /** False: the object asks for nothing that the step does. If omitted, it always applies. */
  readonly applies?: (edge: EdgeCluster) => boolean
  /** False: this machine does not need the step. If omitted, every machine does. */
  readonly appliesTo?: (machine: MachineStatus) => boolean
  /** True: from here on the machine holds something that a removal must clean. */
  readonly changesMachine?: boolean
  /** True: it changes nothing anywhere, so a mere check does it, and no machine waits for another one's. */
  readonly onlyReads?: boolean
  /** The fields that the step carries out. If their JSON changes, a finished step is done again. */
  readonly input?: (edge: EdgeCluster) => unknown
}

/** A step is idempotent: done twice, or once after it was broken off anywhere, it has the same effect. */
export type Step = StepText &
  (
    | { readonly place: 'hub' | 'master'; readonly act: (context: StepContext) => Promise<string> }
    | {
        readonly place: 'for-machines'
        readonly act: (context: TargetContext) => Promise<string>
      }
    | {
        readonly place: 'machines'
        /** Resolves with the result in a few words. */
        readonly act: (context: MachineContext) => Promise<string>
      }
  )

/** The hub's side of provisioning; the hub's part implements it. */
export interface HubSide {
  /** The URL at which machines reach the hub. */
  readonly server: (edge: EdgeCluster) => string
  /** Lets the cluster have its name on the hub. Rejects with a StepError if another cluster has it. */
  claim(clusterName: string, edge: EdgeCluster, signal: AbortSignal): Promise<void>
  /** Creates a token with which the cluster's agent may register. Rejects if the name is not this object's. */
  createToken(clusterName: string, edge: EdgeCluster, signal: AbortSignal): Promise<HubToken>
  /** Whether the cluster's agent is connected and its API answers. Rejects if the name is not this object's. */
  isReady(clusterName: string, edge: EdgeCluster, signal: AbortSignal): Promise<boolean>
  /** Removes the cluster that this object has claimed, its agent's rights and the claim; another's stays. */
  forget(clusterName: string, edge: EdgeCluster, signal: AbortSignal): Promise<void>
  /** Removes the Secrets with logins that commands, not people, have made for this object alone. */
  removeLogins(edge: EdgeCluster, signal: AbortSignal): Promise<void>
  /** Reads a key of a ConfigMap or Secret in a namespace. Rejects with a StepError if there is none. */
  read(source: ReadSource, signal: AbortSignal): Promise<Buffer>
  /** The program for machines of this architecture, as `uname -m` names it. */
  program(architecture: string, signal: AbortSignal): Promise<ProgramFiles>
}

export interface HubToken {
  readonly token: string
  readonly caHash: string
}

export interface ReadSource {
  readonly namespace: string
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
  readonly key: string
}

/** The program as files that lie together in one directory on each machine. */
export interface ProgramFiles {
  /** The version, with which the directory is named. */
  readonly version: string
  /** Files of this machine, with their path in the directory. */
  readonly files: readonly { readonly from: string; readonly to: string; readonly mode: number }[]
  /** A tar file of this machine with further files, unpacked there. */
  readonly archive?: string
  /** The text of the launcher, /usr/local/bin/skerry, for this directory. */
  readonly launcher: (directory: string) => string
}

/** A step could not do its work, and says why in words for people. */
export class StepError extends Error {
  /** True: another attempt would fail as well, so only a person can help. */
  readonly isFinal: boolean
  /** Everything that is wrong, if it is several things, each with its remedy. */
  readonly findings: readonly string[]

  constructor(
    message: string,
    {
      isFinal = false,
      findings = [],
    }: { readonly isFinal?: boolean; readonly findings?: readonly string[] } = {},
  ) {
    super(message)
    this.name = 'StepError'
    this.isFinal = isFinal
    this.findings = findings
  }
}
