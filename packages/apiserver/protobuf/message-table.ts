/**
 * The number, JSON name (if blank, inlined), type, and flags: r repeated, m map, z omitted from
 * JSON if zero, p optional.
 */
export type Field = readonly [number: number, name: string, type: string, flags: string]
export type Messages = Readonly<Record<string, readonly Field[]>>

let loaded: Promise<Messages> | undefined

/** Returns the fields of every message. They are read when a client first uses protobuf. */
export function loadMessages(): Promise<Messages> {
  return (loaded ??= readMessages())
}

/** Does not wait: returns undefined until a client has used protobuf. */
export function messagesAtHand(): Messages | undefined {
  return atHand
}

let atHand: Messages | undefined

async function readMessages(): Promise<Messages> {
  const { default: facts } = await import('./generated/messages.json', { with: { type: 'json' } })
  // dev/hack/generate-protobuf.ts writes the file from values of this very type.
  atHand = facts as unknown as Messages
  return atHand
}

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** Packages that are not named after the first word of their group. */
const packages: Readonly<Record<string, string>> = Object.freeze({
  '': 'io.k8s.api.core',
  'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  'apiregistration.k8s.io': 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
  'internal.apiserver.k8s.io': 'io.k8s.api.apiserverinternal',
  'meta.k8s.io': 'io.k8s.apimachinery.pkg.apis.meta',
})

/** Returns the message of a built-in kind, or undefined for kinds without a protobuf form. */
export function messageName(
  messages: Messages,
  { apiVersion, kind }: { apiVersion: string; kind: string },
): string | undefined {
  const at = apiVersion.indexOf('/')
  const group = at < 0 ? '' : apiVersion.slice(0, at)
  const version = apiVersion.slice(at + 1)
  const home = packages[group] ?? `io.k8s.api.${group.split('.')[0]}`
  const own = `${home}.${version}.${kind}`
  if (Object.hasOwn(messages, own)) return own
  // Status, APIResourceList and similar kinds name v1 as their version.
  const shared = `${metaPackage}.${kind}`
  return Object.hasOwn(messages, shared) ? shared : undefined
}

/** Returns a type's own name, without its package. */
export function shortName(type: string): string {
  return type.slice(type.lastIndexOf('.') + 1)
}
