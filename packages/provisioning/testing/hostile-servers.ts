import assert from 'node:assert/strict'
import { createServer, type Server as NetServer, type Socket } from 'node:net'
import ssh2, { type Algorithms, type Connection, type ServerChannel } from 'ssh2'
import { simulatedClock, until } from '@skerry/testing'
import { ShellError } from '../contract/shell.ts'

const { Server, utils } = ssh2
/** The host key of every server that speaks SSH here. */
const hostKey = utils.generateKeyPairSync('ed25519').private
const memoryMax = 256 * 1024 * 1024

/** Whether a machine has come to the point from which it does not answer any more. */
export class Mute {
  isMute = false
  readonly now = (): void => {
    this.isMute = true
  }
}

export interface Scene extends AsyncDisposable {
  readonly port: number
}

async function listening(
  server: Pick<NetServer, 'listen' | 'address' | 'close'>,
  end: () => void,
): Promise<Scene> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      end()
      server.close()
    },
  }
}

/** A server of bytes that are not SSH. */
export async function rawServer(answer: (socket: Socket) => void): Promise<Scene> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    answer(socket)
  })
  return listening(server, () => sockets.forEach((socket) => socket.destroy()))
}

/** A server that speaks SSH, lets everybody in, and then does as it likes. */
export async function sshServer(
  answer: (client: Connection) => void,
  algorithms: Algorithms = {},
): Promise<Scene> {
  const clients = new Set<Connection>()
  const server = new Server({ hostKeys: [hostKey], algorithms }, (client) => {
    clients.add(client)
    client.on('error', () => undefined)
    client.on('authentication', (context) => context.accept())
    answer(client)
  })
  return listening(server, () => clients.forEach((client) => client.end()))
}

/**
 * A server that knows one key exchange alone, that of RFC 4419, in which it chooses the prime. It sends one for which a
 * test of primality takes a processor for many seconds.
 */
export async function oddGroupServer(): Promise<Scene> {
  // A Mersenne prime: all of its bits are set.
  const prime = Buffer.concat([Buffer.from([0x01]), Buffer.alloc(1_211, 0xff)])
  const group = Buffer.concat([Buffer.from([groupMessage]), sized(prime), sized(Buffer.from([2]))])
  const lists = ['diffie-hellman-group-exchange-sha256', 'ssh-ed25519']
  lists.push('aes128-ctr', 'aes128-ctr', 'hmac-sha2-256', 'hmac-sha2-256', 'none', 'none', '', '')
  const names = lists.map((text) => sized(Buffer.from(text)))
  const offer = Buffer.concat([Buffer.from([offerMessage]), Buffer.alloc(16), ...names])
  return rawServer((socket) => {
    socket.write('SSH-2.0-odd\r\n')
    socket.write(packetOf(Buffer.concat([offer, Buffer.alloc(5)])))
    socket.on('data', (chunk: Buffer) => {
      // The request for a group is a packet of its own, and the only one of this length.
      if (chunk.subarray(-24)[5] === groupRequest) socket.write(packetOf(group))
    })
  })
}

/** SSH_MSG_KEXINIT (RFC 4253), and the messages of a group that the server chooses (RFC 4419). */
const offerMessage = 20
const groupMessage = 31
const groupRequest = 34

function sized(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** A packet before there are keys: its length, that of the padding, the message and the padding. */
function packetOf(message: Buffer): Buffer {
  const padding = 8 - ((message.length + 5) % 8) + 8
  return sized(Buffer.concat([Buffer.from([padding]), message, Buffer.alloc(padding)]))
}

/** Writes for as long as the other side reads. */
export function pour(stream: Socket | ServerChannel, text: string): void {
  const write = (): void => {
    while (!stream.destroyed && stream.write(text));
  }
  stream.on('drain', write)
  write()
}

export const block = 'x'.repeat(64 * 1024)

/** Acts, and lets the clock run ahead once the machine is mute. The act must end in a ShellError, which is returned. */
export async function faultOf(
  mute: Mute,
  act: (clock: ReturnType<typeof simulatedClock>) => Promise<unknown>,
): Promise<ShellError> {
  const clock = simulatedClock()
  const before = process.memoryUsage().rss
  let ended: { error: unknown } | undefined
  const trying = act(clock).then(
    () => (ended = { error: undefined }),
    (error: unknown) => (ended = { error }),
  )
  const beganMs = clock.now()
  await until(async () => {
    if (ended === undefined && mute.isMute) await clock.advance(250)
    return ended
  })
  await trying
  assert.ok(clock.now() - beganMs < 200_000, 'it takes no more than the times of a few calls')
  assert.ok(process.memoryUsage().rss - before < memoryMax, 'it takes little memory')
  const error = ended?.error
  assert.ok(error instanceof ShellError, String(error))
  assert.doesNotMatch(error.message, /a-password/)
  return error
}
