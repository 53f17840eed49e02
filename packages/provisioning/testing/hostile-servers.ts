import assert from 'node:assert/strict'
import { createServer, type Server as NetServer, type Socket } from 'node:net'
import ssh2, { type Connection, type ServerChannel } from 'ssh2'
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
export async function sshServer(answer: (client: Connection) => void): Promise<Scene> {
  const clients = new Set<Connection>()
  const server = new Server({ hostKeys: [hostKey] }, (client) => {
    clients.add(client)
    client.on('error', () => undefined)
    client.on('authentication', (context) => context.accept())
    answer(client)
  })
  return listening(server, () => clients.forEach((client) => client.end()))
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
