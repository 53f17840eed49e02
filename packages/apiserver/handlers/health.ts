import { textAnswer, type ApiAnswer } from '../contract/exchange.ts'

/** By name, in the order they are shown. A check throws what is wrong. */
export type HealthChecks = Readonly<Record<string, () => Promise<void>>>

/** /healthz, /livez and /readyz, whole or one check, terse or verbose, as upstream words them. */
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
    // The answer says that it failed; why is for those who may read the log of the part itself.
    return false
  }
}
