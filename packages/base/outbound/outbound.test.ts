import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, Socket } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { issueServingCertificate } from '@skerry/bootstrap'
import { createAuthority, type Authority } from '@skerry/pki'
import { startTestProxy, type TestProxyOptions, until } from '@skerry/testing'
import { systemClock } from '../clock.ts'
import { simulatedClock } from '../simulated-clock.ts'
import { ConnectError, hostAndPort } from './connect.ts'
import { connectByProxy, type ProxyLogin } from './connect-by-proxy.ts'
import { connectByTcp } from './connect-by-tcp.ts'
import { isProxyBypassed } from './proxy-bypass.ts'
import { secureConnection } from './secure-connection.ts'

const never = new AbortController().signal
const tcp = connectByTcp({ timeoutMs: 4_000, clock: systemClock })

/** Echoes what it receives. */
async function startEcho(host = '127.0.0.1') {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  server.listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function echoed(way: Duplex): Promise<string> {
  way.write('hello')
  const [chunk] = await once(way, 'data')
  way.destroy()
  return String(chunk)
}

async function newAuthority(name: string): Promise<Authority> {
  const now = Date.now()
  return createAuthority({
    subject: { commonName: name },
    notBeforeMs: now - 60_000,
    notAfterMs: now + 3_600_000,
  })
}

function through(url: string, further: { login?: ProxyLogin; ca?: string } = {}) {
  const { login, ca } = further
  const proxy = { url, ...(ca ? { ca } : {}), ...(login ? { login: async () => login } : {}) }
  return connectByProxy(proxy, tcp, { answerMs: 15_000, clock: systemClock })
}

const clerk = { user: 'clerk', password: 'p@ss:wörd' }

/**
 * Returns after how many seconds of silence the kernel probes the peer, or undefined if it does not now: another timer
 * may run, and a table that changes while it is read may lack a row. The same port may be that of other connections.
 */
async function silenceOf(way: Duplex): Promise<number | undefined> {
  assert.ok(way instanceof Socket)
  const [own, peer] = [way.localPort, way.remotePort].map(
    (port = 0) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`,
  )
  const rows = (await readFile('/proc/net/tcp', 'utf8'))
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  const row = rows.find(
    ([, local = '', remote = '']) => local.endsWith(`${own}`) && remote.endsWith(`${peer}`),
  )
  const [timer = '', hundredths = ''] = row?.[5]?.split(':') ?? []
  return timer === '02' ? Number.parseInt(hundredths, 16) / 100 : undefined
}

test('a connection on which nothing is said is kept open before routers forget it, after 30 s', async () => {
  await using echo = await startEcho()
  await using proxy = await startTestProxy()
  const to = { host: '127.0.0.1', port: echo.port }
  for (const way of [await tcp(to, never), await through(proxy.url)(to, never)]) {
    const seconds = await until(() => silenceOf(way))
    assert.ok(seconds <= 15, String(seconds))
    way.destroy()
  }
})

test('bytes pass a proxy that requires a user and a password', async () => {
  await using echo = await startEcho()
  await using proxy = await startTestProxy({ login: `${clerk.user}:${clerk.password}` })
  const to = { host: '127.0.0.1', port: echo.port }
  assert.equal(await echoed(await through(proxy.url, { login: clerk })(to, never)), 'hello')
  assert.deepEqual(proxy.asked, [hostAndPort(to)])
})

test('bytes pass a proxy over TLS, whose certificate is checked', async () => {
  await using echo = await startEcho()
  const authority = await newAuthority('office')
  const names = { commonName: 'proxy', dnsNames: [], ipAddresses: ['127.0.0.1'] }
  const issued = await issueServingCertificate(authority, names, systemClock)
  const tls = { cert: issued.certificatePem, key: issued.privateKeyPem }
  await using proxy = await startTestProxy({ tls })
  const to = { host: '127.0.0.1', port: echo.port }
  const ca = authority.certificatePem
  assert.equal(await echoed(await through(proxy.url, { ca })(to, never)), 'hello')
  const unknown = through(proxy.url)(to, never)
  await assert.rejects(unknown, /Cannot pass proxy 127\.0\.0\.1 port \d+: Cannot trust.*CN=office/)
})

const refusals: readonly {
  what: string
  proxy: TestProxyOptions
  login?: ProxyLogin
  words: RegExp
  status: number | undefined
}[] = [
  {
    what: 'that wants a login and gets none',
    proxy: { login: 'clerk:secret' },
    words: /answered 407: it wants a user and a password; .*--proxy-credentials-file/,
    status: 407,
  },
  {
    what: 'that does not take the login',
    proxy: { login: 'clerk:secret' },
    login: clerk,
    words: /answered 407: it does not take this user and password/,
    status: 407,
  },
  {
    what: 'that knows other logins only',
    proxy: {
      refusal: {
        status: 407,
        phrase: 'No',
        headers: ['proxy-authenticate: Negotiate', 'proxy-authenticate: NTLM'],
      },
    },
    words: /answered 407: it takes NTLM or Negotiate only, and this program knows Basic/,
    status: 407,
  },
  {
    what: 'that forbids the destination',
    proxy: { refusal: { status: 403, phrase: 'Forbidden' } },
    words: /answered 403: it does not allow CONNECT to hub\.example:443/,
    status: 403,
  },
  {
    what: 'that does not reach the destination',
    proxy: { refusal: { status: 502, phrase: 'Bad Gateway' } },
    words: /answered 502: it cannot reach hub\.example:443 itself/,
    // It may be retried soon, because the way behind it may be back.
    status: undefined,
  },
]
for (const { what, proxy: options, login, words, status } of refusals) {
  test(`a proxy ${what} is named, with the reason; no password is shown`, async () => {
    await using proxy = await startTestProxy(options)
    const to = { host: 'hub.example', port: 443 }
    const asking = through(proxy.url, login ? { login } : {})(to, never)
    await assert.rejects(asking, (error) => {
      assert.ok(error instanceof ConnectError, String(error))
      assert.match(error.message, words)
      assert.match(error.message, new RegExp(`Cannot pass proxy 127.0.0.1 port ${proxy.port}`))
      assert.doesNotMatch(error.stack ?? '', /p@ss|secret|Basic [\w=+/]{8}/)
      assert.equal(error.status, status)
      return true
    })
  })
}

test('a proxy that accepts connections and stays silent is given up', async () => {
  await using proxy = await startTestProxy({ isSilent: true })
  const clock = simulatedClock()
  const connect = connectByProxy({ url: proxy.url }, tcp, { answerMs: 15_000, clock })
  const asking = connect({ host: 'hub.example', port: 443 }, never)
  const ends = assert.rejects(asking, /Cannot pass proxy .*: it did not answer in 15000 ms/)
  await until(() => proxy.asked.length > 0)
  await clock.advance(15_000)
  await ends
})

test('a proxy that resets its connection while the login is read is an error, and ends no process', async () => {
  const opened: Duplex[] = []
  const toProxy = async (): Promise<Duplex> => {
    const [way] = duplexPair()
    opened.push(way)
    return way
  }
  const login = async (): Promise<ProxyLogin> => {
    for (const way of opened) way.destroy(new Error('reset'))
    await nextTurn()
    return clerk
  }
  const options = { answerMs: 100, clock: systemClock }
  const connect = connectByProxy({ url: 'http://proxy.test:3128', login }, toProxy, options)
  const asking = connect({ host: 'hub.test', port: 443 }, never)
  await assert.rejects(asking, ConnectError)
})

test('a caller that gives up waits for no proxy', async () => {
  await using proxy = await startTestProxy({ isSilent: true })
  const stop = new AbortController()
  const asking = through(proxy.url)({ host: 'hub.example', port: 443 }, stop.signal)
  stop.abort(new Error('stopped by hand'))
  await assert.rejects(asking, /stopped by hand/)
})

test('an address of IPv6 is reached, and written with brackets where a port follows', async () => {
  await using echo = await startEcho('::1')
  const to = { host: '::1', port: echo.port }
  assert.equal(await echoed(await tcp(to, never)), 'hello')
  await using proxy = await startTestProxy()
  assert.equal(await echoed(await through(proxy.url)(to, never)), 'hello')
  assert.deepEqual(proxy.asked, [`[::1]:${echo.port}`])
})

test('a name with addresses of two families is reached where only one of them answers', async () => {
  const lookup = async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  const connect = connectByTcp({ timeoutMs: 4_000, clock: systemClock, lookup })
  for (const host of ['127.0.0.1', '::1']) {
    await using echo = await startEcho(host)
    const way = await connect({ host: 'hub.example', port: echo.port }, never)
    assert.equal(await echoed(way), 'hello')
  }
})

test('an unknown name is distinguished from a server that is missing', async () => {
  const unknown = tcp({ host: 'hub.invalid', port: 443 }, never)
  await assert.rejects(unknown, /Cannot connect to hub\.invalid port 443: its name .*DNS server/)
  const absent = tcp({ host: '127.0.0.1', port: 1 }, never)
  await assert.rejects(absent, /Cannot connect to 127\.0\.0\.1 port 1: .*ECONNREFUSED/)
})

test('a server that closes during the TLS handshake is reported at once', async () => {
  const server = createServer((socket) => void socket.resume().end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const raw = await tcp({ host: '127.0.0.1', port: address.port }, never)
  const securing = secureConnection(raw, { host: '127.0.0.1' }, never)
  await assert.rejects(
    securing,
    /Cannot trust 127\.0\.0\.1 or be trusted by it: .*(closed|ended|disconnected|reset)/i,
  )
  server.close()
  await once(server, 'close')
})

const bypasses: readonly [host: string, noProxy: string, isBypassed: boolean][] = [
  ['hub.example.com', '', false],
  ['hub.example.com', '*', true],
  ['hub.example.com', 'example.com', true],
  ['example.com', 'example.com', true],
  ['hub.example.com', '.example.com', true],
  ['example.com', '.example.com', false],
  ['hub.example.com', '*.example.com', true],
  ['badexample.com', 'example.com', false],
  ['HUB.Example.com.', 'other, hub.example.COM', true],
  ['hub.example.com', 'hub.example.com:443', true],
  ['hub.example.com', 'hub.example.com:8443', false],
  ['10.2.3.4', '10.0.0.0/8', true],
  ['11.2.3.4', '10.0.0.0/8', false],
  ['10.2.3.4', '10.2.3.4', true],
  ['10.2.3.4', '10.2.3.4:443', true],
  ['10.2.3.40', '10.2.3.4', false],
  ['2001:db8::1', '2001:db8::/32', true],
  ['2001:db8::1', '2001:0db8::0001', true],
  ['2001:db8::1', '[2001:db8::1]:443', true],
  ['2001:db8::1', '[2001:db8::1]:80', false],
  ['hub.example.com', '10.0.0.0/8 .net', false],
  ['10.2.3.4', '10.0.0.0/99', false],
  ['localhost', '', true],
  ['127.0.0.9', '', true],
  ['::1', '', true],
]
for (const [host, noProxy, isBypassed] of bypasses) {
  test(`NO_PROXY "${noProxy}": ${host} goes ${isBypassed ? 'straight' : 'by the proxy'}`, () => {
    assert.equal(isProxyBypassed({ host, port: 443 }, noProxy), isBypassed)
  })
}
