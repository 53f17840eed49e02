import { checkDnsLabel } from '@skerry/api'
import { isServicePort, type EdgeService } from './edge-service.ts'

/** A service that the operator of an edge lets the hub reach. */
export interface AllowedService {
  readonly namespace: string
  /** The name; `*` for all of the namespace. */
  readonly name: string
  /** A number or a name; `*` for all of the service. */
  readonly port: string
  /**
   * The service may lead anywhere: to endpoints written by hand, and to an external name. Otherwise it leads
   * to the pods that it selects. Only valid for a service and port without `*`.
   */
  readonly isAnywhere?: boolean
}

const any = '*'
const anywhere = 'anywhere='

/**
 * Parses `namespace/name:port`, with `*` for name or port, or `anywhere=namespace/name:port`. Returns
 * undefined for any other text.
 */
export function parseAllowedService(text: string): AllowedService | undefined {
  const isAnywhere = text.startsWith(anywhere)
  const plain = isAnywhere ? text.slice(anywhere.length) : text
  const [, namespace = '', name = '', port = ''] = /^([^/:]+)\/([^/:]+):([^/:]+)$/.exec(plain) ?? []
  const mayBe = (part: string, isWell: (text: string) => boolean): boolean =>
    part === any ? !isAnywhere : isWell(part)
  const isLabel = (part: string): boolean => checkDnsLabel(part).length === 0
  if (!isLabel(namespace) || !mayBe(name, isLabel) || !mayBe(port, isServicePort)) return undefined
  return { namespace, name, port, ...(isAnywhere ? { isAnywhere } : {}) }
}

export function allowedServiceText({ namespace, name, port, isAnywhere }: AllowedService): string {
  return `${isAnywhere === true ? anywhere : ''}${namespace}/${name}:${port}`
}

/** Returns the allowances for this service, for any port. */
export function allowancesOf(
  allowed: readonly AllowedService[],
  { namespace, name }: Pick<EdgeService, 'namespace' | 'name'>,
): readonly AllowedService[] {
  return allowed.filter(
    (each) => each.namespace === namespace && (each.name === any || each.name === name),
  )
}

/** A port may be meant by its number or by its name. */
export function coversPort({ port }: AllowedService, names: readonly string[]): boolean {
  return port === any || names.includes(port)
}
