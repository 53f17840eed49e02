import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { messageOf, systemClock, systemRandom } from '@skerry/base'
import { collectDebs, parseUris } from './collect-debs.ts'

const deps = { clock: systemClock, random: systemRandom }
const { signal } = new AbortController()
const sum = 'ab'.repeat(32)

test('the files that apt lists have a name, a length and a SHA-256', () => {
  const text = `NOTE: this is only a simulation
'http://deb.debian.org/debian/pool/main/libb/libbpf/libbpf1_1.1.2-0%2bdeb12u1_amd64.deb' libbpf1_1%3a1.1.2-0+deb12u1_amd64.deb 145896 SHA256:${sum}
'http://deb.debian.org/x.deb' netbase_6.4_all.deb 1 SHA256:${sum}
`
  assert.deepEqual(parseUris(text), [
    { file: 'libbpf1_1%3a1.1.2-0+deb12u1_amd64.deb', bytes: 145_896, sha256: sum },
    { file: 'netbase_6.4_all.deb', bytes: 1, sha256: sum },
  ])
})

const odd = [
  `'http://x/a.deb' a_1_amd64.deb 1 MD5Sum:00`,
  `'http://x/a.deb' ../../a_1_amd64.deb 1 SHA256:${sum}`,
  `'http://x/a.deb' -o_1_amd64.deb 1 SHA256:${sum}`,
  `'http://x/a.deb' a_1_amd64.deb 1 `,
]
for (const line of odd) {
  test(`${line.slice(16, 44)}… is not taken`, () => {
    assert.throws(() => parseUris(line), /has no SHA-256/)
  })
}

test('a cache whose path could end a setting of apt is refused before apt runs', async () => {
  const request = { release: 'debian-12', architecture: 'x86_64', packages: ['runc'] } as const
  for (const cacheDirectory of ['/tmp/a b', '/tmp/a";x "', '/tmp/a\n']) {
    const collected = collectDebs({ ...request, cacheDirectory }, deps, signal)
    await assert.rejects(collected, /Cannot use --cache-dir/)
  }
})

test('two that collect into one directory at once take turns, where apt itself would refuse', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-debs-'))
  const nowhere = 'http://127.0.0.1:9/debian'
  const request = {
    release: 'debian-12',
    architecture: 'x86_64',
    packages: ['runc'],
    cacheDirectory: join(directory, 'cache'),
    mirror: nowhere,
    securityMirror: nowhere,
    keyring: '/dev/null',
  } as const
  try {
    const all = await Promise.allSettled([1, 2].map(() => collectDebs(request, deps, signal)))
    for (const each of all) {
      const text = each.status === 'rejected' ? messageOf(each.reason) : ''
      assert.match(text, /127\.0\.0\.1:9/)
      assert.doesNotMatch(text, /lock/)
    }
  } finally {
    await rm(directory, { recursive: true })
  }
})
