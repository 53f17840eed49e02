import { asError, runAll, withTimeout, type Clock, type Logger, type Random } from '@skerry/base'
import {
  isStatusError,
  type ConfigMap,
  type KubeObject,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodStatus,
  type RuntimeClass,
  type Secret,
  type Service,
} from '@skerry/api'
import { createInformer, resources, type ClusterClient, type Informer } from '@skerry/client'
import { specOf } from '../pod/pod-spec.ts'
import { VolumeError, type ServiceAccountToken, type TokenRequest } from '../volumes/volume.ts'
import type { NodeObjects } from './node-objects.ts'
import { ObjectDisk } from './object-disk.ts'
import {
  objectsToRead,
  secretsOfVolume,
  type Reference,
  type ReferenceKind,
} from './objects-to-read.ts'
import { ReferencedObjects } from './referenced-objects.ts'
import { TokenSource, type StandIn } from './token-source.ts'
import { nodeStoreDefaults } from '../limits-table.ts'

const impatience = Object.freeze({
  ms: nodeStoreDefaults.refreshTimeoutMs,
  message: 'no answer from the API in time',
})

export interface NodeStoreDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
  standIn?: StandIn | undefined
}

export type PodChange = { type: 'set' | 'deleted'; pod: Pod }

interface ServiceList {
  services: readonly Service[]
  readAtMs: number
}

/**
 * Holds everything from the API that this node works with: its pods and the objects that they name. It is
 * written to disk as it arrives, so that after a reboot without the API all pods start again, and is trusted
 * until the API has answered.
 */
export class NodeStore implements NodeObjects, AsyncDisposable {
  readonly #deps: NodeStoreDeps
  readonly #disk: ObjectDisk
  readonly #pods = new Map<string, Pod>()
  readonly #informer: Informer<Pod>
  readonly #references: ReferencedObjects
  readonly #tokens: TokenSource
  readonly #services = new Map<string, ServiceList>()
  readonly #handlers = new Map<string, string>()
  readonly #podListeners = new Set<(change: PodChange) => void>()
  readonly #objectListeners = new Set<(podUids: ReadonlySet<string>) => void>()
  readonly #signal: AbortSignal
  #isSynced = false
  #node: Node | undefined

  constructor(
    options: { nodeName: string; directory: string },
    deps: NodeStoreDeps,
    signal: AbortSignal,
  ) {
    this.#deps = deps
    this.#signal = signal
    this.#disk = new ObjectDisk(options.directory, deps.log)
    this.#informer = createInformer(
      deps.cluster.resource(resources.pods),
      { fieldSelector: `spec.nodeName=${options.nodeName}` },
      deps,
    )
    this.#tokens = new TokenSource({ ...deps, disk: this.#disk })
    this.#references = new ReferencedObjects(
      { ...deps, disk: this.#disk },
      (holders) => {
        for (const listener of this.#objectListeners) listener(holders)
      },
      signal,
    )
  }

  /** True once the API has reported which pods belong here; until then the disk is trusted. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /** Resolves once the API has reported which pods belong here. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    await this.#informer.whenSynced(signal)
  }

  /** The monotonic time of the API's last answer; undefined before the first. */
  get lastContactMs(): number | undefined {
    return this.#informer.lastContactMs()
  }

  /** The node object as the API had it last: its pod addresses are needed without the API too. */
  get node(): Node | undefined {
    return this.#node
  }

  keepNode(node: Node): void {
    const isNews = this.#node?.spec?.podCIDR !== node.spec?.podCIDR || !this.#node
    this.#node = node
    // Its status changes every few minutes; the fields that matter without the API do not.
    if (isNews) this.#disk.put({ resource: 'nodes', key: node.metadata.name ?? '' }, node)
  }

