import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { bootstrapNamespace, bootstrapSecretType } from '@skerry/api'
import { silentLogger, systemClock } from '@skerry/base'
import { writeCertificateAndKey, writeFileDurably } from '@skerry/bootstrap'
import { createCluster, resources } from '@skerry/client'
import {
  agentUserName,
  agentsGroup,
  clusterResource,
  registrationResource,
  type ClusterRegistration,
  type ClusterRegistrationSpec,
} from '@skerry/fleet-kinds'
import {
  decideRegistration,
  pendingRegistrations,
  revokeAgent,
  type Registration,
} from '@skerry/membership'
import { generateKeyPair, readCertificate, signCertificate } from '@skerry/pki'
import { until } from '@skerry/testing'
import {
  auditedLines,
  untilAudited as untilAuditedLines,
  type AuditedLine,
} from '../../testing/scenes/audited-lines.ts'
import {
  freshToken,
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const dayMs = 86_400_000
const strict = { requiresAcceptance: true, reEnrolmentGraceMs: 0 }

const isOpen = ({ Ready, Connected }: Readonly<Record<string, string>>): boolean =>
  Ready === 'True' && Connected === 'True'

async function untilPending(
  fleet: TestHub,
  isWanted: (found: readonly Registration[]) => boolean,
): Promise<Registration[]> {
  return until(async () => {
    const found = await pendingRegistrations(fleet.admin, soon())
    return isWanted(found) && found
  }, soon())
}

test('where a person must accept, an agent waits, and its key, address and cluster are shown', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub({ registration: strict })
  await using agent = await startTestAgent(fleet, { name: 'edge', api: edge.api })
  const [one] = await untilPending(fleet, ([first]) => (first?.waitsFor ?? '') !== '')
  assert.ok(one)
  const uid = edge.objects.get({ group: '', resource: 'namespaces' }, '', 'kube-system')?.metadata
    .uid
  assert.deepEqual(
    [one.cluster, one.address, one.id, one.waitsFor, one.warnings],
    ['edge', '127.0.0.1', uid, 'this hub registers only accepted agents', []],
  )
  assert.match(one.fingerprint, /^sha256:[0-9a-f]{64}$/)
  assert.equal((await fleet.admin.resource(clusterResource).list({}, soon())).items.length, 0)
  const { request } = one
  const connected = agent.connected()
  await decideRegistration(fleet.admin, { request, accepts: true, nowMs: Date.now() }, soon())
  await connected
  await untilCluster(fleet, 'edge', isOpen)
  assert.deepEqual(await pendingRegistrations(fleet.admin, soon()), [])
})

test('an agent that is rejected ends, and its token is void', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub({ registration: strict })
  const agent = await startTestAgent(fleet, { name: 'edge', api: edge.api })
  const [one] = await untilPending(fleet, ([first]) => (first?.waitsFor ?? '') !== '')
  const decision = { request: one?.request ?? '', accepts: false, nowMs: Date.now() }
  const ended = assert.rejects(agent.ended, /is denied: The hub rejected the agent/)
  await decideRegistration(fleet.admin, decision, soon())
  await ended
  const { items } = await fleet.admin
    .resource(resources.secrets)
    .list({ namespace: bootstrapNamespace, fieldSelector: `type=${bootstrapSecretType}` }, soon())
  const [end = Buffer.from('never')] = items.map(({ data }) =>
    Buffer.from(data?.['expiration'] ?? '', 'base64'),
  )
  assert.ok(Date.parse(end.toString()) <= decision.nowMs + 60_000)
})

test('a token that is used again, by anybody, lets nobody in by itself', async () => {
  await using edge = await startTestEdge()
  await using other = await startTestEdge()
  await using fleet = await startTestHub()
  const token = await freshToken(fleet, 'edge')
  await using first = await startTestAgent(fleet, { name: 'edge', api: edge.api, token })
  await first.connected()
  await untilCluster(fleet, 'edge', isOpen)
  const directory = join(fleet.directory, 'thief')
  await using _thief = await startTestAgent(fleet, {
    name: 'edge',
    api: other.api,
    token,
    directory,
  })
  const [one] = await untilPending(fleet, ([found]) => (found?.waitsFor ?? '') !== '')
  assert.match(one?.waitsFor ?? '', /^its token was used before, by key sha256:/)
  assert.match(one?.warnings.join() ?? '', /another cluster is registered under this name/)
  assert.equal(fleet.hub.connections.own.sessions('edge').length, 1)
  const isWanted = ({ uri, user }: AuditedLine): boolean =>
    uri.includes('/certificatesigningrequests') && user?.startsWith('system:bootstrap:') === true
  await untilAuditedLines(fleet, { count: 2, isWanted }, soon())
})

