import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ExpectedError } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { PackageWriter, type BlobRef } from '@skerry/offline-package'
import { edgeClusterResource, type EdgeCluster } from '@skerry/provisioning'
// The maker of packages for tests.
import {
  smallPackage,
  type SmallPackage,
} from '../../packages/offline-package/testing/small-package.ts'
import { freshToken, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'
import { choosePackage, type LinePackageFlags } from '../client/choose-package.ts'
import { packageOfCluster } from '../client/clusters/package-of-cluster.ts'
import { pinScript } from '../program/machine-line.ts'
import { packageWords } from '../program/package-key.ts'

const library = randomBytes(500_000)
const image = randomBytes(300_000)
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

let stack: AsyncDisposableStack
let small: SmallPackage
let hub: TestHub
let shelf: string
let token: string
/** The package that the hub has, its path, and two of its files. */
let made: { digest: string; path: string; libatomic: BlobRef; layer: BlobRef; link: BlobRef }

before(async () => {
  stack = new AsyncDisposableStack()
  small = stack.use(await smallPackage())
  shelf = await mkdtemp(join(tmpdir(), 'skerry-shelf-'))
  stack.defer(() => rm(shelf, { recursive: true }))
  const program = join(small.scratch, 'program')
  await writeFile(program, 'a program')
  const machines = { programs: { x86_64: [program], aarch64: [program] }, packages: [shelf] }
  hub = stack.use(await startTestHub({ machines }))
  token = await freshToken(hub, 'shop-7')
  made = await makePackage()
})
after(() => stack[Symbol.asyncDispose]())

/** Makes a package with a library and a large image, on the shelf of the hub that runs. */
async function makePackage(): Promise<typeof made> {
  const directory = join(shelf, 'branch')
  await using writer = await PackageWriter.create(directory)
  const libatomic = await writer.addBytes(library)
  const layer = await writer.addBytes(image)
  const link = await writer.addBytes(Buffer.from('a layer that a link replaces'))
  const { programs, images } = small.manifest
  const [own] = images
  assert.ok(own)
  const digest = await writer.finish(
    {
      ...small.manifest,
      releases: [
        {
          name: 'debian-12',
          architecture: 'x86_64',
          debs: [
            { name: 'libatomic1', version: '12.2.0-14', architecture: 'amd64', file: libatomic },
          ],
        },
      ],
      programs,
      images: [{ ...own, blobs: [layer, link] }],
    },
    small.key.privateKey,
  )
  // The hub's own directory has files that no package names, such as keys.
  const place = join(directory, 'blobs', 'sha256', link.sha256)
  await rename(place, join(small.scratch, 'elsewhere'))
  await symlink(join(small.scratch, 'elsewhere'), place)
  const path = `/skerry/package/${digest.slice('sha256:'.length)}`
  return { digest, path, libatomic, layer, link }
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Asks with this token; as a machine that knows nothing if there is none. */
async function get(
  path: string,
  { bearer, range, method = 'GET' }: { bearer?: string; range?: string; method?: string } = {},
): Promise<Answer> {
  const headers = {
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(range === undefined ? {} : { range }),
  }
  const sent = request(new URL(hub.url), { ca: hub.caPem, agent: false, path, headers, method })
  sent.on('error', () => undefined)
  sent.end()
  const [response] = await once(sent, 'response')
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) }
}

test('a package that comes while the hub runs is served: its script and its libraries to everybody', async () => {
  const { path, libatomic } = made
  const script = await get(`${path}/install.sh`)
  assert.equal(script.status, 200, script.body.toString())
  assert.match(String(script.headers['content-type']), /^text\/x-shellscript/)
  const named = `library 'libatomic1' '12.2.0-14' ${libatomic.sha256} ${libatomic.bytes}`
  assert.ok(script.body.includes(named), script.body.toString())
  const file = await get(`${path}/library-${libatomic.sha256}`)
  assert.ok(file.body.equals(library))
})

test('the rest of a package is for bearers of a token of a line, and a download goes on where it ended', async () => {
  const { path, layer } = made
  for (const name of ['manifest.json', 'manifest.sig', `file-${layer.sha256}`]) {
    for (const bearer of [undefined, `${token.slice(0, 7)}${'0'.repeat(16)}`]) {
      const refused = await get(`${path}/${name}`, bearer === undefined ? {} : { bearer })
      assert.ok([401, 403].includes(refused.status), `${name}: ${refused.status}`)
      assert.ok(refused.body.length < 2_000)
    }
    const { status } = await get(`${path}/${name}`, { bearer: token })
    assert.equal(status, 200, name)
  }
  const whole = await get(`${path}/file-${layer.sha256}`, { bearer: token })
  assert.ok(whole.body.equals(image))
  const asked = { bearer: token, range: 'bytes=100000-' }
  const part = await get(`${path}/file-${layer.sha256}`, asked)
  assert.equal(part.status, 206)
  assert.ok(part.body.equals(image.subarray(100_000)))
})

