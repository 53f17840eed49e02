import {
  ageOf,
  checkDnsLabel,
  checkDnsSubdomain,
  equalJson,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type AnyObject,
  type Column,
  type Kind,
  type Schema,
  type StatusCause,
  type Strategy,
  type StrategyContext,
} from '@skerry/api'
import { nodeApiBounds } from '../limits-table.ts'
import type { Conflict, ConflictSpec } from './conflict.ts'
import { nodeGroup, type OfflineWrites, type OfflineWritesSpec } from './offline-writes.ts'

const { itemsMax } = nodeApiBounds.offlineKinds

/** Returns OfflineWrites and Conflict for an API server. Their schemas refer to definitions of the built-in kinds. */
export function offlineKinds(builtin: readonly Kind[]): readonly Kind[] {
  return [
    nodeKind(
      { kind: 'OfflineWrites', resource: 'offlinewrites', singular: 'offlinewrites' },
      { schemas: policySchemas, columns: policyColumns, strategy: policyStrategy },
      builtin,
    ),
    nodeKind(
      { kind: 'Conflict', resource: 'conflicts', singular: 'conflict' },
      { schemas: conflictSchemas, columns: conflictColumns, strategy: conflictStrategy },
      builtin,
    ),
  ]
}

function nodeKind(
  names: Pick<Kind, 'kind' | 'resource' | 'singular'>,
  own: Pick<Kind, 'schemas' | 'columns' | 'strategy'>,
  builtin: readonly Kind[],
): Kind {
  const schemaName = schemaNameOf(names.kind)
  return {
    ...names,
    group: nodeGroup,
    version: 'v1alpha1',
    listKind: `${names.kind}List`,
    isNamespaced: false,
    shortNames: [],
    categories: [],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [],
    storageVersion: 'v1alpha1',
    selectableFields: [],
    schemaName,
    ...own,
    schemas: { ...builtin[0]?.schemas, [schemaName]: objectSchema(schemaName), ...own.schemas },
  }
}

function schemaNameOf(kind: string): string {
  return `io.skerry.node.v1alpha1.${kind}`
}

function objectSchema(schemaName: string): Schema {
  return {
    type: 'object',
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', default: {} },
      spec: { ref: `${schemaName}Spec`, default: {} },
    },
    required: ['spec'],
  }
}

const text: Schema = { type: 'string' }
const textsOf = (...names: readonly string[]): Record<string, Schema> =>
  Object.fromEntries(names.map((name) => [name, text]))
const listOf = (items: Schema): Schema => ({ type: 'array', items })

const policySchemas: Kind['schemas'] = Object.freeze({
  [`${schemaNameOf('OfflineWrites')}Spec`]: {
    type: 'object',
    properties: {
      resources: listOf({
        type: 'object',
        properties: textsOf('apiGroup', 'resource'),
        required: ['resource'],
      }),
      namespaces: listOf(text),
      serviceAccounts: listOf({
        type: 'object',
        properties: textsOf('namespace', 'name'),
        required: ['namespace', 'name'],
      }),
      winner: text,
    },
    required: ['resources', 'namespaces', 'serviceAccounts'],
  },
})

const conflictSchemas: Kind['schemas'] = Object.freeze({
  [`${schemaNameOf('Conflict')}Spec`]: {
    type: 'object',
    properties: {
      ...textsOf('reason', 'message', 'nodeName', 'user', 'operation', 'winner'),
      ...textsOf('writtenAt', 'foundAt'),
      object: {
        type: 'object',
        properties: textsOf('apiVersion', 'kind', 'resource', 'namespace', 'name'),
      },
      fields: listOf({
        type: 'object',
        properties: { ...textsOf('path', 'base', 'edge', 'cloud'), steps: listOf(text) },
        required: ['path'],
      }),
      choice: { type: 'object', properties: textsOf('side', 'user', 'time') },
    },
    required: ['reason', 'object', 'winner'],
  },
})

/** The registry hands a strategy only objects that were decoded as their kind; any field may lack. */
function policyOf(object: AnyObject): Partial<OfflineWritesSpec> {
  return (object as unknown as Partial<OfflineWrites>).spec ?? {}
}

/** The same holds for Conflicts. */
function conflictOf(object: AnyObject): Partial<ConflictSpec> {
  return (object as unknown as Partial<Conflict>).spec ?? {}
}

const policyColumns: readonly Column[] = [
  textColumn('Name', ({ metadata }) => metadata.name ?? ''),
  textColumn('Resources', (object) =>
    (policyOf(object).resources ?? [])
      .map(({ apiGroup = '', resource }) =>
        apiGroup === '' ? resource : `${resource}.${apiGroup}`,
      )
      .join(','),
  ),
  textColumn('Namespaces', (object) => (policyOf(object).namespaces ?? []).join(',')),
  textColumn('Winner', (object) => policyOf(object).winner ?? 'cloud'),
  textColumn('Age', ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs)),
]

const conflictColumns: readonly Column[] = [
  textColumn('Name', ({ metadata }) => metadata.name ?? ''),
  textColumn('Object', (object) => {
    const { kind = '', namespace = '', name = '' } = conflictOf(object).object ?? {}
    return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
  }),
  textColumn('Reason', (object) => conflictOf(object).reason ?? ''),
  textColumn('Winner', (object) => conflictOf(object).winner ?? ''),
  textColumn('Choice', (object) => conflictOf(object).choice?.side ?? '<none>'),
  textColumn('Node', (object) => conflictOf(object).nodeName ?? ''),
  textColumn('Age', ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs)),
]

