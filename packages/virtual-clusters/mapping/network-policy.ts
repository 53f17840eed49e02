import { isJsonObject, type JsonObject } from '@skerry/api'
import { fieldAt, objectsAt, textAt, textsAt } from '@skerry/fleet-kinds'
import { namespaceNameLabel, type MemberNames } from './member-names.ts'

/**
 * The peers of a policy for pods of one virtual cluster: "all namespaces" are all of that cluster. System
 * namespaces that a peer names (`kubernetes.io/metadata.name: kube-system`) are the edge's own,
 * as its DNS is there.
 */
export function mapPeers(peers: unknown, names: MemberNames): unknown {
  if (!Array.isArray(peers)) return peers
  return peers.flatMap((peer: unknown) => {
    const selector = fieldAt(peer, 'namespaceSelector')
    if (!isJsonObject(peer) || !isJsonObject(selector)) return [peer]
    const { system, own } = partsOf(selector)
    return [
      ...(own ? [{ ...peer, namespaceSelector: names.namespaceSelector(own) }] : []),
      ...(system ? [{ ...peer, namespaceSelector: system }] : []),
    ]
  })
}

/** A selector by names that mixes both is split in two, which together select the same. */
function partsOf(selector: JsonObject): { system?: JsonObject; own?: JsonObject } {
  const label = textsAt(selector, 'matchLabels')[namespaceNameLabel]
  if (label !== undefined) return isSystem(label) ? { system: selector } : { own: selector }
  const expressions = objectsAt(selector, 'matchExpressions')
  const at = expressions.findIndex(
    (each) => textAt(each, 'key') === namespaceNameLabel && textAt(each, 'operator') === 'In',
  )
  const listed = fieldAt(expressions[at], 'values')
  if (!Array.isArray(listed)) return { own: selector }
  const values = listed.filter((value): value is string => typeof value === 'string')
  // An API server refuses both. Without its only peer a rule would apply to everybody.
  if (values.length === 0 || values.length < listed.length) return { own: selector }
  const only = (wanted: (name: string) => boolean) => {
    const left = values.filter(wanted)
    const matchExpressions = expressions.map((each, index) =>
      index === at ? { ...each, values: left } : each,
    )
    return left.length === 0 ? undefined : { ...selector, matchExpressions }
  }
  const system = only(isSystem)
  const own = only((name) => !isSystem(name))
  return { ...(system ? { system } : {}), ...(own ? { own } : {}) }
}

function isSystem(namespace: string): boolean {
  return namespace.startsWith('kube-')
}
