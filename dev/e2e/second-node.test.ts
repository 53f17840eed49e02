/** A second machine joins with the printed command; the two share a pod and service network. */
import assert from 'node:assert/strict'
import { access, chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CommandResult, TestHost } from '@skerry/testing'
import { ClusterOnHosts, type EdgeNode } from './cluster-on-hosts.ts'
import { containerStates } from './container-states.ts'
import { echoOnEachNode } from './echo-manifest.ts'
import { moveNode, moveSite, untilNodeAt } from './moved-address.ts'
import { whyNot } from './prerequisites.ts'
import { RoleProcess, skerryCommand } from './role-process.ts'

/** One web server on each node, and a service over both. */
const manifest = `${echoOnEachNode}---
apiVersion: v1
kind: Service
metadata: { name: echo, namespace: default }
spec:
  selector: { app: echo }
  ports: [{ port: 80, targetPort: 8080 }]
`

test('two nodes', { skip: await whyNot(), timeout: 400_000 }, async (t) => {
  await using cluster = await ClusterOnHosts.start()
  const first = await cluster.addNode(1)
  await t.test('a wrong CA hash is refused in one line', () => refusesHash(cluster))
  await t.test('a wrong token is refused in one line', () => refusesToken(cluster))
  await t.test('a join that is killed at any step leaves nothing in the way of the next', () =>
    killJoins(cluster),
  )
  const second = await joinByPrintedCommand(cluster)
  await t.test('the printed command joins a second node', () => cluster.untilNodeReady(second.name))
  await t.test('pods reach each other by address, service and name', () => reach(cluster))
  await t.test('a load balancer answers at the addresses of the nodes, not at a port in use', () =>
    balances(cluster, [first, second]),
  )
  await t.test('routes to pods of the other node, once deleted, are put back', () =>
    losesRoutes(cluster, first),
  )
  await t.test('a policy that denies all stops both directions until it is deleted', () =>
    denyAll(cluster),
  )
  await t.test(
    'a node whose machine gets another address is reached there, and its pods run on',
    () => moves(cluster, second),
  )
  await t.test('a node that is cut off keeps serving, and returns without a restart', () =>
    cutOff(cluster, first, second),
  )
  await t.test(
    'a site whose machine gets another address is reached there, by its own node too',
    () => movesSite(cluster, first),
  )
})

async function refusesHash(cluster: ClusterOnHosts): Promise<void> {
  const { server, token } = await cluster.createToken()
  const result = await tryToJoin(cluster, { server, token, caHash: `sha256:${'0'.repeat(64)}` })
  assert.notEqual(result.exitCode, 0)
  assert.match(errorLine(result), /authority is sha256:\w+, not sha256:0000/)
}

async function refusesToken(cluster: ClusterOnHosts): Promise<void> {
  const { server, caHash } = await cluster.createToken()
  const result = await tryToJoin(cluster, { server, token: 'abcdef.0123456789abcdef', caHash })
  assert.notEqual(result.exitCode, 0)
  assert.match(errorLine(result), /[Tt]oken .*(wrong|unknown|expired)/)
}

async function tryToJoin(
  cluster: ClusterOnHosts,
  { server, token, caHash }: { server: string; token: string; caHash: string },
): Promise<CommandResult> {
  const { host, flags } = await cluster.planNode(2)
  const tokenFile = join(cluster.directory, 'joining')
  await writeFile(tokenFile, token)
  const joining = ['--server', server, '--token-file', tokenFile, '--ca-hash', caHash]
  return host.run([...skerryCommand, 'node', ...flags, ...joining], { timeoutMs: 30_000 })
}

/** Joining writes these files in this order. Each start of the node reaches the next file. */
const joinFiles = ['containerd/config.toml', 'pki/ca.crt', 'pki/kubelet-client.key', 'pki/server']

