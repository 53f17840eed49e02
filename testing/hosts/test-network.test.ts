import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestNetwork } from './test-network.ts'

const isRoot = process.getuid?.() === 0

test(
  'hosts reach each other, nothing outside, and not through a cut cable',
  { skip: !isRoot && 'needs root' },
  async () => {
    await using network = await createTestNetwork()
    const first = await network.addHost(1)
    const second = await network.addHost(2)
    const ping = (): Promise<{ exitCode: number }> =>
      first.run(['busybox', 'ping', '-c', '1', '-W', '1', second.address])
    assert.equal((await ping()).exitCode, 0)
    assert.equal((await first.run(['ip', 'route', 'get', '192.0.2.1'])).exitCode, 2)
    await second.cut()
    assert.equal((await ping()).exitCode, 1)
    await second.restore()
    assert.equal(
      (await first.run(['busybox', 'ping', '-c', '3', '-W', '2', second.address])).exitCode,
      0,
    )
  },
)

test(
  'a reboot kills all processes, empties /run and changes the boot id',
  { skip: !isRoot && 'needs root' },
  async () => {
    await using network = await createTestNetwork()
    const host = await network.addHost(1)
    const bootId = async (): Promise<string> =>
      (await host.run(['cat', '/proc/sys/kernel/random/boot_id'])).stdout.trim()
    const before = await bootId()
    const child = host.start(['sleep', '1000'], { stdio: 'ignore' })
    const ended = new Promise<NodeJS.Signals | null>((resolve) =>
      child.on('exit', (_, signal) => resolve(signal)),
    )
    await host.run(['touch', '/run/mark'])
    await host.reboot()
    assert.equal(await ended, 'SIGKILL')
    assert.notEqual(await bootId(), before)
    assert.notEqual((await host.run(['ls', '/run/mark'])).exitCode, 0)
  },
)
