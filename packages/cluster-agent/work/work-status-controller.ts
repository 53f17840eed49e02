import { equalJson, type AnyObject } from '@skerry/api'
import { keyOfObject, parseKey } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { conditionOf } from '@skerry/fleet-kinds'
import {
  karmadaKeys,
  manifestsOf,
  workConditions,
  type ManifestIdentifier,
  type ManifestStatus,
  type Work,
} from '@skerry/karmada-kinds'
import { sharersOf } from './shared-object.ts'
import {
  clusterOf,
  isReady,
  placeOf,
  watchMember,
  watchReadiness,
  type WorkContext,
} from './work-context.ts'

/** Tells the control plane how the objects of each Work are, once they are applied. */
export function workStatusController(shared: WorkContext): ControllerDefinition {
  return {
    name: 'work-status-controller',
    watches: [
      watch(shared.works, {
        keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
      }),
      watchMember(shared),
      watchReadiness(shared),
    ],
    async reconcile(key, context, signal) {
      const work = context.informer(shared.works).get(parseKey(key))
      if (work === undefined || work.metadata.deletionTimestamp || !isApplied(work)) return
      // While the cluster is unreachable, its last status stays; its return is an event.
      if (!isReady(clusterOf(shared, context))) return
      await reportStatus(work, { shared, context }, signal)
    },
  }
}

interface Reporting {
  readonly shared: WorkContext
  readonly context: ControllerContext
}

function isApplied({ status }: Work): boolean {
  return conditionOf(status?.conditions, workConditions.applied)?.status === 'True'
}

async function reportStatus(
  work: Work,
  { shared, context }: Reporting,
  signal: AbortSignal,
): Promise<void> {
  const known = work.status?.manifestStatuses ?? []
  const statuses = await manifestStatuses(work, shared, signal)
  if (equalJson(statuses, known)) return
  const { namespace = '', name = '' } = work.metadata
  const patch = { status: { manifestStatuses: statuses } }
  const works = context.client(shared.works)
  await works.patchStatus({ namespace, name, type: 'merge', patch }, signal)
}

/** Resolves with the present status of a Work's objects; for a missing object, with its last reported one. */
export async function manifestStatuses(
  work: Work,
  shared: WorkContext,
  signal: AbortSignal,
): Promise<ManifestStatus[]> {
  const known = work.status?.manifestStatuses ?? []
  const statuses: ManifestStatus[] = []
  for (const [ordinal, manifest] of manifestsOf(work).entries()) {
    const place = placeOf(shared, manifest)
    const observed = place && (await shared.member.observe(place, signal))
    const identifier = identifierOf(manifest, ordinal)
    const next =
      observed && isOf(observed, work, shared.clusterName)
        ? await statusOf({ manifest, identifier, observed }, shared, signal)
        : known.find((each) => equalJson(each.identifier, identifier))
    if (next) statuses.push(next)
  }
  return statuses
}

/** Names the object as the control plane wrote it, whatever its name in the cluster. */
function identifierOf({ apiVersion, kind, metadata }: AnyObject, ordinal: number) {
  const slash = apiVersion.indexOf('/')
  const { namespace, name = '' } = metadata
  const identifier: ManifestIdentifier = {
    ordinal,
    ...(slash === -1 ? {} : { group: apiVersion.slice(0, slash) }),
    version: apiVersion.slice(slash + 1),
    kind,
    // Karmada's own agent leaves it empty, too.
    resource: '',
    ...(namespace ? { namespace } : {}),
    name,
  }
  return identifier
}

/** Reports whether the object belongs to this Work; the status of other objects is not reported. */
function isOf(observed: AnyObject, work: Work, cluster: string): boolean {
  const { annotations = {} } = observed.metadata
  return (
    sharersOf(observed).has(cluster) ||
    (annotations[karmadaKeys.workNamespace] === work.metadata.namespace &&
      annotations[karmadaKeys.workName] === work.metadata.name)
  )
}

interface Reported {
  readonly manifest: AnyObject
  readonly identifier: ManifestIdentifier
  readonly observed: AnyObject
}

async function statusOf(
  { manifest, identifier, observed }: Reported,
  { interpreter, mapping }: WorkContext,
  signal: AbortSignal,
): Promise<ManifestStatus> {
  const status = await interpreter.reflectStatus(observed, signal)
  const health = await interpreter.health(observed, signal)
  return { identifier, ...(status ? { status: mapping.fromMember(manifest, status) } : {}), health }
}
