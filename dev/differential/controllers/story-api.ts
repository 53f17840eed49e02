import { builtinKinds } from '@skerry/kinds'
import type { Kind } from '@skerry/api'
import { connect, type Connection, type Subject } from '../subject.ts'

export type Fields = Readonly<Record<string, unknown>>

export interface KubeFields extends Fields {
  readonly metadata: Fields
}

/** Sends requests of a story to its own namespace, as an administrator. */
export interface StoryApi extends Disposable {
  /** Returns the path of `pods`, `pods/web` or `pods/web/status`. Throws RangeError for an unknown resource. */
  pathOf(reference: string): string
  isNamespaced(resource: string): boolean
  /** Adds apiVersion and namespace where they are missing; answers with the reference of what was made. */
  create(object: Fields): Promise<string>
  /** A merge patch. */
  patch(reference: string, patch: Fields): Promise<void>
  post(reference: string, body: Fields): Promise<void>
  delete(reference: string, options?: Fields): Promise<void>
  /** Resolves undefined if it does not exist. */
  get(reference: string): Promise<KubeFields | undefined>
  list(resource: string, query?: string): Promise<KubeFields[]>
}

/** The part of a kind that its requests need. */
export type StoryKind = Pick<Kind, 'group' | 'version' | 'kind' | 'resource' | 'isNamespaced'>

/** `further` are kinds of custom resources. */
export async function connectStory(
  subject: Subject,
  namespace: string,
  further: readonly StoryKind[] = [],
): Promise<StoryApi> {
  const kinds = preferredKinds([...(await builtinKinds()), ...further])
  const connection = connect(subject)
  const kindOf = (resource: string): StoryKind => {
    const kind = kinds.get(resource)
    if (!kind) throw new RangeError(`Cannot find "${resource}": no resource has this name`)
    return kind
  }
  const pathOf = (reference: string): string => {
    const [resource = '', ...rest] = reference.split('/')
    return [collectionPath(kindOf(resource), namespace), ...rest].join('/')
  }
  const send = (method: string, path: string, body?: Fields): Promise<Fields> =>
    sendJson(connection, { method, path, body })
  return {
    pathOf,
    isNamespaced: (resource) => kindOf(resource).isNamespaced,
    async create(object) {
      const kind = [...kinds.values()].find((each) => each.kind === object['kind'])
      if (!kind)
        throw new RangeError(`Cannot create a ${String(object['kind'])}: no kind has this name`)
      const { group, version } = kind
      const apiVersion = group === '' ? version : `${group}/${version}`
      const made = await send('POST', collectionPath(kind, namespace), { apiVersion, ...object })
      return `${kind.resource}/${nameOf(made)}`
    },
    async patch(reference, patch) {
      await send('PATCH', pathOf(reference), patch)
    },
    async post(reference, body) {
      await send('POST', pathOf(reference), body)
    },
    async delete(reference, options) {
      await send('DELETE', pathOf(reference), options)
    },
    async get(reference) {
      const answer = await send('GET', pathOf(reference))
      return answer['kind'] === 'Status' ? undefined : withMetadata(answer)
    },
    async list(resource, query = '') {
      const { items } = await send('GET', `${pathOf(resource)}${query}`)
      return Array.isArray(items) ? items.map(withMetadata) : []
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}

export function nameOf(object: Fields): string {
  const { metadata } = withMetadata(object)
  return typeof metadata['name'] === 'string' ? metadata['name'] : ''
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withMetadata(value: unknown): KubeFields {
  const object = isFields(value) ? value : {}
  const { metadata } = object
  return { ...object, metadata: isFields(metadata) ? metadata : {} }
}

/** Prefers the core group's kind of each resource, and the newest version. */
function preferredKinds(kinds: readonly StoryKind[]): ReadonlyMap<string, StoryKind> {
  const rank = ({ group, version }: StoryKind): string => `${group === '' ? 1 : 0} ${version}`
  const found = new Map<string, StoryKind>()
  for (const kind of kinds) {
    const known = found.get(kind.resource)
    if (!known || rank(known) < rank(kind)) found.set(kind.resource, kind)
  }
  return found
}

function collectionPath(kind: StoryKind, namespace: string): string {
  const { group, version, resource, isNamespaced } = kind
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return isNamespaced ? `${root}/namespaces/${namespace}/${resource}` : `${root}/${resource}`
}

/**
 * Throws an Error for every status of 400 or more, except for 404 of a GET or DELETE, for which it returns
 * the Status.
 */
async function sendJson(
  connection: Connection,
  { method, path, body }: { method: string; path: string; body: Fields | undefined },
): Promise<Fields> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const bytes = body && Buffer.from(JSON.stringify(body))
  const headers: Record<string, string> = bytes
    ? { 'content-type': type, 'content-length': String(bytes.length) }
    : {}
  const answer = await connection.send({
    method,
    path,
    headers,
    body: bytes,
    isAuthenticated: true,
  })
  const parts: Buffer[] = []
  for await (const part of answer.stream) parts.push(part)
  const text = Buffer.concat(parts).toString()
  const isAbsent = answer.status === 404 && (method === 'GET' || method === 'DELETE')
  if (answer.status >= 400 && !isAbsent) {
    throw new Error(`Cannot ${method} ${path}: ${answer.status} ${text}`)
  }
  const parsed: unknown = JSON.parse(text)
  return isFields(parsed) ? parsed : {}
}