/** Writes an identity as if the agent had been offline since its certificate expired. */
async function writeExpired(fleet: TestHub, directory: string, expiredMs: number): Promise<void> {
  const { publicKeyPem, privateKeyPem } = await generateKeyPair()
  const nowMs = Date.now()
  const certificatePem = await signCertificate(fleet.hub.plane.pki.authority, {
    subject: { commonName: agentUserName('edge'), organizations: [agentsGroup] },
    publicKeyPem,
    notBeforeMs: nowMs - expiredMs - dayMs,
    notAfterMs: nowMs - expiredMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  const paths = {
    certificatePath: join(directory, 'agent.crt'),
    keyPath: join(directory, 'agent.key'),
  }
  await writeCertificateAndKey(paths, { certificatePem, privateKeyPem })
  await writeFileDurably(join(directory, 'ca.crt'), fleet.caPem, 0o644)
}

async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge())
  const fleet = stack.use(await startTestHub())
  const directory = join(fleet.directory, 'agent')
  {
    await using _agent = await startTestAgent(fleet, { name: 'edge', api: edge.api, directory })
    await untilCluster(fleet, 'edge', isOpen)
  }
  const owned = stack.move()
  return { edge, fleet, directory, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

test('an agent that comes back after its certificate expired goes on with its old key', async () => {
  await using all = await startFleet()
  const { edge, fleet, directory } = all
  await writeExpired(fleet, directory, 29 * dayMs)
  await using agent = await startTestAgent(fleet, {
    name: 'edge',
    api: edge.api,
    directory,
    token: '',
  })
  await agent.connected()
  const pem = await readFile(join(directory, 'agent.crt'), 'utf8')
  assert.ok(readCertificate(pem).notAfterMs > Date.now() + 300 * dayMs)
  const audit = await untilAudited(fleet, '/re-enrolment')
  assert.deepEqual([audit.status, audit.source], [201, '127.0.0.1'])
})

test('an agent whose certificate has not begun, because the hub was ahead, goes on with its key', async () => {
  await using all = await startFleet()
  const { edge, fleet, directory } = all
  await writeExpired(fleet, directory, -800 * dayMs)
  const target = { name: 'edge', api: edge.api, directory, token: '' }
  await using agent = await startTestAgent(fleet, target)
  await agent.connected()
  const { notBeforeMs } = readCertificate(await readFile(join(directory, 'agent.crt'), 'utf8'))
  assert.ok(notBeforeMs <= Date.now())
})

test('beyond the grace, after a revocation or for a deleted cluster an old key is worth nothing', async () => {
  await using all = await startFleet()
  const { edge, fleet, directory } = all
  const attempt = async (expiredMs: number): Promise<string> => {
    await writeExpired(fleet, directory, expiredMs)
    await using _agent = await startTestAgent(fleet, {
      name: 'edge',
      api: edge.api,
      directory,
      token: '',
    })
    return (await untilAudited(fleet, '/re-enrolment')).status.toString()
  }
  assert.equal(await attempt(31 * dayMs), '403')
  await revokeAgent(fleet.admin, { cluster: 'edge', nowMs: Date.now() }, soon())
  const lines = await auditLines(fleet)
  await attempt(dayMs)
  const later = (await auditLines(fleet)).slice(lines.length)
  assert.ok(later.every(({ uri, status }) => !uri.endsWith('/re-enrolment') || status === 403))
  assert.equal(fleet.hub.connections.own.sessions('edge').length, 0)
})

interface AuditLine extends AuditedLine {
  source: string
}

async function auditLines(hub: TestHub): Promise<AuditLine[]> {
  return (await auditedLines(hub)).map((line) => JSON.parse(line))
}

async function untilAudited(fleet: TestHub, suffix: string): Promise<AuditLine> {
  return until(
    async () => (await auditLines(fleet)).findLast(({ uri }) => uri.endsWith(suffix)),
    soon(),
  )
}

test('a user with the right to it gets the command and manifest for a cluster over the API', async () => {
  await using fleet = await startTestHub()
  const registration: ClusterRegistration = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterRegistration',
    metadata: {},
    spec: { clusterName: 'shop-7', server: 'https://hub.example:7443', allowGroups: ['staff'] },
  }
  const { status } = await fleet.admin.resource(registrationResource).create(registration, soon())
  assert.match(
    status?.command ?? '',
    /^skerry agent --hub https:\/\/hub\.example:7443 --name shop-7 --token-file token --ca-hash sha256:\w+ --allow-group staff --deny-group system:masters$/,
  )
  assert.match(status?.manifest ?? '', /--allow-group=staff/)
  // Nobody may act as system:masters by default: command and manifest alike.
  const table: [allowed: Partial<ClusterRegistration['spec']>, isDenied: boolean][] = [
    [{}, true],
    [{ allowUsers: ['rita'] }, true],
    [{ allowMasters: false }, true],
    [{ allowMasters: true }, false],
    [{ allowMasters: true, allowGroups: ['staff'] }, false],
  ]
  for (const [allowed, isDenied] of table) {
    const spec = { clusterName: 'shop-7', server: 'https://hub.example:7443', ...allowed }
    const { status: told } = await fleet.admin
      .resource(registrationResource)
      .create({ ...registration, spec }, soon())
    const what = JSON.stringify(allowed)
    assert.equal(/ --deny-group system:masters\b/.test(told?.command ?? ''), isDenied, what)
    assert.equal(/--deny-group=system:masters\b/.test(told?.manifest ?? ''), isDenied, what)
  }
  // The rights to find services are granted only if services are allowed.
  assert.doesNotMatch(status?.manifest ?? '', /endpointslices/)
  const served = { ...registration.spec, allowServices: ['shop/web:80', 'shop/*:http'] }
  const { status: serving } = await fleet.admin
    .resource(registrationResource)
    .create({ ...registration, spec: served }, soon())
  assert.match(
    serving?.command ?? '',
    / --allow-service shop\/web:80 --allow-service 'shop\/\*:http'$/,
  )
  assert.match(serving?.manifest ?? '', /--allow-service=shop\/\*:http/)
  assert.match(serving?.manifest ?? '', /endpointslices/)
  const labels = { link: 'lte' }
  const placed = { ...registration.spec, region: "o'north", zones: ['a'], labels }
  const { status: somewhere } = await fleet.admin
    .resource(registrationResource)
    .create({ ...registration, spec: placed }, soon())
  assert.match(somewhere?.command ?? '', / '--region=o'\\''north' --zone=a --label=link=lte$/)
  assert.match(
    somewhere?.manifest ?? '',
    /- --region=o'north\n +- --zone=a\n +- --label=link=lte\n/,
  )
  const everywhere = { ...registration, spec: { ...served, allowServices: ['*/web:80'] } }
  await assert.rejects(
    fleet.admin.resource(registrationResource).create(everywhere, soon()),
    /spec.allowServices\[0\]: Invalid value/,
  )
  const bad = { ...registration, spec: { clusterName: 'shop-7', server: 'https://h;reboot' } }
  await assert.rejects(
    fleet.admin.resource(registrationResource).create(bad, soon()),
    /spec.server: Invalid value/,
  )
  using transport = await fleet.as({ commonName: 'rita', organizations: ['readers'] })
  const rita = createCluster(transport, { clock: systemClock, log: silentLogger, userAgent: 't' })
  await assert.rejects(rita.resource(registrationResource).create(registration, soon()), {
    reason: 'Forbidden',
  })
})

test('the command and the manifest carry the proxy to the hub, and no login comes to the hub', async () => {
  await using fleet = await startTestHub({ allowInspectedTls: true })
  await using plain = await startTestHub()
  const made = async (spec: Partial<ClusterRegistrationSpec>, hub = fleet) => {
    const { status } = await hub.admin.resource(registrationResource).create(
      {
        apiVersion: 'hub.skerry.io/v1alpha1',
        kind: 'ClusterRegistration',
        metadata: {},
        spec: { clusterName: 'shop-7', ...spec },
      },
      soon(),
    )
    return status
  }
  const proxy = 'http://proxy.example:3128'
  const asked = await made({ proxy, proxyCredentials: true, inspectedTls: true })
  assert.match(
    asked?.command ?? '',
    / --proxy=http:\/\/proxy\.example:3128 --proxy-credentials-file=proxy-credentials --inspected-tls$/,
  )
  const manifest = asked?.manifest ?? ''
  assert.match(manifest, /- --proxy=http:\/\/proxy\.example:3128\n/)
  assert.match(manifest, /- --proxy-credentials-file=\/var\/run\/skerry-proxy\/credentials\n/)
  assert.match(manifest, /- --inspected-tls\n/)
  assert.match(manifest, /secretName: skerry-agent-proxy\n/)
  assert.match(manifest, /mountPath: \/var\/run\/skerry-proxy\n/)
  const straight = await made({ proxy })
  assert.doesNotMatch(straight?.manifest ?? '', /skerry-agent-proxy|inspected/)
  const refused = async (spec: Partial<ClusterRegistrationSpec>, why: RegExp, hub = fleet) => {
    await assert.rejects(made(spec, hub), (error: Error) => {
      assert.match(error.message, why)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  }
  await refused({ proxy: 'http://me:secret@proxy.example:3128' }, /spec.proxy: Invalid value/)
  await refused({ proxy: 'http://proxy.example;reboot' }, /spec.proxy: Invalid value/)
  await refused({ proxyCredentials: true }, /spec.proxyCredentials: .* without spec.proxy/)
  await refused({ inspectedTls: true }, /hub was started without --allow-inspected-tls/, plain)
})

test('facts that the agent is given appear with their times, and go when it no longer reports them', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  const directory = join(fleet.directory, 'agent')
  const options = { name: 'edge', api: edge.api, directory }
  const read = () => fleet.admin.resource(clusterResource).get({ name: 'edge' }, soon())
  {
    const place = { provider: 'acme', region: 'north', zones: ['a', 'b'] }
    const labels = { tier: 'shop', floor: '7' }
    await using _agent = await startTestAgent(fleet, { ...options, place, labels })
    await untilCluster(fleet, 'edge', isOpen)
    const { spec, metadata } = await read()
    assert.deepEqual(
      [spec.provider, spec.region, spec.zones, metadata.labels],
      ['acme', 'north', ['a', 'b'], labels],
    )
    const facts = ['version', 'nodes', 'resources', 'apis', 'labels', 'place']
    const times = facts.map((fact) => {
      return metadata.annotations?.[`hub.skerry.io/observed-${fact}`] ?? ''
    })
    assert.ok(
      times.every((time) => Math.abs(Date.now() - Date.parse(time)) < 60_000),
      times.join(),
    )
  }
  const labels = { color: 'red' }
  const patch = { metadata: { labels } }
  await fleet.admin.resource(clusterResource).patch({ name: 'edge', type: 'merge', patch }, soon())
  await using _again = await startTestAgent(fleet, {
    ...options,
    labels: { tier: 'depot' },
    token: '',
  })
  await until(async () => (await read()).metadata.labels?.['tier'] === 'depot', soon())
  const { spec, metadata } = await read()
  assert.deepEqual(metadata.labels, { tier: 'depot', color: 'red' })
  assert.deepEqual([spec.provider, spec.region, spec.zones], [undefined, undefined, undefined])
})

test('an agent that lies about its cluster is bounded, and refused facts that the hub alone reports', async () => {
  await using all = await startFleet()
  const { fleet } = all
  using transport = await fleet.as({
    commonName: agentUserName('edge'),
    organizations: [agentsGroup],
  })
  const own = createCluster(transport, { clock: systemClock, log: silentLogger, userAgent: 't' })
  const clusters = own.resource(clusterResource)
  const many = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index))
  const labels = Object.fromEntries(many(100, (index) => [`l${index}`, 'x']))
  const lies: [what: string, lie: object, refusal: RegExp][] = [
    ['another id', { spec: { id: 'other' } }, /field is immutable/],
    ['a thousand zones', { spec: { zones: many(1_000, String) } }, /32 zones at most/],
    ['a region like a novel', { spec: { region: 'x'.repeat(129) } }, /128 printable/],
    ['a region that clears screens', { spec: { region: '\u001b[2J' } }, /128 printable/],
    ['a hundred labels', { metadata: { labels } }, /64 labels at most/],
    [
      "the operator's label",
      { metadata: { labels: { 'hub.skerry.io/tier': 'gold' } } },
      /may not set label "hub.skerry.io\/tier"/,
    ],
    [
      'a long annotation',
      { metadata: { annotations: { note: 'x'.repeat(20_000) } } },
      /bytes of annotations at most/,
    ],
    ['to stay for ever', { metadata: { finalizers: ['a/b'] } }, /may not change finalizers/],
    [
      'that the hub call elsewhere',
      { spec: { apiEndpoint: 'https://10.0.0.1:6443' } },
      /may not set spec.apiEndpoint/,
    ],
  ]
  for (const [what, lie, refusal] of lies) {
    const asked = clusters.patch({ name: 'edge', type: 'merge', patch: lie }, soon())
    await assert.rejects(asked, refusal, what)
  }
  const { status } = await clusters.get({ name: 'edge' }, soon())
  const conditions = (status?.conditions ?? []).map((each) =>
    each.type === 'Connected' ? { ...each, status: 'Unknown' } : each,
  )
  const statusLies: [lie: object, refusal: RegExp][] = [
    [{ conditions }, /may not say whether it is connected/],
    [{ kubernetesVersion: 'v'.repeat(200) }, /128 printable/],
    [{ nodeSummary: { totalNum: 1, readyNum: 2 } }, /may not report such counts of nodes/],
    [
      { apiEnablements: many(1_001, (index) => ({ groupVersion: `g${index}/v1` })) },
      /1000 versions of APIs at most/,
    ],
  ]
  for (const [lie, refusal] of statusLies) {
    const patch = { status: lie }
    const asked = clusters.patchStatus({ name: 'edge', type: 'merge', patch }, soon())
    await assert.rejects(asked, refusal)
  }
  const isWanted = ({ user, method }: AuditedLine): boolean =>
    user === agentUserName('edge') && method === 'PATCH'
  const count = lies.length + statusLies.length
  await untilAuditedLines(fleet, { count, isWanted }, soon())
})