async function killJoins(cluster: ClusterOnHosts): Promise<void> {
  const { server, token, caHash } = await cluster.createToken()
  const { host, name, dataDirectory, flags } = await cluster.planNode(2)
  const tokenFile = join(cluster.directory, 'killed')
  await writeFile(tokenFile, token)
  const joining = ['--server', server, '--token-file', tokenFile, '--ca-hash', caHash]
  const command = [...skerryCommand, 'node', ...flags, ...joining]
  for (const file of joinFiles) {
    const logFile = join(cluster.directory, `${name}-killed.log`)
    const role = new RoleProcess({ host, name, command, logFile })
    await role.start()
    const look = (): Promise<true | undefined> =>
      access(join(dataDirectory, file)).then(
        () => true,
        () => undefined,
      )
    await cluster.waitFor(`${file} to be written`, look)
    await role.kill()
  }
}

/** Returns the line for people: the only one that is not a structured log. */
function errorLine({ stderr, exitCode }: CommandResult): string {
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  assert.equal(lines.length, 1, `exit code ${exitCode}, and on stderr:\n${stderr}`)
  return lines[0] ?? ''
}

/** The printed line is run by a shell as it is, in an empty directory, on the second host. */
async function joinByPrintedCommand(cluster: ClusterOnHosts): Promise<EdgeNode> {
  const create = ['token', 'create', '--data-dir', cluster.siteDirectory]
  const printed = await cluster.skerry(...create, '--print-join-command')
  const plan = await cluster.planNode(2)
  const bin = join(cluster.directory, 'bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'skerry'), `#!/bin/sh\nexec ${skerryCommand.join(' ')} "$@"\n`)
  await chmod(join(bin, 'skerry'), 0o755)
  const script = `cd ${bin} && PATH=${bin}:$PATH && ${printed.trim()} ${plan.flags.join(' ')}`
  return cluster.startNode(plan, ['sh', '-c', script])
}

interface EchoPod {
  name: string
  ip: string
  node: string
}

async function reach(cluster: ClusterOnHosts): Promise<void> {
  await cluster.apply(manifest)
  await cluster.kubectl('rollout', 'status', 'daemonset/echo', '--timeout=60s')
  const pods = await echoPods(cluster)
  assert.equal(new Set(pods.map((pod) => pod.node)).size, 2)
  const serviceIp = await cluster.kubectl(
    'get',
    'service',
    'echo',
    '-o',
    'jsonpath={.spec.clusterIP}',
  )
  for (const from of pods) {
    for (const to of pods) {
      assert.equal(await fetchName(cluster, from, `${to.ip}:8080`), to.name)
    }
    for (const name of [serviceIp, 'echo', 'echo.default.svc.cluster.local']) {
      await cluster.waitFor(`${name} to lead ${from.name} to both pods`, async () => {
        const script = `for n in 1 2 3 4 5 6 7 8 9 10 11 12; do wget -q -O - http://${name}/name; done`
        const output = await cluster.kubectl('exec', from.name, '--', 'sh', '-c', script)
        return new Set(output.trim().split('\n')).size === 2 ? true : undefined
      })
    }
  }
}

const balancers = [8088, 10_250].map(
  (port) => `
apiVersion: v1
kind: Service
metadata: { name: lb-${port}, namespace: default }
spec:
  type: LoadBalancer
  selector: { app: echo }
  ports: [{ port: ${port}, targetPort: 8080 }]
`,
)

async function balances(
  cluster: ClusterOnHosts,
  nodes: readonly [EdgeNode, EdgeNode],
): Promise<void> {
  await cluster.apply(balancers.join('---'))
  const addresses = nodes.map(({ host }) => host.address).toSorted()
  const read = (name: string, path: string): Promise<string> =>
    cluster.kubectl('get', 'service', name, '-o', `jsonpath=${path}`)
  await cluster.waitFor('the load balancer to have the addresses of both nodes', async () => {
    const ips = await read('lb-8088', '{.status.loadBalancer.ingress[*].ip}')
    return ips.split(' ').toSorted().join() === addresses.join() ? true : undefined
  })
  const pods = (await echoPods(cluster)).map(({ name }) => name)
  const [one, other] = nodes
  for (const [from, to] of [
    [one, other],
    [other, one],
    [one, one],
  ] as const) {
    const seen = new Set<string>()
    const url = `http://${to.host.address}:8088/name`
    await cluster.waitFor(`${from.name} to reach both pods at ${to.name}`, async () => {
      const answer = await from.host.run(['timeout', '3', 'busybox', 'wget', '-qO-', url])
      if (answer.exitCode === 0) seen.add(answer.stdout.trim())
      return seen.size === pods.length ? true : undefined
    })
    assert.deepEqual([...seen].toSorted(), pods.toSorted())
  }
  await cluster.waitFor('the load balancer of a port in use to say so', async () => {
    const message = await read('lb-10250', '{.status.conditions[*].message}')
    const ips = await read('lb-10250', '{.status.loadBalancer.ingress[*].ip}')
    return ips === '' && nodes.every(({ name }) => message.includes(`node ${name}: port 10250/tcp`))
      ? true
      : undefined
  })
}

async function losesRoutes(cluster: ClusterOnHosts, first: EdgeNode): Promise<void> {
  const pods = await echoPods(cluster)
  const near = pods.find((pod) => pod.node === first.name)
  const far = pods.find((pod) => pod.node !== first.name)
  assert.ok(near && far)
  const flushed = await first.host.run(['ip', 'route', 'flush', 'proto', '73'])
  assert.equal(flushed.exitCode, 0, flushed.stderr)
  await cluster.waitFor('pods of the other node to be in reach', async () =>
    (await hasAnswer(cluster, near, far)) ? true : undefined,
  )
}

const denial = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: quiet, namespace: default }
spec: { podSelector: { matchLabels: { app: quiet } }, policyTypes: [Egress] }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: closed, namespace: default }
spec: { podSelector: {}, policyTypes: [Ingress, Egress] }
`

async function denyAll(cluster: ClusterOnHosts): Promise<void> {
  const [one, other] = await echoPods(cluster)
  assert.ok(one && other)
  const answers = (): Promise<boolean[]> =>
    Promise.all([hasAnswer(cluster, one, other), hasAnswer(cluster, other, one)])
  assert.deepEqual(await answers(), [true, true])
  await cluster.apply(denial)
  await cluster.waitFor('pods to be cut from each other', async () =>
    (await answers()).includes(true) ? undefined : true,
  )
  await cluster.kubectl('delete', 'networkpolicy', 'closed')
  await cluster.waitFor('pods to reach each other again', async () =>
    (await answers()).includes(false) ? undefined : true,
  )
  const place = { on: one.node, to: other }
  assert.equal(await firstWord(cluster, { name: 'quiet', ...place }), 'cut')
  assert.equal(await firstWord(cluster, { name: 'loud', ...place }), other.name)
  await cluster.kubectl('delete', 'networkpolicy', 'quiet')
}

/** Returns the answer to a new pod whose first action is a request. */
async function firstWord(
  cluster: ClusterOnHosts,
  { name, on, to }: { name: string; on: string; to: EchoPod },
): Promise<string> {
  const ask = `exec 2> /dev/null; timeout 3 wget -q -O - http://${to.ip}:8080/name || echo cut`
  const container = {
    name,
    image: 'skerry-examples/guestbook:v1',
    command: ['sh', '-c', ask],
  }
  const spec = { nodeName: on, restartPolicy: 'Never', containers: [container] }
  const metadata = { name, namespace: 'default', labels: { app: name } }
  await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }))
  const phase = ['get', 'pod', name, '-o', 'jsonpath={.status.phase}']
  await cluster.waitFor('the pod to have asked', async () =>
    (await cluster.kubectl(...phase)) === 'Succeeded' ? true : undefined,
  )
  return (await cluster.kubectl('logs', name)).trim()
}

