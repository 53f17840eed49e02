import { ExpectedError, exitCodes } from '@skerry/base'
import {
  expandAddresses,
  machineBlockCauses,
  type BlockWay,
  type MachineBlock,
  type MachineTaint,
} from '@skerry/provisioning'

/** A machine, or a range of them, as an option or a line of a file names it. */
export interface NamedMachine {
  /** An address, or a range such as `10.0.0.[11-14]`. */
  readonly address: string
  readonly user?: string
  readonly port?: number
  /** The Secret of its login. If omitted, the one of the command. */
  readonly credentials?: string
  readonly labels?: Readonly<Record<string, string>>
}

export interface BlockRules {
  /** The roles of machines by their address. If omitted, every machine is a Node. */
  readonly roles?: ReadonlyMap<string, 'Master' | 'Witness'>
  readonly credentials: string
  /** The fingerprints that a machine may show, by its address. */
  readonly hostKeys: ReadonlyMap<string, readonly string[]>
  readonly acceptNewHostKeys: boolean
  readonly labels: Readonly<Record<string, string>>
  /** The way to all of them. If omitted, the hub dials them itself. */
  readonly way?: BlockWay
  readonly taints?: readonly MachineTaint[]
}

/** Parses `[user@]address[:port]`. Throws an ExpectedError. */
export function parseMachine(text: string): NamedMachine {
  const [, user, address, port] = /^(?:([^@:]+)@)?([^@:]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (address === undefined) {
    throw usage(`"${text}" is not a machine: write [user@]address[:port], e.g. root@10.0.0.11`)
  }
  const addresses = expandAddresses(address)
  if (typeof addresses === 'string') throw usage(`"${address}" in "${text}" ${addresses}`)
  return {
    address,
    ...(user === undefined ? {} : { user }),
    ...(port === undefined ? {} : { port: Number(port) }),
  }
}

/** Returns the first address that a machine stands for. */
export function firstAddress({ address }: NamedMachine): string {
  return addressesOf(address)[0] ?? address
}

/** Returns the addresses that a text with a role stands for, such as 10.0.0.[11-13]. Throws an ExpectedError. */
export function namedAddresses(text: string): readonly string[] {
  const addresses = expandAddresses(text)
  if (typeof addresses === 'string') throw usage(`"${text}" ${addresses}`)
  return addresses
}

/** Parses `address=SHA256:…` into fingerprints by address. Throws an ExpectedError. */
export function parseHostKeys(texts: readonly string[]): Map<string, string[]> {
  const keys = new Map<string, string[]>()
  for (const text of texts) {
    const [, address, fingerprint] = /^([^=]+)=(SHA256:[A-Za-z0-9+/]{43})$/.exec(text) ?? []
    if (address === undefined || fingerprint === undefined) {
      throw usage(
        `"${text}" is not a host key: write <address>=SHA256:<43 characters>, as ssh-keygen -lf prints it`,
      )
    }
    keys.set(address, [...(keys.get(address) ?? []), fingerprint])
  }
  return keys
}

/**
 * Returns the blocks of an EdgeCluster. A range stays one text unless one of its machines differs from the others.
 * Throws an ExpectedError if a role or a host key belongs to none of the machines.
 */
export function machineBlocks(
  machines: readonly NamedMachine[],
  rules: BlockRules,
): MachineBlock[] {
  const { roles = new Map<string, never>(), hostKeys } = rules
  const all = new Set(machines.flatMap(({ address }) => addressesOf(address)))
  for (const address of [...roles.keys(), ...hostKeys.keys()]) {
    if (!all.has(address)) throw usage(`"${address}" is not the address of a given machine`)
  }
  return machines.flatMap((machine) => {
    const addresses = addressesOf(machine.address)
    const isApart = addresses.some((address) => roles.has(address) || hostKeys.has(address))
    return (isApart ? addresses : [machine.address]).map((address) =>
      blockOf({ ...machine, address }, rules),
    )
  })
}

function blockOf(
  { address, user, port, credentials, labels = {} }: NamedMachine,
  rules: BlockRules,
): MachineBlock {
  const hostKeys = rules.hostKeys.get(address)
  const role = rules.roles?.get(address) ?? 'Node'
  // A witness runs no node that could have them.
  const isNode = role !== 'Witness'
  const allLabels = isNode ? { ...rules.labels, ...labels } : {}
  return {
    addresses: [address],
    ...(port === undefined ? {} : { port }),
    ...(user === undefined ? {} : { user }),
    credentials: { name: credentials ?? rules.credentials },
    ...(hostKeys === undefined ? {} : { hostKeys: [...hostKeys] }),
    ...(rules.acceptNewHostKeys ? { acceptNewHostKeys: true } : {}),
    ...rules.way,
    role,
    ...(Object.keys(allLabels).length === 0 ? {} : { labels: allLabels }),
    ...(isNode && rules.taints?.length ? { taints: [...rules.taints] } : {}),
  }
}

function addressesOf(text: string): readonly string[] {
  const addresses = expandAddresses(text)
  return typeof addresses === 'string' ? [text] : addresses
}

const columns = ['address', 'user', 'port', 'credentials', 'labels']

/**
 * Parses a file of machines: lines of address, user, port, credentials and labels (`key=value`, separated by `;`).
 * All but the address may be empty; empty lines, lines that begin with `#` and a line of the columns' names are left
 * out. Throws an ExpectedError that names the file, the line and the reason.
 */
export function parseMachinesFile(
  text: string,
  { path, credentials }: { readonly path: string; readonly credentials: string | undefined },
): NamedMachine[] {
  const lineOf = new Map<string, number>()
  const machines: NamedMachine[] = []
  for (const [at, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = raw.trim()
    const fail = (why: string): ExpectedError => usage(`${path}, line ${at + 1}: ${why}`)
    if (line === '' || line.startsWith('#')) continue
    const fields = fieldsOf(line)
    if (fields === undefined) throw fail('a quotation mark is not closed, or text follows it')
    if (fields.join(',').toLowerCase() === columns.slice(0, fields.length).join(',')) continue
    if (fields.length > columns.length) {
      throw fail(`${fields.length} fields: there are ${columns.length}, ${columns.join(', ')}`)
    }
    const machine = machineOf(fields, fail)
    if (machine.credentials === undefined && credentials === undefined) {
      throw fail('credentials: name a Secret here, or give --credentials for all lines')
    }
    const block = blockOf(machine, { ...noRules, credentials: credentials ?? '' })
    const [cause] = machineBlockCauses('machine', block)
    if (cause !== undefined) throw fail(`${(cause.field ?? '').slice(8)}: ${cause.message}`)
    for (const address of addressesOf(machine.address)) {
      const before = lineOf.get(address)
      if (before !== undefined) throw fail(`${address} is in line ${before} as well`)
      lineOf.set(address, at + 1)
    }
    machines.push(machine)
  }
  if (machines.length === 0) throw usage(`${path} names no machine`)
  return machines
}

const noRules = { hostKeys: new Map(), acceptNewHostKeys: false, labels: {} }

function machineOf(fields: readonly string[], fail: (why: string) => ExpectedError): NamedMachine {
  const [address = '', user = '', port = '', credentials = '', labels = ''] = fields
  if (address === '') throw fail('address: is missing')
  if (port !== '' && !/^\d{1,5}$/.test(port)) throw fail(`port: "${port}" is not a number`)
  const pairs = labels.split(';').filter((pair) => pair.trim() !== '')
  const parsed = pairs.map((pair) => {
    const [, key, value] = /^\s*([^=]+)=([^=]*?)\s*$/.exec(pair) ?? []
    if (key === undefined || value === undefined) {
      throw fail(`labels: "${pair}" is not <key>=<value>; separate several by ;`)
    }
    return [key, value] as const
  })
  return {
    address,
    ...(user === '' ? {} : { user }),
    ...(port === '' ? {} : { port: Number(port) }),
    ...(credentials === '' ? {} : { credentials }),
    ...(parsed.length === 0 ? {} : { labels: Object.fromEntries(parsed) }),
  }
}

/** Splits a line at commas that no quotation marks enclose (RFC 4180); undefined if those do not fit. */
function fieldsOf(line: string): string[] | undefined {
  const fields: string[] = []
  const field = /\s*(?:"((?:[^"]|"")*)"|([^",]*))\s*(,|$)/y
  for (;;) {
    const match = field.exec(line)
    if (match === null) return undefined
    const [, quoted, plain = '', end] = match
    fields.push((quoted?.replaceAll('""', '"') ?? plain).trim())
    if (end === '') return fields
  }
}

function usage(why: string): ExpectedError {
  return new ExpectedError(`Cannot use machines: ${why}`, exitCodes.usage)
}
