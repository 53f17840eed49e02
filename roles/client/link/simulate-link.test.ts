import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { createTestNetwork, until, type TestHost } from '@skerry/testing'
import { runCommand } from './kernel-commands.ts'
import { endSimulation } from './simulate-link.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root: it makes network namespaces'
const program = join(import.meta.dirname, '../../../cmd/skerry.ts')
const signal = new AbortController().signal

async function begin(host: TestHost, ...faults: string[]): Promise<ChildProcess> {
  const place = ['--netns', host.netns, '--interface', 'eth0']
  const args = ['--disable-warning=ExperimentalWarning', program, 'simulate', 'link']
  const child = spawn(process.execPath, [...args, ...place, ...faults], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`skerry simulate link ended with ${code}`)
  })
  await Promise.race([once(child.stdout, 'data'), failed])
  failed.catch(() => undefined)
  return child
}

async function end(child: ChildProcess, signalName: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, 'exit')
  child.kill(signalName)
  await exited
  return child.exitCode
}

/** The rules and queues of a host's interface, as the kernel has them. */
async function kernelOf(host: TestHost): Promise<string> {
  const rules = await host.run(['nft', 'list', 'ruleset'])
  const queue = await host.run(['tc', 'qdisc', 'show', 'dev', 'eth0', 'root'])
  return `${rules.stdout}${queue.stdout}`
}

test('a program of the machine that is interrupted ends with the reason, at whatever moment', async () => {
  const stop = new AbortController()
  const reason = new Error('interrupted')
  const running = runCommand(['sleep', '30'], stop.signal)
  stop.abort(reason)
  await assert.rejects(running, (error) => error === reason)
})

test(
  'a bad link is bad in both directions, and as before when the command ends or is killed',
  { skip },
  async () => {
    await using network = await createTestNetwork()
    const [near, far] = [await network.addHost(1), await network.addHost(2)]
    const pings = async (from: TestHost, to: TestHost): Promise<boolean> =>
      (await from.run(['busybox', 'ping', '-c1', '-W1', to.address])).exitCode === 0
    const before = await kernelOf(near)
    assert.ok(await pings(near, far))

    const lossy = await begin(near, '--loss', '100%', '--rate', '1mbit')
    assert.match(await kernelOf(near), /qdisc (tbf|netem)/)
    assert.equal(await pings(near, far), false)
    assert.equal(await pings(far, near), false)
    assert.equal(await end(lossy, 'SIGINT'), 0)
    assert.equal(await kernelOf(near), before)
    assert.ok(await pings(near, far))

    const killed = await begin(near, '--loss', '100%', '--rate', '1mbit')
    await end(killed, 'SIGKILL')
    await until(async () => (await kernelOf(near)) === before)
  },
)

test(
  'a link that is cut comes back by itself, and --off ends a simulation without a process',
  { skip },
  async () => {
    await using network = await createTestNetwork()
    const host = await network.addHost(1)
    const before = await kernelOf(host)
    const child = await begin(host, '--cut-every', '500ms', '--cut-for', '250ms')
    await until(async () => / expires /.test(await kernelOf(host)))
    await until(async () => !/ expires /.test(await kernelOf(host)))
    assert.equal(await end(child, 'SIGTERM'), 0)
    assert.equal(await kernelOf(host), before)

    const lines: string[] = []
    const deps = { clock: systemClock, print: (line: string) => void lines.push(line) }
    const place = { interface: 'eth0', netns: host.netns }
    await host.run(['nft', 'add', 'table', 'inet', 'skerry_link_eth0'])
    await host.run([
      'tc',
      'qdisc',
      'add',
      'dev',
      'eth0',
      'root',
      'tbf',
      'rate',
      '1mbit',
      'burst',
      '32kb',
      'latency',
      '1ms',
    ])
    await endSimulation(place, deps, signal)
    assert.equal(await kernelOf(host), before)
    await endSimulation(place, deps, signal)
    assert.deepEqual(lines, [
      `The link eth0 in ${host.netns} is as before`,
      `The link eth0 in ${host.netns} is not simulated`,
    ])
  },
)
