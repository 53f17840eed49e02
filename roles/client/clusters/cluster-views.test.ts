import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { clusterAccessResource, clusterResource } from '@skerry/fleet-kinds'
import type { ClusterState } from '@skerry/gateway'
import { registerCluster, startTestHub, type TestHub } from '../../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const apiGroup = 'rbac.authorization.k8s.io'
const rita = { kind: 'User', name: 'rita', apiGroup }
const program = join(import.meta.dirname, '../../../cmd/skerry.ts')

/**
 * Starts a hub with two clusters, of which rita may reach one; returns her kubeconfig, which works from
 * anywhere.
 */
async function startScene(fleet: TestHub): Promise<string> {
  for (const name of ['oslo', 'rome']) await registerCluster(fleet, name, { site: name })
  const access = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterAccess',
    metadata: { name: 'guests' },
    spec: {
      subjects: [rita],
      clusterSelector: { matchLabels: { site: 'oslo' } },
      verbs: ['get'],
    },
  }
  await fleet.admin.resource(clusterAccessResource).create(access, soon())
  const { certificate, key } = await fleet.credentialsOf({ commonName: 'rita' })
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const cluster = { server: fleet.url, 'certificate-authority-data': base64(fleet.caPem) }
  const user = {
    'client-certificate-data': base64(certificate),
    'client-key-data': base64(key),
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'hub', cluster }],
    users: [{ name: 'rita', user }],
    contexts: [{ name: 'hub', context: { cluster: 'hub', user: 'rita' } }],
    'current-context': 'hub',
  }
  const path = join(fleet.directory, 'rita.kubeconfig')
  await writeFile(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

/** Runs `skerry cluster …` with this kubeconfig. */
function view(
  kubeconfig: string,
  ...words: string[]
): Promise<{ code: number; out: string; err: string }> {
  const asked = [program, 'cluster', ...words, '--kubeconfig', kubeconfig]
  return new Promise((resolve) => {
    const ran = execFile(process.execPath, asked, { signal: soon() }, (_error, out, err) =>
      resolve({ code: ran.exitCode ?? -1, out, err }),
    )
  })
}

async function allowObjects({ admin }: TestHub): Promise<void> {
  const metadata = { name: 'readers' }
  const { group, resource } = clusterResource
  const rules = [{ apiGroups: [group], resources: [resource], verbs: ['get'] }]
  const role = { apiVersion: `${apiGroup}/v1`, kind: 'ClusterRole', metadata, rules }
  await admin.resource(resources.clusterRoles).create(role, soon())
  const binding = {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'readers' },
    subjects: [rita],
  }
  await admin.resource(resources.clusterRoleBindings).create(binding, soon())
}

test('a user with rights on a hub sees its clusters from anywhere, as far as those rights go', async () => {
  await using fleet = await startTestHub()
  const kubeconfig = await startScene(fleet)
  const [listed, oslo, rome] = await Promise.all([
    view(kubeconfig, 'list', '-o', 'json'),
    view(kubeconfig, 'describe', 'oslo'),
    view(kubeconfig, 'describe', 'rome'),
  ])
  const states: ClusterState[] = JSON.parse(listed.out)
  assert.deepEqual(
    states.map(({ name }) => name),
    ['oslo'],
  )
  // She sees its state through the right to reach it, but neither its object nor its events.
  assert.match(oslo.out, /^Name: +oslo\nNodes: [^]*^Tunnel: +closed$/m, oslo.err)
  assert.match(oslo.out, /^Not allowed: +object: .*"oslo" is forbidden: User "rita"/m)
  assert.match(oslo.out, /^Not allowed: +events: events is forbidden: User "rita"/m)
  assert.equal(rome.code, 1)
  assert.match(rome.err, /Cannot describe cluster "rome": .*state: .*; object: .*forbidden/)
  assert.doesNotMatch(rome.err, /\n {4}at /)
  // The facts are the object of a cluster whose state she may not see.
  await allowObjects(fleet)
  const facts = JSON.parse((await view(kubeconfig, 'describe', 'rome', '-o', 'json')).out)
  assert.deepEqual(
    [facts.cluster.metadata.name, facts.state, facts.events, facts.hidden.length],
    ['rome', undefined, undefined, 2],
  )
})
