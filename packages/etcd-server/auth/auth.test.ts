import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { createAuthority } from '@skerry/pki'
import { EtcdClient } from '../testing/etcd-client.ts'
import { issueCertificate, lifetime } from '../testing/issue-certificate.ts'
import { openTestServer, type TestServer } from '../testing/open-test-server.ts'
import { hashPassword, isPasswordOf } from './password-hash.ts'
import { isCovered, permittedRanges } from './permitted-ranges.ts'
import { TokenTable } from './token-table.ts'

const key = Buffer.from('app/1')

/** Asks over HTTP; returns the answer, or the message of the error. */
async function ask(
  server: TestServer,
  path: string,
  body: object,
  token?: string,
): Promise<{ token?: string; message?: string }> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: token }
  const text = JSON.stringify(body)
  const response = await fetch(`${server.endpoint}/v3/${path}`, {
    method: 'POST',
    body: text,
    headers,
  })
  return (await response.json()) as { token?: string; message?: string }
}

async function enable(server: TestServer): Promise<void> {
  await ask(server, 'auth/user/add', { name: 'root', password: 'root-secret' })
  await ask(server, 'auth/user/grant', { user: 'root', role: 'root' })
  await ask(server, 'auth/user/add', { name: 'alice', password: 'alice-secret' })
  await ask(server, 'auth/enable', {})
}

test('users and the state of authentication survive a restart, tokens do not, and no password is in the file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-auth-'))
  const path = join(directory, 'etcd.db')
  const login = { name: 'alice', password: 'alice-secret' }
  try {
    let token: string | undefined
    {
      await using server = await openTestServer({ path })
      await enable(server)
      token = (await ask(server, 'auth/authenticate', login)).token
      assert.ok(token)
    }
    const file = await readFile(path)
    assert.ok(file.includes('alice') && !file.includes('-secret'))
    await using server = await openTestServer({ path })
    const asked = { key: key.toString('base64') }
    assert.match((await ask(server, 'kv/range', asked)).message ?? '', /user name is empty/)
    assert.match((await ask(server, 'kv/range', asked, token)).message ?? '', /invalid auth token/)
    const again = (await ask(server, 'auth/authenticate', login)).token
    assert.match((await ask(server, 'kv/range', asked, again)).message ?? '', /permission denied/)
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('only an administrator takes a snapshot, which has everybody’s keys', async () => {
  await using server = await openTestServer()
  await enable(server)
  const login = { name: 'alice', password: 'alice-secret' }
  const { token = '' } = await ask(server, 'auth/authenticate', login)
  const taken = async (headers: Record<string, string>): Promise<string> => {
    const url = `${server.endpoint}/v3/maintenance/snapshot`
    const response = await fetch(url, { method: 'POST', body: '{}', headers })
    return await response.text()
  }
  assert.match(await taken({}), /user name is empty/)
  assert.match(await taken({ authorization: token }), /permission denied/)
  const root = { name: 'root', password: 'root-secret' }
  const { token: rootToken = '' } = await ask(server, 'auth/authenticate', root)
  assert.match(await taken({ authorization: rootToken }), /"blob":/)
})

test('the common name of a client’s certificate is its user, and a token counts more', async () => {
  const authority = await createAuthority({ subject: { commonName: 'etcd-ca' }, ...lifetime })
  const ca = authority.certificatePem
  const [own, root, nobody] = await Promise.all([
    issueCertificate(authority, 'etcd'),
    issueCertificate(authority, 'root'),
    issueCertificate(authority, 'nobody'),
  ])
  await using server = await openTestServer()
  await enable(server)
  const { token = '' } = await ask(server, 'auth/authenticate', {
    name: 'alice',
    password: 'alice-secret',
  })
  const tls = { cert: own.cert, key: own.key, clientCa: ca }
  const { port } = await server.server.listen({ host: '127.0.0.1', port: 0 }, tls)
  const put = async (identity: object, headers: Record<string, string> = {}): Promise<string> => {
    using client = new EtcdClient(`https://127.0.0.1:${port}`, { ca, ...identity })
    return await client.call('Put', { key }, headers).then(() => 'done', String)
  }
  assert.equal(await put(root), 'done')
  assert.match(await put(nobody), /permission denied/)
  assert.match(await put(root, { token }), /permission denied/)
  assert.match(await put(root, { token: 'made-up' }), /invalid auth token/)
})

test('a token ends five minutes after its last use, and with its user', async () => {
  const clock = simulatedClock()
  const tokens = new TokenTable(clock)
  const [one, other] = [tokens.make('alice'), tokens.make('bob')]
  assert.notEqual(one, other)
  await clock.advance(200_000)
  assert.equal(tokens.userOf(one), 'alice')
  await clock.advance(200_000)
  assert.deepEqual([tokens.userOf(one), tokens.userOf(other)], ['alice', undefined])
  tokens.end('alice')
  assert.equal(tokens.userOf(one), undefined)
})

test('a password is known by its hash alone, and the hash is another one each time', async () => {
  const [one, other] = await Promise.all([hashPassword('right'), hashPassword('right')])
  assert.notEqual(one, other)
  assert.ok(await isPasswordOf(one, 'right'))
  for (const wrong of ['wrong', '', 'right ']) assert.equal(await isPasswordOf(one, wrong), false)
  for (const damaged of ['', 'plain', 'scrypt$16384$8$1$$']) {
    assert.equal(await isPasswordOf(damaged, 'right'), false)
  }
})

const grants: readonly (readonly [from: string, end: string])[] = [
  ['b', 'd'],
  ['d', 'f'],
  ['e', 'g'],
  ['k', ''],
  ['x', '\0'],
]

const asked: readonly (readonly [from: string, end: string, isPermitted: boolean])[] = [
  ['b', '', true],
  ['c', 'g', true],
  ['b', 'g', true],
  ['b', 'g\0', false],
  ['a', 'c', false],
  ['g', '', false],
  ['f\xff', '', true],
  ['k', '', true],
  ['k', 'l', false],
  ['x', '\0', true],
  ['zz', '\0', true],
  ['w', '\0', false],
  ['d', 'c', false],
]

for (const [from, end, isPermitted] of asked) {
  test(`"${from}" to "${end}" ${isPermitted ? 'is' : 'is not'} within the ranges of several permissions`, () => {
    const b = (text: string): Uint8Array => Buffer.from(text, 'latin1')
    const permissions = grants.map(([first, last]) => ({
      permType: 2,
      key: b(first),
      rangeEnd: b(last),
    }))
    const range = { from: b(from), ...untilOf(b(from), b(end)) }
    assert.equal(isCovered(range, permittedRanges(permissions).read), isPermitted)
  })
}

function untilOf(from: Uint8Array, end: Uint8Array) {
  if (end.length === 0) return { until: Buffer.concat([from, Uint8Array.of(0)]), isOneKey: true }
  return end[0] === 0 ? { isOneKey: false } : { until: end, isOneKey: false }
}
