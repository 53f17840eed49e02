import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '@skerry/base'
import {
  createTestNetwork,
  startTestMachine,
  until,
  whyNoMachine,
  type TestMachine,
} from '@skerry/testing'
import { ShellError } from '../contract/shell.ts'
import type { Jump } from '../contract/ways.ts'
import { shellContract, type ShellSubject } from '../testing/shell-contract.ts'
import { startWay } from '../testing/host-way.ts'
import { sshJumps } from './ssh-jumps.ts'
import { sshShells } from './ssh-shell.ts'

const skip = await whyNoMachine()
const clock = systemClock
const { signal } = new AbortController()
const stack = new AsyncDisposableStack()

let gate: TestMachine
let machine: TestMachine
let jump: Jump

async function openGate(port: number): Promise<Jump> {
  const login = { user: 'keeper', password: gate.passwords.keeper, port }
  const shown = await gate.hostKey()
  const request = { address: '127.0.0.1', login, isHostKeyAccepted: (key: string) => key === shown }
  return sshJumps({ clock })(request, signal)
}

async function openMachine(port = 22): Promise<ShellSubject> {
  const shown = await machine.hostKey()
  const login = { user: 'root', password: machine.passwords.root, port }
  const way = { text: 'through jump host gate', dial: jump.dial.bind(jump) }
  const { address } = machine
  const request = { address, login, way, isHostKeyAccepted: (key: string) => key === shown }
  const shell = await sshShells({ clock })(request, signal)
  return {
    shell,
    async plant(path, content) {
      await machine.ask(['sh', '-c', 'cat >"$1"', 'sh', path], { input: content })
    },
    [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose](),
  }
}

describe('through a real sshd', { skip, timeout: 200_000 }, () => {
  let port: number
  before(async () => {
    const network = stack.use(await createTestNetwork())
    const [gateHost, host] = [await network.addHost(1), await network.addHost(2)]
    gate = stack.use(await startTestMachine(gateHost, 'gate'))
    machine = stack.use(await startTestMachine(host, 'behind'))
    port = stack.use(await startWay(gateHost)).port
    jump = stack.use(await openGate(port))
  })
  after(() => stack.disposeAsync())

  shellContract('OpenSSH behind a jump host', () => openMachine())

  test('machines share the login on the jump host, and their connections are counted', async () => {
    {
      await using one = await openMachine()
      await using other = await openMachine()
      assert.equal(jump.channels, 2)
      const logins = await gate.ask(['pgrep', '-c', '-f', 'sshd: keeper$'])
      assert.equal(logins, '1\n')
      await Promise.all([one.shell.run(['true']), other.shell.run(['true'])])
    }
    await until(async () => jump.channels === 0)
  })

  test('a machine that does not answer is named with the jump host', async () => {
    await assert.rejects(openMachine(1), (error) => {
      assert.ok(error instanceof ShellError)
      assert.equal(error.fault, 'unreachable')
      assert.match(
        error.message,
        /^Cannot reach \S+:1 through jump host 127\.0\.0\.1:\d+: it does not reach the machine/,
      )
      return true
    })
    assert.equal(jump.channels, 0)
  })

  test('a jump host that forbids forwarding says so', async () => {
    const file = '/etc/ssh/sshd_config.d/no-forwarding.conf'
    await gate.ask(['sh', '-c', `echo AllowTcpForwarding no >${file}; systemctl reload ssh`])
    await using closed = await openGate(port)
    await gate.ask(['sh', '-c', `rm ${file}; systemctl reload ssh`])
    const dialled = closed.dial({ address: machine.address, port: 22 }, signal)
    await assert.rejects(dialled, /it does not forward connections; allow it there/)
  })

  test('a jump host that breaks off ends the commands behind it', async () => {
    const subject = await openMachine()
    const running = assert.rejects(subject.shell.run(['sleep', '987651']), ShellError)
    const sleeps = async (): Promise<boolean> =>
      (await machine.run(['pgrep', '-f', 'sleep 98765[1]'])).exitCode === 0
    await until(sleeps)
    await gate.ask(['pkill', '-KILL', '-f', 'sshd: keeper$'])
    await running
    assert.equal(jump.isBroken, true)
    await until(async () => !(await sleeps()))
    await subject[Symbol.asyncDispose]()
  })
})
