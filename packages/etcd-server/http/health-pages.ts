import { messageOf } from '@skerry/base'
import type { EtcdEngine } from '../engine/etcd-engine.ts'
import type { ServiceContext } from '../services/service-context.ts'
import { answerText, type HttpExchange } from './http-exchange.ts'

type Page = (exchange: HttpExchange) => void

/** The number of answers of /health. */
export interface HealthCounts {
  successes: number
  failures: number
}

type Check = (engine: EtcdEngine) => void

/** One read; the only member is its own leader, so it is linearizable, too. */
const read: Check = (engine) => {
  const revision = engine.readable(0)
  engine.log.slice({ range: everything, revision, limit: 1, bytesMax: 1 })
}
const everything = Object.freeze({ from: Uint8Array.of(0), isOneKey: false })
const always: Check = () => {}

/** etcd's own names of checks. A damaged value fails the reads that meet it; no alarm is kept for it. */
const checks: Readonly<Record<string, Readonly<Record<string, Check>>>> = Object.freeze({
  '/livez': { serializable_read: read },
  '/readyz': {
    data_corruption: always,
    serializable_read: read,
    linearizable_read: read,
    non_learner: always,
  },
})

/** Returns /health, /livez and /readyz, and each check of the latter two as a page of its own. */
export function healthPages({ engine }: ServiceContext, counts: HealthCounts): [string, Page][] {
  const pages: [string, Page][] = [['/health', healthPage(engine, counts)]]
  for (const [path, named] of Object.entries(checks)) {
    pages.push([path, checkPage(engine, named)])
    for (const [name, check] of Object.entries(named)) {
      pages.push([`${path}/${name}`, checkPage(engine, { [name]: check })])
    }
  }
  return pages
}

function healthPage(engine: EtcdEngine, counts: HealthCounts): Page {
  return (exchange) => {
    if (isRefused(exchange)) return
    const reason = whyUnhealthy(engine, exchange.query.getAll('exclude'))
    if (reason === '') counts.successes += 1
    else counts.failures += 1
    const health = reason === '' ? 'true' : 'false'
    const body = JSON.stringify({ health, reason })
    if (reason === '') return answerText(exchange, 200, body)
    answerText(exchange, 503, `${body}\n`)
  }
}

function whyUnhealthy(engine: EtcdEngine, excluded: readonly string[]): string {
  if (engine.isOutOfSpace && !excluded.includes('NOSPACE')) return 'ALARM NOSPACE'
  try {
    read(engine)
    return ''
  } catch (error) {
    return `RANGE ERROR:${messageOf(error)}`
  }
}

function checkPage(engine: EtcdEngine, named: Readonly<Record<string, Check>>): Page {
  return (exchange) => {
    if (isRefused(exchange)) return
    const excluded = exchange.query.getAll('exclude')
    let isGood = true
    const lines = Object.entries(named).flatMap(([name, check]) => {
      if (excluded.includes(name)) return []
      try {
        check(engine)
        return [`[+]${name} ok\n`]
      } catch (error) {
        isGood = false
        return [`[-]${name} failed: ${messageOf(error)}\n`]
      }
    })
    const details = lines.join('')
    const plain = { 'x-content-type-options': 'nosniff' }
    if (!isGood) return answerText(exchange, 503, `${details}\n`, plain)
    answerText(exchange, 200, `${exchange.query.has('verbose') ? details : ''}ok\n`, plain)
  }
}

function isRefused(exchange: HttpExchange): boolean {
  if (exchange.method === 'GET') return false
  answerText(exchange, 405, 'Method Not Allowed\n', { allow: 'GET' })
  return true
}
