/** The agent as its users run it elsewhere: a Deployment from `join-command --manifest`, in containers, on a node. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { agentUserName, agentsGroup } from '@skerry/fleet-kinds'
import { generateKeyPair, signCertificate, validityOf } from '@skerry/pki'
import type { CommandResult, RunOptions, TestHost } from '@skerry/testing'
import { buildProgram } from '../build/build.ts'
import { agentProcesses, agentProcessOf } from './agent-processes.ts'
import { ClusterOnHosts, type EdgeNode } from './cluster-on-hosts.ts'
import { followLog } from './follow-log.ts'
import { importsAndBacksOut } from './import-story.ts'
import { whyNot } from './prerequisites.ts'
import { RoleProcess, skerryCommand, skerryEnv } from './role-process.ts'

const dayMs = 86_400_000
const namespace = ['-n', 'skerry-agent']

/** A pod whose log never ends. */
const ticker = `
apiVersion: v1
kind: Pod
metadata: { name: ticker, namespace: default }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: skerry-examples/redis:7.0
      command: [sh, -c, 'while true; do date; sleep 1; done']
`

/** The rights of the group staff: at the hub to reach the cluster, in the cluster to view it. */
const hubRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: edge-reader }
rules:
  - { apiGroups: [cluster.karmada.io], resources: [clusters/proxy], verbs: [get, list, watch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: edge-reader }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edge-reader }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: staff }]
`

interface Scene {
  readonly cluster: ClusterOnHosts
  readonly node: EdgeNode
  /** The name, unique on the machine: the test finds the agent's processes by it. */
  readonly name: string
  readonly hub: { host: TestHost; directory: string; server: string }
  /** Runs kubectl as the hub's administrator. */
  readonly atHub: (args: readonly string[], options?: RunOptions) => Promise<string>
  /** The command of kubectl as a person of the group staff, to the cluster through the hub. */
  readonly asStaff: (args: readonly string[]) => string[]
}

test('the agent as a Deployment', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  const [node, image] = await Promise.all([cluster.addNode(1), buildImage(cluster.directory)])
  const scene = await openScene(cluster, node)
  await t.test('an import by a manifest is undone without a trace in the cluster', () =>
    isImported(scene, image),
  )
  await t.test('its image needs no registry, and its manifest only kubectl apply', () =>
    joins(scene),
  )
  await t.test('runs as nobody, and writes nothing to its image', () => isNobody(scene))
  await t.test('comes back as the same cluster when its pod is deleted', () => comesBack(scene))
  await t.test('two replicas: one that is killed loses its own streams only', () =>
    losesOnlyItsOwn(scene),
  )
  await t.test('renews its certificate, and keeps it in the Secret', () => renews(scene))
})

async function buildImage(directory: string): Promise<string> {
  const agentImage = join(directory, 'agent.tar')
  await buildProgram({ outputDir: join(directory, 'dist'), executable: true, agentImage })
  return agentImage
}

async function openScene(cluster: ClusterOnHosts, node: EdgeNode): Promise<Scene> {
  const host = await cluster.host(5)
  const directory = join(cluster.directory, 'hub')
  const server = `https://${host.address}:7443`
  const role = new RoleProcess({
    host,
    name: 'hub',
    command: [...skerryCommand, 'hub', '--data-dir', directory],
    logFile: join(cluster.directory, 'hub.log'),
  })
  cluster.roles.push(role)
  await role.start()
  const admin = join(directory, 'admin.kubeconfig')
  await cluster.waitFor('the hub to serve', () => readFile(admin, 'utf8'))
  const [program = ''] = cluster.kubectlCommand([])
  const env = { HOME: join(cluster.directory, 'cloud') }
  const name = `edge-${process.pid.toString(36)}`
  const staff = join(cluster.directory, 'staff.kubeconfig')
  return {
    cluster,
    node,
    name,
    hub: { host, directory, server },
    async atHub(args, options = {}) {
      const command = [program, '--kubeconfig', admin, ...args]
      return printedBy(args, await host.run(command, { timeoutMs: 60_000, env, ...options }))
    },
    asStaff: (args) => [program, '--kubeconfig', staff, ...args],
  }
}

