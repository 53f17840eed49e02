import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, silentLogger, systemClock, systemRandom, type Logger } from '@skerry/base'
import type { Pod } from '@skerry/api'
import { createCluster, resources } from '@skerry/client'
import { generateKeyPair, signCertificate } from '@skerry/pki'
import { startTestApiServer, type TestApiServer } from '@skerry/testing'
import { takeNextIdentity } from './next-identity.ts'

const signal = new AbortController().signal
const nodeName = 'n1'

/** Puts an identity at the server into a directory, as a join does. */
async function identityIn(directory: string, { url, authority }: TestApiServer): Promise<void> {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const nowMs = systemClock.now()
  const certificatePem = await signCertificate(authority, {
    // The test's server knows no rights of nodes.
    subject: { commonName: `system:node:${nodeName}`, organizations: ['system:masters'] },
    publicKeyPem,
    notBeforeMs: nowMs - 3_600_000,
    notAfterMs: nowMs + 20 * 3_600_000,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'ca.crt'), authority.certificatePem)
  await writeFile(join(directory, 'kubelet-client.crt'), certificatePem)
  await writeFile(join(directory, 'kubelet-client.key'), privateKeyPem)
  await writeFile(join(directory, 'server'), url)
}

/** Stores an object as the kubelet does. */
async function store(dataDir: string, resource: string, key: string, object: object) {
  const directory = join(dataDir, 'kubelet', 'store', resource)
  const json = JSON.stringify(object)
  const sum = createHash('sha256').update(json).digest('hex')
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, `${encodeURIComponent(key)}.json`), `${sum}\n${json}`)
}

/** Makes a node with one pod whose next control plane has the node and `pods`. */
async function startMove(pods: readonly string[]) {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startTestApiServer())
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-move-'))
  stack.defer(() => rm(dataDir, { recursive: true }))
  const logged: string[] = []
  const note = (message: string): void => void logged.push(message)
  const log: Logger = { ...silentLogger, error: note, info: note }
  const context = {
    clock: systemClock,
    random: systemRandom,
    metrics: createMetrics(),
    log,
    signal,
  }
  const cluster = createCluster(server.transport, { ...context, userAgent: 'test' })
  const nodeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } }
  await cluster.resource(resources.nodes).create(nodeObject, signal)
  const spec = { nodeName, containers: [{ name: 'c', image: 'app:1' }] }
  const podOf = (name: string): Pod => {
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec }
  }
  const made = []
  for (const name of pods)
    made.push(await cluster.resource(resources.pods).create(podOf(name), signal))
  await mkdir(join(dataDir, 'pki'))
  await writeFile(join(dataDir, 'pki', 'server'), 'https://127.0.0.1:9')
  await store(dataDir, 'tokens', 'uid/aud/3600', { apiVersion: 'v1', kind: 'Token', metadata: {} })
  await identityIn(join(dataDir, 'next', 'pki'), server)
  const owned = stack.move()
  return {
    dataDir,
    server,
    logged,
    made,
    take: () => takeNextIdentity({ dataDir, nodeName }, context),
    serverInUse: () => readFile(join(dataDir, 'pki', 'server'), 'utf8'),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

test('a node takes the identity at a control plane that has its pods, and leaves tokens and copies of the old one', async () => {
  await using move = await startMove(['web'])
  await mkdir(join(move.dataDir, 'local-api'))
  const [pod] = move.made
  await store(move.dataDir, 'pods', pod?.metadata.uid ?? '', pod ?? {})
  await move.take()
  assert.equal(await move.serverInUse(), move.server.url)
  assert.deepEqual((await readdir(move.dataDir)).toSorted(), ['kubelet', 'pki', 'pki.before'])
  assert.deepEqual(await readdir(join(move.dataDir, 'kubelet', 'store')), ['pods'])
  assert.deepEqual(move.logged, ['Node obeys another control plane'])
  const left = await readFile(join(move.dataDir, 'pki', 'left-servers'), 'utf8')
  assert.equal(left, 'https://127.0.0.1:9')
})

test('a node whose pods the other control plane lacks stays, and asks again at its next start', async () => {
  await using move = await startMove([])
  const metadata = { name: 'db', namespace: 'shop', uid: 'u1' }
  await store(move.dataDir, 'pods', 'u1', { apiVersion: 'v1', kind: 'Pod', metadata })
  await move.take()
  assert.equal(await move.serverInUse(), 'https://127.0.0.1:9')
  assert.deepEqual(move.logged, ['Node stays with its control plane'])
  await rm(join(move.dataDir, 'kubelet', 'store', 'pods'), { recursive: true })
  await move.take()
  assert.equal(await move.serverInUse(), move.server.url)
})

test('a node stays while the other control plane does not answer', async () => {
  await using move = await startMove([])
  await move.server[Symbol.asyncDispose]()
  await move.take()
  assert.equal(await move.serverInUse(), 'https://127.0.0.1:9')
})

test('a change of identity that was cut off is finished without the network', async () => {
  await using move = await startMove([])
  await move.server[Symbol.asyncDispose]()
  await rename(join(move.dataDir, 'pki'), join(move.dataDir, 'pki.before'))
  await move.take()
  assert.equal(await move.serverInUse(), move.server.url)
})

test('an identity that is not complete is not taken', async () => {
  await using move = await startMove([])
  await rm(join(move.dataDir, 'next', 'pki', 'server'))
  await move.take()
  assert.equal(await move.serverInUse(), 'https://127.0.0.1:9')
  assert.deepEqual(move.logged, [])
})
