/**
 * Runs one attack in a separate process, so that it takes no processor time from the measuring one. Runs
 * until it is killed.
 */
import { connect, type ClientHttp2Session } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { attacks, type Attack } from './attacks.ts'

interface Target {
  readonly host: string
  readonly port: string
  readonly tokens: readonly string[]
}

const [name = '', url = '', ...allTokens] = process.argv.slice(2)
const attack = attacks[name]
if (!attack) throw new Error(`Cannot attack: there is no "${name}"`)
const { hostname: host, port } = new URL(url)
const tokens = allTokens.slice(0, attack.users ?? 2)
const sessions = new Map<string, ClientHttp2Session>()
const parallel = attack.parallel ?? 4
// Keeps the process alive: connections that it does not read do not.
setInterval(() => undefined, 60_000)
if (attack.isHttp2) for (let at = 0; at < parallel; at += 1) leaveStream(attack, at)
else
  await Promise.all(
    Array.from({ length: parallel }, (_, at) => repeat(attack, at, { host, port, tokens })),
  )

async function repeat(
  one: Attack,
  at: number,
  { host: to, port: on, tokens: all }: Target,
): Promise<void> {
  const body = one.body?.()
  for (;;) {
    const outcome = await new Promise<string>((resolve) => {
      const request = httpsRequest(
        {
          host: to,
          port: on,
          method: one.method,
          path: one.path,
          // A server of this machine for the length of a measurement, on loopback.
          rejectUnauthorized: false,
          agent: false,
          headers: {
            authorization: `Bearer ${all[at % all.length]}`,
            ...(body ? { 'content-length': body.length } : {}),
            ...one.headers,
          },
        },
        (response) => {
          if (one.isUnread) return void process.send?.(`${response.statusCode}`)
          response.on('error', () => resolve('broken'))
          response.on('end', () => resolve(`${response.statusCode}`))
          response.resume()
        },
      )
      request.on('error', () => resolve('refused'))
      request.on('close', () => resolve('closed'))
      if (body && one.isUnread) request.write(body)
      else request.end(body)
    })
    process.send?.(outcome)
  }
}

/** Opens a stream once and never reads it. */
function leaveStream({ method, path, headers }: Attack, at: number): void {
  const token = tokens[at % tokens.length] ?? ''
  const session = sessions.get(token) ?? openSession(token)
  const stream = session.request({
    ':method': method,
    ':path': path,
    authorization: `Bearer ${token}`,
    ...headers,
  })
  stream.on('error', () => undefined)
  stream.on('response', ({ ':status': status }) => void process.send?.(`${status}`))
  stream.on('close', () => void process.send?.('closed'))
}

function openSession(token: string): ClientHttp2Session {
  const session = connect(url, { rejectUnauthorized: false })
  session.on('error', () => undefined)
  sessions.set(token, session)
  return session
}
