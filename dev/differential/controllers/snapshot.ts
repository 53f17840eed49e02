import { withoutServerDefaults } from './pod-defaults.ts'
import { isFields, nameOf, type Fields, type KubeFields } from './story-api.ts'

/** The objects at the end of a chapter: maps a reference to the compared fields. */
export type Snapshot = Readonly<Record<string, Fields>>

/** The objects of one resource, as they were read. */
export interface Listed {
  readonly resource: string
  readonly objects: readonly KubeFields[]
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const timestamp = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
const tokenVolume = /\bkube-api-access-[a-z0-9]{5}\b/g
/** A Job's name ends with the minute since the epoch that its CronJob ran for. */
const minute = /-(\d{8})\b/g
/** Matches certificates in PEM, plain or in base64. */
const certificates =
  /(-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\s*)+|LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t[\w+/=]+/g
/** The id of a story user's certificate. */
const credential = /\bX509SHA256=[0-9a-f]{64}\b/g
/** A name that the server completed and then refused. */
const refusedName = /(pods "[a-z0-9.-]+-)[bcdfghjklmnpqrstvwxz2456789]{5}"/g
/** Other controllers' and servers' choices that no reader of a workload sees. */
const droppedMeta = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'namespace',
])

/**
 * Makes two plays of a story comparable. Generated names are numbered when they are first seen, in the
 * order of what the objects are, so that a number means the same in both.
 */
export class StoryNames {
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #minutes = new Map<string, string>()
  readonly #uids = new Map<string, string>()
  /** The last shown form of each object with a generated name. */
  readonly #last = new Map<string, string>()

