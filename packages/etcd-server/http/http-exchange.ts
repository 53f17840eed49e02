import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { whenSilent } from '@skerry/base'
import { headerBlock, type RequestFields } from '@skerry/http2-server'
import { etcdServerBounds } from '../limits-table.ts'
import type { Http2Duplex } from './http2-duplex.ts'

const { unreadMs } = etcdServerBounds.grpcServer

/** One request over HTTP/1.1 or HTTP/2, and the way to answer it. */
export interface HttpExchange {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
  readonly answer: Writable
  /** The answer's status and fields. Call it once, before anything is written. */
  readonly begin: (status: number, fields: Readonly<Record<string, string>>) => void
  /** Cuts the exchange, e.g. since its reader takes nothing. */
  readonly cut: () => void
}

export function exchangeOfHttp1(request: IncomingMessage, response: ServerResponse): HttpExchange {
  return {
    method: request.method ?? '',
    ...addressOf(request.url ?? '/'),
    headers: request.headers,
    body: request.on('error', ignored),
    answer: response.on('error', ignored),
    begin(status, fields) {
      response.writeHead(status, fields)
      limitSilence(response, () => request.destroy())
    },
    cut: () => request.destroy(),
  }
}

export function exchangeOfHttp2(duplex: Http2Duplex, fields: RequestFields): HttpExchange {
  return {
    method: fields[':method'] ?? '',
    ...addressOf(fields[':path'] ?? '/'),
    headers: fields,
    body: duplex,
    answer: duplex.on('error', ignored),
    begin(status, answerFields) {
      duplex.stream.respond(headerBlock({ ':status': status, ...answerFields }))
    },
    cut: () => void duplex.destroy(),
  }
}

/** Answers in full, and reads the rest of the request without keeping it. */
export function answerText(
  exchange: HttpExchange,
  status: number,
  text: string,
  fields: Readonly<Record<string, string>> = {},
): void {
  if (exchange.answer.destroyed) return
  exchange.begin(status, { 'content-type': 'text/plain; charset=utf-8', ...fields })
  const isHead = exchange.method === 'HEAD'
  exchange.answer.end(isHead ? undefined : text)
  exchange.body.resume()
}

/** A reader that takes nothing of its answer for a minute loses it. A stream of answers may be quiet for long. */
function limitSilence(response: ServerResponse, cut: () => void): void {
  const watching = whenSilent(response, unreadMs, () => {
    if (response.writableLength > 0) cut()
  })
  response.once('finish', () => watching[Symbol.dispose]())
}

function addressOf(url: string): { path: string; query: URLSearchParams } {
  const [path = '/', query = ''] = url.split('?', 2)
  return { path, query: new URLSearchParams(query) }
}

function ignored(): void {}
