import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { engineFlags } from '../../../roles/runtime/engine-flags.ts'
import { runProgram, type RunningProgram } from '../../hack/upstream/run-program.ts'
import { freePort } from '../../processes/free-port.ts'
import { launcherEnvironment } from '../../processes/launcher-environment.ts'
import { openRawClient, type RawClient } from '../../processes/raw-client.ts'
import { startRoleProcess } from '../../processes/role-process.ts'

const execute = promisify(execFile)
const servedMsMax = 60_000
const writesAtOnce = 16

/** The flags of a site on which only the measured controllers act. */
export const bareSite: readonly string[] = Object.freeze([
  '--name',
  'bank',
  '--disable-scheduler',
  '--disable-controller-manager',
])

/** The program's bundle, and the directory of all data. */
export interface Place {
  readonly program: string
  readonly directory: string
}

export interface Server extends AsyncDisposable {
  readonly port: number
  /** The server's data directory. */
  readonly data: string
  readonly client: RawClient
}

export async function startServer(
  { program, directory }: Place,
  role: string,
  more: readonly string[] = [],
): Promise<Server> {
  const port = await freePort()
  const data = join(directory, role)
  const where = ['--data-dir', data, '--bind-address', '127.0.0.1', '--port', String(port)]
  const compileCache = join(directory, 'compile-cache')
  const args = [...where, ...more]
  const started = await startRoleProcess({ program, role, args, directory, compileCache })
  const client = await openRawClient(join(data, 'admin.kubeconfig'))
  return {
    port,
    data,
    client,
    async [Symbol.asyncDispose]() {
      client.close()
      await started[Symbol.asyncDispose]()
    },
  }
}

export async function startAgent(
  { program, directory }: Place,
  { hub, site, duties }: { hub: number; site: string; duties: readonly string[] },
): Promise<RunningProgram> {
  const server = `https://127.0.0.1:${hub}`
  const asked = ['cluster', 'join-command', 'bank', '--data-dir', join(directory, 'hub')]
  const printed = [...asked, '--server', server, ...duties, '-o', 'json']
  const { stdout } = await execute(process.execPath, [program, ...printed])
  // The program `cluster join-command -o json` prints this type.
  const { token, caHash } = JSON.parse(stdout) as { token: string; caHash: string }
  const tokenFile = join(directory, 'token')
  await writeFile(tokenFile, token, { mode: 0o600 })
  const flags = ['--disable-warning=ExperimentalWarning', ...(engineFlags['agent'] ?? [])]
  const registering = ['--hub', server, '--name', 'bank', '--token-file', tokenFile]
  const own = ['--ca-hash', caHash, '--data-dir', join(directory, 'agent')]
  const edge = ['--kubeconfig', join(site, 'admin.kubeconfig'), ...duties]
  return runProgram({
    path: process.execPath,
    args: [...flags, program, 'agent', ...registering, ...own, ...edge],
    logPath: join(directory, 'agent.log'),
    environment: await launcherEnvironment('agent'),
  })
}

/** Makes an object of a kind that may not be served yet. One that is there already is left as it is. */
export async function make(site: RawClient, path: string, object: object): Promise<void> {
  const endMs = performance.now() + servedMsMax
  for (;;) {
    const { status, body } = await site.send('POST', path, object)
    if (status === 201 || status === 409) return
    if (status !== 404 || performance.now() > endMs) {
      throw new Error(`Cannot make an object at ${path}: ${status} ${body.toString()}`)
    }
    await sleep(500)
  }
}

/** Returns the number of all requests that a server has answered. */
export async function requestsOf(server: RawClient): Promise<number> {
  const { body } = await server.get('/metrics')
  const lines = body.toString().matchAll(/^apiserver_request_total\{[^}]*\} (\d+)/gm)
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Does something for each name, some at a time. */
export async function inCrowd(
  names: readonly string[],
  each: (name: string) => Promise<void>,
): Promise<void> {
  const rest = names.values()
  const worker = async (): Promise<void> => {
    for (const name of rest) await each(name)
  }
  await Promise.all(Array.from({ length: writesAtOnce }, worker))
}
