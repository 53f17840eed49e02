import type { Kind } from '@skerry/api'
import type { Metrics } from '@skerry/base'
import type { Aggregation } from '../aggregation/aggregation.ts'
import type { Access } from './server-access.ts'
import type { HealthChecks } from '../handlers/health.ts'
import { componentStatuses, type ComponentFaults } from '../handlers/component-statuses.ts'
import { createOpenApiHandler } from '../handlers/open-api-handler.ts'
import { openWatchSocket } from '../handlers/open-watch-socket.ts'
import { servePath, unknownResource, type PathDeps } from '../handlers/path-handler.ts'
import type { HandlerDeps, ResourceCall } from '../handlers/resource-call.ts'
import { serveResource } from '../handlers/resource-handler.ts'
import { serveReview } from '../handlers/review-call.ts'
import { serveSubresource, upgradeSubresource } from '../handlers/subresource-call.ts'
import { isPatchType } from '../handlers/patch-handler.ts'
import { textAnswer, type ApiAnswer } from '../contract/exchange.ts'
import { isAcceptRouted } from '../http/negotiate.ts'
import type { RequestInfo } from '../contract/request-info.ts'
import { methodNotAllowed, notFoundPath } from '../contract/status-answer.ts'
import type { Objects } from '../contract/objects.ts'
import type { AuthorizedRequest } from '../contract/authorized-request.ts'
import type { Route } from '../contract/route.ts'
import type { RequestAttributes } from '../contract/request-attributes.ts'
import type { UpgradeClient } from '../contract/subresource.ts'

export interface DispatchDeps {
  /** Health checks in addition to those that every server has. */
  readonly healthChecks?: HealthChecks | undefined
  readonly registry: HandlerDeps
  readonly objects: Objects
  readonly access: Access
  readonly routes: readonly Route[]
  readonly metrics: Metrics
  readonly version: Readonly<Record<string, string>>
  readonly address: () => string
  /** Returns the openAPIV3Schema of a custom kind from its CRD. */
  readonly customSchema: (kind: Kind) => unknown
  /** The APIs of other servers. If omitted, there are none. */
  readonly aggregation?: Aggregation | undefined
  readonly componentFaults?: ComponentFaults | undefined
}

/** Subresources whose answers may last as long as the client wants. */
const lastingSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** Sends each authorized request to its handler. */
export function createDispatcher(deps: DispatchDeps) {
  const { registry, aggregation } = deps
  const paths: PathDeps = {
    aggregation,
    kinds: registry.kinds,
    clock: registry.clock,
    metrics: deps.metrics,
    version: deps.version,
    address: deps.address,
    openApi: createOpenApiHandler(registry.kinds, deps.customSchema, aggregation),
    health: {
      ping: async () => undefined,
      log: async () => undefined,
      store: async () => void (await registry.store.revision()),
      ...deps.healthChecks,
    },
  }
  const routeOf = (info: RequestInfo): Route | undefined =>
    deps.routes.find(
      (route) => info.path.startsWith(route.prefix) && (route.matches?.(info) ?? true),
    )
  return {
    paths: {
      attributes: (info: RequestInfo, target: string): RequestAttributes | undefined =>
        routeOf(info)?.attributes?.(info, target),
      servesPages: (info: RequestInfo): boolean => routeOf(info)?.servesPages === true,
      isLongRunning: (info: RequestInfo): boolean =>
        info.verb === 'watch' ||
        (info.isResourceRequest && lastingSubresources.has(info.subresource)) ||
        routeOf(info) !== undefined,
    },
    async serve(admitted: AuthorizedRequest): Promise<ApiAnswer> {
      const { info } = admitted
      const route = routeOf(info)
      if (route) return route.serve(admitted)
      const aggregated = aggregation?.find(info)
      if (aggregated) return aggregated.serve(admitted)
      return info.isResourceRequest ? serveKind(admitted, deps) : servePath(admitted, paths)
    },
    async upgrade(admitted: AuthorizedRequest, client: UpgradeClient): Promise<void> {
      const { info } = admitted
      const route = routeOf(info)
      if (route) {
        if (!route.upgrade) throw methodNotAllowed()
        return route.upgrade(admitted, client)
      }
      const aggregated = aggregation?.find(info)
      if (aggregated) return aggregated.upgrade(admitted, client)
      requireOwnVerb(info)
      const reader = registry.kinds.find(info.resource)
      if (reader && info.verb === 'watch') {
        // Events are JSON here, whatever else the client accepts.
        const asJson = { ...admitted.request, headers: { ...admitted.request.headers, accept: '' } }
        const answer = await serveKind({ ...admitted, request: asJson }, deps)
        return openWatchSocket(answer, admitted.request, client)
      }
      const handler = deps.access.subresources[`${info.resource.resource}/${info.subresource}`]
      if (!reader || !handler) throw notFoundPath()
      const call = { ...admitted, reader }
      return upgradeSubresource(handler, call, client, { ...registry, objects: deps.objects })
    },
  }
}

