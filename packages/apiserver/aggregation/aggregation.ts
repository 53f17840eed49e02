import type { APIService } from '@skerry/api'
import { runAll, type Clock, type Logger, type Metrics, type Random } from '@skerry/base'
import type { ApiAnswer } from '../contract/exchange.ts'
import type { RequestInfo } from '../contract/request-info.ts'
import type { Objects } from '../contract/objects.ts'
import type { AuthorizedRequest } from '../contract/authorized-request.ts'
import type { RegistryDeps } from '../registry/request-scope.ts'
import { methodNotAllowed } from '../contract/status-answer.ts'
import { createDirectDial, type BackendDial } from '../subresources/backend/backend-dial.ts'
import { listTyped } from '../contract/typed-objects.ts'
import type { AggregatedApi, LocalApi, OpenApiV2Part } from './aggregated-api.ts'
import { createApiServiceWatch, type ApiServiceWatch } from './api-service-watch.ts'
import { isAvailable } from './availability.ts'
import { extensionServerOf, type ExtensionCallDeps } from './extension-server.ts'
import { apiServices } from './local-registrations.ts'
import type { ExtraGroupVersion } from './merge-discovery.ts'
import { createRemoteOpenApi } from './remote-open-api.ts'
import { createRemoteApi } from './remote-api.ts'

export interface AggregationOptions {
  /** The front proxy's client certificate, which is shown to extension servers. */
  readonly identity: ExtensionCallDeps['identity']
  /** If omitted, connections go straight over the network. */
  readonly dial?: Pick<BackendDial, 'dialAddress'>
}

export interface AggregationDeps {
  readonly registry: RegistryDeps
  readonly objects: Objects
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  /** Group versions that this process serves in addition to the registry's. */
  readonly localApis?: readonly LocalApi[] | undefined
}

/** Adds the APIs of other servers to this one's paths, as kube-aggregator does. */
export interface Aggregation {
  /** Returns the API that serves the group version of this path, or undefined if the registry does. */
  find(info: RequestInfo): AggregatedApi | undefined
  /** Changes whenever discovery or OpenAPI does. */
  version(): number
  extras(): readonly ExtraGroupVersion[]
  /** The entries of GET /openapi/v3, by path without a leading slash. */
  openApiV3Paths(): Readonly<Record<string, { serverRelativeURL: string }>>
  /** Resolves to undefined if no other server has the path's group version. */
  openApiV3(path: string, admitted: AuthorizedRequest): Promise<ApiAnswer | undefined>
  openApiV2Parts(signal: AbortSignal): Promise<readonly OpenApiV2Part[]>
  run(signal: AbortSignal): Promise<void>
}

export function createAggregation(
  options: AggregationOptions,
  deps: AggregationDeps,
): Aggregation | undefined {
  if (!deps.registry.kinds.findStored(apiServices)) return undefined
  const calls: ExtensionCallDeps = {
    objects: deps.objects,
    clock: deps.clock,
    random: deps.random,
    dial: options.dial ?? createDirectDial(options.identity, deps),
    identity: options.identity,
  }
  const { localApis = [] } = deps
  const openApi = createRemoteOpenApi({ ...deps, calls })
  const onAvailability = (): void => openApi.refresh()
  const watch = createApiServiceWatch({ ...deps, calls, onAvailability })
  const tableOf = apiTable(deps.objects, localApis, calls)
  const servedLocally = (): LocalApi[] =>
    localApis.filter(({ group, version }) => tableOf().get(group)?.get(version)?.local)
  return {
    find(info) {
      if (info.prefix !== 'apis') return undefined
      const table = tableOf()
      if (table.size === 0) return undefined
      const { group, version } = info.isResourceRequest ? info.resource : groupVersionOf(info.path)
      return table.get(group)?.get(version)?.api
    },
    version: () => watch.version() + openApi.version(),
    extras: () => extrasOf(deps.objects, servedLocally(), watch),
    openApiV3Paths: () => ({
      ...openApi.paths(),
      ...Object.fromEntries(servedLocally().map((api) => v3Entry(api))),
    }),
    async openApiV3(path, admitted) {
      const local = servedLocally().find((api) => pathOf(api) === path)
      if (local) return jsonDocument(local.openApiV3())
      const [prefix, group = '', version = ''] = path.split('/')
      return prefix === 'apis' ? tableOf().get(group)?.get(version)?.api.serve(admitted) : undefined
    },
    async openApiV2Parts(signal) {
      const remote = await openApi.v2Parts(signal)
      return [...servedLocally().map((api) => api.openApiV2()), ...remote]
    },
    run: (signal) =>
      runAll(signal, [
        (scope) => watch.run(scope),
        (scope) => openApi.run(scope),
        ...localApis.flatMap(({ run }) => (run ? [(scope: AbortSignal) => run(scope)] : [])),
      ]),
  }
}

