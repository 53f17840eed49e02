import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createMetrics, linkedSignal, silentLogger, systemClock } from '@skerry/base'
import { issueClientCertificate, writeCertificateAndKey, writeFileDurably } from '@skerry/bootstrap'
import { fixedCredentials, readBody, type HttpsTransportConfig } from '@skerry/client'
import { registrationResource, type ClusterRegistration } from '@skerry/fleet-kinds'
import { unpackClients, until } from '@skerry/testing'
import {
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { runAgentPod } from './agent-pod.ts'
import { openProbes } from './probe-server.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
type Edge = Awaited<ReturnType<typeof startTestEdge>>

/** Runs kubectl as administrator of the edge. */
async function createKubectl(edge: Edge, directory: string) {
  const subject = { commonName: 'admin', organizations: ['system:masters'] }
  const issued = await issueClientCertificate(edge.authority, { subject }, systemClock)
  const paths = {
    certificatePath: join(directory, 'admin.crt'),
    keyPath: join(directory, 'admin.key'),
  }
  await writeCertificateAndKey(paths, issued)
  const ca = join(directory, 'edge-ca.crt')
  await writeFileDurably(ca, edge.credentials.ca, 0o644)
  const { kubectl } = await unpackClients()
  const access = [
    `--server=${edge.url}`,
    `--certificate-authority=${ca}`,
    `--client-certificate=${paths.certificatePath}`,
    `--client-key=${paths.keyPath}`,
    `--cache-dir=${join(directory, 'kubectl')}`,
  ]
  return async (args: readonly string[], input = '') => {
    const child = spawn(kubectl, [...access, ...args], { signal: soon() })
    child.stdin.end(input)
    const ended = once(child, 'exit')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    await ended
    return { stdout, stderr, code: child.exitCode }
  }
}

async function register(fleet: TestHub) {
  const registration: ClusterRegistration = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterRegistration',
    metadata: {},
    spec: { clusterName: 'edge', server: fleet.url, allowGroups: ['staff'] },
  }
  const { status } = await fleet.admin.resource(registrationResource).create(registration, soon())
  assert.ok(status)
  return status
}

interface PodOptions {
  directory: string
  token?: string
  caHash?: string
  api: HttpsTransportConfig
}

/** The agent with the arguments of the manifest, as the manifest's service account. */
function startPod(fleet: TestHub, { directory, token, caHash, api }: PodOptions): AsyncDisposable {
  const stop = linkedSignal(new AbortController().signal)
  const running = runAgentPod(
    {
      directory,
      hub: fleet.url,
      clusterName: 'edge',
      // The manifest sets this token file, even if the Secret has been deleted since.
      enrolment: { tokenFile: join(fleet.directory, 'no-token'), tokenText: token, caHash },
      api,
      policy: { groups: ['staff'], deniedGroups: ['system:masters'] },
      identitySecret: 'skerry-agent/skerry-agent-identity',
    },
    { ...fleet.context, metrics: createMetrics(), signal: stop.signal },
  )
  const ended = running.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the pod goes'))
      await ended
    },
  }
}

const isOpen = ({ Ready, Connected }: Readonly<Record<string, string>>): boolean =>
  Ready === 'True' && Connected === 'True'

async function ask(fleet: TestHub, organizations: string[]) {
  using transport = await fleet.as({ commonName: 'olga', organizations })
  const path = '/clusters/edge/api/v1/namespaces/skerry-agent'
  const answer = await transport.send({ method: 'GET', path, headers: {} }, soon())
  return { status: answer.status, text: (await readBody(answer.body)).toString('utf8') }
}

test('a cluster joins by kubectl apply of the manifest, and its agent survives its pod', async () => {
  await using edge = await startTestEdge()
  await using fleet = await startTestHub()
  const kubectl = await createKubectl(edge, fleet.directory)
  const { manifest, token, caHash } = await register(fleet)
  const applied = await kubectl(['apply', '-f', '-'], manifest)
  assert.deepEqual([applied.code, applied.stderr], [0, ''])
  const account = ['-n', 'skerry-agent', 'create', 'token', 'skerry-agent']
  const bearerToken = (await kubectl(account)).stdout.trim()
  const api = { ...edge.api, credentials: fixedCredentials({ bearerToken }) }
  {
    const directory = join(fleet.directory, 'first')
    await using _pod = startPod(fleet, { directory, token, caHash, api })
    await untilCluster(fleet, 'edge', isOpen)
    const secret = ['-n', 'skerry-agent', 'get', 'secret', 'skerry-agent-identity', '-o', 'name']
    assert.equal((await kubectl(secret)).code, 0)
    await untilKept(kubectl)
  }
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'False')
  assert.equal((await kubectl(['apply', '-f', '-'], manifest)).code, 0)
  await using _next = startPod(fleet, { directory: join(fleet.directory, 'second'), api })
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'True')
  const role = ['create', 'clusterrolebinding', 'staff-view', '--clusterrole=view', '--group=staff']
  assert.equal((await kubectl(role)).code, 0)
  await grantProxy(fleet)
  assert.equal((await ask(fleet, ['staff'])).status, 200)
  for (const group of ['system:masters', 'strangers']) {
    const { status, text: body } = await ask(fleet, ['staff', group])
    assert.equal(status, 403)
    assert.ok(body.includes(`does not act for group \\"${group}\\"`), body)
  }
})

async function untilKept(kubectl: Awaited<ReturnType<typeof createKubectl>>): Promise<void> {
  const path = ['-n', 'skerry-agent', 'get', 'secret', 'skerry-agent-identity']
  await until(async () => {
    const { stdout } = await kubectl([...path, '-o', 'jsonpath={.data.agent\\.crt}'])
    return stdout
  }, soon())
}

async function grantProxy(fleet: TestHub): Promise<void> {
  const group = 'rbac.authorization.k8s.io'
  const { objects } = fleet.hub.plane
  await objects.create(
    { group, resource: 'clusterroles' },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'reader' },
      rules: [{ apiGroups: ['cluster.karmada.io'], resources: ['clusters/proxy'], verbs: ['get'] }],
    },
  )
  await objects.create(
    { group, resource: 'clusterrolebindings' },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'reader' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'reader' },
      subjects: [{ apiGroup: group, kind: 'Group', name: 'staff' }],
    },
  )
}

test('probes say that the process runs, and whether it is connected', async () => {
  const state = { isReady: false }
  await using probes = await openProbes(0, () => state.isReady, silentLogger)
  const statusOf = async (path: string) =>
    (await fetch(`http://127.0.0.1:${probes.port}${path}`)).status
  assert.deepEqual([await statusOf('/livez'), await statusOf('/readyz')], [200, 503])
  state.isReady = true
  assert.deepEqual([await statusOf('/readyz'), await statusOf('/metrics')], [200, 404])
})
