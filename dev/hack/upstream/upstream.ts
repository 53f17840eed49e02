/**
 * The real Kubernetes on this machine, for comparing and measuring. Development only.
 *   node dev/hack/upstream/upstream.ts build [kube-apiserver etcd …] [--cache <dir>]
 *   node dev/hack/upstream/upstream.ts peers [konnectivity frp …]
 *   node dev/hack/upstream/upstream.ts start [--controllers] [--scheduler] [--data <dir>] [--cache <dir>]
 * `start` runs until it is interrupted, prints the path of its kubeconfig, and forgets everything unless
 * --data names a directory. `peers` builds the programs that `skerry bench` measures next to ours.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '@skerry/base'
import { buildPeers, peerNames } from './build-peers.ts'
import { buildUpstream, defaultCache, upstreamPrograms } from './build-upstream.ts'
import { startUpstream } from './run-upstream.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cache: { type: 'string', default: defaultCache },
    data: { type: 'string' },
    controllers: { type: 'boolean', default: false },
    scheduler: { type: 'boolean', default: false },
  },
})
const [command, ...names] = positionals
if (command === 'build') await build()
else if (command === 'peers') await peers()
else if (command === 'start') await start()
else {
  console.error('Say build, peers or start; the first lines of this file tell how')
  process.exitCode = 2
}

async function build(): Promise<void> {
  const usual = upstreamPrograms.filter((name) => name !== 'e2e.test')
  console.log(await buildUpstream(names.length > 0 ? names : usual, values.cache))
}

/** A peer that cannot be built is named and left out; the others are built. */
async function peers(): Promise<void> {
  for (const name of names.length > 0 ? names : peerNames) {
    await buildPeers([name]).catch((error: unknown) => {
      console.error(`${messageOf(error)}: left out`)
      process.exitCode = 1
    })
  }
}

async function start(): Promise<void> {
  const bin = await buildUpstream(
    [
      'etcd',
      'kube-apiserver',
      ...(values.controllers ? ['kube-controller-manager'] : []),
      ...(values.scheduler ? ['kube-scheduler'] : []),
    ],
    values.cache,
  )
  await using stack = new AsyncDisposableStack()
  const directory = values.data ?? (await mkdtemp(join(tmpdir(), 'skerry-upstream-')))
  if (values.data === undefined)
    stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const upstream = stack.use(
    await startUpstream({
      bin,
      directory,
      withControllers: values.controllers,
      withScheduler: values.scheduler,
    }),
  )
  console.log(upstream.kubeconfigPath)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}