interface TableEntry {
  readonly api: AggregatedApi
  readonly local: LocalApi | undefined
}

type ApiTable = ReadonlyMap<string, ReadonlyMap<string, TableEntry>>

/** Returns the APIs by group, then version. The table is rebuilt when an APIService changes. */
function apiTable(
  objects: Objects,
  localApis: readonly LocalApi[],
  calls: ExtensionCallDeps,
): () => ApiTable {
  let known: { version: number; table: ApiTable } | undefined
  return () => {
    const version = objects.version(apiServices)
    if (known?.version === version) return known.table
    const table = new Map<string, Map<string, TableEntry>>()
    for (const apiService of listTyped<APIService>(objects, apiServices)) {
      const entry = entryOf(apiService, localApis, calls)
      const { group = '', version: apiVersion = '' } = apiService.spec ?? {}
      if (!entry || group === '') continue
      const versions = table.get(group) ?? new Map<string, TableEntry>()
      table.set(group, versions.set(apiVersion, entry))
    }
    known = { version, table }
    return table
  }
}

function entryOf(
  apiService: APIService,
  localApis: readonly LocalApi[],
  calls: ExtensionCallDeps,
): TableEntry | undefined {
  const server = extensionServerOf(apiService)
  if (server) {
    return { api: createRemoteApi(server, isAvailable(apiService), calls), local: undefined }
  }
  const local = localApis.find(
    ({ group, version }) => group === apiService.spec?.group && version === apiService.spec.version,
  )
  if (!local) return undefined
  const upgrade = async (): Promise<never> => Promise.reject(methodNotAllowed())
  return { api: { serve: (admitted) => local.serve(admitted), upgrade }, local }
}

function groupVersionOf(path: string): { group: string; version: string } {
  const [, , group = '', version = ''] = path.split('/')
  return { group, version }
}

function extrasOf(
  objects: Objects,
  servedLocally: readonly LocalApi[],
  watch: ApiServiceWatch,
): ExtraGroupVersion[] {
  return listTyped<APIService>(objects, apiServices).flatMap((apiService) => {
    const { group = '', version = '', service } = apiService.spec ?? {}
    const local = servedLocally.find((api) => api.group === group && api.version === version)
    if (group === '' || (!service && !local)) return []
    return {
      group,
      version,
      groupPriority: apiService.spec?.groupPriorityMinimum ?? 0,
      versionPriority: apiService.spec?.versionPriority ?? 0,
      resources: local?.resources ?? watch.resources(apiService.metadata.name ?? ''),
      isCurrent: local !== undefined || isAvailable(apiService),
    }
  })
}

function pathOf({ group, version }: LocalApi): string {
  return `apis/${group}/${version}`
}

function v3Entry(api: LocalApi): [string, { serverRelativeURL: string }] {
  const path = pathOf(api)
  return [path, { serverRelativeURL: `/openapi/v3/${path}` }]
}

function jsonDocument(value: object): ApiAnswer {
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: Buffer.from(JSON.stringify(value)) }
}
