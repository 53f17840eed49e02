/**
 * Runs the API servers of edge clusters in one process, the same for every subject. Arguments: the number of
 * clusters, and the numbers of nodes and pods of each. Prints the paths of their kubeconfigs as JSON, and
 * keeps the servers until it is killed or its input ends.
 */
import { builtinKinds } from '@skerry/kinds'
import { startTestApiServer, type TestApiServer } from '@skerry/testing'

const allocatable = { cpu: '8', memory: '16Gi', pods: '110' }
const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'it is' }
const container = {
  name: 'app',
  image: 'registry.example.com/app:1',
  env: Array.from({ length: 10 }, (_, index) => ({ name: `SETTING_${index}`, value: 'as usual' })),
  resources: { requests: { cpu: '50m', memory: '64Mi' } },
}

const [count = 0, nodes = 0, pods = 0] = process.argv.slice(2).map(Number)
const kinds = await builtinKinds()
const servers: TestApiServer[] = []
for (let index = 0; index < count; index += 1) {
  const server = await startTestApiServer({ kinds, checksPolicyTypes: false })
  await fill(server)
  servers.push(server)
}
console.log(JSON.stringify(servers.map(({ kubeconfigPath }) => kubeconfigPath)))

async function stop(): Promise<void> {
  for (const server of servers) await server[Symbol.asyncDispose]()
  process.exit(0)
}
process.once('SIGTERM', () => void stop())
process.stdin.resume().once('end', () => void stop())

async function fill({ objects }: TestApiServer): Promise<void> {
  for (let index = 0; index < nodes; index += 1) {
    await objects.create(
      { group: '', resource: 'nodes' },
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: `node-${index}`, labels: { 'kubernetes.io/os': 'linux' } },
        status: { allocatable, capacity: allocatable, conditions: [ready] },
      },
    )
  }
  for (let index = 0; index < pods; index += 1) {
    await objects.create(
      { group: '', resource: 'pods' },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `pod-${index}`,
          namespace: 'default',
          labels: { app: `app-${index % 50}` },
        },
        spec: { nodeName: `node-${index % nodes}`, containers: [container] },
        status: { phase: 'Running' },
      },
    )
  }
}
