import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError, simulatedClock, systemClock } from '@skerry/base'
import { loadKubeconfig, parseKubeconfig, type Kubeconfig } from './kubeconfig.ts'
import { writeKubeconfig } from './write-kubeconfig.ts'

const deps = { clock: systemClock, environment: { PATH: '/usr/bin:/bin' } }
const signal = new AbortController().signal
const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function directory() {
  const path = await mkdtemp(join(tmpdir(), 'skerry-kubeconfig-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

function config(user: NonNullable<NonNullable<Kubeconfig['users']>[number]['user']>): Kubeconfig {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: { server: 'https://h/clusters/a', 'certificate-authority-data': base64('CA') },
      },
    ],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'n' } }],
    'current-context': 'x',
  }
}

test('a written kubeconfig reads back the same, and only its owner may read it', async () => {
  await using home = await directory()
  const path = join(home.path, 'config')
  const user = { 'client-certificate-data': base64('C'), 'client-key-data': base64('K') }
  await writeKubeconfig(path, config(user))
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const { transport, namespace } = await loadKubeconfig(path, {}, deps)
  assert.equal(namespace, 'n')
  assert.equal(transport.server, 'https://h/clusters/a')
  assert.equal(transport.certificateAuthority, 'CA')
  assert.deepEqual(await transport.credentials?.(signal), { certificate: 'C', key: 'K' })
})

test('a token file is found next to the kubeconfig', async () => {
  await using home = await directory()
  await writeFile(join(home.path, 'token'), 'abc\n')
  const path = join(home.path, 'config')
  await writeKubeconfig(path, config({ tokenFile: 'token' }))
  const { transport } = await loadKubeconfig(path, {}, deps)
  assert.deepEqual(await transport.credentials?.(signal), { bearerToken: 'abc' })
})

test('an exec plugin gets its arguments as they are and its answer is kept while it lasts', async () => {
  await using home = await directory()
  const path = join(home.path, 'config')
  const credential = {
    kind: 'ExecCredential',
    status: { token: 't', expirationTimestamp: '2999-01-01T00:00:00Z' },
  }
  const script = 'echo x >> "$1"; echo "$2"'
  const calls = join(home.path, 'calls')
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'sh',
    args: ['-c', script, 'sh', calls, JSON.stringify(credential)],
  }
  await writeKubeconfig(path, config({ exec }))
  const { transport } = await loadKubeconfig(path, {}, deps)
  assert.deepEqual(await transport.credentials?.(signal), { bearerToken: 't' })
  assert.deepEqual(await transport.credentials?.(signal), { bearerToken: 't' })
  assert.equal((await stat(calls)).size, 2)
})

/** Creates a plugin that returns the next token each time, and counts its starts. */
async function countingPlugin(home: string) {
  const calls = join(home, 'calls')
  const script =
    'echo x >> "$1"; printf \'{"kind":"ExecCredential","status":{"token":"t%d"}}\' "$(wc -l < "$1")"'
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'sh',
    args: ['-c', script, 'sh', calls],
  }
  const path = join(home, 'config')
  await writeKubeconfig(path, config({ exec }))
  return { path, starts: async () => (await stat(calls)).size / 2 }
}

test('a caller that leaves while a plugin runs takes its answer from no other caller', async () => {
  await using home = await directory()
  const plugin = await countingPlugin(home.path)
  const { transport } = await loadKubeconfig(plugin.path, {}, deps)
  const leaving = new AbortController()
  const first = transport.credentials?.(leaving.signal)
  const second = transport.credentials?.(signal)
  leaving.abort(new Error('the client went away'))
  await assert.rejects(first ?? Promise.resolve(), /the client went away/)
  assert.deepEqual(await second, { bearerToken: 't1' })
  assert.equal(await plugin.starts(), 1)
})

test('a plugin is asked again after a server refused its credentials, but not at once', async () => {
  await using home = await directory()
  const plugin = await countingPlugin(home.path)
  const clock = simulatedClock()
  const { transport } = await loadKubeconfig(plugin.path, {}, { ...deps, clock })
  const { credentials } = transport
  const given = (await credentials?.(signal)) ?? {}
  credentials?.onRefused?.(given)
  assert.deepEqual(await credentials?.(signal), { bearerToken: 't1' })
  await clock.advance(10_000)
  credentials?.onRefused?.({ bearerToken: 'another' })
  assert.deepEqual(await credentials?.(signal), { bearerToken: 't1' })
  credentials?.onRefused?.(given)
  assert.deepEqual(await credentials?.(signal), { bearerToken: 't2' })
})

const broken: [string, string, RegExp][] = [
  ['no YAML', 'a: [', /it is not YAML/],
  [
    'a cluster without a server',
    'clusters: [{name: a, cluster: {}}]',
    /clusters\.0\.cluster\.server/,
  ],
]
for (const [name, text, message] of broken) {
  test(`a kubeconfig that is ${name} is refused with where and why`, () => {
    assert.throws(
      () => parseKubeconfig(text, '/some/file'),
      (error: unknown) => {
        assert.ok(error instanceof ExpectedError)
        assert.match(error.message, message)
        assert.match(error.message, /\/some\/file/)
        return true
      },
    )
  })
}

test('a missing context is named', async () => {
  await using home = await directory()
  const path = join(home.path, 'config')
  await writeKubeconfig(path, config({}))
  await assert.rejects(loadKubeconfig(path, { context: 'y' }, deps), /it has no context "y"/)
})

test('a cluster without a name is read, as in cluster-info', () => {
  const text = 'kind: Config\nclusters: [{ cluster: { server: "https://karmada:5443" } }]\n'
  const [found] = parseKubeconfig(text, 'cluster-info').clusters ?? []
  assert.deepEqual([found?.name, found?.cluster.server], ['', 'https://karmada:5443'])
})