function printedBy(args: readonly string[], { exitCode, stdout, stderr }: CommandResult): string {
  assert.equal(exitCode, 0, `${args.join(' ')}: ${stderr}`)
  return stdout
}

async function runSkerry(host: TestHost, args: readonly string[]): Promise<string> {
  const command = [...skerryCommand, ...args]
  return printedBy(args, await host.run(command, { env: skerryEnv, timeoutMs: 120_000 }))
}

async function lookAsStaff({ hub, asStaff }: Scene, args: readonly string[]): Promise<string> {
  return printedBy(args, await hub.host.run(asStaff(args), { timeoutMs: 60_000 }))
}

async function isImported(scene: Scene, image: string): Promise<void> {
  const { cluster, node, name, hub, atHub: kubectl } = scene
  await runSkerry(node.host, ['image', 'import', image, '--node-dir', nodeDirectory(scene)])
  const { host, directory, server } = hub
  const atHub = (args: readonly string[]) => runSkerry(host, [...args, '--data-dir', directory])
  await importsAndBacksOut({ cluster, name: `${name}-guest`, server, atHub, kubectl })
  assert.deepEqual(await agentProcesses(`${name}-guest`), [])
}

async function joins(scene: Scene): Promise<void> {
  const { cluster, name, hub, atHub } = scene
  const { host, directory, server } = hub
  const joining = ['cluster', 'join-command', name, '--data-dir', directory, '--server', server]
  const manifest = await runSkerry(host, [...joining, '--manifest', '--allow-group', 'staff'])
  await cluster.apply(manifest)
  await writeStaffAccess(scene)
  await atHub(['apply', '-f', '-'], { input: hubRights })
  await cluster.kubectl(
    'create',
    'clusterrolebinding',
    'staff',
    '--clusterrole=view',
    '--group=staff',
  )
  await cluster.waitFor('the cluster to be Ready at the hub', async () =>
    (await atHub(['get', 'cluster', name, '-o', `jsonpath=${ready}`])) === 'True'
      ? true
      : undefined,
  )
  const isAvailable = ['wait', 'deployment/skerry-agent', '--for=condition=Available']
  await cluster.kubectl(...namespace, ...isAvailable, '--timeout=60s')
  assert.match(await lookAsStaff(scene, [...namespace, 'get', 'pods']), /^skerry-agent-\S+ /m)
}

const ready = '{.status.conditions[?(@.type=="Ready")].status}'

function nodeDirectory({ cluster, node }: Scene): string {
  return join(cluster.directory, node.name)
}

/** Creates a person with a token, whose kubeconfig uses the cluster's path at the hub. */
async function writeStaffAccess({ cluster, name, hub }: Scene): Promise<void> {
  const { host, directory, server } = hub
  const adding = ['user', 'add', 'olga', '--group', 'staff', '--data-dir', directory]
  const token = (await runSkerry(host, adding)).trim()
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          server: `${server}/clusters/${name}`,
          'certificate-authority': join(directory, 'pki', 'ca.crt'),
        },
      },
    ],
    users: [{ name: 'olga', user: { token } }],
    contexts: [{ name, context: { cluster: name, user: 'olga' } }],
    'current-context': name,
  }
  await writeFile(join(cluster.directory, 'staff.kubeconfig'), JSON.stringify(config))
}

async function isNobody({ name }: Scene): Promise<void> {
  const [agent, ...more] = await agentProcesses(name)
  assert.ok(agent)
  assert.deepEqual(more, [])
  assert.deepEqual(
    [agent.userIds, agent.groupIds, agent.capabilities, agent.noNewPrivileges, agent.rootOptions],
    [['65532'], ['65532'], [0n], true, 'ro'],
  )
}

async function comesBack(scene: Scene): Promise<void> {
  const { cluster, name, atHub } = scene
  const uid = await atHub(['get', 'cluster', name, '-o', 'jsonpath={.metadata.uid}'])
  const before = await onlyAgent(scene)
  // The agent needs its token only for its first registration.
  await cluster.kubectl(...namespace, 'delete', 'secret', 'skerry-agent-token')
  await cluster.kubectl(...namespace, 'delete', 'pod', before)
  await cluster.waitFor('another pod to have the tunnel', async () => {
    const hosts = await agentsAt(scene)
    return hosts.length === 1 && hosts[0] !== before ? true : undefined
  })
  assert.match(await lookAsStaff(scene, [...namespace, 'get', 'pods']), /^skerry-agent-\S+ /m)
  assert.equal(await atHub(['get', 'cluster', name, '-o', 'jsonpath={.metadata.uid}']), uid)
  const requests = (await atHub(['get', 'csr', '-o', 'name'])).trim().split('\n')
  const own = requests.filter((each) => !each.includes(`/${name}-guest-`))
  assert.equal(own.length, 1, requests.join())
}

