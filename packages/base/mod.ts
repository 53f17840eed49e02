/**
 * base: the foundation of every package. Clock, random, log, metrics, backoff, structured
 * concurrency, bounded queues and maps, outbound connections over TCP, proxies and TLS, and requests
 * over them; durable directories; the wire format of protobuf. It knows no Kubernetes term, and does no other I/O except
 * logs.
 * Start reading at clock.ts (why time is injected) and run-all.ts (why no promise floats).
 */
export { systemClock, type Clock, type Timer } from './clock.ts'
export { allowSilence, grpcDeadline, whenSilent } from './real-timers.ts'
export { giveWay, ownTurn } from './give-way.ts'
export { sleepUnlessClockIsSet } from './sleep-unless-clock-is-set.ts'
export { simulatedClock, type SimulatedClock } from './simulated-clock.ts'
export { seededRandom, systemRandom, type Random } from './random.ts'
export { createLogger, silentLogger, type Logger, type LogLevel } from './log.ts'
export { createMetrics, type Metrics, type ObservedValue } from './metrics.ts'
export { createBackoff, type Backoff, type BackoffOptions } from './backoff.ts'
export { runAll, type Task } from './run-all.ts'
export { asError } from './as-error.ts'
export { messageOf } from './message-of.ts'
export { isBrokenInvariant } from './broken-invariant.ts'
export { logFailure } from './log-failure.ts'
export { sayWhenNew } from './say-when-new.ts'
export { keepLogBounded } from './bounded-log.ts'
export { wrapped, type Wrapper } from './wrapped.ts'
export { createWakeFlag, type WakeFlag } from './wake-flag.ts'
export { BoundedQueue, QueueFullError } from './bounded-queue.ts'
export { RecentMap } from './recent-map.ts'
export {
  abortReason,
  linkedSignal,
  unlessAborted,
  whenAborted,
  withTimeout,
  type LinkedSignal,
} from './abort.ts'
export {
  readTraceContext,
  traceHeaders,
  type TraceContext,
  type TraceHeaders,
} from './tracing/trace-context.ts'
export {
  createTracer,
  type Span,
  type SpanAttribute,
  type SpanData,
  type SpanKind,
  type Tracer,
} from './tracing/span.ts'
export { SpanQueue, type SpanExporter } from './tracing/span-queue.ts'
export { diskFullError, isDiskFull } from './disk-full.ts'
export { makeDirectoryDurably, syncDirectory } from './durable-directory.ts'
export { ExpectedError, exitCodes, type ExitCode } from './expected-error.ts'
export { ConnectError, destinationOf, hostAndPort, type Connect } from './outbound/connect.ts'
export { connectByProxy, type HttpProxy, type ProxyLogin } from './outbound/connect-by-proxy.ts'
export { connectByTcp } from './outbound/connect-by-tcp.ts'
export { addressBytes } from './outbound/address-bytes.ts'
export { ipv4Number, ipv4Text } from './outbound/ipv4-number.ts'
export {
  addressKind,
  sameAddress,
  sameAddressAs,
  type AddressKind,
} from './outbound/special-address.ts'
export { isProxyBypassed } from './outbound/proxy-bypass.ts'
export {
  patientProtocol,
  secureConnection,
  type SecureOptions,
} from './outbound/secure-connection.ts'
export {
  connectionFields,
  fieldsOfRaw,
  fieldsOfRecord,
  isFieldName,
  isFieldValue,
  namedByConnection,
  type HeaderRecord,
} from './http/header-fields.ts'
export {
  checkPeerHead,
  checkPeerSwitch,
  checkPeerTrailers,
  PeerAnswerError,
  peerHeadOf,
  type PeerAsked,
  type PeerHead,
} from './http/peer-answer.ts'
export { unaryCall } from './grpc/unary-call.ts'
export { acceptHandshake, HandshakeError } from './http/accept-handshake.ts'
export { answerTo } from './http/answer-to.ts'
export { askPeer, type PeerReply } from './http/ask-peer.ts'
export { AuthorityAgents } from './http/authority-agents.ts'
export { endWith, requestOver } from './http/request-over.ts'
export { postJson } from './http/post-json.ts'
export { http1Head } from './http/http1-head.ts'
export { lastCatch, lastCatchOf } from './http/last-catch.ts'
export { MalformedProtobufError, ProtoReader } from './protobuf/proto-reader.ts'
export { ProtoWriter } from './protobuf/proto-writer.ts'
