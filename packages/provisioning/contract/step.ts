import type { Clock, Logger } from '@skerry/base'
import type { EdgeCluster, MachineStatus, PackageSource, WaitReason } from '../kind/edge-cluster.ts'
import type { EdgeJob } from '../kind/edge-job.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import type { Configuration } from '../kind/role-options.ts'
import type { Duplex } from 'node:stream'
import type { ImportSide } from './import-side.ts'
import type { MachinePackage, MachineSystem } from './machine-package.ts'
import type { OwnShell, Shell } from './shell.ts'
import type { ClusterDial } from './ways.ts'

/**
 * Where a step is done: once for the cluster, on its hub, on the master that begins the site, or on any that serves; once
 * on each machine; or once for each machine on a master that serves, so that the machine itself need not answer.
 */
export type StepPlace = 'hub' | 'master' | 'any-master' | 'machines' | 'master-for-each'

/** The context of every step. A cluster that was imported has no machines, so its steps are the hub's. */
export interface HubContext {
  readonly edge: EdgeCluster
  readonly machines: readonly PlannedMachine[]
  readonly hub: HubSide
  /** Adds a line to the log of the step. Secrets are removed from it. */
  readonly print: (text: string) => void
  /** Registers texts that may appear nowhere, such as a token that was made. */
  readonly conceal: (secrets: readonly string[]) => void
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/** The context of steps that are done on machines. */
export interface StepContext extends HubContext {
  /** The master that begins the site for a step that is done there; otherwise one that serves, if any does. */
  readonly master: PlannedMachine
  /** Opens a machine, or returns it if this round has opened it already. */
  readonly shellOf: (machine: PlannedMachine) => Promise<Shell>
  /** Acts while no other step of this cluster does so: masters are started again one after another. */
  readonly alone: <T>(act: () => Promise<T>) => Promise<T>
}

/** The context of a step that is done on the master for one machine, which may be out of reach. */
export interface ForMachineContext extends StepContext {
  readonly machine: PlannedMachine
  /** Returns what is known at the moment about every machine of the cluster, and about those that leave it. */
  readonly known: () => readonly MachineStatus[]
  /** Keeps facts about this machine in the status. */
  readonly record: (facts: MachineFacts) => void
}

export interface MachineContext extends ForMachineContext {
  readonly shell: Shell
}

export type MachineFacts = Pick<
  MachineStatus,
  'node' | 'machineIdDigest' | 'isCordoned' | 'isDialled' | 'site' | 'member' | 'given'
>

/** The part of the context that a machine has which joins by itself, and not over SSH. */
export interface OwnMachineContext extends Pick<
  MachineContext,
  'edge' | 'machine' | 'machines' | 'print' | 'conceal' | 'clock' | 'signal'
> {
  readonly shell: OwnShell
  /** The port of the site's API on this machine. If omitted, that of all sites. */
  readonly apiPort?: number
}

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
  readonly appliesTo?: (status: MachineStatus, machine: PlannedMachine) => boolean
  /** True: from here on the machine holds something that a removal must clean. */
  readonly changesMachine?: boolean
  /** True: from the first of these steps to the last, the machine is one of those that are changed at once. */
  readonly disrupts?: boolean
  /** The steps whose failure on a machine it answers: it is done only then. */
  readonly undoes?: readonly string[]
  /** True: on the master or the hub it ends the way to machines that only the site reaches, so it waits for those. */
  readonly endsSite?: boolean
  /** True: a person may skip it, although the hub does it. Steps on machines can always be skipped. */
  readonly maySkip?: boolean
  /** True: it is done on one machine after another, because the masters must agree on each. */
  readonly inTurn?: boolean
  /** True: it changes nothing anywhere, so a mere check does it, and no machine waits for another one's. */
  readonly onlyReads?: boolean
  /** The fields that the step carries out. If their JSON changes, a finished step is done again. */
  readonly input?: (edge: EdgeCluster, machines: readonly PlannedMachine[]) => unknown
  /** True: it is part of making a machine. One that is made does it only if a person retries it by name. */
  readonly onlyMakes?: boolean
}

/** The order of a job for the machines of one cluster. */
export interface JobOrder {
  readonly job: EdgeJob
  /** The addresses for which a person has confirmed at the hub; `*` is every one. */
  readonly confirmed: readonly string[]
  /** Whether the step of this name is done on every machine that the job is about. If omitted, it is. */
  readonly isDoneEverywhere?: (name: string) => boolean
}

/** A step is idempotent: done twice, or once after it was broken off anywhere, it has the same effect. */
export type Step = StepText &
  (
    | { readonly place: 'hub'; readonly act: (context: HubContext) => Promise<string> }
    | {
        readonly place: 'master' | 'master-for-each'
        readonly act: (context: ForMachineContext) => Promise<string>
      }
    | { readonly place: 'any-master'; readonly act: (context: StepContext) => Promise<string> }
    | {
        readonly place: 'machines'
        /** Resolves with the result in a few words. */
        readonly act: (context: MachineContext) => Promise<string>
      }
  )

/** The hub's side of provisioning; the hub's part implements it. */
export interface HubSide {
  readonly imports: ImportSide
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
  /**
   * Lets the agent of a cluster dial an address. Rejects with a ShellError that names the cluster; refused, unless it is
   * this object's own cluster or one that its namespace may use.
   */
  dial(to: ClusterDial, edge: EdgeCluster, signal: AbortSignal): Promise<Duplex>
  /** The program for machines of this architecture, as `uname -m` names it. */
  program(architecture: string, signal: AbortSignal, wish?: ProgramWish): Promise<ProgramFiles>
  /** Keeps the version of the program that a machine has now, and the package that new machines get from now on. */
  recordProgram(
    edge: EdgeCluster,
    machine: {
      readonly address: string
      readonly version: string
      readonly package?: PackageSource
    },
    signal: AbortSignal,
  ): Promise<void>
  /** Keeps the options that the named roles have from now on; machines that join later get them. */
  recordConfiguration(
    edge: EdgeCluster,
    configuration: Configuration,
    signal: AbortSignal,
  ): Promise<void>
  /** The parts of an offline package for such a machine. Rejects with a StepError unless the key has signed it. */
  package(asked: PackageSource, machine: MachineSystem): Promise<MachinePackage>
}

/** The version that a machine shall get: exactly one, or the best one that is not newer than its master's. */
export type ProgramWish = { readonly version: string } | { readonly fitsMaster: string }

export interface HubToken {
  readonly token: string
  readonly caHash: string
}

/** The three things by which a machine trusts a site or a hub, and is trusted by it. */
export interface JoinToken extends HubToken {
  /** Its URL, https://host:port. */
  readonly server: string
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

/**
 * A step on a machine is held until a person confirms there or at the hub. Each look logs in, so no change at the hub
 * causes one, and looks get rarer; they do not count as attempts. StepWaiting is for the other case.
 */
export class StepHeld extends Error {
  readonly reason: WaitReason = 'Unconfirmed'

  constructor(message: string) {
    super(message)
    this.name = 'StepHeld'
  }
}

/**
 * A step of the hub waits for something that the hub itself sees, such as an agent that somebody has yet to start. A
 * look costs little: every change of the object or its cluster causes one, in addition to those at fixed times. Looks
 * do not count as attempts.
 */
export class StepWaiting extends Error {
  readonly lookMs: number

  constructor(message: string, lookMs: number) {
    super(message)
    this.name = 'StepWaiting'
    this.lookMs = lookMs
  }
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
