import { quoteGo, StatusError, type StatusCause } from '@skerry/api'
import { isEmptySet, pathsOf, unionOf, noFields, differenceOf, type FieldSet } from './field-set.ts'
import { managerKey, type FieldOwner } from './managers.ts'

/** The fields that an apply would take from a manager that owns them. */
export interface OwnershipConflict {
  readonly manager: FieldOwner
  readonly set: FieldSet
}

export function conflictingFields(conflicts: readonly OwnershipConflict[]): FieldSet {
  return conflicts.reduce((all, { set }) => unionOf(all, set), noFields)
}

export function conflictsWithout(
  conflicts: readonly OwnershipConflict[],
  allowed: FieldSet,
): OwnershipConflict[] {
  return conflicts
    .map(({ manager, set }) => ({ manager, set: differenceOf(set, allowed) }))
    .filter(({ set }) => !isEmptySet(set))
}

/** Returns Conflict 409 with one FieldManagerConflict cause per field. */
export function conflictError(conflicts: readonly OwnershipConflict[]): StatusError {
  const sorted = conflicts.toSorted((a, b) =>
    managerKey(a.manager) < managerKey(b.manager) ? -1 : 1,
  )
  const causes: StatusCause[] = []
  const lines: string[] = []
  for (const { manager, set } of sorted) {
    const who = printOwner(manager)
    lines.push(`conflicts with ${who}:`)
    for (const field of pathsOf(set)) {
      causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })
      lines.push(`- ${field}`)
    }
  }
  const [only] = causes
  const message =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${only?.message ?? ''}: ${only?.field ?? ''}`
      : `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`
  return new StatusError('Conflict', message, { details: { causes } })
}

function printOwner({ name, operation, subresource, apiVersion }: FieldOwner): string {
  const via = subresource ? ` with subresource ${quoteGo(subresource)}` : ''
  const using = operation === 'Update' ? ` using ${apiVersion}` : ''
  return `${quoteGo(name)}${via}${using}`
}