function textColumn(name: string, cell: Column['cell']): Column {
  const format = name === 'Name' ? 'name' : ''
  return { name, type: 'string', format, description: '', priority: 0, cell }
}

const policyStrategy: Strategy = {
  nameRule: 'dns-subdomain',
  validate: (object) => policyCauses(policyOf(object)),
  validateUpdate: (next) => policyCauses(policyOf(next)),
}

function policyCauses(spec: Partial<OfflineWritesSpec>): StatusCause[] {
  const { resources = [], namespaces = [], serviceAccounts = [], winner = 'cloud' } = spec
  const causes: StatusCause[] = []
  for (const [field, list] of Object.entries({ resources, namespaces, serviceAccounts })) {
    const place = `spec.${field}`
    if (list.length === 0) causes.push(fieldRequired(place, 'name at least one'))
    if (list.length > itemsMax) {
      causes.push(fieldInvalid(place, list.length, `must have at most ${itemsMax} items`))
    }
  }
  for (const [at, { apiGroup = '', resource }] of resources.slice(0, itemsMax).entries()) {
    const why = whyNever(apiGroup, resource)
    if (why !== undefined) causes.push(fieldForbidden(`spec.resources[${at}]`, why))
  }
  for (const [at, namespace] of namespaces.slice(0, itemsMax).entries()) {
    const [problem] = checkDnsLabel(namespace)
    if (problem) causes.push(fieldInvalid(`spec.namespaces[${at}]`, namespace, problem))
  }
  for (const [at, { namespace, name }] of serviceAccounts.slice(0, itemsMax).entries()) {
    const place = `spec.serviceAccounts[${at}]`
    const [inNamespace] = checkDnsLabel(namespace)
    const [inName] = checkDnsSubdomain(name)
    if (inNamespace) causes.push(fieldInvalid(`${place}.namespace`, namespace, inNamespace))
    if (inName) causes.push(fieldInvalid(`${place}.name`, name, inName))
  }
  const winners = ['cloud', 'edge', 'newest']
  if (!winners.includes(winner)) {
    causes.push(fieldNotSupported('spec.winner', winner, winners))
  }
  return causes
}

/** Resources that a node does not accept, with the reason. */
const never: Readonly<Record<string, string>> = Object.freeze({
  '/secrets': 'a Conflict would show the values of a Secret',
  '/services': 'only the control plane gives addresses',
  '/pods': 'only the control plane gives pods to nodes',
  '/events': 'events end by themselves; a node reports its own',
  '/serviceaccounts': 'only the control plane gives rights',
})

const neverGroups: Readonly<Record<string, string>> = Object.freeze({
  'rbac.authorization.k8s.io': 'only the control plane gives rights',
  'authentication.k8s.io': 'only the control plane answers these questions',
  'authorization.k8s.io': 'only the control plane answers these questions',
  'certificates.k8s.io': 'only the control plane signs certificates',
  'events.k8s.io': 'events end by themselves; a node reports its own',
  [nodeGroup]: 'a policy cannot permit its own change',
})

function whyNever(group: string, resource: string): string | undefined {
  if (resource === '' || resource === '*') return 'name one resource'
  if (resource.includes('/')) return 'subresources are not written while the control plane is away'
  if (Object.hasOwn(neverGroups, group)) return neverGroups[group]
  const key = `${group}/${resource}`
  return Object.hasOwn(never, key) ? never[key] : undefined
}

const conflictStrategy: Strategy = {
  nameRule: 'dns-subdomain',
  prepareForCreate: (next) => void delete conflictOf(next).choice,
  prepareForUpdate: signChoice,
  validate: (object) => formCauses(conflictOf(object)),
  validateUpdate: (next, old) => changeCauses(conflictOf(next), conflictOf(old)),
}

/** The server says who has chosen, and when. */
function signChoice(next: AnyObject, old: AnyObject, context: StrategyContext): void {
  const { choice } = conflictOf(next)
  const before = conflictOf(old).choice
  if (!choice) return
  if (before?.side === choice.side) {
    Object.assign(choice, before)
    return
  }
  choice.user = context.user
  choice.time = `${new Date(context.nowMs).toISOString().slice(0, 19)}Z`
}

function formCauses({ reason, winner, choice }: Partial<ConflictSpec>): StatusCause[] {
  const causes: StatusCause[] = []
  const reasons = ['Clash', 'Refused', 'UnknownOutcome', 'Damaged']
  const sides = ['cloud', 'edge']
  if (!reasons.includes(reason ?? '')) {
    causes.push(fieldNotSupported('spec.reason', reason, reasons))
  }
  if (!sides.includes(winner ?? '')) causes.push(fieldNotSupported('spec.winner', winner, sides))
  if (choice && !sides.includes(choice.side)) {
    causes.push(fieldNotSupported('spec.choice.side', choice.side, sides))
  }
  return causes
}

function changeCauses(next: Partial<ConflictSpec>, old: Partial<ConflictSpec>): StatusCause[] {
  const causes = formCauses(next)
  const { choice: _next, ...kept } = next
  const { choice: _old, ...before } = old
  if (!equalJson(kept, before)) {
    causes.push(fieldForbidden('spec', 'only spec.choice may change'))
  }
  return causes
}
