/** A jump host may be hostile, too: whatever it does ends in a ShellError that names it, soon and in little memory. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import type { Connection } from 'ssh2'
import type { Clock } from '@skerry/base'
import { failOnUncaught } from '@skerry/testing'
import type { Shell } from '../contract/shell.ts'
import type { ShellFault } from '../kind/shell-fault.ts'
import {
  block,
  faultOf,
  Mute,
  pour,
  rawServer,
  sshServer,
  type Scene,
} from '../testing/hostile-servers.ts'
import { sshJumps } from './ssh-jumps.ts'
import { sshShells } from './ssh-shell.ts'

const { signal } = new AbortController()
const password = 'a-password'

failOnUncaught()

/** Opens a machine through the jump host. */
async function openThrough(jumpPort: number, clock: Clock, isKnown = true): Promise<Shell> {
  const login = { user: 'root', port: jumpPort, password }
  const request = { address: '127.0.0.1', login, isHostKeyAccepted: () => true }
  await using jump = await sshJumps({ clock })(request, signal)
  const machine = {
    address: '10.9.8.7',
    login: { ...login, port: 22 },
    isHostKeyAccepted: () => isKnown,
    way: { text: 'through jump host 127.0.0.1', dial: jump.dial.bind(jump) },
  }
  return await sshShells({ clock })(machine, signal)
}

const jumps: readonly [
  title: string,
  make: (mute: () => void) => Promise<Scene>,
  fault: ShellFault,
  message: RegExp,
][] = [
  [
    'greets without end',
    () => rawServer((socket) => pour(socket, 'hello\r\n'.repeat(9_000))),
    'unreachable',
    /^Cannot open jump host 127\.0\.0\.1:\d+: /,
  ],
  [
    'never says a word',
    (mute) => rawServer(() => mute()),
    'unreachable',
    /^Cannot open jump host 127\.0\.0\.1:\d+: no login in 20 s/,
  ],
  [
    'refuses the login',
    () =>
      sshServer((client) =>
        client
          .removeAllListeners('authentication')
          .on('authentication', (context) => context.reject()),
      ),
    'login',
    /^Cannot log in to jump host 127\.0\.0\.1:\d+ as root: the jump host accepts neither/,
  ],
  [
    'forwards nothing',
    () => sshServer((client) => client.on('tcpip', (_, refuse) => refuse())),
    'unreachable',
    /^Cannot reach 10\.9\.8\.7:22 through jump host 127\.0\.0\.1:\d+: /,
  ],
  [
    'never answers a request to forward',
    (mute) => sshServer((client) => client.on('tcpip', () => mute())),
    'unreachable',
    /^Cannot open 10\.9\.8\.7:22 through jump host 127\.0\.0\.1: no login in 20 s/,
  ],
  [
    'ends the connection instead of forwarding',
    () => sshServer((client) => client.on('tcpip', () => client.end())),
    'unreachable',
    /^Cannot reach 10\.9\.8\.7:22 through jump host \S+: the connection to the jump host broke/,
  ],
  [
    'pours bytes into the connection',
    () => sshServer((client) => client.on('tcpip', (accept) => pour(accept(), block))),
    'unreachable',
    /^Cannot open 10\.9\.8\.7:22 through jump host/,
  ],
  [
    'closes the connection at once',
    () => sshServer((client) => client.on('tcpip', (accept) => accept().end())),
    'unreachable',
    /^Cannot open 10\.9\.8\.7:22 through jump host/,
  ],
]

for (const [title, make, fault, message] of jumps) {
  test(
    `a jump host that ${title} ends in an error that names it`,
    { timeout: 30_000 },
    async () => {
      const mute = new Mute()
      await using scene = await make(mute.now)
      const error = await faultOf(mute, (clock) => openThrough(scene.port, clock))
      assert.equal(error.fault, fault, error.message)
      assert.match(error.message, message)
    },
  )
}

test('a jump host that forwards elsewhere is found out before a password is sent', async () => {
  const asked: string[] = []
  await using elsewhere = await sshServer((client) =>
    client.on('authentication', ({ method }) => asked.push(method)),
  )
  await using scene = await sshServer((client: Connection) =>
    client.on('tcpip', (accept) => {
      const channel = accept()
      const socket = connect(elsewhere.port, '127.0.0.1')
      for (const each of [channel, socket]) each.on('error', () => undefined)
      channel.pipe(socket).pipe(channel)
    }),
  )
  const error = await faultOf(new Mute(), (clock) => openThrough(scene.port, clock, false))
  assert.equal(error.fault, 'host-key')
  assert.match(
    error.message,
    /^Cannot open 10\.9\.8\.7:22 through jump host 127\.0\.0\.1: its host key/,
  )
  assert.deepEqual(asked, [])
})
