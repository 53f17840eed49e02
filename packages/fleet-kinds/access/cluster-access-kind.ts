import {
  StatusError,
  ageOf,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  isStatusError,
  labelSelectorOf,
  type AnyObject,
  type Column,
  type Kind,
  type Schema,
  type StatusCause,
  type Strategy,
} from '@skerry/api'
import { clusterServiceVerbs, clusterVerbs, type ClusterAccess } from './cluster-access.ts'
import { hubKind, textColumn } from './hub-kind.ts'
import { fleetKindsBounds } from '../limits-table.ts'

const schemaName = 'io.skerry.hub.v1alpha1.ClusterAccess'
const rbacGroup = 'rbac.authorization.k8s.io'
const { subjectsMax } = fleetKindsBounds.clusterAccessKind

/** Returns ClusterAccess as a kind for an API server. Its schemas refer to definitions of the built-in kinds. */
export function clusterAccessKind(builtin: readonly Kind[]): Kind {
  const names = { kind: 'ClusterAccess', resource: 'clusteraccesses', singular: 'clusteraccess' }
  return hubKind({ ...names, schemaName, schemas, columns, strategy }, builtin)
}

const texts: Schema = { type: 'array', items: { type: 'string' } }
const schemas: Readonly<Record<string, Schema>> = Object.freeze({
  [`${schemaName}Spec`]: {
    type: 'object',
    properties: {
      subjects: { type: 'array', items: { ref: 'io.k8s.api.rbac.v1.Subject' } },
      clusterSelector: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector' },
      verbs: texts,
      serviceVerbs: texts,
    },
    required: ['subjects', 'clusterSelector', 'verbs'],
  },
})

/** The registry hands a strategy only objects that were decoded as their kind; any field may lack. */
function specOf(object: AnyObject): Partial<ClusterAccess['spec']> {
  return (object as unknown as Partial<ClusterAccess>).spec ?? {}
}

const columns: readonly Column[] = [
  textColumn('Name', ({ metadata }) => metadata.name ?? ''),
  textColumn('Verbs', (object) => (specOf(object).verbs ?? []).join(',')),
  textColumn('Age', ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs)),
]

const strategy: Strategy = {
  nameRule: 'path-segment',
  defaults(object) {
    for (const subject of specOf(object).subjects ?? []) {
      if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= rbacGroup
    }
  },
  validate: (object) => validateSpec(specOf(object)),
  validateUpdate: (next) => validateSpec(specOf(next)),
}

function validateSpec({
  subjects = [],
  clusterSelector,
  verbs = [],
  serviceVerbs = [],
}: Partial<ClusterAccess['spec']>): StatusCause[] {
  const causes: StatusCause[] = []
  if (subjects.length > subjectsMax) {
    const why = `must have at most ${subjectsMax} items`
    causes.push(fieldInvalid('spec.subjects', subjects.length, why))
  }
  for (const [at, subject] of subjects.slice(0, subjectsMax).entries()) {
    causes.push(...subjectCauses(`spec.subjects[${at}]`, subject))
  }
  if (clusterSelector === undefined) causes.push(fieldRequired('spec.clusterSelector'))
  else causes.push(...selectorCauses(clusterSelector))
  if (verbs.length === 0)
    causes.push(fieldRequired('spec.verbs', 'verbs must contain at least one'))
  causes.push(...verbCauses('spec.verbs', verbs, clusterVerbs))
  causes.push(...verbCauses('spec.serviceVerbs', serviceVerbs, clusterServiceVerbs))
  return causes
}

function verbCauses(
  field: string,
  verbs: readonly string[],
  known: readonly string[],
): StatusCause[] {
  return [...verbs.entries()]
    .filter(([, verb]) => verb !== '*' && !known.includes(verb))
    .map(([at, verb]) => fieldNotSupported(`${field}[${at}]`, verb, [...known, '*']))
}

function subjectCauses(
  field: string,
  { kind, name, namespace, apiGroup }: ClusterAccess['spec']['subjects'][number],
): StatusCause[] {
  const causes: StatusCause[] = name ? [] : [fieldRequired(`${field}.name`)]
  if (kind === 'ServiceAccount') {
    if (!namespace) causes.push(fieldRequired(`${field}.namespace`))
    if (apiGroup) causes.push(fieldNotSupported(`${field}.apiGroup`, apiGroup, ['']))
  } else if (kind !== 'User' && kind !== 'Group') {
    const kinds = ['ServiceAccount', 'User', 'Group']
    causes.push(fieldNotSupported(`${field}.kind`, kind, kinds))
  } else if (apiGroup !== rbacGroup) {
    causes.push(fieldNotSupported(`${field}.apiGroup`, apiGroup ?? '', [rbacGroup]))
  }
  return causes
}

function selectorCauses(selector: ClusterAccess['spec']['clusterSelector']): StatusCause[] {
  try {
    labelSelectorOf(selector)
    return []
  } catch (error) {
    if (!(error instanceof StatusError) || !isStatusError(error, 'BadRequest')) throw error
    return [fieldInvalid('spec.clusterSelector', selector, error.message)]
  }
}
