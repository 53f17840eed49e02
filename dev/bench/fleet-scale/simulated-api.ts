import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import { abortReason, BoundedQueue } from '@skerry/base'
import { applyMergePatch } from '@skerry/bodies'
import type { Transport, TransportRequest } from '@skerry/client'

type TransportResponse = Awaited<ReturnType<Transport['send']>>

/** The API server of one simulated site: it keeps objects, and answers what an agent asks. */
export interface SimulatedApi {
  readonly transport: Transport
  get(resource: string, name: string): AnyObject | undefined
}

export interface SimulatedApiOptions {
  /** The UID of the namespace kube-system, which identifies the cluster. */
  readonly uid: string
  /** Called with each object that was created or changed, other than leases. */
  readonly onWrite: (object: AnyObject) => void
}

/** A watcher that reads slower than this is cut off. */
const eventsMax = 10_000

/** Path of a collection, of an object in it, or of a part of the object. */
const pathShape =
  /^(?<root>\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<part>[^/]+))?$/

/**
 * Creates an API server in memory, with one node and no pods. It is simulated where no figure looks at it: a Deployment is
 * ready as soon as it is written, and nothing is validated.
 */
export function createSimulatedApi({ uid, onWrite }: SimulatedApiOptions): SimulatedApi {
  const objects = new SimulatedObjects()
  objects.put('/api/v1/namespaces/kube-system', namespaceOf(uid))
  objects.put('/api/v1/nodes/node-1', node)
  return {
    get: (resource, name) => objects.get(`${resource}/${name}`),
    transport: {
      async send(request, signal) {
        signal.throwIfAborted()
        return answer(request, { objects, onWrite }, signal)
      },
    },
  }
}

type Listener = (type: string, key: string, object: AnyObject) => void

class SimulatedObjects {
  readonly #objects = new Map<string, AnyObject>()
  readonly #listeners = new Set<Listener>()
  #version = 1

