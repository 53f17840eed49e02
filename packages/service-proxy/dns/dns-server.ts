import type { Socket } from 'node:dgram'
import { createServer, type Server, type Socket as TcpSocket } from 'node:net'
import {
  AUTHORITATIVE_ANSWER,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
  decode,
  encode,
  type Packet,
  type Question,
} from 'dns-packet'
import { asError, ExpectedError, exitCodes, whenSilent, type Logger } from '@skerry/base'
import type { Forwarder } from './forwarder.ts'
import { openDatagrams } from './open-datagrams.ts'
import type { Zone } from './zone.ts'
import { serviceProxyBounds } from '../limits-table.ts'

export interface DnsServerConfig {
  address: string
  /** The port, 53. 0 picks a free one. */
  port: number
  domain: string
  ttlSeconds: number
}

export interface DnsServer extends AsyncDisposable {
  readonly port: number
}

const {
  forwardedMax,
  connectionsMax,
  connectionIdleMs,
  queryBytesMax,
  datagramBytesMax,
  messageBytesMax,
  freePortTries,
} = serviceProxyBounds.dnsServer
/** The limit of RFC 1035 without EDNS, and the most we send in one datagram with it. */
const datagramBytesDefault = 512

const rcodes = Object.freeze({ NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4 })

/** Answers the cluster's zone itself and forwards everything else to the node's own resolvers. */
export async function startDnsServer(
  config: DnsServerConfig,
  deps: { zone: () => Zone | undefined; forwarder: Forwarder; log: Logger },
): Promise<DnsServer> {
  let forwardedCount = 0
  const answer = async (bytes: Buffer, isTcp: boolean): Promise<Buffer | undefined> => {
    const query = parseQuery(bytes)
    if (query === undefined) return undefined
    const question = query.questions?.[0]
    if (question === undefined || query.questions?.length !== 1)
      return reply(query, { rcode: 'FORMERR' })
    const zone = deps.zone()
    const own = zone?.answer({ name: question.name, type: question.type })
    if (own !== undefined) {
      const authority = own.answers.length === 0 ? [startOfAuthority(config)] : []
      return fit(query, { rcode: own.rcode, answers: own.answers, authorities: authority }, isTcp)
    }
    if (zone === undefined && isOwnName(question, config.domain))
      return reply(query, { rcode: 'SERVFAIL' })
    if (forwardedCount >= forwardedMax) return reply(query, { rcode: 'SERVFAIL' })
    forwardedCount += 1
    try {
      return await deps.forwarder.forward(bytes, isTcp)
    } catch (error) {
      deps.log.debug('Query not resolved', { error: asError(error) })
      return reply(query, { rcode: 'SERVFAIL' })
    } finally {
      forwardedCount -= 1
    }
  }
  // Any pod may send anything here: a query that cannot be answered must affect only its sender.
  const respond: Respond = async (bytes, isTcp) => {
    try {
      return await answer(bytes, isTcp)
    } catch (error) {
      deps.log.error('DNS query failed', { error: asError(error) })
      return undefined
    }
  }
  const { udp, tcp, port } = await bindBoth(config, { respond, log: deps.log })
  return {
    port,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => udp.close(() => resolve()))
      await new Promise<void>((resolve) => tcp.close(() => resolve()))
    },
  }
}

/** Binds one port for both. If one fails, the other is closed. */
async function bindBoth(
  config: DnsServerConfig,
  { respond, log }: { respond: Respond; log: Logger },
): Promise<{ udp: Socket; tcp: Server; port: number }> {
  for (let tries = 1; ; tries++) {
    const udp = await openDatagrams(config, respond, log).catch((error: unknown) => {
      throw explainListen(error, config)
    })
    const { port } = udp.address()
    try {
      return { udp, tcp: await bindTcp({ ...config, port }, respond, log), port }
    } catch (error) {
      udp.close()
      if (config.port !== 0 || tries === freePortTries) throw error
    }
  }
}

/** Never rejects. Resolves to undefined if no answer is sent. */
type Respond = (bytes: Buffer, isTcp: boolean) => Promise<Buffer | undefined>

async function bindTcp(config: DnsServerConfig, respond: Respond, log: Logger): Promise<Server> {
  const server = createServer((socket) => serveConnection(socket, respond, log))
  server.maxConnections = connectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explainListen(error, config)))
    server.listen(config.port, config.address, resolve)
  })
  return server
}

