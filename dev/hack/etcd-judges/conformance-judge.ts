import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { unpackClients } from '@skerry/testing'
import { buildSuite } from '../conformance-suite/build-suite.ts'
import { conformanceTests, isPodless, isSerial } from '../conformance-suite/conformance-tests.ts'
import { runSuite } from '../conformance-suite/run-suite.ts'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { startUpstream, type RunningUpstream } from '../upstream/run-upstream.ts'
import type { JudgeTarget, Verdict } from './verdict.ts'

const focusDefault = String.raw`^\[sig-api-machinery\]`
const processes = 4
const timeoutMinutes = 60
/** Nobody reports for the only node, which exists because the suite waits for one. */
const controllerArguments = ['--controllers=*,-node-lifecycle-controller']

/**
 * Runs Kubernetes' own conformance tests that need no running pod against upstream's API server and controllers, whose
 * state is in the server. An expression chooses among them; default: those of api-machinery.
 */
export async function judgeConformance({ server, more }: JudgeTarget): Promise<Verdict> {
  const focus = new RegExp(more[0] ?? focusDefault)
  const chosen = (await conformanceTests()).filter((name) => focus.test(name))
  const tests = chosen.filter(isPodless)
  if (tests.length === 0) throw new RangeError(`Cannot judge: no test matches ${focus.source}`)
  for (const name of chosen)
    if (!isPodless(name)) console.log(`left, it needs a container: ${name}`)
  await buildSuite(['e2e.test', 'ginkgo'])
  const bin = await buildUpstream(['kube-apiserver', 'kube-controller-manager'])
  const directory = await mkdtemp(join(tmpdir(), 'skerry-etcd-conformance-'))
  try {
    const own = { etcdProgram: server, isDurable: true }
    const controllers = { withControllers: true, controllerArguments }
    await using upstream = await startUpstream({ bin, directory, ...own, ...controllers })
    await makeNode(upstream)
    return await judge(upstream, tests)
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function judge(
  { kubeconfigPath }: RunningUpstream,
  tests: readonly string[],
): Promise<Verdict> {
  const { kubectl } = await unpackClients()
  const parts = [
    { tests: tests.filter((name) => !isSerial(name)), processes },
    { tests: tests.filter(isSerial), processes: 1 },
  ]
  const failed: string[] = []
  let passed = 0
  for (const part of parts.filter((each) => each.tests.length > 0)) {
    const run = { ...part, kubeconfig: kubeconfigPath, kubectl, timeoutMinutes }
    const results = await runSuite({ ...run, host: thisMachine })
    for (const result of results) {
      if (result.passed) passed += 1
      else failed.push(`${result.name}: ${result.message.split('\n')[0] ?? ''}`)
    }
    const ran = new Set(results.map(({ name }) => name))
    failed.push(...part.tests.filter((name) => !ran.has(name)).map((name) => `${name}: not run`))
  }
  return { passed, failed }
}

const thisMachine = {
  start: ([program = '', ...args]: readonly string[], options = {}) =>
    spawn(program, args, options),
}

/** Makes a node that is ready. It gets no pods, because there is no scheduler. */
async function makeNode(upstream: RunningUpstream): Promise<void> {
  const metadata = { name: 'judged', labels: { 'kubernetes.io/os': 'linux' } }
  const nodes = '/api/v1/nodes'
  await send(upstream, 'POST', nodes, { apiVersion: 'v1', kind: 'Node', metadata })
  const now = new Date().toISOString()
  const times = { lastHeartbeatTime: now, lastTransitionTime: now }
  const ready = { type: 'Ready', status: 'True', reason: 'Judged', message: '', ...times }
  await send(upstream, 'PATCH', `${nodes}/judged/status`, { status: { conditions: [ready] } })
  // Admission has marked it as not ready, and the controller that takes such marks away does not run.
  await send(upstream, 'PATCH', `${nodes}/judged`, { spec: { taints: null } })
}

function send(
  { url, credentials }: RunningUpstream,
  method: 'POST' | 'PATCH',
  path: string,
  body: object,
): Promise<void> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const options = { ...credentials, agent: false, method, headers: { 'content-type': type } }
  const sent = request(`${url}${path}`, options, (answer) => {
    const { statusCode = 0 } = answer
    text(answer).then((said) => {
      if (statusCode < 300) resolve()
      else reject(new Error(`Cannot ${method} ${path}: ${statusCode} ${said.slice(0, 300)}`))
    }, reject)
  })
  sent.on('error', reject)
  sent.end(JSON.stringify(body))
  return promise
}