  /** Reads the disk. Call once, before run(). */
  async load(): Promise<void> {
    for (const node of (await this.#disk.load<Node>('nodes')).values()) this.#node = node
    await this.#references.load()
    await this.#tokens.load()
    for (const [namespace, list] of await this.#disk.load<StoredServices>('services')) {
      this.#services.set(namespace, { services: list.items, readAtMs: -Infinity })
    }
    for (const [name, object] of await this.#disk.load<RuntimeClass>('runtimeclasses')) {
      this.#handlers.set(name, object.handler)
    }
    for (const [uid, pod] of await this.#disk.load<Pod>('pods')) {
      this.#pods.set(uid, pod)
      this.#hold(pod)
    }
  }

  /** Ends the pause before the next try to read pods. */
  retryNow(): void {
    this.#informer.retryNow()
  }

  async run(): Promise<void> {
    using _listening = this.#informer.onChange((change) => {
      if (change.type === 'deleted') this.#delete(change.object)
      else this.#set(change.object)
    })
    await runAll(this.#signal, [
      (scope) => this.#disk.run(scope),
      (scope) => this.#informer.run(scope),
      (scope) => this.#forgetMissing(scope),
    ])
  }

  list(): Pod[] {
    return [...this.#pods.values()]
  }

  /** The pod as the API had it last; undefined for one that only the disk knows. */
  apiPod({ metadata }: Pod): Pod | undefined {
    const { namespace = '', name = '', uid } = metadata
    const found = this.#informer.get({ namespace, name })
    return found?.metadata.uid === uid ? found : undefined
  }

  /** Calls the listener for each change from now on. */
  onPod(listener: (change: PodChange) => void): Disposable {
    this.#podListeners.add(listener)
    return { [Symbol.dispose]: () => void this.#podListeners.delete(listener) }
  }

  /** Calls the listener with the uids of pods that name a changed object. */
  onObject(listener: (podUids: ReadonlySet<string>) => void): Disposable {
    this.#objectListeners.add(listener)
    return { [Symbol.dispose]: () => void this.#objectListeners.delete(listener) }
  }

  /** Stores the status, so that the next run knows the pod's state with or without the API. */
  keepStatus(uid: string, status: PodStatus): void {
    const pod = this.#pods.get(uid)
    if (!pod) return
    const kept: Pod = { ...pod, status }
    this.#disk.put({ resource: 'pods', key: uid }, kept)
  }

  configMap(namespace: string, name: string): ConfigMap | undefined {
    return this.#get<ConfigMap>('configMaps', namespace, name)
  }

  secret(namespace: string, name: string): Secret | undefined {
    return this.#get<Secret>('secrets', namespace, name)
  }

  persistentVolumeClaim(namespace: string, name: string): PersistentVolumeClaim | undefined {
    return this.#get<PersistentVolumeClaim>('persistentVolumeClaims', namespace, name)
  }

  persistentVolume(name: string): PersistentVolume | undefined {
    return this.#get<PersistentVolume>('persistentVolumes', '', name)
  }

  services(namespace: string): readonly Service[] {
    const own = this.#services.get(namespace)?.services ?? []
    if (namespace === 'default') return own
    const api = this.#services.get('default')?.services ?? []
    return [...own, ...api.filter(({ metadata }) => metadata.name === 'kubernetes')]
  }

  pullSecrets(pod: Pod): Secret[] {
    const namespace = pod.metadata.namespace ?? ''
    return (specOf(pod).imagePullSecrets ?? []).flatMap(
      ({ name }) => this.secret(namespace, name ?? '') ?? [],
    )
  }

  token(request: TokenRequest, signal: AbortSignal): Promise<ServiceAccountToken> {
    return this.#tokens.token(request, signal)
  }

  /** Returns the tokens that the API gave this pod. */
  tokensOf(podUid: string): string[] {
    return this.#tokens.given(podUid)
  }

  async whenKnown(pod: Pod, signal: AbortSignal): Promise<void> {
    const references = this.#hold(pod)
    const ms = nodeStoreDefaults.lookupTimeoutMs
    const message = 'objects that the pod names were not found in time'
    try {
      await withTimeout({ ms, message, clock: this.#deps.clock }, signal, async (scope) => {
        await this.#references.whenKnown(references, scope)
        // A claim names a volume, which is known only once the claim is, and that names secrets.
        await this.#references.whenKnown(this.#hold(pod), scope)
        await this.#references.whenKnown(this.#hold(pod), scope)
      })
    } catch (error) {
      signal.throwIfAborted()
      throw new VolumeError(asError(error).message, { cause: error })
    }
    const namespace = pod.metadata.namespace ?? ''
    const namespaces = specOf(pod).enableServiceLinks === false ? [] : [namespace]
    for (const one of new Set([...namespaces, 'default'])) await this.#readServices(one, signal)
  }

  async runtimeHandler(name: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const found = await this.#deps.cluster
        .resource(resources.runtimeClasses)
        .get({ name }, signal)
      this.#handlers.set(name, found.handler)
      this.#disk.put({ resource: 'runtimeclasses', key: name }, found)
      return found.handler
    } catch (error) {
      signal.throwIfAborted()
      return isStatusError(error, 'NotFound') ? undefined : this.#handlers.get(name)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#references[Symbol.asyncDispose]()
    await this.#disk.flush()
  }

  #get<T extends KubeObject>(kind: ReferenceKind, namespace: string, name: string): T | undefined {
    // A client of this kind stored it under this kind.
    return this.#references.get({ kind, namespace, name }) as T | undefined
  }

  #set(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    this.#pods.set(uid, pod)
    this.#hold(pod)
    this.#disk.put({ resource: 'pods', key: uid }, pod)
    for (const listener of this.#podListeners) listener({ type: 'set', pod })
  }

  #delete(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    if (!this.#pods.delete(uid)) return
    this.#references.release(uid)
    this.#tokens.forget(uid)
    this.#disk.remove({ resource: 'pods', key: uid })
    for (const listener of this.#podListeners) listener({ type: 'deleted', pod })
  }

  /** Forgets pods that only the disk has, once the API has listed its own. */
  async #forgetMissing(signal: AbortSignal): Promise<void> {
    await this.#informer.whenSynced(signal)
    const listed = new Set(this.#informer.list().map(({ metadata }) => metadata.uid))
    for (const [uid, pod] of this.#pods) if (!listed.has(uid)) this.#delete(pod)
    this.#isSynced = true
    this.#references.dropUnheld()
  }

  #hold(pod: Pod): Reference[] {
    const named = objectsToRead(pod)
    const volumes = named.flatMap(({ kind, namespace, name }): Reference[] => {
      if (kind !== 'persistentVolumeClaims') return []
      const volumeName = this.persistentVolumeClaim(namespace, name)?.spec?.volumeName
      return volumeName ? [{ kind: 'persistentVolumes', namespace: '', name: volumeName }] : []
    })
    const secrets = volumes.flatMap(({ name }) => {
      const volume = this.persistentVolume(name)
      return volume ? secretsOfVolume(volume) : []
    })
    const references = [...named, ...volumes, ...secrets]
    this.#references.hold(pod.metadata.uid ?? '', references)
    return references
  }

  /** Reads services. Without the API the last list is used: services' variables are a convenience. */
  async #readServices(namespace: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const nowMs = clock.monotonicMs()
    const known = this.#services.get(namespace)
    if (known && nowMs - known.readAtMs < nodeStoreDefaults.servicesMaxAgeMs) return
    try {
      const client = this.#deps.cluster.resource(resources.services)
      const { items } = await withTimeout({ ...impatience, clock }, signal, (scope) =>
        client.list({ namespace }, scope),
      )
      this.#services.set(namespace, { services: items, readAtMs: nowMs })
      const metadata = { name: namespace }
      const stored: StoredServices = { apiVersion: 'v1', kind: 'ServiceList', metadata, items }
      this.#disk.put({ resource: 'services', key: namespace }, stored)
    } catch (error) {
      signal.throwIfAborted()
      this.#deps.log.debug('Cannot read services', { namespace, error: asError(error) })
    }
  }
}

interface StoredServices extends KubeObject {
  items: Service[]
}
