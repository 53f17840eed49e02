import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface SchedulerOptions {
  /** The directory where buildUpstream put the programs. */
  readonly bin: string
  /** The directory of its configuration and log. */
  readonly directory: string
  readonly kubeconfigPath: string
  /** A KubeSchedulerConfiguration; undefined for upstream's defaults. */
  readonly configuration: object | undefined
}

const startMsMax = 30_000
const ready = 'Handlers synced'

/** Starts upstream's scheduler; resolves when it has read the cluster. */
export async function startScheduler(options: SchedulerOptions): Promise<AsyncDisposable> {
  const { bin, directory, kubeconfigPath, configuration } = options
  const logPath = join(directory, 'kube-scheduler.log')
  const log = await open(logPath, 'w')
  const common = ['--leader-elect=false', '--secure-port=0', '--v=3']
  const args = [...common, '--kubeconfig', kubeconfigPath]
  if (configuration !== undefined) {
    const path = join(directory, 'scheduler.json')
    const clientConnection = { kubeconfig: kubeconfigPath }
    const leaderElection = { leaderElect: false }
    await writeFile(path, JSON.stringify({ ...configuration, clientConnection, leaderElection }))
    args.splice(0, args.length, '--config', path, '--secure-port=0', '--v=3')
  }
  // The kernel ends it with us, however we end.
  const command = ['--pdeathsig', 'KILL', join(bin, 'kube-scheduler'), ...args]
  const child = spawn('setpriv', command, { stdio: ['ignore', log.fd, log.fd] })
  await log.close()
  const endMs = performance.now() + startMsMax
  for (;;) {
    const text = await readFile(logPath, 'utf8')
    if (text.includes(ready)) break
    if (child.exitCode !== null || performance.now() > endMs) {
      throw new Error(`Cannot start kube-scheduler: ${text.slice(-2_000)}`)
    }
    await sleep(20)
  }
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}
