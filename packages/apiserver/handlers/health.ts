import { textAnswer, type ApiAnswer } from '../contract/exchange.ts'

/**
 * Health checks by name, in the order of display. A check throws an error if it fails, or resolves with a reason that
 * everybody may read.
 */
export type HealthChecks = Readonly<Record<string, () => Promise<void | string>>>

/** Answers /healthz, /livez and /readyz, whole or one check, terse or verbose, in upstream's words. */
export async function healthAnswer(
  parts: readonly string[],
  query: URLSearchParams,
  checks: HealthChecks,
): Promise<ApiAnswer> {
  const [endpoint = '', one] = parts
  if (one !== undefined && !(one in checks)) return textAnswer(404, '404 page not found\n')
  const excluded = new Set(query.getAll('exclude'))
  const names = one === undefined ? Object.keys(checks) : [one]
  const lines: string[] = []
  let isHealthy = true
  for (const name of names) {
    if (excluded.has(name)) {
      lines.push(`[+]${name} excluded: ok`)
      continue
    }
    const fault = await faultOf(checks[name])
    isHealthy &&= fault === undefined
    lines.push(fault === undefined ? `[+]${name} ok` : `[-]${name} failed: ${fault}`)
  }
  if (isHealthy && one !== undefined) return { ...textAnswer(200, 'ok'), headers: plainText }
  if (isHealthy && !query.has('verbose')) return textAnswer(200, 'ok')
  const verdict = `${endpoint} check ${isHealthy ? 'passed' : 'failed'}`
  return textAnswer(isHealthy ? 200 : 500, `${lines.join('\n')}\n${verdict}\n`)
}

const plainText = Object.freeze({ 'content-type': 'text/plain; charset=utf-8' })

async function faultOf(check: HealthChecks[string] | undefined): Promise<string | undefined> {
  try {
    return (await check?.()) || undefined
  } catch {
    // The answer says only that the check failed; the reason is in the log of the failed part.
    return 'reason withheld'
  }
}
