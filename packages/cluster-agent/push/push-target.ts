import { isJsonObject, type AnyObject } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'
import { clusterResource, type Cluster, type SecretReference } from '@skerry/fleet-kinds'
import { writtenByAgentKey } from '@skerry/membership'
import { isPushed } from './push-admission.ts'

/** The address and credentials of a cluster in push mode. */
export interface PushTarget {
  /** An https URL without a user, a query or a fragment. */
  readonly server: string
  /** PEM; undefined accepts any certificate, as its Cluster requests. */
  readonly certificateAuthority: string | undefined
  readonly proxy: PushProxy | undefined
  /** The token of an account with the rights for the hub's own work: reporting status and applying Works. */
  readonly token: string
  /**
   * The token of an account that may impersonate users of the hub; undefined if no user gets there through
   * the hub.
   */
  readonly impersonator: Impersonator | undefined
}

export interface PushProxy {
  /** An http:// or https:// URL, without user and password. */
  readonly url: string
  readonly login: { readonly user: string; readonly password: string } | undefined
  readonly headers: Readonly<Record<string, readonly string[]>>
}

export interface Impersonator {
  readonly token: string
  /** The namespace of its service account, in the cluster. */
  readonly namespace: string
}

/** The target, or the reason for its absence: the end of a sentence that reveals no Secret's content. */
export type PushPlan = { readonly target: PushTarget } | { readonly refusal: string }

/** Returns the plan of a cluster by its name; undefined if it is not in push mode. */
export type PushPlans = (cluster: string) => PushPlan | undefined

/** Plans from the hub's present objects. */
export function pushPlans(isOn: boolean, objects: Objects): PushPlans {
  return (name) => {
    // The registry keeps only what was decoded as this kind.
    const cluster = objects.get(clusterResource, '', name) as Cluster | undefined
    if (cluster === undefined || !isPushed(cluster)) return undefined
    if (!isOn) return { refusal: 'it is in push mode, and this hub runs without --push' }
    return planPush(cluster, ({ namespace = '', name: secret = '' }) =>
      objects.get({ group: '', resource: 'secrets' }, namespace, secret),
    )
  }
}

/** Plans how to push. Pure. Tokens are only sent over TLS, and only those that no agent has written. */
export function planPush(
  { spec }: Cluster,
  secretOf: (reference: SecretReference) => AnyObject | undefined,
): PushPlan {
  const { apiEndpoint = '', secretRef, impersonatorSecretRef, proxyURL, proxyHeader } = spec
  if (!isPlainHttps(apiEndpoint)) {
    return refused('spec.apiEndpoint must be an https:// URL without user, query and fragment')
  }
  const proxy = proxyURL ? proxyOf(proxyURL, proxyHeader) : undefined
  if (proxyURL && proxy === undefined) {
    return refused('spec.proxyURL must be an http:// or https:// URL without path and query')
  }
  const secret = secretRef && secretOf(secretRef)
  if (secret === undefined) return refused(`${nameOf('secretRef', secretRef)} is not there`)
  const forUsers = impersonatorSecretRef && secretOf(impersonatorSecretRef)
  const strange = [secret, forUsers].find((each) => each?.metadata.annotations?.[writtenByAgentKey])
  if (strange) {
    const { namespace = '', name = '' } = strange.metadata
    return refused(
      `secret "${namespace}/${name}" was written by an agent; delete it and join again`,
    )
  }
  const token = fieldOf(secret, 'token')
  if (token === '') return refused(`${nameOf('secretRef', secretRef)} has no token`)
  const certificateAuthority = spec.insecureSkipTLSVerification
    ? undefined
    : fieldOf(secret, 'caBundle')
  if (certificateAuthority === '') {
    return refused(`${nameOf('secretRef', secretRef)} has no caBundle`)
  }
  const impersonatorToken = fieldOf(forUsers, 'token')
  const impersonator =
    impersonatorToken === ''
      ? undefined
      : { token: impersonatorToken, namespace: impersonatorSecretRef?.namespace ?? '' }
  return { target: { server: apiEndpoint, certificateAuthority, proxy, token, impersonator } }
}

function refused(refusal: string): PushPlan {
  return { refusal }
}

function nameOf(field: string, reference: SecretReference | undefined): string {
  const { namespace = '', name = '' } = reference ?? {}
  return name === '' ? `spec.${field}` : `secret "${namespace}/${name}" of spec.${field}`
}

function isPlainHttps(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return protocol === 'https:' && [username, password, search, hash].every((part) => part === '')
}

/** The values of a header are separated by commas, as Karmada reads them. */
function proxyOf(text: string, headers: Readonly<Record<string, string>> = {}) {
  if (!URL.canParse(text)) return undefined
  const { protocol, host, username, password, pathname, search } = new URL(text)
  if (!/^https?:$/.test(protocol) || pathname !== '/' || search !== '') return undefined
  const login =
    username === ''
      ? undefined
      : { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  return {
    url: `${protocol}//${host}`,
    login,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.split(',')]),
    ),
  }
}

function fieldOf(secret: AnyObject | undefined, key: string): string {
  const data = secret?.['data']
  const value = isJsonObject(data) ? data[key] : undefined
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8').trim() : ''
}
