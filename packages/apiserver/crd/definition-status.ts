import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from '@skerry/api'

type Names = CustomResourceDefinitionNames
type Condition = Omit<CustomResourceDefinitionCondition, 'lastTransitionTime'>

/** Plans the status of a CRD, given all others. A pure function. */
export function planStatus(
  crd: CustomResourceDefinition,
  all: readonly CustomResourceDefinition[],
  now: string,
): CustomResourceDefinitionStatus {
  const before: Partial<CustomResourceDefinitionStatus> = crd.status ?? {}
  const { names, conflict } = acceptNames(crd, all)
  const accepted = conflict === undefined
  const approval = approvalOf(crd)
  const conditions: Condition[] = [
    conflict
      ? { type: 'NamesAccepted', status: 'False', ...conflict }
      : {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        },
    // Once established, a CRD stays established, because its objects exist.
    isEstablished(crd) || (accepted && hasCondition(crd, 'NamesAccepted', 'True'))
      ? { ...established, status: 'True', reason: 'InitialNamesAccepted' }
      : accepted
        ? { ...established, status: 'False', reason: 'Installing' }
        : {
            type: 'Established',
            status: 'False',
            reason: 'NotAccepted',
            message: 'not all names are accepted',
          },
    ...(approval ? [approval] : []),
  ]
  return {
    ...before,
    acceptedNames: names,
    conditions: merged(before.conditions ?? [], conditions, now),
    storedVersions: before.storedVersions ?? [],
  }
}

/** Watchers first see that the names are accepted, and with the next update that they are served. */
const established = Object.freeze({
  type: 'Established',
  message: 'the initial names have been accepted',
})

export function isEstablished(crd: CustomResourceDefinition): boolean {
  return hasCondition(crd, 'Established', 'True')
}

function hasCondition(crd: CustomResourceDefinition, type: string, status: string): boolean {
  return (crd.status?.conditions ?? []).some(
    (condition) => condition.type === type && condition.status === status,
  )
}

/** Keeps each condition in its place and appends new ones. */
export function merged(
  before: readonly CustomResourceDefinitionCondition[],
  next: readonly Condition[],
  now: string,
): CustomResourceDefinitionCondition[] {
  const nextOf = (type: string): Condition | undefined => next.find((one) => one.type === type)
  const kept = before.map((old) => dated(nextOf(old.type) ?? old, old, now))
  const added = next.filter(({ type }) => !before.some((old) => old.type === type))
  return [...kept, ...added.map((one) => dated(one, undefined, now))]
}

/** Changes the time only if the status changes. */
function dated(
  next: Condition,
  old: CustomResourceDefinitionCondition | undefined,
  now: string,
): CustomResourceDefinitionCondition {
  const lastTransitionTime = old?.status === next.status ? (old.lastTransitionTime ?? now) : now
  return { ...next, lastTransitionTime }
}

interface Conflict {
  readonly reason: string
  readonly message: string
}

/**
 * Accepts every name that is free in the group, each on its own. Reports the last of several
 * conflicts. An accepted name stays accepted.
 */
function acceptNames(
  crd: CustomResourceDefinition,
  all: readonly CustomResourceDefinition[],
): { names: Names; conflict: Conflict | undefined } {
  const taken = namesInGroup(crd.spec.group, all)
  const asked = fullNames(crd.spec.names)
  const before: Partial<Names> = crd.status?.acceptedNames ?? {}
  const names: Names = { ...before, plural: before.plural ?? '', kind: before.kind ?? '' }
  const conflicts: Conflict[] = []
  const accept = (key: 'plural' | 'singular' | 'kind' | 'listKind', reason: string): void => {
    const name = asked[key] ?? ''
    const used = key === 'kind' || key === 'listKind' ? taken.kinds : taken.resources
    if (name === before[key] || !used.has(name)) names[key] = name
    else conflicts.push({ reason, message: inUse(name) })
  }
  accept('plural', 'PluralConflict')
  accept('singular', 'SingularConflict')
  const { shortNames = [] } = asked
  const used = shortNames.filter(
    (name) => !before.shortNames?.includes(name) && taken.resources.has(name),
  )
  if (used.length > 0) {
    const texts = used.map(inUse)
    const message = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
    conflicts.push({ reason: 'ShortNamesConflict', message })
  } else if (asked.shortNames) names.shortNames = asked.shortNames
  else delete names.shortNames
  accept('kind', 'KindConflict')
  accept('listKind', 'ListKindConflict')
  if (asked.categories) names.categories = asked.categories
  else delete names.categories
  return { names, conflict: conflicts.at(-1) }
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`
}

function namesInGroup(
  group: string,
  all: readonly CustomResourceDefinition[],
): { resources: ReadonlySet<string>; kinds: ReadonlySet<string> } {
  const accepted = all
    .filter(({ spec }) => spec.group === group)
    .flatMap(({ status }) => (status?.acceptedNames ? [status.acceptedNames] : []))
  return {
    resources: new Set(
      accepted.flatMap(({ plural, singular = '', shortNames = [] }) => [
        plural,
        singular,
        ...shortNames,
      ]),
    ),
    kinds: new Set(accepted.flatMap(({ kind, listKind = '' }) => [kind, listKind])),
  }
}

function fullNames(names: Names): Names {
  return {
    ...names,
    singular: names.singular || names.kind.toLowerCase(),
    listKind: names.listKind || `${names.kind}List`,
  }
}

const approvalKey = 'api-approved.kubernetes.io'

/** Groups of the Kubernetes community must state who approved their kinds. */
function approvalOf({ spec, metadata }: CustomResourceDefinition): Condition | undefined {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group)) return undefined
  const type = 'KubernetesAPIApprovalPolicyConformant'
  const annotation = metadata.annotations?.[approvalKey] ?? ''
  const rule = `protected groups must have approval annotation "${approvalKey}"`
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
  if (annotation === '') {
    return { type, status: 'False', reason: 'MissingAnnotation', message: `${rule}, ${see}` }
  }
  if (annotation.startsWith('unapproved')) {
    const message = `not approved: ${JSON.stringify(annotation)}`
    return { type, status: 'False', reason: 'UnapprovedAnnotation', message }
  }
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/]+/.test(annotation)) {
    const message = `approved in ${annotation}`
    return { type, status: 'True', reason: 'ApprovedAnnotation', message }
  }
  const message = `${rule} with either a URL or a reason starting with "unapproved", ${see}`
  return { type, status: 'False', reason: 'InvalidAnnotation', message }
}
