/** Tests hub and agent at the ends of a link that loses packets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTestNetwork, type TestHost } from '@skerry/testing'
import { whyNot } from './prerequisites.ts'

const skip = await whyNot()
const numbers = Array.from({ length: 30 }, (_, number) => `${number} `).join('')

/** The verdicts on packets from the other host. */
const verdicts = Object.freeze({
  oneOfTenLost: 'numgen random mod 10 < 1 drop',
  allLost: 'drop',
  noneLost: 'accept',
})

/** Sets the link's verdict at both ends. */
async function setLink(hosts: readonly TestHost[], verdict: keyof typeof verdicts): Promise<void> {
  for (const host of hosts) {
    const input = `
      table inet loss
      delete table inet loss
      table inet loss {
        chain arriving {
          type filter hook input priority 0
          iifname "eth0" ${verdicts[verdict]}
        }
      }`
    const { exitCode, stderr } = await host.run(['nft', '-f', '-'], { input })
    assert.equal(exitCode, 0, stderr)
  }
}

function startScript(host: TestHost, script: string, args: readonly string[]) {
  const command = [process.execPath, join(import.meta.dirname, script), ...args]
  const child = host.start(command, { stdio: ['pipe', 'pipe', 'pipe'] })
  assert.ok(child.stdin && child.stdout && child.stderr)
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    order: (line: string) => void child.stdin?.write(`${line}\n`),
    errors: () => errors,
    async next(): Promise<Record<string, unknown>> {
      const { value, done } = await lines.next()
      if (done === true || value === undefined) throw new Error(`It ended: ${errors}`)
      return JSON.parse(value)
    },
  }
}

test('a link that loses packets', { skip, timeout: 120_000 }, async (t) => {
  await using network = await createTestNetwork()
  const hosts = [await network.addHost(1), await network.addHost(2)] as const
  const [cloud, edge] = hosts
  for (const host of hosts) {
    // Sends small packets only, so that each one is lost separately and not with the others of a large one
    // that is cut later.
    const single = ['ip', 'link', 'set', 'eth0', 'gso_max_segs', '1']
    const { exitCode, stderr } = await host.run(single)
    assert.equal(exitCode, 0, stderr)
  }
  const hub = startScript(cloud, 'lossy-link-cloud.ts', [cloud.address])
  const known = await hub.next()
  await setLink(hosts, 'oneOfTenLost')
  const given = [known['hub'], known['token'], known['caHash']].map(String)
  const agent = startScript(edge, 'thin-link-edge.ts', given)
  await t.test(
    'one packet in ten lost: an agent registers, and every request is answered',
    async () => {
      assert.deepEqual(
        await hub.next(),
        { did: 'requests', answered: 30, bytes: 60 },
        agent.errors(),
      )
    },
  )
  await t.test('one packet in ten lost: a watch goes on, and typing arrives whole', async () => {
    const { did, echo, isSameTunnel } = await hub.next()
    assert.deepEqual([did, echo, isSameTunnel], ['streams', numbers, true], agent.errors())
  })
  await t.test('one packet in ten lost: a large answer arrives whole', async () => {
    const whole = { did: 'bulk', status: 200, bytes: 1_000_000, isSameTunnel: true }
    assert.deepEqual(await hub.next(), whole, agent.errors())
  })
  await t.test(
    'all packets lost for seconds: this is reported, and everything goes on in the same tunnel',
    async () => {
      await setLink(hosts, 'allLost')
      hub.order('ask')
      assert.deepEqual(await hub.next(), { did: 'burst', status: 503 })
      await setLink(hosts, 'noneLost')
      hub.order('go on')
      assert.deepEqual(await hub.next(), { did: 'back', isSameTunnel: true }, agent.errors())
    },
  )
})
