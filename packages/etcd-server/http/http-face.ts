import type { Clock } from '@skerry/base'
import { etcdServerBounds } from '../limits-table.ts'
import type { ServiceContext } from '../services/service-context.ts'
import { answerText, type HttpExchange } from './http-exchange.ts'
import { Gateway, type GatewayOptions } from './gateway.ts'
import { healthPages } from './health-pages.ts'
import { metricsPage, type MetricSources } from './metrics-page.ts'

const { drainMs } = etcdServerBounds.grpcServer

/** Answers what is not gRPC: etcd's gateway, and its pages for probes, metrics and versions. */
export class HttpFace {
  readonly #gateway: Gateway
  readonly #pages: ReadonlyMap<string, (exchange: HttpExchange) => void>
  readonly #clock: Clock

  constructor(context: ServiceContext, options: GatewayOptions, sources: MetricSources) {
    const { clock } = context
    this.#clock = clock
    this.#gateway = new Gateway(options, { clock })
    this.#pages = new Map([
      ['/version', versionPage(context)],
      ...healthPages(context, sources.health),
      ['/metrics', metricsPage(context, sources)],
    ])
  }

  onRequest(exchange: HttpExchange): void {
    this.#limitBody(exchange)
    if (exchange.headers.origin !== undefined) {
      // A page of a stranger could otherwise write, since browsers send such requests to any address.
      return answerText(exchange, 403, 'skerry etcd: pages in browsers are not served\n')
    }
    const path = exchange.path.replace(/^\/v3beta\//, '/v3/')
    const page = this.#pages.get(path)
    if (page) return page(exchange)
    if (path.startsWith('/v3/')) return this.#gateway.onRequest({ ...exchange, path })
    answerText(exchange, 404, '404 page not found\n')
  }

  /** A peer that goes on sending although it has its answer is cut. */
  #limitBody({ answer, body, cut }: HttpExchange): void {
    answer.once('finish', () => {
      if (body.readableEnded || body.destroyed) return
      const timer = this.#clock.setTimer(drainMs, cut, { isBackground: true })
      body.once('close', () => timer[Symbol.dispose]())
      body.once('end', () => timer[Symbol.dispose]())
    })
  }
}

function versionPage({ member }: ServiceContext): (exchange: HttpExchange) => void {
  const { version } = member
  const series = version.replace(/\.\d+$/, '.0')
  const body = JSON.stringify({ etcdserver: version, etcdcluster: series, storage: series })
  return (exchange) => {
    if (exchange.method !== 'GET') {
      return answerText(exchange, 405, 'Method Not Allowed\n', { allow: 'GET' })
    }
    answerText(exchange, 200, body, { 'content-type': 'application/json' })
  }
}
