import type { Ties } from './story.ts'

/** The objects that show a scheduler's actions. */
export interface World {
  readonly pods: readonly AnyFields[]
  readonly events: readonly AnyFields[]
  readonly claims: readonly AnyFields[]
  readonly volumes: readonly AnyFields[]
  readonly resourceClaims: readonly AnyFields[]
}

export type AnyFields = Readonly<Record<string, unknown>>

/** Formats lines that are equal if schedulers acted equally; uids are shown as their pods' names. */
export function showWorld(world: World, ties: Ties): string {
  const lines = [
    ...world.pods.flatMap((pod) => showPod(pod, world.events, ties)),
    ...world.claims.flatMap(showClaim),
    ...world.volumes.flatMap(showVolume),
    ...world.resourceClaims.flatMap(showResourceClaim),
  ]
  let text = lines.join('\n')
  for (const { uid, name } of [...world.pods, ...world.events].map(namedUid)) {
    if (uid !== '') text = text.replaceAll(uid, `<uid of ${name}>`)
  }
  return text
}

function namedUid(object: AnyFields): { uid: string; name: string } {
  if (object['involvedObject'] !== undefined) {
    return {
      uid: textAt(object, 'involvedObject.uid'),
      name: textAt(object, 'involvedObject.name'),
    }
  }
  return { uid: textAt(object, 'metadata.uid'), name: textAt(object, 'metadata.name') }
}

/** Reports whether the scheduler has decided on the pod, or may not change it any more. */
export function isDecided(pod: AnyFields, claims: readonly AnyFields[]): boolean {
  if (textAt(pod, 'spec.nodeName') !== '') return true
  if (textAt(pod, 'status.nominatedNodeName') !== '') return true
  if (conditionOf(pod, 'PodScheduled') !== undefined) return true
  return claims.some((claim) => textAt(claim, selectedNodePath) !== '')
}

const selectedNodePath = 'metadata.annotations.volume\\.kubernetes\\.io/selected-node'

function showPod(pod: AnyFields, events: readonly AnyFields[], ties: Ties): string[] {
  const name = textAt(pod, 'metadata.name')
  const nodeName = textAt(pod, 'spec.nodeName')
  const equals = ties[name] ?? []
  const isTie = equals.includes(nodeName)
  const place = isTie ? `one of ${equals.join(', ')}` : nodeName
  const nominated = textAt(pod, 'status.nominatedNodeName')
  const head = [
    `pod ${name}:`,
    place === '' ? 'waits' : `on ${place}`,
    nominated === '' ? '' : `nominated ${nominated}`,
    textAt(pod, 'metadata.deletionTimestamp') === '' ? '' : 'is going',
  ]
  const conditions = ['PodScheduled', 'DisruptionTarget'].flatMap((type) => {
    const found = conditionOf(pod, type)
    if (found === undefined || (type === 'PodScheduled' && textAt(found, 'status') === 'True'))
      return []
    const facts = ['status', 'reason', 'observedGeneration'].map((path) => textAt(found, path))
    return [
      `  ${type}=${facts.filter((each) => each !== '').join(' ')}: ${textAt(found, 'message')}`,
    ]
  })
  const own = events
    .filter((event) => textAt(event, 'involvedObject.name') === name)
    .map((event) => showEvent(event, isTie ? nodeName : '', place))
  return [head.filter((each) => each !== '').join(' '), ...conditions, ...new Set(own.toSorted())]
}

function showEvent(event: AnyFields, tied: string, place: string): string {
  const facts = ['type', 'reason', 'action', 'reportingComponent'].map((path) =>
    textAt(event, path),
  )
  const related = textAt(event, 'related.name')
  const message = textAt(event, 'message')
  // Events of core/v1 contain it; those of events.k8s.io/v1, such as upstream's, do not.
  const source = textAt(event, 'source.component')
  const told = tied === '' ? message : message.replace(new RegExp(`${tied}$`), place)
  const about = related === '' ? '' : ` (${related})`
  return `  ${facts.join(' ')}${about}${source === '' ? '' : ` from ${source}`}: ${told}`
}

function showClaim(claim: AnyFields): string[] {
  const node = textAt(claim, selectedNodePath)
  return node === '' ? [] : [`claim ${textAt(claim, 'metadata.name')}: to be made for ${node}`]
}

function showVolume(volume: AnyFields): string[] {
  const claim = textAt(volume, 'spec.claimRef.name')
  const annotations = textAt(volume, 'metadata.annotations')
  const line = `volume ${textAt(volume, 'metadata.name')}: for ${claim} ${annotations}`
  return claim === '' ? [] : [line.trimEnd()]
}

function showResourceClaim(claim: AnyFields): string[] {
  const { status } = claim
  return status === undefined
    ? []
    : [`resource claim ${textAt(claim, 'metadata.name')}: ${JSON.stringify(sorted(status))}`]
}

/** Sorts fields by name, since servers write them in different orders. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isFields(value)) return value
  const names = Object.keys(value).toSorted()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]))
}

function conditionOf(pod: AnyFields, type: string): AnyFields | undefined {
  const conditions = valueAt(pod, 'status.conditions')
  if (!Array.isArray(conditions)) return undefined
  return conditions.filter(isFields).find((each) => each['type'] === type)
}

/**
 * Returns an empty string if there is nothing, and JSON for values other than text. A dot within a key has a
 * backslash.
 */
export function textAt(object: AnyFields, path: string): string {
  const value = valueAt(object, path)
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function valueAt(object: AnyFields, path: string): unknown {
  let value: unknown = object
  for (const step of path.split(/(?<!\\)\./)) {
    if (!isFields(value)) return undefined
    value = value[step.replaceAll('\\.', '.')]
  }
  return value
}

function isFields(value: unknown): value is AnyFields {
  return typeof value === 'object' && value !== null
}