test('nothing but the files that a package names is served, and nobody can write it', async () => {
  const { path, layer, link, libatomic } = made
  const other = '0'.repeat(64)
  const closed = [
    ['GET', `${path}/`, 403],
    ['GET', `${path}/../../pki/ca.key`, 403],
    ['GET', `${path}/%2e%2e/%2e%2e/pki/ca.key`, 403],
    ['GET', `${path}/file-..%2f..%2fpki%2fca.key`, 403],
    ['GET', `${path}/file-${other}`, 404],
    ['GET', `${path}/library-${layer.sha256}`, 404],
    ['GET', `${path}/file-${layer.sha256.toUpperCase()}`, 403],
    // Its link leads to a file of the hub's machine.
    ['GET', `${path}/file-${link.sha256}`, 404],
    ['GET', `/skerry/package/${other}/manifest.json`, 404],
    ['GET', `/skerry/package/${other}/file-${libatomic.sha256}`, 404],
    ['POST', `${path}/install.sh`, 403],
    ['PUT', `${path}/file-${layer.sha256}`, 403],
    ['DELETE', `${path}/manifest.json`, 403],
  ] as const
  for (const [method, asked, status] of closed) {
    const answer = await get(asked, { method, bearer: token })
    assert.equal(answer.status, status, `${method} ${asked}: ${answer.body.toString()}`)
    assert.ok(answer.body.length < 2_000)
  }
})

test('a hub offers no package of its own machine', async () => {
  const { status, body } = await get('/skerry/package/offered', { bearer: token })
  assert.equal(status, 200)
  assert.deepEqual(JSON.parse(body.toString()), {})
  assert.equal((await get('/skerry/package/offered')).status, 403)
})

const isExpected = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ExpectedError, String(error))
  assert.match(error.message, message)
  return true
}

function choose(
  flags: Partial<LinePackageFlags>,
  byDefault: Parameters<typeof choosePackage>[2] = async () => undefined,
): ReturnType<typeof choosePackage> {
  const all = { machine: true, package: undefined, packageKey: undefined, ...flags }
  return choosePackage(all, hub.admin, byDefault, soon())
}

test('a line names the package that is given, if the hub has it and the key has signed it', async () => {
  const packageKey = join(small.scratch, 'operator.pub')
  await writeFile(packageKey, small.key.publicKey)
  const { digest } = made
  const offline = await choose({ package: digest, packageKey })
  assert.deepEqual(offline, { digest, publicKey: small.key.publicKey })
  assert.match(
    packageWords(offline).join(' '),
    new RegExp(`^--package ${digest} --package-key MCowBQYDK2VwAyEA\\S{44}$`),
  )
  const { url, sha256 } = await pinScript(hub.admin, { server: hub.url, offline }, soon())
  const script = await get(new URL(url).pathname)
  assert.equal(createHash('sha256').update(script.body).digest('hex'), sha256)
})

test('a line is refused that could not work, before a token is made', async () => {
  await using other = await smallPackage()
  const keyOf = async (name: string, text: string): Promise<string> => {
    const path = join(small.scratch, name)
    await writeFile(path, text)
    return path
  }
  const packageKey = await keyOf('own.pub', small.key.publicKey)
  const theirs = await keyOf('other.pub', other.key.publicKey)
  const secret = await keyOf('own.key', small.key.privateKey)
  const { digest } = made
  const cases: readonly [Partial<LinePackageFlags>, RegExp][] = [
    [{ package: small.digest, packageKey }, /the hub has no package sha256:\w+: start it with/],
    [{ package: digest, packageKey: theirs }, /this key has not signed it/],
    [{ package: digest, packageKey: secret }, /is not an Ed25519 public key/],
    [{ package: digest, packageKey: join(small.scratch, 'none') }, /Cannot read public key/],
    [{ package: digest }, /--package and --package-key belong together/],
    [{ packageKey }, /--package and --package-key belong together/],
    [{ package: digest, packageKey, machine: undefined }, /--package belongs to --machine/],
  ]
  for (const [flags, message] of cases) {
    await assert.rejects(choose(flags), isExpected(message))
  }
  const missing = { digest: small.digest, publicKey: small.key.publicKey }
  await assert.rejects(
    choose({}, async () => missing),
    isExpected(/the hub has no package .*; or give --no-package/),
  )
  assert.equal(await choose({ package: false }, async () => missing), undefined)
})

test('a line for a cluster with an EdgeCluster takes its package by itself', async () => {
  const { digest } = made
  const source = { digest, publicKey: small.key.publicKey }
  await createEdge(hub.admin, source)
  const byDefault = (): ReturnType<typeof packageOfCluster> =>
    packageOfCluster(hub.admin, 'shop-9', soon())
  assert.deepEqual(await choose({}, byDefault), source)
  assert.equal(await packageOfCluster(hub.admin, 'shop-8', soon()), undefined)
})

async function createEdge(
  admin: ClusterClient,
  source: NonNullable<EdgeCluster['spec']['package']>,
): Promise<void> {
  const edge: EdgeCluster = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { namespace: 'default', name: 'branch' },
    spec: {
      clusterName: 'shop-9',
      package: source,
      paused: true,
      machines: [{ addresses: ['192.0.2.1'], role: 'Master', credentials: { name: 'none' } }],
    },
  }
  await admin.resource(edgeClusterResource).create(edge, soon())
}
