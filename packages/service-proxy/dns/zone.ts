import type { Answer } from 'dns-packet'
import type { Endpoint, EndpointSlice, Service } from '@skerry/api'
import { groupByService, hasClusterIp, isReady, keyOf } from '../services/service-ports.ts'

/**
 * The cluster's zone by the Kubernetes DNS specification 1.1.0: services, their ports, the
 * endpoints of headless services, pod addresses, and their reverse names.
 */
export interface Zone {
  /** Returns undefined if the name is not in this zone and must be forwarded. */
  answer(question: { name: string; type: string }): ZoneAnswer | undefined
}

export interface ZoneAnswer {
  rcode: 'NOERROR' | 'NXDOMAIN'
  answers: Answer[]
}

export interface ZoneOptions {
  /** Default: cluster.local. */
  domain: string
  ttlSeconds: number
  /** Returns a second name of an endpoint of a headless service, below the service's name. */
  secondHostname?: (service: Service, endpoint: Endpoint) => string | undefined
}

interface Records {
  addresses: Map<string, string[]>
  services: Map<string, { target: string; port: number }[]>
  aliases: Map<string, string>
  reverse: Map<string, string[]>
  /** Every existing name, including those that only have names below them. */
  names: Set<string>
}

/** Builds the zone, once per change of the services. A lookup is a few map reads. */
export function buildZone(
  services: readonly Service[],
  slices: readonly EndpointSlice[],
  options: ZoneOptions,
): Zone {
  const records = collect(services, slices, options)
  return { answer: (question) => lookUp(records, question, options) }
}

function collect(
  services: readonly Service[],
  slices: readonly EndpointSlice[],
  { domain, secondHostname }: ZoneOptions,
): Records {
  const records: Records = {
    addresses: new Map(),
    services: new Map(),
    aliases: new Map(),
    reverse: new Map(),
    names: new Set([domain, `svc.${domain}`, `pod.${domain}`]),
  }
  const slicesOf = groupByService(slices)
  for (const service of services) {
    const base =
      `${service.metadata.name}.${service.metadata.namespace}.svc.${domain}`.toLowerCase()
    if (service.spec?.type === 'ExternalName') addAlias(records, base, service)
    else if (hasClusterIp(service)) addClusterService(records, base, service)
    else {
      const own = slicesOf.get(keyOf(service.metadata.namespace, service.metadata.name)) ?? []
      addHeadlessService(records, base, { service, slices: own, secondHostname })
    }
  }
  return records
}

function addAlias(records: Records, base: string, service: Service): void {
  const target = service.spec?.externalName
  if (target === undefined) return
  records.aliases.set(base, target.toLowerCase().replace(/\.$/, ''))
  addName(records, base)
}

function addClusterService(records: Records, base: string, service: Service): void {
  for (const address of service.spec?.clusterIPs ?? [service.spec?.clusterIP ?? '']) {
    push(records.addresses, base, address)
    push(records.reverse, address, base)
  }
  addName(records, base)
  for (const port of service.spec?.ports ?? []) {
    addPort(records, base, {
      name: port.name,
      protocol: port.protocol,
      port: port.port,
      target: base,
    })
  }
}

function addHeadlessService(
  records: Records,
  base: string,
  from: { service: Service; slices: readonly EndpointSlice[] } & Pick<
    ZoneOptions,
    'secondHostname'
  >,
): void {
  addName(records, base)
  const showsUnready = from.service.spec?.publishNotReadyAddresses === true
  for (const slice of from.slices) {
    for (const endpoint of slice.endpoints ?? []) {
      if (!isReady(endpoint) && !showsUnready) continue
      const target = addEndpoint(records, base, endpoint)
      const second = from.secondHostname?.(from.service, endpoint)
      if (second !== undefined) addEndpoint(records, base, { ...endpoint, hostname: second })
      for (const port of slice.ports ?? []) {
        if (port.port === undefined) continue
        addPort(records, base, {
          name: port.name,
          protocol: port.protocol,
          port: port.port,
          target,
        })
      }
    }
  }
}

function addEndpoint(records: Records, base: string, endpoint: Endpoint): string {
  const address = endpoint.addresses[0] ?? ''
  const target = `${endpoint.hostname ?? address.replaceAll(/[.:]/g, '-')}.${base}`.toLowerCase()
  pushOnce(records.addresses, base, address)
  pushOnce(records.addresses, target, address)
  pushOnce(records.reverse, address, target)
  addName(records, target)
  return target
}

