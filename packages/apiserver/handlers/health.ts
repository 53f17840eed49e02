import { unlessAborted, withTimeout, type Clock } from '@skerry/base'
import { textAnswer, type ApiAnswer } from '../contract/exchange.ts'
import { apiServerBounds } from '../limits-table.ts'

const { answerMs } = apiServerBounds.health

/**
 * Health checks by name, in the order of display. A check throws an error if it fails, or resolves with a reason that
 * everybody may read.
 */
export type HealthChecks = Readonly<Record<string, () => Promise<void | string>>>

export interface HealthCall {
  readonly query: URLSearchParams
  readonly clock: Clock
  /** The client's. */
  readonly signal: AbortSignal
}

/**
 * Answers /healthz, /livez and /readyz, whole or one check, terse or verbose, in upstream's words. A check that does not
 * end in time has failed, so that an answer comes soon whatever is away.
 */
export async function healthAnswer(
  parts: readonly string[],
  checks: HealthChecks,
  call: HealthCall,
): Promise<ApiAnswer> {
  const { query } = call
  const [endpoint = '', one] = parts
  if (one !== undefined && !(one in checks)) return textAnswer(404, '404 page not found\n')
  const excluded = new Set(query.getAll('exclude'))
  const names = one === undefined ? Object.keys(checks) : [one]
  const found = await Promise.all(
    names.map(async (name) => {
      if (excluded.has(name)) return { line: `[+]${name} excluded: ok` }
      const fault = await faultOf(checks[name], call)
      return fault === undefined
        ? { line: `[+]${name} ok` }
        : { line: `[-]${name} failed: ${fault}`, fault }
    }),
  )
  const lines = found.map(({ line }) => line)
  const isHealthy = found.every(({ fault }) => fault === undefined)
  if (isHealthy && one !== undefined) return { ...textAnswer(200, 'ok'), headers: plainText }
  if (isHealthy && !query.has('verbose')) return textAnswer(200, 'ok')
  const verdict = `${endpoint} check ${isHealthy ? 'passed' : 'failed'}`
  return textAnswer(isHealthy ? 200 : 500, `${lines.join('\n')}\n${verdict}\n`)
}

const plainText = Object.freeze({ 'content-type': 'text/plain; charset=utf-8' })

async function faultOf(
  check: HealthChecks[string] | undefined,
  { clock, signal }: HealthCall,
): Promise<string | undefined> {
  if (check === undefined) return undefined
  const limit = { ms: answerMs, message: 'no answer in time', clock }
  try {
    const fault = await withTimeout(limit, signal, (scope) => unlessAborted(check(), scope))
    return fault || undefined
  } catch {
    // The answer says only that the check failed; the reason is in the log of the failed part.
    return 'reason withheld'
  }
}
