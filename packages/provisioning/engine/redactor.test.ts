import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Redactor } from './redactor.ts'

const cases: readonly [what: string, secrets: string[], text: string, shown: string][] = [
  ['nothing', [], 'all is well', 'all is well'],
  ['a password', ['hunter22'], 'login hunter22 failed', 'login [redacted] failed'],
  ['each occurrence', ['abcd'], 'abcdabcd abcd', '[redacted][redacted] [redacted]'],
  ['the longer of two', ['abcd', 'abcdef'], 'abcdef abcd', '[redacted] [redacted]'],
  ['a secret with spaces around it', ['  abcd\r'], 'it is abcd.', 'it is [redacted].'],
  ['characters of patterns', ['a.*$&'], 'a.*$& axx', '[redacted] axx'],
  ['no short text', ['yes'], 'yes, yes', 'yes, yes'],
  ['codes for terminals', [], 'a\u001b[2Jb\u0007\r\u009b', 'a?[2Jb???'],
  ['no tab or line end', [], 'a\tb\nc', 'a\tb\nc'],
]
for (const [what, secrets, text, shown] of cases) {
  test(`printed text: ${what}`, () => {
    const redactor = new Redactor()
    redactor.add(secrets)
    assert.equal(redactor.redact(text), shown)
  })
}

test('a long text loses its begin at a line end, so that no half of a secret is left', () => {
  const redactor = new Redactor()
  redactor.add(['secret-of-the-house'])
  const text = `${'secret-of-the-house '.repeat(30_000)}\n${'secret-of-the-house\n'.repeat(20_000)}`
  assert.doesNotMatch(redactor.redact(text), /secret|house/)
  assert.equal(redactor.redact('secret'.repeat(100_000)), '[a line that is too long]')
})

test('a Secret with endless lines hides everything instead of taking endless time', () => {
  const redactor = new Redactor()
  redactor.add(Array.from({ length: 100_000 }, (_, at) => `secret-${at}`))
  assert.equal(redactor.redact('anything'.repeat(100_000)), '[redacted]')
})

test('the messages of a hundred machines with a long key each are shown, without their keys', () => {
  const redactor = new Redactor()
  const lines = Array.from({ length: 100 * 52 }, (_, at) => `${at}-${'k'.repeat(60)}`)
  redactor.add(lines)
  assert.equal(
    redactor.redact(`Cannot open 10.0.0.77: ${lines.at(-1)} is no key`),
    'Cannot open 10.0.0.77: [redacted] is no key',
  )
})
