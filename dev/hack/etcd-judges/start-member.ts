import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@skerry/testing'
import { freePort } from '../../processes/free-port.ts'
import { argumentsOf, runProgram } from '../upstream/run-program.ts'

export interface Member extends AsyncDisposable {
  readonly endpoint: string
  /** The directory of its data and its log. */
  readonly directory: string
}

/** Starts a program that takes etcd's flags, as one member on loopback. */
export async function startMember(
  program: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Member> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-etcd-judges-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const endpoint = `http://127.0.0.1:${await freePort()}`
  const peers = `http://127.0.0.1:${await freePort()}`
  const flags = {
    'data-dir': join(directory, 'data'),
    'listen-client-urls': endpoint,
    'advertise-client-urls': endpoint,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `default=${peers}`,
    ...more,
  }
  const logPath = join(directory, 'etcd.log')
  stack.use(await runProgram({ path: program, args: argumentsOf(flags), logPath }))
  await until(() => isHealthy(endpoint))
  const owned = stack.move()
  return { endpoint, directory, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function isHealthy(endpoint: string): Promise<true | undefined> {
  const answer = await fetch(`${endpoint}/health`).catch(() => undefined)
  return answer?.ok === true ? true : undefined
}
