import { textAnswer, type ApiAnswer } from '../contract/exchange.ts'

/** Health checks by name, in the order of display. A check throws an error if it fails. */
export type HealthChecks = Readonly<Record<string, () => Promise<void>>>

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
    const isOk = await passes(checks[name])
    isHealthy &&= isOk
    lines.push(isOk ? `[+]${name} ok` : `[-]${name} failed: reason withheld`)
  }
  if (isHealthy && one !== undefined) return { ...textAnswer(200, 'ok'), headers: plainText }
  if (isHealthy && !query.has('verbose')) return textAnswer(200, 'ok')
  const verdict = `${endpoint} check ${isHealthy ? 'passed' : 'failed'}`
  return textAnswer(isHealthy ? 200 : 500, `${lines.join('\n')}\n${verdict}\n`)
}

const plainText = Object.freeze({ 'content-type': 'text/plain; charset=utf-8' })

async function passes(check: (() => Promise<void>) | undefined): Promise<boolean> {
  if (!check) return true
  try {
    await check()
    return true
  } catch {
    // The answer says only that the check failed; the reason is in the log of the failed part.
    return false
  }
}
