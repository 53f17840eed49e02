import {
  matchesFields,
  parseFieldSelector,
  parseLabelSelector,
  StatusError,
  type AnyObject,
  type APIService,
  type Pod,
} from '@skerry/api'
import type { Clock, Logger } from '@skerry/base'
import type { LocalApi } from '../aggregation/aggregated-api.ts'
import { apiServices } from '../aggregation/local-registrations.ts'
import { valueAnswer } from '../handlers/represent.ts'
import type { ApiAnswer } from '../contract/exchange.ts'
import { negotiate, wantsPretty } from '../http/negotiate.ts'
import type { RequestInfo } from '../contract/request-info.ts'
import { methodNotAllowed, notFoundPath } from '../contract/status-answer.ts'
import type { Objects } from '../contract/objects.ts'
import type { AuthorizedRequest } from '../contract/authorized-request.ts'
import type { BackendDial } from '../subresources/backend/backend-dial.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import {
  metricsGroup,
  metricsSwagger,
  metricsOpenApiV3,
  metricsResources,
  metricsVersion,
} from './metrics-documents-table.ts'
import { metricsTable, nodeMetrics, podMetrics, type MetricsObject } from './metrics-objects.ts'
import { createNodeScraper } from './scrape-nodes.ts'
import { UsageHistory } from './usage-history.ts'

export interface MetricsApiDeps {
  readonly objects: Objects
  readonly dial: Pick<BackendDial, 'dialNode'>
  readonly clock: Clock
  readonly log: Logger
}

export const metricsApiServiceName = `${metricsVersion}.${metricsGroup}`

/**
 * Serves metrics.k8s.io/v1beta1 from this process as metrics-server does: the current usage of
 * nodes and pods. While the APIService names a service (a metrics-server runs) no node is scraped.
 */
export function createMetricsApi(deps: MetricsApiDeps): LocalApi {
  const history = new UsageHistory()
  const scraper = createNodeScraper({ ...deps, history })
  const isWanted = (): boolean => {
    const key = { name: metricsApiServiceName }
    const apiService = getTyped<APIService>(deps.objects, apiServices, key)
    return apiService !== undefined && apiService.spec?.service === undefined
  }
  return {
    group: metricsGroup,
    version: metricsVersion,
    resources: metricsResources,
    openApiV3: metricsOpenApiV3,
    openApiV2: metricsSwagger,
    run: (signal) => scraper.run(isWanted, signal),
    async serve(admitted) {
      scraper.onAsked()
      return serve(admitted, { ...deps, history })
    },
  }
}

type ServeDeps = MetricsApiDeps & { readonly history: UsageHistory }

async function serve({ info, request }: AuthorizedRequest, deps: ServeDeps): Promise<ApiAnswer> {
  const isPretty = wantsPretty(info.query, request.headers['user-agent'])
  const representation = negotiate(request.headers['accept'], isPretty)
  if (!info.isResourceRequest) {
    const groupVersion = `${metricsGroup}/${metricsVersion}`
    const resources = { resources: metricsResources }
    const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, ...resources }
    return valueAnswer(200, list, representation)
  }
  const kind = metricsResources.find(({ name }) => name === info.resource.resource)?.kind
  if (kind === undefined || info.subresource !== '') throw notFoundPath()
  if (info.verb !== 'get' && info.verb !== 'list') throw methodNotAllowed()
  const objects = kind === 'NodeMetrics' ? nodesOf(info, deps) : podsOf(info, deps)
  const [only] = objects
  if (info.name !== '' && !only) throw notMeasured(kind, info)
  const apiVersion = `${metricsGroup}/${metricsVersion}`
  if (representation.as === 'table')
    return valueAnswer(200, metricsTable(objects, kind), representation)
  if (info.name !== '') return valueAnswer(200, { kind, apiVersion, ...only }, representation)
  const list = { kind: `${kind}List`, apiVersion, metadata: {}, items: objects }
  return valueAnswer(200, list, representation)
}

function nodesOf(info: RequestInfo, { objects, history, clock }: ServeDeps): MetricsObject[] {
  return selected(info, objects.list(wellKnown.nodes)).flatMap((object) => {
    const usage = history.node(object.metadata.name ?? '')
    return usage ? [nodeMetrics(object, usage, clock.now())] : []
  })
}

function podsOf(info: RequestInfo, { objects, history, clock }: ServeDeps): MetricsObject[] {
  const { namespace } = info
  const all = objects.list(wellKnown.pods, namespace === '' ? undefined : namespace)
  return selected(info, all).flatMap((object) => {
    const { spec, status } = typed<Pod>(object)
    if (status?.phase !== 'Running') return []
    const { name = '', namespace: own = '' } = object.metadata
    const containers = history.pod(spec?.nodeName ?? '', own, name)
    return containers ? [podMetrics(object, containers, clock.now())] : []
  })
}

function selected(info: RequestInfo, all: readonly AnyObject[]): AnyObject[] {
  const labels = parseLabelSelector(info.query.get('labelSelector') ?? '')
  const fields = parseFieldSelector(info.query.get('fieldSelector') ?? '')
  return all.filter(({ metadata }) => {
    const { name = '', namespace = '' } = metadata
    if (info.name !== '') return name === info.name
    const valueOf = (field: string): string =>
      field === 'metadata.name' ? name : field === 'metadata.namespace' ? namespace : ''
    return labels.matches(metadata.labels) && matchesFields(fields, valueOf)
  })
}

function notMeasured(kind: string, { namespace, name }: RequestInfo): StatusError {
  const resource = kind.toLowerCase()
  const full = namespace === '' ? name : `${namespace}/${name}`
  return new StatusError(
    'NotFound',
    `${resource}.${metricsGroup} ${JSON.stringify(full)} not found`,
    {
      details: { name: full, group: metricsGroup, kind: resource },
    },
  )
}
