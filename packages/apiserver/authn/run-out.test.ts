import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthority } from '@skerry/pki'
import type { ApiRequest } from '../contract/exchange.ts'
import { haveRunOut } from './run-out.ts'

const nowMs = Date.UTC(2026, 5, 1)

function requestWith({ token, certificates = [] }: Partial<Shown>): ApiRequest {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  return {
    method: 'GET',
    target: '/',
    headers,
    fields: () => Object.entries(headers),
    body: (async function* () {})(),
    peer: { type: 'socket', address: '', certificates, isCertificateBad: false },
    signal: new AbortController().signal,
  }
}

interface Shown {
  token: string
  certificates: readonly Uint8Array[]
}

const jwtUntil = (exp: unknown): string =>
  ['{}', JSON.stringify({ exp }), 's']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')

test('expired credentials are distinguished from revoked ones', async () => {
  const { certificatePem } = await createAuthority({
    subject: { commonName: 'olga' },
    notBeforeMs: nowMs - 1_000_000,
    notAfterMs: nowMs + 1_000_000,
  })
  const body = certificatePem.replaceAll(/-----[^-]+-----/g, '')
  const certificates = [new Uint8Array(Buffer.from(body, 'base64'))]
  const table: readonly (readonly [Partial<Shown>, number, boolean])[] = [
    [{ certificates }, nowMs, false],
    [{ certificates }, nowMs + 1_001_000, true],
    [{ token: jwtUntil(nowMs / 1_000 + 60) }, nowMs, false],
    [{ token: jwtUntil(nowMs / 1_000) }, nowMs, true],
    [{ token: jwtUntil('soon') }, nowMs, false],
    [{ token: 'a.b.c' }, nowMs, false],
    [{ token: 'id.secret' }, nowMs, false],
    [{}, nowMs, false],
  ]
  for (const [shown, atMs, isOver] of table) {
    assert.equal(haveRunOut(requestWith(shown), atMs), isOver, JSON.stringify(shown))
  }
})
