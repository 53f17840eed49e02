import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { resources } from '@skerry/client'
import { revocationsKey } from '@skerry/membership'
import {
  freshToken,
  registerCluster,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const program = join(import.meta.dirname, '../skerry.ts')

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Writes the kubeconfig of a hub's administrator. */
async function administrators(fleet: TestHub): Promise<string> {
  const subject = { commonName: 'olga', organizations: ['system:masters'] }
  const { certificate, key } = await fleet.credentialsOf(subject)
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const cluster = { server: fleet.url, 'certificate-authority-data': base64(fleet.caPem) }
  const user = {
    'client-certificate-data': base64(certificate),
    'client-key-data': base64(key),
  }
  const path = join(fleet.directory, 'olga.kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'hub', cluster }],
    users: [{ name: 'olga', user }],
    contexts: [{ name: 'hub', context: { cluster: 'hub', user: 'olga' } }],
    'current-context': 'hub',
  }
  await writeFile(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

function cluster(kubeconfig: string, ...words: string[]): Promise<Ended> {
  return clusterBy([], kubeconfig, ...words)
}

/** Runs the command with options of Node itself. */
function clusterBy(
  options: readonly string[],
  kubeconfig: string,
  ...words: string[]
): Promise<Ended> {
  const asked = [...options, program, 'cluster', ...words, '--kubeconfig', kubeconfig]
  const signal = AbortSignal.timeout(60_000)
  return new Promise((resolve) => {
    const ran = execFile(process.execPath, asked, { signal }, (_error, out, err) =>
      resolve({ code: ran.exitCode ?? -1, out, err }),
    )
  })
}

test('a mistyped name is not reported as revoked', async () => {
  await using fleet = await startTestHub()
  const kubeconfig = await administrators(fleet)
  await registerCluster(fleet, 'oslo')
  await freshToken(fleet, 'rome')
  const mistyped = await cluster(kubeconfig, 'revoke', 'osol')
  assert.deepEqual([mistyped.code, mistyped.out], [2, ''])
  assert.match(mistyped.err, /the hub has no such cluster and no token for it.*skerry cluster list/)
  for (const name of ['oslo', 'rome']) {
    const { code, out } = await cluster(kubeconfig, 'revoke', name)
    assert.deepEqual([code, out.split(';', 1)[0]], [0, `Revoked the agent of ${name}`])
  }
})

const behind = (ms: number): string =>
  `data:text/javascript,const now = Date.now; Date.now = () => now() - ${ms}`

test("a revocation uses the hub's clock, whatever the administrator's clock says", async () => {
  await using fleet = await startTestHub()
  const kubeconfig = await administrators(fleet)
  await registerCluster(fleet, 'oslo')
  // The hub's answer names whole seconds.
  const beforeMs = Math.floor(Date.now() / 1_000) * 1_000
  const yearMs = 365 * 86_400_000
  for (const offsetMs of [yearMs, -yearMs]) {
    const clock = ['--import', behind(offsetMs)]
    const { code, err } = await clusterBy(clock, kubeconfig, 'revoke', 'oslo')
    assert.deepEqual([code, err], [0, ''])
    const { data } = await fleet.admin
      .resource(resources.configMaps)
      .get(revocationsKey, AbortSignal.timeout(20_000))
    const revokedMs = Date.parse(data?.['oslo'] ?? '')
    assert.ok(beforeMs <= revokedMs && revokedMs <= Date.now(), `revoked at ${revokedMs}`)
  }
})

test('the command for the edge leaves a token that only its owner may read', async () => {
  await using fleet = await startTestHub()
  const kubeconfig = await administrators(fleet)
  const { out } = await cluster(kubeconfig, 'join-command', 'oslo')
  const [write = ''] = out.split(' && skerry agent ')
  const { directory: cwd } = fleet
  await promisify(execFile)('sh', ['-c', `umask 022; ${write}`], { cwd })
  const token = join(cwd, 'token')
  assert.match(await readFile(token, 'utf8'), /^[a-z0-9]{6}\.[a-z0-9]{16}\n$/)
  assert.equal((await stat(token)).mode & 0o777, 0o600)
})

test('a value without a unit, or in an unknown form, is refused by name', async () => {
  for (const [option, value, why] of [
    ['--ttl', '24', /--ttl.*'24'.*a duration has its unit/],
    ['--output', 'yaml', /--output.*'yaml'.*json is the only one/],
  ] as const) {
    const { code, out, err } = await cluster('not-read', 'join-command', 'oslo', option, value)
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, why)
  }
})
