/** A hub opens machines that others may hold: whatever they answer ends in a ShellError, soon and in little memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection, ServerChannel, SFTPWrapper } from 'ssh2'
import { failOnUncaught } from '@skerry/testing'
import type { Shell } from '../contract/shell.ts'
import type { ShellFault } from '../kind/shell-fault.ts'
import {
  block,
  faultOf,
  Mute,
  oddGroupServer,
  pour,
  rawServer,
  sshServer,
  type Scene,
} from '../testing/hostile-servers.ts'
import { sshShells } from './ssh-shell.ts'

const { signal } = new AbortController()

failOnUncaught()

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
  ['chooses a prime that takes a processor for many seconds', oddGroupServer, ['unreachable']],
  [
    'compresses all that it sends, by which little becomes much',
    (mute) => sshServer((client) => client.on('session', () => mute()), { compress: ['zlib'] }),
    ['unreachable'],
  ],
  [
    'compresses all that it sends after the login',
    (mute) =>
      sshServer((client) => client.on('session', () => mute()), {
        compress: ['zlib@openssh.com'],
      }),
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
    'makes nobody root, and lists its files without end',
    () =>
      sshServer((client) =>
        withFiles(client, (channel) => {
          channel.exit(1)
          channel.end()
        }),
      ),
    ['root'],
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
    const beganMs = performance.now()
    await using scene = await make(mute.now)
    const login = { user: 'root', port: scene.port, password: 'a-password' }
    const request = { address: '127.0.0.1', login, isHostKeyAccepted: () => true }
    const error = await faultOf(mute, async (clock) => {
      await using shell = await sshShells({ clock })(request, signal)
      await open(shell)
    })
    assert.ok(faults.includes(error.fault), `${error.fault}: ${error.message}`)
    // A machine that keeps the hub's only thread busy keeps everybody waiting.
    assert.ok(performance.now() - beganMs < 10_000, 'it takes little time')
  })
}

function withSftp(client: Connection, answer: (sftp: SFTPWrapper) => void): void {
  client.on('session', (accept) => {
    accept().on('sftp', (acceptSftp) => answer(acceptSftp()))
  })
}

const names = Array.from({ length: 200 }, (_, at) => {
  const attrs = { mode: 0o100600, uid: 0, gid: 0, size: 1, atime: 0, mtime: 0 }
  return { filename: `file-${at}`, longname: '', attrs }
})

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
      sftp
        .on('OPEN', (id) => sftp.handle(id, handle))
        .on('OPENDIR', (id) => sftp.handle(id, handle))
      sftp
        .on('REMOVE', yes)
        .on('RMDIR', yes)
        .on('READDIR', (id) => sftp.name(id, names))
    })
  })
}
