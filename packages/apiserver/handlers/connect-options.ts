import type { AnyObject, GroupVersionKind } from '@skerry/api'
import { isTrue } from '../contract/request-info.ts'

type Reader = (query: URLSearchParams, path: string) => Record<string, unknown>

const streams: Reader = (query) => ({
  ...flags(query, ['stdin', 'stdout', 'stderr', 'tty']),
  ...(query.get('container') ? { container: query.get('container') } : {}),
})
const path: Reader = (_query, rest) => (rest === '' ? {} : { path: rest })

const readers: Readonly<Record<string, Reader>> = Object.freeze({
  PodAttachOptions: streams,
  PodExecOptions: (query, rest) => {
    const command = query.getAll('command')
    return { ...streams(query, rest), ...(command.length > 0 ? { command } : {}) }
  },
  PodPortForwardOptions: (query) => {
    const ports = query
      .getAll('ports')
      .flatMap((text) => text.split(','))
      .map(Number)
    return ports.length > 0 ? { ports } : {}
  },
  PodProxyOptions: path,
  ServiceProxyOptions: path,
  NodeProxyOptions: path,
})

/** Builds the options of a connection as an object for admission. */
export function connectOptions(
  { group, version, kind }: GroupVersionKind,
  query: URLSearchParams,
  restOfPath: string,
): AnyObject | undefined {
  const read = readers[kind]
  if (!read) return undefined
  const apiVersion = group === '' ? version : `${group}/${version}`
  return { kind, apiVersion, metadata: {}, ...read(query, restOfPath) }
}

function flags(query: URLSearchParams, names: readonly string[]): Record<string, boolean> {
  const set = names.filter((name) => isTrue(query.get(name)))
  return Object.fromEntries(set.map((name) => [name, true]))
}
