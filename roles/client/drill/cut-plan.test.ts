import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestNetwork, until, type TestHost } from '@skerry/testing'
import { judgeCut, planCutTable, type CutStory, type Look } from './cut-plan.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root: it makes network namespaces'

const web = { id: 'a1', pod: 'shop/web', name: 'main' }
const calm: Look = {
  atMs: 0,
  running: [web],
  hasLocalApi: true,
  hasDns: true,
  reachesControlPlane: true,
}
const away = { ...calm, reachesControlPlane: false }
const good: CutStory = {
  before: calm,
  during: [
    { ...away, atMs: 1_000 },
    { ...away, atMs: 2_000 },
  ],
  after: [{ ...calm, atMs: 3_000 }],
  leaseMs: 400,
}

test('a cut that nothing has noticed is reported as such, for the node, its services and each pod', () => {
  assert.deepEqual(
    judgeCut(good).map(({ subject, result }) => `${subject}: ${result}`),
    ['node: goes on', 'DNS: goes on', 'local API: goes on', 'shop/web: goes on'],
  )
})

test('a cut names each container that ended and each service without an answer, with the times', () => {
  const gone: Look = { ...away, atMs: 1_000, running: [] }
  const again: Look = { ...away, atMs: 2_000, running: [{ ...web, id: 'a2' }] }
  const table: [story: Partial<CutStory>, subject: string, result: string, reason: RegExp][] = [
    [
      { during: [gone], after: [] },
      'shop/web',
      'breaks',
      /^container main ended 1 s after the cut began, and does not run again$/,
    ],
    [{ during: [gone, again] }, 'shop/web', 'breaks', /ended 1 s .*, and runs again since 2 s$/],
    [{ after: [{ ...calm, atMs: 9_000, running: [] }] }, 'shop/web', 'breaks', /ended 9 s/],
    [
      { during: [{ ...away, atMs: 1_000, hasDns: false }] },
      'DNS',
      'in part',
      /no answer 1 of 2 times, first 1 s/,
    ],
    [
      { during: [{ ...away, hasLocalApi: false }], after: [] },
      'local API',
      'breaks',
      /no answer 1 of 1 times/,
    ],
    [{ during: [calm] }, 'node', 'in part', /reached its control plane during the cut/],
    [{ during: [{ ...away, running: undefined }] }, 'node', 'in part', /containerd did not answer/],
    [{ leaseMs: undefined }, 'node', 'breaks', /lease was not renewed/],
  ]
  for (const [change, subject, result, reason] of table) {
    const found = judgeCut({ ...good, ...change }).find((each) => each.subject === subject)
    assert.equal(found?.result, result, subject)
    assert.match(found?.reasons.join('; ') ?? '', reason)
  }
  const noApi = { ...good, before: { ...calm, hasLocalApi: undefined, hasDns: false } }
  assert.deepEqual(
    judgeCut(noApi).map(({ subject }) => subject),
    ['node', 'shop/web'],
  )
})

test(
  'a cut closes the API and no other port, in both directions, and the kernel ends it by itself',
  { skip },
  async () => {
    await using network = await createTestNetwork()
    const [site, node] = [await network.addHost(1), await network.addHost(2)]
    const listen = (host: TestHost, ports: readonly number[]) => {
      const script = `for (const port of ${JSON.stringify(ports)}) require('net').createServer((s) => s.end()).listen(port)`
      host.start([process.execPath, '-e', script], { stdio: 'ignore' })
    }
    listen(site, [6443, 7000])
    listen(node, [10_250])
    const reaches = async (from: TestHost, to: TestHost, port: number): Promise<boolean> => {
      const open = ['bash', '-c', 'exec 3<>/dev/tcp/$0/$1', to.address, String(port)]
      return (await from.run(['timeout', '1', ...open])).exitCode === 0
    }
    const all = async (): Promise<boolean[]> =>
      Promise.all([
        reaches(node, site, 6443),
        reaches(site, node, 10_250),
        reaches(node, site, 7000),
      ])
    await until(async () => (await all()).every(Boolean))
    const servers = [
      { address: site.address, port: 6443 },
      { address: 'fd00::1', port: 6443 },
    ]
    const input = planCutTable(servers, { kubeletPort: 10_250, forMs: 4_000 })
    const { exitCode, stderr } = await node.run(['nft', '-f', '-'], { input })
    assert.equal(exitCode, 0, stderr)
    assert.deepEqual(await all(), [false, false, true])
    await until(async () => (await all()).every(Boolean))
  },
)
