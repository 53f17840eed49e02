import { createHash } from 'node:crypto'
import {
  aggregatedContentType,
  aggregatedDiscovery,
  aggregatedVersionOf,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
} from '@skerry/discovery'
import { StatusError, type Kind } from '@skerry/api'
import type { Clock, Metrics } from '@skerry/base'
import type { Aggregation } from '../aggregation/aggregation.ts'
import { mergeAggregated, mergeGroups } from '../aggregation/merge-discovery.ts'
import {
  isWhole,
  jsonAnswer,
  noBody,
  textAnswer,
  type ApiAnswer,
  type ApiRequest,
} from '../contract/exchange.ts'
import { jsonOffer, negotiate, plainOffer, wantsPretty, type Offer } from '../http/negotiate.ts'
import { gapOf, type RequestInfo } from '../contract/request-info.ts'
import type { ServedKinds } from '../registry/served-kinds.ts'
import { notFoundPath } from '../contract/status-answer.ts'
import { healthAnswer, type HealthChecks } from './health.ts'
import type { OpenApiHandler } from './open-api-handler.ts'
import type { AuthorizedRequest } from '../contract/authorized-request.ts'
import { valueAnswer } from './represent.ts'

export interface PathDeps {
  readonly kinds: ServedKinds
  readonly metrics: Metrics
  readonly health: HealthChecks
  readonly clock: Clock
  readonly openApi: OpenApiHandler
  /** The fields of GET /version. */
  readonly version: Readonly<Record<string, string>>
  readonly address: () => string
  readonly aggregation?: Aggregation | undefined
}

/** Serves everything that is not an object: discovery, health, version, metrics. */
export async function servePath(call: AuthorizedRequest, deps: PathDeps): Promise<ApiAnswer> {
  const { info } = call
  if (info.method !== 'GET' && info.method !== 'HEAD')
    return textAnswer(404, '404 page not found\n')
  const parts = info.path.split('/').filter((part) => part !== '')
  const gap = gapOf(info.path)
  if (gap !== undefined) {
    const [root, group = ''] = parts
    const isBelowKnown = (root === 'api' && gap > 0) || (gap > 1 && hasBuiltinGroup(group, deps))
    if (isBelowKnown) throw notFoundPath()
    return textAnswer(404, '404 page not found\n')
  }
  switch (parts[0]) {
    case undefined:
      return jsonAnswer(200, { paths: rootPaths(deps) })
    case 'healthz':
    case 'livez':
    case 'readyz':
      return healthAnswer(parts, deps.health, {
        query: info.query,
        clock: deps.clock,
        signal: call.request.signal,
      })
    case 'version':
      return shaped(call, deps.version, jsonOffer)
    case 'metrics':
      return metricsAnswer(deps.metrics)
    case 'openapi':
      return deps.openApi(call, parts)
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
      const own = aggregatedDiscovery(kinds, root === 'api' ? 'core' : 'named', version)
      const extras = root === 'api' ? [] : (deps.aggregation?.extras() ?? [])
      const value = extras.length === 0 ? own : mergeAggregated(own, extras)
      return unlessKnown(call.request, value, aggregatedContentType(version))
    }
  }
  const merged = root === 'apis' && second === '' ? aggregatedGroups(first, deps) : undefined
  const value =
    merged ?? discoveryValue(root ?? '', [first, second], { kinds, address: deps.address() })
  if (value !== undefined) return shaped(call, value)
  if (root === 'api' || hasBuiltinGroup(first, deps)) throw notFoundPath()
  return textAnswer(404, '404 page not found\n')
}

/** Returns no body if the client already has the document: kubectl asks so each time. */
function unlessKnown(request: ApiRequest, value: unknown, contentType: string): ApiAnswer {
  const { body } = jsonAnswer(200, value)
  const hash = isWhole(body) ? createHash('sha512').update(body).digest('hex') : ''
  const etag = `"${hash.toUpperCase()}"`
  const headers = { 'cache-control': 'public', etag, vary: 'Accept' }
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: noBody }
  return { status: 200, headers: { ...headers, 'content-type': contentType }, body }
}

function hasBuiltinGroup(group: string, { kinds }: Pick<PathDeps, 'kinds'>): boolean {
  return kinds.all().some((kind) => !kind.isCustom && kind.group === group)
}

/** Answers GET /apis or /apis/<group> if other servers contribute to it. Returns undefined if they do not. */
function aggregatedGroups(group: string, { kinds, aggregation }: PathDeps): unknown {
  const extras = aggregation?.extras() ?? []
  if (extras.length === 0) return undefined
  const groups = mergeGroups(apiGroupList(kinds.inOrder()).groups, extras)
  if (group === '') return { kind: 'APIGroupList', apiVersion: 'v1', groups }
  if (!extras.some((extra) => extra.group === group)) return undefined
  const found = groups.find(({ name }) => name === group)
  return found && { kind: 'APIGroup', apiVersion: 'v1', ...found }
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
  offer: Offer = plainOffer,
): Promise<ApiAnswer> {
  const { headers } = request
  const representation = negotiate(
    headers['accept'],
    wantsPretty(info.query, headers['user-agent']),
    offer,
  )
  return valueAnswer(200, value, representation)
}

async function metricsAnswer(metrics: Metrics): Promise<ApiAnswer> {
  const text = await metrics.text()
  const answer = textAnswer(200, text)
  return { ...answer, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }
}

function rootPaths({ kinds, aggregation }: PathDeps): string[] {
  const paths = new Set(['/api', '/apis', '/healthz', '/livez', '/readyz', '/metrics', '/version'])
  for (const path of ['/openapi/v2', '/openapi/v3']) paths.add(path)
  for (const { group, version } of [...kinds.inOrder(), ...(aggregation?.extras() ?? [])]) {
    if (group === '') paths.add(`/api/${version}`)
    else paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`)
  }
  return [...paths].toSorted()
}

/** Answers paths below a group version that do not name a resource. */
export function unknownResource(info: RequestInfo, kinds: ServedKinds): ApiAnswer | StatusError {
  // In groups that only definitions create, upstream passes unknown paths to the next handler, and
  // there is none.
  if (!hasBuiltinGroup(info.resource.group, { kinds }))
    return textAnswer(404, '404 page not found\n')
  return new StatusError('NotFound', 'the server could not find the requested resource', {
    details: {},
  })
}