async function hasAnswer(cluster: ClusterOnHosts, from: EchoPod, to: EchoPod): Promise<boolean> {
  const command = ['wget', '-q', '-O', '-', `http://${to.ip}:8080/name`]
  const answer = await cluster.tryKubectl(['exec', from.name, '--', ...command], {
    timeoutMs: 3_000,
  })
  return answer.stdout.trim() === to.name
}

async function echoPods(cluster: ClusterOnHosts): Promise<EchoPod[]> {
  const path = '{range .items[*]}{.metadata.name} {.status.podIP} {.spec.nodeName}{"\\n"}{end}'
  const output = await cluster.kubectl('get', 'pods', '-l', 'app=echo', '-o', `jsonpath=${path}`)
  return output
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', ip = '', node = ''] = line.split(' ')
      return { name, ip, node }
    })
}

async function fetchName(cluster: ClusterOnHosts, from: EchoPod, address: string): Promise<string> {
  const command = ['wget', '-q', '-O', '-', `http://${address}/name`]
  return (await cluster.kubectl('exec', from.name, '--', ...command)).trim()
}

async function moves(cluster: ClusterOnHosts, second: EdgeNode): Promise<void> {
  const pods = await echoPods(cluster)
  const far = pods.find((pod) => pod.node === second.name)
  const near = pods.find((pod) => pod.node !== second.name)
  assert.ok(far && near)
  await moveNode(cluster, second, () =>
    cluster.waitFor('the pods to be reached, and to reach each other', async () => {
      const answers = [await hasAnswer(cluster, far, near), await hasAnswer(cluster, near, far)]
      return answers.includes(false) ? undefined : true
    }),
  )
}