interface PortRecord {
  name: string | undefined
  protocol: string | undefined
  port: number
  target: string
}

function addPort(records: Records, base: string, port: PortRecord): void {
  if (port.name === undefined || port.name === '') return
  const name = `_${port.name}._${port.protocol ?? 'TCP'}.${base}`.toLowerCase()
  const list = records.services.get(name) ?? []
  list.push({ target: port.target, port: port.port })
  records.services.set(name, list)
  addName(records, name)
}

/** A name that has names below it exists too (RFC 8020): it answers NOERROR without records. */
function addName(records: Records, name: string): void {
  let rest = name
  while (rest !== '' && !records.names.has(rest)) {
    records.names.add(rest)
    rest = rest.slice(rest.indexOf('.') + 1)
  }
}

function lookUp(
  records: Records,
  question: { name: string; type: string },
  options: ZoneOptions,
): ZoneAnswer | undefined {
  const name = question.name.toLowerCase().replace(/\.$/, '')
  if (name.endsWith('.in-addr.arpa')) return reverseAnswer(records, name, { question, options })
  if (name !== options.domain && !name.endsWith(`.${options.domain}`)) return undefined
  const answers = forwardAnswers(records, name, { question, options })
  const exists =
    answers.length > 0 || records.names.has(name) || podAddressOf(name, options) !== undefined
  return { rcode: exists ? 'NOERROR' : 'NXDOMAIN', answers }
}

interface Lookup {
  question: { name: string; type: string }
  options: ZoneOptions
}

function forwardAnswers(records: Records, name: string, { question, options }: Lookup): Answer[] {
  const common = { name: question.name, ttl: options.ttlSeconds, class: 'IN' } as const
  const alias = records.aliases.get(name)
  if (alias !== undefined) return [{ ...common, type: 'CNAME', data: alias }]
  if (question.type === 'A') {
    const podAddress = podAddressOf(name, options)
    const addresses = podAddress === undefined ? (records.addresses.get(name) ?? []) : [podAddress]
    return addresses
      .filter((data) => !data.includes(':'))
      .map((data) => ({ ...common, type: 'A', data }))
  }
  if (question.type === 'AAAA') {
    const addresses = records.addresses.get(name) ?? []
    return addresses
      .filter((data) => data.includes(':'))
      .map((data) => ({ ...common, type: 'AAAA', data }))
  }
  if (question.type === 'SRV') {
    const found = records.services.get(name) ?? []
    const weight = Math.max(1, Math.floor(100 / Math.max(1, found.length)))
    return found.map((data) => ({ ...common, type: 'SRV', data: { ...data, priority: 0, weight } }))
  }
  if (question.type === 'TXT' && name === `dns-version.${options.domain}`) {
    return [{ ...common, type: 'TXT', data: '1.1.0' }]
  }
  return []
}

/** Parses a-b-c-d.<namespace>.pod.<domain>, which stands for that address, whether a pod has it or not. */
function podAddressOf(name: string, options: ZoneOptions): string | undefined {
  const match = /^(\d{1,3})-(\d{1,3})-(\d{1,3})-(\d{1,3})\.[a-z0-9-]+\.pod\.(.+)$/.exec(name)
  if (match === null || match[5] !== options.domain) return undefined
  const parts = match.slice(1, 5)
  return parts.every((part) => Number(part) <= 255) ? parts.join('.') : undefined
}

function reverseAnswer(
  records: Records,
  name: string,
  { question, options }: Lookup,
): ZoneAnswer | undefined {
  const address = name.slice(0, -'.in-addr.arpa'.length).split('.').toReversed().join('.')
  const names = records.reverse.get(address)
  if (names === undefined) return undefined
  const common = { name: question.name, ttl: options.ttlSeconds, class: 'IN' } as const
  const answers: Answer[] =
    question.type === 'PTR' ? names.map((data) => ({ ...common, type: 'PTR', data })) : []
  return { rcode: 'NOERROR', answers }
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

function pushOnce(map: Map<string, string[]>, key: string, value: string): void {
  if (!map.get(key)?.includes(value)) push(map, key, value)
}
