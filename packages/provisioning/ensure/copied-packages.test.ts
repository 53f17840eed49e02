import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import {
  createTestNetwork,
  startTestMachine,
  whyNoMachine,
  type TestMachine,
} from '@skerry/testing'
import type { MachinePackage } from '../contract/machine-package.ts'
import type { DigestedFile, Shell } from '../contract/shell.ts'
import type { HubSide, MachineContext } from '../contract/step.ts'
import type { EdgeCluster } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import { sshShells } from '../shell/ssh-shell.ts'
import { startWay, type HostWay } from '../testing/host-way.ts'
import { copyPackage } from './copy-package.ts'

const skip = await whyNoMachine()
const openShell = sshShells({ clock: systemClock })
const { signal } = new AbortController()
const stack = new AsyncDisposableStack()

let machine: TestMachine
let way: HostWay
let scratch: string

const edge: EdgeCluster = {
  apiVersion: 'hub.skerry.io/v1alpha1',
  kind: 'EdgeCluster',
  metadata: { name: 'edge', namespace: 'default' },
  spec: {
    machines: [{ addresses: ['127.0.0.1'], credentials: { name: 'ssh' }, role: 'Master' }],
    package: { digest: `sha256:${'0'.repeat(64)}`, publicKey: '' },
  },
}
const [planned] = machinesOf(edge.spec)

async function fileOf(content: Buffer): Promise<DigestedFile> {
  const sha256 = createHash('sha256').update(content).digest('hex')
  await writeFile(join(scratch, sha256), content)
  return { from: join(scratch, sha256), sha256, bytes: content.length }
}

/** The step on the machine, with a hub that has this package. */
async function copy(files: readonly DigestedFile[]): Promise<string> {
  await using shell: Shell = await openShell(
    {
      address: '127.0.0.1',
      login: { user: 'keeper', password: machine.passwords.keeper, port: way.port },
      isHostKeyAccepted: () => true,
    },
    signal,
  )
  const found: MachinePackage = {
    manifest: Buffer.from('{}'),
    signature: Buffer.from('x'),
    program: { version: '1', files: [], launcher: () => '' },
    debs: [],
    images: files,
  }
  // These are all that the step uses.
  const hub = { package: async () => found } as unknown as HubSide
  assert.ok(planned)
  const context: MachineContext = {
    edge,
    machines: [planned],
    master: planned,
    machine: planned,
    shell,
    hub,
    shellOf: async () => shell,
    alone: (act) => act(),
    print: () => undefined,
    conceal: () => undefined,
    known: () => [],
    record: () => undefined,
    clock: systemClock,
    log: silentLogger,
    signal,
  }
  return await copyPackage(context)
}

describe('packages are copied to a real machine', { skip, timeout: 200_000 }, () => {
  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'skerry-copied-'))
    stack.defer(() => rm(scratch, { recursive: true, force: true }))
    const network = stack.use(await createTestNetwork())
    const host = await network.addHost(1)
    machine = stack.use(await startTestMachine(host, 'copied'))
    way = stack.use(await startWay(host))
  })
  after(() => stack.disposeAsync())

  test('a copy that breaks continues where it was, and a new package copies only the files that changed', async () => {
    const [large, small] = [await fileOf(randomBytes(12_000_000)), await fileOf(randomBytes(10))]
    way.cutAfter(8_000_000)
    await assert.rejects(copy([large, small]))
    const before = way.sentBytes()
    assert.equal(await copy([large, small]), '2 files copied, 12 MB; 0 were there')
    assert.ok(way.sentBytes() - before < 8_000_000, 'it began again')
    const next = await fileOf(randomBytes(1_000_000))
    const between = way.sentBytes()
    assert.equal(await copy([large, small, next]), '1 files copied, 1 MB; 2 were there')
    assert.ok(way.sentBytes() - between < 3_000_000)
  })

  test('a file that was damaged on the machine is copied again', async () => {
    const file = await fileOf(randomBytes(1_000))
    const place = `/var/lib/skerry/packages/blobs/sha256/${file.sha256}`
    await copy([file])
    assert.equal(await copy([file]), '0 files copied, 0 MB; 1 were there')
    await machine.ask(['sh', '-c', `printf x >> ${place}`])
    assert.equal(await copy([file]), '1 files copied, 1 MB; 0 were there')
    assert.equal((await machine.ask(['sha256sum', place])).slice(0, 64), file.sha256)
  })

  test('a package that does not fit is not begun', async () => {
    const file = { from: '/nowhere', sha256: 'f'.repeat(64), bytes: 1e15 }
    await assert.rejects(copy([file]), /\/var\/lib has \d+ MB free: the package needs \d+ MB/)
  })
})
