/** Jobs that change the machines of many edge clusters (hub.skerry.io/v1alpha1 EdgeJob), as far as they are shown. Pure. */

import type { Action } from '../hub/rights.ts'
import { pausePatch } from './pause.ts'

export const edgeJobs = { group: 'hub.skerry.io', version: 'v1alpha1', resource: 'edgejobs' }
export const edgeJobClusters = { ...edgeJobs, resource: 'edgejobclusters' }

/** The label of the object for each cluster of a job. */
export const jobLabel = 'hub.skerry.io/edge-job'

export interface EdgeJobObject {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly upgrade?: { readonly version?: string; readonly package?: { readonly digest: string } }
    readonly configure?: Readonly<Record<string, object>>
    readonly pullImages?: { readonly images: readonly string[] }
    readonly paused?: boolean
    readonly requireConfirmation?: boolean
  }
  readonly status?: {
    readonly phase?: JobPhase
    readonly message?: string
    readonly startTime?: string
    readonly finishTime?: string
    readonly totals?: JobTotals
  }
}

/** The right that every wish about a job needs. */
export function changeOf({ metadata: { namespace, name } }: EdgeJobObject): Action {
  return { verb: 'patch', object: { ...edgeJobs, namespace, name } }
}

export type JobPhase =
  | 'Pending'
  | 'Running'
  | 'Waiting'
  | 'Paused'
  | 'Completed'
  | 'Failed'
  | 'Cancelled'

export interface JobTotals {
  readonly clusters: number
  readonly machines: number
  readonly done: number
  readonly failed: number
  readonly rolledBack: number
  readonly waiting: number
  readonly running: number
  readonly pending: number
}

export interface EdgeJobClusterObject {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly edgeCluster: string }
  readonly status?: {
    readonly phase?: JobPhase
    readonly message?: string
    readonly machines?: readonly JobMachine[]
  }
}

interface JobMachine {
  readonly address: string
  readonly role: string
  readonly phase: MachinePhase
  readonly message?: string
}

/** In the order in which a person looks at them. */
const machinePhases = [
  'Failed',
  'RolledBack',
  'WaitingForConfirmation',
  'Running',
  'Checking',
  'Pending',
  'Cancelled',
  'Done',
] as const

export type MachinePhase = (typeof machinePhases)[number]

/** One machine of a job, in its cluster. */
export interface JobRow {
  readonly cluster: string
  /** Empty for a cluster of which no machine is known yet. */
  readonly address: string
  readonly role: string
  readonly phase: MachinePhase
  readonly message: string
}

/** Lists the machines of a job, those that need a person first. */
export function jobRows(clusters: Iterable<EdgeJobClusterObject>): JobRow[] {
  return [...clusters]
    .flatMap(({ spec: { edgeCluster: cluster }, status }): JobRow[] => {
      const machines = status?.machines ?? []
      if (machines.length > 0) {
        return machines.map(({ address, role, phase, message = '' }) => ({
          cluster,
          address,
          role,
          phase,
          message,
        }))
      }
      const phase = status?.phase === 'Failed' ? 'Failed' : 'Pending'
      return [{ cluster, address: '', role: '', phase, message: status?.message ?? '' }]
    })
    .toSorted((a, b) => machinePhases.indexOf(a.phase) - machinePhases.indexOf(b.phase))
}

/** A job that will do nothing more by itself. */
export function isOver({ status }: EdgeJobObject): boolean {
  const phase = status?.phase
  return phase === 'Completed' || phase === 'Failed' || phase === 'Cancelled'
}

export type JobWish =
  | { readonly ask: 'confirm' | 'retry'; readonly target: string }
  | { readonly ask: 'cancel' | 'pause' | 'resume' }

/** Returns the name by which a wish means one machine; `*` is everything. */
export function targetOf({ cluster, address }: Pick<JobRow, 'cluster' | 'address'>): string {
  return address === '' ? cluster : `${cluster}/${address}`
}

/** Returns the merge patch by which a person asks a job for something. Earlier wishes stay. */
export function jobPatch({ metadata }: EdgeJobObject, wish: JobWish): unknown {
  if (wish.ask === 'pause' || wish.ask === 'resume') return pausePatch(wish.ask)
  const key = `hub.skerry.io/${wish.ask}`
  if (!('target' in wish)) return { metadata: { annotations: { [key]: '*' } } }
  const before = metadata.annotations?.[key]?.split(',') ?? []
  const value = [...new Set([...before, wish.target])].join(',')
  return { metadata: { annotations: { [key]: value } } }
}

/** Returns the command that asks for the same. */
export function jobCommand(
  { metadata: { name, namespace } }: EdgeJobObject,
  wish: JobWish,
): string {
  const place = namespace === 'default' ? '' : ` --namespace ${namespace}`
  const target = 'target' in wish && wish.target !== '*' ? ` ${wish.target}` : ''
  return `skerry edge-job ${wish.ask} ${name}${target}${place}`
}
