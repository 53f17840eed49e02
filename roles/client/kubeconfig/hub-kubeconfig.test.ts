import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster, createHttpsTransport, loadKubeconfig } from '@skerry/client'
import { clusterAccessResource } from '@skerry/fleet-kinds'
import { registerCluster, startTestHub } from '../../../testing/scenes/test-fleet.ts'
import { writeHubKubeconfig } from './hub-kubeconfig.ts'
import { createUserToken } from '../../admin/user-tokens.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

async function startFleet() {
  const fleet = await startTestHub({ clusterDomain: 'clusters.example.com' })
  for (const [name, region] of [
    ['oslo', 'north'],
    ['rome', 'south'],
  ] as const) {
    await registerCluster(fleet, name, { region })
  }
  await fleet.admin.resource(clusterAccessResource).create(
    {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'ClusterAccess',
      metadata: { name: 'north' },
      spec: {
        subjects: [{ kind: 'Group', name: 'north', apiGroup: 'rbac.authorization.k8s.io' }],
        clusterSelector: { matchLabels: { region: 'north' } },
        verbs: ['get'],
      },
    },
    soon(),
  )
  const request = { name: 'nora', groups: ['north'], ttlMs: undefined }
  const { token } = await createUserToken(fleet.admin, request, Date.now(), soon())
  const inFleet = (name: string): string => join(fleet.directory, name)
  await writeFile(inFleet('token'), `${token}\n`, { mode: 0o600 })
  await writeFile(inFleet('hub-ca.pem'), fleet.caPem)
  const options = {
    hub: fleet.url,
    caFile: inFleet('hub-ca.pem'),
    tokenFile: inFleet('token'),
    clientCertificate: undefined,
    clientKey: undefined,
    outputFile: inFleet('kubeconfig'),
    hostNames: false,
    prefix: '',
  }
  return {
    fleet,
    token,
    options,
    inFleet,
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose](),
  }
}

test('one kubeconfig has the hub and every cluster that its user may reach, and no secret', async () => {
  await using all = await startFleet()
  const { fleet, options, token } = all
  await writeHubKubeconfig(options, soon())
  const text = await readFile(options.outputFile, 'utf8')
  assert.ok(!text.includes(token))
  assert.equal((await stat(options.outputFile)).mode & 0o777, 0o600)
  const config = parse(text)
  assert.deepEqual(
    config.clusters.map((each: { name: string; cluster: { server: string } }) => [
      each.name,
      each.cluster.server,
    ]),
    [
      ['hub', fleet.url],
      ['oslo', `${fleet.url}/clusters/oslo`],
    ],
  )
  assert.equal(config['current-context'], 'hub')
  const target = await loadKubeconfig(
    options.outputFile,
    { context: 'oslo' },
    { clock: systemClock, environment: {} },
  )
  using transport = createHttpsTransport(target.transport, { clock: systemClock })
  const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
  // The request was allowed; only the tunnel is missing.
  const oslo = createCluster(transport, deps)
  const { status } = await oslo.raw({ method: 'GET', path: '/version', headers: {} }, soon())
  assert.equal(status, 503)
  const { port } = new URL(fleet.url)
  await writeHubKubeconfig({ ...options, hostNames: true }, soon())
  const named = parse(await readFile(options.outputFile, 'utf8'))
  assert.equal(named.clusters[1].cluster.server, `https://oslo.clusters.example.com:${port}`)
})

test('entries of others in a kubeconfig stay; clusters out of reach are removed from it', async () => {
  await using all = await startFleet()
  const { fleet, options } = all
  const others = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'mine',
    extensions: [{ name: 'x', extension: { keeps: true } }],
    clusters: [
      { name: 'mine', cluster: { server: 'https://10.0.0.1', 'disable-compression': true } },
    ],
    contexts: [{ name: 'mine', context: { cluster: 'mine', user: 'me' } }],
    users: [{ name: 'me', user: { username: 'a', password: 'b' } }],
  }
  await writeFile(options.outputFile, JSON.stringify(others))
  await writeHubKubeconfig(options, soon())
  await fleet.admin.resource(clusterAccessResource).patch(
    {
      name: 'north',
      type: 'merge',
      patch: { spec: { clusterSelector: { matchLabels: { region: 'south' } } } },
    },
    soon(),
  )
  await writeHubKubeconfig(options, soon())
  const merged = parse(await readFile(options.outputFile, 'utf8'))
  const names = (list: { name: string }[]) => list.map(({ name }) => name)
  assert.deepEqual(names(merged.contexts), ['mine', 'hub', 'rome'])
  assert.deepEqual(names(merged.users), ['me', 'hub-user'])
  assert.equal(merged['current-context'], 'mine')
  assert.deepEqual(merged.extensions, others.extensions)
  assert.deepEqual(merged.clusters[0], others.clusters[0])
  const taken = { ...others, contexts: [{ name: 'hub', context: { cluster: 'mine', user: 'me' } }] }
  await writeFile(options.outputFile, JSON.stringify(taken))
  await assert.rejects(
    writeHubKubeconfig(options, soon()),
    /another context or cluster "hub"; give ours a --prefix/,
  )
  await writeHubKubeconfig({ ...options, prefix: 'work-' }, soon())
  const prefixed = parse(await readFile(options.outputFile, 'utf8'))
  assert.deepEqual(names(prefixed.contexts), ['hub', 'work-hub', 'work-rome'])
})

test('a user who cannot ask the hub learns how to correct that', async () => {
  await using all = await startFleet()
  const { options, inFleet } = all
  await writeFile(inFleet('bad-token'), 'abc.def')
  const wrong: [change: object, message: RegExp][] = [
    [{ tokenFile: inFleet('bad-token') }, /does not know these credentials/],
    [{ tokenFile: undefined }, /pass --token-file, or --client-certificate and --client-key/],
    [{ caFile: undefined }, /--ca-file the hub's pki\/ca.crt/],
    [{ hub: 'hub:7443' }, /not an https:\/\/ address/],
    [{ renewBy: ['skerry'] }, /--token-file excludes .*--renew/],
    [{ clientCertificate: 'nora.crt' }, /--token-file excludes --client-certificate/],
    [{ tokenFile: undefined, renewBy: ['skerry'] }, /--renew is for --client-certificate/],
  ]
  for (const [change, message] of wrong) {
    await assert.rejects(writeHubKubeconfig({ ...options, ...change }, soon()), message)
  }
})
