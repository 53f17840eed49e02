import { execFile } from 'node:child_process'
import { unlessAborted, type Clock } from '@skerry/base'
import { clientLimits } from './limits-table.ts'
import type { ClientCredentials, CredentialSource } from './credentials.ts'

/** The settings in users[].user.exec of a kubeconfig. */
export interface ExecPlugin {
  apiVersion: string
  command: string
  args?: readonly string[]
  env?: readonly { name: string; value: string }[]
  installHint?: string
}

export interface ExecDeps {
  clock: Clock
  /** The plugin's environment. It must contain PATH for a command without a slash. */
  environment: Readonly<Record<string, string | undefined>>
}

interface Answer {
  credentials: ClientCredentials
  /** Wall clock time. If undefined, valid until a server refuses the credentials. */
  expiresAtMs: number | undefined
  /** Monotonic time. */
  givenAtMs: number
}

/** One run of the plugin, shared by all callers that need its answer meanwhile. */
interface Run {
  readonly answer: Promise<Answer>
  readonly stop: AbortController
  waiting: number
}

/**
 * Runs the plugin if there is no answer yet, the last one expired, or a server refused it. Never
 * uses a shell. The plugin is stopped only when the last waiting caller has left.
 */
export function execCredentials(plugin: ExecPlugin, deps: ExecDeps): CredentialSource {
  let answer: Answer | undefined
  let running: Run | undefined
  const start = (): Run => {
    const stop = new AbortController()
    const run = { answer: runPlugin(plugin, deps, stop.signal), stop, waiting: 0 }
    const over = (): void => void (running === run && (running = undefined))
    run.answer.then(over, over)
    return run
  }
  const source = async (signal: AbortSignal): Promise<ClientCredentials> => {
    if (answer && (answer.expiresAtMs === undefined || deps.clock.now() < answer.expiresAtMs)) {
      return answer.credentials
    }
    const run = (running ??= start())
    run.waiting += 1
    try {
      answer = await unlessAborted(run.answer, signal)
      return answer.credentials
    } finally {
      run.waiting -= 1
      if (run.waiting === 0) {
        if (running === run) running = undefined
        run.stop.abort()
      }
    }
  }
  const onRefused = (refused: ClientCredentials): void => {
    if (!answer || !isPartOf(answer.credentials, refused)) return
    const ageMs = deps.clock.monotonicMs() - answer.givenAtMs
    if (ageMs >= clientLimits.execPluginAgainMs) answer = undefined
  }
  return Object.assign(source, { onRefused })
}

/** Any other refused credentials were not the plugin's, or came from an earlier answer. */
function isPartOf(given: ClientCredentials, refused: ClientCredentials): boolean {
  return (
    (given.bearerToken === undefined || given.bearerToken === refused.bearerToken) &&
    (given.certificate === undefined || given.certificate === refused.certificate)
  )
}

async function runPlugin(plugin: ExecPlugin, deps: ExecDeps, signal: AbortSignal): Promise<Answer> {
  const info = {
    kind: 'ExecCredential',
    apiVersion: plugin.apiVersion,
    spec: { interactive: false },
  }
  const added = Object.fromEntries((plugin.env ?? []).map(({ name, value }) => [name, value]))
  const output = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      plugin.command,
      [...(plugin.args ?? [])],
      {
        env: { ...deps.environment, ...added, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
        timeout: clientLimits.execPluginTimeoutMs,
        maxBuffer: clientLimits.execPluginOutputBytesMax,
        signal,
      },
      (error, stdout) => (error ? reject(pluginError(plugin, error)) : resolve(stdout)),
    )
    child.stdin?.end()
  })
  return { ...parseAnswer(plugin, output), givenAtMs: deps.clock.monotonicMs() }
}

function pluginError(plugin: ExecPlugin, cause: Error): Error {
  const hint = plugin.installHint ? `; ${plugin.installHint}` : ''
  return new Error(`Cannot get credentials from ${plugin.command}: ${cause.message}${hint}`, {
    cause,
  })
}

/** The output may be secret, so no error message quotes it. */
function parseAnswer(plugin: ExecPlugin, output: string): Omit<Answer, 'givenAtMs'> {
  let status: unknown
  try {
    status = (JSON.parse(output) as { status?: unknown } | null)?.status // checked field by field below
  } catch {
    throw new Error(`Cannot get credentials from ${plugin.command}: its output is not JSON`)
  }
  const field = (name: string): string | undefined => {
    const value: unknown =
      typeof status === 'object' && status !== null ? Reflect.get(status, name) : undefined
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const bearerToken = field('token')
  const certificate = field('clientCertificateData')
  const key = field('clientKeyData')
  if (!bearerToken && !certificate) {
    throw new Error(
      `Cannot get credentials from ${plugin.command}: its status has neither token nor certificate`,
    )
  }
  const expires = field('expirationTimestamp')
  return {
    credentials: {
      ...(bearerToken ? { bearerToken } : {}),
      ...(certificate && key ? { certificate, key } : {}),
    },
    expiresAtMs: expires ? Date.parse(expires) : undefined,
  }
}
