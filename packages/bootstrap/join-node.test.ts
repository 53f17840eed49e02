import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  linkedSignal,
  seededRandom,
  silentLogger,
  systemClock,
  systemRandom,
  type Clock,
} from '@skerry/base'
import { createDefaultAccess, ensureBootstrapObjects } from '@skerry/apiserver'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import {
  createAuthority,
  generateKeyPair,
  mayJoinAs,
  nodeNameGroup,
  readCertificate,
  readSigningRequest,
  signCertificate,
  spkiHash,
  type Authority,
} from '@skerry/pki'
import { failuresOfDamage, startTestApiServer, until } from '@skerry/testing'
import {
  bootstrapTokenText,
  clusterInfoConfigMap,
  discoverCluster,
  holdCertificate,
  holdServingCertificate,
  joinNode,
  newBootstrapToken,
  nodeTokenGroup,
  publishBootstrapToken,
} from './mod.ts'
import { readCertificateAndKey } from './key-pair-files.ts'
import { clusterInfoProblem, readClusterInfo } from './cluster-info.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const dayMs = 86_400_000

/** Starts a server that knows a token, and controllers that sign requests made with it. */
async function startSite(clock: Clock = systemClock) {
  await using stack = new AsyncDisposableStack()
  const { privateKeyPem } = await generateKeyPair()
  const serviceAccounts = { issuer: 'https://iss', signingKeyPem: privateKeyPem }
  const server = stack.use(
    await startTestApiServer({
      access: createDefaultAccess({ serviceAccounts }, deps),
      namespaces: [],
      clock,
    }),
  )
  await ensureBootstrapObjects(server.objects)
  const directory = await mkdtemp(join(tmpdir(), 'skerry-join-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const cluster = createCluster(server.transport, { ...deps, userAgent: 'skerry/test' })
  const token = newBootstrapToken(systemRandom)
  const info = { server: server.url, authorityPem: server.credentials.ca }
  const signal = new AbortController().signal
  await publishBootstrapToken(cluster, { token, info }, deps, signal)
  const owned = stack.move()
  return {
    server,
    cluster,
    token,
    info,
    directory,
    signal,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Approves and signs the one pending request, as the controllers do. */
async function signPending(cluster: ClusterClient, authority: Authority, signal: AbortSignal) {
  const requests = cluster.resource(resources.certificateSigningRequests)
  for (;;) {
    const pending = await until(async () => {
      const { items } = await requests.list({}, signal)
      return items.find((one) => !one.status?.certificate)
    }, signal)
    const pem = Buffer.from(pending.spec?.request ?? '', 'base64').toString()
    const asked = await readSigningRequest(pem)
    const certificatePem = await signCertificate(authority, {
      subject: asked,
      publicKeyPem: asked.publicKeyPem,
      notBeforeMs: Date.now() - dayMs,
      notAfterMs: Date.now() + dayMs,
      keyUsages: ['digitalSignature'],
      extendedUsages: ['clientAuth'],
      dnsNames: asked.dnsNames,
      ipAddresses: asked.ipAddresses,
    })
    const status = { certificate: Buffer.from(certificatePem).toString('base64') }
    await requests.updateStatus({ ...pending, status: { ...pending.status, ...status } }, signal)
    return { requester: pending.spec?.username, groups: pending.spec?.groups ?? [], asked }
  }
}

async function signAll(
  cluster: ClusterClient,
  authority: Authority,
  signal: AbortSignal,
): Promise<never> {
  for (;;) await signPending(cluster, authority, signal)
}

test('a machine joins with a token and a hash, and then needs neither', async () => {
  await using site = await startSite()
  const { cluster, token, info, directory, signal, server } = site
  const authority = server.authority
  const options = {
    nodeName: 'n1',
    directory,
    servers: [info.server],
    token,
    authorityHashes: [spkiHash(info.authorityPem)],
  }
  const [identity, signed] = await Promise.all([
    joinNode(options, deps, signal),
    signPending(cluster, authority, signal),
  ])
  assert.equal(signed.requester, `system:bootstrap:${token.id}`)
  assert.equal(signed.asked.commonName, 'system:node:n1')
  assert.deepEqual(signed.asked.organizations, ['system:nodes'])

  using transport = identity.open()
  const asNode = createCluster(transport, { ...deps, userAgent: 'skerry/test' })
  await assert.rejects(asNode.resource(resources.nodes).get({ name: 'n1' }, signal), { code: 404 })
  await assert.rejects(asNode.resource(resources.nodes).get({ name: 'n2' }, signal), { code: 403 })

  const again = await joinNode({ nodeName: 'n1', directory, servers: [info.server] }, deps, signal)
  assert.deepEqual(again.client.current, identity.client.current)
})

test('a machine that gets another address gets a serving certificate for it', async () => {
  await using site = await startSite()
  const { cluster, token, info, directory, signal, server } = site
  const authorityHashes = [spkiHash(info.authorityPem)]
  const options = { nodeName: 'n1', directory, servers: [info.server], token, authorityHashes }
  const [identity] = await Promise.all([
    joinNode(options, deps, signal),
    signPending(cluster, server.authority, signal),
  ])
  const hold = (address: string) =>
    holdServingCertificate(
      identity,
      { nodeName: 'n1', directory, dnsNames: ['n1'], ipAddresses: [address] },
      deps,
      signal,
    )
  const sign = () => signPending(cluster, server.authority, signal)
  const [first] = await Promise.all([hold('10.0.0.7'), sign()])
  const kept = await hold('10.0.0.7')
  assert.deepEqual(kept.current, first.current)
  const [moved] = await Promise.all([hold('10.0.0.8'), sign()])
  assert.deepEqual(readCertificate(moved.current.certificatePem).ipAddresses, ['10.0.0.8'])
})

test('a damaged serving certificate is requested again; a directory in its place is refused', async () => {
  await using site = await startSite()
  const { cluster, token, info, directory, server } = site
  const over = linkedSignal(site.signal)
  const signing = signAll(cluster, server.authority, over.signal)
  const joining = { nodeName: 'n1', servers: [info.server] }
  const whole = join(directory, 'whole')
  const asked = { token, authorityHashes: [spkiHash(info.authorityPem)] }
  const identity = await joinNode({ ...joining, directory: whole, ...asked }, deps, over.signal)
  const serving = { nodeName: 'n1', dnsNames: ['n1'], ipAddresses: ['10.0.0.7'] }
  await holdServingCertificate(identity, { ...serving, directory: whole }, deps, over.signal)
  const failures = await failuresOfDamage({
    whole,
    files: ['kubelet-serving.crt', 'kubelet-serving.key'],
    mayChange: (name) => name.startsWith('kubelet-serving.'),
    expected: (_, damage) => (damage === 'a directory' ? 'refused' : 'made again'),
    async start(copy) {
      const node = await joinNode({ ...joining, directory: copy }, deps, over.signal)
      await holdServingCertificate(node, { ...serving, directory: copy }, deps, over.signal)
      const paths = {
        certificatePath: join(copy, 'kubelet-serving.crt'),
        keyPath: join(copy, 'kubelet-serving.key'),
      }
      assert.ok(await readCertificateAndKey(paths))
    },
  })
  assert.deepEqual(failures, [])
  over.abort(new Error('the test is over'))
  await assert.rejects(signing, /the test is over/)
})

test('a server that is not the pinned one, or does not know the token, is refused', async () => {
  await using site = await startSite()
  const { info, token, signal } = site
  const stranger = await createAuthority({
    subject: { commonName: 'stranger' },
    notBeforeMs: 0,
    notAfterMs: Date.now() + dayMs,
  })
  const server = info.server
  const authorityHashes = [spkiHash(info.authorityPem)]
  await assert.rejects(
    discoverCluster(
      { server, token, authorityHashes: [spkiHash(stranger.certificatePem)] },
      deps,
      signal,
    ),
    { exitCode: 2, message: /its authority is sha256:[0-9a-f]{64}, not sha256:/ },
  )
  const unknown = newBootstrapToken(systemRandom)
  await assert.rejects(discoverCluster({ server, token: unknown, authorityHashes }, deps, signal), {
    message: /token [a-z0-9]{6} is unknown there or expired/,
  })
  const guessed = { ...token, secret: '0000000000000000' }
  await assert.rejects(discoverCluster({ server, token: guessed, authorityHashes }, deps, signal), {
    message: /not signed with the token/,
  })
  const nowhere = 'https://127.0.0.1:1'
  await assert.rejects(discoverCluster({ server: nowhere, token, authorityHashes }, deps, signal), {
    exitCode: 9,
  })
})

test('the error of a machine that cannot join because of its clock names both clocks', async () => {
  const yearsMs = 5 * 365 * dayMs
  // For the TLS of this process, the certificates of this server begin in five years.
  await using site = await startSite({ ...systemClock, now: () => Date.now() + yearsMs })
  const { token, info, signal } = site
  const authorityHashes = [spkiHash(info.authorityPem)]
  const join = (clock: Clock) =>
    discoverCluster({ server: info.server, token, authorityHashes }, { ...deps, clock }, signal)
  const behind = { ...systemClock, now: () => Date.now() - yearsMs }
  const [here, there] = [behind.now(), Date.now()].map((ms) => new Date(ms).getUTCFullYear())
  await assert.rejects(join(behind), {
    message: new RegExp(
      `^Cannot join ${info.server}: its certificate is not valid now: this machine's clock shows ${here}-\\S+Z, and the server's ${there}-\\S+Z; set the clock that is wrong`,
    ),
    exitCode: 9,
  })
  await assert.rejects(join(systemClock), { message: /; renew it there with "skerry certificates/ })
})

test('a machine that has nothing learns what it needs', async () => {
  await using site = await startSite()
  const { directory, info, signal } = site
  await assert.rejects(
    joinNode({ nodeName: 'n1', directory, servers: [info.server] }, deps, signal),
    {
      message: /pass the token and the CA hash/,
    },
  )
})

test('cluster-info is signed per token; a changed byte is detected', () => {
  const token = newBootstrapToken(seededRandom(1))
  assert.match(bootstrapTokenText(token), /^[a-z0-9]{6}\.[a-z0-9]{16}$/)
  const info = { server: 'https://a:6443', authorityPem: 'PEM' }
  const configMap = clusterInfoConfigMap(info, [token])
  assert.equal(clusterInfoProblem(configMap, token), undefined)
  assert.deepEqual(readClusterInfo(configMap), info)
  const [header] = configMap.data?.[`jws-kubeconfig-${token.id}`]?.split('..') ?? []
  assert.equal(
    Buffer.from(header ?? '', 'base64url').toString(),
    `{"alg":"HS256","kid":"${token.id}"}`,
  )
  const kubeconfig = configMap.data?.kubeconfig?.replace('https://a', 'https://b') ?? ''
  const forged = { ...configMap, data: { ...configMap.data, kubeconfig } }
  assert.equal(clusterInfoProblem(forged, token), 'forged')
  assert.equal(clusterInfoProblem(configMap, newBootstrapToken(seededRandom(2))), 'unsigned')
})

test('a held certificate is renewed in time, again and again, whatever fails in between', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-hold-'))
  const authority = await createAuthority({
    subject: { commonName: 'ca' },
    notBeforeMs: 0,
    notAfterMs: 1000 * dayMs,
  })
  let nowMs = dayMs
  let longestSleepMs = 0
  const askedAtMs: number[] = []
  const stop = new AbortController()
  const clock = {
    ...systemClock,
    now: () => nowMs,
    monotonicMs: () => nowMs,
    async sleep(ms: number, signal: AbortSignal) {
      signal.throwIfAborted()
      longestSleepMs = Math.max(longestSleepMs, ms)
      nowMs += ms
    },
  }
  let calls = 0
  const issuedAtMs: number[] = []
  const source = async () => {
    calls += 1
    askedAtMs.push(nowMs)
    if (calls === 2) throw new Error('offline')
    if (calls === 4) stop.abort(new Error('done'))
    issuedAtMs.push(nowMs)
    const { privateKeyPem, publicKeyPem } = await generateKeyPair()
    const certificatePem = await signCertificate(authority, {
      subject: { commonName: `serial-${calls}` },
      publicKeyPem,
      notBeforeMs: nowMs,
      notAfterMs: nowMs + 10 * dayMs,
      keyUsages: [],
      extendedUsages: [],
    })
    return { certificatePem, privateKeyPem }
  }
  const paths = { certificatePath: join(directory, 'a.crt'), keyPath: join(directory, 'a.key') }
  const holderDeps = { clock, random: seededRandom(3), log: silentLogger }
  const holder = await holdCertificate(paths, source, holderDeps, stop.signal)
  await assert.rejects(holder.run(stop.signal), /done/)
  assert.equal(readCertificate(holder.current.certificatePem).commonName, 'serial-4')
  const renewedAfterMs = issuedAtMs.map((ms, index) => ms - (issuedAtMs[index - 1] ?? ms)).slice(1)
  for (const ms of renewedAfterMs)
    assert.ok(ms >= 7 * dayMs && ms <= 9 * dayMs + 10_000, String(ms))
  assert.ok(longestSleepMs <= 3_600_000, 'a clock that jumps must be noticed')
  const [, failedMs = 0, repeatedMs = 0] = askedAtMs
  assert.ok(repeatedMs - failedMs >= 5000, 'the failed try was not repeated at once')
  assert.ok(repeatedMs - failedMs < 10_000, 'the failed try was repeated soon')
  await rm(directory, { recursive: true })
})

test('the request of a machine with a token for one node names that node alone', async () => {
  await using site = await startSite()
  const { cluster, info, directory, signal, server } = site
  const token = newBootstrapToken(systemRandom)
  const groups = [nodeTokenGroup, nodeNameGroup('n1.shop')]
  await publishBootstrapToken(cluster, { token, info, groups }, deps, signal)
  const authorityHashes = [spkiHash(info.authorityPem)]
  const options = { nodeName: 'n1.shop', directory, servers: [info.server], token, authorityHashes }
  const [{ groups: asked }] = await Promise.all([
    signPending(cluster, server.authority, signal),
    joinNode(options, deps, signal),
  ])
  assert.ok(asked.includes(nodeTokenGroup), 'it may ask for the certificate of a node')
  assert.deepEqual([mayJoinAs(asked, 'n1.shop'), mayJoinAs(asked, 'n1')], [true, false])
})
