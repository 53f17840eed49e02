import { isJsonObject, matchesNodeSelectorTerms, type PersistentVolume } from '@skerry/api'
import { edgeSystems, type UnitFault } from '@skerry/edge-apps'
import { namespacesOf, nodeNameOf, shareOf, type StoredObject } from './unit-share.ts'

/** Applications of these groups stay with the parent, and their children go. */
const applicationGroups: ReadonlySet<string> = new Set(
  Object.values(edgeSystems).flatMap(({ kinds }) => kinds.map(({ resource }) => resource.group)),
)

/**
 * Finds objects that belong to nodes and cannot go with them: volumes that others reach, and custom resources, since their
 * definitions and controllers stay behind.
 */
export function faultsOfShare(
  objects: readonly StoredObject[],
  nodes: ReadonlySet<string>,
): UnitFault[] {
  const { moved } = shareOf(objects, nodes)
  const isCustom = customTest(objects)
  const owned = new Set(moved)
  const alone = namespacesOfAlone(objects, moved, nodes)
  const custom = objects.filter(
    (each) =>
      isCustom(each) && (owned.has(each) || alone.has(each.object.metadata.namespace ?? '')),
  )
  return [
    ...custom.map(({ key }): UnitFault => ({
      reason: 'CustomResource',
      message: `${shown(key)} is a custom resource, which is not handed over; delete it, or move it to a namespace that the unit does not have alone`,
    })),
    ...remoteVolumes(moved, objects, nodes),
  ]
}

function customTest(objects: readonly StoredObject[]): (each: StoredObject) => boolean {
  const custom = new Set<string>()
  for (const { resource, object } of objects) {
    if (resource !== 'apiextensions.k8s.io/customresourcedefinitions') continue
    const { group, names } = isJsonObject(object['spec']) ? object['spec'] : {}
    if (typeof group !== 'string' || applicationGroups.has(group) || !isJsonObject(names)) continue
    custom.add(`${group}/${String(names['plural'])}`)
  }
  return ({ resource }) => custom.has(resource)
}

/** Returns the namespaces all of whose pods are the unit's. */
function namespacesOfAlone(
  objects: readonly StoredObject[],
  moved: readonly StoredObject[],
  nodes: ReadonlySet<string>,
): Set<string> {
  const shared = objects
    .filter((each) => each.resource === 'core/pods' && !nodes.has(nodeNameOf(each)))
    .map(({ object }) => object.metadata.namespace ?? '')
  const all = namespacesOf(moved).difference(new Set(['default', ...shared]))
  return new Set([...all].filter((name) => !name.startsWith('kube-')))
}

/** Finds those of claims that no pod uses now, too. */
function remoteVolumes(
  moved: readonly StoredObject[],
  objects: readonly StoredObject[],
  nodes: ReadonlySet<string>,
): UnitFault[] {
  const all = objects
    .filter(({ resource }) => resource === 'core/nodes')
    .map(({ object: { metadata } }) => ({
      name: metadata.name ?? '',
      labels: metadata.labels ?? {},
    }))
  const inside = all.filter(({ name }) => nodes.has(name))
  const outside = all.filter(({ name }) => !nodes.has(name))
  const isRemote = ({ object }: StoredObject): boolean => {
    // The server has checked it.
    const { spec } = object as PersistentVolume
    const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []
    const fits = (node: (typeof all)[number]): boolean => matchesNodeSelectorTerms(terms, node)
    return !inside.some(fits) || outside.some(fits)
  }
  return moved
    .filter((each) => each.resource === 'core/persistentvolumes' && isRemote(each))
    .map(({ key }): UnitFault => ({
      reason: 'RemoteVolume',
      message: `${shown(key)} is not on a disk of the unit alone; use a class of local volumes`,
    }))
}

function shown(key: string): string {
  return key.slice('/registry/'.length)
}