async function movesSite(cluster: ClusterOnHosts, first: EdgeNode): Promise<void> {
  const near = (await echoPods(cluster)).find((pod) => pod.node === first.name)
  assert.ok(near)
  await untilNodeAt(cluster, first, await moveSite(cluster))
  await cluster.waitFor('a session at the node', async () =>
    (await hasAnswer(cluster, near, near)) ? true : undefined,
  )
}

/** Cuts the link for less than the minutes after which pods would be moved. */
async function cutOff(cluster: ClusterOnHosts, first: EdgeNode, second: EdgeNode): Promise<void> {
  const before = await containerStates(cluster, '-l', 'app=echo')
  const pods = await echoPods(cluster)
  const far = pods.find((pod) => pod.node === second.name)
  const near = pods.find((pod) => pod.node === first.name)
  assert.ok(far && near)
  const serviceIp = await cluster.kubectl(
    'get',
    'service',
    'echo',
    '-o',
    'jsonpath={.spec.clusterIP}',
  )
  await second.host.cut()
  await cluster.waitFor(
    'the node to be no longer Ready',
    async () => {
      assert.equal(await nameFrom(second.host, `${far.ip}:8080`), far.name)
      return (await cluster.nodeCondition(second.name)) === 'Unknown' ? true : undefined
    },
    { timeoutMs: 90_000 },
  )
  await cluster.waitFor('the service to lead to the near pod only', async () => {
    for (let count = 0; count < 8; count++) {
      if ((await nameFrom(first.host, serviceIp)) !== near.name) return undefined
    }
    return true
  })
  await second.host.restore()
  await cluster.untilNodeReady(second.name)
  await cluster.waitFor('the service to lead to both pods', async () => {
    const served = new Set<string>()
    for (let count = 0; count < 8; count++) served.add(await nameFrom(first.host, serviceIp))
    return served.size === 2 ? true : undefined
  })
  assert.deepEqual(await containerStates(cluster, '-l', 'app=echo'), before)
}

async function nameFrom(host: TestHost, address: string): Promise<string> {
  const { stdout } = await host.run(
    ['busybox', 'wget', '-q', '-O', '-', `http://${address}/name`],
    {
      timeoutMs: 3_000,
    },
  )
  return stdout.trim()
}