async function serveKind(admitted: AuthorizedRequest, deps: DispatchDeps): Promise<ApiAnswer> {
  const { info } = admitted
  const { registry, access } = deps
  requireOwnVerb(info)
  const reader = registry.kinds.find(info.resource)
  if (!reader) {
    const unknown = unknownResource(info, registry.kinds)
    if (unknown instanceof Error) throw unknown
    return unknown
  }
  if (isBesideScope(info, reader.kind)) return textAnswer(404, '404 page not found\n')
  const { deprecation, subresources } = reader.kind
  const { subresource } = info
  const isPath =
    reader.kind.isCustom ||
    subresource === '' ||
    subresources.some(({ name }) => name === subresource)
  if (deprecation !== undefined && isPath && isRouted(admitted, reader.kind))
    admitted.warn(deprecation)
  const call: ResourceCall = { ...admitted, reader }
  const { resource, group } = info.resource
  const review = access.reviews?.[group === '' ? resource : `${resource}.${group}`]
  if (review) return serveReview(review, call, registry)
  const isRead = subresource === '' && (info.verb === 'get' || info.verb === 'list')
  if (group === '' && resource === 'componentstatuses' && isRead) {
    return componentStatuses(call, registry, deps.componentFaults ?? {})
  }
  const handler = access.subresources[`${resource}/${info.subresource}`]
  if (handler) return serveSubresource(handler, call, { ...registry, objects: deps.objects })
  return serveResource(call, registry)
}

/**
 * Refuses requests that would do something other than the authorized verb: below `/api/v1/watch/`
 * that verb is `watch` whatever the method and the subresource, and only a GET of objects watches.
 */
function requireOwnVerb(info: RequestInfo): void {
  const isEmptyGroup = info.prefix === 'apis' && info.resource.group === ''
  const isNamelessPart = info.subresource !== '' && info.name === ''
  // Only a proxy has a further path.
  const isTooDeep = info.restOfPath !== '' && info.subresource !== 'proxy'
  if (info.isResourceRequest && (isEmptyGroup || isNamelessPart || isTooDeep)) throw notFoundPath()
  if (!info.isVerbInPath) return
  if (info.verb !== 'watch' || info.subresource !== '') throw notFoundPath()
  if (info.method !== 'GET') throw methodNotAllowed()
}

/** Custom kinds have no path with a namespace too many, nor with one too few except to list or watch all. */
function isBesideScope({ verb, namespace }: RequestInfo, kind: Kind): boolean {
  if (!kind.isCustom) return false
  if (!kind.isNamespaced) return namespace !== ''
  return namespace === '' && verb !== 'list' && verb !== 'watch'
}

/** Requests that upstream refuses before it looks at the kind get no warning about the kind. */
function isRouted({ info, request }: AuthorizedRequest, { verbs, isCustom }: Kind): boolean {
  if (!isCustom && !isAcceptRouted(request.headers.accept)) return false
  const isWrite = info.verb !== 'get' && info.verb !== 'list' && info.verb !== 'watch'
  if (isWrite && info.subresource === '' && !verbs.includes(info.verb)) return false
  if (info.verb === 'create') return info.name === '' || info.subresource !== ''
  if (info.name === '' && (info.verb === 'update' || info.verb === 'patch')) return false
  return info.verb !== 'patch' || isPatchType(request.headers['content-type'])
}
