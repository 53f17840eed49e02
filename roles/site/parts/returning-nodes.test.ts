import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  clientKeyAnnotation,
  joinNode,
  writeCertificateAndKey,
  writeFileDurably,
  type NodeIdentity,
} from '@skerry/bootstrap'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { generateKeyPair, readCertificate, signCertificate, spkiHash } from '@skerry/pki'
import { until } from '@skerry/testing'
import { openAdminCluster } from '../../admin/admin-cluster.ts'
import { runSite } from '../site.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const dayMs = 86_400_000

interface Site extends AsyncDisposable {
  readonly dataDir: string
  readonly cluster: ClusterClient
  readonly server: string
  readonly signal: AbortSignal
}

async function startSite(): Promise<Site> {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-returning-'))
  const stop = linkedSignal(AbortSignal.timeout(60_000))
  const running = runSite(
    {
      dataDir,
      name: 'shop',
      listening: { bindAddress: '127.0.0.1', port: 0 },
      network: {
        clusterCidr: '10.42.0.0/16',
        serviceCidr: '10.43.0.0/16',
        clusterDomain: 'cluster.local',
      },
      control: { scheduler: { isDisabled: true }, controllers: { isDisabled: true } },
    },
    { ...deps, metrics: createMetrics(), signal: stop.signal },
  ).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  const kubeconfig = join(dataDir, 'admin.kubeconfig')
  const ended = running.then((): never => assert.fail('the site ended'))
  const { cluster, server } = await Promise.race([
    until(() => openAdminCluster(kubeconfig).catch(() => undefined)),
    ended,
  ])
  return {
    dataDir,
    cluster,
    server,
    signal: stop.signal,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await running
      await rm(dataDir, { recursive: true })
    },
  }
}

/** Gives a machine the files of a node whose certificate ended yesterday. */
async function identityThatEnded(site: Site, nodeName: string): Promise<NodeIdentity> {
  const directory = join(site.dataDir, `node-${nodeName}`)
  await mkdir(directory)
  const pki = (name: string): Promise<string> => readFile(join(site.dataDir, 'pki', name), 'utf8')
  const authority = { certificatePem: await pki('ca.crt'), privateKeyPem: await pki('ca.key') }
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const certificatePem = await signCertificate(authority, {
    subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
    publicKeyPem,
    notBeforeMs: Date.now() - 366 * dayMs,
    notAfterMs: Date.now() - dayMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  await writeCertificateAndKey(
    {
      certificatePath: join(directory, 'kubelet-client.crt'),
      keyPath: join(directory, 'kubelet-client.key'),
    },
    { certificatePem, privateKeyPem },
  )
  await writeFileDurably(join(directory, 'ca.crt'), authority.certificatePem, 0o644)
  return joinNode({ nodeName, directory, servers: [site.server] }, deps, site.signal)
}

test('a node whose certificate ended while it was off is taken back; one that was removed is not', async () => {
  await using site = await startSite()
  const { cluster } = site
  const nodes = cluster.resource(resources.nodes)
  const identity = await identityThatEnded(site, 'n1')
  const key = spkiHash(identity.client.current.certificatePem)
  const metadata = { name: 'n1', annotations: { [clientKeyAnnotation]: key } }
  await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata }, site.signal)
  using running = linkedSignal(site.signal)
  const renewed = Promise.withResolvers<string>()
  using _renewal = identity.client.onRenewed((pair) => renewed.resolve(pair.certificatePem))
  const renewing = identity.client.run(running.signal).catch(() => undefined)
  const pem = await renewed.promise
  assert.ok(readCertificate(pem).notAfterMs > Date.now() + 364 * dayMs)
  using transport = identity.open()
  const asNode = createCluster(transport, { ...deps, userAgent: 'skerry/test' })
  const { metadata: seen } = await asNode.resource(resources.nodes).get({ name: 'n1' }, site.signal)
  assert.equal(seen.name, 'n1')
  running.abort(new Error('over'))
  await renewing

  const removed = await identityThatEnded(site, 'n2')
  using anonymous = removed.servers.transport({
    certificateAuthority: removed.info.authorityPem,
  })
  const body = Buffer.from(JSON.stringify({ certificate: '', request: '', signature: '' }))
  const request = { method: 'POST', path: '/nodes/v1/nodes/n2/return', headers: {}, body } as const
  const answer = await anonymous.send(request, site.signal)
  assert.equal(answer.status, 403)
  const refused = Promise.withResolvers<void>()
  const log = { ...silentLogger, info: (message: string) => onLine(message) }
  function onLine(message: string): void {
    if (message === 'Certificate not renewed yet') refused.resolve()
  }
  using trying = linkedSignal(site.signal)
  const again = await joinNode(
    { nodeName: 'n2', directory: join(site.dataDir, 'node-n2'), servers: [site.server] },
    { ...deps, log },
    site.signal,
  )
  const tried = again.client.run(trying.signal).catch(() => undefined)
  await refused.promise
  assert.equal(again.client.current.certificatePem, removed.client.current.certificatePem)
  trying.abort(new Error('over'))
  await tried
})
