import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { test } from 'node:test'
import { createTestNetwork, until, type TestHost } from '@skerry/testing'

const skip = process.getuid?.() !== 0 && 'needs root'

const program = new URL('../testing/announcer-process.ts', import.meta.url).pathname

interface Announcing {
  readonly child: ChildProcess
  readonly output: () => string
}

/** Starts a process that is to announce an address, and that ends with the network. */
function announceOn(host: TestHost, address: string): Announcing {
  const child = host.start([process.execPath, program, host.address, address])
  const parts: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => parts.push(part.toString()))
  return { child, output: () => parts.join('') }
}

/** Returns the hardware address by which a host knows an address, after it has asked for it. */
async function ownerSeenBy(host: TestHost, address: string): Promise<string> {
  await host.run(['busybox', 'ping', '-c', '1', '-W', '1', address])
  return neighbourOf(host, address)
}

async function neighbourOf(host: TestHost, address: string): Promise<string> {
  const { stdout } = await host.run(['ip', '-json', 'neighbour', 'show', address])
  const [entry] = JSON.parse(stdout === '' ? '[]' : stdout) as { lladdr?: string }[]
  return entry?.lladdr ?? ''
}

test(
  'an address is announced by one machine, and moves when its process dies or hangs',
  { skip },
  async (t) => {
    await using network = await createTestNetwork()
    const [first, second, client] = await Promise.all([1, 2, 3].map((at) => network.addHost(at)))
    assert.ok(first && second && client)
    const address = first.address.replace(/\d+$/, '240')
    const [ofFirst = '', ofSecond = ''] = await Promise.all(
      [first, second].map((host) => ownerSeenBy(client, host.address)),
    )
    const one = announceOn(first, address)
    const isHeld = ({ output }: Announcing): boolean => output().includes(`held ${address}`)
    await until(() => isHeld(one))

    await t.test('others of the link reach it', async () => {
      assert.equal(await ownerSeenBy(client, address), ofFirst)
    })
    const other = announceOn(second, address)
    await t.test('another machine does not take it, and says whose it is', async () => {
      await until(() => other.output().includes('another machine has it'))
      assert.ok(other.output().includes(ofFirst))
      assert.equal(isHeld(other), false)
    })
    await t.test(
      'a machine whose process hangs loses it, and the link learns of the new place',
      async () => {
        one.child.kill('SIGSTOP')
        await until(() => isHeld(other))
        // Nobody asks: the client is told.
        await until(async () => (await neighbourOf(client, address)) === ofSecond)
        assert.equal(await ownerSeenBy(client, address), ofSecond)
      },
    )
    await t.test('the former holder does not take it back when it goes on', async () => {
      one.child.kill('SIGCONT')
      await until(() => one.output().includes('another machine has it'))
      assert.equal(await ownerSeenBy(client, address), ofSecond)
    })
  },
)
