import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock, type Clock } from '@skerry/base'
import { isIssuedBy, readCertificate } from '@skerry/pki'
import { ensureClusterPki, type ClusterPki } from './mod.ts'

const dayMs = 86_400_000
const yearMs = 365 * dayMs
const rightMs = Date.UTC(2026, 10, 23)
const at = (nowMs: number): Clock => ({ ...systemClock, now: () => nowMs })
const options = (directory: string) => ({
  directory,
  authorityName: 'site-a',
  dnsNames: ['localhost'],
  ipAddresses: ['127.0.0.1'],
})

/** Checks that every certificate is valid at that moment, and none ends before it begins. */
function assertUsable(pki: ClusterPki, nowMs: number): void {
  const pairs = [
    [pki.serving, pki.authority],
    [pki.kubeletClient, pki.authority],
    [pki.admin, pki.authority],
    [pki.frontProxyClient, pki.frontProxyAuthority],
  ] as const
  for (const [leaf, authority] of pairs) {
    const issuer = readCertificate(authority.certificatePem)
    const { commonName, notBeforeMs, notAfterMs } = readCertificate(leaf.certificatePem)
    assert.ok(isIssuedBy(leaf.certificatePem, authority.certificatePem), commonName)
    assert.ok(notBeforeMs <= nowMs, `${commonName} begins ${new Date(notBeforeMs).toISOString()}`)
    assert.ok(nowMs < notAfterMs, `${commonName} ends ${new Date(notAfterMs).toISOString()}`)
    assert.ok(notAfterMs <= issuer.notAfterMs, `${commonName} outlives its authority`)
    assert.ok(issuer.notBeforeMs <= nowMs && nowMs < issuer.notAfterMs, 'the authority is valid')
  }
}

const offsets: readonly [name: string, ms: number][] = [
  [
    'a control plane that starts once with a clock 10 years behind is reached when the clock is right again',
    -10 * yearMs,
  ],
  [
    'a control plane that starts once with a clock a day behind is reached when the clock is right again',
    -dayMs,
  ],
  [
    'a control plane that starts once with a clock a day ahead is reached when the clock is right again',
    dayMs,
  ],
  [
    'a control plane that starts once with a clock 2 years ahead is reached when the clock is right again',
    2 * yearMs,
  ],
  [
    'a control plane that starts once with a clock 11 years ahead is reached when the clock is right again',
    11 * yearMs,
  ],
]
for (const [name, offsetMs] of offsets) {
  test(name, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'skerry-clock-'))
    try {
      const first = await ensureClusterPki(options(directory), at(rightMs))
      await ensureClusterPki(options(directory), at(rightMs + offsetMs))
      const back = await ensureClusterPki(options(directory), at(rightMs + 3_600_000))
      assertUsable(back, rightMs + 3_600_000)
      assert.equal(back.authority.privateKeyPem, first.authority.privateKeyPem)
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  test(`${name}; it was first made then`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'skerry-clock-'))
    try {
      assertUsable(
        await ensureClusterPki(options(directory), at(rightMs + offsetMs)),
        rightMs + offsetMs,
      )
      assertUsable(await ensureClusterPki(options(directory), at(rightMs)), rightMs)
    } finally {
      await rm(directory, { recursive: true })
    }
  })
}
