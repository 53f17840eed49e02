import {
  CelOpaque,
  CelRuntimeError,
  celTypes,
  CelTypeValue,
  declare,
  fixedRange,
  member,
  noSuchOverload,
  opaqueType,
  plain,
  scaled,
  sizeAt,
  sizeOf,
  sum,
  traversalCost,
  traversing,
  type CelLibrary,
  type CelValue,
  type Estimate,
} from '@skerry/cel'
import { accessing, parsing } from './opaque-costs.ts'
import {
  includesCidr,
  includesIp,
  ipText,
  isLinkLocalIp,
  isLinkLocalMulticastIp,
  isLoopbackIp,
  isMappedIp,
  isUnspecifiedIp,
  cidrText,
  networkOf,
  parseCidr,
  parseIp,
  type Cidr,
} from '../addresses/ip.ts'

const { bool, int, string } = celTypes
const ipType = opaqueType('net.IP')
const cidrType = opaqueType('net.CIDR')

class Address {
  readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
  get celSize(): number {
    return this.bytes.length
  }
}

class Network implements Cidr {
  readonly bytes: Uint8Array
  readonly bits: number
  constructor({ bytes, bits }: Cidr) {
    this.bytes = bytes
    this.bits = bits
  }
  get celSize(): number {
    return Math.ceil(this.bits / 8)
  }
}

function text(value: CelValue): string {
  if (typeof value !== 'string') throw noSuchOverload()
  return value
}

function parseAddress(value: CelValue): Uint8Array {
  const source = text(value)
  const wrong = (why: string): CelRuntimeError =>
    new CelRuntimeError(
      `IP Address ${JSON.stringify(source)} parse error during conversion from string: ${why}`,
    )
  const bytes = parseIp(source)
  if (!bytes) throw wrong(`ParseAddr(${JSON.stringify(source)}): unable to parse IP`)
  if (isMappedIp(bytes)) throw wrong('IPv4-mapped IPv6 address is not allowed')
  return bytes
}

function parseNetwork(value: CelValue): Cidr {
  const source = text(value)
  const network = parseCidr(source)
  if (!network || isMappedIp(network.bytes)) {
    throw new CelRuntimeError(
      `CIDR ${JSON.stringify(source)} parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(source)}): unable to parse IP`,
    )
  }
  return network
}

function ipValue(bytes: Uint8Array): CelOpaque {
  return new CelOpaque(
    ipType,
    new Address(bytes),
    ({ value }) => value instanceof Address && ipText(value.bytes) === ipText(bytes),
  )
}

function cidrValue(network: Cidr): CelOpaque {
  return new CelOpaque(
    cidrType,
    new Network(network),
    ({ value }) => value instanceof Network && cidrText(value) === cidrText(network),
  )
}

function addressOf(value: CelValue): Uint8Array {
  if (typeof value === 'string') return parseAddress(value)
  if (value instanceof CelOpaque && value.value instanceof Address) return value.value.bytes
  throw noSuchOverload()
}

function cidrIn(value: CelValue): Cidr {
  if (typeof value === 'string') return parseNetwork(value)
  if (value instanceof CelOpaque && value.value instanceof Network) return value.value
  throw noSuchOverload()
}

function isParsed(parse: (value: CelValue) => unknown): (value?: CelValue) => boolean {
  return (value = null) => {
    try {
      parse(value)
      return true
    } catch (error) {
      if (error instanceof CelRuntimeError && typeof value === 'string') return false
      throw error
    }
  }
}

const checks: Readonly<Record<string, (bytes: Uint8Array) => boolean>> = Object.freeze({
  isUnspecified: isUnspecifiedIp,
  isLoopback: isLoopbackIp,
  isLinkLocalMulticast: isLinkLocalMulticastIp,
  isLinkLocalUnicast: isLinkLocalIp,
  isGlobalUnicast: (bytes) => {
    const [a = 0] = bytes
    const isV4 = bytes.length === 4
    const isBroadcast = isV4 && bytes.every((byte) => byte === 255)
    const isMulticast = isV4 ? a >= 224 && a < 240 : a === 0xff
    return (
      !isBroadcast &&
      !isUnspecifiedIp(bytes) &&
      !isLoopbackIp(bytes) &&
      !isMulticast &&
      !isLinkLocalIp(bytes)
    )
  },
})