  get version(): string {
    return String(this.#version)
  }

  get(key: string): AnyObject | undefined {
    return this.#objects.get(key)
  }

  /** Lists the objects of a collection, in one namespace or in all. */
  list(collection: string): AnyObject[] {
    return [...this.#objects].flatMap(([key, object]) => (isIn(key, collection) ? [object] : []))
  }

  put(key: string, object: AnyObject): AnyObject {
    const known = this.#objects.get(key)
    this.#version += 1
    const { metadata } = object
    const isSame = JSON.stringify(known?.['spec']) === JSON.stringify(object['spec'])
    const generation = (known?.metadata.generation ?? 0) + (isSame ? 0 : 1)
    const stored = withReadyReplicas({
      ...object,
      metadata: {
        ...metadata,
        uid: metadata.uid ?? `${key}-${this.#version}`,
        creationTimestamp: known?.metadata.creationTimestamp ?? '2026-01-01T00:00:00Z',
        generation,
        resourceVersion: this.version,
      },
    })
    this.#objects.set(key, stored)
    this.#tell(known ? 'MODIFIED' : 'ADDED', key, stored)
    return stored
  }

  delete(key: string): AnyObject | undefined {
    const known = this.#objects.get(key)
    if (known === undefined) return undefined
    this.#version += 1
    this.#objects.delete(key)
    const metadata = { ...known.metadata, resourceVersion: this.version }
    this.#tell('DELETED', key, { ...known, metadata })
    return known
  }

  listen(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  #tell(type: string, key: string, object: AnyObject): void {
    for (const listener of this.#listeners) listener(type, key, object)
  }
}

/** A collection of all namespaces is a path without one. */
function isIn(key: string, collection: string): boolean {
  const { root, namespace, resource, name } = pathShape.exec(key)?.groups ?? {}
  if (name === undefined) return false
  const inAll = `${root}/${resource}`
  return collection === inAll || collection === `${root}/namespaces/${namespace}/${resource}`
}

interface Answering {
  readonly objects: SimulatedObjects
  readonly onWrite: SimulatedApiOptions['onWrite']
}

function answer(
  request: TransportRequest,
  { objects, onWrite }: Answering,
  signal: AbortSignal,
): TransportResponse {
  const { pathname: path, searchParams: query } = new URL(request.path, 'http://site')
  const fixed = fixedAnswers[path]
  if (fixed !== undefined) return json(200, fixed)
  const { name, part, resource } = pathShape.exec(path)?.groups ?? {}
  if (name === undefined) {
    if (query.get('watch') === 'true') return watching(path, query, objects, signal)
    if (request.method === 'GET') return listed(path, objects)
  }
  const asked = bodyOf(request)
  const key = keyOf(path, { name, part, asked })
  const known = objects.get(key)
  const written = (object: AnyObject, status: number): TransportResponse => {
    const stored = objects.put(key, object)
    if (resource !== 'leases') onWrite(stored)
    return json(status, stored)
  }
  switch (request.method) {
    case 'GET':
      return known ? json(200, known) : failed(404, 'NotFound')
    case 'POST':
      return known || !asked ? failed(409, 'AlreadyExists') : written(asked, 201)
    case 'PUT':
      return asked ? written(asked, known ? 200 : 201) : failed(400, 'BadRequest')
    case 'PATCH': {
      if (known === undefined && !isApply(request)) return failed(404, 'NotFound')
      // A merge of an object and its patch is an object.
      return written(applyMergePatch(known ?? {}, asked ?? {}) as AnyObject, known ? 200 : 201)
    }
    case 'DELETE':
      return json(200, objects.delete(key) ?? {})
  }
}

function isApply({ headers }: TransportRequest): boolean {
  return headers['content-type']?.startsWith('application/apply-patch') === true
}

/** A part, such as the status, is written with its object. */
function keyOf(
  path: string,
  { name, part, asked }: { name?: string; part?: string; asked: AnyObject | undefined },
): string {
  if (name === undefined) return `${path}/${asked?.metadata.name ?? ''}`
  return part === undefined ? path : path.slice(0, -part.length - 1)
}

function bodyOf({ body }: TransportRequest): AnyObject | undefined {
  if (body === undefined) return undefined
  const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
  // Agents send objects, or patches of them.
  return isJsonObject(value) ? (value as unknown as AnyObject) : undefined
}

/** Everything that a Deployment wants is there at once. */
function withReadyReplicas(object: AnyObject): AnyObject {
  const { spec, metadata } = object
  if (object.kind !== 'Deployment' || !isJsonObject(spec)) return object
  const count = Number(spec['replicas'] ?? 1)
  const counts = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas']
  const status = Object.fromEntries(counts.map((name) => [name, count]))
  return { ...object, status: { ...status, observedGeneration: metadata.generation ?? 0 } }
}

function listed(path: string, objects: SimulatedObjects): TransportResponse {
  const metadata = { resourceVersion: objects.version }
  return json(200, { apiVersion: 'v1', kind: 'List', metadata, items: objects.list(path) })
}

/** Sends the objects that there are, and then every change until the client's time is over. */
function watching(
  path: string,
  query: URLSearchParams,
  objects: SimulatedObjects,
  signal: AbortSignal,
): TransportResponse {
  const frames = new BoundedQueue<Uint8Array>(eventsMax)
  const send = (type: string, object: object): void => {
    frames.push(Buffer.from(`${JSON.stringify({ type, object })}\n`))
  }
  if (query.get('sendInitialEvents') === 'true') {
    for (const object of objects.list(path)) send('ADDED', object)
    const annotations = { 'k8s.io/initial-events-end': 'true' }
    const metadata = { resourceVersion: objects.version, annotations }
    send('BOOKMARK', { apiVersion: 'v1', kind: 'Bookmark', metadata })
  }
  const listening = objects.listen((type, key, object) => {
    if (isIn(key, path)) send(type, object)
  })
  const end = (): void => {
    listening[Symbol.dispose]()
    frames.close()
  }
  const timer = setTimeout(end, Number(query.get('timeoutSeconds') ?? 300) * 1_000)
  signal.addEventListener('abort', end, { once: true })
  return { status: 200, headers: {}, body: untilClosed(frames, { signal, timer, end }) }
}

async function* untilClosed(
  frames: BoundedQueue<Uint8Array>,
  { signal, timer, end }: { signal: AbortSignal; timer: NodeJS.Timeout; end: () => void },
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* frames
    if (signal.aborted) throw abortReason(signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    end()
  }
}

function json(status: number, value: unknown): TransportResponse {
  const bytes = Buffer.from(JSON.stringify(value))
  return { status, headers: { 'content-type': 'application/json' }, body: whole(bytes) }
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}

function failed(code: number, reason: string): TransportResponse {
  return json(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason })
}

function namespaceOf(uid: string): AnyObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid } }
}

const allocatable = Object.freeze({ cpu: '8', memory: '16Gi', pods: '110' })

const node: AnyObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', labels: { 'kubernetes.io/os': 'linux' } },
  status: {
    allocatable,
    capacity: allocatable,
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'it is' }],
  },
}

const verbs = Object.freeze(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'])

function resourceOf(resource: string, kind: string, group = ''): JsonObject {
  const responseKind = { group, version: 'v1', kind }
  return { resource, responseKind, scope: 'Namespaced', verbs: [...verbs] }
}

function groups(name: string, resources: JsonObject[]): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [{ metadata: { name }, versions: [{ version: 'v1', resources }] }],
  }
}

const fixedAnswers: Readonly<Record<string, unknown>> = Object.freeze({
  '/readyz': 'ok',
  '/version': { major: '1', minor: '36', gitVersion: 'v1.36.3' },
  '/api': groups('', [
    resourceOf('configmaps', 'ConfigMap'),
    resourceOf('secrets', 'Secret'),
    resourceOf('services', 'Service'),
  ]),
  '/apis': groups('apps', [resourceOf('deployments', 'Deployment', 'apps')]),
})
