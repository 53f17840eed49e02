import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestNetwork, type TestHost } from '@skerry/testing'
import { agentRole } from '../../../roles/site/objects/agent-objects.ts'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { connectAgent, startCloudHub, startScript } from './cloud-hub.ts'
import { createTranscript } from './transcript.ts'

const name = 'upstream'
const account = 'system:serviceaccount:kube-system:skerry-agent'

/**
 * Plays with upstream's API server at the edge, our agent in front of it, and our hub and kubectl in the
 * cloud.
 */
export async function playAgentUpstream(): Promise<void> {
  const bin = await buildUpstream(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'])
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-agent-upstream-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const network = stack.use(await createTestNetwork())
  const edge = await network.addHost(1)
  const cloud = await network.addHost(2)
  const admin = await startScript(edge, {
    script: 'dev/hack/upstream/upstream.ts',
    args: ['start', '--controllers', '--data', join(directory, 'edge')],
    logFile: join(directory, 'edge.log'),
  })
  const kubectl = join(bin, 'kubectl')
  const kubeconfig = await agentKubeconfig(edge, { kubectl, admin, directory })
  const hub = await startCloudHub(cloud, directory)
  await connectAgent(hub, { name, host: edge, kubeconfig, directory })
  const through = await hub.kubeconfigFor(`/clusters/${name}`)
  const { say, run } = createTranscript(cloud, { HOME: directory })
  const step = (args: string, expected: RegExp, input?: string) =>
    run({
      shown: `kubectl ${args}`,
      command: [kubectl, '--kubeconfig', through, ...args.split(' ')],
      expected,
      ...(input === undefined ? {} : { options: { input } }),
    })
  say('kubectl in the cloud; kube-apiserver 1.36.3 at the edge, which nobody can dial')
  await step('version', /Server Version: v1\.36\.3/)
  await step('auth whoami', /Username +kubernetes-admin/)
  await step('get namespaces', /kube-system +Active/)
  await step('apply -f -', /configmap\/lamp created/, lamp('lit'))
  await step('apply -f -', /configmap\/lamp configured/, lamp('out'))
  await step('get configmap lamp -o jsonpath={.data}', /"state":"out"/)
  await step(
    'apply --server-side --field-manager=second --force-conflicts -f -',
    /lamp serverside-applied/,
    lamp('dim'),
  )
  await step('get configmap lamp --watch --request-timeout=3s -o name', /configmap\/lamp/)
  await step('wait configmap/lamp --for=jsonpath={.data.state}=dim --timeout=10s', /condition met/)
  await step('explain configmap.data', /FIELD: data/)
  await step('delete configmap lamp', /configmap "lamp" deleted/)
  say('a user who is not allowed on the hub does not reach the edge')
  await run({
    shown: 'kubectl get namespaces --as=anna',
    command: [kubectl, '--kubeconfig', through, 'get', 'namespaces', '--as=anna'],
    expected: /User "anna" cannot list resource "clusters\/proxy"/,
    exitCode: 1,
  })
}

function lamp(state: string): string {
  return `apiVersion: v1
kind: ConfigMap
metadata: { name: lamp, namespace: default }
data: { state: ${state} }
`
}

interface Edge {
  readonly kubectl: string
  readonly admin: string
  readonly directory: string
}

/** Writes the kubeconfig of a service account with the rights that an agent needs, and no more. */
async function agentKubeconfig(
  host: TestHost,
  { kubectl, admin, directory }: Edge,
): Promise<string> {
  const rbac = 'rbac.authorization.k8s.io'
  const objects = [
    agentRole,
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'skerry-agent', namespace: 'kube-system' },
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'skerry-agent' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: agentRole.metadata.name },
      subjects: [{ apiGroup: rbac, kind: 'User', name: account }],
    },
  ]
  const ask = async (args: readonly string[], input?: string): Promise<string> => {
    const command = [kubectl, '--kubeconfig', admin, ...args]
    const result = await host.run(command, input === undefined ? {} : { input })
    if (result.exitCode === 0) return result.stdout.trim()
    throw new Error(`Cannot prepare the edge: ${result.stderr}`)
  }
  await ask(
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  )
  const token = await ask(['create', 'token', 'skerry-agent', '-n', 'kube-system'])
  const config = JSON.parse(await ask(['config', 'view', '--raw', '-o', 'json']))
  config.users[0].user = { token }
  const path = join(directory, 'agent.kubeconfig')
  await writeFile(path, JSON.stringify(config), { mode: 0o600 })
  return path
}
