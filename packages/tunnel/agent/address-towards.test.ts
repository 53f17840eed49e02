/** A tunnel reacts to the addresses that the kernel reports for a machine. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTestNetwork, type TestHost } from '@skerry/testing'

const skip = process.getuid?.() === 0 ? false : 'needs root: network namespaces'

const echo = `
  const server = require('node:net').createServer((socket) => socket.on('error', () => {}).pipe(socket))
  server.listen(0, () => console.log(server.address().port))`

async function run(host: TestHost, ...commands: string[]): Promise<void> {
  const { exitCode, stderr } = await host.run(['sh', '-ec', commands.join('\n')])
  assert.equal(exitCode, 0, stderr)
}

function startLines(host: TestHost, command: readonly string[]) {
  const { stdin, stdout } = host.start(command, { stdio: ['pipe', 'pipe', 'inherit'] })
  assert.ok(stdin && stdout)
  const lines = createInterface(stdout)[Symbol.asyncIterator]()
  const next = async (): Promise<string> => String((await lines.next()).value)
  return {
    next,
    ask(line: string): Promise<string> {
      stdin.write(`${line}\n`)
      return next()
    },
  }
}

/** A machine with a cable to its peer and a bridge for pods, and a connection by the cable. */
async function startScene() {
  await using stack = new AsyncDisposableStack()
  const network = stack.use(await createTestNetwork())
  const peer = await network.addHost(1)
  const machine = await network.addHost(2)
  await run(
    machine,
    'ip link add cni0 type bridge',
    'ip link add pod0 type veth peer name pod1',
    'ip link set pod1 up; ip link set pod0 master cni0 up',
    'ip address add 10.244.1.1/24 dev cni0; ip link set cni0 up',
  )
  const port = await startLines(peer, [process.execPath, '-e', echo]).next()
  const program = join(import.meta.dirname, '../testing/watched-connection.ts')
  const options = '--disable-warning=ExperimentalWarning'
  const connection = startLines(machine, [process.execPath, options, program, peer.address, port])
  assert.equal(await connection.next(), 'open')
  const owned = stack.move()
  return { machine, connection, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function lookOften(to: ReturnType<typeof startLines>): Promise<string[]> {
  return [await to.ask('look'), await to.ask('look'), await to.ask('look')]
}

test(
  'a machine with pods whose cable is out for a while keeps its connection; one that has moved does not',
  { skip, timeout: 60_000 },
  async () => {
    await using scene = await startScene()
    const { machine, connection } = scene
    assert.equal(await connection.ask('before'), 'before')
    await machine.cut()
    assert.equal(await connection.ask('down'), 'down')
    assert.deepEqual(await lookOften(connection), ['open', 'open', 'open'])
    await machine.restore()
    assert.equal(await connection.ask('up'), 'up')
    assert.equal(await connection.ask('after'), 'after')
    await machine.cut()
    assert.equal(await connection.ask('down'), 'down')
    await run(
      machine,
      'ip link add wwan0 type veth peer name wwan1; ip link set wwan1 up; ip link set wwan0 up',
      'ip address add 10.98.7.2/24 dev wwan0',
      'ip route flush dev eth0; ip route add default dev wwan0',
    )
    const lost = `this machine has lost the address ${machine.address}, and has another`
    assert.deepEqual(await lookOften(connection), ['open', lost, lost])
  },
)

test(
  'a machine that gets another address on the same cable ends connections from the old one',
  { skip, timeout: 60_000 },
  async () => {
    await using scene = await startScene()
    const { machine, connection } = scene
    const { address } = machine
    await run(machine, `ip address del ${address}/24 dev eth0`)
    assert.deepEqual(await lookOften(connection), ['open', 'open', 'open'])
    await run(machine, `ip address add ${address.replace(/\d+$/, '99')}/24 dev eth0`)
    const lost = `this machine has lost the address ${address}, and has another`
    assert.deepEqual(await lookOften(connection), ['open', lost, lost])
  },
)
