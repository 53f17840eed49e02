import { isJsonObject, type AnyObject } from '@skerry/api'
import type { UnitHold } from './unit-fence.ts'
import { comeBack, type StoredObject } from './unit-share.ts'

export interface TakePlan {
  readonly puts: readonly {
    readonly key: string
    readonly object: AnyObject
    /** True if it was made while the unit was away. */
    readonly isNew: boolean
  }[]
  /** Keys of objects that the unit has deleted. */
  readonly deletes: readonly string[]
  /** Keys of objects of the unit that the parent does not take. */
  readonly left: readonly string[]
}

/** Objects that each cluster makes for itself. */
const ownOfEach: ReadonlySet<string> = new Set([
  'coordination.k8s.io/leases',
  'core/endpoints',
  'core/namespaces',
  'discovery.k8s.io/endpointslices',
  'networking.k8s.io/ipaddresses',
])

/**
 * Plans how a sealed content replaces what was fenced. Objects that the unit has made in namespaces that it shares with the
 * parent come, too, unless the parent has another one of that name, or the address of a service would be used twice.
 */
export function planTake(
  content: readonly StoredObject[],
  here: readonly StoredObject[],
  hold: Pick<UnitHold, 'keys' | 'namespaces'>,
): TakePlan {
  const known = new Map(here.map((each) => [each.key, each.object]))
  const fenced = new Set(hold.keys)
  const namespaces = new Set(hold.namespaces)
  const arrived = new Set(content.map(({ key }) => key))
  const puts: TakePlan['puts'][number][] = []
  const left: string[] = []
  for (const each of content) {
    const { key, object } = each
    const before = known.get(key)
    if (fenced.has(key)) {
      puts.push({ key, object: comeBack(object, before), isNew: before === undefined })
    } else if (isOfUnit(each, namespaces) && before?.metadata.uid !== object.metadata.uid) {
      const mayCome = before === undefined && each.resource !== 'core/services'
      if (mayCome) puts.push({ key, object, isNew: true })
      else left.push(key)
    }
  }
  return { puts, deletes: hold.keys.filter((key) => !arrived.has(key)), left }
}

function isOfUnit({ resource, object }: StoredObject, namespaces: ReadonlySet<string>): boolean {
  if (ownOfEach.has(resource)) return false
  const { namespace, name } = object.metadata
  if (resource === 'core/configmaps' && name === 'kube-root-ca.crt') return false
  if (namespace !== undefined) return namespaces.has(namespace) && !namespace.startsWith('kube-')
  const claim = isJsonObject(object['spec']) ? object['spec']['claimRef'] : undefined
  const isVolume = resource === 'core/persistentvolumes' && isJsonObject(claim)
  return isVolume && namespaces.has(String(claim['namespace']))
}
