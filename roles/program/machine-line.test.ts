import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { systemClock } from '@skerry/base'
import { createAuthority } from '@skerry/pki'
import { startTestProxy } from '@skerry/testing'
import { machineLine } from './machine-line.ts'
import { siteWords, wayWords, type SiteWordsOptions } from '../client/clusters/site-words.ts'

const execute = promisify(execFile)
const token = 'abcdef.0123456789abcdef'

/** Stands in for the script: it prints its words, its input, and the arguments of the shell around it. */
const script = `printf '[%s]' "$@"; printf 'input %s\\n' "$(cat)"; tr '\\0' ' ' </proc/$$/cmdline\n`
const sha256 = createHash('sha256').update(script).digest('hex')

let server: Server
let url: string
let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skerry-line-'))
  const dates = { notBeforeMs: systemClock.now() - 60_000, notAfterMs: systemClock.now() + 600_000 }
  const authority = await createAuthority({ subject: { commonName: 'nobody' }, ...dates })
  const tls = { cert: authority.certificatePem, key: authority.privateKeyPem }
  server = createServer(tls, (_request, response) => response.end(script))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  url = `https://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/install.sh`
})
after(async () => {
  server.closeAllConnections()
  server.close()
  await rm(directory, { recursive: true })
})

/** Pastes a line into a shell that reads its commands from standard input. */
async function paste(line: string, shell = 'sh'): Promise<{ stdout: string; failed: boolean }> {
  const env = { PATH: process.env['PATH'] ?? '', TMPDIR: directory }
  const pasted = execute(shell, ['-s'], { env, timeout: 60_000 })
  pasted.child.stdin?.end(`sudo() { "$@"; }\n${line}\n`)
  const answer = await pasted.then(
    ({ stdout }) => ({ stdout, failed: false }),
    ({ stdout }: { stdout: string }) => ({ stdout, failed: true }),
  )
  assert.deepEqual(await readdir(directory), [], 'the script is removed again')
  return answer
}

const words = ['node', '--server', 'https://10.0.0.5:6443', '--label', `it's $(id)`]

for (const shell of ['sh', 'bash']) {
  test(`a line runs the script with its words, and the token on standard input, in ${shell}`, async () => {
    const line = machineLine({ script: { url, sha256 }, token, words })
    assert.equal(line.split('\n').length, 1)
    const { stdout, failed } = await paste(line, shell)
    assert.equal(failed, false)
    assert.match(stdout, new RegExp(`input ${token}`))
    assert.ok(stdout.startsWith(words.map((word) => `[${word}]`).join('')), stdout)
    assert.equal(stdout.split(token).length, 2, 'no argument has it')
  })
}

test('a script with another hash, and none at all, is not run', async () => {
  const other = { url, sha256: '0'.repeat(64) }
  const nowhere = { url: 'https://127.0.0.1:1/install.sh', sha256 }
  for (const each of [other, nowhere]) {
    const { stdout, failed } = await paste(machineLine({ script: each, token, words }))
    assert.equal(failed, true)
    assert.doesNotMatch(stdout, /input/)
  }
})

const plain: SiteWordsOptions = {
  provider: undefined,
  region: undefined,
  zone: [],
  label: {},
  manifest: undefined,
  image: undefined,
  sitePort: undefined,
  proxy: undefined,
  proxyCredentials: undefined,
  inspectedTls: undefined,
  allowUser: [],
  allowGroup: [],
  allowMasters: undefined,
  allowService: [],
  applyWorks: undefined,
  virtualClusters: undefined,
  edgeApps: undefined,
}

const asked: readonly [Partial<SiteWordsOptions>, string][] = [
  [{}, '--deny-group system:masters'],
  [{ allowMasters: true }, ''],
  [
    { allowMasters: true, allowUser: ['olga'], allowGroup: ['a', 'b'] },
    '--allow-user olga --allow-group a --allow-group b',
  ],
  [
    { allowMasters: true, region: 'north', label: { link: 'lte' } },
    '--region=north --label=link=lte',
  ],
  [
    { allowMasters: true, applyWorks: true, virtualClusters: true },
    '--apply-works --virtual-clusters',
  ],
]
for (const [options, expected] of asked) {
  test(`a join command with ${JSON.stringify(options)} starts the site with "${expected}"`, () => {
    assert.equal(siteWords({ ...plain, ...options }).join(' '), expected)
  })
}

const refused: readonly [Partial<SiteWordsOptions>, RegExp][] = [
  [{ manifest: true }, /--machine does not go with --manifest/],
  [{ region: 'two words' }, /Cannot print a line with "--region=two words"/],
  [{ allowUser: ['$(id)'] }, /Cannot print a line with "\$\(id\)"/],
]
for (const [options, why] of refused) {
  test(`a line is refused with ${JSON.stringify(options)}`, () => {
    assert.throws(() => siteWords({ ...plain, ...options }), why)
  })
}

const ways: readonly [Partial<SiteWordsOptions>, string][] = [
  [{}, ''],
  [{ proxy: 'http://proxy.example:3128/' }, '--proxy http://proxy.example:3128'],
  [
    { proxy: 'http://10.0.0.9:3128', proxyCredentials: true, inspectedTls: true },
    '--proxy http://10.0.0.9:3128 --proxy-credentials --inspected-tls',
  ],
  [{ sitePort: 7_000 }, '--port 7000'],
]
for (const [options, expected] of ways) {
  test(`a machine of a line with ${JSON.stringify(options)} joins with "${expected}"`, () => {
    assert.equal(wayWords({ ...plain, ...options }).join(' '), expected)
  })
}

const noWays: readonly [Partial<SiteWordsOptions>, RegExp][] = [
  [{ proxy: 'http://olga:secret-word@proxy:3128' }, /put user:password into \/etc\/skerry/],
  [{ proxy: 'https://proxy:3128' }, /is http:\/\/<host>\[:<port>\]/],
  [{ proxy: 'http://proxy:3128/$(id)' }, /is http:\/\/<host>\[:<port>\]/],
  [{ proxy: 'http://proxy:99999' }, /is http:\/\/<host>\[:<port>\]/],
  [{ proxyCredentials: true }, /--proxy-credentials belongs to --proxy/],
]
for (const [options, why] of noWays) {
  test(`a way of a machine is refused with ${JSON.stringify(options)}, and no login is repeated`, () => {
    assert.throws(
      () => wayWords({ ...plain, ...options }),
      (error: Error) => why.test(error.message) && !error.message.includes('secret-word'),
    )
  })
}

test('a line fetches the script through the proxy that it names', async () => {
  await using proxy = await startTestProxy()
  const by = { proxy: proxy.url, hasLogin: false }
  const line = machineLine({ script: { url, sha256 }, token, words, by })
  const { stdout, failed } = await paste(line)
  assert.equal(failed, false)
  assert.match(stdout, new RegExp(`input ${token}`))
  assert.deepEqual(proxy.asked, [new URL(url).host])
})
