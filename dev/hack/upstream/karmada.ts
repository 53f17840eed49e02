/**
 * The real Karmada on this machine, for comparing. Development only.
 *   node dev/hack/upstream/karmada.ts build [karmadactl karmada-agent …]
 *   node dev/hack/upstream/karmada.ts start [--search] [--bind-address <ip>] [--data <dir>]
 * `start` runs until it is interrupted, prints the path of its kubeconfig, and forgets everything
 * unless --data names a directory. --bind-address lets agents of other networks reach its API server.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildUpstream } from './build-upstream.ts'
import { buildKarmada, karmadaPrograms } from './karmada-build.ts'
import { startKarmada } from './karmada-run.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string' },
    'bind-address': { type: 'string', default: '127.0.0.1' },
    search: { type: 'boolean', default: false },
  },
})
const [command, ...names] = positionals
if (command === 'build') console.log(await buildKarmada(names.length > 0 ? names : karmadaPrograms))
else if (command === 'start') await start()
else {
  console.error('Say build or start; the first lines of this file tell how')
  process.exitCode = 2
}

async function start(): Promise<void> {
  const upstreamBin = await buildUpstream([
    'etcd',
    'kube-apiserver',
    'kube-controller-manager',
    'kubectl',
  ])
  const bin = await buildKarmada(
    karmadaPrograms.filter((name) => values.search || name !== 'karmada-search'),
  )
  await using stack = new AsyncDisposableStack()
  const directory = values.data ?? (await mkdtemp(join(tmpdir(), 'skerry-karmada-')))
  if (values.data === undefined)
    stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const karmada = stack.use(
    await startKarmada({
      upstreamBin,
      bin,
      directory,
      bindAddress: values['bind-address'],
      withSearch: values.search,
    }),
  )
  for (const [part, ms] of Object.entries(karmada.readyMs)) {
    console.error(`${(ms / 1_000).toFixed(1)} s: ${part}`)
  }
  console.log(karmada.kubeconfigPath)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}
