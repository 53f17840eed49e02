import { isJsonObject, type AnyObject } from '@skerry/api'
import type { UnitHold } from './unit-fence.ts'
import { comeBack, mayRunOn, nodeNameOf, type StoredObject } from './unit-share.ts'

export interface TakePlan {
  readonly puts: readonly {
    readonly key: string
    readonly object: AnyObject
    /** True if it was made while the unit was away. */
    readonly isNew: boolean
  }[]
  /** Keys of objects that the unit has deleted. */
  readonly deletes: readonly string[]
  /** Objects of the unit that the parent cannot take, each with the reason; nothing is taken then. */
  readonly refused: readonly string[]
}

/** Objects that each cluster makes for itself. */
const ownOfEach: ReadonlySet<string> = new Set([
  'coordination.k8s.io/leases',
  'core/endpoints',
  'discovery.k8s.io/endpointslices',
  'networking.k8s.io/ipaddresses',
])

/** New objects of these kinds do not come: addresses could be used twice, and rights would come from a machine of the unit. */
const neverNew: ReadonlySet<string> = new Set([
  'core/services',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/roles',
])

/**
 * Plans how a sealed content replaces what was fenced. Objects that the unit has made in namespaces that it shares with the
 * parent come, too. The unit's machine could have written anything, so that nothing comes that would run outside of its nodes.
 */
export function planTake(
  content: readonly StoredObject[],
  here: readonly StoredObject[],
  hold: Pick<UnitHold, 'keys' | 'namespaces' | 'nodes'>,
): TakePlan {
  const world = { ...worldOf(content, here, hold), hold }
  const arrived = new Set(content.map(({ key }) => key))
  const puts: TakePlan['puts'][number][] = []
  const refused: string[] = []
  for (const each of content) {
    const verdict = world.fenced.has(each.key) ? judgeFenced(each, world) : judgeNew(each, world)
    if (verdict === 'skip') continue
    if (verdict !== 'take') refused.push(`${each.key.slice('/registry/'.length)} ${verdict.why}`)
    const before = world.known.get(each.key)
    const object = world.fenced.has(each.key) ? comeBack(each.object, before) : each.object
    puts.push({ key: each.key, object, isNew: before === undefined })
  }
  const deletes = hold.keys.filter((key) => !arrived.has(key))
  return refused.length > 0 ? { puts: [], deletes: [], refused } : { puts, deletes, refused }
}

type Verdict = 'take' | 'skip' | { readonly why: string }

interface World {
  readonly known: ReadonlyMap<string, AnyObject>
  readonly fenced: ReadonlySet<string>
  readonly namespaces: ReadonlySet<string>
  /** The nodes that are not the unit's. */
  readonly outside: readonly StoredObject[]
  readonly hold: Pick<UnitHold, 'nodes'>
}

function worldOf(
  content: readonly StoredObject[],
  here: readonly StoredObject[],
  { keys, namespaces }: Pick<UnitHold, 'keys' | 'namespaces'>,
): Omit<World, 'hold'> {
  const fenced = new Set(keys)
  const isOutside = ({ key, resource }: StoredObject): boolean =>
    resource === 'core/nodes' && !fenced.has(key)
  return {
    known: new Map(here.map((each) => [each.key, each.object])),
    fenced,
    namespaces: new Set(namespaces),
    outside: [...here, ...content].filter(isOutside),
  }
}

function judgeFenced(each: StoredObject, { known, outside, hold }: World): Verdict {
  const { key, resource } = each
  if (resource === 'core/pods') {
    const node = nodeNameOf(each)
    return node === '' || hold.nodes.includes(node) ? 'take' : { why: `is on node ${node}` }
  }
  const before = known.get(key)
  // One that ran elsewhere before, e.g. a finished Job, goes on as it was.
  if (before !== undefined && mayRunOn({ ...each, object: before }, outside)) return 'take'
  return mayRunOn(each, outside) ? runsOutside : 'take'
}

const runsOutside = { why: 'may run outside of the unit; choose a label that only its nodes have' }

function judgeNew(each: StoredObject, world: World): Verdict {
  const { key, resource, object } = each
  const before = world.known.get(key)
  if (resource === 'core/nodes') return { why: 'has joined it; delete the node there' }
  if (resource === 'core/namespaces' && before === undefined) return { why: 'was made there' }
  if (before?.metadata.uid === object.metadata.uid || !isOfUnit(each, world)) return 'skip'
  if (before !== undefined) return { why: 'was made at both sides' }
  if (neverNew.has(resource)) return { why: 'was made there, and is of a kind that does not come' }
  const node = nodeNameOf(each)
  if (node !== '') return world.hold.nodes.includes(node) ? 'take' : { why: `is on node ${node}` }
  if (!mayRunOn(each, world.outside)) return 'take'
  if (resource !== 'core/pods') return runsOutside
  // Its owner makes another one here.
  return (object.metadata.ownerReferences ?? []).length > 0 ? 'skip' : runsOutside
}

function isOfUnit(each: StoredObject, { namespaces }: World): boolean {
  const { resource, object } = each
  if (ownOfEach.has(resource)) return false
  const { namespace, name } = object.metadata
  if (resource === 'core/configmaps' && name === 'kube-root-ca.crt') return false
  // Each namespace may have pods of DaemonSets.
  if (resource === 'core/pods' && nodeNameOf(each) !== '') return true
  if (namespace !== undefined) {
    return namespaces.has(namespace) && !namespace.startsWith('kube-')
  }
  const claim = isJsonObject(object['spec']) ? object['spec']['claimRef'] : undefined
  const isVolume = resource === 'core/persistentvolumes' && isJsonObject(claim)
  return isVolume && namespaces.has(String(claim['namespace']))
}