/** Adds ip(), isIP() and methods of addresses. */
export const ipLibrary: CelLibrary = {
  name: 'ip',
  constants: {
    'net.IP': { type: { kind: 'type', of: ipType }, value: new CelTypeValue('net.IP') },
  },
  functions: [
    declare(
      'ip',
      plain(
        { id: 'string_to_ip', takes: [string], gives: ipType },
        (value = null) => ipValue(parseAddress(value)),
        parsing,
      ),
    ),
    declare(
      'isIP',
      plain({ id: 'is_ip', takes: [string], gives: bool }, isParsed(parseAddress), parsing),
    ),
    declare(
      'ip.isCanonical',
      plain(
        { id: 'ip_is_canonical', takes: [string], gives: bool },
        (value = null) => ipText(parseAddress(value)) === value,
        {
          cost: ([value = null]) => Math.ceil(sizeOf(value) * 0.2),
          estimate: traversing(0, 2),
          isCostByName: true,
        },
      ),
    ),
    declare(
      'family',
      member(
        { id: 'ip_family', takes: [ipType], gives: int },
        (value = null) => (addressOf(value).length === 4 ? 4n : 6n),
        accessing,
      ),
    ),
    ...Object.entries(checks).map(([name, act]) =>
      declare(
        name,
        member(
          { id: `ip_${name}`, takes: [ipType], gives: bool },
          (value = null) => act(addressOf(value)),
          accessing,
        ),
      ),
    ),
    declare(
      'string',
      plain({ id: 'ip_to_string', takes: [ipType], gives: string }, (value = null) =>
        ipText(addressOf(value)),
      ),
    ),
  ],
}

function containing(cidrs: boolean): {
  cost: (args: readonly CelValue[]) => number
  estimate: Estimate
} {
  return {
    cost([network = null, other = null]) {
      const size = sizeOf(network)
      const masking = cidrs ? Math.ceil(size * 0.1) + 1 : 0
      return (
        Math.ceil(size * 0.2) + masking + (typeof other === 'string' ? traversalCost(other) : 0)
      )
    },
    estimate(args) {
      const size = { min: 4, max: 16 }
      const masking = cidrs ? sum(scaled(size, 0.1), fixedRange(1)) : fixedRange(0)
      const reading = args[1]?.type.kind === 'string' ? scaled(sizeAt(args, 1), 0.1) : fixedRange(0)
      return { cost: sum(scaled(sum(size, size), 0.1), masking, reading) }
    },
  }
}

function containsCidr(network: CelValue = null, other: CelValue = null): boolean {
  return includesCidr(cidrIn(network), cidrIn(other))
}

/** Adds cidr(), isCIDR() and methods of networks. */
export const cidrLibrary: CelLibrary = {
  name: 'cidr',
  constants: {
    'net.CIDR': { type: { kind: 'type', of: cidrType }, value: new CelTypeValue('net.CIDR') },
  },
  functions: [
    declare(
      'cidr',
      plain(
        { id: 'string_to_cidr', takes: [string], gives: cidrType },
        (value = null) => cidrValue(parseNetwork(value)),
        parsing,
      ),
    ),
    declare(
      'isCIDR',
      plain({ id: 'is_cidr', takes: [string], gives: bool }, isParsed(parseNetwork), parsing),
    ),
    declare(
      'containsIP',
      ...[ipType, string].map((type) =>
        member(
          {
            id: type === string ? 'cidr_contains_ip_string' : 'cidr_contains_ip_ip',
            takes: [cidrType, type],
            gives: bool,
          },
          (network = null, ip = null) => includesIp(cidrIn(network), addressOf(ip)),
          { ...containing(false), isCostByName: true },
        ),
      ),
    ),
    declare(
      'containsCIDR',
      ...[cidrType, string].map((type) =>
        member(
          {
            id: type === string ? 'cidr_contains_cidr_string' : 'cidr_contains_cidr',
            takes: [cidrType, type],
            gives: bool,
          },
          containsCidr,
          { ...containing(true), isCostByName: true },
        ),
      ),
    ),
    declare(
      'ip',
      member(
        { id: 'cidr_ip', takes: [cidrType], gives: ipType },
        (value = null) => ipValue(cidrIn(value).bytes),
        accessing,
      ),
    ),
    declare(
      'masked',
      member(
        { id: 'cidr_masked', takes: [cidrType], gives: cidrType },
        (value = null) => {
          const network = cidrIn(value)
          return cidrValue({ bytes: networkOf(network), bits: network.bits })
        },
        accessing,
      ),
    ),
    declare(
      'prefixLength',
      member(
        { id: 'cidr_prefix_length', takes: [cidrType], gives: int },
        (value = null) => BigInt(cidrIn(value).bits),
        accessing,
      ),
    ),
    declare(
      'string',
      plain({ id: 'cidr_to_string', takes: [cidrType], gives: string }, (value = null) =>
        cidrText(cidrIn(value)),
      ),
    ),
  ],
}
