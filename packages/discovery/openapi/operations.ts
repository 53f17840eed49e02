import { groupVersionText } from '../groups/discovery.ts'
import type { Kind, Subresource, GroupVersionKind } from '@skerry/api'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'patch'

/** One operation of one path, the same for both versions of OpenAPI. */
export interface Operation {
  readonly method: Method
  readonly id: string
  /** x-kubernetes-action: get, list, post, put, patch, delete, deletecollection, connect. */
  readonly action: string
  readonly description: string
  readonly kind: GroupVersionKind
  readonly parameters: readonly string[]
  /** The media types of a body, even if the operation takes none. */
  readonly consumes: readonly string[]
  /** The definition of the body. */
  readonly body?: string
  /** The media types of the answer. */
  readonly produces: readonly string[]
  /** Definitions by status; undefined means text. */
  readonly answers: Readonly<Record<number, string | undefined>>
}

export interface PathEntry {
  readonly path: string
  readonly tag: string
  /** The parameters that all its operations have in common; the operations do not repeat them. */
  readonly parameters: readonly string[]
  readonly operations: readonly Operation[]
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

const listParameters = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
  'watch',
]
const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation']
const deleteParameters = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
]

const anyType = ['*/*']
const customTypes = ['application/json', 'application/yaml']
const builtinTypes = [...customTypes, 'application/vnd.kubernetes.protobuf']
const watchTypes = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
]
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]

