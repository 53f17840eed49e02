import { isJsonObject, type APIService } from '@skerry/api'
import { asError, createWakeFlag, type Clock, type Logger } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import { listTyped } from '../contract/typed-objects.ts'
import type { OpenApiV2Part } from './aggregated-api.ts'
import { isAvailable } from './availability.ts'
import {
  extensionServerOf,
  type ExtensionCallDeps,
  type ExtensionServer,
} from './extension-server.ts'
import { apiServices } from './local-registrations.ts'
import { readExtension } from './read-extension.ts'
import { aggregationLimits, apiServerBounds } from '../limits-table.ts'

export interface RemoteOpenApi {
  version(): number
  paths(): Readonly<Record<string, { serverRelativeURL: string }>>
  /** Reads each server's whole document, only for clients that still request v2. */
  v2Parts(signal: AbortSignal): Promise<OpenApiV2Part[]>
  /** Checks again soon, because a server was added or removed. */
  refresh(): void
  run(signal: AbortSignal): Promise<void>
}

interface RemoteOpenApiDeps {
  readonly objects: Objects
  readonly calls: ExtensionCallDeps
  readonly clock: Clock
  readonly log: Logger
}

interface Remote {
  readonly server: ExtensionServer
  readonly group: string
  readonly version: string
}

/** Lists where the OpenAPI documents of other API servers are; the documents themselves stay there. */
export function createRemoteOpenApi(deps: RemoteOpenApiDeps): RemoteOpenApi {
  let found: Record<string, { serverRelativeURL: string }> = {}
  let version = 0
  const wake = createWakeFlag()
  return {
    refresh: () => wake.raise(),
    version: () => version,
    paths: () => found,
    async v2Parts(signal) {
      const parts = await Promise.all(
        remotes(deps.objects).map((remote) => readSwagger(remote, deps, signal)),
      )
      return parts.filter((part) => part !== undefined)
    },
    async run(signal) {
      for (;;) {
        const present = remotes(deps.objects)
        const entries = await Promise.all(present.map((remote) => readIndex(remote, deps, signal)))
        const next = Object.fromEntries(entries.flat())
        if (JSON.stringify(next) !== JSON.stringify(found)) {
          found = next
          version += 1
        }
        const { openApiIntervalMs } = aggregationLimits
        using _timer =
          present.length > 0 ? deps.clock.setTimer(openApiIntervalMs, () => wake.raise()) : null
        await wake.wait(signal)
      }
    },
  }
}

function remotes(objects: Objects): Remote[] {
  return listTyped<APIService>(objects, apiServices)
    .filter(isAvailable)
    .flatMap((apiService) => {
      const server = extensionServerOf(apiService)
      const { group = '', version = '' } = apiService.spec ?? {}
      return server && group !== '' ? [{ server, group, version }] : []
    })
}

async function readIndex(
  { server, group, version }: Remote,
  deps: RemoteOpenApiDeps,
  signal: AbortSignal,
): Promise<[string, { serverRelativeURL: string }][]> {
  const path = `apis/${group}/${version}`
  const value = await readJson(server, '/openapi/v3', deps, signal)
  const entry = fieldOf(fieldOf(value, 'paths'), path)
  if (entry === undefined) return []
  const url = fieldOf(entry, 'serverRelativeURL')
  return [[path, { serverRelativeURL: typeof url === 'string' ? url : `/openapi/v3/${path}` }]]
}

async function readSwagger(
  { server, group, version }: Remote,
  deps: RemoteOpenApiDeps,
  signal: AbortSignal,
): Promise<OpenApiV2Part | undefined> {
  const value = await readJson(server, '/openapi/v2', deps, signal)
  const paths = describedIn(fieldOf(value, 'paths'))
  const definitions = describedIn(fieldOf(value, 'definitions'))
  const prefix = `/apis/${group}/${version}/`
  const own = Object.entries(paths).filter(([path]) => path.startsWith(prefix))
  return own.length === 0 ? undefined : { paths: Object.fromEntries(own), definitions }
}

/** Resolves to undefined if there is no such document: extension servers need not have one. */
async function readJson(
  server: ExtensionServer,
  path: string,
  { calls, log }: RemoteOpenApiDeps,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const bytesMax = aggregationLimits.openApiBytesMax
    const request = { path, accept: 'application/json', bytesMax }
    const { status, body } = await readExtension(server, request, calls, signal)
    return status === 200 ? JSON.parse(body.toString('utf8')) : undefined
  } catch (error) {
    signal.throwIfAborted()
    log.debug('OpenAPI of an extension server not read', {
      path,
      error: asError(error),
    })
    return undefined
  }
}

/** Keeps only entries that clients can read and this server can write: all groups share one document. */
function describedIn(value: unknown): Record<string, unknown> {
  const entries = Object.entries(objectOf(value))
  return Object.fromEntries(entries.filter(([, each]) => isJsonObject(each) && isShallow(each, 0)))
}

const { levelsMax } = apiServerBounds.remoteOpenApi

function isShallow(value: unknown, level: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return level < levelsMax && Object.values(value).every((each) => isShallow(each, level + 1))
}

function fieldOf(value: unknown, name: string): unknown {
  return objectOf(value)[name]
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  // The check above covers this; the types of the fields stay unknown.
  return isObject ? (value as Record<string, unknown>) : {}
}
