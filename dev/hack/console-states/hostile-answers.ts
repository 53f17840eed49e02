/**
 * Turns what a hub and its clusters answer into what a hostile cluster could: it need not keep to the API's rules, so that
 * markup may stand in any text, also in names. Pure.
 */
import { inventedEdgeStatus, inventedLists } from './invented-objects.ts'

/** Sets a mark on the window if anything of it runs. */
export const markup = `"><img src=x onerror="window.isHit=1"><script>window.isHit=1</script>`

/** Turns letters around, has no place to break, and is longer than any column. */
export const hostileText = `${markup}\u202egnp.exe\u2066 ${'without-end-'.repeat(30)}`

/** Words by which pages find things: a page that does not find its object shows nothing. */
const kept: ReadonlySet<string> = new Set(
  [
    'apiVersion kind name namespace n s parent uid resourceVersion resource group version groupVersion',
    'verbs state phase type status result id cluster clusterName by standing role child edgeCluster',
    'singularName shortNames categories responseKind preferredVersion groups user auditID method',
    'serverTime expiresAt loginURL signerName request fingerprint address uri x-kubernetes-action',
  ].flatMap((words) => words.split(' ')),
)

/** Maps whose keys others choose. */
const maps: ReadonlySet<string> = new Set(['labels', 'annotations', 'l', 'data', 'matchLabels'])

/** Lists of things that have a page or a row of their own. */
const lists: ReadonlySet<string> = new Set(['items', 'snapshot', 'users', 'sessions'])

const moment = /^\d{4}-\d\d-\d\dT/

/** Puts the text into every field but those that pages go by, and adds to each list a thing that no API would name so. */
export function hostile(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const each = value.map((item) => hostile(item, key))
    const [first] = each
    return lists.has(key) && isObject(first) ? [...each, renamed(first)] : each
  }
  if (isObject(value)) {
    const entries = Object.entries(value).map(([name, each]) => [name, hostile(each, name)])
    const more = maps.has(key) ? [[hostileText, hostileText]] : []
    return Object.fromEntries([...entries, ...more])
  }
  if (typeof value !== 'string' || kept.has(key) || moment.test(value)) return value
  return `${value}${hostileText}`
}

function renamed(row: object): object {
  const next: Record<string, unknown> = { ...row }
  for (const key of ['n', 'name', 'id', 'cluster', 'user', 'address']) {
    if (typeof next[key] === 'string') next[key] = hostileText
  }
  for (const key of ['metadata', 'object']) if (isObject(next[key])) next[key] = renamed(next[key])
  return next
}

/** A frame of the hub's stream, as far as it is read here. */
interface Frame {
  readonly id?: number
  readonly snapshot?: readonly unknown[]
  readonly last?: boolean
  readonly error?: unknown
}

/** `path` is that of the list which the frame belongs to. */
export function hostileFrame(frame: Frame, path: string): unknown {
  const resource = /\/([^/?]+)(?:\?.*)?$/.exec(path)?.[1] ?? ''
  const invented = inventedLists[resource]
  if (invented === undefined) return hostile(withEdgeStatus(frame, resource))
  // The cluster does not have this kind.
  if (frame.error !== undefined) {
    return hostile({ id: frame.id, snapshot: invented, resourceVersion: '1' })
  }
  if (frame.snapshot === undefined || frame.last === false) return hostile(frame)
  return hostile({ ...frame, snapshot: [...frame.snapshot, ...invented] })
}

function withEdgeStatus(frame: Frame, resource: string): Frame {
  if (resource !== 'edgeclusters' || frame.snapshot === undefined) return frame
  const snapshot = frame.snapshot.map((row) =>
    isObject(row) && 'spec' in row ? { ...row, status: inventedEdgeStatus } : row,
  )
  return { ...frame, snapshot }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A log with markup, colours, orders to the terminal, and a line without end. */
export const hostileLog = [
  hostileText,
  `\u001b[31m${markup}\u001b[0m \u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007`,
  `\u001b]0;title\u0007\u001b[2J\u001b[1;1H\u0000\u0007 ${'x'.repeat(20_000)}`,
  'end',
]
  .map((line, second) => `2026-11-29T09:00:0${second}.000000001Z ${line}`)
  .join('\n')