/** Every path of these kinds, sorted. */
export function pathsOf(kinds: readonly Kind[]): PathEntry[] {
  const entries = kinds.flatMap(pathsOfKind).filter((entry) => entry.operations.length > 0)
  return entries.map(withCommonParameters).toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Moves parameters that all operations of a path take to the path. */
function withCommonParameters(entry: PathEntry): PathEntry {
  const inAll = (name: string) =>
    entry.operations.every(({ parameters }) => parameters.includes(name))
  const own = entry.operations.flatMap(({ parameters }) => parameters.filter(inAll))
  const common = new Set([...entry.parameters, ...own])
  return {
    ...entry,
    parameters: [...common].toSorted(),
    operations: entry.operations.map((operation) => ({
      ...operation,
      parameters: operation.parameters.filter((name) => !common.has(name)).toSorted(),
    })),
  }
}

/** Returns the definition of a kind's list, derived from the kind's own. */
export function listDefinitionName(kind: Kind): string {
  return kind.schemaName.slice(0, kind.schemaName.lastIndexOf('.') + 1) + kind.listKind
}

function pathsOfKind(kind: Kind): PathEntry[] {
  const base = `${kind.group === '' ? '/api' : '/apis'}/${groupVersionText(kind.group, kind.version)}`
  const scope = kind.isNamespaced ? '/namespaces/{namespace}' : ''
  const collection = `${base}${scope}/${kind.resource}`
  const common = { tag: tagOf(kind) }
  const namespace = kind.isNamespaced ? ['namespace'] : []
  const entries: PathEntry[] = [
    {
      ...common,
      path: collection,
      parameters: [...namespace, 'pretty'],
      operations: collectionOperations(kind),
    },
    {
      ...common,
      path: `${collection}/{name}`,
      parameters: ['name', ...namespace, 'pretty'],
      operations: itemOperations(kind),
    },
    ...kind.subresources.map((subresource) => ({
      ...common,
      path: `${collection}/{name}/${subresource.name}`,
      parameters: ['name', ...namespace, 'pretty'],
      operations: subresourceOperations(kind, subresource),
    })),
  ]
  if (kind.isNamespaced && kind.verbs.includes('list')) {
    const path = `${base}/${kind.resource}`
    const operations = [listOperation(kind, `list${prefixOf(kind)}${kind.kind}ForAllNamespaces`)]
    entries.push({ ...common, path, parameters: ['pretty'], operations })
  }
  return entries
}

function collectionOperations(kind: Kind): Operation[] {
  const { verbs, schemaName } = kind
  const operations: Operation[] = []
  if (verbs.includes('list')) operations.push(listOperation(kind, idOf('list', kind)))
  if (verbs.includes('create')) {
    operations.push({
      ...basicsOf('post', kind),
      id: idOf('create', kind),
      description: `create${articleBefore(kind.kind)}${kind.kind}`,
      parameters: writeParameters,
      ...mediaTypesOf(kind),
      body: schemaName,
      answers: { 200: schemaName, 201: schemaName, 202: schemaName },
    })
  }
  if (verbs.includes('deletecollection')) {
    operations.push({
      ...basicsOf('delete', kind),
      action: 'deletecollection',
      id: `delete${prefixOf(kind)}Collection${kind.isNamespaced ? 'Namespaced' : ''}${kind.kind}`,
      description: `delete collection of ${kind.kind}`,
      ...mediaTypesOf(kind),
      ...optionsOfDeleteCollection(kind),
      answers: { 200: `${meta}Status` },
    })
  }
  return operations
}

/** For custom resources upstream names the parameters of a list, and no body. */
function optionsOfDeleteCollection(kind: Kind): Pick<Operation, 'parameters' | 'body'> {
  if (kind.isCustom) return { parameters: listParameters }
  const selecting = listParameters.filter((one) => !/watch/i.test(one))
  return { parameters: [...deleteParameters, ...selecting], body: `${meta}DeleteOptions` }
}

function listOperation(kind: Kind, id: string): Operation {
  const { consumes, produces } = mediaTypesOf(kind)
  return {
    ...basicsOf('get', kind),
    action: 'list',
    id,
    description: `${kind.isCustom ? 'list' : 'list or watch'} objects of kind ${kind.kind}`,
    parameters: listParameters,
    consumes,
    produces: kind.isCustom ? produces : [...produces, ...watchTypes],
    answers: { 200: listDefinitionName(kind) },
  }
}

function itemOperations(kind: Kind): Operation[] {
  const context = { kind, suffix: '', answer: kind, schemaName: kind.schemaName }
  const operations = readWriteOperations(context, kind.verbs)
  if (!kind.verbs.includes('delete')) return operations
  const answer = kind.returnsDeletedObject ? kind.schemaName : `${meta}Status`
  const remove: Operation = {
    ...basicsOf('delete', kind),
    id: idOf('delete', kind),
    description: `delete${articleBefore(kind.kind)}${kind.kind}`,
    parameters: deleteParameters,
    ...mediaTypesOf(kind),
    body: `${meta}DeleteOptions`,
    answers: { 200: answer, 202: answer },
  }
  return [...operations, remove]
}

function subresourceOperations(kind: Kind, subresource: Subresource): Operation[] {
  const { name, schemaName, verbs } = subresource
  const suffix = name.slice(0, 1).toUpperCase() + name.slice(1)
  if (schemaName === undefined) return connectOperations(kind, subresource, suffix)
  const answer = kind.isCustom ? kind : subresource.kind
  const operations = readWriteOperations({ kind, suffix, answer, schemaName }, verbs)
  if (!verbs.includes('create')) return operations
  const create: Operation = {
    ...basicsOf('post', subresource.kind),
    id: idOf('create', kind) + suffix,
    description: `create ${name} of${articleBefore(kind.kind)}${kind.kind}`,
    parameters: writeParameters,
    ...mediaTypesOf(kind),
    body: schemaName,
    answers: { 200: schemaName, 201: schemaName, 202: schemaName },
  }
  return [...operations, create]
}

interface ReadWriteContext {
  readonly kind: Kind
  /** The subresource's name at the end of operation ids. */
  readonly suffix: string
  readonly answer: GroupVersionKind
  readonly schemaName: string
}

function readWriteOperations(context: ReadWriteContext, verbs: readonly string[]): Operation[] {
  const { kind, suffix, answer, schemaName } = context
  const of =
    suffix === ''
      ? `the specified ${kind.kind}`
      : `${suffix.toLowerCase()} of the specified ${kind.kind}`
  const operations: Operation[] = []
  if (verbs.includes('get')) {
    operations.push({
      ...basicsOf('get', answer),
      id: idOf('read', kind) + suffix,
      description: `read ${of}`,
      parameters: kind.isCustom ? ['resourceVersion'] : [],
      ...mediaTypesOf(kind),
      answers: { 200: schemaName },
    })
  }
  if (verbs.includes('update')) {
    operations.push({
      ...basicsOf('put', answer),
      id: idOf('replace', kind) + suffix,
      description: `replace ${of}`,
      parameters: writeParameters,
      ...mediaTypesOf(kind),
      body: schemaName,
      answers: { 200: schemaName, 201: schemaName },
    })
  }
  if (verbs.includes('patch')) {
    const types = patchTypes.filter((type) => !kind.isCustom || !type.includes('strategic'))
    operations.push({
      ...basicsOf('patch', answer),
      id: idOf('patch', kind) + suffix,
      description: `partially update ${of}`,
      parameters: [...writeParameters, 'force'],
      ...mediaTypesOf(kind),
      consumes: types,
      body: `${meta}Patch`,
      answers: { 200: schemaName, ...(kind.isCustom ? {} : { 201: schemaName }) },
    })
  }
  return operations
}

const methodOfVerb: Readonly<Record<string, Method>> = Object.freeze({
  get: 'get',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
})

/** Streams and proxies have no schema for their data. */
function connectOperations(kind: Kind, subresource: Subresource, suffix: string): Operation[] {
  return subresource.verbs.flatMap((verb) => {
    const method = methodOfVerb[verb]
    if (!method) return []
    const word = method.slice(0, 1).toUpperCase() + method.slice(1)
    const scope = kind.isNamespaced ? 'Namespaced' : ''
    return {
      ...basicsOf(method, subresource.kind),
      action: 'connect',
      id: `connect${prefixOf(kind)}${word}${scope}${kind.kind}${suffix}`,
      description: `connect ${method.toUpperCase()} requests to ${subresource.name} of ${kind.kind}`,
      parameters: [],
      consumes: anyType,
      produces: anyType,
      answers: { 200: undefined },
    }
  })
}

function basicsOf(method: Method, { group, version, kind }: GroupVersionKind) {
  const action: string = method
  return { method, action, kind: { group, version, kind } }
}

function mediaTypesOf(kind: Kind): Pick<Operation, 'consumes' | 'produces'> {
  return kind.isCustom
    ? { consumes: customTypes, produces: customTypes }
    : { consumes: anyType, produces: builtinTypes }
}

/** Returns the text between a verb and a kind; a plural has no article. */
function articleBefore(kind: string): string {
  if (kind.endsWith('s') && !kind.endsWith('ss')) return ' '
  return /^[aeiou]/i.test(kind) ? ' an ' : ' a '
}

function idOf(verb: string, kind: Kind): string {
  return `${verb}${prefixOf(kind)}${kind.isNamespaced ? 'Namespaced' : ''}${kind.kind}`
}

/** Returns `AppsV1`, `CoreV1`, `RbacAuthorizationV1`. */
function prefixOf({ group, version }: GroupVersionKind): string {
  return [...wordsOf(group), version].map(capital).join('')
}

function tagOf({ group, version }: GroupVersionKind): string {
  const [first = '', ...others] = wordsOf(group)
  return `${first}${others.map(capital).join('')}_${version}`
}

function wordsOf(group: string): string[] {
  return group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split(/[.-]/)
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
