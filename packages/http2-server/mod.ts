/**
 * http2-server: HTTP/2 for servers that answer many small requests. Bytes only: it knows neither gRPC nor etcd.
 * Start reading at connection/http2-connection.ts (what frames do), then connection/frame-sender.ts (what goes out when).
 */
export { Http2Server } from './http2-server.ts'
export { type OnStream } from './connection/http2-connection.ts'
export { headerBlock } from './hpack/header-block.ts'
export { type Http2Stream, type StreamHandler } from './connection/http2-stream.ts'
export { type RequestFields } from './connection/request-fields.ts'
