import {
  equalJson,
  isJsonObject,
  memberOf,
  setMember,
  type AnyObject,
  type JsonObject,
} from '@skerry/api'
import { groupLabel } from '@skerry/fleet-kinds'

/**
 * The annotation of a manifest that lists fields which a site's people may take over, comma-separated, for
 * example `spec.replicas`. A field inside a list means that field of each element, without a step for the
 * list.
 */
const siteOwnedKey = 'hub.skerry.io/site-owned'

/** The prefix of a site's field managers. A field belongs to the site once such a manager has applied it. */
const siteManagerPrefix = 'site:'

/** Reports whether a manifest leaves fields to sites, so that their owners matter. */
export function leavesToSites(manifest: AnyObject): boolean {
  return listedPaths(manifest).length > 0
}

/**
 * Merges into the desired object what the site's people have applied under the listed fields. Pure. Only
 * `spec`, `data` and the like can be left to a site, never the fields of ownership. `observed` needs its
 * managedFields; without them no field belongs to the site.
 */
export function withSiteOwned(desired: AnyObject, observed: AnyObject): AnyObject {
  const paths = listedPaths(desired)
  const entries = paths.length === 0 ? [] : (observed.metadata.managedFields ?? [])
  const fieldSets = entries
    .filter(({ operation, manager, subresource }) => {
      const isSite = manager?.startsWith(siteManagerPrefix) === true
      return isSite && operation === 'Apply' && !subresource
    })
    .map(({ fieldsV1 }) => fieldsV1)
  return fieldSets.reduce<AnyObject>(
    // The top-level fields stay; only listed fields below them change.
    (kept, fields) => taken({ desired: kept, observed, fields, paths }) as AnyObject,
    desired,
  )
}

const notTheirs: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status'])

function listedPaths({ metadata }: AnyObject): string[][] {
  const text = metadata.annotations?.[siteOwnedKey] ?? ''
  return text
    .split(',')
    .map((path) => path.trim().split('.'))
    .filter(([first = '']) => first !== '' && !notTheirs.has(first))
}

interface Place {
  readonly desired: unknown
  readonly observed: unknown
  /** A managedFields set in Kubernetes' structured merge format: `f:`, `k:` and `v:`. */
  readonly fields: unknown
  /** The remaining steps of each listed path; an empty one has been reached. */
  readonly paths: readonly (readonly string[])[]
}

function taken(place: Place): unknown {
  const { desired, observed, fields, paths } = place
  const isReached = paths.some((path) => path.length === 0)
  const members = isJsonObject(fields) ? Object.entries(fields).filter(([key]) => key !== '.') : []
  if (members.length === 0) return isReached ? inGroup(observed, desired) : desired
  if (Array.isArray(observed)) {
    return takenElements({ ...place, observed, members, isReached })
  }
  if (!isJsonObject(observed)) return desired
  const object: JsonObject = isJsonObject(desired) ? { ...desired } : {}
  for (const [key, child] of members) {
    const name = key.replace(/^f:/, '')
    const left = isReached ? paths : paths.filter(([step]) => step === name)
    if (left.length === 0) continue
    const value = taken({
      desired: memberOf(object, name),
      observed: memberOf(observed, name),
      fields: child,
      paths: isReached ? paths : left.map((path) => path.slice(1)),
    })
    if (value === undefined) delete object[name]
    else setMember(object, name, value)
  }
  const whole = inGroup(object, desired)
  return desired === undefined && Object.keys(object).length === 0 ? undefined : whole
}

/** A node selector of a virtual cluster keeps the label of its group: a site cannot move out of it. */
function inGroup(value: unknown, desired: unknown): unknown {
  const group = isJsonObject(desired) ? memberOf(desired, groupLabel) : undefined
  if (group === undefined) return value
  return { ...(isJsonObject(value) ? value : {}), [groupLabel]: group }
}

interface ListPlace extends Place {
  readonly observed: readonly unknown[]
  readonly members: readonly (readonly [key: string, fields: unknown])[]
  readonly isReached: boolean
}

/** Merges elements: they keep the hub's order, and those that the site has added come last. */
function takenElements({ desired, observed, members, paths, isReached }: ListPlace): unknown {
  const list: unknown[] = Array.isArray(desired) ? [...desired] : []
  for (const [key, fields] of members) {
    const isWanted = elementTest(key)
    const there = observed.find(isWanted)
    const at = list.findIndex(isWanted)
    if (there === undefined) continue
    if (at >= 0) list[at] = taken({ desired: list[at], observed: there, fields, paths })
    else if (isReached) list.push(there)
  }
  return desired === undefined && list.length === 0 ? undefined : list
}

/** Matches `k:{"name":"web"}` by the element's keys, and `v:"x"` by its value. */
function elementTest(key: string): (element: unknown) => boolean {
  const wanted = parsed(key.slice(2))
  if (key.startsWith('v:')) return (element) => equalJson(element, wanted)
  if (!key.startsWith('k:') || !isJsonObject(wanted)) return () => false
  const keys = Object.entries(wanted)
  // The API server fills in key fields that a manifest omits, such as a port's protocol.
  return (element) =>
    isJsonObject(element) &&
    keys.some(([name, value]) => equalJson(element[name], value)) &&
    keys.every(([name, value]) => element[name] === undefined || equalJson(element[name], value))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
