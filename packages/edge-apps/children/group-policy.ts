import { edgeAppsBounds } from '../limits-table.ts'

/** The way in which an application's children follow it: `spec.groupPolicy`, which every kind here has. */
export interface GroupPolicyFields {
  /** Whether a child that a person edited is made as the template says again. Default: PutBack. */
  readonly childEdits?: 'PutBack' | 'Keep'
  /** The time that the child of a group without nodes is kept. Default: 300. */
  readonly vanishedGraceSeconds?: number
  /** The number of groups that are updated at the same time, or a share such as "25%". Default: all. */
  readonly maxUpdating?: number | string
}

export interface GroupPolicy {
  readonly keepsEdits: boolean
  readonly graceMs: number
  /** Returns how many of an application's groups may be updated at the same time. */
  readonly updatingMax: (groups: number) => number
}

/** Fields that are omitted have these values, which differ by kind. */
export function groupPolicyOf(
  fields: GroupPolicyFields = {},
  defaults: Pick<GroupPolicyFields, 'childEdits'> = {},
): GroupPolicy {
  const { vanishedGraceSecondsDefault } = edgeAppsBounds.groupPolicy
  const { vanishedGraceSeconds = vanishedGraceSecondsDefault, maxUpdating } = fields
  const { childEdits } = { ...defaults, ...fields }
  return {
    keepsEdits: childEdits === 'Keep',
    graceMs: vanishedGraceSeconds * 1_000,
    updatingMax: (groups) => shareOf(maxUpdating, groups),
  }
}

/** A share is rounded down, and is never less than one group: an update that never starts helps nobody. */
function shareOf(given: number | string | undefined, groups: number): number {
  if (given === undefined) return Infinity
  const [, percent] = /^(\d+)%$/.exec(String(given)) ?? []
  const number =
    percent === undefined ? Number(given) : Math.floor((groups * Number(percent)) / 100)
  return Math.max(1, number)
}
