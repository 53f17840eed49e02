import {
  podReferences,
  type KubeObject,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
} from '@skerry/api'
import { ifThere, resources, type ClusterClient, type KnownResource } from '@skerry/client'
import { controllerOf } from '@skerry/controller-runtime'
import { kubeedgeKinds } from '../kubeedge/definitions-table.ts'
import { openyurtKinds } from '../openyurt/definitions-table.ts'
import { superedgeKinds } from '../superedge/definitions-table.ts'
import { edgeAppsBounds } from '../limits-table.ts'
import type { Maker, UnitPods } from './unit-faults.ts'

const { podsMax } = edgeAppsBounds.readUnit

/** Reads the pods of nodes and what they belong to. Resolves to undefined for more pods than are read. */
export async function readUnit(
  members: readonly Node[],
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<UnitPods | undefined> {
  const pods: Pod[] = []
  for (const { metadata } of members) {
    const request = { fieldSelector: `spec.nodeName=${metadata.name}` }
    for await (const page of cluster.resource(resources.pods).pages(request, signal)) {
      pods.push(...page.items)
      if (pods.length > podsMax) return undefined
    }
  }
  const reader = new UnitReader(cluster, signal)
  const makers = new Map<string, Maker>()
  for (const pod of pods) {
    makers.set(pod.metadata.uid ?? '', await reader.makerOf(pod))
    await reader.readVolumes(pod)
  }
  return {
    pods,
    makerOf: (pod) => makers.get(pod.metadata.uid ?? '') ?? { kind: 'Pod', object: pod },
    claimOf: (namespace, name) => reader.claims.get(`${namespace}/${name}`),
    volumeOf: (name) => reader.volumes.get(name),
  }
}

/** A kind that makes pods, or objects that make pods. */
interface MakerKind {
  read(
    key: { name: string; namespace: string },
    cluster: ClusterClient,
    signal: AbortSignal,
  ): Promise<{ readonly object: KubeObject; readonly template: PodSpec | undefined } | undefined>
}

function makerKind<T extends KubeObject>(
  resource: KnownResource<T>,
  templateOf: (object: T) => PodSpec | undefined,
): [string, MakerKind] {
  const kind: MakerKind = {
    async read(key, cluster, signal) {
      const object = await ifThere(cluster.resource(resource).get(key, signal))
      return object && { object, template: templateOf(object) }
    },
  }
  return [`${resource.group}/${resource.kind}`, kind]
}

const makerKinds: ReadonlyMap<string, MakerKind> = new Map([
  makerKind(resources.deployments, ({ spec }) => spec?.template?.spec),
  makerKind(resources.replicaSets, ({ spec }) => spec?.template?.spec),
  makerKind(resources.statefulSets, ({ spec }) => spec?.template?.spec),
  makerKind(resources.daemonSets, ({ spec }) => spec?.template?.spec),
  makerKind(resources.replicationControllers, ({ spec }) => spec?.template?.spec),
  makerKind(resources.jobs, ({ spec }) => spec?.template?.spec),
  makerKind(resources.cronJobs, ({ spec }) => spec?.jobTemplate?.spec?.template?.spec),
])

/** An application of these kinds stays with the parent, and its children go with their places. */
const applicationGroups: ReadonlySet<string> = new Set(
  [...superedgeKinds, ...kubeedgeKinds, ...openyurtKinds].map(({ resource }) => resource.group),
)

/** Reads each object once. */
class UnitReader {
  readonly claims = new Map<string, PersistentVolumeClaim | undefined>()
  readonly volumes = new Map<string, PersistentVolume | undefined>()
  readonly #makers = new Map<string, Maker | undefined>()
  readonly #cluster: ClusterClient
  readonly #signal: AbortSignal

  constructor(cluster: ClusterClient, signal: AbortSignal) {
    this.#cluster = cluster
    this.#signal = signal
  }

  async makerOf(pod: Pod): Promise<Maker> {
    return (await this.#ownerOf(pod)) ?? { kind: 'Pod', object: pod }
  }

  async readVolumes(pod: Pod): Promise<void> {
    for (const { resource, namespace, name } of podReferences(pod)) {
      if (resource !== 'persistentvolumeclaims' || this.claims.has(`${namespace}/${name}`)) continue
      const claims = this.#cluster.resource(resources.persistentVolumeClaims)
      const claim = await ifThere(claims.get({ namespace, name }, this.#signal))
      this.claims.set(`${namespace}/${name}`, claim)
      const volume = claim?.spec?.volumeName
      if (volume === undefined || this.volumes.has(volume)) continue
      const volumes = this.#cluster.resource(resources.persistentVolumes)
      this.volumes.set(volume, await ifThere(volumes.get({ name: volume }, this.#signal)))
    }
  }

  /** Returns the outermost controller of an object; undefined if it has none, or none that exists. */
  async #ownerOf(object: KubeObject): Promise<Maker | undefined> {
    const owner = controllerOf(object)
    if (!owner) return undefined
    const known = this.#makers.get(owner.uid)
    if (known || this.#makers.has(owner.uid)) return known
    const maker = await this.#readOwner(owner, object)
    this.#makers.set(owner.uid, maker)
    return maker
  }

  async #readOwner(
    { apiVersion, kind, name, uid }: NonNullable<ReturnType<typeof controllerOf>>,
    { metadata }: KubeObject,
  ): Promise<Maker | undefined> {
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
    if (applicationGroups.has(group)) return undefined
    const { namespace = '' } = metadata
    const makers = makerKinds.get(`${group}/${kind}`)
    if (!makers) return { kind, object: { metadata: { name, namespace } } }
    const found = await makers.read({ name, namespace }, this.#cluster, this.#signal)
    // An owner of another uid is another object: garbage collection will take the pod.
    if (!found || found.object.metadata.uid !== uid) return undefined
    return (await this.#ownerOf(found.object)) ?? { kind, ...found }
  }
}
