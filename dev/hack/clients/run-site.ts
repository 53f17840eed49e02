import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { skerryCommand, skerryEnv } from '../../e2e/role-process.ts'
import { waitFor } from '../../e2e/wait-for.ts'

export interface RunningSite extends AsyncDisposable {
  readonly kubeconfig: string
  readonly envtest: string
}

/** A control plane of this tree on loopback, without nodes. */
export async function startSite(directory: string): Promise<RunningSite> {
  const dataDirectory = join(directory, 'site')
  const address = ['--bind-address', '127.0.0.1', '--port', '0']
  await using stack = new AsyncDisposableStack()
  const role = stack.use(
    await startRole(directory, ['site', '--data-dir', dataDirectory, ...address]),
  )
  const kubeconfig = join(dataDirectory, 'admin.kubeconfig')
  await role.untilWritten(kubeconfig)
  const owned = stack.move()
  return {
    kubeconfig,
    envtest: join(import.meta.dirname, 'envtest'),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export interface RunningRole extends AsyncDisposable {
  /** Resolves with the file's text; rejects with the role's log when it takes too long. */
  untilWritten(path: string): Promise<string>
}

/** Starts a role of this tree in a separate process, with its log in the directory. */
export async function startRole(
  directory: string,
  words: readonly [string, ...string[]],
): Promise<RunningRole> {
  const logFile = join(directory, `${words[0]}.log`)
  const log = await open(logFile, 'a')
  const [program = '', ...args] = skerryCommand
  const child = spawn(program, [...args, ...words], {
    stdio: ['ignore', log.fd, log.fd],
    env: { ...process.env, ...skerryEnv },
  })
  await log.close()
  const ended = once(child, 'exit')
  return {
    untilWritten: (path) =>
      waitFor(
        `${words[0]} to write ${path}`,
        async () => (await readFile(path, 'utf8')) || undefined,
        { diagnose: () => readFile(logFile, 'utf8') },
      ),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
