import { checkDnsLabel } from '@skerry/api'

/** One port of a service of an edge cluster. */
export interface EdgeService {
  readonly namespace: string
  readonly name: string
  /** The port's number or its name. */
  readonly port: string
}

/**
 * Returns undefined if a part is not a valid name, or the port is neither a number from 1 to 65535 nor a
 * name.
 */
export function edgeServiceOf({ namespace, name, port }: EdgeService): EdgeService | undefined {
  const isNamed = checkDnsLabel(namespace).length === 0 && checkDnsLabel(name).length === 0
  return isNamed && isServicePort(port) ? { namespace, name, port } : undefined
}

export function isServicePort(port: string): boolean {
  if (/^\d+$/.test(port)) return /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535
  return checkDnsLabel(port).length === 0
}

/** Formats `shop/web:80`, as people write it. */
export function serviceText({ namespace, name, port }: EdgeService): string {
  return `${namespace}/${name}:${port}`
}

/** Reads `namespace/name:port`; undefined where it is none. */
export function parseServiceText(text: string): EdgeService | undefined {
  const [, namespace = '', name = '', port = ''] = /^([^/:]+)\/([^/:]+):([^/:]+)$/.exec(text) ?? []
  return edgeServiceOf({ namespace, name, port })
}
