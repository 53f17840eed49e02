import { addLists, type Node } from '@skerry/api'
import { edgeAppsBounds } from '../limits-table.ts'
import { unitWords, type UnitClusterStatus } from '../superedge/unit.ts'
import type { ParentRecord, UnitRecord } from './handover.ts'
import type { UnitMaster } from './unit-acts.ts'
import type { UnitFault } from './unit-faults.ts'

const { faultsMax } = edgeAppsBounds.unitClusterController

export interface Progress {
  /** The status that was written last. */
  readonly last: UnitClusterStatus | undefined
  readonly members: readonly Node[]
  readonly record: ParentRecord
  readonly waitsFor?: string | undefined
  /** The last statement of the unit, and the nodes that shall run its control plane. */
  readonly heard?: UnitRecord | undefined
  readonly masters: readonly UnitMaster[]
  /** Why it has not the servers of its level. */
  readonly shortage?: string | undefined
  /** Why a sealed content is not taken. */
  readonly refusal?: string | undefined
}

/** Says how far a unit is; undefined if the parent has it. */
export function statusOfProgress(progress: Progress): UnitClusterStatus | undefined {
  const { last, members, record, heard, masters, refusal } = progress
  const { phase, generation } = record
  if (phase === 'own') return undefined
  const isReleased = phase === 'released'
  const isOpen =
    isReleased &&
    heard?.phase === 'open' &&
    heard.generation === generation &&
    masters.some(({ serves }) => serves !== undefined)
  // A unit acts on while nobody hears it.
  const isRunning = isOpen || (isReleased && last?.phase === 'Running')
  const condition =
    refusal === undefined
      ? conditionOf(progress, { phase, generation }, { isOpen, isRunning })
      : { status: 'False', reason: 'NotTaken', message: refusal }
  return {
    ...placeOf(masters, isRunning ? last : undefined),
    phase: isRunning ? 'Running' : phase === 'recalled' ? 'Terminating' : 'Initializing',
    conditions: [{ type: 'Init', ...condition }],
    resource: resourceOf(members),
  }
}

/** Names what keeps a unit with its parent. */
export function statusOfFaults(
  faults: readonly UnitFault[],
  members: readonly Node[],
): UnitClusterStatus {
  const named = faults.slice(0, faultsMax).map(({ message }) => message)
  const more = faults.length - named.length
  const message = [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  const reason = faults[0]?.reason ?? 'NotSupported'
  return {
    phase: 'Failed',
    conditions: [{ type: 'Init', status: 'False', reason, message }],
    resource: resourceOf(members),
  }
}

const reasons = Object.freeze({ fenced: 'Fenced', released: 'Released', recalled: 'Recalled' })

const nextOf = Object.freeze({
  fenced: 'its objects are packed',
  released: 'its own control plane serves',
  recalled: 'its objects are here',
})

function conditionOf(
  { waitsFor, masters, shortage }: Progress,
  { phase, generation }: { readonly phase: keyof typeof reasons; readonly generation: number },
  { isOpen, isRunning }: { readonly isOpen: boolean; readonly isRunning: boolean },
): { readonly status: string; readonly reason: string; readonly message: string } {
  const reason = reasons[phase]
  const status = 'Unknown'
  if (isOpen) {
    const missing = [...missingOf(masters), ...(shortage === undefined ? [] : [shortage])]
    const message = ['its own control plane acts', ...missing].join('; ')
    return { status: missing.length === 0 ? 'True' : status, reason, message }
  }
  if (isRunning) {
    const message = 'its own control plane acts, and its server has not asked lately'
    return { status, reason: 'NotHeard', message }
  }
  const remedy =
    phase === 'recalled'
      ? `; if its server is destroyed, annotate the unit with ${unitWords.lostGeneration}=${generation}, and its changes are lost`
      : ''
  const message = [`waits until ${waitsFor ?? nextOf[phase]}`, ...troubles(masters)].join('; ')
  return { status, reason, message: message + remedy }
}

/** Names the servers that do not serve. One that others count on is heard of even if it is dead. */
function missingOf(masters: readonly UnitMaster[]): string[] {
  const missing = masters.filter(({ serves }) => serves === undefined)
  if (missing.length === 0) return []
  const serving = masters.length - missing.length
  const names = missing.map(({ node }) => node).join(', ')
  return [`${serving} of its ${masters.length} servers serve, not ${names}`, ...troubles(missing)]
}

function troubles(masters: readonly UnitMaster[]): string[] {
  return masters.flatMap(({ node, trouble }) =>
    trouble === undefined ? [] : [`${node} says: ${trouble}`],
  )
}

/** The last known place stays in the status while nobody hears the unit. */
function placeOf(
  masters: readonly UnitMaster[],
  last: UnitClusterStatus | undefined,
): Pick<UnitClusterStatus, 'version' | 'addresses'> {
  const serving = masters.flatMap(({ serves }) => serves ?? [])
  const [first] = serving
  if (first === undefined) {
    const { version, addresses } = last ?? {}
    return { ...(version ? { version } : {}), ...(addresses ? { addresses } : {}) }
  }
  return {
    version: first.version.replace(/^v/, ''),
    addresses: serving.map(({ server }) => {
      const { hostname: host, port } = new URL(server)
      return { type: 'Advertise', host, port: Number(port || 443), path: '' }
    }),
  }
}

function resourceOf(members: readonly Node[]): UnitClusterStatus['resource'] {
  return { capacity: total(members, 'capacity'), allocatable: total(members, 'allocatable') }
}

function total(
  members: readonly Node[],
  which: 'capacity' | 'allocatable',
): Readonly<Record<string, string>> {
  return members.reduce<Readonly<Record<string, string>>>(
    (sum, { status }) => addLists(sum, status?.[which] ?? {}),
    {},
  )
}
