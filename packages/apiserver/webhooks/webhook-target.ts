import { StatusError, type Endpoints, type Service } from '@skerry/api'
import type { Random } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import { getTyped } from '../contract/typed-objects.ts'
import { serviceTarget } from '../subresources/backend/proxy-target.ts'
import { wellKnown } from '../contract/well-known-resources.ts'

/** The address of an admission or conversion webhook in its configuration. */
export interface WebhookAddress {
  readonly url?: string
  readonly service?: {
    readonly namespace?: string
    readonly name?: string
    readonly path?: string
    readonly port?: number
  }
  /** PEM in base64. If omitted, the machine's own authorities are trusted. */
  readonly caBundle?: string
}

export interface WebhookTarget {
  /** The URL without a query. */
  readonly url: URL
  /** The name that the certificate must be for. */
  readonly serverName: string
  /** Returns the address to connect to. Called for each new connection, because pods come and go. */
  readonly locate: (sources: TargetSources) => { readonly host: string; readonly port: number }
  readonly isService: boolean
}

export interface TargetSources {
  readonly objects: Objects
  readonly random: Random
}

/** Throws Error if the configuration names neither, or contains no valid address. */
export function webhookTarget({ url: text, service }: WebhookAddress): WebhookTarget {
  if (service) return targetOfService(service)
  if (!text) throw new Error('webhook configuration must have either service or URL')
  const url = URL.parse(text)
  if (!url) throw new Error(`Unparsable URL: parse ${JSON.stringify(text)}: invalid URL`)
  url.pathname = cleanPath(url.pathname)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? 443 : Number(url.port)
  return { url, serverName: host, locate: () => ({ host, port }), isService: false }
}

/** Joins paths as upstream does: a server that is asked for //path may answer with a redirect. */
function cleanPath(path: string): string {
  return path.replaceAll(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
}

function targetOfService(service: NonNullable<WebhookAddress['service']>): WebhookTarget {
  const { namespace = '', name = '', path = '', port = 443 } = service
  const serverName = `${name}.${namespace}.svc`
  // A URL hides its scheme's own port, which upstream's messages show; see urlText.
  const url = new URL(`https://${serverName}:${port}`)
  url.pathname = cleanPath(path)
  return {
    url,
    serverName,
    locate: (sources) => locateService({ namespace, name, port }, sources),
    isService: true,
  }
}

/** Formats the URL for messages. */
export function urlText(target: WebhookTarget, query: string): string {
  const { protocol, pathname } = target.url
  return `${protocol}//${hostText(target)}${pathname}${query}`
}

/** Services always show their port. */
export function hostText({ url, isService }: WebhookTarget): string {
  return isService && url.port === '' ? `${url.host}:443` : url.host
}

/** Returns one of the service's ready pods, or the cluster address if there are no endpoints. */
function locateService(
  { namespace, name, port }: { namespace: string; name: string; port: number },
  { objects, random }: TargetSources,
): { host: string; port: number } {
  const key = { namespace, name }
  const service = getTyped<Service>(objects, wellKnown.services, key)
  if (!service) {
    throw new StatusError('NotFound', `service ${JSON.stringify(name)} not found`)
  }
  const { type = 'ClusterIP', clusterIP = '' } = service.spec ?? {}
  if (type === 'ExternalName') throw new Error(`unsupported service type ${JSON.stringify(type)}`)
  const hasEndpoints = getTyped<Endpoints>(objects, wellKnown.endpoints, key) !== undefined
  if (!hasEndpoints && clusterIP !== '' && clusterIP !== 'None') return { host: clusterIP, port }
  if (!hasEndpoints) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
  return serviceTarget(objects, namespace, { scheme: 'https', name, port: String(port) }, random)
}
