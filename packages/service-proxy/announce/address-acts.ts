import { execFile, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { promisify } from 'node:util'
import { ipv4Number, ipv4Text } from '@skerry/base'
import { serviceProxyBounds } from '../limits-table.ts'

const execute = promisify(execFile)

const { lifetimeSeconds } = serviceProxyBounds.announcer

/** Marks the addresses, so that those of an earlier process are found. */
const label = 'lo:skerry-lb'

/** RFC 863: whatever arrives there is thrown away. */
const discardPort = 9

/** The link by which an address is reached without a router. */
export interface OwnLink {
  readonly device: string
  /** The network of the node's address there, e.g. `192.168.7.0/24`. */
  readonly network: string
}

/** Returns the link that has the node's address, or undefined if none has. */
export async function linkOf(nodeAddress: string): Promise<OwnLink | undefined> {
  const { stdout } = await execute('ip', ['-json', '-4', 'address', 'show', 'to', nodeAddress])
  const links: unknown = JSON.parse(stdout === '' ? '[]' : stdout)
  for (const link of Array.isArray(links) ? links : []) {
    const { ifname, addr_info: infos } = link as { ifname?: string; addr_info?: unknown[] }
    for (const info of infos ?? []) {
      const { local, prefixlen } = info as { local?: string; prefixlen?: number }
      if (ifname === undefined || local !== nodeAddress || prefixlen === undefined) continue
      return { device: ifname, network: networkOf(local, prefixlen) }
    }
  }
  return undefined
}

function networkOf(address: string, bits: number): string {
  const size = 2 ** (32 - bits)
  return `${ipv4Text(Math.floor(ipv4Number(address) / size) * size)}/${bits}`
}

/**
 * Gives the machine these addresses for some seconds, so that the kernel answers ARP for them on every link, and takes former
 * ones away. A process that stops renewing them loses them, even if it hangs.
 */
export async function holdAddresses(
  addresses: Iterable<string>,
  former: Iterable<string>,
): Promise<void> {
  const wanted = new Set(addresses)
  const gone = [...new Set(former).difference(wanted)]
  // One that has just expired need not be deleted, and the kernel forgets the others within seconds, too.
  await ipBatch(gone.map((address) => `address delete ${address}/32 dev lo`)).catch(() => undefined)
  const life = `valid_lft ${lifetimeSeconds} preferred_lft ${lifetimeSeconds}`
  await ipBatch(
    [...wanted].map((address) => `address replace ${address}/32 dev lo label ${label} ${life}`),
  )
}

/** Returns the addresses that the machine has for services, also those of an earlier process. */
export async function heldAddresses(): Promise<string[]> {
  const { stdout } = await execute('ip', ['-json', '-4', 'address', 'show', 'dev', 'lo'])
  const [link]: unknown[] = JSON.parse(stdout === '' ? '[]' : stdout)
  const { addr_info: infos = [] } = (link ?? {}) as { addr_info?: unknown[] }
  return infos.flatMap((info) => {
    const { local, label: own } = info as { local?: string; label?: string }
    return own === label && local !== undefined && isIPv4(local) ? [local] : []
  })
}

async function ipBatch(lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return
  const child = spawn('ip', ['-force', '-batch', '-'], { stdio: ['pipe', 'ignore', 'pipe'] })
  const words: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => words.push(chunk))
  child.stdin.on('error', () => child.kill())
  child.stdin.end(`${lines.join('\n')}\n`)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code === 0) return
  const text = Buffer.concat(words).toString().slice(0, 1_000)
  throw new Error(`Cannot set addresses of services: ip ended with ${code}: ${text}`)
}

/** Asks the link for an address that this machine lacks. Returns the hardware address of a machine that has it. */
export async function ownerOnLink(
  address: string,
  { device }: OwnLink,
  wait: () => Promise<void>,
): Promise<string | undefined> {
  await forgetNeighbour(address, device)
  await sendDatagram({ to: address })
  await wait()
  const { stdout } = await execute('ip', ['-json', 'neighbour', 'show', address, 'dev', device])
  const [entry]: unknown[] = JSON.parse(stdout === '' ? '[]' : stdout)
  return ((entry ?? {}) as { lladdr?: string }).lladdr
}

/**
 * Lets the kernel broadcast an ARP request from this address, by which every machine of the link learns where it is now
 * (RFC 826): a datagram to an address of the network that is not in the kernel's table.
 */
export async function announce(address: string, { device, network }: OwnLink): Promise<void> {
  const [base = '', bits = '24'] = network.split('/')
  const last = ipv4Text(ipv4Number(base) + 2 ** (32 - Number(bits)) - 2)
  const to = last === address ? ipv4Text(ipv4Number(last) - 1) : last
  await forgetNeighbour(to, device)
  await sendDatagram({ from: address, to })
}

async function forgetNeighbour(address: string, device: string): Promise<void> {
  // An entry that is missing need not be deleted.
  await execute('ip', ['neighbour', 'delete', address, 'dev', device]).catch(() => undefined)
}

function sendDatagram({ from, to }: { from?: string; to: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4')
    const end = (error: Error | null): void => {
      socket.close()
      if (error) reject(error)
      else resolve()
    }
    socket.once('error', end)
    const send = (): void => socket.send('', discardPort, to, end)
    if (from === undefined) send()
    else socket.bind({ address: from, port: 0 }, send)
  })
}

/** Returns the switch by which this machine does not answer ARP for addresses on lo, or undefined if it does. */
export async function silencingSwitch({ device }: OwnLink): Promise<string | undefined> {
  for (const scope of ['all', device]) {
    const name = `net.ipv4.conf.${scope}.arp_ignore`
    const value = await readFile(`/proc/sys/net/ipv4/conf/${scope}/arp_ignore`, 'utf8')
    if (value.trim() !== '0') return name
  }
  return undefined
}
