import type { KubeObject, LabelSelectorFields } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import { hubGroup, type ClusterCondition } from '@skerry/fleet-kinds'
import type { MachineRole, PackageSource, StepStatus } from './edge-cluster.ts'
import type { Configuration } from './role-options.ts'

/**
 * A hub.skerry.io/v1alpha1 EdgeJob: one change of the machines of many EdgeClusters of its namespace. It does exactly
 * one of three things: another program version, other options, or images that are pulled before they are needed.
 */
export interface EdgeJob extends KubeObject {
  spec: EdgeJobSpec
  status?: EdgeJobStatus
}

export interface EdgeJobSpec {
  upgrade?: Upgrade
  configure?: Configuration
  pullImages?: ImagePull
  clusters: ClusterChoice
  machines?: MachineChoice
  /** The machines of one cluster that are changed at the same time, after its master; default 1. */
  machinesAtOnce?: number
  /** The clusters that are worked on at the same time; default 5. */
  clustersAtOnce?: number
  /** How many machines may fail, or which part of all, as `10%`; default 0. If more do, no further one begins. */
  failureTolerance?: number | string
  /** How long a machine may take to be Ready again, by default 300; in a job of pullImages, one image, by default 1800. */
  timeoutSeconds?: number
  /** Whether each machine waits, before it is changed, until a person confirms; default false. */
  requireConfirmation?: boolean
  /** The checks before anything is changed; each is done unless it is false. */
  checks?: JobChecks
  retry?: { attempts?: number }
  /** While true, no further machine begins. One that is being changed is finished. */
  paused?: boolean
}

/** Either a version or a package. */
export interface Upgrade {
  /** A version that the hub holds: 0.2.0, or with its digest if there are several of that number. */
  version?: string
  /** An offline package of the hub, whose program, system packages and images the machines get. */
  package?: PackageSource
  /** Images that are pulled before the program is changed. */
  images?: string[]
  secretRef?: { name: string }
}

export interface ImagePull {
  images: string[]
  /** A Secret of type kubernetes.io/dockerconfigjson in the namespace of the job. */
  secretRef?: { name: string }
}

/** EdgeClusters of the namespace: by name, or by label when the job begins. */
export interface ClusterChoice {
  names?: string[]
  labelSelector?: LabelSelectorFields
}

/** Some machines of each cluster; by default all. */
export interface MachineChoice {
  role?: MachineRole
  addresses?: string[]
  /** Those whose block of the EdgeCluster has these labels. */
  labelSelector?: LabelSelectorFields
}

export interface JobChecks {
  disk?: boolean
  memory?: boolean
  versionSkew?: boolean
  health?: boolean
}

export type EdgeJobPhase =
  | 'Pending'
  | 'Running'
  | 'Waiting'
  | 'Paused'
  | 'Completed'
  | 'Failed'
  | 'Cancelled'

export interface EdgeJobStatus {
  phase?: EdgeJobPhase
  observedGeneration?: number
  startTime?: string
  finishTime?: string
  message?: string
  totals?: JobTotals
  /** One short entry for each cluster; its machines and steps are in its EdgeJobCluster. */
  clusters?: JobClusterSummary[]
  /** The first machines that failed. */
  failures?: JobFailure[]
}

export interface JobTotals {
  clusters: number
  machines: number
  done: number
  failed: number
  rolledBack: number
  /** Machines that wait for a confirmation. */
  waiting: number
  running: number
  pending: number
}

export interface JobClusterSummary {
  name: string
  phase: EdgeJobPhase
  machines: number
  done: number
  message?: string
}

export interface JobFailure {
  cluster: string
  machine: string
  phase: JobMachinePhase
  step: string
  message: string
}

/**
 * The work of an EdgeJob on one cluster. The hub makes and writes it; people read it, and steer the EdgeJob. It is an
 * object of its own, so that neither a large job nor a large cluster makes an object that is too large.
 */
export interface EdgeJobCluster extends KubeObject {
  spec: EdgeJobClusterSpec
  status?: EdgeJobClusterStatus
}

export interface EdgeJobClusterSpec {
  job: string
  edgeCluster: string
  /** Counts the wishes to begin failed machines again, of which the last is for these; `*` is every one. */
  retries?: number
  retryMachines?: string[]
  cancelled?: boolean
  /** The machines for which somebody has confirmed; `*` is every one. */
  confirmed?: string[]
}

export interface EdgeJobClusterStatus {
  phase?: EdgeJobPhase
  message?: string
  observedRetries?: number
  machines?: JobMachineStatus[]
  steps?: StepStatus[]
  conditions?: ClusterCondition[]
}

export type JobMachinePhase =
  | 'Pending'
  | 'Checking'
  | 'Running'
  | 'WaitingForConfirmation'
  | 'Done'
  | 'Failed'
  | 'RolledBack'
  | 'Cancelled'

export interface JobMachineStatus {
  address: string
  role: MachineRole
  phase: JobMachinePhase
  /** The reason for which it waits or has failed. */
  message?: string
}

export const edgeJobResource: TypedResource<EdgeJob> = Object.freeze({
  group: hubGroup,
  version: 'v1alpha1',
  resource: 'edgejobs',
  isNamespaced: true,
})

export const edgeJobClusterResource: TypedResource<EdgeJobCluster> = Object.freeze({
  group: hubGroup,
  version: 'v1alpha1',
  resource: 'edgejobclusters',
  isNamespaced: true,
})

/**
 * The annotations by which a person asks a job for something; the hub removes each when it has acted. Retry and confirm name
 * clusters, or machines as `branch-7/10.0.0.12`, separated by commas; `*` is everything.
 */
export const edgeJobAsks = Object.freeze({
  retry: 'hub.skerry.io/retry',
  cancel: 'hub.skerry.io/cancel',
  confirm: 'hub.skerry.io/confirm',
})

/** The label of an EdgeJobCluster, and of the logs of its machines, with the name of the job. */
export const edgeJobLabel = 'hub.skerry.io/edge-job'

/** Returns the name of the object for one cluster of a job. Neither name may contain a dot. */
export function edgeJobClusterName(job: string, edgeCluster: string): string {
  return `${job}.${edgeCluster}`
}

/** Returns what a job does, as a clause for people. */
export function jobText({ upgrade, configure, pullImages }: EdgeJobSpec): string {
  if (upgrade !== undefined) return `upgrade to ${upgradeText(upgrade)}`
  if (configure !== undefined) return `configure ${Object.keys(configure).join(' and ')}`
  return `pull ${pullImages?.images.length ?? 0} images`
}

/** A digest is shortened as people compare it. */
function upgradeText({ version, package: offline }: Upgrade): string {
  return offline === undefined ? (version ?? '') : `package ${offline.digest.slice(0, 19)}`
}
