import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { holdCertificate, issueClientCertificate } from '@skerry/bootstrap'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { startTestApiServer, type TestApiServer, untilObject } from '@skerry/testing'
import type { AgentIdentity } from './agent-identity.ts'
import { createIdentitySecret } from './identity-secret.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const key = { namespace: 'kube-system', name: 'identity' }
const secret = `${key.namespace}/${key.name}`

/** An identity as it is on disk, in this directory. */
async function identityIn(
  directory: string,
  { authority, url }: TestApiServer,
  commonName: string,
): Promise<AgentIdentity> {
  const paths = {
    certificatePath: join(directory, 'agent.crt'),
    keyPath: join(directory, 'agent.key'),
  }
  const issue = () => issueClientCertificate(authority, { subject: { commonName } }, systemClock)
  const client = await holdCertificate(paths, issue, deps, soon())
  const authorityPem = authority.certificatePem
  return { authorityPem, client, transport: { server: url, certificateAuthority: authorityPem } }
}

/** Keeps the identity until the Secret has this many files. */
async function keepUntil(
  local: ClusterClient,
  { count, kept }: { count: number; kept: ReturnType<typeof createIdentitySecret> },
  identity: AgentIdentity,
): Promise<void> {
  const stop = linkedSignal(soon())
  const running = kept.keep(identity)(stop.signal)
  const isKept = (data: object = {}): boolean => Object.keys(data).length === count
  const asked = { resource: resources.secrets, key }
  await untilObject(local, asked, (found) => isKept(found?.data), soon())
  stop.abort(new Error('it is kept'))
  await assert.rejects(running, /it is kept/)
}

test('a Secret keeps the identities of an agent and of its virtual clusters, and gives each back', async () => {
  await using server = await startTestApiServer()
  await using stack = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'skerry-identity-secret-'))
  stack.defer(() => rm(home, { recursive: true, force: true }))
  const local = createCluster(server.transport, { ...deps, userAgent: 'test' })
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: key }
  await local.resource(resources.secrets).create(object, soon())
  const context = { ...deps, metrics: createMetrics(), signal: soon() }
  const open = (directory: string, child?: string) =>
    createIdentitySecret(
      { local, secret, directory, ...(child === undefined ? {} : { child }) },
      context,
    )
  const first = join(home, 'first')
  const child = join(home, 'first-east')
  const own = await identityIn(first, server, 'bank')
  const east = await identityIn(child, server, 'bank-east')
  await keepUntil(local, { count: 3, kept: open(first) }, own)
  await keepUntil(local, { count: 5, kept: open(child, 'bank-east') }, east)
  // A pod that is another one finds them.
  const second = join(home, 'second')
  const secondEast = join(home, 'second-east')
  await open(second).restore(soon())
  await open(secondEast, 'bank-east').restore(soon())
  assert.deepEqual((await readdir(second)).toSorted(), ['agent.crt', 'agent.key', 'ca.crt'])
  assert.deepEqual((await readdir(secondEast)).toSorted(), ['agent.crt', 'agent.key'])
  const restored = await readFile(join(secondEast, 'agent.crt'), 'utf8')
  assert.equal(restored, east.client.current.certificatePem)
  // A damaged certificate is not newer than the one that is kept.
  await writeFile(join(secondEast, 'agent.crt'), restored.slice(0, 100))
  await open(secondEast, 'bank-east').restore(soon())
  assert.equal(await readFile(join(secondEast, 'agent.crt'), 'utf8'), restored)
  // A virtual cluster that is removed deletes its own files, and no others.
  await open(child, 'bank-east').clear(soon())
  const { data = {} } = await local.resource(resources.secrets).get(key, soon())
  assert.deepEqual(Object.keys(data).toSorted(), ['agent.crt', 'agent.key', 'ca.crt'])
})

test('a Secret that is missing, or has an invalid name, is reported with a remedy', async () => {
  await using server = await startTestApiServer()
  const local = createCluster(server.transport, { ...deps, userAgent: 'test' })
  const context = { ...deps, metrics: createMetrics(), signal: soon() }
  const directory = join(tmpdir(), 'nowhere')
  const kept = createIdentitySecret({ local, secret, directory }, context)
  await assert.rejects(kept.restore(soon()), /Cannot keep identity: .*; apply the manifest/)
  assert.throws(
    () => createIdentitySecret({ local, secret: 'identity', directory }, context),
    /use --identity-secret <namespace>\/<name>/,
  )
})
