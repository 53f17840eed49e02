import { StatusError } from '@skerry/api'
import { peerHeadOf, type Random } from '@skerry/base'
import { withoutSetHubCookies } from '../../contract/hub-cookies.ts'
import type {
  SubresourceAnswer,
  SubresourceHandler,
  SubresourceRequest,
} from '../../contract/subresource.ts'
import type { NodeAccess } from './backend-dial.ts'
import { sendToBackend, type BackendRequest } from './backend-request.ts'
import { forwardedHeaders, forwardedToApi } from './forwarded-headers.ts'
import { kubeletTarget } from './kubelet-target.ts'
import {
  parseProxyName,
  podTarget,
  portNumber,
  refuseSpecialAddress,
  serviceTarget,
  type ProxyName,
} from './proxy-target.ts'
import { rewriteLinks, type ProxiedPlace } from './rewrite-links.ts'
import { passUpgrade, writeRefusal } from './upgrade-tunnel.ts'

/** Returns the place that a request is forwarded to. */
type Route = (request: SubresourceRequest, name: ProxyName) => Place

interface Place extends Pick<BackendRequest, 'host' | 'dial'> {
  /** True for kubelets: their upgrades are exec, attach or port-forward in any pod of the node. */
  readonly hasSessions?: boolean
}

export interface ProxyDeps extends NodeAccess {
  readonly random: Random
}

/** Serves pods/proxy: any HTTP request to a pod. */
export function createPodProxy({ dial, clock }: ProxyDeps): SubresourceHandler {
  return createProxy('pod', clock, ({ objects, namespace }, name) => {
    const target = podTarget(objects, namespace, name)
    return { host: hostOf(target), dial: (scope) => dial.dialAddress(target, scope) }
  })
}

/** Serves services/proxy: any HTTP request to one of a service's pods. */
export function createServiceProxy({ dial, clock, random }: ProxyDeps): SubresourceHandler {
  return createProxy('service', clock, ({ objects, namespace }, name) => {
    const target = serviceTarget(objects, namespace, name, random)
    return { host: hostOf(target), dial: (scope) => dial.dialAddress(target, scope) }
  })
}

/** Serves nodes/proxy: any HTTP request to a kubelet, or to another port of its node. */
export function createNodeProxy({ dial, clock }: ProxyDeps): SubresourceHandler {
  return createProxy('node', clock, ({ objects }, { scheme, name, port }) => {
    const kubelet = kubeletTarget(objects, name)
    const asked = port === '' ? kubelet.port : portNumber(port)
    if (asked === kubelet.port) {
      const host = hostOf(kubelet)
      return { host, hasSessions: true, dial: (scope) => dial.dialNode(kubelet, scope) }
    }
    refuseSpecialAddress(kubelet.host)
    const target = { host: kubelet.host, port: asked, isTls: scheme === 'https' }
    return { host: hostOf(target), dial: (scope) => dial.dialAddress(target, scope) }
  })
}

function createProxy(word: string, clock: NodeAccess['clock'], route: Route): SubresourceHandler {
  const toBackend = (request: SubresourceRequest): BackendRequest & Place => {
    const name = parseProxyName(request.name)
    if (!name) {
      throw new StatusError('BadRequest', `invalid ${word} request ${JSON.stringify(request.name)}`)
    }
    const query = request.query.toString()
    return {
      ...route(request, name),
      method: request.method,
      path: `${request.restOfPath || '/'}${query === '' ? '' : `?${query}`}`,
      headers:
        word === 'node' ? forwardedToApi(request.headers) : forwardedHeaders(request.headers),
      clock,
    }
  }
  return {
    async serve(request) {
      const backend = toBackend(request)
      await request.admit(undefined)
      const place = { prefix: proxyPath(word, request), host: backend.host }
      if (isAtRoot(request)) return toRoot(place.prefix, request.query)
      const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
      const withBody = hasBody ? { ...backend, body: request.rawBody } : backend
      const answer = await sendToBackend(withBody, request.signal)
      return toAnswer(answer, { place, method: request.method, word })
    },
    async upgrade(request, client) {
      let backend: BackendRequest & Place
      try {
        backend = toBackend(request)
        // A WebSocket comes as a GET: a user who may only read must not run commands with it.
        if (backend.hasSessions === true) await request.requireVerb('create')
        await request.admit(undefined)
      } catch (error) {
        return writeRefusal(client, error)
      }
      await passUpgrade(backend, client, request.signal)
    },
  }
}

/** Relative links of a page without the slash would point outside the proxy. */
function isAtRoot({ method, restOfPath }: SubresourceRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && restOfPath === ''
}

function toRoot(prefix: string, query: URLSearchParams): SubresourceAnswer {
  const location = `${prefix}/${query.size === 0 ? '' : `?${query.toString()}`}`
  return { type: 'stream', status: 301, headers: { location }, body: emptyBody() }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {
  // The head of a redirect says everything.
}

/** Returns the path as the client names it. */
function proxyPath(word: string, { namespace, name }: SubresourceRequest): string {
  const inNamespace = word === 'node' ? '' : `namespaces/${namespace}/`
  return `/api/v1/${inNamespace}${word}s/${name}/proxy`
}

/** Upstream drops these headers: a pod must not decide which sites may read the API server's answers. */
const droppedCors = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
] as const

function toAnswer(
  answer: Awaited<ReturnType<typeof sendToBackend>>,
  asked: { readonly place: ProxiedPlace; readonly method: string; readonly word: string },
): SubresourceAnswer {
  const { response } = answer
  const { place, method, word } = asked
  try {
    const head = peerHeadOf(response, { peer: `the ${word} at ${place.host}`, method })
    const headers = { ...withoutSetHubCookies(head.headers) }
    for (const name of droppedCors) delete headers[name]
    if (head.hasBody)
      return { type: 'stream', status: head.status, ...rewriteLinks(response, headers, place) }
    response.destroy()
    return { type: 'stream', status: head.status, headers, body: emptyBody() }
  } catch (error) {
    if (answer.type === 'upgrade') answer.socket.destroy()
    response.destroy()
    throw error
  }
}

function hostOf({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
