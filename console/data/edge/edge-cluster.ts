/** A hub.skerry.io/v1alpha1 EdgeCluster, as far as it is shown and made here. Pure. */

import type { Action } from '../hub/rights.ts'
import { pausePatch } from './pause.ts'

export const edgeClusters = {
  group: 'hub.skerry.io',
  version: 'v1alpha1',
  resource: 'edgeclusters',
}

export interface EdgeStep {
  readonly name: string
  readonly machine?: string
  readonly state: 'Waiting' | 'Running' | 'Done' | 'Skipped' | 'Failed' | 'Cancelled'
  readonly attempt?: number
  readonly startTime?: string
  readonly finishTime?: string
  readonly nextTime?: string
  readonly message?: string
  readonly output?: string
  readonly findings?: readonly string[]
  /** Why the machine did not do what was asked, such as `login`; a word for programs. */
  readonly fault?: string
}

export interface EdgeMachine {
  readonly address: string
  readonly role: 'Master' | 'Node' | 'Witness'
  readonly hostKey?: string
  readonly unknownHostKey?: string
  readonly node?: string
}

/** Machines that have everything but their addresses in common; only what is read here. */
export interface EdgeBlock {
  readonly addresses: readonly string[]
  readonly role?: EdgeMachine['role']
  readonly credentials: { readonly name: string }
}

export type EdgePhase =
  | 'Pending'
  | 'Running'
  | 'Waiting'
  | 'Paused'
  | 'Cancelled'
  | 'Failed'
  | 'Checked'
  | 'Ready'
  | 'Deleting'

export interface EdgeClusterObject {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly generation?: number
    readonly resourceVersion?: string
    readonly deletionTimestamp?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly displayName?: string
    readonly paused?: boolean
    readonly mode?: 'Make' | 'Check'
    readonly machines?: readonly EdgeBlock[]
    /** The cluster exists already, and an agent in it connects it to the hub. */
    readonly import?: object
  }
  readonly status?: {
    readonly phase?: EdgePhase
    readonly observedGeneration?: number
    readonly mode?: 'Make' | 'Check'
    readonly jumps?: readonly {
      readonly address: string
      readonly port: number
      readonly unknownHostKey?: string
    }[]
    readonly clusterName?: string
    readonly capacity?: string
    readonly machines?: readonly EdgeMachine[]
    readonly steps?: readonly EdgeStep[]
  }
}

/** The right that a wish about an edge cluster needs, or its deletion. */
export function changeOf(
  { metadata }: EdgeClusterObject,
  verb: 'patch' | 'delete' = 'patch',
): Action {
  const { namespace, name } = metadata
  return { verb, object: { ...edgeClusters, namespace, name } }
}

/** The name of a step as the hub's annotations take it. */
export function stepText({ name, machine }: Pick<EdgeStep, 'name' | 'machine'>): string {
  return machine === undefined ? name : `${name}@${machine}`
}

/** Steps of the hub give and take names and rights; of these a person may skip the one that asks an imported cluster. */
export function maySkip({ name, machine }: Pick<EdgeStep, 'name' | 'machine'>): boolean {
  return machine !== undefined || name === 'RemoveAgent'
}

/** A machine or jump host that shows a key which nobody has accepted. */
export interface ShownKey {
  /** With the port if it is another one than 22. */
  readonly address: string
  readonly unknownHostKey: string
}

/** Lists the keys that a person must compare before anything goes on. */
export function shownKeys({ status }: EdgeClusterObject): ShownKey[] {
  const { machines = [], jumps = [] } = status ?? {}
  const ofJumps = jumps.map(({ address, port, unknownHostKey }) => ({
    address: port === 22 ? address : `${address}:${port}`,
    unknownHostKey,
  }))
  return [...ofJumps, ...machines].flatMap(({ address, unknownHostKey }) =>
    unknownHostKey === undefined ? [] : [{ address, unknownHostKey }],
  )
}

export type EdgeWish =
  | { readonly ask: 'retry' | 'skip'; readonly step: EdgeStep | 'all' }
  | { readonly ask: 'cancel' }
  | { readonly ask: 'accept-host-keys'; readonly machine: ShownKey }
  | { readonly ask: 'pause' | 'resume' | 'make' }

/** Returns the merge patch by which a person asks the hub for something. */
export function wishPatch(wish: EdgeWish): unknown {
  switch (wish.ask) {
    case 'pause':
    case 'resume':
      return pausePatch(wish.ask)
    case 'make':
      return { spec: { mode: 'Make' } }
    case 'cancel':
      return annotation('cancel', 'true')
    case 'accept-host-keys':
      return annotation(
        'accept-host-keys',
        `${wish.machine.address}=${wish.machine.unknownHostKey}`,
      )
    case 'retry':
    case 'skip':
      return annotation(wish.ask, wish.step === 'all' ? '*' : stepText(wish.step))
  }
}

function annotation(ask: string, value: string): unknown {
  return { metadata: { annotations: { [`hub.skerry.io/${ask}`]: value } } }
}

/** Reports how many steps are over, of how many. */
export function stepsDone(steps: readonly EdgeStep[]): { done: number; total: number } {
  const done = steps.filter(({ state }) => state === 'Done' || state === 'Skipped').length
  return { done, total: steps.length }
}

/** The step that a person looks at first: one that failed, else one that runs, else the next. */
export function leadingStep(steps: readonly EdgeStep[]): EdgeStep | undefined {
  return (
    steps.find(({ state }) => state === 'Failed') ??
    steps.find(({ state }) => state === 'Running') ??
    steps.find(({ state, attempt = 0 }) => state === 'Waiting' && attempt > 0) ??
    steps.find(({ state }) => state === 'Waiting') ??
    steps.at(-1)
  )
}

/** How long a step took, or has taken so far. Undefined before its start. */
export function stepMs({ startTime, finishTime }: EdgeStep, nowMs: number): number | undefined {
  if (startTime === undefined) return undefined
  return (finishTime === undefined ? nowMs : Date.parse(finishTime)) - Date.parse(startTime)
}
