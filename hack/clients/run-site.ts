import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '@skerry/testing'
import { freePort } from '../../bench/free-port.ts'
import { skerryCommand, skerryEnv } from '../../e2e/role-process.ts'
import { waitFor } from '../../e2e/wait-for.ts'

export interface RunningSite extends AsyncDisposable {
  readonly kubeconfig: string
  readonly envtest: string
}

/** A control plane of this tree on loopback, without nodes. */
export async function startSite(directory: string): Promise<RunningSite> {
  const dataDirectory = join(directory, 'site')
  const log = await open(join(directory, 'site.log'), 'a')
  const address = ['--bind-address', '127.0.0.1', '--port', String(await freePort())]
  const [program = '', ...args] = skerryCommand
  const child = spawn(program, [...args, 'site', '--data-dir', dataDirectory, ...address], {
    stdio: ['ignore', log.fd, log.fd],
    env: { ...process.env, ...skerryEnv },
  })
  await log.close()
  const ended = once(child, 'exit')
  const kubeconfig = join(dataDirectory, 'admin.kubeconfig')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  try {
    await waitFor('the site to serve', () => isReady(kubeconfig), {
      diagnose: () => readFile(join(directory, 'site.log'), 'utf8'),
    })
  } catch (error) {
    await stop()
    throw error
  }
  return {
    kubeconfig,
    envtest: join(import.meta.dirname, 'envtest'),
    [Symbol.asyncDispose]: stop,
  }
}

/** The file is written when the port is open. */
async function isReady(kubeconfig: string): Promise<true | undefined> {
  const { exitCode } = await runToEnd(['test', '-s', kubeconfig], {})
  return exitCode === 0 ? true : undefined
}
