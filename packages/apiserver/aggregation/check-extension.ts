import { messageOf } from '@skerry/base'
import { isJsonObject } from '@skerry/api'
import type { ApiResource } from '@skerry/discovery'
import { failedDiscovery, passedAvailability, type Availability } from './availability.ts'
import {
  ExtensionServerError,
  type ExtensionCallDeps,
  type ExtensionServer,
} from './extension-server.ts'
import { hostPort } from '../http/connection-error-text.ts'
import { readExtension } from './read-extension.ts'
import { aggregationLimits } from '../limits-table.ts'

export interface ExtensionCheck {
  readonly availability: Availability
  /** The resources of the group version, or undefined if the server did not list them. */
  readonly resources: readonly ApiResource[] | undefined
}

/** Asks the extension server for its group version, to learn whether it is up and what it serves. */
export async function checkExtension(
  server: ExtensionServer,
  { group, version }: { group: string; version: string },
  deps: ExtensionCallDeps,
  signal: AbortSignal,
): Promise<ExtensionCheck> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const bytesMax = aggregationLimits.discoveryBytesMax
  try {
    const request = { path, accept: 'application/json', bytesMax }
    const { status, body } = await readExtension(server, request, deps, signal)
    if (status < 200 || status >= 300) {
      const url = `https://${serviceHost(server)}${path}`
      const why = `failing or missing response from ${url}: bad status from ${url}: ${status}`
      return { availability: failedDiscovery(why), resources: undefined }
    }
    return { availability: passedAvailability, resources: resourcesOf(body) }
  } catch (error) {
    if (signal.aborted) throw error
    return { availability: failedDiscovery(failureText(error, path, server)), resources: undefined }
  }
}

function failureText(error: unknown, path: string, server: ExtensionServer): string {
  if (error instanceof ExtensionServerError) {
    if (!error.endpoint) return error.message
    const url = `https://${hostPort(error.endpoint)}${path}`
    return `failing or missing response from ${url}: Get ${JSON.stringify(url)}: ${error.message}`
  }
  const url = `https://${serviceHost(server)}${path}`
  const why = messageOf(error)
  return `failing or missing response from ${url}: Get ${JSON.stringify(url)}: ${why}`
}

function serviceHost({ service }: ExtensionServer): string {
  return `${service.name}.${service.namespace}.svc:${service.port}`
}

/** Reads an APIResourceList. Returns undefined if the body is something else. */
function resourcesOf(body: Buffer): ApiResource[] | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    if (typeof value !== 'object' || value === null || !('resources' in value)) return undefined
    if (!Array.isArray(value.resources)) return undefined
    return value.resources.flatMap(readResource)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * Returns nothing for a malformed resource. All groups share one discovery document, and Go clients reject the whole
 * document if one field has the wrong type.
 */
function readResource(value: unknown): ApiResource[] {
  if (!isJsonObject(value)) return []
  const { name, kind, verbs, singularName = '', namespaced = false, ...more } = value
  const { group, version, storageVersionHash } = more
  const [shortNames, categories] = [more['shortNames'] ?? [], more['categories'] ?? []]
  if (!isText(name) || !isText(kind) || !isText(singularName)) return []
  if (!isTexts(verbs) || !isTexts(shortNames) || !isTexts(categories)) return []
  if (typeof namespaced !== 'boolean') return []
  return [
    {
      name,
      singularName,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...(isText(group) ? { group } : {}),
      ...(isText(version) ? { version } : {}),
      ...(isText(storageVersionHash) ? { storageVersionHash } : {}),
    },
  ]
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}
