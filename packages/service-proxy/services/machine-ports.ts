import { open } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { serviceProxyBounds } from '../limits-table.ts'
import { parseSockets } from './listening-sockets.ts'
import type { Protocol } from './service-ports.ts'

/** A port of the machine that a service may not have. */
export interface UsedPort {
  readonly protocol: Protocol
  readonly port: number
  /** The address that it is for, or undefined for all of the machine's. */
  readonly address: string | undefined
  /** The user in words for people, e.g. `a program of the machine`. */
  readonly by: string
}

/** The machine, as far as it decides about addresses of services. */
export interface MachinePorts {
  /** The IPv4 addresses of its interfaces. */
  readonly addresses: ReadonlySet<string>
  readonly used: readonly UsedPort[]
}

const { fileBytesMax } = serviceProxyBounds.machinePorts

/** The files of the kernel that list sockets, and the state in which a socket takes what comes. */
const socketFiles: readonly (readonly [file: string, protocol: Protocol, state: string])[] = [
  ['tcp', 'tcp', '0A'],
  ['tcp6', 'tcp', '0A'],
  ['udp', 'udp', '07'],
  ['udp6', 'udp', '07'],
]

/** Reads the addresses of the machine, and the ports on which its programs listen. */
export async function readMachinePorts(directory = '/proc/net'): Promise<MachinePorts> {
  const lists = await Promise.all(
    socketFiles.map(async ([file, protocol, state]) =>
      parseSockets(await readStart(`${directory}/${file}`), state).map((socket) => ({
        ...socket,
        protocol,
        by: 'a program of the machine',
      })),
    ),
  )
  const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const addresses = interfaces.flatMap(({ family, address }) =>
    family === 'IPv4' ? [address] : [],
  )
  return { addresses: new Set(addresses), used: lists.flat() }
}

/** The kernel lists listening sockets first, so that the start of a long list has them all. */
async function readStart(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const buffer = Buffer.allocUnsafe(fileBytesMax)
    let length = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length)
      if (bytesRead === 0) return buffer.toString('latin1', 0, length)
      length += bytesRead
    }
  } catch (error) {
    // A kernel without IPv6 has no lists of it.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

/** Returns the user of the port at the address, or undefined if nobody uses it. */
export function userOf(
  { used }: MachinePorts,
  wanted: { readonly protocol: Protocol; readonly port: number; readonly address: string },
): string | undefined {
  const found = used.find(
    ({ protocol, port, address }) =>
      protocol === wanted.protocol &&
      port === wanted.port &&
      (address === undefined || address === wanted.address),
  )
  return found?.by
}
