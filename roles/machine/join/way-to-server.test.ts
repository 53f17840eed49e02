import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { createAuthority, spkiHash } from '@skerry/pki'
import { startTestProxy } from '@skerry/testing'
import { freshToken, startTestHub } from '../../../testing/scenes/test-fleet.ts'
import type { JoinOptions } from './join-options.ts'
import { firstSteps, ownMachine } from './own-machine.ts'
import { writeProxyFiles } from './way-to-server.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const deps = () => ({
  clock: systemClock,
  log: silentLogger,
  print: () => undefined,
  signal: soon(),
})
const password = `p%4:"s'$x with spaces`

const plain: Omit<JoinOptions, 'server' | 'caHash' | 'token'> = {
  clusterName: 'branch-7',
  network: { podCIDR: '10.42.0.0/16', serviceCIDR: '10.43.0.0/16', dnsDomain: 'cluster.local' },
  networkInterface: undefined,
  labels: {},
  taints: [],
  way: { proxy: undefined, proxyCredentialsFile: undefined, noProxy: [], isInspected: false },
  offline: undefined,
  apiPort: 6_443,
}

test('a machine proves its hub and its token through a proxy that wants a login and opens TLS', async () => {
  await using fleet = await startTestHub({ allowInspectedTls: true })
  const dates = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 }
  const authority = await createAuthority({ subject: { commonName: 'Box' }, ...dates })
  const inspection = { authority, read: [] as Buffer[] }
  await using proxy = await startTestProxy({ login: `olga:${password}`, inspection })
  const directory = await mkdtemp(join(tmpdir(), 'skerry-join-way-'))
  try {
    const file = join(directory, 'login')
    await writeFile(file, `olga:${password}\n`)
    const token = await freshToken(fleet, 'branch-7')
    const way = { ...plain.way, proxy: proxy.url, proxyCredentialsFile: file, isInspected: true }
    const caHash = spkiHash(fleet.caPem)
    const options = { ...plain, server: fleet.url, caHash, token, way }
    const joining = await ownMachine('Master', options, deps())
    assert.equal(joining.context.machine.address, '127.0.0.1')
    const steps = firstSteps(
      options,
      { ...joining, nodeName: 'a' },
      { tokenCommand: 'x', deps: deps() },
    )
    const check = steps.find(({ does }) => does.startsWith('check https'))
    assert.match((await check?.act()) ?? '', /and knows the token/)
    assert.deepEqual([...new Set(proxy.asked)], [new URL(fleet.url).host])
    const read = Buffer.concat(inspection.read).toString('latin1')
    assert.ok(!read.includes(token.slice(7)), 'the box has read the token')
    // Without the word the box is found out, and nothing goes past it.
    const open = { ...options, way: { ...way, isInspected: false } }
    const seen = await ownMachine('Master', open, deps())
    const [, other] = firstSteps(
      open,
      { ...seen, nodeName: 'a' },
      { tokenCommand: 'x', deps: deps() },
    )
    await assert.rejects(async () => other?.act(), /Cannot join/)
  } finally {
    await rm(directory, { recursive: true })
  }
})

const places: readonly ['Master' | 'Node', string[]][] = [
  ['Master', ['10.42.0.0/16', '.svc', 'mirror.example', '127.0.0.1']],
  ['Node', ['10.42.0.0/16', '.svc', 'mirror.example', '127.0.0.1', 'localhost']],
]
for (const [role, direct] of places) {
  test(`the units and apt of a ${role} get the proxy with its login, and reach the cluster directly`, async () => {
    await using fleet = await startTestHub()
    await using proxy = await startTestProxy({ login: `olga:${password}` })
    const directory = await mkdtemp(join(tmpdir(), 'skerry-join-way-'))
    try {
      const file = join(directory, 'login')
      await writeFile(file, `olga:${password}\n`)
      const noProxy = ['mirror.example']
      const way = { ...plain.way, proxy: proxy.url, proxyCredentialsFile: file, noProxy }
      const options = { ...plain, server: fleet.url, caHash: '', token: 'x', way }
      const printed: string[] = []
      const print = (line: string): void => void printed.push(line)
      const { context } = await ownMachine(role, options, { ...deps(), print })
      const written = new Map<string, string>()
      const shell = {
        ...context.shell,
        async write(path: string, content: Uint8Array | string, mode: number): Promise<void> {
          assert.equal(mode, 0o600)
          written.set(path, String(content))
        },
      }
      const apt = await writeProxyFiles(options, { ...context, shell })
      assert.equal(apt, '/etc/skerry/apt.conf')
      const environment = written.get('/etc/skerry/proxy.env') ?? ''
      const url = new URL(/^https_proxy=(.*)$/m.exec(environment)?.[1] ?? '')
      assert.deepEqual(
        [url.host, decodeURIComponent(url.password)],
        [new URL(proxy.url).host, password],
      )
      const entries = /^no_proxy=(.*)$/m.exec(environment)?.[1]?.split(',') ?? []
      assert.deepEqual(
        direct.filter((each) => !entries.includes(each)),
        [],
      )
      assert.match(
        written.get('/etc/skerry/apt.conf') ?? '',
        /Acquire::http::Proxy "http:\/\/olga:/,
      )
      context.print(`it is ${password}`)
      assert.deepEqual(printed, ['  it is [redacted]'])
    } finally {
      await rm(directory, { recursive: true })
    }
  })
}
