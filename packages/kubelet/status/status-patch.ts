import { isDeepStrictEqual } from 'node:util'
import type { PodStatus } from '@skerry/api'
import { ownConditionTypes, resizeConditionTypes } from './pod-conditions.ts'

/**
 * The strategic merge patch that turns what the API has into this status; undefined when there is
 * nothing to change. Carries the uid, so that it never lands on another pod of the same name.
 */
export function statusPatch(uid: string, known: PodStatus, next: PodStatus): object | undefined {
  const changes: Record<string, unknown> = {}
  const fields = new Set([...Object.keys(known), ...Object.keys(next)] as (keyof PodStatus)[]) // both are statuses
  for (const field of fields) {
    if (field === 'conditions' || !isOwnField(field)) continue
    if (isDeepStrictEqual(known[field], next[field])) continue
    changes[field] = changeOf(field, known, next)
  }
  const conditions = changedConditions(known, next)
  if (conditions.length > 0) changes['conditions'] = conditions
  if (Object.keys(changes).length === 0) return undefined
  return { metadata: { uid }, status: changes }
}

/** The lists that the server merges by key: without the directive an old address would stay. */
const keyedLists: readonly (keyof PodStatus)[] = ['podIPs', 'hostIPs']

const ownFields: readonly (keyof PodStatus)[] = [
  'observedGeneration',
  'phase',
  'reason',
  'message',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'startTime',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
  'qosClass',
]

function isOwnField(field: keyof PodStatus): boolean {
  return ownFields.includes(field)
}

function changeOf(field: keyof PodStatus, known: PodStatus, next: PodStatus): unknown {
  const value = next[field]
  if (value === undefined) return null
  if (!keyedLists.includes(field) || known[field] === undefined || !Array.isArray(value)) {
    return value
  }
  return [{ $patch: 'replace' }, ...value]
}

function changedConditions(known: PodStatus, next: PodStatus): object[] {
  const isOver = ({ type }: { type: string }): boolean =>
    resizeConditionTypes.includes(type) &&
    !(next.conditions ?? []).some((condition) => condition.type === type)
  const removed = (known.conditions ?? []).filter(isOver)
  return [...removed.map(({ type }) => ({ $patch: 'delete', type })), ...newConditions(known, next)]
}

function newConditions(known: PodStatus, next: PodStatus): object[] {
  return (next.conditions ?? [])
    .filter(({ type }) => ownConditionTypes.includes(type))
    .filter((condition) => {
      const old = known.conditions?.find(({ type }) => type === condition.type)
      return !isDeepStrictEqual(old, condition)
    })
    .map((condition) => ({ ...removedFields(condition), ...condition }))
}

/** A reason or message that no longer holds must go; absent fields would be kept. */
function removedFields(condition: { reason?: string; message?: string }): object {
  return {
    ...(condition.reason === undefined ? { reason: null } : {}),
    ...(condition.message === undefined ? { message: null } : {}),
  }
}