/** Returns the names of the pods whose tunnels are open, newest first. */
async function agentsAt({ name, atHub }: Scene): Promise<string[]> {
  const text = await atHub(['get', '--raw', `/tunnel/v1/clusters/${name}`])
  // The hub's own report.
  const { tunnels } = JSON.parse(text) as { tunnels: { agent: { host: string } }[] }
  return tunnels.map(({ agent }) => agent.host)
}

async function onlyAgent(scene: Scene): Promise<string> {
  const [pod, ...more] = await agentsAt(scene)
  assert.ok(pod !== undefined && more.length === 0)
  return pod
}

async function losesOnlyItsOwn(scene: Scene): Promise<void> {
  const { cluster, name, hub, asStaff } = scene
  await cluster.apply(ticker)
  await cluster.kubectl('wait', 'pod/ticker', '--for=condition=Ready', '--timeout=60s')
  const logs = asStaff(['logs', '-f', 'ticker', '--tail=1'])
  const older = followLog(hub.host, logs)
  await older.nextLine()
  const first = await onlyAgent(scene)
  await cluster.kubectl(...namespace, 'scale', 'deployment', 'skerry-agent', '--replicas=2')
  const newest = await cluster.waitFor('the second agent to have a tunnel', async () => {
    const [agent, ...more] = await agentsAt(scene)
    return agent !== first && more.length === 1 ? agent : undefined
  })
  const newer = followLog(hub.host, logs)
  await newer.nextLine()
  const doomed = await agentProcessOf(name, newest)
  process.kill(doomed.pid, 'SIGKILL')
  assert.equal(await lookAsStaff(scene, ['get', '--raw', '/readyz']), 'ok')
  await newer.ended
  await older.nextLine()
  await older.nextLine()
  await older.stop()
  await cluster.waitFor('the killed agent to be back', async () =>
    (await agentsAt(scene)).length === 2 ? true : undefined,
  )
}

/**
 * Replaces the pods' certificate by one that is about to expire. A pod that starts with it requests the next
 * one.
 */
async function renews(scene: Scene): Promise<void> {
  const { cluster, name, hub } = scene
  const pki = join(hub.directory, 'pki')
  const authority = {
    certificatePem: await readFile(join(pki, 'ca.crt'), 'utf8'),
    privateKeyPem: await readFile(join(pki, 'ca.key'), 'utf8'),
  }
  const { privateKeyPem, publicKeyPem } = await generateKeyPair()
  const nowMs = Date.now()
  const old = await signCertificate(authority, {
    subject: { commonName: agentUserName(name), organizations: [agentsGroup] },
    publicKeyPem,
    notBeforeMs: nowMs - 360 * dayMs,
    notAfterMs: nowMs + dayMs,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['clientAuth'],
  })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const patch = { data: { 'agent.crt': base64(old), 'agent.key': base64(privateKeyPem) } }
  const secret = [...namespace, 'patch', 'secret', 'skerry-agent-identity']
  await cluster.kubectl(...secret, '--type=merge', '-p', JSON.stringify(patch))
  await cluster.kubectl(...namespace, 'rollout', 'restart', 'deployment/skerry-agent')
  await cluster.waitFor('the Secret to hold a certificate for a year', async () => {
    const read = [...namespace, 'get', 'secret', 'skerry-agent-identity']
    const data = await cluster.kubectl(...read, '-o', 'jsonpath={.data.agent\\.crt}')
    const { notAfterMs } = validityOf(Buffer.from(data, 'base64').toString('utf8'))
    return notAfterMs > nowMs + 360 * dayMs ? true : undefined
  })
  assert.equal(await lookAsStaff(scene, ['get', '--raw', '/readyz']), 'ok')
}