function explainListen(error: unknown, { address, port }: DnsServerConfig): unknown {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  if (!isTaken) return error
  return new ExpectedError(
    `Cannot answer DNS on ${address}:${port}: another program does, perhaps another node of this machine; stop it, or use another service range`,
    exitCodes.portTaken,
    { cause: error },
  )
}

/** RFC 7766: each message is preceded by a two-byte length. */
function serveConnection(socket: TcpSocket, respond: Respond, log: Logger): void {
  let buffered = Buffer.alloc(0)
  whenSilent(socket, connectionIdleMs, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk])
    while (buffered.length >= 2) {
      const length = buffered.readUInt16BE(0)
      if (length > queryBytesMax) return void socket.destroy()
      if (buffered.length < length + 2) return
      const message = buffered.subarray(2, length + 2)
      buffered = buffered.subarray(length + 2)
      const sent = respond(Buffer.from(message), true).then((answer) => {
        if (answer === undefined || socket.destroyed) return
        const prefix = Buffer.alloc(2)
        prefix.writeUInt16BE(answer.length)
        socket.write(Buffer.concat([prefix, answer]))
      })
      sent.catch((error: unknown) => {
        log.error('DNS answer not sent', { error: asError(error) })
        socket.destroy()
      })
    }
  })
}

/** Returns undefined unless it is a query: answering noise would make this server a reflector. */
function parseQuery(bytes: Buffer): Packet | undefined {
  if (bytes.length > queryBytesMax) return undefined
  try {
    const packet = decode(bytes)
    return packet.type === 'query' ? packet : undefined
  } catch {
    // The decoder throws for every malformed packet; there is nobody to notify.
    return undefined
  }
}

interface ReplyContent {
  rcode: keyof typeof rcodes
  answers?: Packet['answers']
  authorities?: Packet['authorities']
}

function reply(query: Packet, content: ReplyContent): Buffer {
  const wanted =
    ((query.flags ?? 0) & RECURSION_DESIRED) | RECURSION_AVAILABLE | AUTHORITATIVE_ANSWER
  return encode({
    type: 'response',
    id: query.id,
    flags: wanted | rcodes[content.rcode],
    questions: query.questions,
    answers: content.answers ?? [],
    authorities: content.authorities ?? [],
  })
}

/**
 * Fits an answer into its limit. One that is too long for the datagram is sent empty and marked
 * truncated, so that the client asks again over TCP. One that is too long for TCP as well has as
 * many answers as fit, because there is no other way to ask for the rest.
 */
function fit(query: Packet, content: ReplyContent, isTcp: boolean): Buffer {
  const bytesMax = isTcp ? messageBytesMax : datagramBytesOf(query)
  let { answers = [] } = content
  for (let isWhole = true; ; isWhole = false) {
    const message = reply(query, { ...content, answers, ...(isWhole ? {} : { authorities: [] }) })
    if (!isWhole) message.writeUInt16BE(message.readUInt16BE(2) | TRUNCATED_RESPONSE, 2)
    if (message.length <= bytesMax || answers.length === 0) return message
    const count = Math.floor((answers.length * bytesMax) / message.length)
    answers = isTcp ? answers.slice(0, Math.min(count, answers.length - 1)) : []
  }
}

function datagramBytesOf(query: Packet): number {
  const option = query.additionals?.find((record) => record.type === 'OPT')
  const asked =
    option !== undefined && 'udpPayloadSize' in option ? Number(option.udpPayloadSize) : 0
  return Math.min(datagramBytesMax, Math.max(datagramBytesDefault, asked))
}

function isOwnName(question: Question, domain: string): boolean {
  const name = question.name.toLowerCase()
  return name === domain || name.endsWith(`.${domain}`)
}

/** Limits how long "there is no such name" is cached (RFC 2308): one TTL of the zone. */
function startOfAuthority(config: DnsServerConfig): NonNullable<Packet['authorities']>[number] {
  return {
    type: 'SOA',
    name: config.domain,
    ttl: config.ttlSeconds,
    data: {
      mname: `ns.dns.${config.domain}`,
      rname: `hostmaster.${config.domain}`,
      serial: 1,
      refresh: 7_200,
      retry: 1_800,
      expire: 86_400,
      minimum: config.ttlSeconds,
    },
  }
}
