import {
  aggregatedContentType,
  aggregatedDiscovery,
  aggregatedVersionOf,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  StatusError,
  type Kind,
} from '@skerry/api'
import type { Metrics } from '@skerry/base'
import { jsonAnswer, textAnswer, type ApiAnswer, type ApiRequest } from '../http/exchange.ts'
import { negotiate, wantsPretty } from '../http/negotiate.ts'
import type { RequestInfo } from '../http/request-info.ts'
import type { ServedKinds } from '../registry/served-kinds.ts'
import { notFoundPath } from '../http/status-answer.ts'
import { healthAnswer, type HealthChecks } from './health.ts'
import type { OpenApiHandler } from './open-api-handler.ts'
import { valueAnswer } from './represent.ts'

export interface PathDeps {
  readonly kinds: ServedKinds
  readonly metrics: Metrics
  readonly health: HealthChecks
  readonly openApi: OpenApiHandler
  /** What GET /version says. */
  readonly version: Readonly<Record<string, string>>
  readonly address: () => string
}

/** Everything that is not an object: discovery, health, version, metrics. */
export async function servePath(
  call: { request: ApiRequest; info: RequestInfo },
  deps: PathDeps,
): Promise<ApiAnswer> {
  const { info } = call
  if (info.method !== 'GET' && info.method !== 'HEAD')
    return textAnswer(404, '404 page not found\n')
  const parts = info.path.split('/').filter((part) => part !== '')
  switch (parts[0]) {
    case undefined:
      return jsonAnswer(200, { paths: rootPaths(deps.kinds.inOrder()) })
    case 'healthz':
    case 'livez':
    case 'readyz':
      return healthAnswer(parts, info.query, deps.health)
    case 'version':
      return shaped(call, deps.version)
    case 'metrics':
      return metricsAnswer(deps.metrics)
    case 'openapi':
      return deps.openApi(call.request, parts)
    case 'api':
    case 'apis':
      return discoveryAnswer(call, parts, deps)
    default:
      return textAnswer(404, '404 page not found\n')
  }
}

async function discoveryAnswer(
  call: { request: ApiRequest; info: RequestInfo },
  parts: readonly string[],
  deps: PathDeps,
): Promise<ApiAnswer> {
  const kinds = deps.kinds.inOrder()
  const [root, first = '', second = ''] = parts
  if (parts.length === 1) {
    const version = aggregatedVersionOf(call.request.headers['accept'] ?? '')
    if (version) {
      const value = aggregatedDiscovery(kinds, root === 'api' ? 'core' : 'named', version)
      const answer = jsonAnswer(200, value)
      const contentType = aggregatedContentType(version)
      return { ...answer, headers: { 'content-type': contentType, vary: 'Accept' } }
    }
  }
  const value = discoveryValue(root ?? '', [first, second], { kinds, address: deps.address() })
  if (value !== undefined) return shaped(call, value)
  if (root === 'api') throw notFoundPath()
  return textAnswer(404, '404 page not found\n')
}

function discoveryValue(
  root: string,
  [first, second]: readonly [string, string],
  { kinds, address }: { kinds: readonly Kind[]; address: string },
): unknown {
  if (root === 'api') {
    if (first === '') return apiVersions(kinds, address)
    return second === '' ? apiResourceList(kinds, { group: '', version: first }) : undefined
  }
  if (first === '') return apiGroupList(kinds)
  if (second === '') return apiGroup(kinds, first)
  return apiResourceList(kinds, { group: first, version: second })
}

async function shaped(
  { request, info }: { request: ApiRequest; info: RequestInfo },
  value: unknown,
): Promise<ApiAnswer> {
  const { headers } = request
  const representation = negotiate(
    headers['accept'],
    wantsPretty(info.query, headers['user-agent']),
  )
  return valueAnswer(200, value, representation)
}

async function metricsAnswer(metrics: Metrics): Promise<ApiAnswer> {
  const text = await metrics.text()
  const answer = textAnswer(200, text)
  return { ...answer, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }
}

function rootPaths(kinds: readonly Kind[]): string[] {
  const paths = new Set(['/api', '/apis', '/healthz', '/livez', '/readyz', '/metrics', '/version'])
  for (const path of ['/openapi/v2', '/openapi/v3']) paths.add(path)
  for (const { group, version } of kinds) {
    if (group === '') paths.add(`/api/${version}`)
    else paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`)
  }
  return [...paths].toSorted()
}

/** For paths below a group version that name no resource. */
export function unknownResource(info: RequestInfo, kinds: ServedKinds): ApiAnswer | StatusError {
  const { group, version } = info.resource
  if (!kinds.hasGroupVersion(group, version)) return textAnswer(404, '404 page not found\n')
  return new StatusError('NotFound', 'the server could not find the requested resource', {
    details: {},
  })
}