  /** Numbers the new ones among these. */
  learn(lists: readonly Listed[]): void {
    for (const { resource, objects } of lists) {
      if (resource === 'events') continue
      for (const { metadata } of objects) {
        this.#uids.set(String(metadata['uid']), `${resource}/${String(metadata['name'])}`)
      }
      const isNew = (object: KubeFields): boolean =>
        hasGeneratedName(object) && !this.#names.has(nameOf(object))
      const keyed = objects.filter(isNew).map((object) => ({ object, key: this.#keyOf(object) }))
      for (const { object } of keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
        const prefix = String(object.metadata['generateName'])
        const count = (this.#counts.get(prefix) ?? 0) + 1
        this.#counts.set(prefix, count)
        this.#names.set(nameOf(object), `${this.text(prefix)}<${count}>`)
      }
    }
  }

  /**
   * Renumbers objects that were equal: they are interchangeable, and a controller picks one at random. They
   * are numbered again, in the order of their later states.
   */
  exchange(lists: readonly Listed[]): void {
    const now = new Map<string, string>()
    for (const object of lists.flatMap(({ objects }) => objects)) {
      if (this.#names.has(nameOf(object))) now.set(nameOf(object), this.#keyOf(object))
    }
    const alike = Map.groupBy(this.#last.keys(), (name) => this.#last.get(name) ?? '')
    for (const names of alike.values()) {
      // Deleted objects come last.
      const fate = (name: string): string => now.get(name) ?? '~'
      const numbers = names.map((name) => this.#names.get(name) ?? '').toSorted(compareNaturally)
      const ordered = names.toSorted((a, b) => compareFates(fate(a), fate(b)))
      for (const [at, name] of ordered.entries()) this.#names.set(name, numbers[at] ?? '')
    }
    this.#last.clear()
    for (const [name, key] of now) this.#last.set(name, key)
  }

  /** The name that a cluster gave to what a story calls so. */
  actual(name: string): string {
    for (const [actual, shown] of this.#names) if (shown === name) return actual
    return name
  }

  text(value: string): string {
    let result = value
    for (const [name, shown] of this.#names) result = result.replaceAll(name, shown)
    return result
      .replaceAll(refusedName, '$1<refused>"')
      .replaceAll(uuid, (match) => `<uid of ${this.#shownOwner(match)}>`)
      .replaceAll(timestamp, (match) => (match.includes('.') ? '<micro-time>' : '<time>'))
      .replaceAll(tokenVolume, 'kube-api-access-<suffix>')
      .replaceAll(credential, 'X509SHA256=<hash>')
      .replaceAll(certificates, '<certificate>')
      .replaceAll(minute, (match) => this.#number(match))
  }

  anything(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.anything(item))
    if (!isFields(value)) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== 'resourceVersion')
        .map(([key, field]) => [this.text(key), this.anything(field)]),
    )
  }

  #shownOwner(uid: string): string {
    const owner = this.#uids.get(uid)
    return owner === undefined ? 'something' : this.text(owner)
  }

  #number(match: string): string {
    const known = this.#minutes.get(match) ?? `-<minute ${this.#minutes.size + 1}>`
    this.#minutes.set(match, known)
    return known
  }

  #keyOf({ metadata, ...object }: KubeFields): string {
    const { generateName, labels, annotations, deletionTimestamp } = metadata
    const meta = [generateName, labels, annotations, deletionTimestamp === undefined]
    return JSON.stringify(sorted([meta, this.anything(withoutServerDefaults(object))]))
  }
}

function compareFates(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** A StatefulSet's pods have a prefix, too, but chosen names. */
function hasGeneratedName({ metadata: { generateName, name } }: KubeFields): boolean {
  if (typeof generateName !== 'string' || typeof name !== 'string') return false
  return /^[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(name.slice(generateName.length))
}

/**
 * Returns everything that is compared, by reference. With `countsEvents`, that includes how often each event
 * occurred.
 */
export function takeSnapshot(
  lists: readonly Listed[],
  names: StoryNames,
  { countsEvents }: { countsEvents: boolean },
): Snapshot {
  names.learn(lists)
  names.exchange(lists)
  const entries: [string, Fields][] = []
  for (const { resource, objects } of lists) {
    for (const object of objects) {
      const shown = resource === 'events' ? eventOf(object, countsEvents) : objectOf(object)
      const known = inOrder(shownAs(names, shown.fields))
      entries.push([
        names.text(shown.key === '' ? `${resource}/${nameOf(object)}` : shown.key),
        known,
      ])
    }
  }
  const byKey = ([a]: [string, Fields], [b]: [string, Fields]): number => compareNaturally(a, b)
  return Object.fromEntries(entries.toSorted(byKey))
}

/** Sorts web-2 before web-10. */
export function compareNaturally(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

/** Returns only the changes between two chapters; null stands for a deleted object. */
export function changesBetween(before: Snapshot, now: Snapshot): Record<string, Fields | null> {
  const changes: Record<string, Fields | null> = {}
  for (const [key, object] of Object.entries(now)) {
    const earlier = before[key] ?? {}
    const parts = new Set([...Object.keys(object), ...Object.keys(earlier)])
    const changed = [...parts].filter((part) => !isSame(object[part], earlier[part]))
    if (changed.length === 0) continue
    changes[key] = Object.fromEntries(changed.map((part) => [part, object[part] ?? null]))
  }
  for (const key of Object.keys(before)) if (!(key in now)) changes[key] = null
  return changes
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function shownAs(names: StoryNames, fields: Fields): Fields {
  const shown = sorted(names.anything(fields))
  return isFields(shown) ? shown : {}
}

/** Sorts the subsets of Endpoints, whose order is random: by a hash over uids. */
function inOrder({ subsets, ...fields }: Fields): Fields {
  if (!Array.isArray(subsets)) return { ...fields, ...(subsets === undefined ? {} : { subsets }) }
  const texts = subsets.map((subset) => JSON.stringify(subset)).toSorted()
  return { ...fields, subsets: texts.map((text): unknown => JSON.parse(text)) }
}

/** Names of fields in order, so that two texts of one object are equal. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isFields(value)) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field)]))
}

function objectOf({ metadata, ...object }: KubeFields): { key: string; fields: Fields } {
  const { kind: _kind, apiVersion: _version, ...fields } = object
  const { name: _name, ownerReferences, ...meta } = metadata
  const kept = Object.entries(meta).filter(([key]) => !droppedMeta.has(key))
  const owners = Array.isArray(ownerReferences) ? ownerReferences.map(ownerText) : []
  return {
    key: '',
    fields: {
      metadata: { ...Object.fromEntries(kept), ...(owners.length > 0 ? { owners } : {}) },
      ...asFields(withoutServerDefaults(fields)),
    },
  }
}

/** Formats one line for each owner; the uid shows whether it is the present one. */
function ownerText(reference: unknown): string {
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = asFields(reference)
  const words = [String(apiVersion), String(kind), String(name), String(uid)]
  if (controller === true) words.push('controls')
  if (blockOwnerDeletion === true) words.push('blocks deletion')
  return words.join(', ')
}

function asFields(value: unknown): Fields {
  return isFields(value) ? value : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function eventOf(event: KubeFields, countsEvents: boolean): { key: string; fields: Fields } {
  const { involvedObject, reason, message, type, count, source, reportingComponent, action } = event
  const { kind, name, fieldPath } = asFields(involvedObject)
  const component = textOf(asFields(source)['component'])
  const reporter =
    reportingComponent === component ? '' : `, reported by ${String(reportingComponent)}`
  const place = typeof fieldPath === 'string' ? ` ${fieldPath}` : ''
  const doing = typeof action === 'string' ? `, ${action}` : ''
  const times = countsEvents ? `, ${String(count)} times` : ''
  return {
    key: `event on ${String(kind)}/${String(name)}${place}: ${String(reason)}: ${String(message)}`,
    fields: { event: `${String(type)} from ${component}${reporter}${doing}${times}` },
  }
}
