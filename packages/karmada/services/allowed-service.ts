import { checkDnsLabel } from '@skerry/api'
import { isServicePort, type EdgeService } from './edge-service.ts'

/** Services that the operator of an edge lets the hub reach. */
export interface AllowedService {
  readonly namespace: string
  /** `*` for all of the namespace. */
  readonly name: string
  /** A number or a name; `*` for all of the service. */
  readonly port: string
}

const any = '*'

/** Reads `namespace/name:port`, with `*` for name or port; undefined where it is none. */
export function parseAllowedService(text: string): AllowedService | undefined {
  const [, namespace = '', name = '', port = ''] = /^([^/:]+)\/([^/:]+):([^/:]+)$/.exec(text) ?? []
  const isNamed =
    checkDnsLabel(namespace).length === 0 && (name === any || checkDnsLabel(name).length === 0)
  return isNamed && (port === any || isServicePort(port)) ? { namespace, name, port } : undefined
}

export function allowedServiceText({ namespace, name, port }: AllowedService): string {
  return `${namespace}/${name}:${port}`
}

/** Those that are about this service, whatever the port is. */
export function allowancesOf(
  allowed: readonly AllowedService[],
  { namespace, name }: Pick<EdgeService, 'namespace' | 'name'>,
): readonly AllowedService[] {
  return allowed.filter(
    (each) => each.namespace === namespace && (each.name === any || each.name === name),
  )
}

/** Names both service and port: its writer knows what it leads to. */
export function isExact({ name, port }: AllowedService): boolean {
  return name !== any && port !== any
}

/** A port may be meant by its number or by its name. */
export function coversPort({ port }: AllowedService, names: readonly string[]): boolean {
  return port === any || names.includes(port)
}
