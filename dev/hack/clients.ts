/**
 * Runs other projects' programs and libraries against a site of this tree. Development only; needs Go, cargo
 * and Python with their package registries.
 *   node dev/hack/clients.ts [names] [--upstream | --through-hub]
 * Without a name every client runs. --upstream: runs against upstream's control plane, to distinguish a
 * client's expectations from our errors. --through-hub: runs through a hub and an agent. The client whose
 * name ends with -sessions needs root, and cannot use --upstream.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { clientGo } from './clients/client-go.ts'
import type { ClientPlan, ClientResult, SessionPlan } from './clients/client-plan.ts'
import { controllerRuntime } from './clients/controller-runtime.ts'
import { kubeRs } from './clients/kube-rs.ts'
import { oldKubectlSessions } from './clients/old-kubectl-sessions.ts'
import { oldKubectl } from './clients/old-kubectl.ts'
import { asyncPython, python } from './clients/python.ts'
import { startBehindHub } from './clients/run-behind-hub.ts'
import { startSite } from './clients/run-site.ts'
import { buildUpstream } from './upstream/build-upstream.ts'
import { startUpstream } from './upstream/run-upstream.ts'

const clients: readonly (ClientPlan | SessionPlan)[] = [
  clientGo,
  controllerRuntime,
  python,
  asyncPython,
  kubeRs,
  oldKubectl,
  oldKubectlSessions,
]

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    upstream: { type: 'boolean', default: false },
    'through-hub': { type: 'boolean', default: false },
  },
})
const { upstream: isUpstream, 'through-hub': isThroughHub } = values
const unknown = positionals.filter((name) => !clients.some((client) => client.name === name))
if (unknown.length > 0) {
  const known = clients.map(({ name }) => name).join(', ')
  console.error(`Cannot run ${unknown.join(', ')}: the clients are ${known}`)
  process.exitCode = 2
} else if (isUpstream && isThroughHub) {
  console.error('Cannot run both --upstream and --through-hub: choose one')
  process.exitCode = 2
} else {
  const chosen = clients.filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  )
  for (const client of chosen) {
    const why = whyNotSo(client)
    if (why === undefined) report(await runClient(client))
    else console.error(`${client.name}: left out, ${why}`)
  }
}

/** Returns the reason why a client cannot run in the chosen way. */
function whyNotSo(client: ClientPlan | SessionPlan): string | undefined {
  if (isUpstream && 'runOnNode' in client) return 'upstream has no node here'
  if (isThroughHub && client.startsServer) return 'it starts the API server that it talks to'
  return undefined
}

/** Runs each on its own control plane, so that nothing is left for the next. */
async function runClient(client: ClientPlan | SessionPlan): Promise<ClientResult> {
  console.error(`${client.name}: building`)
  await client.prepare()
  if ('runOnNode' in client) return client.runOnNode({ isThroughHub })
  const directory = await mkdtemp(join(tmpdir(), 'skerry-clients-'))
  try {
    if (isUpstream) {
      const bin = await buildUpstream([
        'kube-apiserver',
        'etcd',
        'kube-controller-manager',
        'kube-scheduler',
      ])
      const options = { bin, directory, withControllers: true, withScheduler: true }
      await using upstream = await startUpstream(options)
      const { kubeconfigPath: kubeconfig } = upstream
      return await client.run({ kubeconfig, envtest: bin })
    }
    await using site = await (isThroughHub ? startBehindHub : startSite)(directory)
    const { kubeconfig, envtest } = site
    return await client.run({ kubeconfig, envtest })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function report({ name, version, passed, failed }: ClientResult): void {
  console.log(`${failed.length === 0 ? 'pass' : 'FAIL'}  ${name} ${version}: ${passed} passed`)
  for (const line of failed) console.log(`      ${line}`)
  if (failed.length > 0) process.exitCode = 1
}
