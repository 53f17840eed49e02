import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
  Kind,
} from '@skerry/api'

type Names = CustomResourceDefinitionNames

/** What the status of a CRD should say. Decides; touches nothing. */
export function planStatus(
  crd: CustomResourceDefinition,
  served: readonly Kind[],
  now: string,
): CustomResourceDefinitionStatus {
  const before: Partial<CustomResourceDefinitionStatus> = crd.status ?? {}
  // Of several conflicts the last is told, as upstream does.
  const conflict = nameConflicts(crd, served).at(-1)
  const accepted = conflict === undefined
  const wasEstablished = isEstablished(crd)
  const conditions = [
    accepted
      ? condition('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found')
      : condition(
          'NamesAccepted',
          'False',
          conflict.reason,
          `${JSON.stringify(conflict.name)} is already in use`,
        ),
    // Once established, a CRD stays so: its objects exist.
    accepted || wasEstablished
      ? condition(
          'Established',
          'True',
          'InitialNamesAccepted',
          'the initial names have been accepted',
        )
      : condition('Established', 'False', 'NotAccepted', 'not all names are accepted'),
  ]
  const others = (before.conditions ?? []).filter(
    ({ type }) => type !== 'NamesAccepted' && type !== 'Established',
  )
  return {
    ...before,
    acceptedNames: accepted
      ? fullNames(crd.spec.names)
      : (before.acceptedNames ?? { plural: '', kind: '' }),
    conditions: [...conditions.map((next) => dated(next, before.conditions ?? [], now)), ...others],
    storedVersions: before.storedVersions ?? [],
  }
}

export function isEstablished(crd: CustomResourceDefinition): boolean {
  return (crd.status?.conditions ?? []).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )
}

function condition(
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
): CustomResourceDefinitionCondition {
  return { type, status, reason, message }
}

/** The time moves only when the status does. */
function dated(
  next: CustomResourceDefinitionCondition,
  before: readonly CustomResourceDefinitionCondition[],
  now: string,
): CustomResourceDefinitionCondition {
  const old = before.find(({ type }) => type === next.type)
  const lastTransitionTime = old?.status === next.status ? (old.lastTransitionTime ?? now) : now
  return { ...next, lastTransitionTime }
}

interface NameConflict {
  readonly reason: string
  readonly name: string
}

/** Against every other resource of the group. */
function nameConflicts(crd: CustomResourceDefinition, served: readonly Kind[]): NameConflict[] {
  const { group } = crd.spec
  const { plural, singular = '', shortNames = [], kind, listKind = '' } = fullNames(crd.spec.names)
  const others = served.filter((other) => other.group === group && other.resource !== plural)
  const resources = new Set(
    others.flatMap((other) => [other.resource, other.singular, ...other.shortNames]),
  )
  const kinds = new Set(others.flatMap((other) => [other.kind, other.listKind]))
  const found: NameConflict[] = []
  if (resources.has(plural)) found.push({ reason: 'PluralConflict', name: plural })
  if (resources.has(singular)) found.push({ reason: 'SingularConflict', name: singular })
  for (const name of shortNames) {
    if (resources.has(name)) found.push({ reason: 'ShortNamesConflict', name })
  }
  if (kinds.has(kind)) found.push({ reason: 'KindConflict', name: kind })
  if (kinds.has(listKind)) found.push({ reason: 'ListKindConflict', name: listKind })
  return found
}

function fullNames(names: Names): Names {
  return {
    ...names,
    singular: names.singular || names.kind.toLowerCase(),
    listKind: names.listKind || `${names.kind}List`,
  }
}
