/** A hub opens machines that others may hold: whatever they answer ends in a ShellError, soon and in little memory. */
import assert from 'node:assert/strict'
import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { test } from 'node:test'
import ssh2, { type Connection, type ServerChannel, type SFTPWrapper } from 'ssh2'
import { failOnUncaught, simulatedClock, until } from '@skerry/testing'
import { ShellError, type Shell, type ShellFault } from '../contract/shell.ts'
import { sshShells } from './ssh-shell.ts'

const { Server, utils } = ssh2
const hostKey = utils.generateKeyPairSync('ed25519').private
const memoryMax = 256 * 1024 * 1024
const { signal } = new AbortController()

failOnUncaught()

/** Whether a machine has come to the point from which it does not answer any more. */
class Mute {
  isMute = false
  readonly now = (): void => {
    this.isMute = true
  }
}

interface Scene extends AsyncDisposable {
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
async function rawServer(answer: (socket: Socket) => void): Promise<Scene> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    answer(socket)
  })
  return listening(server, () => sockets.forEach((socket) => socket.destroy()))
}

/** A server that speaks SSH, lets everybody in, and then does as it likes. */
async function sshServer(answer: (client: Connection) => void): Promise<Scene> {
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
function pour(stream: Socket | ServerChannel, text: string): void {
  const write = (): void => {
    while (!stream.destroyed && stream.write(text));
  }
  stream.on('drain', write)
  write()
}

const block = 'x'.repeat(64 * 1024)

/** Opens the machine and acts on it, while the clock runs ahead once the machine says no more. */
async function faultOf(
  scene: Scene,
  mute: Mute,
  act: (shell: Shell) => Promise<unknown>,
): Promise<ShellError> {
  const clock = simulatedClock()
  const login = { user: 'root', port: scene.port, password: 'a-password' }
  const request = { address: '127.0.0.1', login, isHostKeyAccepted: () => true }
  const before = process.memoryUsage().rss
  const attempt = async (): Promise<unknown> => {
    await using shell = await sshShells({ clock })(request, signal)
    return act(shell)
  }
  let ended: { error: unknown } | undefined
  const trying = attempt().then(
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
  assert.ok(!error.message.includes('a-password'))
  return error
}

const open = (shell: Shell): Promise<unknown> => shell.run(['true'])

const machines: readonly [
  title: string,
  make: (mute: () => void) => Promise<Scene>,
  faults: readonly ShellFault[],
][] = [
  ['never says a word', (mute) => rawServer(() => mute()), ['unreachable']],
  ['closes at once', () => rawServer((socket) => socket.end()), ['unreachable']],
  [
    'greets without end in one line',
    () => rawServer((socket) => pour(socket, block)),
    ['unreachable'],
  ],
  [
    'greets without end in many lines',
    () => rawServer((socket) => pour(socket, 'hello\r\n'.repeat(9_000))),
    ['unreachable'],
  ],
  [
    'closes in the handshake',
    () =>
      rawServer(
        (socket) => socket.write('SSH-2.0-odd\r\n') && socket.once('data', () => socket.destroy()),
      ),
    ['unreachable'],
  ],
  [
    'declares a packet of four gigabytes in the handshake',
    () =>
      rawServer((socket) =>
        socket.write(Buffer.concat([Buffer.from('SSH-2.0-odd\r\n'), Buffer.alloc(64, 0xff)])),
      ),
    ['unreachable'],
  ],
  [
    'never answers a login',
    (mute) =>
      sshServer((client) =>
        client.removeAllListeners('authentication').on('authentication', () => mute()),
      ),
    ['unreachable'],
  ],
  [
    'opens no session',
    (mute) => sshServer((client) => client.on('session', () => mute())),
    ['misbehaves'],
  ],
  [
    'refuses each session',
    () => sshServer((client) => client.on('session', (_, refuse) => refuse())),
    ['file'],
  ],
  [
    'has SFTP that never answers',
    (mute) => sshServer((client) => withSftp(client, (sftp) => sftp.on('MKDIR', () => mute()))),
    ['misbehaves'],
  ],
  [
    'has SFTP that answers with what is none',
    () =>
      sshServer((client) =>
        client.on('session', (accept) =>
          accept().on('subsystem', (subsystem) => pour(subsystem(), block)),
        ),
      ),
    ['file', 'unreachable', 'misbehaves'],
  ],
  [
    'prints without end to each command',
    () => sshServer((client) => withFiles(client, (channel) => pour(channel, block))),
    ['misbehaves'],
  ],
  [
    'never ends a command',
    (mute) => sshServer((client) => withFiles(client, () => mute())),
    ['misbehaves'],
  ],
  [
    'ends a command without a code',
    () => sshServer((client) => withFiles(client, (channel) => channel.end())),
    ['unreachable'],
  ],
]

for (const [title, make, faults] of machines) {
  test(`a machine that ${title} ends in an error`, { timeout: 30_000 }, async () => {
    const mute = new Mute()
    await using scene = await make(mute.now)
    const error = await faultOf(scene, mute, open)
    assert.ok(faults.includes(error.fault), `${error.fault}: ${error.message}`)
  })
}

function withSftp(client: Connection, answer: (sftp: SFTPWrapper) => void): void {
  client.on('session', (accept) => {
    accept().on('sftp', (acceptSftp) => answer(acceptSftp()))
  })
}

/** Says yes to each call of SFTP, and has files of an enormous size; commands are answered as given. */
function withFiles(client: Connection, answer: (channel: ServerChannel) => void): void {
  const handle = Buffer.from('1')
  client.on('session', (accept) => {
    const session = accept()
    session.on('exec', (acceptExec) => answer(acceptExec()))
    session.on('sftp', (acceptSftp) => {
      const sftp = acceptSftp()
      const yes = (id: number): void => sftp.status(id, 0)
      sftp.on('MKDIR', yes).on('WRITE', yes).on('CLOSE', yes).on('FSETSTAT', yes).on('SETSTAT', yes)
      sftp.on('OPEN', (id) => sftp.handle(id, handle))
    })
  })
}
